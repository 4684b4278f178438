"""How lesson 06 is graded: kernels by cases and a counter, the student's tests by wrong kernels."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from grader.domain.task import Case, Prediction, Stage, Task, Tensor
from grader.referee.parts.counters import Bound, Counters
from grader.referee.parts.mutation_test import Mutant, MutationTest, MutationTests, Tried

KERNELS = str(Path(__file__).parent / "tested_kernels.py")
SIZE = 64  # threads of a block
Hidden = Callable[[Tried], str]


def _case(entry: str, x: Tensor, why: str, *others: Tensor) -> Case:
    return Case(entry, (x,), why, 1, entry=entry, others=tuple((other,) for other in others))


def _full_blocks(x: Tried) -> str:
    if not x.elements or x.elements % SIZE:
        return ""
    return (
        f"{x.elements} elements are full blocks of {SIZE} only: take a number that is no multiple of {SIZE}."
    )


def _one_block(x: Tried) -> str:
    if not 0 < x.elements <= SIZE:
        return ""
    return f"{x.elements} elements are in one block: take more than {SIZE}."


def _short_block(x: Tried) -> str:
    if not x.elements or x.elements % SIZE:
        return f"{x.elements} elements are no full blocks of {SIZE}: try a multiple of {SIZE} as well."
    return ""


def _one_turned(x: Tried) -> str:
    if x.elements % SIZE == 1:
        return f"The last block of {x.elements} elements has one only, and turned round that is the same."
    return _full_blocks(x)


def _square(x: Tried) -> str:
    rows, columns = (*x.shape, 0, 0)[:2]
    if rows != columns:
        return ""
    return (
        f"A matrix of {rows} x {columns} is square: the rows of input and output are equally long. "
        "Take another number of rows than of columns."
    )


def _one_row(x: Tried) -> str:
    rows, columns = (*x.shape, 0, 0)[:2]
    if min(rows, columns) > 1:
        return ""
    return (
        f"The elements of a matrix of {rows} x {columns} have the same order when it is transposed: "
        "take several rows and several columns."
    )


def _equal(x: Tried) -> str:
    return (
        "All numbers of this input are equal, so none is seen in a wrong place: take different ones."
        if x.equal
        else ""
    )


def _either(*reasons: Hidden) -> Hidden:
    return lambda x: next(filter(None, (reason(x) for reason in reasons)), "")


def _no_larger(most: int, fits: str) -> Hidden:
    def hidden(x: Tried) -> str:
        if x.largest > most:
            return ""
        largest = f"The largest number of this input is {x.largest:.0f}"
        return f"{largest}, and its square {fits}: take larger ones."

    return hidden


def _mutation_test(
    name: str,
    right: tuple[str, ...],
    *faults: tuple[str, str, Hidden | None],
    in_place: str = "",
) -> MutationTest:
    mutants = [  # a comparison without abs() lets one of them pass
        Mutant(f"{name}_too_{side}", f"gives results that are 1 too {side}", "comparison", basic=True)
        for side in ("small", "large")
    ]
    if name != "squares":
        what = "gives results that are a tenth too large"
        mutants.append(Mutant(f"{name}_a_tenth_off", what, "tolerance", basic=True))
    if in_place:  # an input of equal numbers lets it pass
        mutants.append(Mutant(f"{name}_in_place", in_place, hidden_by=_equal, basic=True))
    mutants += [Mutant(f"{name}_{entry}", fault, hidden_by=hidden) for entry, fault, hidden in faults]
    why = f"The test passes on a right {name} and fails on wrong ones."
    return MutationTest(
        "test", KERNELS, right, tuple(mutants), why, name=f"test of {name}", args=(name,), total=2
    )


TESTS = (
    _mutation_test(
        "reverse",
        ("reverse", "reverse_by_torch"),
        ("no_barrier", "reads shared memory before everybody has written it", None),
        ("whole_blocks", "turns a short last block round as if it were full", _full_blocks),
        ("short_kept", "leaves a short last block as it is", _either(_one_turned, _equal)),
        in_place="turns nothing round: it hands back what it is given",
    ),
    _mutation_test(
        "offset",
        ("offset",),
        ("barrier_in_branch", "has its barrier in a branch that some threads do not take", _full_blocks),
        ("of_all", "subtracts the last element of all, not of the block", _either(_one_block, _equal)),
    ),
    _mutation_test(
        "pairs",
        ("pairs",),
        ("unset_end", "reads a place of shared memory that nobody wrote", _full_blocks),
        ("within_block", "forgets the neighbour in the next block", _one_block),
        ("outside", "reads the element behind the last one", _short_block),
    ),
    _mutation_test(
        "transpose",
        ("transpose", "transpose_by_torch"),
        ("stride", "steps by the wrong row length in the output", _square),
        ("unguarded", "lets threads without an element work, too", _full_blocks),
        ("reshape", "only gives the matrix another shape", _either(_one_row, _equal)),
    ),
    _mutation_test(
        "squares",
        ("squares",),
        ("overflow", "multiplies in 32 bits", _no_larger(46340, "fits in 32 bits")),
        ("in_float", "multiplies in float32, which has 24 bits", _no_larger(4096, "fits in 24 bits")),
        ("unsigned", "takes negative numbers for large ones", None),
    ),
)

TASK = Task(
    title="Find the bug",
    entry="test",
    cases=(
        _case("nearby", Tensor((192,)), "Three full blocks, each on its own."),
        _case("triple", Tensor((150,)), "The last block has threads without an element."),
        _case("reverse", Tensor((150,)), "Every block turns its own elements round, the short last one too."),
        _case(
            "offset",
            Tensor((150,)),
            "All threads of a block meet at its barrier.",
            Tensor((150,), fill="special"),
        ),
        _case(
            "pairs",
            Tensor((150,)),
            "The last element has no right neighbour.",
            Tensor((2 * SIZE,)),
            Tensor((9,), fill="special"),
            Tensor((11,), fill="special"),
        ),
        replace(_case("transpose", Tensor((9, 14)), "A matrix that is not square."), moves=True),
        _case(
            "squares",
            Tensor((150,), dtype="int32", scale=3e8),
            "Squares past 2**53: a double may round them.",
        ),
    ),
    own="all",
    memory_points=2,
    parts=(
        Counters(
            Case("counted nearby", (Tensor((256,)),), entry="nearby"),
            (
                Bound(
                    "read once",
                    "global_load_requests",
                    256 // 32,
                    1,
                    "One read of each element from device memory is enough, 32 in a request.",
                ),
            ),
        ),
        MutationTests(KERNELS, TESTS),
    ),
    introduces=("memory fault",),
    terms=("shared memory", "barrier", "memory checker", "mutation test"),
    requires=("kernel launch", "2-D index", "guard", "tensor checks"),
    minutes=105,
    starter_fails="nearby",
    stages=(
        Stage("Shared memory", 35, ("nearby", "read once")),
        Stage(
            "Six kernels",
            45,
            ("triple", "reverse", "offset", "pairs", "transpose", "squares", "memory"),
        ),
        Stage("Tests", 25, tuple(test.name for test in TESTS)),
    ),
    predictions=(
        Prediction(
            "never_reported",
            "How many of the six kernels does compute-sanitizer not report, whatever the input?",
            "kernels",
            2,
            "Its tools look at accesses, so not at values, and initcheck looks at global memory only. "
            "The page's answers name the two.",
        ),
        Prediction(
            "loads",
            "192 elements in three blocks: how many loads of x would nearby make without shared memory?",
            "loads",
            570,
            "Three for each element, but one less at each of the two ends of the three blocks. With it: 192.",
        ),
        Prediction(
            "far_index",
            "transpose, as it stands in your file, gets 9 rows and 14 columns: what is the largest index of "
            "out that it computes?",
            "",
            190,
            "col * n + row with n = 14, for column 13 and row 8. The matrix has 126 elements.",
        ),
    ),
)
