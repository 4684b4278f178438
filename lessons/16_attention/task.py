"""How lesson 16 is graded."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from grader.domain.exercise_stage import Stage
from grader.domain.task import Case, Fill, Layout, Prediction, Task, Tensor
from grader.referee.parts.counters import Bound, Counters

if TYPE_CHECKING:
    import numpy as np

QUERIES, KEYS = 16, 32  # of a block, and of a tile
SECTOR = 32  # bytes


def _tensors(
    shape: tuple[int, int, int], q: Tensor | None = None, k: Tensor | None = None
) -> tuple[Tensor, ...]:
    """q, k and v of so many queries, keys and features."""
    n, m, d = shape
    return q or Tensor((n, d)), k or Tensor((m, d)), Tensor((m, d))


def _row(name: str, shape: tuple[int, int, int], why: str, shift: float = 0.0) -> Case:
    """``shift`` is added to the queries, and subtracted from the keys."""
    n, m, d = shape
    q, k = Tensor((n, d), shift=shift), Tensor((m, d), shift=-shift)
    return Case(name, _tensors(shape, q, k), why, entry="by_rows")


def _tiled(name: str, shape: tuple[int, int, int], why: str, shift: float = 0.0) -> Case:
    """``shift`` is added to the queries, and subtracted from the keys."""
    return replace(_row(name, shape, why, shift), entry="tiled")


def _causal(
    name: str, shape: tuple[int, int, int], past: int, why: str, fill: Fill = "normal", shift: float = 0.0
) -> Case:
    n, m, d = shape
    q, k = Tensor((n, d), fill=fill, shift=shift), Tensor((m, d), shift=-shift)
    return Case(name, (*_tensors(shape, q, k), past), why, entry="causal")


def _model(
    name: str, shape: tuple[int, int, int, int], why: str, dtype: str = "float16",
    scale: float = 1.0, layout: Layout = "contiguous",
) -> Case:  # fmt: skip
    q = Tensor(shape, dtype=dtype, scale=scale)
    return Case(name, (q, Tensor(shape, dtype=dtype, layout=layout), Tensor(shape, dtype=dtype)), why)


def tile_rows(n: int, m: int, past: int, tile: int = KEYS) -> int:
    """Rows of keys that blocks of 16 queries read: whole tiles, to the last key that one of them sees."""
    rows = 0
    for first in range(0, n, QUERIES):
        end = max(0, min(m, min(n, first + QUERIES) + past))
        rows += min(m, -(-end // tile) * tile)
    return rows


def sectors(n: int, m: int, d: int, past: int, item: int = 4, tile: int = KEYS) -> int:
    """Sectors that they load: the queries once, and keys and values."""
    return (n + 2 * tile_rows(n, m, past, tile)) * d * item // SECTOR


N, M, D = 32, 96, 32
TILED = _tiled("counted tiles", (N, M, D), "")
CAUSAL = _causal("counted mask", (M, M, D), 0, "")
HEADS = (1, 2, N, D)
MODEL = _model("counted model", HEADS, "")


def _other_tiles(rng: np.random.Generator) -> tuple[Case, tuple[int, ...]]:
    n, m = int(rng.integers(2, 5)) * QUERIES, int(rng.integers(2, 5)) * KEYS
    return _tiled(f"{n} queries, {m} keys", (n, m, D), ""), (sectors(n, m, D, m), n * D // 8, 0)


def _other_mask(rng: np.random.Generator) -> tuple[Case, tuple[int, ...]]:
    n = int(rng.integers(50, 100))
    return _causal(f"{n} of each", (n, n, D), 0, ""), (sectors(n, n, D, 0, tile=64),)


def _other_model(rng: np.random.Generator) -> tuple[Case, tuple[int, ...]]:
    heads, n = int(rng.integers(1, 4)), int(rng.integers(50, 100))
    return _model(f"{heads} heads of {n}", (1, heads, n, D), ""), (heads * n * D // 16,)


TASK = Task(
    title="Attention",
    entry="ModelNew",
    kind="model",
    reference_entry="Model",
    cases=(
        _row("one row", (8, 50, 64), "A query a block, and two of its 64 features a lane."),
        _row("head size", (5, 21, 80), "80 features: in the last turn half of the lanes have none."),
        # All near 115, so that each query's shares are spread over several keys: where one key has all,
        # PyTorch's own error, by which others' are measured, is 0 by chance.
        Case("large scores", _tensors((24, 40, 32), Tensor((24, 32), shift=4.5), Tensor((40, 32), shift=4.5)),
             "Scores above 90: their exponentials are infinite.", entry="by_rows"),
        _row("one key", (7, 1, 50), "Its share is 1, though the exponential of its score is 0.", shift=6.0),
        # Two sums of 20,000 terms, which PyTorch takes apart on a GPU: its own error is far smaller there.
        replace(_row("many keys", (1, 20_000, 8), "More scores than a kernel has shared memory for, unless "
                     "it asks for more than 48 KB."), terms=4 * 20_000),
        _tiled("one tile", (32, 32, 32), "Two blocks of queries, one tile of keys."),
        # These, and those of any length, are all near -115: of a larger number the shares would be 0.
        _tiled("whole tiles", (32, 64, 32), "Two blocks of queries, two tiles of keys, and scores far below "
               "zero.", shift=4.5),
        _causal("causal", (48, 48, 64), 0, "A query sees the keys up to its own place."),
        _causal("any length", (17, 53, 128), 40, "In the last block is one query, so fifteen warps only help "
                "to copy. The last tile is not full, and the scores are far below zero.", shift=3.2),
        _causal("nothing to see", (20, 10, 32), -10, "The first ten queries see no key: PyTorch says 0."),
        _causal("nan and inf", (33, 40, 40), 40, "A query with NaN or an infinity makes its own row NaN.",
                "special"),
        _model("heads", (2, 3, 20, 32), "A batch of two, with three heads: no head sees another's keys.",
               "float32"),
        _model("half precision", (1, 2, 40, 64), "float16 in and out; the keys are a view.",
               layout="transposed"),
        _model("large halves", (1, 1, 48, 64), "Scores that float16 cannot hold.", scale=3000.0),
    ),
    index="row_col",
    own="all",
    memory_points=1,
    parts=(
        Counters(
            TILED,
            (
                Bound("shared tiles", "global_load_sectors", sectors(N, M, D, M), 1, "A tile of keys and "
                      "values is read once for 16 queries, by neighbours side by side."),
                Bound("no stored scores", "global_store_sectors", N * D // 8, 1, "Nothing is written but "
                      "the result. It grows with the queries; scores grow with queries times keys."),
                Bound("no conflicts", "shared_load_conflicts", 0, 1, "The threads of a warp read from "
                      "different banks of shared memory, or all the same word.", needs="shared tiles"),
            ),
            _other_tiles,
        ),
        Counters(
            CAUSAL,
            (
                Bound("skipped tiles", "global_load_sectors", sectors(M, M, D, 0, tile=64), 1, "A tile that "
                      "no query of the block sees is not read."),
            ),
            _other_mask,
        ),
        Counters(
            MODEL,
            (
                Bound("written once", "global_store_sectors", 2 * N * D // 16, 1, "The model writes its "
                      "result only, two bytes an element, however many scores there are."),
            ),
            _other_model,
        ),
    ),
    introduces=("attention",),
    terms=("causal mask", "head"),
    requires=(
        "kernel launch", "guard", "shared memory", "barrier", "memory traffic", "bank conflict", "reduction",
        "warp shuffle", "softmax", "online softmax", "tiling", "ModelNew",
    ),
    minutes=165,
    stages=(
        Stage("A query a warp", 40, ("one row", "head size", "large scores", "one key", "many keys")),
        Stage("One tile", 35, ("one tile",)),
        Stage("Tile after tile", 30, ("whole tiles", "shared tiles", "no stored scores", "no conflicts")),
        Stage("Mask and lengths", 35, (
            "causal", "any length", "nothing to see", "nan and inf", "memory", "skipped tiles",
        )),
        Stage("The model", 25, ("heads", "half precision", "large halves", "written once")),
    ),
    starter_fails="one row",
    predictions=(
        Prediction(
            "score_bytes",
            "A head of 4,096 queries and as many keys: how many million bytes are its scores in float32?",
            "MB",
            67.1,
            "4,096 times 4,096 numbers of 4 bytes.",
        ),
        Prediction(
            "key_reads",
            "A block takes 16 queries, and there are 4,096. How many times is each key asked for, without a "
            "mask?",
            "times",
            256,
            "Each of the 256 blocks goes through all keys once.",
        ),
        Prediction(
            "seen_tiles",
            "With the causal mask, and tiles of 32 keys: what part of its tiles must such a head read?",
            "%",
            50.4,
            "16,512 of 32,768. Two blocks after another need the same number of tiles: 1, 2, 3, ... 128.",
        ),
        Prediction(
            "score_spread",
            "The elements of q and k are independent and normal, of mean 0 and deviation 1. What is the "
            "deviation of a product of 64 features, before it is scaled?",
            "",
            8,
            "Each of the 64 terms has variance 1, so the sum has 64, and its root is 8.",
        ),
    ),
)  # fmt: skip
