"""Which candidates are told apart."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from rich.console import Console
from typer.testing import CliRunner

from grader.cli.app import app
from grader.domain.verdict import Finding, Status, Verdict
from grader.profiling import compare_verb
from grader.referee.timing.interval import Interval
from tests.speeds import measured, predicted

if TYPE_CHECKING:
    from grader.domain.speed import Speed


def verdict(ratio: float | None, interval: tuple[float, float] | None = None) -> Verdict:
    speed: Speed | None = None
    if ratio is not None:
        speed = predicted(whole_ratio=ratio, kernel_seconds=1e-5 / ratio)
    if ratio is not None and interval:
        speed = measured(whole_ratio=ratio, interval=list(interval))
    status = Status.PASSED if ratio else Status.WRONG_OUTPUT
    findings = (Finding("as given", status, "First wrong: element [0]"),)
    return Verdict("ref", "a.py", "simt", "a device", findings, 1.0, speed=speed)


def test_what_overlaps_shares_a_group() -> None:
    of = {"a": verdict(2.0, (1.9, 2.1)), "b": verdict(1.95, (1.8, 1.99)), "c": verdict(1.0, (0.9, 1.1))}
    found = compare_verb.groups([compare_verb.entry(name, one) for name, one in of.items()])
    assert [[e.name for e in group] for group in found] == [["a", "b"], ["c"]]


def test_a_direct_comparison_says_more_than_two_intervals() -> None:
    of = {"a": verdict(2.0, (1.9, 2.1)), "b": verdict(1.95, (1.8, 2.0)), "c": verdict(1.2, (1.1, 1.3))}
    entries = [compare_verb.entry(name, one, number) for number, (name, one) in enumerate(of.items())]
    for low, wanted in ((1.01, [["a"], ["b"], ["c"]]), (0.99, [["a", "b"], ["c"]])):
        found = compare_verb.groups(entries, {(0, 1): Interval(1.03, low, 1.05, 24)})
        assert [[e.name for e in group] for group in found] == wanted


def test_predictions_nearby_are_not_told_apart_and_what_failed_has_no_rank() -> None:
    of = {"a": verdict(1.0), "b": verdict(1.04), "c": verdict(1.5), "bad": verdict(None)}
    entries = [compare_verb.entry(name, one) for name, one in of.items()]
    assert [[e.name for e in group] for group in compare_verb.groups(entries)] == [["c"], ["b", "a"]]
    paper = Console(file=io.StringIO(), width=120)
    compare_verb.show(paper, entries)
    text = paper.file.getvalue()  # type: ignore[attr-defined]
    assert "No clock was read" in text and "wrong_output" in text and "First wrong" in text


def test_without_a_reference_compare_says_what_it_is_for() -> None:
    done = CliRunner().invoke(app, ["compare", "07"])
    assert done.exit_code != 0 and "--reference REFERENCE.py" in str(done.exception) + done.output
    assert "course check 07 --time" in str(done.exception) + done.output
