"""Gradings that share a GPU judge side by side, and race one at a time."""

from __future__ import annotations

import contextlib
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from grader.backends import detect
from grader.referee import gpu_turns
from grader.referee.gpu_turns import GpuTurns, alone

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SOON_S = 0.4  # more than a few looks
LONG_S = 60.0  # far more than a busy machine takes


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tmp_path.chmod(0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))


@pytest.fixture
def turns() -> Iterator[list[GpuTurns]]:
    """Three gradings: each has files of its own, as each process would have."""
    made = [GpuTurns(lambda _: None) for _ in range(3)]
    yield made
    for one in made:
        one.close()


@contextlib.contextmanager
def shared(turns: GpuTurns) -> Iterator[None]:
    """As a grading that judges."""
    turns.share()
    try:
        yield
    finally:
        turns.leave()


def entered(turn: contextlib.AbstractContextManager[None], seconds: float = 10.0) -> bool:
    """Whether a grading gets its turn, in a thread of its own, while whoever calls has one."""
    there = threading.Event()

    def wait() -> None:
        with turn:
            there.set()

    threading.Thread(target=wait, daemon=True).start()
    return there.wait(seconds)


def test_several_judge_at_a_time_and_none_races_meanwhile(turns: list[GpuTurns]) -> None:
    with shared(turns[0]):
        assert entered(shared(turns[1]))
        assert not entered(turns[2].alone(), SOON_S)


def test_a_part_that_reads_the_clock_has_the_gpu_for_itself_and_shares_it_again(
    turns: list[GpuTurns],
) -> None:
    with shared(turns[0]):
        with shared(turns[1]):
            assert not entered(turns[0].alone(), SOON_S)
        time.sleep(2 * SOON_S)  # the one that waited has had its turn
        with turns[0].alone():
            assert not entered(shared(turns[2]), SOON_S)
        time.sleep(SOON_S)
        assert entered(turns[1].alone())  # shared again only when it is asked for
        turns[0].share()
        turns[0].share()
        assert entered(shared(turns[2]))
        assert not entered(turns[1].alone(), SOON_S)


def test_who_only_waits_holds_nobody_up(turns: list[GpuTurns]) -> None:
    with shared(turns[0]):
        turns[0].leave()
        assert entered(turns[1].alone())
        turns[0].share()
        assert not entered(turns[2].alone(), SOON_S)


def test_who_waits_and_is_given_up_takes_no_other_files_lock(turns: list[GpuTurns]) -> None:
    """The number of a file that was closed is soon another one's."""
    with shared(turns[0]):
        assert not entered(turns[1].alone(), SOON_S)
        turns[1].close()
        turns.append(GpuTurns(lambda _: None))
        time.sleep(SOON_S)
    time.sleep(SOON_S)
    assert entered(shared(turns[2]))


def test_a_race_waits_for_all_and_all_wait_for_a_race(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu_turns, "TOLD_S", 0.0)
    order: list[str] = []
    race_waits, judge_waits, began, ends = (threading.Event() for _ in range(4))

    def race() -> None:
        with alone(lambda _: race_waits.set()):
            order.append("race")
            began.set()
            ends.wait(LONG_S)
            order.append("race over")

    def judge() -> None:
        judging = GpuTurns(lambda _: judge_waits.set())
        with shared(judging):
            order.append("judged")
        judging.close()

    first = GpuTurns(lambda _: None)
    with ThreadPoolExecutor(2) as pool:
        try:
            with shared(first):
                racing = pool.submit(race)
                assert race_waits.wait(LONG_S)  # at the gate, so that nobody else begins before it
                judging = pool.submit(judge)
                assert judge_waits.wait(LONG_S)
                assert order == []
            assert began.wait(LONG_S)
            assert order == ["race"]
        finally:
            ends.set()
            first.close()
        racing.result(LONG_S)
        judging.result(LONG_S)
    assert order == ["race", "race over", "judged"]


def test_who_waits_is_told_until_the_other_one_s_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu_turns, "TOLD_S", 0.0)
    said: list[str] = []
    told = threading.Event()

    def say(words: str) -> None:
        said.append(words)
        told.set()

    def race() -> None:
        with alone(say):
            pass

    first = GpuTurns(lambda _: None)
    with ThreadPoolExecutor(1) as pool, shared(first):
        try:
            waiting = pool.submit(race)
            assert told.wait(LONG_S)
            assert said == ["The race waits: another grading uses this GPU."]
            assert not waiting.done()
        finally:
            first.close()  # as the end of a process would: its turn is over
        waiting.result(LONG_S)


def test_another_gpu_has_other_turns(turns: list[GpuTurns], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1,0")
    with turns[0].alone():
        assert entered(alone(lambda _: None))
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1")
        assert not entered(alone(lambda _: None), SOON_S)


def test_a_gpu_is_one_by_its_number_and_by_its_uuid(
    turns: list[GpuTurns], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(detect, "gpu_minors", lambda: {"GPU-b": 1})
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    with alone(lambda _: None):
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "GPU-b")
        assert not entered(alone(lambda _: None), SOON_S)


def test_without_a_private_folder_nobody_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu_turns, "runtime_folder", lambda: (_ for _ in ()).throw(PermissionError))
    with alone(lambda _: None):
        assert entered(alone(lambda _: None))
