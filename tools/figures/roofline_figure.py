"""A roofline: what a GPU allows at a given number of operations a byte, and where kernels of the course are."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from grader.domain.lessons import load_task
from grader.reports.svg import Sheet
from tools import measured

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LEFT, RIGHT, TOP, BOTTOM = 46, 466, 30, 282
INTENSITY, RATE = (-1.2, 3.6), (-1.0, 3.2)  # powers of ten: operations a byte, TFLOP/s
CARD = "h200"
FLOPS = 2  # an element's addition and its comparison with zero

Point = tuple[str, float, float, str, str, float, float]


def picture(root: Path) -> str:
    """The roofs of one card, and measured kernels of lessons 07, 12 and 13 under them."""
    card = json.loads((root / "grader/domain/cards" / f"{CARD}.json").read_text("utf-8"))
    points = measured_points(root)
    sheet = Sheet(
        344,
        f"A roofline of one {card['name']}. The small operations of lesson 07 lie on the slope that the memory's "
        "speed allows, fused ones higher. The matrix product lies near the flat roof of fp32 arithmetic; lesson 13 "
        "passes it with tensor cores.",
    )
    copy, fp32 = card["copy_bytes_per_second"]["value"], card["fp32_flops_per_second"]["value"]
    tensor = card["tensor_flops_per_second"]["value"]
    _grid(sheet)
    ends = [10 ** INTENSITY[0], tensor / copy, 10 ** INTENSITY[1]]
    roof = [(_x(ends[0]), _y(ends[0] * copy)), (_x(ends[1]), _y(tensor)), (_x(ends[2]), _y(tensor))]
    sheet.path("M" + " L".join(f"{x:.1f} {y:.1f}" for x, y in roof), "ink", 2)
    sheet.line(_x(fp32 / copy), _y(fp32), RIGHT, _y(fp32), "ink", 2)
    sheet.text(_x(2.2), _y(1.9e13), "copying memory:", "soft small end")
    sheet.text(_x(2.2), _y(1.05e13), f"{copy / 1e12:.2f} TB/s", "soft small end")
    sheet.text(_x(fp32 / copy) + 2, _y(fp32) + 15, f"fp32, {fp32 / 1e12:.0f} TFLOP/s", "soft small")
    sheet.text(RIGHT, _y(tensor) - 6, f"tensor cores, fp16, {tensor / 1e12:.0f} TFLOP/s", "soft small end")
    for words, intensity, rate, kind, anchor, dx, dy in points:
        sheet.dot(_x(intensity), _y(rate), 5, kind)
        sheet.text(_x(intensity) + dx, _y(rate) + dy, words, f"small {anchor}".strip())
    sheet.text(LEFT, 338, f"{card['name']}, one card; axes in powers of ten.", "soft small")
    return sheet.svg()


def measured_points(root: Path) -> list[Point]:
    """What was measured: label, operations a byte, operations a second, and how its label stands."""
    speed = load_task(root / "lessons" / "07_fused_bias_relu" / "task.py").speed
    assert speed is not None
    elements = speed.fused_bytes / 8
    times = {str(row[0]): float(row[1]) * 1e-6 for row in measured.tables(root)["elementwise-07"]["rows"]}
    calls = _calls(root)
    work, every = FLOPS * elements, speed.flops
    product = 4 * (1024 * 8192 + 8192 * 8192 + 1024 * 8192)  # both factors and the result

    def small(label: str, words: str, moved: float, kind: str, dy: float) -> Point:
        return (words, work / moved, work / times[label], kind, "", 10, dy)

    return [
        small("eager, two kernels", "bias and ReLU, two kernels", speed.eager_bytes, "b", 12),
        small("fused, `float4`", "fused (07)", speed.fused_bytes, "a", 6),
        ("framework", every / product, every / calls("eager relu(linear)"), "b", "", 10, 12),
        ("tiled (12)", every / product, every / calls("lesson 12"), "c", "end", -10, 8),
        ("halves (13)", every / product, every / calls("lesson 13"), "a", "end", -10, -4),
    ]


def _calls(root: Path) -> Callable[[str], float]:
    data: dict[str, Any] = json.loads((root / measured.RESULTS / "gemm_epilogue.json").read_text("utf-8"))

    def seconds(name: str) -> float:
        return float(data["calls"][name]["microseconds"]["median"]) * 1e-6

    return seconds


def _grid(sheet: Sheet) -> None:
    for power, words in ((-1, "0.1"), (0, "1"), (1, "10"), (2, "100"), (3, "1000")):
        x = _x(10.0**power)
        sheet.line(x, TOP, x, BOTTOM)
        sheet.text(x, BOTTOM + 18, words, "soft small mid")
        y = _y(10.0**power * 1e12)
        sheet.line(LEFT, y, RIGHT, y)
        sheet.text(LEFT - 6, y + 4, words, "soft small end")
    sheet.text(LEFT - 32, TOP - 12, "TFLOP/s", "soft small")
    sheet.text(RIGHT, BOTTOM + 36, "operations for each byte of device memory", "soft small end")


def _x(intensity: float) -> float:
    low, high = INTENSITY
    return LEFT + (math.log10(intensity) - low) / (high - low) * (RIGHT - LEFT)


def _y(flops: float) -> float:
    low, high = RATE
    return BOTTOM - (math.log10(flops / 1e12) - low) / (high - low) * (BOTTOM - TOP)
