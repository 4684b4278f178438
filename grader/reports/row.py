"""Rows: one student and one lesson each, what every report is made from. Points are whole numbers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from grader.domain import speed as speeds
from grader.domain.speed import Measured
from grader.domain.verdict import SENTENCE, Finding, Status, Verdict
from grader.domain.version import __version__

State = Literal["graded", "refused", "missing", "unclear", "not_gradable"]
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
    """What a journal keeps of a verdict: enough for every class report. ``checks``: as in :class:`Check`.

    ``mistake``: the rule that explained the first failure, and ``taught`` the lesson that explains it.
    """

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
    mistake: str = ""
    taught: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """One student and lesson: what became of the file."""

    student: Annotated[str, Meta(description="Key of the student: of the class list, or of the platform.")]
    lesson: Annotated[str, Meta(description="Folder name of the lesson.")]
    state: Annotated[
        State,
        Meta(
            description="What became of it; `refused` is a file that is not a submission, `unclear` "
            "something that a person has to look at, `not_gradable` a fault of the grader."
        ),
    ]
    status: Annotated[Status, Meta(description="As in a verdict.")]
    points: Annotated[Points, Meta(description="What counts: `earned` less `penalty`, and `adjusted` added.")]
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
    final: Annotated[
        bool,
        Meta(description="Whether the points may go into a gradebook; else the teacher has to look first."),
    ] = True
    ids: Annotated[
        dict[str, str],
        Meta(description="What platforms call the student: canvas, sis, login, moodle, gradescope."),
    ] = field(default_factory=dict)
    adjusted: Annotated[int, Meta(description="Points that a teacher has added by hand, or taken off.")] = 0
    excused: Annotated[bool, Meta(description="Whether a teacher has excused the student.")] = False
    by_hand: Annotated[
        tuple[str, ...],
        Meta(description="What a teacher has said and changed by hand, with the author and the reason."),
    ] = ()

    mistake: Annotated[
        str, Meta(description="The rule that explained the first failure in plain words, or empty.")
    ] = ""
    taught: Annotated[str, Meta(description="Number of the lesson that explains it, or empty.")] = ""

    @property
    def grade(self) -> int | None:
        """The points for a gradebook, or None where there are none yet."""
        return self.points if self.final and not self.excused else None

    @property
    def shown(self) -> int | None:
        """The points, or None where there are none to show: what was not graded is not 0 points."""
        return self.points if self.state == "graded" or self.adjusted or self.grade is not None else None

    @property
    def counted(self) -> bool:
        """Whether the points are in means: of a graded file, or by the teacher's word where nothing was."""
        return not self.excused and (self.state == "graded" or self.grade is not None)

    @property
    def remarks(self) -> tuple[str, ...]:
        """What a teacher has said and changed by hand, then the notes."""
        return (*self.by_hand, *self.notes)

    @property
    def standing(self) -> str:
        """The points in a sentence, or why there are none: what was not graded is not called 0 points."""
        if self.excused:
            return "Excused: this is not counted."
        if self.shown is not None:
            return f"{self.points} of {self.max_points} points."
        return f"Not graded. {self.first}".rstrip()

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
class FileFate:
    """What became of a file that lay among the submissions."""

    file: Annotated[
        str, Meta(description="Its path; of a file in an archive the archive's, a colon, its own.")
    ]
    student: Annotated[str, Meta(description="Whose it is, or empty if that cannot be told.")]
    lesson: Annotated[str, Meta(description="The lesson that it is for, or empty.")]
    what: Annotated[str, Meta(description="`graded`, or why not.")]
    look: Annotated[bool, Meta(description="Whether a person has to look at it.")] = False


@dataclass(frozen=True, slots=True)
class CheckTries:
    """A check in a student's own log of tries."""

    id: str
    tries: Annotated[Points, Meta(description="Tries that did not pass it.")]
    minutes: Annotated[Seconds, Meta(description="Minutes for which it was the first to mend.")]


@dataclass(frozen=True, slots=True)
class Tries:
    """What a student's own log says of one lesson: a claim, which nobody has checked."""

    student: Annotated[str, Meta(description="Key of the student, as in a row.")]
    lesson: Annotated[str, Meta(description="Folder name of the lesson.")]
    tries: Annotated[Points, Meta(description="Gradings that the log has.")]
    minutes: Annotated[Seconds, Meta(description="From try to try, without pauses over 15 minutes.")]
    checks: Annotated[
        tuple[CheckTries, ...], Meta(description="Checks of the lesson that some try did not pass.")
    ] = ()


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
    files: Annotated[
        tuple[FileFate, ...], Meta(description="Every file of the folder of submissions, in its order.")
    ] = ()
    tries: Annotated[
        tuple[Tries, ...], Meta(description="What the students' own logs say, where they handed one in.")
    ] = ()


@dataclass(frozen=True, slots=True)
class StudentResult:
    """One student's result for one lesson: what a report for that student is written from.

    ``profile``: there is a folder of that name beside the report, with a roofline and a trace; ``replay``:
    there is a page that plays the launch that failed.
    """

    row: Row
    verdict: Verdict
    profile: bool = False
    replay: bool = False


def summary(verdict: Verdict) -> Summary:
    """What a journal keeps of this verdict."""
    failed = verdict.failed
    return Summary(
        status=verdict.status,
        earned=verdict.points,
        max_points=verdict.max_points,
        open=verdict.waiting,
        checks=tuple((f.id, f.status, f.points, f.max_points) for f in verdict.findings),
        first=_first(failed),
        seconds=round(verdict.seconds, 3),
        backend=verdict.backend,
        device=verdict.device,
        speed=_speed(verdict),
        mistake=_told(failed, "rule"),
        taught=_told(failed, "lesson"),
    )


def _first(failed: list[Finding]) -> str:
    """The first failure in a line; a fault of ours before all others, and never without a reason."""
    if not failed:
        return ""
    first = next((f for f in failed if f.status is Status.NOT_GRADABLE), failed[0])
    return f"{first.id}: {first.message.strip() or SENTENCE[first.status]}"[:400]


def _told(failed: list[Finding], word: str) -> str:
    """A word of the first explanation among the failures."""
    told = (f.evidence.get("explanation") for f in failed)
    return next((str(one.get(word, "")) for one in told if isinstance(one, dict)), "")


def _speed(verdict: Verdict) -> SpeedSummary | None:
    """None where no ratio is claimed."""
    found = speeds.claimed(verdict.speed)
    if found is None:
        return None
    if isinstance(found, Measured):
        return SpeedSummary("measured", found.device, found.whole_ratio, None, *found.interval)
    return SpeedSummary("predicted", found.device, found.whole_ratio, found.kernel_ratio)


def row_of(verdict: Verdict, student: str) -> Row:
    """The row of one verdict without a class around it."""
    short = summary(verdict)
    return Row(
        student, verdict.lesson, state_of(short), short.status, short.earned, short.earned,
        short.max_points, open=short.open, checks=checks_of(short), first=short.first, seconds=short.seconds,
        backend=short.backend, device=short.device, speed=short.speed, file=verdict.submission,
        final=state_of(short) == "graded",
    )  # fmt: skip


def state_of(short: Summary) -> State:
    """The state of a row that was graded, or could not be by a fault of ours, be it in a single check."""
    faults = Status.NOT_GRADABLE in {short.status, *(status for _, status, _, _ in short.checks)}
    return "not_gradable" if faults else "graded"


def checks_of(short: Summary) -> tuple[Check, ...]:
    """The checks of a summary as a row keeps them."""
    return tuple(Check(*check) for check in short.checks)
