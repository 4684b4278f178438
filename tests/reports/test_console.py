from __future__ import annotations

import io
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from msgspec import structs
from rich.console import Console

from grader.domain.exercise_stage import Stage
from grader.domain.speed import Measured, Predicted, Speed
from grader.domain.verdict import Finding, Status, Verdict
from grader.reports import console as report
from grader.reports import wording
from tests.speeds import measured, none, predicted

if TYPE_CHECKING:
    from grader.feedback.look import Advice

LONG = "element [0, 12] is 3, expected 9. " * 8


def verdict(*findings: Finding) -> Verdict:
    return Verdict(
        "03_square_kernel", "mine.py", "simt", "a CPU", findings, seconds=1.0, stages={"load": 0.5}
    )


def shown(v: Verdict, width: int, advice: list[Advice] | None = None) -> str:
    out = io.StringIO()
    report.show(Console(file=out, width=width), v, "you asked for it", advice or [])
    return out.getvalue()


@pytest.mark.parametrize("width", [40, 80, 100])
def test_marks_and_points_stay_however_long_a_message_is(width: int) -> None:
    text = shown(
        verdict(Finding("ragged", Status.WRONG_OUTPUT, LONG, 0, 6), Finding("ok", Status.PASSED, "", 2, 2)),
        width,
    )
    line = next(row for row in text.splitlines() if "ragged" in row)
    assert line.split()[:3] == ["!!", "ragged", "0/6"]
    assert max(map(len, text.splitlines())) <= width


def test_only_the_first_failure_is_told_in_full() -> None:
    text = shown(
        verdict(*(Finding(f"case {n}", Status.WRONG_OUTPUT, f"cause {n}. more", 0, 2) for n in range(3))), 100
    )
    assert "cause 0. more" in text
    assert "cause 1. more" not in text
    assert "2 more checks failed" in text


def test_an_entry_that_is_missing_in_several_cases_is_told_in_one_line() -> None:
    lost = "ModelNew has no parameter like the reference's bias [{}], neither by name nor by shape."
    cases = [Finding(f"case {n}", Status.MISSING_ENTRY, lost.format(n), 0, 1) for n in (128, 60, 1)]
    assert "3 checks" in shown(verdict(*cases), 100)
    wrong = [replace(f, status=Status.WRONG_OUTPUT) for f in cases]
    assert "3 checks" not in shown(verdict(*wrong), 100)


def test_advice_about_no_line_names_none() -> None:
    from grader.feedback.look import Advice

    failed = verdict(Finding("a", Status.MISSING_ENTRY, "The file defines no f.", 0, 1))
    text = shown(failed, 100, [Advice(0, "The grader calls f."), Advice(3, "Here.")])
    assert "look: The grader calls f." in text and "look: line 3: Here." in text


def test_a_pipe_is_100_columns_wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    assert report.screen().width == 100
    monkeypatch.setenv("COLUMNS", "61")
    assert report.screen().width == 61


@pytest.mark.parametrize(
    ("speed", "words"),
    [
        (
            predicted(kernel_ratio=2.0, whole_ratio=1.0061),
            "2.00x kernel, 1.006x model against eager, predicted",
        ),
        (predicted(whole_ratio=2.0), "2.00x kernel against eager, predicted"),
        (measured(whole_ratio=0.57), "0.570x model against eager, measured"),
        (measured(why="a call that waits"), "no speed is claimed: the two clocks disagree"),
        (none(), ""),
        (None, ""),
    ],
)
def test_a_speed_says_how_it_came_about(speed: Speed | None, words: str) -> None:
    device = f" for {speed.device}" if isinstance(speed, Measured | Predicted) and speed.claimed else ""
    beside = ", where waiting and launches count beside the bytes" if isinstance(speed, Predicted) else ""
    if isinstance(speed, Predicted):  # for a card that no prediction was compared on
        beside += report.UNCOMPARED
        assert report.speed_text(structs.replace(speed, device="NVIDIA H200")).endswith("beside the bytes")
    assert report.speed_text(speed) == words + device + beside


def test_stages_fit_into_80_columns_and_the_first_that_is_not_done_is_open() -> None:
    stages = (
        Stage("Naive", 20, ("whole tiles", "odd sizes")),
        Stage("Shared tile, and barriers", 25, ("shared tiles", "memory")),
        Stage("Register block", 40, ("register block",)),
    )
    found = replace(
        verdict(
            Finding("load", Status.PASSED),
            Finding("whole tiles", Status.PASSED, "", 3, 3),
            Finding("odd sizes", Status.PASSED, "", 3, 3),
            Finding("memory", Status.PASSED, "", 2, 2),
            Finding("shared tiles", Status.WRONG_OUTPUT, LONG, 0, 2),
            Finding("register block", Status.WRONG_OUTPUT, LONG, 0, 2),
        ),
        exercise_stages=stages,
    )
    rows = shown(found, 80).splitlines()
    assert max(map(len, rows)) <= 80
    assert [row.rstrip() for row in rows[2:9]] == [
        "  ok  load",
        "  ok  Stage 1: Naive                      6/6  done: whole tiles, odd sizes",
        "  ->  Stage 2: Shared tile, and barriers  2/4  you are here (about 25 minutes)",
        "  ok    memory                            2/2",
        "  !!    shared tiles                      0/2  wrong_output: element [0, 12] is…",
        "  --  Stage 3: Register block             0/2  later: register block",
        "╭─ shared tiles: wrong_output ─────────────────────────────────────────────────╮",
    ]


def test_nobody_is_at_a_stage_of_which_nothing_was_run() -> None:
    stages = (Stage("On paper", 10, ("owner",)), Stage("The kernel", 20, ("whole blocks",)))
    broken = (
        Finding("load", Status.COMPILE_ERROR, "line 23: no"),
        Finding("owner", Status.NOT_RUN, "", 0, 1),
        Finding("whole blocks", Status.NOT_RUN, "", 0, 1),
    )
    found = replace(verdict(*broken), exercise_stages=stages)
    rows = [row.rstrip() for row in shown(found, 80).splitlines()[3:5]]
    assert [row.split("  ")[-1] for row in rows] == ["not run: owner", "not run: whole blocks"]
    assert found.open_stage is None
    half = replace(found, findings=(broken[0], Finding("owner", Status.PASSED, "", 1, 1), broken[2]))
    assert half.open_stage == 1


def test_a_check_that_waits_for_a_gpu_is_not_called_done() -> None:
    stages = (Stage("Kernel", 20, ("right", "huge")), Stage("Tensor cores", 45, ("ratio",)))
    findings = (
        Finding("right", Status.PASSED, "", 3, 3),
        Finding("huge", Status.PENDING_GPU, "", 0, 1),
        Finding("ratio", Status.PENDING_GPU, "", 0, 3),
    )
    rows = shown(replace(verdict(*findings), exercise_stages=stages), 80).splitlines()
    assert [row.rstrip() for row in rows[2:4]] == [
        "  ok  Stage 1: Kernel        3/4  done: right; for a GPU: huge",
        "  ..  Stage 2: Tensor cores   +3  for a GPU: ratio",
    ]


@pytest.mark.parametrize(("launched", "offered"), [({}, True), ({"launched": []}, False)])
def test_a_replay_is_offered_only_where_a_kernel_of_cuda_was_launched(
    launched: dict[str, object], offered: bool
) -> None:
    seen = {"seen": [{"kind": "output-not-written", "check": "odd size"}]}
    memory = Finding("memory", Status.UNINITIALISED, "never written", 0, 1, seen)
    case = Finding("odd size", Status.NOT_FINITE, "is nan", 0, 2, launched)
    assert ("./course replay 03" in shown(verdict(memory, case), 100)) is offered


@pytest.mark.parametrize(
    ("here", "beyond", "says"),
    [
        (5, 5, "4 more checks failed, and 5 checks of later stages; fix this one first."),
        (1, 1, "1 more check of later stages failed; fix this one first."),
        (2, 0, "1 more check failed; fix this one first."),
    ],
)
def test_what_failed_in_later_stages_is_counted_by_itself(here: int, beyond: int, says: str) -> None:
    names = [f"a{k}" for k in range(here)], [f"b{k}" for k in range(beyond)]
    findings = [Finding(n, Status.WRONG_ANSWER, "no", 0, 1) for own in names for n in own]
    stages = tuple(Stage(title, 9, tuple(own)) for title, own in zip(("One", "Two"), names, strict=True))
    assert says in shown(replace(verdict(*findings), exercise_stages=stages), 100)


def test_an_access_that_is_no_matter_of_an_index_gets_other_advice() -> None:
    about = "line 3: reads the value of lane 16, which takes no part in the shuffle"
    assert "lane" in wording.advice(Status.ILLEGAL_ACCESS, about)
    left = "calls a warp function with the mask 0xffffffff, but of its lanes 24 have left the kernel"
    assert "such as 0 to a sum" in wording.advice(Status.ILLEGAL_ACCESS, left)
    waits = "line 5: waits for the lanes 0xffffffff of warp 0, but 0x0 have left the kernel and only 0x1 came"
    for said in (
        wording.advice(Status.BARRIER, waits),
        wording.feedback(Finding("x", Status.BARRIER, waits)),
    ):
        assert "such as 0 to a sum" in said and "__syncthreads" not in said
    assert "__syncthreads" in wording.advice(Status.BARRIER, "line 3: waits at __syncthreads()")
    own = "line 16: calls a warp function with the mask 0xfffffffe, which leaves out its own lane 0."
    assert "in the mask" in wording.advice(Status.CUDA_ERROR, own)
    copy = "line 9: reads element 3 of tile, to which an asynchronous copy was begun and not waited for"
    assert "wait for it" in wording.advice(Status.RACE, copy)
    assert "behind the / or %" in wording.advice(Status.WRONG_OUTPUT, "line 4: divides an integer by zero.")
    assert "pointer" in wording.advice(Status.ILLEGAL_ACCESS, "reads an address that is not device memory")
    assert "index" in wording.advice(Status.ILLEGAL_ACCESS, "reads element 9 of x, 1 element past the end")
    assert "index" not in wording.feedback(Finding("memory", Status.ILLEGAL_ACCESS, about))
    in_python = "Line 3: thread 1 writes out[0]. Each element must belong to one thread."
    assert wording.advice(Status.RACE, in_python) == "Give each element one owner."  # there is no barrier
    assert "barrier" in wording.advice(Status.RACE, "line 3: reads what another thread writes")


@pytest.mark.parametrize(
    ("status", "message", "never"),
    [
        (Status.TIMEOUT, "Not run: all calls together may take 12 times as long as one may.", "loop"),
        (Status.WRONG_OUTPUT, "The call returned 3, expected 4.", "element"),
        (Status.RACE, "Line 3: two threads write. Each element must belong to one thread.", "barrier"),
        (Status.CUDA_ERROR, "line 3: the assertion `i < n` failed.", "launch"),
        (Status.UNINITIALISED, "line 3: leaves a function without return.", "element"),
        (Status.ILLEGAL_ACCESS, "line 3: waits for the whole grid in a launch with <<<...>>>", "index"),
    ],
)
def test_no_sentence_of_a_status_that_is_false_in_this_case(status: Status, message: str, never: str) -> None:
    said = wording.feedback(Finding("x", status, message))
    assert said.startswith(message) and never not in said.removeprefix(message).partition(". ")[2]
    assert never not in wording.advice(status, message)


@pytest.mark.parametrize(
    ("kind", "offered"), [("global-out-of-bounds", True), ("host-touches-device-memory", False)]
)
def test_threads_are_offered_only_where_there_were_some(kind: str, offered: bool) -> None:
    seen = Finding(
        "memory", Status.ILLEGAL_ACCESS, "reads", 0, 2, {"seen": [{"kind": kind, "check": "whole"}]}
    )
    assert bool(wording.replay_offer(verdict(seen))) is offered


@pytest.mark.parametrize("every", [False, True])
def test_a_name_with_brackets_is_shown_as_it_is(every: bool) -> None:
    out = io.StringIO()
    made = replace(
        verdict(
            Finding("[/*]", Status.WRONG_OUTPUT, "Wrong.", 0, 1),
            Finding("[red]", Status.FAILED, "Off.", 0, 1),
        ),
        exercise_stages=(Stage("One", 5, ("[red]",)),),
    )
    report.show_table(Console(file=out, width=80), made, "why", every=every)
    assert "[/*]" in out.getvalue() and "[red]" in out.getvalue()


def test_a_stack_of_cpp_frames_is_not_printed() -> None:
    stack = "Exception raised from fail at a.cpp:4 (most recent call first):\nframe #0: f() (libc10.so)\n"
    output = f"first\n{stack * 40}<omitting python frames>\n\nlast frame #1: mine\n"
    passed = verdict(Finding("a", Status.PASSED, "", 1, 1))
    text = shown(replace(passed, output=output), 100)
    assert "first" in text and "last frame #1: mine" in text
    assert "libc10" not in text and "more lines" not in text and "omitting" not in text
    assert "printed by" not in shown(
        replace(verdict(Finding("a", Status.PASSED, "", 1, 1)), output=stack), 100
    )
