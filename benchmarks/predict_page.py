"""The measured part of docs/contributing/prediction.md, and its picture; a test holds both to the numbers."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from statistics import median

from benchmarks.predict_fit import CARDS, Row, Score, rows, score, split
from grader.domain import gpu_card
from grader.referee.predict import model

ROOT = Path(__file__).resolve().parent.parent
PAGE, PICTURE = ROOT / "docs/contributing/prediction.md", ROOT / "docs/assets/prediction.svg"
BEGIN, END = "<!-- measured: benchmarks/predict_fit.py page -->", "<!-- /measured -->"
WORST = 8
SIDE, EDGE, LOW, HIGH = 460.0, 56.0, 3e-6, 5e-4
COLOURS = {"h200": "#2a7ab8", "h100": "#c8553d"}


def write() -> None:
    """Both files."""
    PAGE.write_text(filled(PAGE.read_text("utf-8")), "utf-8")
    PICTURE.write_text(picture(), "utf-8")


def filled(page: str) -> str:
    """The page with what is between its marks made anew."""
    return re.sub(
        f"{re.escape(BEGIN)}.*{re.escape(END)}", lambda _: f"{BEGIN}\n{tables()}\n{END}", page, flags=re.S
    )


def tables() -> str:
    """Scores, the worst cases, every held-out launch, constants."""
    held = split(held=True)
    lines = ["| | launches | median error | worse than 15 % | ranked as measured |", "|---|---|---|---|---|"]
    for name in (*CARDS, ""):
        some = [r for r in held if not name or r.card == name]
        lines.append(_score(f"held out, {gpu_card.card(name).name}" if name else "held out, both", some))
    lines.append(_score("seen by the fit, both", split(held=False)))
    found = score(held)
    share = 100 * found.right / found.pairs
    swapped = json.loads(model.FILE.read_text("utf-8"))["fitted"]["the other way round"]
    lines += [
        "",
        f"With the halves exchanged the median error is {100 * swapped['middle']:.1f} %, and "
        f"{swapped['right']} of {swapped['pairs']} pairs are in the measured order.",
        "",
        f"Asked for were a median error of at most 15 % ({_met(good=found.middle <= 0.15)}) and 95 % "
        "of the pairs of versions that differ by more than 10 % in the measured order "
        f"({_met(good=share >= 95)}: {share:.1f} %; in {found.ties} of the {found.pairs - found.right} other "
        "pairs both versions have the same counts, so none is predicted to be faster).",
        "", "The worst of the held-out launches:", "",
        "| job | version | GPU | measured | predicted | error | longest part |",
        "|---|---|---|---|---|---|---|",
    ]  # fmt: skip
    ranked = sorted(held, key=lambda r: -abs(math.log1p(r.error())))
    lines += [f"{_row(r)} {model.limit(r.work, r.peaks)} |" for r in ranked[:WORST]]
    lines += ["", '??? note "All held-out launches"', ""]
    lines += ["    | job | version | GPU | measured | predicted | error |", "    |---|---|---|---|---|---|"]
    lines += [f"    {_row(r)}" for r in held]
    silent = sorted({(r.job, r.version, r.why_not) for r in rows() if r.why_not})
    lines += ["", "Not predicted:", "", *(f"- {job}, {version}: {why}" for job, version, why in silent)]
    return "\n".join(lines)


def _score(what: str, some: list[Row]) -> str:
    found: Score = score(some)
    off = sum(abs(r.error()) > 0.15 for r in some)
    middle = median(abs(r.error()) for r in some)
    return f"| {what} | {len(some)} | {100 * middle:.1f} % | {off} | {found.right} of {found.pairs} |"


def _met(*, good: bool) -> str:
    return "met" if good else "not met"


def _row(r: Row) -> str:
    name = gpu_card.card(r.card).name.removeprefix("NVIDIA ")
    return (
        f"| {r.job} | {r.version} | {name} | {r.measured * 1e6:.1f} us | {r.predicted() * 1e6:.1f} us "
        f"| {100 * r.error():+.0f} % |"
    )


def picture() -> str:
    """Predicted over measured time of the held-out launches, both on a logarithmic scale."""
    whole = SIDE + 2 * EDGE
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {whole:.0f} {whole:.0f}" role="img" '
        'font-family="sans-serif" font-size="12">',
        "<title>Predicted and measured times of the launches that the fit has not seen</title>",
        f'<rect width="{whole:.0f}" height="{whole:.0f}" fill="#ffffff"/>',
    ]
    corners = [(LOW, LOW / 1.15), (HIGH, HIGH / 1.15), (HIGH, HIGH * 1.15), (LOW, LOW * 1.15)]
    band = " ".join(f"{_x(x):.1f},{_y(y):.1f}" for x, y in corners)
    out.append(f'<polygon points="{band}" fill="#e8e8e8"/>')
    for tick in (5e-6, 1e-5, 2e-5, 5e-5, 1e-4, 2e-4, 4e-4):
        out.append(
            f'<line x1="{_x(tick):.1f}" x2="{_x(tick):.1f}" y1="{EDGE}" y2="{EDGE + SIDE}" stroke="#cccccc"/>'
        )
        out.append(
            f'<line y1="{_y(tick):.1f}" y2="{_y(tick):.1f}" x1="{EDGE}" x2="{EDGE + SIDE}" stroke="#cccccc"/>'
        )
        label = f"{tick * 1e6:.0f}"
        out.append(f'<text x="{_x(tick):.1f}" y="{EDGE + SIDE + 16}" text-anchor="middle">{label}</text>')
        out.append(f'<text x="{EDGE - 6}" y="{_y(tick) + 4:.1f}" text-anchor="end">{label}</text>')
    for r in split(held=True):
        said = f"{r.job}, {r.version}, {gpu_card.card(r.card).name}: {100 * r.error():+.0f} %"
        out.append(
            f'<circle cx="{_x(r.measured):.1f}" cy="{_y(r.predicted()):.1f}" r="4" fill="{COLOURS[r.card]}" '
            f'fill-opacity="0.7"><title>{said}</title></circle>'
        )
    for k, name in enumerate(CARDS):
        y = EDGE + 16 + 18 * k
        out.append(f'<circle cx="{EDGE + 14}" cy="{y}" r="4" fill="{COLOURS[name]}"/>')
        out.append(f'<text x="{EDGE + 24}" y="{y + 4}">{gpu_card.card(name).name}</text>')
    middle = whole / 2
    out.append(f'<text x="{middle}" y="{whole - 14}" text-anchor="middle">measured, microseconds</text>')
    turned = f'transform="translate(16 {middle}) rotate(-90)" text-anchor="middle"'
    out.append(f"<text {turned}>predicted, microseconds</text>")
    return "\n".join([*out, "</svg>"]) + "\n"


def _x(seconds: float) -> float:
    return EDGE + SIDE * math.log(seconds / LOW) / math.log(HIGH / LOW)


def _y(seconds: float) -> float:
    return 2 * EDGE + SIDE - _x(seconds)
