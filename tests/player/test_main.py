"""A player before it has a file."""

from __future__ import annotations

import sys
from argparse import Namespace
from types import SimpleNamespace
from typing import Any

import pytest

from grader.player import __main__ as player
from grader.player import commands, player_backends
from grader.player.commands import race_blocks
from grader.protocol.wire import ClosedError


@pytest.mark.parametrize("waits", [False, True])
def test_a_players_clock_is_held_before_its_file_is_loaded(
    monkeypatch: pytest.MonkeyPatch, waits: bool
) -> None:
    """Also of a player that did not wait: a race has several, and only some of them may have waited."""
    facts = SimpleNamespace(torch="", cuda="", device="")
    backend = SimpleNamespace(observed=dict, facts=lambda: facts)
    monkeypatch.setattr(player_backends, "wake", lambda *_: backend)
    monkeypatch.delitem(sys.modules, race_blocks.__name__)
    monkeypatch.delattr(commands, "race_blocks")
    held = []

    class Channel:
        files: tuple[int, ...] = ()

        def send(self, _message: Any) -> None:
            held.append(race_blocks.__name__ in sys.modules)

        def receive(self) -> None:
            raise ClosedError

    options = Namespace(backend="cuda", inbox=0, outbox=0, waits=waits, confined={})
    monkeypatch.setattr(player, "Arena", lambda *_: None)
    player.serve(Channel(), options)  # type: ignore[arg-type]
    assert held == [True]
