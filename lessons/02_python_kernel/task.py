"""How lesson 02 is graded: on a grid whose memory the referee owns, so it sees every access."""

import math

from grader.domain.task import Prediction, Task
from grader.referee.parts.answers import PlainCalls
from grader.referee.parts.grid_kernels import Launch, OnGrid

SPECIAL = (0.0, math.inf, 1e-7, -math.inf, math.nan, 0.12345678)


def _scaled(x: list[float], factor: float) -> list[float]:
    return [factor * v for v in x]


def _neighbours(x: list[float]) -> list[float]:
    padded = [0.0, *x, 0.0]
    return [sum(padded[i : i + 3]) for i in range(len(x))]


def _scale(name: str, n: int, size: int, points: int, why: str, *others: Launch) -> OnGrid:
    return OnGrid(name, "scale_blocks", n, size, _scaled, points, why, (-2.5,), others)


TASK = Task(
    title="A kernel in Python",
    entry="scale",
    parts=(
        OnGrid(
            "scale",
            "scale",
            11,
            0,
            _scaled,
            3,
            "Each thread does its own element.",
            (3.0,),
            (
                Launch(len(SPECIAL), x=SPECIAL),
                Launch(len(SPECIAL), x=SPECIAL, extra=(0.0,)),
            ),
        ),
        PlainCalls(
            "blocks_for",
            "blocks_for",
            # Even and odd quotients without a rest, since Python rounds halves to even; and small rests.
            (
                (32, 8),
                (33, 8),
                (8, 8),
                (24, 8),
                (1, 256),
                (255, 256),
                (257, 256),
                (0, 8),
                (1025, 1024),
                (1_000_001, 1_000_000),
                (10_000_000, 8),
            ),
            lambda n, size: -(-n // size),
            3,
            "As many blocks as cover all elements, and not one more.",
            whole=True,
            draw=lambda rng: (int(rng.integers(1, 10_000)), int(rng.integers(1, 1024))),
        ),
        _scale(
            "whole blocks",
            24,
            8,
            3,
            "Three blocks of eight threads, all full.",
            Launch(12, 6),
            Launch(len(SPECIAL), 3, SPECIAL),
        ),
        _scale(
            "ragged",
            37,
            8,
            4,
            "The last block has five elements for eight threads.",
            Launch(37, 6, surplus=1),
            Launch(5, 2, surplus=3),
        ),
        _scale("one element", 1, 16, 1, "Fifteen of the sixteen threads have nothing to do."),
        OnGrid(
            "neighbours",
            "neighbours",
            24,
            8,
            _neighbours,
            3,
            "Each thread adds three elements, at the two ends two.",
            others=(
                Launch(4, 2, (math.inf, 1.0, 2.0, math.nan)),
                Launch(5, 5, (-math.inf, 1.0, math.inf, 1e-7, 0.25)),
            ),
        ),
        OnGrid(
            "neighbours, ragged",
            "neighbours",
            29,
            8,
            _neighbours,
            2,
            "Threads past the end do nothing.",
            others=(Launch(29, 6, surplus=2),),
        ),
        OnGrid(
            "neighbours, one element",
            "neighbours",
            1,
            8,
            _neighbours,
            1,
            "The only element is the first and the last: it has no neighbour on either side.",
        ),
    ),
    introduces=("kernel over a grid",),
    terms=("block and thread", "guard", "race"),
    requires=("python",),
    minutes=30,
    starter_fails="scale",
    predictions=(
        Prediction(
            "blocks_needed",
            "1000 elements, 256 threads a block. How many blocks do you need?",
            "blocks",
            4,
            "Three blocks have 768 threads, which is too few; blocks come whole.",
        ),
        Prediction(
            "idle_threads",
            "How many of their threads must do nothing?",
            "threads",
            24,
            "Four blocks have 1024 threads.",
        ),
        Prediction(
            "unwritten",
            "You take one block fewer. How many elements of the result are never written?",
            "elements",
            232,
            "Elements 768 to 999 have no thread. They hold what was there before.",
        ),
        Prediction(
            "written",
            "All blocks again, but each thread uses its number in the block as its element's number. How "
            "many elements are written?",
            "elements",
            256,
            "Elements 0 to 255, each by four threads: one of every block.",
        ),
    ),
)
