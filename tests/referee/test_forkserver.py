"""Warm parents of players: a forked player is judged as a started one is, and its end is told truly."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from grader.domain import lessons
from grader.domain.verdict import Status
from grader.referee.fault import FaultError
from grader.referee.process.forkserver import Forkserver
from grader.referee.process.player_process import Limits, Player

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="module")
def forkserver() -> Iterator[Forkserver]:
    it = Forkserver("cpu")
    yield it
    it.close()


def play(forkserver: Forkserver, tmp_path: Path, text: str, **limits: float) -> Player:
    file = tmp_path / "file.py"
    file.write_text(text)
    player = Player("cpu", Limits(**limits), sees=(file,), forkserver=forkserver)
    try:
        player.ask("load", player.limits.load, path=str(file))
    finally:
        player.stop()
    return player


def test_players_share_nothing(forkserver: Forkserver, tmp_path: Path) -> None:
    shown = "import torch\nprint(torch.relu is None)\ntorch.relu = None\n"
    assert [play(forkserver, tmp_path, shown).output for _ in range(2)] == ["False\n", "False\n"]


def test_what_it_prints_is_its_own(forkserver: Forkserver, tmp_path: Path) -> None:
    assert play(forkserver, tmp_path, "print('hello')").output == "hello\n"
    assert play(forkserver, tmp_path, "").output == ""


def test_what_is_loaded_ahead_every_later_player_has(forkserver: Forkserver, tmp_path: Path) -> None:
    shown = "import sys\nprint('torch.utils.mobile_optimizer' in sys.modules)\n"
    assert play(forkserver, tmp_path, shown).output == "False\n"
    for module in ("torch.utils.mobile_optimizer", "torch.there_is_no_such_module"):
        forkserver.load(module)
    assert [play(forkserver, tmp_path, shown).output for _ in range(2)] == ["True\n", "True\n"]


@pytest.mark.slow(cases=1)
@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("import os\nos._exit(0)", Status.EXITED_EARLY),
        ("import os\nos.abort()", Status.CRASHED),
        ("while True: pass", Status.TIMEOUT),
        ("raise ValueError('no')", Status.RAISED),
    ],
)
def test_deaths_are_told_as_ever(forkserver: Forkserver, tmp_path: Path, text: str, status: Status) -> None:
    with pytest.raises(FaultError) as caught:
        play(forkserver, tmp_path, text, load=5.0)
    assert caught.value.status in (status, Status.IMPORT_ERROR if status is Status.RAISED else status)
    play(forkserver, tmp_path, "")  # and the next one is well


def test_it_cannot_touch_files_that_are_not_its_own(forkserver: Forkserver, tmp_path: Path) -> None:
    other = tmp_path / "other.txt"
    other.write_text("secret")
    with pytest.raises(FaultError, match=r"PermissionError|Permission denied"):
        play(forkserver, tmp_path, f"open({str(other)!r}).read()")


def test_players_end_when_told(forkserver: Forkserver, tmp_path: Path) -> None:
    file = tmp_path / "file.py"
    file.write_text("")
    player = Player("cpu", Limits(), sees=(file,), forkserver=forkserver)
    player.ready()
    forkserver.kill_players()
    end = time.monotonic() + 20
    while player._process.code() is None and time.monotonic() < end:
        time.sleep(0.01)
    assert player._process.code() == -9
    player.stop()


def test_when_it_is_gone_that_is_said() -> None:
    it = Forkserver("cpu")
    it._process.kill()
    it._process.wait()
    with pytest.raises(Exception, match="did not start"):
        Player("cpu", Limits(), sees=(lessons.find("03").reference,), forkserver=it)
    it.close()
