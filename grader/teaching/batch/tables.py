"""CSV files from outside: their delimiter is found out, and what cannot be read is one sentence."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.domain.errors import BadInputError
from grader.teaching.batch import moodle_headings

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Table:
    """A file's first line, and the others; each line as many cells as it has."""

    head: list[str]
    lines: list[list[str]]


def read(path: Path, what: str) -> Table:
    """The table of a CSV file; BadInputError that begins with ``what`` ("The class list")."""
    try:
        text = path.read_text("utf-8-sig")
    except OSError as error:
        raise BadInputError(f"{what} {path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise BadInputError(
            f"{what} {path} is not UTF-8 text (line {line}); Excel saves such as CSV UTF-8."
        ) from error
    first = text.partition("\n")[0]
    delimiter = max(",;\t", key=first.count)  # csv.Sniffer also guesses at quotes, and guesses wrong
    try:
        lines = [line for line in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if line]
    except csv.Error as error:
        raise BadInputError(f"{what} {path} cannot be read: {error}.") from error
    return Table(lines[0] if lines else [], lines[1:])


def folded(table: Table) -> list[dict[str, str]]:
    """Each line by its columns' names in small letters, without spaces around anything.

    Moodle's worksheet has its English names, whatever known language it is in.
    """
    head = moodle_headings.english(table.head)
    return [dict(zip(head, map(str.strip, line), strict=False)) for line in table.lines]
