"""A class list (CSV): who should have handed in, and under which name each report knows them."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from grader.domain.errors import BadInputError
from grader.teaching.batch.student_files import StudentFile, distinct_students

if TYPE_CHECKING:
    from pathlib import Path

# What platforms and teachers call the columns, in the order in which they are looked for.
COLUMNS = {
    "id": ("id", "student id", "studentid", "sid", "number", "matriculation", "sis user id", "user id"),
    "login": ("login", "sis login id", "username", "user", "github", "netid", "student"),
    "email": ("email", "e-mail", "email address", "mail"),
    "name": ("name", "full name", "student name", "student"),
    "section": ("section", "group", "sections", "class"),
    "nick": ("leaderboard", "nickname"),  # filled in by who wants to be named there
}
FIRST, LAST = ("first name", "firstname", "given name"), ("last name", "lastname", "surname", "family name")


@dataclass(frozen=True, slots=True)
class Person:
    """One line of the class list."""

    id: str
    login: str = ""
    email: str = ""
    name: str = ""
    section: str = ""
    nick: str = ""

    def words(self) -> set[str]:
        """Every way in which a platform may name this person."""
        mail = self.email.lower()
        keys = {self.id.lower(), self.login.lower(), mail, mail.partition("@")[0], *_names(self.name)}
        return keys - {""}


def read(path: Path) -> list[Person]:
    """The people of a CSV file; BadInputError when it cannot be read or has no column that names them."""
    try:
        text = path.read_text("utf-8-sig")
    except OSError as error:
        raise BadInputError(f"The class list {path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise BadInputError(
            f"The class list {path} is not UTF-8 text (line {line}); Excel saves such as CSV UTF-8."
        ) from error
    try:
        dialect: type[csv.Dialect] | str = csv.Sniffer().sniff(text[:4096], delimiters=",;\t")
    except csv.Error:
        dialect = "excel"
    try:
        lines = list(csv.DictReader(text.splitlines(), dialect=dialect))
    except csv.Error as error:
        raise BadInputError(f"The class list {path} cannot be read: {error}.") from error
    people = [p for line in lines if (p := _person(_folded(line))).id]
    if not people:
        raise BadInputError(
            f"The class list {path} names nobody; it needs a header with id, login, email or name."
        )
    seen: set[str] = set()
    for person in people:
        if person.id in seen:
            raise BadInputError(f"The class list {path} has {person.id} twice.")
        seen.add(person.id)
    return people


def join(handed: list[StudentFile], people: list[Person], lessons: list[str]) -> list[StudentFile]:
    """Submissions under the class list's ids, an entry for everyone who is missing, strangers with a note."""
    by_word: dict[str, Person | None] = {}
    for person in people:
        for word in person.words():
            by_word[word] = None if word in by_word else person  # two of a name are nobody
    out, seen = [], set()
    for one in handed:
        found = _find(one, by_word)
        if found is None:
            out.append(replace(one, notes=(*one.notes, "Not on the class list.")))
            continue
        notes = one.notes
        seen.add((found.id, one.lesson))
        name, email = found.name or one.name, found.email or one.email
        out.append(
            replace(
                one,
                student=found.id,
                name=name,
                email=email,
                section=found.section,
                nick=found.nick,
                notes=notes,
            )
        )
    out = distinct_students(out)
    missing = ((person, lesson) for lesson in lessons for person in people if (person.id, lesson) not in seen)
    out += [
        StudentFile(p.id, lesson, None, p.name, p.email, p.section, problem=NOTHING) for p, lesson in missing
    ]
    return out


NOTHING = "Nothing was handed in."


def _find(one: StudentFile, by_word: dict[str, Person | None]) -> Person | None:
    words = [one.student.lower(), one.email.lower(), one.email.lower().partition("@")[0], *_names(one.name)]
    words += _names(one.student.replace("_", " "))
    return next((p for w in words if w and (p := by_word.get(w))), None)


def _names(name: str) -> list[str]:
    """A name as letters only, both ways round: "Doe, Jane" is doejane and janedoe."""
    parts = [re.sub(r"[\W\d_]", "", p).lower() for p in re.split(r"[,\s]+", name)]
    parts = [p for p in parts if p]
    return ["".join(parts), "".join(reversed(parts)), "".join([*parts[-1:], *parts[:-1]])] if parts else []


def _folded(line: dict[str | None, str | None]) -> dict[str, str]:
    return {str(k).strip().lower(): (v or "").strip() for k, v in line.items() if isinstance(v, str)}


def _person(line: dict[str, str]) -> Person:
    found = {field: _first(line, columns) for field, columns in COLUMNS.items()}
    if not _first(line, COLUMNS["name"]) or _first(line, FIRST):
        found["name"] = f"{_first(line, FIRST)} {_first(line, LAST)}".strip() or found["name"]
    if found["name"].lower().startswith("points possible"):  # Canvas's second line is not a person
        return Person("")
    key = found["id"] or found["login"] or found["email"] or found["name"]
    return Person(key, found["login"], found["email"], found["name"], found["section"], found["nick"])


def _first(line: dict[str, str], columns: tuple[str, ...]) -> str:
    return next((line[c] for c in columns if line.get(c)), "")
