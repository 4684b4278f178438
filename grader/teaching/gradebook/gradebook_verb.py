"""``course gradebook RESULTS FILE``: the platform's own table, filled in, and the feedback to upload."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.domain import disk, lessons, packages
from grader.domain.errors import BadInputError
from grader.domain.plural import plural

if TYPE_CHECKING:
    from pathlib import Path


def run(root: Path, table: Path, word: str, column: str, out: Path | None) -> int:
    """Write the filled table and the zip of feedback beside it; always 0, since what lacks is told."""
    packages.require("Grading a class", *packages.CLASS)
    from grader.teaching.batch import class_rows
    from grader.teaching.batch.results_folder import ResultsFolder
    from grader.teaching.gradebook import feedback_zip, platform_table

    results = ResultsFolder(root)
    result = class_rows.collect(results)
    name = lessons.find(word).name
    facts = next((x for x in result.lessons if x.name == name), None)
    if facts is None:
        raise BadInputError(f"{root} has no results for lesson {name[:2]}; grade it first.")
    filled = platform_table.fill(table, result, facts, column)
    path = disk.write(out or results.reports / f"{filled.platform}-{name}.csv", filled.text)
    print(f"{path}: {plural(filled.grades, 'grade')} in the column {filled.column!r}, all else as it was.")
    for text in filled.without:
        print(f"  {text}")
    pages = path.with_name(f"{path.stem}-feedback.zip")
    count, without = feedback_zip.write(pages, results, result, name)
    print(
        f"{pages}: {plural(count, 'page')} to upload as feedback"
        + (f"; none for {', '.join(without)}." if without else ".")
    )
    return 0
