"""How lesson 16 is graded."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from grader.domain.exercise_stage import Stage
from grader.domain.task import Argument, Case, Fill, Layout, Prediction, Task, Tensor
from grader.referee.parts.counters import Bound, Counters

if TYPE_CHECKING:
    import numpy as np

QUERIES, KEYS = 16, 32  # of a block, and of a tile
SECTOR = 8  # words of four bytes


def _tensors(
    shape: tuple[int, int, int], q: Tensor | None = None, k: Tensor | None = None
) -> tuple[Tensor, ...]:
    """q, k and v of so many queries, keys and features."""
    n, m, d = shape
    return q or Tensor((n, d)), k or Tensor((m, d)), Tensor((m, d))


def _odd(shape: tuple[int, int, int]) -> tuple[Tensor, ...]:
    """The same at odd addresses, where no float4 can begin."""
    return tuple(replace(one, layout="offset") for one in _tensors(shape))


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


def _alike(shape: tuple[int, int, int], past: int) -> tuple[Argument, ...]:
    """All scores are -2 ** 114 of 16 features, in whatever order they are added up: powers of two."""
    n, m, d = shape
    q, k = (Tensor((rows, d), scale=0.0, shift=one) for rows, one in ((n, 2.0**56), (m, -(2.0**56))))
    return *_tensors(shape, q, k), past


def _model(
    name: str, shape: tuple[int, int, int, int], why: str, dtype: str = "float16",
    scale: float = 1.0, layout: Layout = "contiguous", keys: int = 0,
) -> Case:  # fmt: skip
    """With as many ``keys`` as queries, or so many."""
    heads, n, d = shape[:2], shape[2], shape[3]
    q = Tensor(shape, dtype=dtype, scale=scale, layout=layout)
    return Case(name, (q, *[Tensor((*heads, keys or n, d), dtype=dtype, layout=layout)] * 2), why)


def tile_rows(n: int, m: int, past: int, tile: int = KEYS) -> list[int]:
    """Rows of keys that each block of 16 queries reads: whole tiles, to the last key that one sees."""
    ends = (max(0, min(m, min(n, first + QUERIES) + past)) for first in range(0, n, QUERIES))
    return [min(m, -(-end // tile) * tile) for end in ends]


def of_rows(rows: int, d: int) -> int:
    """Sectors of a matrix of floats, if a warp loads 32 features of a row at once."""
    parts = ((row * d + c, row * d + min(d, c + 32) - 1) for row in range(rows) for c in range(0, d, 32))
    return sum(last // SECTOR - first // SECTOR + 1 for first, last in parts)


def sectors(n: int, m: int, d: int, past: int, tile: int = KEYS) -> int:
    """Sectors that they load: the queries once, and keys and values for each block."""
    return of_rows(n, d) + 2 * sum(of_rows(rows, d) for rows in tile_rows(n, m, past, tile))


N, M, D = 32, 96, 32
ODD, FEW = 31, 8  # features: rows of one more than 31 lie one below another, rows of 8 are a sector each
TILED = _tiled("counted tiles", (N, M, D), "")
CAUSAL = _causal("counted mask", (M, M, D), 0, "")
HEADS = (1, 2, N, D)
MODEL = _model("counted model", HEADS, "")


def _other_tiles(rng: np.random.Generator) -> tuple[Case, tuple[int, ...]]:
    n, m = int(rng.integers(1, 4)) * QUERIES, int(rng.integers(5, 8)) * KEYS
    limits = sectors(n, m, ODD, m), of_rows(n, ODD), n  # a warp that copies parts of two rows may meet itself
    return _tiled(f"{n} queries, {m} keys, {ODD} features", (n, m, ODD), ""), limits


def _other_mask(rng: np.random.Generator) -> tuple[Case, tuple[int, ...]]:
    n, past = int(rng.integers(130, 145)), 2 * int(rng.integers(15)) + 1  # of a tile some rows see nothing
    m = n + past
    return _causal(f"{n} queries, past {past}", (n, m, FEW), past, ""), (sectors(n, m, FEW, past, tile=64),)


def _other_model(rng: np.random.Generator) -> tuple[Case, tuple[int, ...]]:
    n, m = int(rng.integers(520, 560)), int(rng.integers(17, 32))
    return _model(f"{n} queries, {m} keys", (1, 1, n, 2 * FEW), "", keys=m), (n * 2 * FEW // 16,)


TASK = Task(
    title="Attention",
    entry="ModelNew",
    kind="model",
    reference_entry="Model",
    cases=(
        replace(_row("one row", (8, 50, 128), "A query a block, and four of its 128 features a lane. And "
                     "all of it at odd addresses, where no float4 can begin."), others=(_odd((8, 50, 128)),)),
        _row("head size", (5, 21, 108), "108 features: in the last turn most lanes have none."),
        # All near 115, so that each query's shares are spread over several keys: where one key has all,
        # PyTorch's own error, by which others' are measured, is 0 by chance.
        Case("large scores", _tensors((24, 40, 32), Tensor((24, 32), shift=4.5), Tensor((40, 32), shift=4.5)),
             "Scores above 90: their exponentials are infinite.", entry="by_rows",
             others=(_tensors((4, 9, 32), k=Tensor((9, 32), fill="nan at the end")),)),
        _row("one key", (7, 1, 50), "Its share is 1, though the exponential of its score, about -7e32, is 0.",
             shift=1e16),
        # Two sums of 20,000 terms, which PyTorch takes apart on a GPU: its own error is far smaller there.
        replace(_row("many keys", (1, 20_000, 8), "More scores than a kernel has shared memory for, unless "
                     "it asks for more than 48 KB."), terms=4 * 20_000),
        _tiled("one tile", (32, 32, 32), "Two blocks of queries, one tile of keys."),
        # These, and those of any length, are all near -115: of a larger number the shares would be 0.
        replace(_tiled("whole tiles", (32, 64, 32), "Two blocks of queries, two tiles of keys, and scores "
                       "far below zero. And 333 keys, and tensors at odd addresses.", shift=4.5),
                others=(_tensors((16, 333, 16)), _odd((32, 64, 32)))),
        _causal("causal", (48, 48, 64), 0, "A query sees the keys up to its own place."),
        replace(_causal("any length", (17, 53, 128), 40, "In the last block is one query, so fifteen warps "
                        "only help to copy. The last tile is not full, and the scores are far below zero. "
                        "And 400 keys, and tensors at odd addresses.", shift=3.2),
                others=((*_tensors((20, 400, 16)), 390), (*_odd((17, 53, 32)), 40))),
        replace(_causal("nothing to see", (20, 10, 32), -10, "The first ten queries see no key: PyTorch says "
                        "0. It says so without any key as well; and where there are some, a key that is not "
                        "seen has no share, though all scores are below -1e30."),
                others=(_alike((20, 10, 16), -10), (*_tensors((20, 0, 16)), 40))),
        _causal("nan and inf", (33, 40, 40), 2**40, "A query with NaN or an infinity makes its own row NaN. "
                "All keys are seen: past is 2**40, which an int cannot hold.", "special"),
        _model("heads", (2, 3, 20, 32), "A batch of two, with three heads: no head sees another's keys. With "
               "more keys than queries query i still sees those up to i.", "float32", keys=33),
        # Of some 40 values, by scores of 48 products each.
        replace(_model("half precision", (1, 2, 40, 48), "float16 in and out, and float between; q, k and v "
                       "are views.", layout="transposed"), rounded_once=True, terms=88),
        _model("large halves", (1, 1, 48, 64), "Scores that float16 cannot hold; and tensors that begin "
               "within their storage.", scale=3000.0, layout="offset"),
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
            (_other_tiles,),
        ),
        Counters(
            CAUSAL,
            (
                Bound("skipped tiles", "global_load_sectors", sectors(M, M, D, 0, tile=64), 1, "A tile is "
                      "read once for 16 queries, and one that none of them sees is not read."),
            ),
            (_other_mask,),
        ),
        Counters(
            MODEL,
            (
                Bound("written once", "global_store_sectors", 2 * N * D // 16, 1, "The model writes its "
                      "result only, two bytes an element, however many scores there are."),
            ),
            (_other_model,),
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
