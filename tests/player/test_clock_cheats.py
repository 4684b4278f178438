"""The cheats of the corpus that reach into the player's clock still find what they attack."""

from __future__ import annotations

import ast
import inspect
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from grader.player.commands import race_blocks
from tests.referee.in_process import InProcess

ROOT = Path(__file__).resolve().parents[2]
FILES = [
    path
    for folder in ("tests/corpus/gpu/cheats/clock", "benchmarks/pairs/race")
    for path in sorted((ROOT / folder).glob("*.py"))
    if race_blocks.__name__ in path.read_text("utf-8")
]


def test_there_are_some() -> None:
    assert len(FILES) >= 8


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_what_a_cheat_replaces_is_looked_up_when_it_is_used(path: Path) -> None:
    tree = ast.parse(path.read_text("utf-8"))
    names = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "race"
    }
    assert names
    used = {
        node.id for node in ast.walk(ast.parse(inspect.getsource(race_blocks))) if isinstance(node, ast.Name)
    }
    assert names <= used and all(hasattr(race_blocks, name) for name in names)


def test_a_cheat_can_tell_blocks_of_calls_in_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    text = (ROOT / "tests/corpus/gpu/cheats/clock/honest_in_a_row.py").read_text("utf-8")
    assert 'f_locals["busy_work"]' in text
    seen: list[Any] = []

    def elapsed(*_: object) -> float:
        frame = sys._getframe(1)
        while frame and "busy_work" not in frame.f_locals:
            frame = frame.f_back
        seen.append(frame and frame.f_locals["busy_work"])
        return 1.0

    for name, value in {
        "Event": lambda **_: object(), "record": lambda _: None, "synchronize": lambda: None,
        "elapsed": elapsed, "keep_busy": lambda *_: torch.ones(()),
    }.items():  # fmt: skip
        monkeypatch.setattr(race_blocks, name, value)
    calls = race_blocks.TimedCalls(torch.neg, [[torch.ones(2)]], [False], torch.empty(0))
    stage = InProcess().stage
    stage.kept(race_blocks.Contenders, race_blocks.Contenders)["own"] = calls
    none: Any = None
    race_blocks.perform(stage, none, "prepare", "own", calls=1)
    for work in ((), (4, 1)):
        race_blocks.perform(stage, none, "block", "own", order=[0], seed=1, busy_work=work)
    assert seen == [(), (4, 1)]
