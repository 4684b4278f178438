"""The papers of an exam: for some lessons what is drawn, as the words that fill a paper's templates.

A paper is a folder of ``papers/`` named like its lesson's number: ``task.py``, ``solution.py`` with the
markers that make its starter (:mod:`grader.domain.markers`), and where there are cases ``reference.py``.
``@WORD@`` in them stands for what was drawn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.teaching.exam.draws import Draws

Words = dict[str, str]


def python_kernel(draws: Draws) -> Words:
    """02: which element a thread reads, and what it makes of it."""
    shift = draws.number("02 shift", 2, 7)
    reads, said = draws.one("02 reads", [
        ("n - 1 - i", "the element as far from the end as i is from the beginning"),
        (f"(i + {shift}) % n", f"the element {shift} places after i; after the last comes the first"),
        (f"(i - {shift}) % n", f"the element {shift} places before i; before the first comes the last"),
    ])  # fmt: skip
    times, plus = draws.eighths("02 times", 1, 5), draws.eighths("02 plus", 1, 9)
    does = draws.one("02 does", ["{t} * v + {p}", "{t} * (v - {p})", "{p} - {t} * v", "v * v - {t} * v"])
    size = draws.one("02 size", [4, 8, 16])
    return {
        "READS": reads, "SAID": said, "DOES": does.format(t=times, p=plus), "SIZE": str(size),
        "WHOLE": str(size * draws.number("02 blocks", 3, 6)),
        "RAGGED": str(size * draws.number("02 more blocks", 3, 6) + draws.number("02 rest", 1, size - 1)),
    }  # fmt: skip


def square_kernel(draws: Draws) -> Words:
    """03: an operation, and where its result goes."""
    times, plus = draws.eighths("03 times", 1, 5), draws.eighths("03 plus", 1, 9)
    does, by_torch = draws.one("03 does", [
        ("{t}f * v + {p}f", "{t} * x + {p}"),
        ("v * v - {t}f * v", "x * x - {t} * x"),
        ("{t}f * (v - {p}f) * v", "{t} * (x - {p}) * x"),
    ])  # fmt: skip
    place, flip, said = draws.one("03 place", [
        ("(rows - 1 - row) * cols + col", ".flip(0)", "upside down: the first row comes last"),
        ("row * cols + (cols - 1 - col)", ".flip(1)", "mirrored: the first column comes last"),
        ("(rows - 1 - row) * cols + (cols - 1 - col)", ".flip(0, 1)", "turned by half a circle"),
    ])  # fmt: skip
    width = draws.one("03 block", [(32, 8), (16, 16), (8, 32), (64, 4)])
    return {
        "DOES": does.format(t=times, p=plus), "TORCH": by_torch.format(t=times, p=plus) , "PLACE": place,
        "FLIP": flip, "SAID": said, "WIDE": str(width[0]), "HIGH": str(width[1]),
        "ROWS": str(draws.one("03 rows", [37, 41, 43, 47, 53])),
        "COLS": str(draws.one("03 cols", [97, 101, 103, 107, 109])),
    }  # fmt: skip


def timing(draws: Draws) -> Words:
    """04: what the first measurements and the clock itself cost, and which percentiles are wanted."""
    low = draws.one("04 low", [5, 10, 20, 25])
    return {
        "WARM": str(draws.number("04 warm", 3, 15)), "CLOCK": str(draws.eighths("04 clock", 1, 12)),
        "LOW": str(low), "HIGH": str(100 - low),
        "AGAIN": str(draws.number("04 again", 2, 6)),
    }  # fmt: skip


def fused_epilogue(draws: Draws) -> Words:
    """07: the epilogue of a matrix product."""
    slope, top = draws.one("07 slope", [0.0625, 0.125, 0.1875, 0.25]), draws.eighths("07 top", 1, 4)
    act, by_torch, said = draws.one("07 act", [
        ("sum < 0.0f ? {s}f * sum : sum", "torch.where(z < 0, {s} * z, z)",
         "a leaky ReLU: negative values times {s}"),
        ("sum < 0.0f ? 0.0f : (sum > {t}f ? {t}f : sum)", "z.clamp(0, {t})", "a ReLU that ends at {t}"),
        ("sum < 0.0f ? 0.0f : sum * sum", "torch.relu(z) ** 2", "the square of a ReLU"),
        ("sum / (1.0f + fabsf(sum))", "torch.nn.functional.softsign(z)", "softsign: z / (1 + |z|)"),
    ])  # fmt: skip
    scale = draws.eighths("07 scale", 1, 4)
    fill = {"s": slope, "t": top}
    first, torch_first = draws.one("07 order", [
        ("{k}f * (value + bias)", "{k} * (y + self.bias)"), ("{k}f * value + bias", "{k} * y + self.bias"),
        ("value + {k}f * bias", "y + {k} * self.bias"),
    ])  # fmt: skip
    return {
        "SUM": first.format(k=scale), "TORCHSUM": torch_first.format(k=scale), "ACT": act.format(**fill),
        "TORCHACT": by_torch.format(**fill), "SAID": said.format(**fill),
        "OUT": str(draws.one("07 out", [61, 67, 71, 73])),
    }  # fmt: skip


def memory(draws: Draws) -> Words:
    """09: a matrix that is turned or mirrored through a tile in shared memory."""
    # Of an element at (row, col) the result is at (to_row, to_col) of a matrix with rows and columns swapped.
    kinds = {
        "transposed": ("{c}", "{r}", "x.t()"),
        "turned to the left": ("cols - 1 - ({c})", "{r}", "x.rot90(1)"),
        "turned to the right": ("{c}", "rows - 1 - ({r})", "x.rot90(-1)"),
        "mirrored at the other diagonal": ("cols - 1 - ({c})", "rows - 1 - ({r})", "x.flip(0, 1).t()"),
    }
    said = draws.one("09 kind", list(kinds))
    to_row, to_col, by_torch = kinds[said]
    at = {"r": "row0 + x", "c": "col0 + j"}
    plain = {"r": "row + j", "c": "col"}
    times = draws.eighths("09 times", 1, 5)
    return {
        "SAID": said, "ROW": to_row.format(**at), "COL": to_col.format(**at), "TORCH": by_torch,
        "PLAINROW": to_row.format(**plain), "PLAINCOL": to_col.format(**plain), "TIMES": str(times),
        "DEEP": str(draws.one("09 deep", [4, 8, 16])), "ROWS": str(draws.one("09 rows", [37, 41, 43, 47])),
        "COLS": str(draws.one("09 cols", [97, 101, 103, 107])),
        "SIDE": str(draws.one("09 side", [96, 128, 160])),
    }  # fmt: skip


PAPERS: dict[str, Callable[[Draws], Words]] = {
    "02": python_kernel, "03": square_kernel, "04": timing, "07": fused_epilogue, "09": memory,
}  # fmt: skip
