"""A verdict for a person at a terminal: what failed, a line each, the cause in full, and what comes next."""

from __future__ import annotations

import itertools
import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from grader.backends.simt.compile.diagnostics import ERROR
from grader.domain import speed as speeds
from grader.domain.speed import Measured, Predicted, Speed
from grader.domain.verdict import PENDING, Finding, Status, Verdict
from grader.referee.predict import validity
from grader.reports import wording

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from grader.feedback.look import Advice

MARK = {Status.PASSED: ("ok", "green"), Status.NOT_RUN: ("--", "dim")}
MARK |= dict.fromkeys(PENDING, ("..", "yellow"))
LOG_LINES = 14
UNCOMPARED = "; no prediction was compared with a measurement on it"
OTHER_ERRORS = 3


def screen() -> Console:
    """Standard output: as wide as the terminal, and 100 columns where it is a file or a pipe."""
    known = sys.stdout.isatty() or "COLUMNS" in os.environ
    return Console(width=None if known else 100, highlight=False)


def show(
    console: Console,
    verdict: Verdict,
    why: str,
    advice: list[Advice],
    opinion: Sequence[Advice] = (),
    *,
    every: bool = False,
    replayed: str = "",
) -> None:
    """Print the whole report; ``advice`` beside a failure, a second ``opinion`` always.

    ``why`` this back end was taken. ``every`` check gets a line of its own, those that passed too.
    ``replayed``: the file as `course replay` is told it, if it is not the student's own.
    """
    show_table(console, verdict, why, every=every)
    show_below(console, verdict, advice, opinion, replayed=replayed)


def show_below(
    console: Console,
    verdict: Verdict,
    advice: list[Advice],
    opinion: Sequence[Advice] = (),
    *,
    replayed: str = "",
) -> None:
    """Print what stands below the table of checks: the first failure, advice, output, points."""
    if failed := verdict.failed:
        console.print(failure(failed[0], others(verdict, failed), wording.replay_offer(verdict, replayed)))
        for item in advice[:3]:
            console.print(_looked(item))
    else:
        for item in [a for a in advice if a.lasting][:3]:
            console.print(_looked(item))
    for item in opinion:
        console.print(Text(f"  second opinion, which decides nothing: {item.message}", style="dim"))
    if printed := _cut(verdict.output):
        console.print(Panel(Text(printed), title="printed by the submission", border_style="dim"))
    console.print(summary(verdict))


def show_table(console: Console, verdict: Verdict, why: str, *, every: bool = False) -> None:
    """Print what was judged, where, and what became of each check; as in :func:`show`."""
    for line in heading(verdict, why):
        console.print(line, no_wrap=True, overflow="ellipsis")
    console.print(Padding(findings_table(verdict, every=every), (0, 0, 0, 2)))


def _looked(item: Advice) -> Text:
    return Text(f"  look: {item.where}{item.message}", style="dim")


def heading(verdict: Verdict, why: str) -> Iterator[Text]:
    """Which submission, and where it was judged and why there: two lines that are cut and never wrapped."""
    yield Text.assemble((verdict.lesson, "bold"), f"  {verdict.submission}")
    known = verdict.device.startswith(verdict.backend)
    where = verdict.device if known else f"{verdict.backend}: {verdict.device}"
    if verdict.device == "unknown":  # nothing was run
        where = verdict.backend
    yield Text(f"back end {where} ({why})", "dim")


def findings_table(verdict: Verdict, *, every: bool = False) -> Table:
    """One line a failed check; those in a row that failed alike share one, and so do those that passed.

    Of an exercise in stages the first that is not done is shown so, and of each other one a line.
    """
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0), expand=True)
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True, justify="right")
    table.add_column(overflow="ellipsis", no_wrap=True, ratio=1)
    stages, findings = verdict.exercise_stages, verdict.findings
    staged = {name for stage in stages for name in stage.checks}
    for group in _groups([f for f in findings if f.id not in staged], every=every):
        mark, name, points, text = _line(group)
        table.add_row(mark, Text(name), points, text)
    left = verdict.left
    at = verdict.open_stage
    for k, stage in enumerate(stages):
        own = [f for f in findings if f.id in stage.checks]
        title, minutes = f"Stage {k + 1}: {stage.title}", stage.minutes if k == at else 0
        table.add_row(*_stage_line(title, own, minutes, done=stage.done(left), begun=at is not None))
        for group in _groups(own, every=every) if every or k == at else ():
            mark, name, points, text = _line(group)
            table.add_row(mark, Text(f"  {name}"), points, text)
    return table


def _line(group: list[Finding]) -> tuple[Text, str, str, Text]:
    """Mark, name, points and what is said of findings that share a line."""
    first, count = group[0], len(group)
    mark, style = MARK.get(first.status, ("!!", "red"))
    name = first.id if count == 1 else f"{count} checks"
    text = _told(first) if count == 1 or not first.ok else ", ".join(f.id for f in group)
    if first.ok and sum(f.points for f in group) < sum(f.max_points for f in group):
        text = f"no points until an ordinary case is right: {text}"
    return Text(mark, style), name, _points(group), Text(text, "dim" if first.ok else "")


def _stage_line(
    title: str, own: list[Finding], minutes: int, *, done: bool, begun: bool
) -> tuple[Text, Text, str, Text]:
    """The same of a stage; of the first that is not done alone, ``minutes`` are told.

    ``begun``: a check of some stage was run.
    """
    if minutes:
        said = f"you are here (about {minutes} minutes)"
        return Text("->", "bold"), Text(title, "bold"), _points(own), Text(said, "bold")
    waiting = [f for f in own if f.status in PENDING] if done else []
    word = "done" if done else "later" if begun else "not run"
    told = [f"{word}: {', '.join(f.id for f in own if f not in waiting)}"]
    if waiting:
        machine = wording.waiting_for(f.status for f in waiting)
        told = [
            *(told if len(own) > len(waiting) else []),
            f"for {machine}: {', '.join(f.id for f in waiting)}",
        ]
    status = Status.NOT_RUN if not done else waiting[0].status if waiting == own and own else Status.PASSED
    mark, style = MARK[status]
    return Text(mark, style), Text(title), _points(own), Text("; ".join(told), "dim")


def _points(group: list[Finding]) -> str:
    earned, most = sum(f.points for f in group), sum(f.max_points for f in group)
    if all(f.status in PENDING for f in group):
        return f"+{most}" if most else ""
    return f"{earned}/{most}" if most else ""


def _groups(findings: list[Finding], *, every: bool) -> Iterator[list[Finding]]:
    """Findings that share a line: the passed ones first, then in order those alike that follow each other."""
    if every:
        yield from ([f] for f in findings)
        return
    if passed := [f for f in findings if f.ok]:
        yield passed
    rest = [f for f in findings if not f.ok]

    def alike(finding: Finding) -> tuple[Status, str]:
        said = "" if finding.status is Status.NOT_RUN else first_sentence(finding.message)
        if finding.status is Status.MISSING_ENTRY:  # the same entry, of which each case has its own size
            said = re.sub(r"\d+", "0", said)
        return finding.status, said

    yield from (list(group) for _, group in itertools.groupby(rest, alike))


def _told(finding: Finding) -> str:
    if finding.ok:
        return first_sentence(finding.message)
    if finding.status is Status.NOT_RUN:  # of a check that never began the message says what it is for
        begins, colon, why = first_sentence(finding.message).partition(": ")
        return f"not run: {why}" if colon and begins.startswith("Not ") else "not run"
    return f"{finding.status}: {first_sentence(finding.message)}"


def others(verdict: Verdict, failed: list[Finding]) -> str:
    """How many more checks failed; those of which the table says "later" by themselves."""
    at = verdict.open_stage
    ahead = verdict.exercise_stages[at + 1 :] if at is not None else ()
    beyond = sum(f.id in stage.checks for stage in ahead for f in failed[1:])
    here = len(failed) - 1 - beyond
    told = [f"{here} more {_checks(here)} failed"] if here else []
    if beyond:
        word = "" if here else " more"
        told.append(f"{beyond}{word} {_checks(beyond)} of later stages{'' if here else ' failed'}")
    return f"{', and '.join(told)}; fix this one first." if told else ""


def _checks(count: int) -> str:
    return "check" if count == 1 else "checks"


def failure(finding: Finding, more: str = "", offer: str = "") -> RenderableType:
    """The first failure in full: what happened, where, why, what to try, how many ``more``, an ``offer``."""
    parts: list[RenderableType] = [Text(finding.message)]
    log = finding.evidence.get("log")
    plain = finding.evidence.get("explanation")
    if isinstance(plain, dict):
        parts = _in_plain_words(finding, plain)
    elif isinstance(log, str):
        parts += _errors(finding.message, log)
    if (
        not isinstance(plain, dict)
        and not isinstance(log, str)
        and (advice := wording.advice(finding.status, finding.message))
    ):
        parts.append(Text(advice, style="italic"))
    if offer:
        parts.append(Text(offer, style="bold"))
    if more:
        parts.append(Text(more, style="dim"))
    return Panel(
        Group(*parts), title=f"{finding.id}: {finding.status}", title_align="left", border_style="red"
    )


def _errors(message: str, log: str) -> Iterator[RenderableType]:
    """The line of the first error as the compiler shows it, and the file's other errors, a line each.

    What a compiler says of other files, the headers on the way to the error, is in the JSON report.
    """
    lines = log.strip().splitlines()
    own = message.partition(", line ")[0]
    found = [
        (i, m) for i, line in enumerate(lines) if (m := ERROR.match(line)) and Path(m["file"]).name == own
    ]
    if found:
        shown = lines[found[0][0] + 1 : found[0][0] + 3]
        yield from (Text(line, style="dim") for line in shown if re.match(r"\s*\d*\s*\|", line))
        others = [f"{own}, line {m['line']}: {m['text']}" for _, m in found[1:] if m["text"] not in message]
        if others:
            yield Text("Later errors often follow from the first:", style="italic")
            yield Text("\n".join(dict.fromkeys(others[:OTHER_ERRORS])), style="dim")
            if len(others) > OTHER_ERRORS:
                yield Text(f"... and {len(others) - OTHER_ERRORS} more (in the JSON report)", style="dim")
    else:
        yield Text("\n".join(lines[:LOG_LINES]), style="dim")
        if len(lines) > LOG_LINES:
            yield Text(f"... and {len(lines) - LOG_LINES} more lines (in the JSON report)", style="dim")


def _in_plain_words(finding: Finding, plain: dict[str, object]) -> list[RenderableType]:
    """The cause, where it is and what to do; then what the tool itself said, or what came of it."""
    compiled = isinstance(finding.evidence.get("log"), str)
    told: list[RenderableType] = [Text(str(plain["cause"]), style="bold")]
    if plain["where"]:
        told.append(Text(str(plain["where"])))
    if plain["fix"]:
        told.append(Text(str(plain["fix"])))
    said = Text.assemble("the compiler: " if compiled else "", finding.message, style="dim")
    return [*told, said]


def summary(verdict: Verdict) -> Text:
    """Status, points, speed and where the time went."""
    style = "bold green" if verdict.ok else "bold red"
    text = Text.assemble((str(verdict.status), style), f"  {wording.points(verdict)}")
    if verdict.speed:
        text.append(f"  {speed_text(verdict.speed)}")
    least = max(0.05, 0.05 * verdict.seconds)  # all of them would fill more than a line
    stages = "  ".join(f"{name} {took:.1f}" for name, took in verdict.stages.items() if took >= least)
    return text.append(f"  {verdict.seconds:.1f} s" + (f" ({stages})" if stages else ""), "dim")


def speed_text(speed: Speed | None) -> str:
    """One clause about the speed, which says whether it was predicted or measured, and for what."""
    if isinstance(speed, Measured) and not speed.claimed:
        return "no speed is claimed: the two clocks disagree"
    if not (found := speeds.claimed(speed)):
        return ""
    kernel, model = ratios(found)
    parts = [f"{kernel} kernel"] if kernel != "-" else []
    parts += [f"{model} model"] if model != "-" else []
    text = f"{', '.join(parts)} against eager, {speeds.kind_of(found)} for {found.device}"
    # Else a reader who has divided the bytes, as lessons 07 and 08 do, takes the prediction for wrong.
    beside = ", where waiting and launches count beside the bytes"
    if not isinstance(found, Predicted):
        return text
    return text + beside + (UNCOMPARED if validity.compared(found.device) else "")


def ratios(speed: Speed | None) -> tuple[str, str]:
    """How many times faster than eager: the kernel alone, and the whole model where there is more in it."""
    found = speeds.claimed(speed)
    if found is None:
        return "-", "-"
    whole = f"{found.whole_ratio:.3f}x"
    if isinstance(found, Measured):
        return "-", whole
    same = abs(found.whole_ratio - found.kernel_ratio) < 1e-9
    return f"{found.kernel_ratio:.2f}x", "-" if same else whole


def speed_note(speed: Measured | Predicted) -> str:
    """What the stars of the demo's table mean."""
    if isinstance(speed, Predicted):
        said = f"* times faster than eager, predicted for {speed.device} from what was counted; not measured"
        return said + (UNCOMPARED if validity.compared(speed.device) else "")
    return f"* times faster than eager, measured on {speed.device}"


def first_sentence(text: str) -> str:
    """What fits in a line of the table."""
    line = text.strip().splitlines()[0] if text.strip() else ""
    return line.split(". ")[0][:160]


# PyTorch's C++ stack, hundreds of lines that say nothing of the student's file.
STACK = re.compile(
    r"^(?:Exception raised from [^\n]*\(most recent call first\):|frame #\d+: [^\n]*"
    r"|<omitting python frames>)\n*",
    re.M,
)


def _cut(text: str, lines: int = 12) -> str:
    kept = STACK.sub("", text).strip().splitlines()
    return "\n".join(kept[:lines] + ([f"... {len(kept) - lines} more lines"] if len(kept) > lines else []))
