"""A reference's process goes from one grading to the next, as if it were a new one."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from grader.backends.detect import Choice
from grader.domain.submission import read
from grader.domain.task import Task
from grader.referee.job import Job
from grader.referee.pipeline import Processes, check
from grader.referee.process import kept_reference
from grader.referee.process.kept_reference import KeptReference
from grader.referee.process.player_process import Limits, Player
from tests.referee.plain import CASES, HEADER, LIMITS, REFERENCE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from grader.domain.verdict import Verdict


class Counted(KeptReference):
    """Counts the processes that were made."""

    def __init__(self) -> None:
        super().__init__()
        self.made = 0

    def take(self, key: Any, make: Any) -> Player:
        def counted() -> Player:
            self.made += 1
            player: Player = make()
            return player

        return super().take(key, counted)


@pytest.fixture
def kept() -> Iterator[Counted]:
    one = Counted()
    yield one
    one.close()


def job(folder: Path, text: str, kept: KeptReference, reference: str = REFERENCE) -> Job:
    (folder / "reference.py").write_text(HEADER + reference)
    (folder / "mine.py").write_text(HEADER + text)
    task = Task(title="double", entry="double", cases=CASES)
    made = Job("test", task, folder / "reference.py", read(folder / "mine.py"), Choice("cpu", "test"), LIMITS)
    return replace(made, references=kept)


def told(verdict: Verdict) -> list[tuple[Any, ...]]:
    return [(f.id, f.status, f.message, f.points) for f in verdict.findings]


def test_it_answers_like_a_new_one(tmp_path: Path, kept: Counted) -> None:
    one = job(tmp_path, "def double(x):\n    return x + x\n", kept)
    first = check(one).verdict
    wrong = tmp_path / "wrong"
    wrong.mkdir()
    (wrong / "mine.py").write_text(HEADER + "def double(x):\n    return x + 1\n")
    second = check(replace(one, submission=read(wrong / "mine.py"))).verdict
    third = check(one).verdict
    assert kept.made == 1
    assert not first.failed
    assert second.failed
    assert told(first) == told(third) == told(check(replace(one, references=None)).verdict)


def test_nothing_of_a_grading_is_left(tmp_path: Path, kept: Counted) -> None:
    """What the reference's own file has counted, for one."""
    file = tmp_path / "reference.py"
    file.write_text("calls = globals().get('calls', 0) + 1\nprint(calls)\n")
    player = Player("cpu", Limits(), sees=(file,))
    kept.give_back("a key", player)
    for _ in range(2):
        assert kept.take("a key", lambda: pytest.fail("a new one")) is player
        player.ask("load", 20.0, path=str(file))
        kept.give_back("a key", player)
    assert player.output.split() == ["1", "1"]


def test_one_for_another_file_is_no_use(tmp_path: Path, kept: Counted) -> None:
    """A process may see only the file as it was, so one that has changed is another one."""
    one = job(tmp_path, "def double(x):\n    return x + x\n", kept)
    assert not check(one).verdict.failed
    one.reference.write_text(HEADER + "def double(x):\n    return 3 * x\n")
    assert check(one).verdict.failed
    assert kept.made == 2


def test_what_has_ended_or_failed_is_not_kept(tmp_path: Path, kept: Counted) -> None:
    file = tmp_path / "reference.py"
    file.write_text("")
    dead = Player("cpu", Limits(), sees=(file,))
    dead.ready()
    kept.give_back("a key", dead)
    dead.kill()  # as the system does where memory is short
    while dead.runs:
        time.sleep(0.01)
    other = kept.take("a key", lambda: Player("cpu", Limits()))
    assert dead.stopped and other is not dead
    other.kill()
    while other.runs:
        time.sleep(0.01)
    kept.give_back("a key", other)
    assert other.stopped
    one = job(tmp_path, "def double(x):\n    return x + x\n", kept)
    with pytest.raises(KeyboardInterrupt), Processes(one):
        raise KeyboardInterrupt
    key = kept_reference.key("cpu", one.options.sandbox, one.limits, (one.reference,))
    made = kept.made
    kept.take(key, lambda: Player("cpu", Limits())).stop()
    assert kept.made == made + 1
