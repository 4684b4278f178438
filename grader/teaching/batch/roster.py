"""A class list (CSV): who should have handed in, and under which name each report knows them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from grader.domain.errors import BadInputError
from grader.teaching.batch import tables
from grader.teaching.batch.student_files import StudentFile, distinct_students

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from grader.reports.row import FileFate

# What platforms and teachers call the columns, in the order in which they are looked for.
COLUMNS = {
    "id": ("id", "student id", "studentid", "sid", "number", "matriculation", "sis user id", "user id",
           "id number"),
    "login": ("login", "sis login id", "login id", "username", "user", "github", "netid", "student"),
    "email": ("email", "e-mail", "email address", "mail"),
    "name": ("name", "full name", "student name", "student"),
    "section": ("section", "group", "sections", "class"),
    "team": ("team", "group name"),  # who hand in together; Canvas' export of groups has "group_name"
    "nick": ("leaderboard", "nickname"),  # filled in by who wants to be named there
}  # fmt: skip
FIRST, LAST = ("first name", "firstname", "given name"), ("last name", "lastname", "surname", "family name")
CANVAS = ("sis user id", "sis login id", "integration id", "root account")
PARTICIPANT = re.compile(r"\D*(\d+)")  # Moodle: "Participant 111", in the site's language


@dataclass(frozen=True, slots=True)
class Person:
    """One line of the class list. ``ids``: what platforms call the person, as in a row.

    ``team``: who hand in together, or "".
    """

    id: str
    login: str = ""
    email: str = ""
    name: str = ""
    section: str = ""
    nick: str = ""
    ids: dict[str, str] = field(default_factory=dict)
    team: str = ""

    def words(self) -> set[str]:
        """Every way in which a platform may name this person, but for its own numbers."""
        mail = self.email.lower()
        keys = {self.id.lower(), self.login.lower(), mail, mail.partition("@")[0], *_names(self.name)}
        return (keys | {self.ids.get("sis", "").lower()}) - {
            "",
            self.ids.get("canvas"),
            self.ids.get("moodle"),
        }


class Index:
    """People, to be found by what a platform calls them. Two of one name are not found by it."""

    def __init__(self, people: list[Person]) -> None:
        self._by_word: dict[str, Person | None] = {}
        self._by_id: dict[tuple[str, str], Person | None] = {}
        for one in people:
            for word in one.words():
                self._by_word[word] = None if word in self._by_word else one
            for key in one.ids.items():
                self._by_id[key] = None if key in self._by_id else one
        self._kinds = {kind for kind, _ in self._by_id}

    def find(self, one: StudentFile) -> Person | None:
        """Whose file it is. A platform's number is compared with that platform's numbers only."""
        for key in one.ids.items():
            if person := self._by_id.get(key):
                return person
        words = [one.email.lower(), one.email.lower().partition("@")[0], *_names(one.name)]
        numbers = {one.ids.get("canvas"), one.ids.get("moodle")} - {None}
        if one.student not in numbers:
            words = [one.student.lower(), *words, *_names(one.student.replace("_", " "))]
            if not one.ids:  # a file's or folder's name: it may be any platform's number
                by_number = [
                    p for kind in ("canvas", "moodle") if (p := self._by_id.get((kind, one.student)))
                ]
                if by_number:
                    return by_number[0]
        elif not self._kinds & {"canvas", "moodle"}:
            words = [one.student.lower(), *words]  # a list that does not say whose numbers it has
        return next((p for w in words if w and (p := self._by_word.get(w))), None)


def read(path: Path) -> list[Person]:
    """The people of a CSV file; BadInputError when it cannot be read or has no column that names them."""
    people = [p for line in tables.folded(tables.read(path, "The class list")) if (p := person(line)).id]
    if not people:
        raise BadInputError(
            f"The class list {path} names nobody; it needs a header with id, login, email or name."
        )
    seen: set[str] = set()
    for one in people:
        if one.id in seen:
            raise BadInputError(f"The class list {path} has {one.id} twice.")
        seen.add(one.id)
    return people


def join(handed: Iterable[StudentFile], people: list[Person], lessons: list[str]) -> list[StudentFile]:
    """Submissions under the class list's ids, an entry for everyone who is missing, strangers with a note.

    Who has handed in nothing gets what their team has: platforms give a group's file to one of it only.
    """
    index = Index(people)
    out, seen, strangers = [], set(), []
    of_team, lacking = dict[tuple[str, str], StudentFile](), dict[tuple[str, str], StudentFile]()
    for one in handed:
        found = index.find(one)
        if found is None:
            if one.path or one.problem:
                strangers.append(one.student)
            out.append(replace(one, notes=(*one.notes, "Not on the class list.")))
            continue
        joined = _as(one, found)
        if one.missing:
            lacking[found.id, one.lesson] = joined
            continue
        seen.add((found.id, one.lesson))
        out.append(joined)
        if found.team:
            of_team.setdefault((found.team, one.lesson), joined)
    out = distinct_students(out)
    held = _held(strangers, "is not on the class list")
    for lesson in lessons:
        for p in people:
            if (p.id, lesson) in seen:
                continue
            if mate := of_team.get((p.team, lesson)):
                note = f"Handed in by {mate.student} for {p.team}."
                own = _as(replace(mate, name="", email="", ids={}, log=None), p)
                out.append(replace(own, notes=(*mate.notes, note)))
            else:
                nothing = StudentFile(p.id, lesson, None, missing=NOTHING, held=held)
                out.append(lacking.get((p.id, lesson)) or _as(nothing, p))
    return out


def _as(one: StudentFile, p: Person) -> StudentFile:
    """The same, as the class list names the student."""
    return replace(
        one, student=p.id, name=p.name or one.name, email=p.email or one.email, section=p.section,
        nick=p.nick, ids={**p.ids, **one.ids},
    )  # fmt: skip


def held(handed: Iterable[StudentFile], fates: Iterable[FileFate]) -> list[StudentFile]:
    """The same, with a word where a file is missing while files lie there that are known to be nobody's."""
    why = _held([fate.file for fate in fates if fate.look and not fate.student], "is known to be nobody's")
    return [replace(one, held=one.held or why) if one.missing else one for one in handed]


def _held(what: list[str], why: str) -> str:
    if not what:
        return ""
    shown = ", ".join(sorted(set(what))[:4]) + (
        f" and {len(set(what)) - 4} more" if len(set(what)) > 4 else ""
    )
    return f"No 0 before this is settled: {shown} {why}."


NOTHING = "Nothing was handed in."


def _names(name: str) -> list[str]:
    """A name as letters only, both ways round: "Doe, Jane" is doejane and janedoe."""
    parts = [re.sub(r"[\W\d_]", "", p).lower() for p in re.split(r"[,\s]+", name)]
    parts = [p for p in parts if p]
    return ["".join(parts), "".join(reversed(parts)), "".join([*parts[-1:], *parts[:-1]])] if parts else []


def person(line: dict[str, str]) -> Person:
    """The person of a line, by its columns' names in small letters; the id is "" where it names nobody."""
    line = {column.replace("_", " "): cell for column, cell in line.items()}
    found = {field: _first(line, columns) for field, columns in COLUMNS.items()}
    if not _first(line, COLUMNS["name"]) or _first(line, FIRST):
        found["name"] = f"{_first(line, FIRST)} {_first(line, LAST)}".strip() or found["name"]
    if found["name"].lower().startswith("points possible"):  # Canvas's second line is not a person
        return Person("")
    ids = {"login": found["login"], "sis": _first(line, COLUMNS["id"][1:])}
    if "canvas user id" in line or ("id" in line and any(name in line for name in CANVAS)):
        ids |= {
            "canvas": line.get("canvas user id") or line["id"],
            "sis": _first(line, ("sis user id", "user id")),
        }
        ids["login"] = _first(line, ("sis login id", "login id"))
    else:
        ids["sis"] = found["id"]
    if number := PARTICIPANT.fullmatch(line.get("identifier", "")):
        ids["moodle"] = number[1]
    key = (
        found["id"]
        or found["login"]
        or found["email"]
        or found["name"]
        or next(filter(None, ids.values()), "")
    )
    ids = {kind: value for kind, value in ids.items() if value}
    return Person(
        key,
        found["login"],
        found["email"],
        found["name"],
        found["section"],
        found["nick"],
        ids,
        found["team"],
    )


def _first(line: dict[str, str], columns: tuple[str, ...]) -> str:
    return next((line[c] for c in columns if line.get(c)), "")
