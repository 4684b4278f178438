"""Grade plain-torch text against a small task, without kernels: what the referee does is the same."""

from dataclasses import replace
from pathlib import Path

from grader.backends.detect import Choice
from grader.domain.submission import read
from grader.domain.task import Case, Task, Tensor
from grader.domain.verdict import Verdict
from grader.referee.job import Job
from grader.referee.pipeline import check, warm, warm_reference
from grader.referee.process import pool_client
from grader.referee.process.player_process import Limits
from grader.referee.process.pool_client import Pools

REFERENCE = "def double(x):\n    return 2 * x\n"
HEADER = "import os, sys, time, torch\n"
LIMITS = Limits(start=60, load=3, build=60, call=3)

CASES = (
    Case("plain", (Tensor((4, 6), device="cpu"),), "An ordinary matrix.", 3),
    Case("prime", (Tensor((7, 13), device="cpu"),), "Prime sizes.", 2),
)


def grade(
    folder: Path,
    text: str,
    cases: tuple[Case, ...] = CASES,
    reference: str = REFERENCE,
    pools: Pools | None = None,
    *,
    forked: bool = False,
) -> Verdict:
    """``forked``: the player comes sooner and has no namespaces, for texts that do nothing to the machine."""
    (folder / "reference.py").write_text(HEADER + reference)
    (folder / "mine.py").write_text(HEADER + text)
    task = Task(title="double", entry="double", cases=cases)
    job = Job("test", task, folder / "reference.py", read(folder / "mine.py"), Choice("cpu", "test"), LIMITS)
    job = warm(job) if forked else warm_reference(job)
    return check(replace(job, pools=pools)).verdict


def waiting_pools() -> Pools:
    """Pools whose players a test waits for: it gets no others."""
    return replace(pool_client.own(), patience_s=60.0)
