"""``course similar``: files that are equal, and a ranked list of pairs that a person may want to look at."""

from __future__ import annotations

import json
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich.table import Table

from grader.domain import disk, lessons, packages, submission
from grader.domain.errors import BadInputError
from grader.domain.plural import plural
from grader.teaching.batch import roster
from grader.teaching.similar import fingerprint_tokens, side_by_side, winnow
from grader.teaching.similar.side_by_side import Found

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from grader.domain.lessons import Lesson
    from grader.teaching.batch.student_files import StudentFile
    from grader.teaching.similar.winnow import Prints

NOTE = (
    "Alike is not copied: small exercises have few right answers. Names, numbers, comments and the order "
    "of functions were ignored; the lesson's own code was left out, and what many write counts less. Look at "
    "the lines before you say anything."
)
SHOWN = 50
SOURCE = "source: "  # in front of the name of what may have been copied from, and is no student's here


@dataclass(frozen=True, slots=True)
class Asked:
    """What is compared, and where the list goes; see ``./course similar --help``."""

    submissions: Path
    lessons: tuple[str, ...]
    layout: str = "auto"
    least: float = 0.75
    against: tuple[Path, ...] = ()
    json: Path | None = None
    html: Path | None = None
    roster: Path | None = None


def run(asked: Asked) -> int:
    """Print the list, and write it as JSON and as a page if asked to. Always 0: nothing here is a verdict."""
    packages.require("Comparing a class", *packages.CLASS)
    from grader.reports.console import screen

    console = screen()

    def say(text: str) -> None:
        console.print(text, style="dim", markup=False)

    with tempfile.TemporaryDirectory() as room:
        found = [compared(lessons.find(word), asked, Path(room), say) for word in asked.lessons]
    for one in found:
        for group in one.groups:
            console.print(
                f"{one.lesson}: equal but for comments and layout: {', '.join(group)}", markup=False
            )
        console.print(_table(one))
    console.print(NOTE, style="dim")
    if asked.json is not None:
        data = {
            "note": NOTE, "groups": {x.lesson: x.groups for x in found},
            "pairs": {x.lesson: [asdict(p) for p in x.pairs] for x in found},
        }  # fmt: skip
        disk.write(asked.json, json.dumps(data, indent=1) + "\n")
    if asked.html is not None:
        disk.write(asked.html, side_by_side.page(found, NOTE))
    return 0


def compared(lesson: Lesson, asked: Asked, room: Path, say: Callable[[str], None]) -> Found:
    """What is alike among the submissions for a lesson, its published solutions and earlier years."""
    from grader.teaching.batch import unpack

    texts, teams = _students(unpack.as_folder(asked.submissions, room / "class")[0], lesson, asked, room, say)
    count = len(texts)
    for path in _published(lesson):
        texts[f"{SOURCE}{path.relative_to(lessons.course_root())}"] = path.read_text("utf-8")
    for number, folder in enumerate(asked.against):
        there, _ = unpack.as_folder(folder, room / f"earlier-{number}")
        for one, text in _texts(there, lesson, "auto", room, say):
            texts[f"{SOURCE}{folder.name}: {one.student}"] = text
    tokens = {name: fingerprint_tokens.tokens(text) for name, text in texts.items()}
    prints: dict[str, Prints] = {name: winnow.prints(found) for name, found in tokens.items()}
    given = [lesson.exercise, lesson.reference, lesson.folder / "task.py"]
    starters = [winnow.prints(fingerprint_tokens.tokens(p.read_text("utf-8"))) for p in given if p.exists()]
    own = winnow.own(prints, starters)
    same: dict[tuple[str, ...], list[str]] = {}
    for name, found in tokens.items():
        if own[name]:
            same.setdefault(tuple(token.text for token in found), []).append(name)

    def one_team(names: Iterable[str]) -> bool:
        found = {teams.get(name, "") for name in names}
        return len(found) == 1 and "" not in found

    groups = tuple(
        tuple(names)
        for names in same.values()
        if len(names) > 1 and not names[0].startswith(SOURCE) and not one_team(names)
    )
    first = {names[0]: prints[names[0]] for names in same.values()}
    sources = [name for name in first if name.startswith(SOURCE)]
    pairs = tuple(
        pair
        for pair in winnow.pairs(first, starters, asked.least, sources)
        if not one_team((pair.first, pair.second))
    )
    used = {name for pair in pairs for name in (pair.first, pair.second)} | {g[0] for g in groups}
    kept = {name: text for name, text in texts.items() if name in used}
    return Found(lesson.name, count, kept, tuple(sorted(groups, key=lambda g: (-len(g), g))), pairs)


def _students(
    folder: Path, lesson: Lesson, asked: Asked, room: Path, say: Callable[[str], None]
) -> tuple[dict[str, str], dict[str, str]]:
    """The class's files by student, and who is in which team. A file of several counts once."""
    people = roster.read(asked.roster) if asked.roster else []
    index = roster.Index(people)
    texts, teams, seen = dict[str, str](), dict[str, str](), set[Path | None]()
    for one, text in _texts(folder, lesson, asked.layout, room, say):
        if one.path not in seen:  # a platform's group has one file, and each of it a row
            seen.add(one.path)
            texts[one.student] = text
            person = index.find(one)
            teams[one.student] = person.team if person else ""
    if together := [name for name, team in teams.items() if team and [*teams.values()].count(team) > 1]:
        say(f"{lesson.name}: files of one team are not compared with each other: {', '.join(together)}")
    return texts, teams


def _texts(
    folder: Path, lesson: Lesson, layout: str, room: Path, say: Callable[[str], None]
) -> Iterator[tuple[StudentFile, str]]:
    """Every readable file for the lesson, and whose it is."""
    from grader.teaching.batch import layouts

    for one in layouts.read(folder, [lesson.name], lessons.names(), room / "students", layout).files:
        if one.path is None:
            continue
        try:
            yield one, submission.read(one.path).source
        except BadInputError as error:
            say(f"left out: {error}")


def _published(lesson: Lesson) -> list[Path]:
    """The course's own solutions, which lie in every student's checkout."""
    others = sorted((lesson.solution.parent / "alternatives").glob("*.py"))
    return [path for path in (lesson.solution, *others) if path.exists()]


def _table(found: Found) -> Table:
    title = f"{found.lesson}: {plural(len(found.pairs), 'pair')} of {plural(found.count, 'file')}"
    if len(found.pairs) > SHOWN:
        title += f"; the first {SHOWN} of them, --json and --html have all"
    table = Table(title=title, title_justify="left", box=None)
    for head in ("share", "of", "first", "second", "lines"):
        table.add_column(head, justify="right" if head in ("share", "of") else "left")
    for pair in found.pairs[:SHOWN]:
        lines = ", ".join(f"{a}-{b} / {c}-{d}" for a, b, c, d in pair.lines[:3])
        table.add_row(f"{pair.share:.0%}", str(pair.common), pair.first, pair.second, lines)
    return table
