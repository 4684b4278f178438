"""One row for each lesson whose task has a speed: what its solution's race, or its prediction, has said."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, NotRequired, TypeAlias, TypedDict, cast

from grader.domain import lessons, submission
from grader.domain import speed as speeds
from grader.domain.errors import BadInputError
from grader.domain.options import GradingOptions
from grader.domain.speed import Measured, NoSpeed, Predicted, Speed
from grader.referee.job import Job
from grader.referee.parts.ratio import Ratio
from grader.referee.pipeline import check, warm

if TYPE_CHECKING:
    from grader.backends import detect
    from grader.domain.lessons import Lesson
    from grader.domain.verdict import Finding

EAGER = "eager"


@dataclass(frozen=True, slots=True)
class Bar:
    """How many times as fast as a baseline; ``low`` and ``high``: the 95 % interval, if it was measured."""

    baseline: str
    ratio: float
    low: float = 0.0
    high: float = 0.0
    outcome: str = ""


class Seconds(TypedDict):
    """Of single calls, as a verdict has them."""

    median: float
    p10: float
    p90: float
    n: int


class Against(TypedDict):
    """A baseline of a race, as a verdict has it."""

    seconds: Seconds
    ratio: float
    interval: list[float]
    outcome: str


class MeasuredRow(TypedDict):
    """A race of a lesson's solution; ``copy``: of a copy of the same bytes."""

    lesson: str
    kind: Literal["measured"]
    seconds: Seconds
    rounds: int
    processes: NotRequired[int]
    compared: int
    machine: NotRequired[dict[str, object]]
    baselines: dict[str, Against]
    copy: Seconds | None
    device: str


class PredictedRow(TypedDict):
    """What is predicted of a lesson's solution."""

    lesson: str
    kind: Literal["predicted"]
    kernel_seconds: float
    eager_kernel_seconds: float
    product_seconds: float
    kernel_ratio: float
    whole_ratio: float
    limits: NotRequired[list[str]]
    device: str


class IdleRow(TypedDict):
    """Why a lesson's solution has neither."""

    lesson: str
    kind: Literal["none"]
    why: str


BenchRow: TypeAlias = MeasuredRow | PredictedRow | IdleRow


def timed(wanted: list[str]) -> list[Lesson]:
    """The lessons that are about speed, or those of them that are named."""
    every = [lessons.find(name) for name in wanted or lessons.names()]
    found = [one for one in every if one.task.speed or _ratios(one)]
    if not found:
        raise BadInputError(f"No task of {', '.join(wanted)} has a size to time.")
    return found


def _ratios(lesson: Lesson) -> tuple[Ratio, ...]:
    return tuple(part for part in lesson.task.parts if isinstance(part, Ratio))


def row(lesson: Lesson, choice: detect.Choice, baselines: tuple[str, ...], card: str) -> BenchRow:
    """The solution of a lesson, as data.

    One case is played first, the others are left to ``course check``; a timed result is compared anyway.
    """
    task = replace(lesson.task, cases=lesson.task.cases[:1], memory_points=0, parts=_ratios(lesson))
    job = Job(
        lesson.name, task, lesson.reference, submission.read(lesson.solution), choice,
        options=GradingOptions(with_speed=True, baselines=baselines, card=card),
        say=lambda text: print(text, file=sys.stderr),
    )  # fmt: skip
    verdict = check(warm(job)).verdict
    wrong = [f for f in verdict.findings if not f.ok and not f.status.startswith("pending")]
    if wrong:
        why = f"{wrong[0].id}: {wrong[0].message[:300]}"
    else:
        found = _short(verdict.speed) if verdict.speed else _of_ratio(verdict.findings, verdict.device)
        if found:
            return cast("BenchRow", {"lesson": lesson.name, **found})
        why = verdict.speed.why if isinstance(verdict.speed, NoSpeed) else "its points need a GPU's clock."
    return {"lesson": lesson.name, "kind": "none", "why": why}


MEASURED = ("kind", "seconds", "rounds", "processes", "compared", "machine")
PREDICTED = (
    "kind", "kernel_seconds", "eager_kernel_seconds", "product_seconds", "kernel_ratio", "whole_ratio",
    "limits",
)  # fmt: skip


def _of_ratio(findings: tuple[Finding, ...], device: str) -> dict[str, object] | None:
    """What a part that races has left, as a row."""
    for finding in findings:
        seen = finding.evidence
        if "interval" in seen and "eager_seconds" in seen:
            against = {k: seen[k] for k in ("ratio", "interval", "outcome")}
            against["seconds"] = seen["eager_seconds"]
            found = {k: seen[k] for k in MEASURED if k in seen}
            return {
                "kind": "measured",
                **found,
                "baselines": {EAGER: against},
                "copy": None,
                "device": device,
            }
    return None


def _short(speed: Speed) -> dict[str, object] | None:
    """Of a verdict's speed what a table needs; None without one."""
    found = speeds.as_json(speed)
    if isinstance(speed, Predicted):
        return {k: found[k] for k in PREDICTED if k in found} | {"device": speed.device}
    if not isinstance(speed, Measured):
        return None
    baselines = {name: speeds.as_json(one) for name, one in speed.baselines.items()}
    copy = baselines.pop("copy", {}).get("seconds")
    short = {k: found[k] for k in MEASURED if k in found}
    return short | {"baselines": baselines, "copy": copy, "device": speed.device}


def bars(entry: BenchRow) -> list[Bar]:
    """What is drawn of a row."""
    if entry["kind"] == "predicted":
        return [Bar(EAGER, entry["whole_ratio"])]
    if entry["kind"] == "none":
        return []
    return [
        Bar(name, found["ratio"], found["interval"][0], found["interval"][1], found["outcome"])
        for name, found in entry["baselines"].items()
    ]
