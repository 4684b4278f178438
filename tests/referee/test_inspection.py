"""The look at memory beside the cases: what is kept, what is not, and that it ends when nobody wants it."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from grader.backends import detect
from grader.backends.extension.request import BuildRequest
from grader.domain.lessons import find
from grader.domain.verdict import Status
from grader.feedback import memory
from grader.protocol.messages import MemoryFinding
from grader.referee import builder, inspection, sanitizer
from grader.referee.builder import SimtBuilder
from grader.referee.fault import FaultError
from grader.referee.inspection import Inspection
from grader.referee.process.player_process import Limits, Player

if TYPE_CHECKING:
    from pathlib import Path

SUBJECT = sanitizer.Subject(find("03").task, "submission.py", "__global__ void f() {}", Limits())
ERROR = MemoryFinding(kind="out-of-bounds", what="a read", kernel="", line=None, block=None, thread=None)


class Tool:
    """Stands in for compute-sanitizer: what it finds, and how often it ran."""

    def __init__(self) -> None:
        self.found: list[MemoryFinding] | FaultError = []
        self.runs: list[str] = []
        self.started: list[str] = []
        self.stopped = threading.Event()

    def ready(self) -> None:
        """As a player that has started."""

    def stop(self) -> None:
        """As a player."""
        self.stopped.set()

    def run(self, name: str, subject: Any, go: Any, build: Any) -> list[MemoryFinding] | None:
        self.started.append(name)
        if not go(self):
            return None
        build.requests.append(BuildRequest("x", cuda_sources=(subject.source,)))
        self.runs.append(name)
        if isinstance(self.found, FaultError):
            raise self.found
        return list(self.found)


@pytest.fixture
def tool(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Tool:
    made = Tool()
    monkeypatch.setattr(sanitizer, "run", made.run)
    monkeypatch.setattr(inspection, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(detect, "gpu_capability", lambda: "9.0")
    return made


def looked(subject: sanitizer.Subject = SUBJECT, **more: Any) -> list[MemoryFinding]:
    one = Inspection(subject, **more)
    one.allow()
    try:
        return one.findings()
    finally:
        one.stop()


def test_what_was_clean_is_not_looked_at_again_until_something_changes(tool: Tool) -> None:
    assert looked() == looked() == [] and tool.runs == ["memcheck"]
    assert Inspection(SUBJECT).known
    looked(replace(SUBJECT, source="__global__ void f() { }"))
    task = find("03").task
    looked(replace(SUBJECT, task=replace(task, cases=task.cases[1:])))
    assert len(tool.runs) == 3
    looked(SUBJECT, keep=False)
    assert len(tool.runs) == 4
    looked(replace(SUBJECT, source="__shared__ float x[2];"))
    assert tool.runs[4] == "memcheck" and sorted(tool.runs[5:]) == ["racecheck", "synccheck"]
    assert tool.started.count("racecheck") == tool.started.count("synccheck") == 1


def test_what_was_built_decides_which_tools_are_used(tool: Tool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file's text only lets processes start sooner: a word in a comment, a text that is put together."""
    looked(replace(SUBJECT, source="__shared__ float x[2];"))
    monkeypatch.setattr(sanitizer, "further", lambda _: ())
    looked(replace(SUBJECT, source="// without __shared__"))
    assert tool.runs.count("racecheck") == 1 and tool.started.count("racecheck") == 2
    monkeypatch.setattr(sanitizer, "further", lambda _: sanitizer.FURTHER)
    looked(replace(SUBJECT, source="// without"))
    assert tool.runs[-2:] == ["racecheck", "synccheck"]


def test_a_tool_takes_its_turn_on_the_gpu_once_its_process_has_started(tool: Tool) -> None:
    events: list[str] = []

    class Turns:
        def share(self) -> None:
            events.append("share")

        def close(self) -> None:
            events.append("close")

    tool.ready = lambda: events.append("ready")  # type: ignore[method-assign]
    looked(SUBJECT, turns=Turns)
    assert events[:2] == ["ready", "share"] and events[-1] == "close"


def test_errors_are_looked_for_every_time(tool: Tool) -> None:
    tool.found = [ERROR]
    assert looked() == looked() == [ERROR] and len(tool.runs) == 2


def test_a_look_that_fell_is_not_kept_and_is_told(tool: Tool) -> None:
    tool.found = FaultError(Status.CRASHED, "it fell")
    for _ in range(2):
        with pytest.raises(FaultError, match="it fell"):
            looked()
    assert len(tool.runs) == 2


def test_a_file_that_did_not_load_is_not_run(tool: Tool) -> None:
    one = Inspection(SUBJECT)
    one.stop()
    one.stop()
    assert tool.runs == [] and tool.stopped.is_set() and not Inspection(SUBJECT).known


def test_a_finding_says_since_when_it_is_known() -> None:
    good = memory.finding([], 2, matched=True)
    assert memory.known(good, "") == good
    later = memory.known(good, "2026-11-22")
    assert later.points == 2 and "2026-11-22" in later.message and later.evidence["seen_on"] == "2026-11-22"
    bad = memory.finding([ERROR], 2, matched=True)
    assert memory.known(bad, "2026-11-22") == bad


@pytest.mark.slow
def test_all_tools_play_the_cases_in_processes_that_start_side_by_side(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Real players, on the CPU back end and under no tool."""
    played: list[Player] = []
    play_cases = sanitizer.play_cases

    def player(_: str, limits: Limits, **more: Any) -> Player:
        return Player("simt", limits, **(more | {"wrap": ()}))

    def seen(one: Player, subject: sanitizer.Subject) -> None:
        play_cases(one, subject)
        played.append(one)

    monkeypatch.setattr(sanitizer, "Player", player)
    monkeypatch.setattr(sanitizer, "play_cases", seen)
    monkeypatch.setattr(sanitizer, "further", lambda _: sanitizer.FURTHER)
    monkeypatch.setattr(builder, "for_backend", lambda *_: SimtBuilder())
    monkeypatch.setattr(inspection, "cache_folder", lambda: tmp_path)
    lesson = find("07")
    source = lesson.solution.read_text()
    assert sanitizer.expected(f"{source}\n__shared__")
    looked(sanitizer.Subject(lesson.task, str(lesson.solution), f"{source}\n__shared__", Limits()))
    assert len({id(one) for one in played}) == 1 + len(sanitizer.FURTHER)
    assert all(one.stopped for one in played)
