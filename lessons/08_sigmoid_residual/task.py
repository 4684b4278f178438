"""How lesson 08 is graded."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from grader.domain.exercise_stage import Stage
from grader.domain.task import Case, Prediction, Speed, Task, Tensor
from grader.referee.parts.counters import Bound, Counters
from grader.referee.parts.mutation_test import Mutant, MutationTest, MutationTests

if TYPE_CHECKING:
    import numpy as np

KERNELS = str(Path(__file__).parent / "tested_kernels.py")
CAREFUL = ("careful", "by_torch")
ONE_SIDED = (  # a comparison without abs() lets one of them pass
    Mutant("too_small", "gives results that are 1 too small", "comparison", basic=True),
    Mutant("too_large", "gives results that are 1 too large", "comparison", basic=True),
)
NUMBERS = ("accurate", "autocast", "layout")  # claims that are tested by comparing numbers


def _model(
    name: str, x: Tensor, out: int, points: int, why: str, scaling: float = 2.0, calls: int = 1
) -> Case:
    return Case(name, (x,), why, points, init=(x.shape[-1], out, scaling), calls=calls)


def _view(name: str, shape: tuple[int, int], why: str) -> Case:
    """The three small operations without the model: only so can they get a view, and numbers near 10.

    There are more rows than a grid has blocks in y, too. All have gaps: in place is safe in the model.
    """
    one, *others = (Tensor(shape, layout=layout, scale=10.0) for layout in ("strided", "columns"))
    more = tuple((other, 1.5) for other in (*others, Tensor((70_000, 3), layout="columns")))
    return Case(name, (one, 1.5), why, 1, entry="sigmoid_residual", others=more)


def _stored(rows: int, cols: int) -> tuple[Case, tuple[int, ...]]:
    """Alone, and the requests that store each result once: of 32, or of a few less at the end of a row."""
    case = Case(f"{rows} x {cols}", (Tensor((rows, cols)), 1.5), entry="sigmoid_residual")
    return case, (rows * cols * 13 // 320,)


def _another(rng: np.random.Generator) -> tuple[Case, tuple[int, ...]]:
    return _stored(int(rng.integers(20, 90)), int(rng.integers(150, 350)))


STORED, (ONCE,) = _stored(37, 211)


def _claim(name: str, total: int, right: tuple[str, ...], *faults: tuple[str, ...] | Mutant) -> MutationTest:
    own = (fault if isinstance(fault, Mutant) else Mutant(*fault) for fault in faults)
    mutants = (*(ONE_SIDED if name in NUMBERS else ()), *own)
    why = f"The test passes where the claim {name!r} is true, and fails where it is not."
    return MutationTest(
        "test", KERNELS, right, mutants, why, name=f"claim: {name}", args=(name,), total=total
    )


CLAIMS = (
    _claim("gradients", 1, CAREFUL, ("plain", "gives a result that no gradient flows through", "assertion")),
    _claim(
        "empty",
        1,
        (*CAREFUL, "plain"),
        ("empty_launched", "launches a grid of no blocks"),
        ("empty_refused", "refuses a tensor without elements"),
        ("empty_flat", "gives no elements back, but in another shape", "assertion"),
    ),
    _claim(
        "repeatable",
        1,
        (*CAREFUL, "plain"),
        ("in_place", "writes its result over its input", "assertion"),
        ("growing", "remembers how often it was called", "assertion"),
        ("last_bit", "gives another last bit in every second call", "assertion"),
        ("spoils_later", "overwrites its input, but only in its second call", "assertion"),
    ),
    _claim(
        "accurate",
        2,
        (*CAREFUL, "plain"),
        ("other_form", "overflows for large x"),
        Mutant("clamped", "clamps x before the exponential", claimed="1e-6"),
        Mutant("three_digits", "has the sigmoid in half precision", claimed="1e-6"),
        Mutant(
            "five_digits", "is off by 5e-6 of a result, where 1e-6 is claimed", "tolerance", claimed="1e-6"
        ),
        ("one_place", "is off by 1e-5 in one place alone", "comparison"),
        ("of_size", "takes each number for a positive one", "input"),
        ("flat_at_zero", "gives 0.5 for the sigmoid of numbers below 0.003", "input"),
    ),
    _claim(
        "autocast",
        1,
        ("careful", "by_torch", "keeps_half"),
        ("plain", "refuses half precision"),
        ("in_its_bits", "takes the bits of half precision for float32"),
        Mutant(
            "rounded_twice", "gives three digits where half precision has more", "tolerance", claimed="1e-3"
        ),
    ),
    _claim(
        "layout",
        1,
        (*CAREFUL, "plain"),
        ("as_it_lies", "reads the memory of a view with gaps as if it had none"),
        ("rows_assumed", "reads a transposed view row by row"),
        ("no_tail", "reads four at a time, wherever a view begins and however many are left"),
        ("aligned", "takes every tensor to begin at a multiple of 16 bytes"),
        ("rows_apart", "knows gaps between rows, and none between neighbours in a row", "input"),
        ("in_order_of_memory", "reads a transposed view in the order of its memory", "input"),
    ),
)

M, K, N = 1024, 8192, 8192
ELEMENTS = 4 * M * N  # bytes of the matrix

TASK = Task(
    title="Sigmoid, scale, residual",
    entry="ModelNew",
    kind="model",
    same_names=True,
    reference_entry="Model",
    cases=(
        _model("whole blocks", Tensor((32, 64)), 128, 1, "Whole blocks of 256 elements."),
        _model("odd sizes", Tensor((33, 31)), 127, 1, "4191 elements: the last block is not full."),
        _model("other factor", Tensor((9, 16)), 33, 1, "The factor is the model's, not a 2.", -0.7),
        _model("new weights", Tensor((8, 16)), 48, 1, "Nothing may be remembered between calls.", calls=3),
        _model("large", Tensor((16, 32), scale=1e3), 61, 1, "Sums near 1000: exp overflows."),
        _model("many blocks", Tensor((301, 8)), 1021, 1, "307,321 elements: a grid that follows the size."),
        _model("nan and inf", Tensor((64, 4), fill="special"), 36, 1, "NaN and infinity are passed on."),
        _model("three dimensions", Tensor((3, 5, 16)), 20, 1, "Linear takes any leading dimensions."),
        replace(
            _model("empty batch", Tensor((0, 16)), 32, 1, "No rows: a grid of zero blocks is a CUDA error."),
            others=((Tensor((3, 0, 16)),),),
        ),
        _view("views", (20, 31), "Views with gaps, and values near 10. And 70,000 rows."),
    ),
    own="elementwise",
    memory_points=1,
    stream_points=1,
    parts=(
        Counters(
            replace(STORED, name="counted"),
            (
                Bound("one pass", "global_store_requests", ONCE, 1,
                      "Each result is stored once, and nothing on the way to it: that stays in registers."),
            ),
            (_another,),
        ),
        MutationTests(KERNELS, CLAIMS),
    ),
    speed=Speed(
        case=_model("speed, small", Tensor((64, 32)), 512, 0, ""),
        full=_model("speed", Tensor((M, K)), N, 0, ""),
        # eager: sigmoid reads and writes, the product reads and writes, the sum reads two and writes one
        eager_bytes=7 * ELEMENTS,
        fused_bytes=2 * ELEMENTS,
        case_bytes=4 * 2 * 64 * 512,
        eager_launches=3,
        flops=2 * M * N * K,
    ),
    introduces=("claim as a test",),
    terms=("overflow-safe sigmoid",),
    requires=("fusion", "bytes moved", "ModelNew", "Amdahl's law"),
    minutes=85,
    stages=(
        Stage("The kernel", 30, (
            "whole blocks", "odd sizes", "other factor", "new weights", "large", "many blocks", "nan and inf",
            "three dimensions", "empty batch", "views", "one pass", "streams", "memory",
        )),
        Stage("Claims: shape and bits", 20, ("claim: gradients", "claim: empty", "claim: repeatable")),
        Stage("Claims: numbers", 35, ("claim: accurate", "claim: autocast", "claim: layout")),
    ),
    starter_fails="whole blocks",
    predictions=(
        Prediction(
            "claims_true",
            "How many of the page's thirteen claims are true of every kernel that fuses these operations?",
            "claims",
            answer=1.0,
            why="Eight are false, and four depend on how the kernel was written, or with what it is built. "
            "The page goes through them one by one, in The verdicts.",
        ),
        Prediction(
            "kernel_ratio",
            "Sigmoid, scale and residual alone: how many times as fast as PyTorch's three kernels is one?",
            "times",
        ),
        Prediction(
            "whole_ratio",
            "The whole model, the linear layer included: how many times as fast is it then?",
            "times",
        ),
    ),
)  # fmt: skip
