"""What a player that waits is held by, and when it is of no use any more. Without its process."""

import os
from pathlib import Path

import msgspec
import pytest

from grader.referee.process.waiting_player import Kind, WaitingPlayer


@pytest.mark.parametrize("again", [False, True])
def test_a_folder_that_it_sees_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, again: bool
) -> None:
    seen, other = tmp_path / "cache", tmp_path / "other"
    seen.mkdir()
    other.mkdir()
    monkeypatch.setattr(os, "fork", lambda: 1)
    kind = Kind(("true",), {}, {"read": (str(seen), "/nowhere"), "write": ("@builds@",)}, namespaces=False)
    player = WaitingPlayer(msgspec.json.encode(kind).decode())
    (seen / "library.so").touch()
    other.rmdir()
    assert player.fresh
    (seen / "library.so").unlink()
    seen.rmdir()
    if again:  # it may even get the old one's number
        seen.mkdir()
    assert not player.fresh
    player.let_go()
