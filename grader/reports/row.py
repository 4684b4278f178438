"""Rows: one student and one lesson each, what every report is made from. Points are whole numbers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from grader.domain.verdict import Status, Verdict
from grader.domain.version import __version__

State = Literal["graded", "refused", "missing", "not_gradable"]
Points = Annotated[int, Meta(ge=0)]
Seconds = Annotated[float, Meta(ge=0)]
Ratio = Annotated[float, Meta(gt=0)]


class SpeedSummary(msgspec.Struct, frozen=True, omit_defaults=True):
    """A speed that may be claimed: its ratio, and for a measured one the 95 % interval from low to high."""

    kind: Literal["predicted", "measured"]
    device: Annotated[str, Meta(description="The GPU that was measured, or predicted for.")]
    whole_ratio: Annotated[Ratio, Meta(description="Times as fast as the framework, for the whole call.")]
    kernel_ratio: Annotated[Ratio, Meta(description="The same for the element-wise kernels.")] | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """One check as a row keeps it."""

    id: str
    status: Status
    points: Points
    max_points: Points


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """What a journal keeps of a verdict: enough for every class report. ``checks``: as in :class:`Check`."""

    status: Status
    earned: int
    max_points: int
    open: int
    checks: tuple[tuple[str, Status, int, int], ...]
    first: str
    seconds: float
    backend: str
    device: str
    speed: SpeedSummary | None


@dataclass(frozen=True, slots=True)
class Row:
    """One student and lesson: what became of the file."""

    student: Annotated[str, Meta(description="Key of the student: of the class list, or of the platform.")]
    lesson: Annotated[str, Meta(description="Folder name of the lesson.")]
    state: Annotated[
        State,
        Meta(
            description="What became of it; `refused` is a file that is not a submission, "
            "`not_gradable` a fault of the grader."
        ),
    ]
    status: Annotated[Status, Meta(description="As in a verdict.")]
    points: Annotated[Points, Meta(description="What counts: `earned` less `penalty`.")]
    earned: Annotated[Points, Meta(description="Points of all checks.")]
    max_points: Annotated[
        Points, Meta(description="Points that could be earned, those that wait for another machine included.")
    ]
    penalty: Annotated[Points, Meta(description="Points taken off for being late.")] = 0
    open: Annotated[Points, Meta(description="Points that wait for another machine, as a GPU.")] = 0
    name: Annotated[str, Meta(description="Name, or empty.")] = ""
    email: Annotated[str, Meta(description="Address, or empty.")] = ""
    section: Annotated[str, Meta(description="Section of the class, or empty.")] = ""
    checks: Annotated[tuple[Check, ...], Meta(description="One entry a check.")] = ()
    first: Annotated[str, Meta(description="The first failure, or why nothing was graded.")] = ""
    notes: Annotated[
        tuple[str, ...],
        Meta(description="What a teacher should know: late, renamed, duplicate, not on the class list."),
    ] = ()
    late: Annotated[Seconds, Meta(description="Seconds after the due time.")] = 0.0
    seconds: Annotated[Seconds, Meta(description="How long the grading took.")] = 0.0
    backend: Annotated[
        str,
        Meta(
            pattern="^(cuda|simt)?$",
            description="What ran the kernels, `cuda` or `simt`; empty where nothing ran.",
        ),
    ] = ""
    device: Annotated[str, Meta(description="The device, or empty.")] = ""
    speed: Annotated[
        SpeedSummary | None,
        Meta(description="Ratio to the framework, predicted or measured; null without."),
    ] = None
    key: Annotated[
        str, Meta(description="Key of the grading in the journal; empty where nothing was graded.")
    ] = ""
    file: Annotated[str, Meta(description="The file that was graded.")] = ""
    nick: Annotated[
        str, Meta(description="How a leaderboard may name the student; empty for not at all.")
    ] = ""

    @property
    def passed(self) -> bool:
        """Whether nothing failed."""
        return self.status is Status.PASSED

    @property
    def statuses(self) -> list[Status]:
        """Of its checks that have points, in their order."""
        return [check.status for check in self.checks if check.max_points]


@dataclass(frozen=True, slots=True)
class LessonFacts:
    """A lesson as a report names it."""

    name: str
    title: str
    max_points: Points


@dataclass(frozen=True, slots=True)
class Class:
    """What `course batch` writes to `reports/class.json`: every class report is written from it.

    Version 1: fields are never renamed or removed in it.
    """

    title: Annotated[str, Meta(description="Name of the folder or zip of submissions.")]
    created: Annotated[
        str,
        Meta(pattern=r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$", description="When it was written (UTC)."),
    ]
    lessons: Annotated[tuple[LessonFacts, ...], Meta(description="The lessons that were graded.")]
    rows: Annotated[tuple[Row, ...], Meta(description="One a student and lesson.")]
    facts: Annotated[
        dict[str, str], Meta(description="Devices that graded; gradings that are still to be done.")
    ] = field(default_factory=dict)
    grader: Annotated[str, Meta(description="Version of the grader.")] = __version__
    schema: Annotated[
        Literal["inline-to-fused/class/v1"], Meta(description="Name and version of this schema.")
    ] = "inline-to-fused/class/v1"


@dataclass(frozen=True, slots=True)
class StudentResult:
    """One student's result for one lesson: what a report for that student is written from.

    ``profile``: there is a folder of that name beside the report, with a roofline and a trace.
    """

    row: Row
    verdict: Verdict
    profile: bool = False


def summary(verdict: Verdict) -> Summary:
    """What a journal keeps of this verdict."""
    failed = verdict.failed
    return Summary(
        status=verdict.status,
        earned=verdict.points,
        max_points=verdict.max_points,
        open=verdict.waiting,
        checks=tuple((f.id, f.status, f.points, f.max_points) for f in verdict.findings),
        first=f"{failed[0].id}: {failed[0].message}"[:400] if failed else "",
        seconds=round(verdict.seconds, 3),
        backend=verdict.backend,
        device=verdict.device,
        speed=_speed(verdict),
    )


def _speed(verdict: Verdict) -> SpeedSummary | None:
    """None where no ratio is claimed."""
    speed = verdict.speed
    if not speed or "whole_ratio" not in speed or "why" in speed:
        return None
    low, high = speed.get("interval", (None, None))
    return SpeedSummary(
        speed["kind"], speed["device"], speed["whole_ratio"], speed.get("kernel_ratio"), low, high
    )


def row_of(verdict: Verdict, student: str) -> Row:
    """The row of one verdict without a class around it."""
    short = summary(verdict)
    return Row(
        student, verdict.lesson, state_of(short.status), short.status, short.earned, short.earned,
        short.max_points, open=short.open, checks=checks_of(short), first=short.first, seconds=short.seconds,
        backend=short.backend, device=short.device, speed=short.speed, file=verdict.submission,
    )  # fmt: skip


def state_of(status: Status) -> State:
    """The state of a row that was graded, or could not be by a fault of ours."""
    return "not_gradable" if status is Status.NOT_GRADABLE else "graded"


def checks_of(short: Summary) -> tuple[Check, ...]:
    """The checks of a summary as a row keeps them."""
    return tuple(Check(*check) for check in short.checks)
