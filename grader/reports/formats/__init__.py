"""The output formats: a file of this folder each, found by being there.

A format's file ends with ``FORMATS``, a tuple of what it writes. ``check --report``, ``batch --report``,
``report --format``, exports, the help texts and the reference page of formats know it from there.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from grader.domain import disk
from grader.domain.errors import BadInputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from grader.domain.verdict import Verdict
    from grader.reports.row import Class, StudentResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """What one file of results looks like.

    ``file`` is its name in a folder of results, below the student's folder or below ``reports/``. ``help``:
    one sentence, for whom or what it is. ``always``: a batch writes it without being asked. A name may be
    used for a student and again for a class.
    """

    name: str
    file: str
    help: str
    always: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StudentFormat(Format):
    """A report on one verdict, for one student.

    ``needs_grade``: its reader knows no result without a score, so a batch writes none where there is none.
    """

    write: Callable[[StudentResult], str]
    needs_grade: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassFormat(Format):
    """A report on all rows of a class; one verdict alone is a class of one."""

    write: Callable[[Class], str]


@functools.cache
def every() -> tuple[Format, ...]:
    """All formats, by name."""
    modules = [importlib.import_module(f"{__name__}.{one.name}") for one in pkgutil.iter_modules(__path__)]
    return tuple(sorted((one for module in modules for one in module.FORMATS), key=lambda one: one.name))


def of_student() -> dict[str, StudentFormat]:
    """The formats for one student, by name."""
    return {one.name: one for one in every() if isinstance(one, StudentFormat)}


def of_class() -> dict[str, ClassFormat]:
    """The formats for a class, by name."""
    return {one.name: one for one in every() if isinstance(one, ClassFormat)}


def names(only: Iterable[Format] | None = None) -> str:
    """The names of all formats, or of these, as a sentence lists them."""
    return ", ".join(dict.fromkeys(one.name for one in (every() if only is None else only)))


def on_request() -> str:
    """The names of those that a batch writes only if asked."""
    return names(one for one in every() if not one.always)


def require_known(wanted: Iterable[str]) -> None:
    """BadInputError for a name that no format has."""
    known = {one.name for one in every()}
    for name in wanted:
        if name not in known:
            raise BadInputError(f"There is no format {name!r}; the formats are {names()}.")


def parse(words: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """(format, file) of each ``FORMAT=FILE``; "-" is standard output, which takes one report at most."""
    found = []
    for word in words:
        name, equals, file = word.partition("=")
        if not (equals and file):
            raise BadInputError(f"--report {word!r} names no file; write it as junit=results.xml.")
        require_known([name])
        found.append((name, file))
    if sum(file == "-" for _, file in found) > 1:
        raise BadInputError('Only one report can go to standard output ("-").')
    return tuple(found)


def single(verdict: Verdict, name: str, student: str = "") -> str:
    """One verdict in the format ``name``: for its student if there is such a form, else as a class of one.

    ``student`` is how a platform knows them; left out, the file's name stands for it.
    """
    from grader.reports.row import Class, LessonFacts, StudentResult, row_of

    require_known([name])
    row = row_of(verdict, student or Path(verdict.submission).stem)
    if one := of_student().get(name):
        return one.write(StudentResult(row, verdict))
    created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    lesson = LessonFacts(verdict.lesson, verdict.lesson, verdict.max_points)
    return of_class()[name].write(Class(verdict.submission, created, (lesson,), (row,)))


def put(text: str, out: str) -> None:
    """Write a report to the file ``out``, whose folder must be there, or to standard output for "-"."""
    if out == "-":
        sys.stdout.write(text)
    else:
        disk.write(Path(out), text)
