"""One version against its reference, within a limit of time."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from grader.backends import detect
from grader.domain.options import GradingOptions
from grader.referee import pipeline
from grader.referee.pairs import pair_job

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from benchmarks.kernelbench_parts.versions import Version
    from grader.domain.verdict import Verdict

TOO_LONG = "over the limit"


@dataclass(slots=True)
class Reins:
    """Ends a grading that takes too long."""

    kill: Callable[[], None] | None = None
    pulled: bool = False

    def hold(self, kill: Callable[[], None]) -> None:
        """What ends it."""
        self.kill = kill

    def pull(self) -> None:
        """It has taken too long."""
        self.pulled = True
        if self.kill:
            self.kill()


def grade(reference: Path, file: Path, backend: str, limit_s: float) -> dict[str, Any]:
    """Status, seconds, stages, and what was said."""
    reins = Reins()
    timer = threading.Timer(limit_s, reins.pull)
    job = pair_job.job(reference, file, detect.choose(backend), GradingOptions(backend=backend))
    job = pipeline.warm(job)  # the first one waits here for what all share
    job.reins = reins.hold
    begun = time.monotonic()
    timer.start()
    try:
        found = _told(pipeline.check(job).verdict)
    except Exception as error:
        found = {"status": f"{type(error).__name__}: {error}"[:300], "said": [], "notes": []}
    finally:
        timer.cancel()
    if reins.pulled:
        found["status"] = TOO_LONG
    return found | {"seconds": round(time.monotonic() - begun, 2)}


def judged(version: Version, found: dict[str, Any]) -> dict[str, Any]:
    """With what was expected, and whether it came so."""
    return {
        "version": version.name, "kind": version.kind, "expected": list(version.expected),
        "why": version.why, "right": found["status"] in version.expected, **found,
    }  # fmt: skip


def _told(verdict: Verdict) -> dict[str, Any]:
    return {
        "status": str(verdict.status),
        "device": verdict.device,
        "stages": {name: round(seconds, 2) for name, seconds in verdict.stages.items()},
        "said": [f"{f.id}: {f.status}: {f.message[:400]}" for f in verdict.findings if not f.ok],
        "notes": [n for f in verdict.findings for n in f.evidence.get("notes", ())],
    }
