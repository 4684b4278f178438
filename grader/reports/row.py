"""A row: one student and one lesson, in the form that every report is made from. Points are whole numbers."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from types import NoneType
from typing import Any

from grader.domain import speed as speeds
from grader.domain.speed import Measured, Speed
from grader.domain.verdict import Status, Verdict
from grader.domain.version import __version__

SCHEMA = "inline-to-fused/class/v1"
STATES = ("graded", "refused", "missing", "not_gradable")


@dataclass(frozen=True, slots=True)
class Row:
    """What became of one student's file.

    ``state``: graded; refused (a file that is no submission); missing; not_gradable (a fault of ours).
    ``points`` are what count: ``earned`` by the checks, less the ``penalty`` for being late. ``open`` points
    wait for a GPU. ``checks``: id, status, points and most points of each. ``first`` is the first failure's
    message. ``late`` in seconds. ``speed``: the verdict's, in short. ``nick``: for a leaderboard.
    """

    student: str
    lesson: str
    state: str
    status: str
    points: int
    earned: int
    max_points: int
    penalty: int = 0
    open: int = 0
    name: str = ""
    email: str = ""
    section: str = ""
    checks: tuple[tuple[str, str, int, int], ...] = ()
    first: str = ""
    notes: tuple[str, ...] = ()
    late: float = 0.0
    seconds: float = 0.0
    backend: str = ""
    device: str = ""
    speed: dict[str, Any] | None = None
    key: str = ""
    file: str = ""
    nick: str = ""

    @property
    def passed(self) -> bool:
        """Whether nothing failed."""
        return self.status == Status.PASSED


@dataclass(frozen=True, slots=True)
class LessonFacts:
    """A lesson as a report names it."""

    name: str
    title: str
    max_points: int


@dataclass(frozen=True, slots=True)
class Class:
    """All rows of a batch: the one result that every class report is written from."""

    title: str
    created: str
    lessons: tuple[LessonFacts, ...]
    rows: tuple[Row, ...]
    facts: dict[str, str] = field(default_factory=dict)

    def head(self) -> dict[str, Any]:
        """Everything but the rows."""
        return {
            "schema": SCHEMA,
            "grader": __version__,
            "title": self.title,
            "created": self.created,
            "facts": self.facts,
            "lessons": [asdict(lesson) for lesson in self.lessons],
        }

    def as_json(self) -> dict[str, Any]:
        """As in ``grader/domain/schema/class.v1.json``."""
        return self.head() | {"rows": [row_json(row) for row in self.rows]}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Class:
        """What :meth:`as_json` made, read again."""
        return cls(
            data["title"], data["created"], tuple(LessonFacts(**x) for x in data["lessons"]),
            tuple(_row(x) for x in data["rows"]), data["facts"],
        )  # fmt: skip


def row_json(row: Row) -> dict[str, Any]:
    """A row as plain data; ``asdict`` would copy every check for nothing."""
    data = {name: getattr(row, name) for name in Row.__slots__}
    data["checks"] = [{"id": i, "status": s, "points": p, "max_points": m} for i, s, p, m in row.checks]
    data["notes"] = list(row.notes)
    return data


def _row(data: dict[str, Any]) -> Row:
    checks = tuple((c["id"], c["status"], c["points"], c["max_points"]) for c in data["checks"])
    return Row(**{**data, "checks": checks, "notes": tuple(data["notes"])})


def summary(verdict: Verdict) -> dict[str, Any]:
    """What a journal line keeps of a verdict: enough for every class report."""
    failed = verdict.failed
    return {
        "status": str(verdict.status),
        "earned": verdict.points,
        "max_points": verdict.max_points,
        "open": verdict.waiting,
        "checks": [[f.id, str(f.status), f.points, f.max_points] for f in verdict.findings],
        "first": f"{failed[0].id}: {failed[0].message}"[:400] if failed else "",
        "seconds": round(verdict.seconds, 3),
        "backend": verdict.backend,
        "device": verdict.device,
        "speed": _speed(verdict.speed),
    }


LINE: dict[str, type | tuple[type, ...]] = {
    "key": str, "subject": str, "status": str, "earned": int, "max_points": int, "open": int, "checks": list,
    "first": str, "seconds": (int, float), "backend": str, "device": str, "speed": (dict, NoneType),
}  # fmt: skip


def is_line(data: dict[str, Any]) -> bool:
    """Whether a journal's line holds what :func:`summary` put there, and says of what it is."""
    if not all(isinstance(data.get(name, ...), kind) for name, kind in LINE.items()):
        return False
    checks = [
        c for c in data["checks"] if isinstance(c, list) and [type(x) for x in c] == [str, str, int, int]
    ]
    return len(checks) == len(data["checks"]) and data["status"] in list(Status)


def _speed(speed: Speed | None) -> dict[str, Any] | None:
    """The ratio and, for a measured one, its 95 % interval; None where no ratio is claimed."""
    found = speeds.claimed(speed)
    if found is None:
        return None
    short = {"kind": speeds.kind_of(found), "device": found.device, "whole_ratio": found.whole_ratio}
    if isinstance(found, Measured):
        return short | {"low": found.interval[0], "high": found.interval[1]}
    return short | {"kernel_ratio": found.kernel_ratio}


def row_of(verdict: Verdict, student: str) -> Row:
    """The row of one verdict without a class around it."""
    short = summary(verdict)
    state = "not_gradable" if verdict.status is Status.NOT_GRADABLE else "graded"
    return Row(
        student, verdict.lesson, state, short["status"], verdict.points, verdict.points, verdict.max_points,
        open=short["open"], checks=tuple((c[0], c[1], c[2], c[3]) for c in short["checks"]),
        first=short["first"], seconds=short["seconds"], backend=verdict.backend, device=verdict.device,
        speed=short["speed"], file=verdict.submission,
    )  # fmt: skip
