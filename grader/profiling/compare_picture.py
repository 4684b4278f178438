"""The roofline of a comparison: one problem, so one ratio of operations to bytes; each candidate's rate."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.domain import disk, gpu_card
from grader.domain import speed as speeds
from grader.domain.speed import Measured
from grader.reports.svg import Sheet

if TYPE_CHECKING:
    from pathlib import Path

    from grader.domain.verdict import Verdict

LEFT, RIGHT, TOP, BOTTOM = 56, 466, 30, 282
MOST = 8  # candidates that have room for a line of text


@dataclass(frozen=True, slots=True)
class Entry:
    """One candidate: how many times as fast as eager, between ``low`` and ``high``; None without a speed."""

    name: str
    verdict: Verdict
    ratio: float | None
    low: float
    high: float
    number: int = 0

    @property
    def seconds(self) -> float:
        """Of a call: the median if it was measured, else as predicted. Only for one that has a speed."""
        found = speeds.claimed(self.verdict.speed)
        assert found is not None
        return found.call_seconds


def write(path: Path, entries: list[Entry], card_name: str) -> bool:
    """Draw those candidates that have a speed; whether there are any."""
    timed = [e for e in entries if e.ratio]
    if timed:
        disk.write(path, svg(timed, card_name))
    return bool(timed)


def svg(timed: list[Entry], card_name: str) -> str:
    """The picture; of a measured race under the roof of that GPU, if it has a card."""
    speed = speeds.claimed(timed[0].verdict.speed)
    assert speed is not None
    measured = isinstance(speed, Measured)
    card = (gpu_card.of_device(speed.device) if measured else None) or gpu_card.card(card_name)
    work = work_of(timed[0])
    rows = [(e.name, e.seconds) for e in sorted(timed, key=lambda e: e.seconds)[:MOST]]
    rows = [*rows, ("eager PyTorch", speed.eager_call_seconds)]
    operations = max(1, work["operations"])
    ratio = operations / max(1, work["bytes"])
    rates = [operations / seconds for _, seconds in rows]
    memory, peaks = card.copy_bytes_per_second, (card.fp32_flops_per_second, card.tensor_flops_per_second)
    low, high = _range([*rates, ratio * memory, *peaks])
    left, right = _range([ratio, *(p / memory for p in peaks)])
    how = "measured" if measured else "predicted"
    sheet = Sheet(
        TOP + 320 + 16 * len(rows), f"Roofline of {card.name}: {', '.join(n for n, _ in rows)}, {how}."
    )

    def x(value: float) -> float:
        return LEFT + (math.log10(value) - left) / (right - left) * (RIGHT - LEFT)

    def y(value: float) -> float:
        return BOTTOM - (math.log10(value) - low) / (high - low) * (BOTTOM - TOP)

    for power in range(math.ceil(left), math.floor(right) + 1):
        sheet.line(x(10.0**power), TOP, x(10.0**power), BOTTOM)
        sheet.text(x(10.0**power), BOTTOM + 16, f"{10.0**power:g}", "soft small mid")
    for power in range(math.ceil(low), math.floor(high) + 1):
        sheet.line(LEFT, y(10.0**power), RIGHT, y(10.0**power))
        sheet.text(LEFT - 6, y(10.0**power) + 4, f"{10.0 ** (power - 9):g}", "soft small end")
    sheet.text(4, TOP - 12, "GFLOP/s", "soft small")
    sheet.text(RIGHT, BOTTOM + 34, "operations for each byte that must be moved", "soft small end")
    tensor, start = peaks[1], max(10.0**left, 10.0**low / memory)
    roof = [(start, start * memory), (tensor / memory, tensor), (10.0**right, tensor)]
    sheet.path("M" + " L".join(f"{x(a):.1f} {y(b):.1f}" for a, b in roof), "ink", 2)
    sheet.line(x(peaks[0] / memory), y(peaks[0]), RIGHT, y(peaks[0]), "ink", 2)
    sheet.text(RIGHT, y(peaks[0]) - 5, f"fp32, {peaks[0] / 1e12:.0f} TFLOP/s", "soft small end")
    sheet.text(RIGHT, y(tensor) - 5, f"tensor cores, {tensor / 1e12:.0f} TFLOP/s", "soft small end")
    sheet.line(x(ratio), TOP, x(ratio), BOTTOM, "ink", 1)
    for number, ((name, seconds), rate) in enumerate(zip(rows, rates, strict=True)):
        kind = "b" if number == len(rows) - 1 else "a" if number == 0 else "c"
        sheet.dot(x(ratio), y(rate), 5, kind)
        line = BOTTOM + 56 + 16 * number
        sheet.dot(LEFT, line - 4, 5, kind)
        share = rate / min(ratio * memory, peaks[0])
        words = f"{name[:36]}: {_time(seconds)}, {100 * share:.0f} % of the memory's or fp32's roof"
        sheet.text(LEFT + 12, line, words, "small")
    sheet.text(LEFT, BOTTOM + 64 + 16 * len(rows), f"{card.name}; times {how}.", "soft small")
    return sheet.svg()


def work_of(one: Entry) -> dict[str, int]:
    """Bytes that a call must move at least, and operations of the reference: as its ``problem`` line says."""
    for finding in one.verdict.findings:
        if isinstance(work := finding.evidence.get("work"), dict):
            return work
    return {"bytes": 0, "operations": 0}


def _range(values: list[float]) -> tuple[float, float]:
    """Powers of ten around all of them."""
    logs = [math.log10(v) for v in values if v > 0]
    return math.floor(min(logs) - 0.3), math.ceil(max(logs) + 0.3)


def _time(seconds: float) -> str:
    return f"{seconds * 1e6:.1f} us" if seconds < 1e-3 else f"{seconds * 1e3:.2f} ms"
