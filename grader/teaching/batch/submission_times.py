"""``--times``: when each submission was handed in, as the platform or git says it."""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader.domain.errors import BadInputError
from grader.teaching.batch import moodle_headings, roster, tables

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from grader.teaching.batch.student_files import StudentFile

# What platforms call the moment, in the order in which they are looked for.
MOMENTS = (
    "submitted_at", "submission time", "submitted at", "submitted", "last modified (submission)",
    "submission_time", "timestamp", "time", "created_at", "date",
)  # fmt: skip
FORMS = (
    "%A, %d %B %Y, %I:%M %p", "%A, %d %B %Y, %H:%M", "%d %B %Y, %I:%M %p", "%d %B %Y, %H:%M",
    "%Y-%m-%d %H:%M:%S %z", "%Y-%m-%d %H:%M:%S UTC", "%b %d, %Y at %I:%M%p", "%m/%d/%Y %H:%M",
)  # fmt: skip
# A day's name, day, month, year and time as Moodle's languages other than English write them.
WRITTEN = re.compile(r"\w+,? (\d{1,2})\.? (?:de )?(\w+) (?:de )?(\d{4}), (\d{1,2}:\d\d)")
NONE = {"", "-", "none", "null", "never"}
SAME_S, ENOUGH = 60.0, 3


@dataclass(frozen=True, slots=True)
class Moment:
    """One line of a platform's file: whom it speaks of, in the words that it has for them, and when."""

    person: roster.Person
    when: float


def applied(handed: Iterable[StudentFile], source: str) -> list[StudentFile]:
    """The submissions with the times that ``source`` has for them.

    ``source``: "git" for the last commit of each file, "files" for the files' own times, or a platform's
    CSV or JSON file. BadInputError for a file that has no times.
    """
    found = list(handed)
    if source == "git":
        return [replace(one, when=_committed(one.path)) if one.path else one for one in found]
    if source == "files":
        return [replace(one, when=one.given.stat().st_mtime) if one.given else one for one in found]
    moments = read(Path(source))
    people = roster.Index([moment.person for moment in moments])
    whens = {id(moment.person): moment.when for moment in moments}
    out = []
    for one in found:
        who = people.find(one)
        out.append(replace(one, when=whens[id(who)]) if who else one)
    return out


def warning(handed: Iterable[StudentFile], *, due: bool) -> str:
    """What a teacher should know about these times before points are taken off, or ""."""
    files = [one for one in handed if one.path]
    times = [one.when for one in files if one.when is not None]
    if len(times) >= ENOUGH and max(times) - min(times) < SAME_S:
        return (
            f"All {len(times)} submissions have the same time to the minute, as a copy of a folder has. Take "
            "no points off by it: give the platform's times with --times."
        )
    without = sum(one.when is None and not one.late for one in files)
    if due and without:
        return (
            f"{without} of {len(files)} submissions have no time that a platform gave, and count as in time. "
            "--times takes a platform's CSV or JSON file, git, or files."
        )
    return ""


def _committed(path: Path) -> float | None:
    """When the file was last committed, by the committer's clock; None where it is in no repository."""
    words = ["git", "-C", str(path.parent), "log", "-1", "--format=%ct", "--", path.name]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return float(done.stdout) if done.returncode == 0 and done.stdout.strip().isdigit() else None


def read(path: Path) -> list[Moment]:
    """The lines with a time of a platform's file; BadInputError when there are none."""
    lines = (
        _objects(path) if path.suffix.lower() == ".json" else tables.folded(tables.read(path, "The times"))
    )
    found = []
    for line in lines:
        word = next((line[name] for name in MOMENTS if line.get(name, "").strip().lower() not in NONE), "")
        if not word:
            continue
        if (when := moment_of(word)) is None:
            raise BadInputError(f"{path}: {word!r} is no time that is understood; write 2026-11-20T23:59.")
        found.append(Moment(roster.person(line), when))
    if not found:
        raise BadInputError(
            f"{path} has no times: no column is named {', '.join(MOMENTS[:5])} or time. Moodle's worksheet "
            "is read in English, German, French and Spanish: choose one there, and download it again."
        )
    return found


def _objects(path: Path) -> list[dict[str, str]]:
    """What Canvas' and GitHub's interfaces answer: a list of objects, a person perhaps an object in each."""
    try:
        data = json.loads(path.read_text("utf-8-sig"))
    except (OSError, ValueError) as error:
        raise BadInputError(f"The times {path} cannot be read as JSON: {error}.") from error
    if not isinstance(data, list):
        raise BadInputError(f"The times {path} are no list of submissions.")
    return [_flat(one) for one in data if isinstance(one, dict)]


def _flat(one: Mapping[str, Any]) -> dict[str, str]:
    person = one.get("user")
    flat = {k.lower(): str(v) for k, v in one.items() if isinstance(v, (str, int)) and k != "id"}
    if isinstance(person, dict):
        flat |= {k.lower(): str(v) for k, v in person.items() if isinstance(v, (str, int)) and k != "id"}
        flat.setdefault("user_id", str(person.get("id", "")))
    names = {"user_id": "canvas user id", "sis_user_id": "sis user id", "login_id": "sis login id"}
    return {names.get(k, k): v for k, v in flat.items()}


def moment_of(text: str) -> float | None:
    """Unix time of a platform's date, or None; without a zone it is this machine's own."""
    word = re.sub(r"\s+", " ", text.strip())
    if re.fullmatch(r"\d{9,11}(\.\d+)?", word):
        return float(word)
    try:
        return datetime.fromisoformat(word).timestamp()
    except ValueError:
        pass
    if found := WRITTEN.fullmatch(word):  # Moodle in another language: "Freitag, 20. November 2026, 21:48"
        month = next((k for k, names in enumerate(moodle_headings.MONTHS, 1) if found[2].lower() in names), 0)
        if month:
            moment = f"{found[3]}-{month:02d}-{int(found[1]):02d} {found[4]}"
            return datetime.strptime(moment, "%Y-%m-%d %H:%M").timestamp()
    for form in FORMS:
        try:
            made = datetime.strptime(word, form)
        except ValueError:
            continue
        return (made.replace(tzinfo=UTC) if form.endswith("UTC") else made).timestamp()
    return None
