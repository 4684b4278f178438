"""The last verdict of a lesson with points that wait for another machine, until that machine has judged."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

from grader.domain import disk
from grader.domain.cache import cache_folder
from grader.domain.errors import BadInputError
from grader.student.elsewhere import remote_answers

if TYPE_CHECKING:
    from pathlib import Path

    from grader.domain.verdict import Verdict
    from grader.referee.job import Job


def keep(job: Job, verdict: Verdict) -> None:
    """Keep it if points wait, one a lesson."""
    if verdict.waiting:
        text = json.dumps({"of": _key(job), "verdict": verdict.as_json()}, allow_nan=False)
        disk.write(_place(job), text)


def find(job: Job) -> Verdict | None:
    """That of this same file, if it is the last one; a file of the cache that is damaged is none."""
    try:
        found = remote_answers.plain(_place(job).read_bytes())
        if isinstance(found, dict) and found.get("of") == _key(job):
            return remote_answers.verdict(found.get("verdict"))
    except (OSError, BadInputError):
        return None
    return None


def _place(job: Job) -> Path:
    return cache_folder() / "waiting" / f"{job.lesson}.json"


def _key(job: Job) -> str:
    hidden = job.options.hidden.read_bytes() if job.options.hidden else b""
    parts = (job.submission.digest.encode(), job.options.student.encode(), hidden)
    return hashlib.sha256(b"\0".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()
