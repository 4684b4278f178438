"""The house as a whole: no circles, no name twice. ``lint-imports`` holds the walls between the rooms."""

from __future__ import annotations

import ast
import re
from collections import Counter
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[1]
FILES = sorted(p for p in (ROOT / "grader").rglob("*.py") if "templates" not in p.parts)
MODULES = {".".join(p.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): p for p in FILES}
ROOMS = 12
# Metaphors that have a word of the field instead; docs/contributing/style.md says which.
RETIRED = {
    "act", "acts", "bubble", "cage", "conversation", "desk", "furnish", "hatched", "nurseries", "nursery",
    "parcel", "rivals", "strike", "struck", "trial", "trials", "veil", "witness", "workshop",
    "hearing", "heat", "lead", "lineup", "meeting", "racer", "testimony",
}  # fmt: skip


def imported(name: str, tree: ast.Module) -> Iterator[str]:
    """What a module imports of the grader, wherever it does: also for types, also in functions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            assert not node.level, f"{name} imports by dots; write the whole name"
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in MODULES else str(node.module)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


@pytest.fixture(scope="module")
def trees() -> dict[str, ast.Module]:
    return {name: ast.parse(path.read_text("utf-8")) for name, path in MODULES.items()}


def test_no_circles(trees: dict[str, ast.Module]) -> None:
    graph = {name: {m for m in imported(name, tree) if m in MODULES} - {name} for name, tree in trees.items()}
    circle: list[str] = []
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        circle = error.args[1]
    assert circle == []


def test_no_file_name_twice() -> None:
    names = Counter(p.name for p in FILES if p.name not in ("__init__.py", "__main__.py"))
    assert [name for name, count in names.items() if count > 1] == []


def test_few_rooms() -> None:
    rooms = [p.name for p in (ROOT / "grader").iterdir() if p.is_dir() and p.name != "__pycache__"]
    assert len(rooms) <= ROOMS, rooms


def test_no_function_is_called_of(trees: dict[str, ast.Module]) -> None:
    found = [
        f"{name}:{node.lineno}"
        for name, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.name == "of"
    ]
    assert found == []


def test_no_retired_word_is_a_name(trees: dict[str, ast.Module]) -> None:
    """Neither a module, nor a class, nor a function is called by a word that the glossary has replaced."""
    named = [(name, name.rsplit(".", 1)[-1]) for name in trees]
    named += [
        (f"{name}:{node.lineno}", node.name)
        for name, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef | ast.FunctionDef)
    ]
    words = {where: re.findall("[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name) for where, name in named}
    assert [where for where, parts in words.items() if RETIRED & {part.lower() for part in parts}] == []
