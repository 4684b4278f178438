"""A student's notebook back as Python source; how a lesson's is made: :mod:`grader.domain.lesson_notebook`.

A notebook is read as data and never run here. Its exercise cells carry the tag ``exercise`` and the number of
their part, so that cells which were moved, split, copied or deleted are noticed and named.
"""

from __future__ import annotations

import ast
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nbformat import ValidationError, reader

from grader.domain import python_text
from grader.domain.errors import BadInputError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

TAG = "exercise"
MAGIC = re.compile(r"(?P<indent>\s*)(?P<name>\w+\s*=\s*)?(?:[%!?].*|get_ipython\(\).*|[\w.]+\?\??\s*)$")
TIMED = re.compile(r"(\s*(?:\w+\s*=\s*)?)%(?:time|timeit)\s+(?:-[nr]\s*\d+\s+|-[qop]\s+)*(\S.*)")
MOST_MAGICS = 100  # of a cell
# Below these a cell is Python, as without them.
OF_PYTHON = ("%%time", "%%timeit", "%%capture", "%%prun", "%%replay")


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell as far as it matters here; ``part`` and ``of`` are whatever stands in its metadata."""

    is_code: bool
    text: str
    tags: list[object]
    part: object
    of: object

    @classmethod
    def read(cls, cell: Mapping[str, object]) -> Cell:
        """Of a notebook's JSON. What is missing or of another kind is empty."""
        metadata = _dict(cell.get("metadata"))
        facts = _dict(metadata.get("course"))
        return cls(
            is_code=cell.get("cell_type") == "code",
            text=str(cell.get("source") or ""),
            tags=_list(metadata.get("tags")),
            part=facts.get("part"),
            of=facts.get("of"),
        )


def source(data: bytes, path: Path) -> str:
    """The Python source of the exercise cells, in order, without magics.

    Raises BadInputError with one sentence for what is not such a notebook, or no longer whole.
    """
    cells = _cells(data, path)
    parts: list[tuple[int, int, str]] = []  # cell's number, part's number, text
    total = 0
    for number, cell in enumerate(cells, 1):
        if TAG not in cell.tags or not cell.is_code:
            continue
        part, of = cell.part, cell.of
        if not isinstance(part, int) or not isinstance(of, int) or not 1 <= part <= of <= 100:
            raise BadInputError(
                f"{path}: cell {number} is tagged {TAG!r} but has lost its number; "
                "start from the lesson's notebook."
            )
        parts.append((number, part, cell.text))
        total = max(total, of)
    if not parts:
        raise BadInputError(
            f"{path} has no cell tagged {TAG!r}; hand in the lesson's own notebook, with its cells filled in."
        )
    seen: dict[int, int] = {}
    for number, part, _ in parts:
        if part in seen:
            raise BadInputError(
                f"{path}: cells {seen[part]} and {number} are both part {part} of the exercise; "
                "was one split or copied? Merge them, or delete one."
            )
        seen[part] = number
    if missing := sorted(set(range(1, total + 1)) - set(seen)):
        raise BadInputError(
            f"{path}: part {missing[0]} of the {total} parts of the exercise is missing; was its cell "
            "deleted? Copy it from the lesson's notebook."
        )
    order = [part for _, part, _ in parts]
    if order != sorted(order):
        wrong = next(k for k in range(1, len(order)) if order[k] < order[k - 1])
        raise BadInputError(
            f"{path}: cell {parts[wrong][0]} is part {order[wrong]} of the exercise, but comes after part "
            f"{order[wrong - 1]}; move it back."
        )
    if lost := _lost(cells, parts):
        raise BadInputError(f"{path}: {lost}")
    return "\n\n".join(plain(text) for _, _, text in parts) + "\n"


def _cells(data: bytes, path: Path) -> list[Cell]:
    """Its cells, each text in one piece. What else is wrong, as an output, is not our business."""
    try:
        book = reader.reads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise BadInputError(f"{path} is not a notebook: {_why_not(data)}.") from error
    except (ValidationError, AttributeError, TypeError, KeyError):  # JSON, but none of a notebook's
        book = None
    if not isinstance(book, dict) or not isinstance(book.get("cells"), list) or book.get("nbformat") != 4:
        raise BadInputError(
            f"{path} is not a notebook of format 4: {_why_not(data)}; save it again with a current Jupyter."
        )
    return [Cell.read(_dict(cell)) for cell in book["cells"]]


def _why_not(data: bytes) -> str:
    """What keeps these bytes from being a notebook of format 4."""
    try:
        book = json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        return f"it is not UTF-8 text (byte {error.start})"
    except json.JSONDecodeError as error:
        return (
            f"its JSON breaks off or has a mistake in line {error.lineno}, column {error.colno} ({error.msg})"
        )
    except RecursionError:
        return "its JSON is nested too deeply"
    except ValueError as error:
        return f"its JSON has a value that cannot be read ({error})"
    if not isinstance(book, dict):
        return f"its JSON is a {type(book).__name__}, where a notebook has an object"
    if book.get("nbformat") != 4:
        return f"its nbformat is {str(book.get('nbformat', 'missing'))[:20]}"
    return "its cells have another form" if isinstance(book.get("cells"), list) else "it has no list of cells"


def plain(text: str) -> str:
    """A cell's text without magics; below ``%%bash`` and the like it is no Python, and nothing is left.

    Only lines that Python does not understand are looked at: in a string ``% 4`` may begin a line of C++.
    """
    for _ in range(MOST_MAGICS):
        if not text.lstrip().startswith("%%"):
            break
        first, _, text = text.lstrip().partition("\n")
        if first.split()[0] not in OF_PYTHON:
            return ""
    lines = text.splitlines()
    for _ in range(min(len(lines), MOST_MAGICS)):  # the whole cell is parsed each time
        try:
            python_text.parse("\n".join(lines))
        except SyntaxError as error:
            at = (error.lineno or 1) - 1
            if at >= len(lines) or not MAGIC.match(lines[at]):
                break  # the student's own mistake, which Python reports better
            lines[at] = _command(lines[at])
        except (ValueError, RecursionError, MemoryError):
            break
        else:
            break
    return "\n".join(lines)


def _command(line: str) -> str:
    """What remains of a line for IPython: what it times, or nothing."""
    if timed := TIMED.fullmatch(line):
        return timed[1] + timed[2]
    found = MAGIC.match(line)
    assert found is not None
    return f"{found['indent']}{found['name']}None" if found["name"] else f"{found['indent']}pass"


def _lost(cells: list[Cell], parts: list[tuple[int, int, str]]) -> str:
    """What a code cell without the tag holds that belongs to the exercise, as a sentence, or ""."""
    inside = range(parts[0][0], max(p[0] for p in parts))
    tagged = {number for number, _, _ in parts}
    made, used = set(), set()
    for _, _, text in parts:
        for node in _walk(plain(text)):
            made |= _made(node)
            used |= {node.id} if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) else set()
    for number, cell in enumerate(cells, 1):
        text = cell.text
        if number in tagged or not cell.is_code or not text.strip():
            continue
        if number in inside and text[0] in " \t":
            return (
                f"cell {number} begins in the middle of a block; was it split off the cell above? Merge them."
            )
        own = {name for node in _walk(plain(text)) for name in _made(node)}
        if lost := sorted((own & used) - made):
            return (
                f"cell {number} defines {lost[0]}, which the exercise uses, but is not tagged {TAG!r} and so "
                "is not handed in; was it split off? Move its code into a cell of the exercise."
            )
    return ""


def _walk(text: str) -> list[ast.AST]:
    try:
        return list(ast.walk(python_text.parse(text)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []


def _made(node: ast.AST) -> set[str]:
    """Names that a statement or expression defines, wherever it stands."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        arguments = node.args if isinstance(node, ast.FunctionDef) else None
        given = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs] if arguments else []
        return {node.name, *(a.arg for a in given)}
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {(alias.asname or alias.name).split(".")[0] for alias in node.names}
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        return {node.id}
    return {node.arg} if isinstance(node, ast.arg) else set()


def _dict(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []
