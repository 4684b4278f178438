"""``course profile 07 [FILE]`` and ``course profile FILE``: watch the calls once, say it, write it down."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text

from grader.backends import detect
from grader.domain import disk, gpu_card, workspace
from grader.domain.errors import BadInputError
from grader.feedback.explain.attach import explained
from grader.profiling.profile import (
    chrome_trace,
    driver,
    kernel_rows,
    ncu_counters,
    nsight_script,
    observed,
    roofline_picture,
    show,
    subjects,
)
from grader.referee.fault import FaultError
from grader.reports import console as report

if TYPE_CHECKING:
    from rich.console import Console

    from grader.domain.gpu_card import Card
    from grader.profiling.profile.kernel_rows import Row
    from grader.profiling.profile.ncu_counters import Counted
    from grader.profiling.profile.observed import Seen
    from grader.profiling.profile.subjects import Subject

SCHEMA = "inline-to-fused/profile/v1"


def run(what: str, file: Path | None, wanted: str, out: Path | None, card_name: str, sandbox: str) -> int:
    """Profile; 0, or 1 if the file failed or launched nothing. The files are written into ``out``."""
    target, card, choice = subjects.find(what, file), gpu_card.card(card_name), detect.choose(wanted)
    if error := target.submission.syntax_error():
        raise BadInputError(f"{target.submission.name}, line {error.lineno}: SyntaxError: {error.msg}.")
    console, folder = report.screen(), out or workspace.for_results() / "profile" / target.name
    try:
        seen = observed.observe(target, choice, sandbox, lambda text: print(text, file=sys.stderr))
    except FaultError as fault:
        finding = explained(fault.finding(target.submission.name), target.submission.source)
        console.print(report.failure(finding))
        return 1
    head = Text.assemble((target.name, "bold"), f"  {target.submission.name}  ")
    console.print(head.append(f"back end {choice.name} ({choice.why}; {seen.device})\n", "dim"))
    if not seen.launches:
        console.print(show.nothing(target, choice))
        return 1
    rows = kernel_rows.rows(seen.launches, seen.calls)
    ncu = None
    if choice.name == "simt":
        show.table(console, rows, card)
        _counted(console, target, seen, rows, card)
    else:
        card = gpu_card.of_device(seen.device) or card
        ncu = ncu_counters.count(target, choice, sandbox, rows)
        show.table(console, rows, card, ncu)
        _measured(console, target, seen, ncu, rows)
    if seen.cut:
        console.print(Text("There were more launches than are looked at; these are the first.", "yellow"))
    show.written(console, _write(console, folder, target, seen, rows, card, ncu))
    # A command stays whole, a sentence need not.
    console.print(
        Text(f"\n{nsight_script.sentence(target, folder)}", "dim"), soft_wrap=nsight_script.installed()
    )
    console.print("\nAll of a GPU's own counters, in one line to copy:")
    print(driver.ncu(target, rows, folder))  # one line, however narrow the terminal
    return 0


def _measured(console: Console, target: Subject, seen: Seen, ncu: Counted, rows: list[Row]) -> None:
    how = f"Medians of {seen.calls} calls" if target.lesson else "Of one run of the script"
    console.print(Text(f"\n{how}, measured by torch.profiler on {seen.device}.", "dim"))
    console.print(Text(f"{ncu.why_not or show.NCU}\n", "yellow" if ncu.why_not else "dim"))
    for sentence in show.waiting(rows, ncu):
        console.print(Text(sentence))


def _counted(console: Console, target: Subject, seen: Seen, rows: list[Row], card: Card) -> None:
    calls = "one run of the script"
    if target.lesson:
        sizes = [" and ".join(str(list(a.shape)) for a in c.args if hasattr(a, "shape"))
                 for c in target.counted]  # fmt: skip
        each = "one call" if len(sizes) == 1 else f"one call of each of {len(sizes)} functions,"
        calls = f"{each} with {'; '.join(dict.fromkeys(sizes))}"
    console.print(Text(f"\n{show.legend(card, calls)}", "dim"))
    console.print(Text(show.predicted(seen.launches, card), "dim"))
    speed = target.lesson.task.speed if target.lesson else None
    if speed and (moved := sum(r.moved for r in rows)):
        full = moved / speed.case_bytes * speed.fused_bytes
        seconds = kernel_rows.floor(full, 0, card)
        console.print(Text(
            f"At the lesson's full size the same kernels move {show.size(full)} a call: at least "
            f"{seconds * 1e6:,.0f} us on {card.name}, whatever the code does.", "dim"))  # fmt: skip
        scale = speed.fused_bytes / speed.case_bytes
        console.print(Text(show.predicted(seen.launches, card, scale), "dim"))
    console.print("\nLine by line:")
    show.lines(console, kernel_rows.lines(seen.launches), target.submission.path, target.submission.source)
    console.print()


def _write(
    console: Console,
    folder: Path,
    target: Subject,
    seen: Seen,
    rows: list[Row],
    card: Card,
    ncu: Counted | None,
) -> dict[str, Path]:
    """Trace, numbers, the script for ncu and, if it can be drawn, the picture: what each is, and where."""
    counted = any(x.counts for x in seen.launches)
    events = (
        chrome_trace.floors(seen.launches, card)
        if counted
        else chrome_trace.times(seen.launches, seen.device)
    )
    files = {"trace": folder / "trace.json", "numbers": folder / "profile.json"}
    disk.write(files["trace"], events.as_json())
    numbers = _numbers(target, seen, rows, card, ncu)
    disk.write(files["numbers"], json.dumps(numbers, indent=1, allow_nan=False))
    if target.lesson:
        files["call"] = folder / "call.py"
        disk.write(files["call"], driver.text(target))
        if nsight_script.installed():
            files["counters"] = folder / nsight_script.NAME
            disk.write(files["counters"], nsight_script.text(target))
    if ncu and ncu.report:
        files |= ncu_counters.keep(ncu, folder)
    dots = rows if counted else ncu_counters.dots(rows, ncu)
    if (counted or dots) and not roofline_picture.available():
        console.print(Text(roofline_picture.unavailable(), "dim"), soft_wrap=True)
    elif (counted or dots) and not roofline_picture.drawable(dots):
        console.print(Text(roofline_picture.NOTHING, "dim"))
    elif dots:
        files["roofline"] = folder / "roofline.png"
        roofline_picture.draw(dots, card, target.name, files["roofline"])
    return files


def _numbers(
    target: Subject, seen: Seen, rows: list[Row], card: Card, ncu: Counted | None
) -> dict[str, object]:
    lines = [
        {"file": Path(x.file).name, "line": x.line, "what": x.what, "requests": x.requests,
         "traffic": x.traffic, "least": x.least, "says": x.sentence()}
        for x in kernel_rows.lines(seen.launches)
    ]  # fmt: skip
    kind = "counted" if any(x.counts for x in seen.launches) else "measured"
    entries = [kernel_rows.as_json(r, card) | (ncu.as_json(r) if ncu else {}) for r in rows]
    return {
        "schema": SCHEMA, "name": target.name, "kind": kind, "device": seen.device, "card": card.name,
        "kernels": entries, "lines": lines,
    }  # fmt: skip
