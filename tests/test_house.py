"""The house as a whole: no circles, no name twice, nothing private tested. Walls: ``tools.walls``."""

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


# The files of the corpus are submissions; some are no Python.
TESTS = sorted(p for p in (ROOT / "tests").rglob("*.py") if not {"cheats", "honest"} & set(p.parts))
PATCHING = ("setattr", "delattr", "getattr", "hasattr")


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


def private(name: str) -> bool:
    """Whether one part of a dotted name is."""
    return any(part.startswith("_") and not part.startswith("__") for part in name.split("."))


def dotted(node: ast.AST) -> str:
    """A name and its attributes, ``a.b.c``; "" of anything else."""
    if isinstance(node, ast.Attribute):
        return f"{before}.{node.attr}" if (before := dotted(node.value)) else ""
    return node.id if isinstance(node, ast.Name) else ""


def private_names(tree: ast.Module) -> Iterator[str]:
    """What is private to a module of ours and used here: imported, an attribute, or patched by its name."""
    ours: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and str(node.module).split(".")[0] in ("grader", "tools"):
            ours.update(alias.asname or alias.name for alias in node.names)
            yield from (name for a in node.names if private(name := f"{node.module}.{a.name}"))
        elif isinstance(node, ast.Import):
            found = [a for a in node.names if a.name.split(".")[0] in ("grader", "tools")]
            ours.update(a.asname or a.name.split(".")[0] for a in found)
            yield from (a.name for a in found if private(a.name))
    for node in ast.walk(tree):
        name = dotted(node) if isinstance(node, ast.Attribute) else ""
        if isinstance(node, ast.Call) and dotted(node.func).rpartition(".")[2] in PATCHING:
            words = [a.value if isinstance(a, ast.Constant) else dotted(a) for a in node.args[:2]]
            name = ".".join(map(str, words))
        first = name.split(".")[0]
        if first in ours and private(name.partition(".")[2]):
            yield name


def test_no_test_uses_what_is_private_to_a_module() -> None:
    found = {
        str(path.relative_to(ROOT)): names
        for path in TESTS
        if (names := sorted(set(private_names(ast.parse(path.read_text("utf-8"))))))
    }
    assert found == {}


def test_a_private_name_is_found_however_it_is_used() -> None:
    text = """
from grader.referee import _inner
from grader.referee import race, draw as drawn
import tools.suite
race.Race._run()
monkeypatch.setattr(drawn, "_one", 1)
tools.suite._two()
self._own, other._field, race.public, race.__name__
"""
    assert sorted(private_names(ast.parse(text))) == [
        "drawn._one", "grader.referee._inner", "race.Race._run", "tools.suite._two",
    ]  # fmt: skip


@pytest.mark.parametrize("room", sorted(p.parent.name for p in (ROOT / "grader").glob("*/__init__.py")))
def test_every_room_has_quick_tests(room: str) -> None:
    """``course test --quick`` leaves out what is slow, and looks into each room all the same."""
    tests = [
        node
        for path in TESTS
        if path.is_relative_to(ROOT / "tests" / room)
        for node in ast.parse(path.read_text("utf-8")).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    ]
    quick = [t for t in tests if not any("mark.slow" in ast.unparse(d) for d in t.decorator_list)]
    assert len(quick) >= 10
