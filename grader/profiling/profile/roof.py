"""``course roofline 09 [FILE]``: the roofline of a GPU with the file's kernels on it, as an SVG."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from rich.text import Text

from grader.backends import detect
from grader.domain import gpu_card, workspace
from grader.domain.errors import BadInputError
from grader.feedback.explain.attach import explained
from grader.profiling.profile import kernel_rows, ncu_counters, observed, roofline_picture, show, subjects
from grader.referee.fault import FaultError
from grader.referee.predict import call
from grader.reports import console as report

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console

    from grader.domain.gpu_card import Card
    from grader.profiling.profile.kernel_rows import Row
    from grader.profiling.profile.subjects import Subject
    from grader.protocol.messages import Launch

LARGE = 64 << 20  # bytes that a kernel must move before its time says something about the GPU


def run(what: str, file: Path | None, wanted: str, out: Path | None, card_name: str, sandbox: str) -> int:
    """Say where the kernels are and draw it; 0, or 1 if the file failed or no kernel has a place."""
    target, card, choice = subjects.find(what, file), gpu_card.card(card_name), detect.choose(wanted)
    if error := target.submission.syntax_error():
        raise BadInputError(f"{target.submission.name}, line {error.lineno}: SyntaxError: {error.msg}.")
    console, place = (
        report.screen(),
        out or workspace.for_results() / "profile" / target.name / "roofline.svg",
    )
    try:
        seen = observed.observe(target, choice, sandbox, lambda text: print(text, file=sys.stderr))
    except FaultError as fault:
        finding = explained(fault.finding(target.submission.name), target.submission.source)
        console.print(report.failure(finding))
        return 1
    if not seen.launches:
        console.print(show.nothing(target, choice))
        return 1
    rows = kernel_rows.rows(seen.launches, seen.calls)
    if choice.name == "cuda":
        card = gpu_card.of_device(seen.device) or card
        ncu = ncu_counters.count(target, choice, sandbox, rows)
        found, how = ncu_counters.dots(rows, ncu), f"measured on {seen.device}; flops and bytes by ncu"
        if ncu.why_not:
            console.print(Text(ncu.why_not, "yellow"))
    else:
        found, how = predicted(target, seen.launches, rows, card)
    tell(console, found, card, how)
    if not roofline_picture.drawable(found):
        console.print(Text(roofline_picture.NOTHING, "yellow"))
        return 1
    if not roofline_picture.available():
        console.print(Text(roofline_picture.unavailable(), "yellow"), soft_wrap=True)
        return 0
    place.parent.mkdir(parents=True, exist_ok=True)
    roofline_picture.draw(found, card, target.name, place, how)
    console.print(Text("roofline  ").append(workspace.shown(place), "bold"), soft_wrap=True)
    return 0


def predicted(target: Subject, launches: list[Launch], rows: list[Row], card: Card) -> tuple[list[Row], str]:
    """The rows at a size that fills a GPU, each with its predicted time, 0 where there is none."""
    speed = target.lesson.task.speed if target.lesson else None
    moved = sum(row.moved for row in rows)
    scale = speed.fused_bytes / speed.case_bytes if speed else max(1.0, LARGE / max(1, moved))
    found = [_grown(row, launches, card, scale) for row in rows]
    size = f", counted at a small size and grown to {scale:,.0f} times as many blocks" if scale > 1 else ""
    return found, f"predicted for {card.name}, not measured{size}"


def _grown(row: Row, launches: list[Launch], card: Card, scale: float) -> Row:
    own = [x for x in launches if kernel_rows.key(x) == (row.kernel, row.grid, row.block)]
    found = call.predicted(own, card, scale)
    return replace(
        row, read=round(row.read * scale), written=round(row.written * scale), flops=round(row.flops * scale),
        seconds=0.0 if found.why_not else found.seconds,
    )  # fmt: skip


def tell(console: Console, found: list[Row], card: Card, how: str) -> None:
    """Each kernel in a line: where it is below the roof."""
    console.print(Text(f"{how}\n", "dim"))
    for row in found:
        if not row.moved:
            console.print(Text(f"{row.kernel}: moves nothing, so it has no place on the roofline"))
            continue
        least = kernel_rows.floor(row.moved, row.flops, card)
        ratio = f"{row.flops / row.moved:.3g} operations a byte"
        if not row.flops:
            ratio = "no arithmetic on floats, so it is not in the picture"
        text = f"{row.kernel}: {ratio}; {show.size(row.moved)}"
        if row.seconds:
            text += (
                f" in {row.seconds * 1e6:,.1f} us, {100 * least / row.seconds:.0f} % of what the roof allows"
            )
        else:
            text += f": at least {least * 1e6:,.1f} us; no time is predicted for it"
        console.print(Text(text))
