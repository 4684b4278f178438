"""The two pictures of docs/results/ladder.md: error against time, and error against the length of the sum."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

WIDE, HIGH, LEFT, RIGHT, TOP, BOTTOM = 720.0, 400.0, 74.0, 236.0, 24.0, 52.0
COLOURS = ("#2a7ab8", "#c8553d", "#4c9a5b", "#8a5ea8", "#b8862a", "#5b7083", "#a83f6f")
GREY = "#888888"
APART = 14.0  # labels of a plot that come closer are joined
NARROW = 1.5  # powers of ten; a range below has lines between them


def digits(tick: float) -> str:
    """``5e-7``"""
    number, _, power = f"{tick:.0e}".partition("e")
    return f"{number}e{int(power)}"


@dataclass(frozen=True, slots=True)
class Frame:
    """Two logarithmic axes."""

    x: tuple[float, float]
    y: tuple[float, float]

    def at(self, x: float, y: float) -> tuple[float, float]:
        """The place of a point in the picture."""
        across = math.log(x / self.x[0]) / math.log(self.x[1] / self.x[0])
        up = math.log(y / self.y[0]) / math.log(self.y[1] / self.y[0])
        return LEFT + (WIDE - LEFT - RIGHT) * across, HIGH - BOTTOM - (HIGH - BOTTOM - TOP) * up

    def drawn(self, title: str, x_name: str, y_name: str, x_ticks: list[float]) -> list[str]:
        """Axes, grid and names."""
        out = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDE:.0f} {HIGH:.0f}" role="img" '
            'font-family="sans-serif" font-size="12">',
            f"<title>{title}</title>",
            f'<rect width="{WIDE:.0f}" height="{HIGH:.0f}" fill="#ffffff"/>',
        ]
        for tick in x_ticks:
            x, y = self.at(tick, self.y[0])
            out.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{y:.1f}" stroke="#dddddd"/>')
            out.append(f'<text x="{x:.1f}" y="{y + 16:.1f}" text-anchor="middle">{tick:,.0f}</text>')
        low, high = (math.log10(v) for v in self.y)
        steps = (1, 2, 5) if high - low < NARROW else (1,)
        powers = range(math.floor(low), math.ceil(high) + 1)
        for tick in (float(f"{n}e{power}") for power in powers for n in steps):
            if not self.y[0] <= tick <= self.y[1]:
                continue
            x, y = self.at(self.x[0], tick)
            out.append(f'<line x1="{x:.1f}" x2="{WIDE - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="#dddddd"/>')
            out.append(f'<text x="{x - 6:.1f}" y="{y + 4:.1f}" text-anchor="end">{digits(tick)}</text>')
        middle = (LEFT + WIDE - RIGHT) / 2
        out.append(f'<text x="{middle}" y="{HIGH - 12}" text-anchor="middle">{x_name}</text>')
        turned = f'transform="translate(18 {(TOP + HIGH - BOTTOM) / 2}) rotate(-90)" text-anchor="middle"'
        return [*out, f"<text {turned}>{y_name}</text>"]


def rungs(points: dict[str, list[tuple[float, float]]]) -> str:
    """One point a rung and model: times in us and relative errors, the ReLU model first."""
    every = [p for some in points.values() for p in some]
    frame = Frame(
        (min(t for t, _ in every) / 1.3, max(t for t, _ in every) * 1.3),
        (10 ** math.floor(math.log10(min(e for _, e in every))), max(e for _, e in every) * 2),
    )
    ticks = [t for t in (200, 300, 500, 700, 1000, 2000, 3000) if frame.x[0] < t < frame.x[1]]
    out = frame.drawn(
        "Relative error of each rung against its time", "microseconds", "relative error against float64",
        [float(t) for t in ticks],
    )  # fmt: skip
    labels: list[tuple[float, float, list[str]]] = []
    for k, (name, some) in enumerate(points.items()):
        colour = COLOURS[k % len(COLOURS)]
        for model, (time, error) in zip(("ReLU", "sigmoid"), some, strict=False):
            x, y = frame.at(time, error)
            fill = colour if model == "ReLU" else "#ffffff"
            said = f"{name}, {model}: {time:.0f} us, {error:.1e}"
            out.append(
                f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{fill}" stroke="{colour}" stroke-width="2">'
                f"<title>{said}</title></circle>"
            )
            if model == "ReLU":
                near = next((n for n in labels if math.hypot(n[0] - x, n[1] - y) < APART), None)
                if near:
                    near[2].append(str(k + 1))
                else:
                    labels.append((x, y, [str(k + 1)]))
        y = TOP + 14 + 20 * k
        out.append(f'<circle cx="{WIDE - RIGHT + 16}" cy="{y}" r="5" fill="{colour}"/>')
        out.append(f'<text x="{WIDE - RIGHT + 28}" y="{y + 4}">{k + 1} {name}</text>')
    for x, y, numbers in labels:
        out.append(f'<text x="{x:.1f}" y="{y - 10:.1f}" text-anchor="middle">{", ".join(numbers)}</text>')
    return "\n".join([*out, "</svg>"]) + "\n"


def chunks(rows: list[dict[str, Any]], shown: list[str]) -> str:
    """Errors against the length of the sum, a line for each chunk of ``shown`` and one for eager."""
    lengths = [r["inner"] for r in rows]
    lines = {f"chunks of {n}": [(r["inner"], r[n]) for r in rows if n in r] for n in shown}
    lines["one long sum"] = [(r["inner"], r[str(r["inner"])]) for r in rows if str(r["inner"]) in r]
    lines["eager"] = [(r["inner"], r["eager"]) for r in rows]
    errors = [e for line in lines.values() for _, e in line]
    frame = Frame((lengths[0], lengths[-1]), (min(errors) / 1.5, max(errors) * 1.5))
    out = frame.drawn(
        "Relative error against the length of the sum", "length of the sum",
        "relative error against float64", [float(n) for n in lengths],
    )  # fmt: skip
    for k, (name, line) in enumerate(lines.items()):
        colour = GREY if name == "eager" else COLOURS[k % len(COLOURS)]
        dashes = ' stroke-dasharray="6 4"' if name == "eager" else ""
        places = [frame.at(x, y) for x, y in line]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"{dashes}/>')
        for (x, y), (length, error) in zip(places, line, strict=True):
            said = f"{name}, {length:,} terms: {error:.1e}"
            out.append(
                f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"><title>{said}</title></circle>'
            )
        y = TOP + 14 + 20 * k
        left = WIDE - RIGHT + 10
        out.append(
            f'<line x1="{left}" x2="{left + 22}" y1="{y}" y2="{y}" stroke="{colour}" '
            f'stroke-width="2"{dashes}/>'
        )
        out.append(f'<text x="{left + 28}" y="{y + 4}">{name}</text>')
    return "\n".join([*out, "</svg>"]) + "\n"
