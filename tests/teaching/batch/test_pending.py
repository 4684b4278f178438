"""Points that wait for a GPU are filled in by a run on one, and nothing else is changed."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from grader.backends import cpu_python
from grader.domain.errors import BadInputError
from grader.domain.lessons import course_root, find
from grader.domain.options import GradingOptions
from grader.domain.verdict import PENDING, Finding, Status, Verdict
from grader.reports.row import Row, summary
from grader.teaching.batch import (
    batch_plan,
    batch_run,
    batch_work,
    class_rows,
    grading_key,
    machines,
    pending,
)
from grader.teaching.batch.batch_plan import Settings
from grader.teaching.batch.batch_request import Request
from grader.teaching.batch.batch_run import left_to_grade
from grader.teaching.batch.batch_work import Order
from grader.teaching.batch.journal import Line
from grader.teaching.batch.late_policy import Policy
from grader.teaching.batch.results_folder import ResultsFolder
from grader.teaching.batch.student_files import StudentFile

if TYPE_CHECKING:
    from pathlib import Path

LESSON = find("07")
SIMT = GradingOptions(backend="simt", with_speed=True)
CUDA = GradingOptions(backend="cuda", with_speed=True)


def verdict(backend: str, *findings: tuple[str, Status, int, int]) -> Verdict:
    made = tuple(Finding(name, status, "m", points, most) for name, status, points, most in findings)
    return Verdict(LESSON.name, "x.py", backend, f"a {backend}", made, 2.0, {"cases": 1.0})


CPU = verdict("simt", ("load", Status.PASSED, 0, 0), ("a", Status.PASSED, 5, 5),
              ("b", Status.WRONG_OUTPUT, 0, 5), ("ratio", Status.PENDING_GPU, 0, 4))  # fmt: skip


def test_only_open_points_are_filled_in() -> None:
    gpu = verdict("cuda", ("load", Status.PASSED, 0, 0), ("a", Status.RACE, 0, 5), ("b", Status.PASSED, 5, 5),
                  ("ratio", Status.PASSED, 3, 4))  # fmt: skip
    made = pending.fill(CPU, gpu)
    assert [(f.id, f.points) for f in made.findings] == [("load", 0), ("a", 5), ("b", 0), ("ratio", 3)]
    assert (made.backend, made.points, made.max_points) == ("cuda", 8, CPU.max_points)
    assert pending.disagreements(made) == ["a", "b"] and summary(made).open == 0
    assert pending.fill(made, gpu).points == made.points  # once more changes nothing


STATUSES = st.sampled_from(sorted(set(Status) - {Status.FAILED}))


@given(st.lists(st.tuples(STATUSES, STATUSES), min_size=1, max_size=6))
def test_whatever_is_filled_in_no_points_are_lost_and_nothing_else_opens(
    pairs: list[tuple[Status, Status]],
) -> None:
    def run(backend: str, statuses: list[Status]) -> Verdict:
        return verdict(backend, *((f"c{k}", s, 3 * (s is Status.PASSED), 3) for k, s in enumerate(statuses)))

    old = run("simt", [a for a, _ in pairs])
    made = pending.fill(old, run("cuda", [b for _, b in pairs]))
    assert made.points >= old.points and made.waiting <= old.waiting
    for before, (first, second), after in zip(old.findings, pairs, made.findings, strict=True):
        assert after.status is (second if first in PENDING else first)
        judged = first not in PENDING and second not in PENDING
        disagrees = judged and (first is Status.PASSED) != (second is Status.PASSED)
        assert (after.id in pending.disagreements(made)) == disagrees
        assert after.max_points == before.max_points


def test_which_orders_are_left(tmp_path: Path) -> None:
    paths = []
    for name in ("ann", "ben", "cleo"):
        path = tmp_path / f"{name}.py"
        path.write_text(f"# {name}\n")
        paths.append(StudentFile(name, LESSON.name, path))
    made = batch_plan.make(paths, [LESSON], Settings(CUDA, "a GPU"), Policy())
    ann, ben, _ = made.entries
    short = msgspec.structs.asdict(summary(CPU))
    failed = short | {"backend": "cuda", "open": 0, "status": Status.NOT_GRADABLE}
    lines = {
        ann.subject: Line(key="cpu-ann", subject=ann.subject, **short),
        ben.subject: Line(key=ben.key, subject=ben.subject, **failed),
    }
    request = Request(tmp_path, tmp_path, ("07",), CUDA)

    def left(**words: object) -> set[str]:
        open_ = left_to_grade(made, lines, replace(request, **words))
        return {made.orders[k].source[2:6].strip() for k in open_}  # type: ignore[arg-type]

    assert left() == {"ann", "cleo"}  # a CPU's line is not enough for a full run on a GPU
    assert left(only_pending=True) == {"ann"}
    assert left(options=SIMT) == {"cleo"}
    assert left(options=SIMT, regrade=("not_gradable",)) == {"ben", "cleo"}
    assert left(regrade=("all",)) == {"ann", "ben", "cleo"} == left(regrade=("ben",)) | {"ben"}


def _order(arch: str = "") -> Order:
    lesson = find("03")
    version = grading_key.task_version(lesson.folder)
    return Order(
        "k", lesson.name, version, lesson.solution.read_text() + "\n# built ahead\n", CUDA, arch=arch
    )


def test_a_worker_with_another_version_of_the_lesson_refuses() -> None:
    with pytest.raises(BadInputError, match="another version"):
        batch_work.prepare(replace(_order(), version="old"))


@pytest.mark.gpu
def test_a_build_ahead_leaves_nothing_for_the_grading_to_compile() -> None:
    order = _order(machines.gpu_facts().partition("|")[2])
    assert batch_work.build(order.text()) == "built"
    verdict = batch_work.read_answer(batch_work.grade(order.text())).verdict
    assert verdict is not None and verdict.ok and verdict.stages["build"] < 3.0


def _graded_without_a_gpu(request: Request) -> tuple[Row, ...]:
    """By this Python if its PyTorch is the CPU build, else by the one that stands beside it."""
    if torch.version.cuda is None:
        return batch_run.run(request).rows
    python = cpu_python.python()
    have = [python, "-c", "import torch, distributed, jinja2, yaml"]
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    if python is None or subprocess.run(have, env=environment, capture_output=True, check=False).returncode:
        pytest.skip(
            "needs a second Python with PyTorch's CPU build and the extra `batch` (COURSE_CPU_PYTHON)"
        )
    words = [python, "-m", "grader", "batch", request.submissions, "--lesson", request.lessons[0]]
    words += ["--out", request.out, "--backend", "simt", "--quiet"]
    subprocess.run(words, cwd=course_root(), env=environment, check=False)
    return class_rows.collect(ResultsFolder(request.out)).rows


@pytest.mark.gpu
def test_a_class_on_a_gpu_fills_in_what_a_laptop_left_open(tmp_path: Path) -> None:
    lesson = find("13")
    (tmp_path / "class").mkdir()
    (tmp_path / "class" / "ann.py").write_bytes(lesson.solution.read_bytes())
    laptop = Request(tmp_path / "class", tmp_path / "results", ("13",), SIMT, quiet=True)
    (before,) = _graded_without_a_gpu(laptop)
    (after,) = batch_run.run(replace(laptop, options=CUDA, only_pending=True)).rows
    assert before.open > 0 == after.open and after.points >= before.points
    again = batch_run.run(replace(laptop, options=CUDA, only_pending=True))
    assert again.rows == (after,)
