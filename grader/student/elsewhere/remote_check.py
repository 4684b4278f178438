"""``check --on``: what is sent for a grading, and the outcome made of what comes back."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from grader.domain.errors import BadInputError
from grader.referee import pipeline
from grader.referee.job import named_below
from grader.referee.pairs import task_yml
from grader.student.elsewhere import remote_answers, remote_job
from grader.student.elsewhere.remote_job import Work

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from grader.domain.options import GradingOptions
    from grader.referee.job import Job, Outcome
    from grader.student.elsewhere.ssh_address import Address

VERDICT = "at/verdict.json"
MOST_BYTES = 16 << 20
OWN = "course: "  # how the grader begins what ends it; here that is said once, by this one


def work(job: Job, given: Path | None) -> Work:
    """The same grading as a command line, and the files that it reads; ``given``: the reference of a pair."""
    file = f"submission/{job.submission.path.name}"
    files = {file: job.submission.source.encode()}
    beside = named_below((job.submission.given or job.submission.path).parent, job.beside)
    files |= {f"submission/{name}": p.read_bytes() for name, p in beside.items()}
    words = ["check", job.lesson, file] if given is None else ["check", file]
    if given is not None:
        named, held = reference(job, given)
        files |= held
        words.append(f"--reference={named}")
    words += ["--json=verdict.json", *_words(job.options, pair=given is not None)]
    if job.options.hidden:
        files["hidden.py"] = job.options.hidden.read_bytes()
        words.append("--hidden=hidden.py")
    return Work(words=tuple(words), files=files, wanted={VERDICT: MOST_BYTES}, backend=job.options.backend)


def outcome(
    job: Job, given: Path | None, address: Address, say: Callable[[str], None], *, fresh: bool
) -> Outcome:
    """The outcome of a grading there; BadInputError if there was none, or no answer that is one."""
    done = remote_job.do(
        address, work(job, given), lambda text: None if text.startswith(OWN) else say(text), fresh=fresh
    )
    if VERDICT not in done.files:
        raise BadInputError(f"On {address}: {done.sentence()}")
    verdict = remote_answers.verdict(done.files[VERDICT])
    if given is None and (verdict.lesson != job.lesson or verdict.max_points > job.task.max_points):
        raise BadInputError("What came back is about another lesson, so nothing of it is used.")
    verdict = replace(verdict, lesson=job.lesson, submission=job.submission.name)
    return pipeline.judged_elsewhere(job, verdict)


def _words(options: GradingOptions, *, pair: bool) -> list[str]:
    words = [
        f"--backend={options.backend}", f"--sandbox={options.sandbox}", f"--build={options.build}",
        f"--schedules={options.schedules}", f"--card={options.card}", f"--student={options.student}",
        "--search" if options.search else "--no-search", *(f"--baseline={b}" for b in options.baselines),
    ]  # fmt: skip
    words += ["--time"] if options.with_speed else []
    if pair:
        words += [f"--inputs={options.inputs}", f"--mode={options.mode}", f"--streams={options.streams}"]
        words += [f"--own={options.own}"] if options.own else []
    return words


def reference(job: Job, given: Path) -> tuple[str, dict[str, bytes]]:
    """What is held against, by its path there: a file and what it reads, or a task.yml with its files."""
    if task_yml.is_one(given):
        problem = task_yml.read(given)
        found = {f"problem/{p.name}": p.read_bytes() for p in sorted(problem.beside[0].glob("*.py"))}
        found["problem/task.yml"] = json.dumps({"tests": problem.tests}, default=str).encode()  # YAML, too
        return "problem/task.yml", found
    beside = named_below(job.reference.parent, job.reference_beside)
    found = {f"reference/{name}": p.read_bytes() for name, p in beside.items()}
    named = f"reference/{job.reference.name}"
    return named, found | {named: job.reference.read_bytes()}
