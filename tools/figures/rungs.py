"""The ladder of lesson 13, a picture a rung: what runs, which results travel through memory, and the time."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.reports.svg import WIDTH, Sheet
from tools import measured

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SOURCE = "ladder_h200.json"
LEFT, TOP, BOX, GAP, HIGH, MEMORY = 4, 40, 92, 9, 46, 128


@dataclass(frozen=True, slots=True)
class Rung:
    """``kernels``: what each does, step by step, two lines a step; between kernels a result is in memory."""

    name: str
    kernels: tuple[tuple[tuple[str, str], ...], ...]


LAST = ("bias, ReLU", "in registers")
RUNGS = (
    Rung("eager", ((("product", "float32 units"),), (("bias", ""),), (("ReLU", ""),))),
    Rung("library product, fused epilogue", ((("product", "float32 units"),), (("bias, ReLU", "fused"),))),
    Rung("library's own fusion", ((("product", "float32 units"), LAST),)),
    Rung("Triton, 3 x TF32", ((("split", "TF32 parts"), ("3 products", "tensor cores"), LAST),)),
    Rung("Triton, split half", ((("split", "halves"), ("3 products", "tensor cores"), LAST),)),
    Rung("CUDA, mma.sync", ((("lift, split", "each row"),), (("3 products", "tiles ahead"), LAST))),
    Rung(
        "CUDA, wgmma",
        ((("split x", "each row"),), (("split w", "in registers"), ("3 products", "wgmma"), LAST)),
    ),
)


def pictures() -> dict[str, Callable[[Path], str]]:
    """How each picture is drawn, by its name."""

    def drawn(number: int) -> Callable[[Path], str]:
        return lambda root: picture(root, number)

    return {f"rung{k}": drawn(k) for k in range(1, len(RUNGS) + 1)}


def picture(root: Path, number: int) -> str:
    """Rung ``number``: its kernels above the device memory, and its time beside that of the first."""
    rung = RUNGS[number - 1]
    times = json.loads((root / measured.RESULTS / SOURCE).read_text("utf-8"))["times"]["relu"]
    own, eager = times[rung.name]["us"], times["eager"]["us"]
    steps = [", then ".join(f"{a} {b}".strip() for a, b in kernel) for kernel in rung.kernels]
    sheet = Sheet(
        172,
        f"Rung {number}, {rung.name}: {len(steps)} {'kernel' if len(steps) == 1 else 'kernels'}. "
        f"{'; through memory to: '.join(steps)}. {own:,.0f} us where eager takes {eager:,.0f} us.",
    )
    bar = 250 * own / eager
    sheet.rect(LEFT, 6, bar, 18, "c" if number < 3 else "a", rx=3)
    sheet.text(LEFT + bar + 8, 20, f"{own:,.0f} us", "bold")
    _kernels(sheet, rung)
    sheet.rect(LEFT, MEMORY, WIDTH - 2 * LEFT, 30, "pale", rx=4)
    sheet.text(WIDTH / 2, MEMORY + 20, "device memory", "mid soft")
    return sheet.svg()


def _kernels(sheet: Sheet, rung: Rung) -> None:
    x = LEFT + 18.0
    _trip(sheet, x - 12, up=True)
    for at, kernel in enumerate(rung.kernels):
        if at:
            _trip(sheet, x + 4, up=False)
            _trip(sheet, x + 24, up=True)
            x += 40
        wide = len(kernel) * (BOX + GAP) - GAP + 8
        sheet.rect(x - 5, TOP - 5, wide, HIGH + 10, "hollow", rx=6)
        for k, (first, second) in enumerate(kernel):
            left = x + k * (BOX + GAP)
            if k:
                sheet.path(f"M{left - 10} {TOP + HIGH / 2} h 7 m -4 -4 l 4 4 l -4 4", "as", 2)
            sheet.rect(left, TOP, BOX - 2, HIGH, "pale", rx=4)
            sheet.text(left + BOX / 2 - 1, TOP + (20 if second else 28), first, "mid bold")
            sheet.text(left + BOX / 2 - 1, TOP + 37, second, "mid small soft")
        x += wide - 4
    _trip(sheet, x + 8, up=False)


def _trip(sheet: Sheet, x: float, *, up: bool) -> None:
    """An arrow between the kernels and the memory."""
    low, high = MEMORY - 3, TOP + HIGH + 10
    tip = f"M{x} {high} l -4 6 m 4 -6 l 4 6" if up else f"M{x} {low} l -4 -6 m 4 6 l 4 -6"
    sheet.line(x, high, x, low, "bs", 2)
    sheet.path(tip, "bs", 2)
