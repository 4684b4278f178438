"""Mistakes as beginners make them: ``mistakes.toml`` beside a lesson, and whether the grader's words help.

Each is made from the solution (its markers left out) or from the starter by edits, and graded on the CPU back
end. What counts is the first panel that the student reads: it must name the line of the student's own file
where the mistake is, and its cause, and must say nothing false.
"""

from __future__ import annotations

import re
import tempfile
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from grader.backends import detect
from grader.domain.markers import MARKER
from grader.domain.submission import read
from grader.referee.job import Job, solutions
from grader.referee.pipeline import check as grade
from grader.referee.pipeline import warm
from grader.reports import console
from tools.mutants import EditError, edited

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.domain.lessons import Lesson
    from grader.domain.verdict import Verdict

FEWEST = 12
WIDTH = 100
# What no panel may hold: mangled names, places that nobody knows, empty brackets.
NEVER = (r"\b_Z\w+", r"\bunknown\)", r"\bs \(\)", r"\b1 seconds\b")


@dataclass(frozen=True, slots=True)
class Mistake:
    """A beginner's file and what the panel must say about it.

    ``edits``: pairs of a text and its replacement, made one after another in the lesson's ``base``
    ("solution" or "starter"). ``line``: a text that stands in the result exactly once; the number of the
    line that it ends on must be named; "" where no line is to blame, which counts as not named. ``says``:
    regular expressions for the panel's text, all of which must be found, in any case of letters. ``never``:
    that must not be found, beside those of ``NEVER``.
    """

    name: str
    edits: tuple[tuple[str, str], ...]
    line: str
    says: tuple[str, ...]
    never: tuple[str, ...] = ()
    base: str = "solution"

    def text(self, lesson: Lesson) -> str:
        """The beginner's file. Raises EditError if an edit does not fit."""
        path = lesson.exercise if self.base == "starter" else lesson.solution
        lines = path.read_text("utf-8").splitlines(keepends=True)
        return edited(self.name, self.edits, "".join(one for one in lines if not MARKER.match(one)))

    def number(self, text: str) -> int:
        """The line to blame, from 1; 0 if there is none. Raises EditError if ``line`` does not fit."""
        if not self.line:
            return 0
        if (count := text.count(self.line)) != 1:
            raise EditError(f"{self.name!r}: {self.line!r} stands {count} times in the beginner's file")
        return text.count("\n", 0, text.index(self.line) + len(self.line)) + 1


@dataclass(frozen=True, slots=True)
class Told:
    """What the panel said: whether it named ``line`` and ``cause``, and what it lacks or says wrongly."""

    line: bool
    cause: bool
    problems: tuple[str, ...]
    panel: str

    @property
    def both(self) -> bool:
        """Line and cause, and nothing false."""
        return self.line and self.cause


def declared(lesson: Lesson) -> list[Mistake]:
    """The lesson's bank; empty if it has none."""
    path = lesson.folder / "mistakes.toml"
    if not path.is_file():
        return []
    return [
        Mistake(
            m["name"],
            tuple((a, b) for a, b in m.get("edits") or [(m["find"], m["replace"])]),
            m["line"],
            tuple(m["says"]),
            tuple(m.get("never", ())),
            m.get("base", "solution"),
        )
        for m in tomllib.loads(path.read_text("utf-8")).get("mistake", [])
    ]


def problems(lesson: Lesson, fewest: int = FEWEST) -> Iterator[str]:
    """Too few mistakes, two of one name or text, edits or lines that do not fit, a sentence each."""
    every = declared(lesson)
    if len(every) < fewest:
        yield f"there are {len(every)} beginners' mistakes, not {fewest}."
    if len({m.name for m in every}) < len(every):
        yield "two mistakes have one name."
    seen: dict[str, str] = {}
    for mistake in every:
        try:
            text = mistake.text(lesson)
            mistake.number(text)
        except EditError as error:
            yield f"mistake {error}."
            continue
        if text in seen:
            yield f"mistake {mistake.name!r} is the same as {seen[text]!r}."
        seen[text] = mistake.name
        if not mistake.says:
            yield f"mistake {mistake.name!r} does not say what the panel must name."


def panel(verdict: Verdict) -> str:
    """What a student reads first, as one line of plain text; "" if nothing failed."""
    if not (failed := verdict.failed):
        return ""
    screen = Console(width=WIDTH, highlight=False, color_system=None)
    with screen.capture() as captured:
        screen.print(console.failure(failed[0], console.others(verdict, failed)))
    return re.sub(r"\s+", " ", re.sub("[│╭╮╰╯─┃━]", " ", captured.get())).strip()


def judge(lesson: Lesson, mistake: Mistake) -> Told:
    """Grade the beginner's file and read the panel. Takes as long as a grading."""
    text = mistake.text(lesson)
    number = mistake.number(text)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "exercise.py"
        file.write_text(text, "utf-8")
        job = Job(lesson.name, lesson.task, lesson.reference, read(file), detect.Choice("simt", "a check"))
        code = text.splitlines()[number - 1] if number else ""
        told = weigh(mistake, number, panel(grade(warm(job)).verdict), code)
        if told.panel and not told.both:  # no rule knows it: what a student is told after a search
            job = replace(job, rights=solutions(lesson.solution.parent))
            told = weigh(mistake, number, panel(grade(warm(job)).verdict), code)
    return told


def weigh(mistake: Mistake, number: int, said: str, code: str = "") -> Told:
    """What a panel's text is worth for a mistake whose line is ``number`` and holds ``code``."""
    if not said:
        return Told(line=False, cause=False, problems=("it passes.",), panel="")
    line = bool(number) and bool(re.search(rf"\blines? {number}\b", said, re.I))
    lacking = [p for p in mistake.says if not re.search(p, said, re.I)]
    # The student's own line is quoted as it is, whatever brackets it has.
    ours = said.replace(" ".join(code.split()), "") if code.strip() else said
    false = [p for p in (*NEVER, *mistake.never) if re.search(p, ours)]
    found = [f"does not name line {number}."] if number and not line else []
    found += [f"does not say {p!r}." for p in lacking]
    found += [f"says {p!r}." for p in false]
    return Told(line, not lacking and not false, tuple(found), said)
