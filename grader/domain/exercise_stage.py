"""Stages of an exercise: one file grows through them, and each has checks of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Sequence

LONGEST = 45  # minutes
WIDEST = 24  # characters of a title, so that a table of checks fits into 80 columns


class StageJson(TypedDict):
    """A stage as in the published schema of a verdict."""

    title: str
    minutes: int
    checks: list[str]
    done: bool


@dataclass(frozen=True, slots=True)
class Stage:
    """A step of an exercise: its title, the minutes that it takes, and the names of its checks."""

    title: str
    minutes: int
    checks: tuple[str, ...]

    def done(self, left: Container[str]) -> bool:
        """Whether none of its checks is among those that are ``left``."""
        return not any(name in left for name in self.checks)

    def as_json(self, left: Container[str]) -> StageJson:
        """The stage as in the published schema."""
        return {
            "title": self.title,
            "minutes": self.minutes,
            "checks": list(self.checks),
            "done": self.done(left),
        }


def first_open(stages: Sequence[Stage], left: Container[str]) -> int | None:
    """Where in ``stages`` the first one is that is not done; None when all are."""
    return next((k for k, stage in enumerate(stages) if not stage.done(left)), None)


def problems(stages: Sequence[Stage], checks: Sequence[str], minutes: int) -> Iterator[str]:
    """What is wrong with the stages of a task that has these ``checks`` and takes ``minutes``."""
    if not stages:
        return
    for stage in stages:
        if not 0 < stage.minutes <= LONGEST:
            yield f"the stage {stage.title!r} takes {stage.minutes} minutes, not 1 to {LONGEST}."
        if not 0 < len(stage.title) <= WIDEST:
            yield f"a stage has the title {stage.title!r}: {len(stage.title)} characters, not 1 to {WIDEST}."
        if not stage.checks:
            yield f"the stage {stage.title!r} has no checks."
    named = [name for stage in stages for name in stage.checks]
    for name in dict.fromkeys(named):
        if name not in checks:
            yield f"a stage names the check {name!r}; the task has {', '.join(checks)}."
        elif named.count(name) > 1:
            yield f"the check {name!r} belongs to {named.count(name)} stages, not to one."
    if lacking := [name for name in checks if name not in named]:
        yield f"no stage has the checks {', '.join(lacking)}."
    if (total := sum(stage.minutes for stage in stages)) != minutes:
        yield f"the stages take {total} minutes together, the task says {minutes}."
