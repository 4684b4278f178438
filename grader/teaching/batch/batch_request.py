"""What the teacher asked for, and what stands for whatever was left out."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from grader.backends import detect
from grader.domain import lessons
from grader.domain.errors import BadInputError
from grader.teaching.batch.late_policy import Policy

if TYPE_CHECKING:
    from pathlib import Path

    from grader.domain.options import GradingOptions


@dataclass(frozen=True, slots=True)
class Request:
    """A class to be graded; see ``./course batch --help`` for each.

    ``as_before``: nothing was said of dates and of being late, so what the results have holds.
    """

    submissions: Path
    out: Path
    lessons: tuple[str, ...]
    options: GradingOptions
    roster: Path | None = None
    layout: str = "auto"
    scheduler: str = ""
    workers: int = 0
    policy: Policy = field(default_factory=Policy)
    regrade: tuple[str, ...] = ()
    only_pending: bool = False
    by_student: bool = False
    formats: tuple[str, ...] = ()
    quiet: bool = False
    times: str = ""
    as_before: bool = False

    @property
    def backend(self) -> str:
        """The back end; "cuda" or "simt" once the request is settled."""
        return self.options.backend


def settled(request: Request) -> Request:
    """The request with this machine's back end for "auto", every lesson for "all", and the hidden cases of
    ``tasks_private/`` where none are named."""
    if request.scheduler and request.backend == "auto":
        raise BadInputError("With --scheduler say which back end its workers have: --backend cuda or simt.")
    backend = request.backend if request.scheduler else detect.choose(request.backend).name
    private = lessons.private_folder()
    hidden = request.options.hidden or (private if private.is_dir() else None)
    return replace(
        request,
        lessons=tuple(lessons.names()) if "all" in request.lessons else request.lessons,
        options=replace(request.options, backend=backend, hidden=hidden),
    )
