"""The cheats of the corpus that reach into the player's clock still find what they attack."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import pytest

from grader.player.commands import race_blocks

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


def test_a_cheat_can_tell_blocks_of_calls_in_a_row() -> None:
    text = (ROOT / "tests/corpus/gpu/cheats/clock/honest_in_a_row.py").read_text("utf-8")
    assert 'f_locals["busy_work"]' in text
    assert "busy_work" in inspect.signature(race_blocks._block).parameters
