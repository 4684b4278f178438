"""How lesson 06 is graded: kernels by cases and a counter, the student's tests by wrong kernels."""

from pathlib import Path

from grader.domain.task import Case, Prediction, Stage, Task, Tensor
from grader.referee.parts.counters import Bound, Counters
from grader.referee.parts.mutation_test import Mutant, MutationTest, MutationTests

KERNELS = str(Path(__file__).parent / "tested_kernels.py")


def _case(entry: str, x: Tensor, why: str) -> Case:
    return Case(entry, (x,), why, 1, entry=entry)


def _mutation_test(name: str, right: tuple[str, ...], *faults: tuple[str, str]) -> MutationTest:
    mutants = tuple(Mutant(f"{name}_{entry}", fault) for entry, fault in faults)
    why = f"The test passes on a right {name} and fails on wrong ones."
    return MutationTest("test", KERNELS, right, mutants, why, name=f"test of {name}", args=(name,))


TESTS = (
    _mutation_test(
        "reverse",
        ("reverse", "reverse_by_torch"),
        ("no_barrier", "reads shared memory before everybody has written it"),
        ("whole_blocks", "turns a short last block round as if it were full"),
    ),
    _mutation_test(
        "offset",
        ("offset",),
        ("barrier_in_branch", "has its barrier in a branch that some threads do not take"),
        ("of_all", "subtracts the last element of all, not of the block"),
    ),
    _mutation_test(
        "pairs",
        ("pairs",),
        ("unset_end", "reads a place of shared memory that nobody wrote"),
        ("within_block", "forgets the neighbour in the next block"),
    ),
    _mutation_test(
        "transpose",
        ("transpose", "transpose_by_torch"),
        ("stride", "steps by the wrong row length in the output"),
        ("reshape", "only gives the matrix another shape"),
    ),
    _mutation_test(
        "squares",
        ("squares",),
        ("overflow", "multiplies in 32 bits"),
        ("in_float", "multiplies in float32, which has 24 bits"),
    ),
)

TASK = Task(
    title="Find the bug",
    entry="test",
    cases=(
        _case("nearby", Tensor((192,)), "Three full blocks, each on its own."),
        _case("triple", Tensor((150,)), "The last block has threads without an element."),
        _case("reverse", Tensor((150,)), "Every block turns its own elements round, the short last one too."),
        _case("offset", Tensor((150,)), "All threads of a block meet at its barrier."),
        _case("pairs", Tensor((150,)), "The last element has no right neighbour."),
        _case("transpose", Tensor((9, 14)), "A matrix that is not square."),
        _case(
            "squares",
            Tensor((150,), dtype="int32", scale=3e8),
            "Squares past 2**53: a double may round them.",
        ),
    ),
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
                    "Each element is read from device memory once, 32 in a request.",
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
