"""How far the student is: ``work/progress.txt``, one line a lesson, to be read, committed and merged by hand.

    03_square_kernel    passed        20/20  tries 4  hints 1  2026-11-21 15:30
    open 03_square_kernel ragged edges; every other
    opened 03_square_kernel TODO 3 level 2
    predicted 07_fused_bias_relu kernel_ratio 3  found 2.31

``open`` are the checks that the last grading did not pass, the one to mend first in front. Of two lines about
the same lesson the one with more points counts, so that a merge may keep both. Lines that cannot be
understood are kept as they are.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from grader.domain import disk, workspace
from grader.student import own_tries

if TYPE_CHECKING:
    from pathlib import Path

    from grader.domain.verdict import Verdict

HEAD = "# Progress in Inline to Fused. Of two lines about one lesson the better one counts.\n"
LINE = re.compile(
    r"(?P<lesson>\d\d_\w+)\s+(?P<status>[a-z_]+)\s+(?P<points>\d+)/(?P<most>\d+)"
    r"\s+tries (?P<tries>\d+)\s+hints (?P<hints>\d+)\s*(?P<when>[\d: -]*)$"
)
OPEN = re.compile(r"open (?P<lesson>\d\d_\w+)(?P<checks>(?: .*)?)$")
OPENED = re.compile(r"opened (?P<lesson>\d\d_\w+) TODO (?P<todo>\d{1,4}) level (?P<level>\d{1,4})$")
GUESS = re.compile(r"predicted (?P<lesson>\d\d_\w+) (?P<what>\w+) (?P<value>\S+)(?: found (?P<found>\S+))?$")


@dataclass(frozen=True, slots=True)
class LessonProgress:
    """What is known of one lesson: the best verdict so far, the tries, the hints that were read."""

    lesson: str
    status: str = "untried"
    points: int = 0
    most: int = 0
    tries: int = 0
    hints: int = 0
    when: str = ""

    @property
    def passed(self) -> bool:
        """Whether the lesson is done."""
        return self.status == "passed"

    def __str__(self) -> str:
        points = f"{self.points}/{self.most}"
        counts = f"tries {self.tries}  hints {self.hints}"
        return f"{self.lesson:<22} {self.status:<15} {points:>6}  {counts}  {self.when}".rstrip()


@dataclass(frozen=True, slots=True)
class Guess:
    """A prediction and, once it was measured, what came out. No unit here: the lesson's question has it."""

    lesson: str
    what: str
    value: float
    found: float | None = None

    def __str__(self) -> str:
        found = "" if self.found is None else f" found {self.found:.12g}"
        return f"predicted {self.lesson} {self.what} {self.value:.12g}{found}"


@dataclass(slots=True)
class Progress:
    """The file's content. ``opened``: levels of hints, by lesson and TODO."""

    lines: dict[str, LessonProgress] = field(default_factory=dict)
    open_checks: dict[str, tuple[str, ...]] = field(default_factory=dict)
    opened: dict[tuple[str, int], int] = field(default_factory=dict)
    guesses: dict[tuple[str, str], Guess] = field(default_factory=dict)
    other: list[str] = field(default_factory=list)

    def line(self, lesson: str) -> LessonProgress:
        """What is known of a lesson; "untried" if nothing is."""
        return self.lines.get(lesson, LessonProgress(lesson))

    def text(self) -> str:
        """As it stands in the file."""
        rows = [*map(str, (self.lines[n] for n in sorted(self.lines)))]
        rows += (f"open {name} {'; '.join(self.open_checks[name])}" for name in sorted(self.open_checks))
        rows += (
            f"opened {name} TODO {todo} level {self.opened[name, todo]}" for name, todo in sorted(self.opened)
        )
        rows += map(str, (self.guesses[key] for key in sorted(self.guesses)))
        return HEAD + "".join(f"{row}\n" for row in [*rows, *self.other])

    def save(self) -> None:
        """Write the file in one step."""
        disk.write(path(), self.text(), sync=True)


def path() -> Path:
    """Where it is kept."""
    return workspace.folder() / "progress.txt"


def read() -> Progress:
    """The progress so far; an absent file is an empty one, a damaged line is kept and not counted."""
    try:
        text = path().read_text(encoding="utf-8", errors="replace") if workspace.here() else ""
    except OSError:
        text = ""
    return parse(text)


def parse(text: str) -> Progress:
    """The content of a progress file, lines in any order, some of them twice."""
    progress = Progress()
    for row in text.splitlines():
        row = row.strip()
        if not row or row == HEAD.strip():
            continue
        if found := LINE.match(row):
            _merge(progress, found.groupdict())
        elif guessed := _guess(row):
            key = guessed.lesson, guessed.what
            before = progress.guesses.get(key)
            if before is None or before.found is None:
                progress.guesses[key] = guessed
        elif left := OPEN.match(row):
            if names := tuple(name.strip() for name in left["checks"].split(";") if name.strip()):
                progress.open_checks[left["lesson"]] = names
        elif hint := OPENED.match(row):
            about = hint["lesson"], int(hint["todo"])
            progress.opened[about] = max(progress.opened.get(about, 0), int(hint["level"]))
        elif row not in progress.other:
            progress.other.append(row)
    return progress


def record(verdict: Verdict) -> LessonProgress:
    """Count a grading. The best verdict stays; what was measured is put beside what was predicted."""
    own_tries.note(verdict)
    progress = read()
    line = progress.line(verdict.lesson)
    if (verdict.ok, verdict.points) > (line.passed, line.points) or not (line.tries or line.passed):
        line = replace(line, status=str(verdict.status), points=verdict.points, when=_now())
    line = replace(line, most=verdict.max_points, tries=line.tries + 1)
    progress.lines[verdict.lesson] = line
    progress.open_checks.pop(verdict.lesson, None)
    if left := verdict.left:
        progress.open_checks[verdict.lesson] = tuple(left)
    for key, guess in progress.guesses.items():
        value = getattr(verdict.speed, guess.what, None)
        if key[0] == verdict.lesson and isinstance(value, (int, float)):
            progress.guesses[key] = replace(guess, found=float(f"{value:.4g}"))
    progress.save()
    return line


def hint_read(lesson: str, todo: int, level: int) -> None:
    """Remember that a TODO's hints up to ``level`` were opened."""
    progress = read()
    if level > progress.opened.get((lesson, todo), 0):
        progress.opened[lesson, todo] = level
        total = sum(levels for (name, _), levels in progress.opened.items() if name == lesson)
        progress.lines[lesson] = replace(progress.line(lesson), hints=total)
        progress.save()


def _merge(progress: Progress, parts: dict[str, str]) -> None:
    numbers = {name: int(parts[name]) for name in ("points", "most", "tries", "hints")}
    line = LessonProgress(
        lesson=parts["lesson"], status=parts["status"], when=parts["when"].strip(), **numbers
    )
    other = progress.lines.get(line.lesson)
    if other:
        best = max(line, other, key=lambda x: (x.passed, x.points))
        line = replace(best, tries=max(line.tries, other.tries), hints=max(line.hints, other.hints))
    progress.lines[line.lesson] = line


def _guess(row: str) -> Guess | None:
    found = GUESS.match(row)
    if not found:
        return None
    try:
        result = float(found["found"]) if found["found"] else None
        return Guess(found["lesson"], found["what"], float(found["value"]), result)
    except ValueError:
        return None


def _now() -> str:
    return time.strftime("%Y-%m-%d %H:%M")
