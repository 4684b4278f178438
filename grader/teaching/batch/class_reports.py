"""Class reports: all written from one result, in a folder beside the journal."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from grader.domain.errors import BadInputError
from grader.reports import class_page, class_table, junit
from grader.reports.row import Class, row_json
from grader.teaching.batch import class_rows, personal
from grader.teaching.batch.store import Store, write


def _json(result: Class) -> str:
    """A line a row: it is read by programs, and compared by people with diff."""
    head = json.dumps(result.head(), indent=1, allow_nan=False)
    rows = ",\n".join(json.dumps(row_json(row), allow_nan=False) for row in result.rows)
    return f'{head[:-2]},\n "rows": [\n{rows}\n ]\n}}\n'


FORMATS: dict[str, tuple[str, Callable[[Class], str]]] = {
    "json": ("class.json", _json),
    "csv": ("class.csv", class_table.text),
    "canvas": ("canvas.csv", class_table.canvas),
    "junit": ("junit.xml", junit.text),
    "html": ("index.html", class_page.text),
    "leaderboard": ("leaderboard.html", class_page.leaderboard),
}
ALWAYS = ("json", "csv", "junit", "html")


def names() -> list[str]:
    """All formats, of the class and of a student."""
    return [*FORMATS, *personal.FORMATS]


def known(formats: tuple[str, ...]) -> None:
    """BadInputError for a format that there is not."""
    for name in formats:
        if name not in names():
            raise BadInputError(f"There is no format {name!r}; the formats are {', '.join(names())}.")


def write_class(store: Store, result: Class, formats: tuple[str, ...] = ()) -> list[Path]:
    """Write the class's files: the usual ones and those asked for. Which ones were written."""
    written = []
    for name in dict.fromkeys([*ALWAYS, *(f for f in formats if f in FORMATS)]):
        file, writer = FORMATS[name]
        path = store.reports / file
        write(path, writer(result))
        written.append(path)
    return written


def again(root: Path, formats: tuple[str, ...]) -> tuple[Class, list[Path]]:
    """Write the reports of a folder of results once more, grading nothing; students' files if asked for."""
    store = Store(root)
    result = class_rows.collect(store)
    wanted = tuple(f for f in formats if f in personal.FORMATS)
    if wanted:
        for row in result.rows:
            if row.key:
                personal.write(store, row, store.verdict(row.key), wanted)
    return result, write_class(store, result, formats)
