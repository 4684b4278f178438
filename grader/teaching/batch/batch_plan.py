"""From what was handed in to what is to be graded: one entry a row, one order a different grading."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec

from grader.domain import disk, lessons, submission, typed_data
from grader.domain.errors import BadInputError
from grader.domain.lessons import Lesson
from grader.domain.options import GradingOptions
from grader.reports.row import FileFate, LessonFacts
from grader.teaching.batch import grading_key
from grader.teaching.batch.batch_work import Order
from grader.teaching.batch.late_policy import Policy
from grader.teaching.batch.overrides import Overrides
from grader.teaching.batch.roster import NOTHING
from grader.teaching.batch.student_files import StudentFile

SCHEMA = "inline-to-fused/handed/v1"


@dataclass(frozen=True, slots=True)
class Entry:
    """A row before it has a result.

    ``subject`` names what is graded whatever the machine, ``key`` this machine's grading of it. ``refused``:
    why the file is not a submission. ``missing``: why there is no file. ``unclear``: what a person has to
    look at. ``when``: Unix time of the submission, and ``marked``: the platform says that it is late.
    ``held``: why what is missing is no 0 even if the teacher says that missing files are.
    """

    student: str
    lesson: str
    name: str = ""
    email: str = ""
    section: str = ""
    nick: str = ""
    file: str = ""
    notes: tuple[str, ...] = ()
    when: float | None = None
    subject: str = ""
    key: str = ""
    refused: str = ""
    missing: str = ""
    unclear: str = ""
    marked: bool = False
    held: str = ""
    ids: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Settings:
    """What decides about verdicts, on these machines. ``hidden``: texts by lesson."""

    options: GradingOptions
    device: str
    by_student: bool = False
    arch: str = ""
    hidden: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Plan:
    """All entries, and the orders by key: equal files of several students are one order."""

    entries: tuple[Entry, ...]
    orders: dict[str, Order]
    lessons: tuple[LessonFacts, ...]
    policy: Policy
    files: tuple[FileFate, ...] = ()
    overrides: Overrides = field(default_factory=Overrides)

    def text(self, title: str, times: str = "") -> str:
        """What ``handed.json`` holds; ``times``: where the times of submission are from."""
        file = PlanFile(title, self.policy, times, self.lessons, self.entries, self.files)
        return json.dumps({"schema": SCHEMA, **msgspec.to_builtins(file)})


@dataclass(frozen=True, slots=True)
class PlanFile:
    """``handed.json``: a plan without its orders, and without what the teacher has decided by hand."""

    title: str
    policy: Policy
    times: str = ""
    lessons: tuple[LessonFacts, ...] = ()
    entries: tuple[Entry, ...] = ()
    files: tuple[FileFate, ...] = ()


def make(
    handed: Iterable[StudentFile], wanted: list[Lesson], settings: Settings, policy: Policy,
    files: tuple[FileFate, ...] = (),
) -> Plan:  # fmt: skip
    """Read every file. What cannot be read becomes an entry with a reason, never an error."""
    by_name = {lesson.name: lesson for lesson in wanted}
    orders: dict[str, Order] = {}
    entries = [_entry(one, by_name[one.lesson], settings, orders) for one in handed]
    facts = tuple(LessonFacts(x.name, x.task.title, _max_points(x, settings)) for x in wanted)
    return Plan(tuple(entries), orders, facts, policy, files)


def read(path: Path) -> tuple[str, Plan]:
    """The title and the plan of a ``handed.json``, without orders; BadInputError if it is damaged."""
    try:
        # Not msgspec's reader: a file's name may hold bytes that are no text, and json keeps those.
        file = typed_data.convert(json.loads(path.read_bytes()), PlanFile)
        if unknown := {e.lesson for e in file.entries} - {x.name for x in file.lessons}:
            raise ValueError(f"{unknown} is not among the lessons")
        return file.title, Plan(file.entries, {}, file.lessons, file.policy, file.files)
    except (OSError, ValueError) as error:
        raise BadInputError(
            f"{path.parent} holds no results of a batch: {path.name} is missing or damaged."
        ) from error


def dates(path: Path) -> tuple[Policy, str] | None:
    """The policy and the word for times of a ``handed.json``, without reading its rows; None without one."""
    try:
        with path.open("rb") as file:
            head = file.read(1 << 16).decode(errors="replace")
        found = json.JSONDecoder()
        policy = found.raw_decode(head, head.index('"policy": ') + len('"policy": '))[0]
        times = found.raw_decode(head, head.index('"times": ') + len('"times": '))[0]
        return typed_data.convert(policy, Policy), str(times)
    except (OSError, ValueError):
        return None


def _entry(one: StudentFile, lesson: Lesson, settings: Settings, orders: dict[str, Order]) -> Entry:
    name, what, refused = "", "", ""
    if one.path is not None:
        try:
            name, what = _ordered(one, one.path, lesson, settings, orders)
        except BadInputError as error:
            refused = str(error).replace(disk.legible(str(one.path)), disk.legible(one.path.name))
        except (RecursionError, ValueError) as error:  # a notebook made to be unreadable
            refused = f"{disk.legible(one.path.name)} cannot be read: {type(error).__name__}."
    return Entry(
        one.student, one.lesson, one.name, one.email, one.section, one.nick, str(one.path or ""), one.notes,
        one.when if one.path else None, what, name, refused,
        missing="" if one.path or one.problem else one.missing or NOTHING,
        unclear="" if one.path else one.problem,
        marked=one.late and one.path is not None, held=one.held, ids=one.ids,
    )  # fmt: skip


def _ordered(
    one: StudentFile, path: Path, lesson: Lesson, settings: Settings, orders: dict[str, Order]
) -> tuple[str, str]:
    """See to an order for a file; its key, and the name of what is graded."""
    source, digest = submission.content(path)
    hidden = settings.hidden.get(lesson.name, "")
    options = _for(settings.options, one.student if settings.by_student else "")
    key, parts = grading_key.made(lesson, digest, settings.device, options, hidden)
    if key not in orders:
        asked = _for(options, parts.get("student", ""))
        orders[key] = Order(key, lesson.name, parts["task"], source, asked, hidden, settings.arch)
    return key, subject(lesson.name, parts)


def _for(options: GradingOptions, student: str) -> GradingOptions:
    return options if options.student == student else replace(options, student=student)


def subject(lesson: str, parts: dict[str, str]) -> str:
    """What is graded, whatever runs it: the key without back end and device."""
    kept = {k: v for k, v in parts.items() if k not in ("backend", "device", "schedules")}
    return hashlib.sha256(json.dumps([lesson, kept], sort_keys=True).encode()).hexdigest()[:24]


def _max_points(lesson: Lesson, settings: Settings) -> int:
    if text := settings.hidden.get(lesson.name, ""):
        from grader.teaching.batch.batch_work import cached_file

        return lessons.with_hidden(lesson.task, cached_file(text, "hidden", "cases.py")).max_points
    return lesson.task.max_points
