"""``check --on``: the verdict is the one that this machine gives, and points that waited are filled in."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from grader.backends.detect import Choice
from grader.cli import check_verb
from grader.cli.check_verb import Shown, Subject
from grader.domain import lessons, submission
from grader.domain.errors import BadInputError
from grader.domain.options import GradingOptions
from grader.domain.verdict import Finding, Status, Verdict
from grader.referee.job import lesson_job
from grader.referee.pairs import pair_job
from grader.student import progress
from grader.student.elsewhere import remote_answers, remote_check, waiting_verdict
from tests.student.elsewhere.conftest import answer

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.referee.job import Job
    from tests.student.elsewhere.conftest import Machine

LESSON = "03_square_kernel"
PAIR = """
import torch

class {name}(torch.nn.Module):
    def forward(self, x):
        return x * 2

def get_inputs():
    return [torch.randn(8, 8)]

def get_init_inputs():
    return []
"""
ON = check_verb.elsewhere("ssh:gpu-box", fresh=False)


def judged(*words: str, path: Path, on: str = "") -> dict[str, Any]:
    """The verdict of ``course check`` without what differs from one grading to the next."""
    file = path / "verdict.json"
    shown = Shown(reports=(("json", str(file)),))
    where = check_verb.elsewhere(on, fresh=False)
    options = GradingOptions(backend="simt", with_prediction=True)
    check_verb.check(Subject(words[0], Path(words[1])), options, shown, where)
    found: dict[str, Any] = json.loads(file.read_text())
    for finding in found["findings"]:
        if finding["status"] != "passed":  # what is wrong where depends on the inputs, which are drawn anew
            del finding["message"], finding["evidence"]
    return {key: value for key, value in found.items() if key not in ("seconds", "stages")}


@pytest.mark.thorough
@pytest.mark.timeout(900)
@pytest.mark.slow
@pytest.mark.parametrize("name", ["solution", "exercise"])
def test_the_verdict_is_that_of_this_machine(
    name: str, machine: Machine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    machine.has_this_course()
    file = tmp_path / f"{name}.py"
    file.write_text(getattr(lessons.find("03"), name).read_text())
    here = judged("03", str(file), path=tmp_path)
    shown_here = capsys.readouterr().out.splitlines()
    there = judged("03", str(file), path=tmp_path, on="ssh:gpu-box")
    shown_there = capsys.readouterr().out.splitlines()
    assert there == here
    assert (here["status"] == "passed") is (name == "solution")
    assert shown_there[1] == "back end simt: CUDA on the CPU (judged on gpu-box)"
    ends = len(shown_here) - 2  # the last lines say how many seconds it took
    assert shown_there[2:ends] == shown_here[2:ends]


@pytest.mark.thorough
@pytest.mark.timeout(900)
def test_with_nothing_but_what_was_sent(
    by_program: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "bin" / "ssh"  # not even what is compiled is there already
    script.write_text(script.read_text().replace("COURSE_CACHE=", "UNUSED="))
    file = tmp_path / "mine.py"
    file.write_text(lessons.find("03").solution.read_text())
    monkeypatch.delenv("COURSE_CACHE", raising=False)
    assert judged("03", str(file), path=tmp_path, on="ssh:gpu-box")["status"] == "passed"


@pytest.mark.slow
def test_a_pair_is_judged_there(
    by_program: Machine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    by_program.has_this_course()
    reference, mine = tmp_path / "ref.py", tmp_path / "mine.py"
    reference.write_text(PAIR.format(name="Model"))
    mine.write_text(PAIR.format(name="ModelNew").replace("* 2", "* 3"))
    subject = Subject(str(mine), reference=reference)
    assert check_verb.check(subject, GradingOptions(backend="simt"), Shown(), ON) == 1
    assert "wrong_output" in capsys.readouterr().out


def test_a_task_with_its_files_is_sent_as_one_folder(tmp_path: Path) -> None:
    home = tmp_path / "double"
    home.mkdir()
    (tmp_path / "utils.py").write_text("x = 1\n")
    (home / "reference.py").write_text("def generate_input(n): ...\ndef ref_kernel(data): ...\n")
    (home / "task.yml").write_text("files: [{name: utils.py, source: ../utils.py}]\ntests: [{n: 3}]\n")
    (home / "mine.py").write_text('SOURCE = open("own.cuh").read()\n')
    (home / "own.cuh").write_text("// own, and deep.h\n")
    (home / "include").mkdir()
    (home / "include" / "deep.h").touch()
    job = pair_job.job(home / "task.yml", home / "mine.py", Choice("cuda", ""), GradingOptions(mode="eval"))
    work = remote_check.work(job, home / "task.yml")
    assert set(work.files) >= {
        "submission/mine.py", "submission/own.cuh", "submission/include/deep.h",
        "problem/reference.py", "problem/utils.py",
        "problem/task.yml",
    }  # fmt: skip
    assert json.loads(work.files["problem/task.yml"]) == {"tests": [{"n": 3}]}
    assert work.words[:3] == ("check", "submission/mine.py", "--reference=problem/task.yml")
    assert "--mode=eval" in work.words


def test_options_are_passed_on(tmp_path: Path) -> None:
    hidden = tmp_path / "secret-name.py"
    hidden.write_text("from grader.domain.task import Case\nHIDDEN = (Case('h', (), hidden='size'),)\n")
    options = GradingOptions(
        backend="cuda", hidden=hidden, student="-x", with_speed=True, baselines=("max-autotune",), card="t4"
    )
    lesson = lessons.find("03")
    work = remote_check.work(
        lesson_job(lesson, submission.read(lesson.solution), Choice("cuda", ""), options), None
    )
    assert {
        "--backend=cuda", "--hidden=hidden.py", "--student=-x", "--time", "--baseline=max-autotune",
        "--card=t4",
    } <= set(work.words)  # fmt: skip
    assert work.files["hidden.py"] == hidden.read_bytes() and work.backend == "cuda"


def verdict(backend: str, **statuses: Status) -> Verdict:
    """Of lesson 03, two points a check."""
    findings = tuple(
        Finding(name, status, f"by {backend}", 2 if status is Status.PASSED else 0, 2)
        for name, status in statuses.items()
    )
    return Verdict(LESSON, "submission/mine.py", backend, f"a {backend} device", findings, 1.0)


@pytest.fixture
def own_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Job:
    """The student's own file of lesson 03, in a folder and with a cache of its own."""
    monkeypatch.setenv("COURSE_WORK", str(tmp_path / "work"))
    monkeypatch.setenv("COURSE_CACHE", str(tmp_path / "cache"))
    lesson = lessons.find("03")
    file = tmp_path / "work" / f"{lesson.name}.py"
    file.parent.mkdir()
    file.write_text(lesson.solution.read_text())
    return lesson_job(lesson, submission.read(file), Choice("simt", ""), GradingOptions())


def put(answers: Callable[[bytes], None], found: Verdict) -> None:
    """Let this be the verdict that comes back."""
    answers(answer({remote_check.VERDICT: json.dumps(found.as_json()).encode()}, 1))


def graded(*, file: Path | None = None) -> int:
    """``course check 03 --on ssh:gpu-box``."""
    return check_verb.check(Subject("03", file), GradingOptions(search=False), Shown(every=True), ON)


def test_points_that_waited_here_are_filled_in(
    own_job: Job, answers: Callable[[bytes], None], capsys: pytest.CaptureFixture[str]
) -> None:
    waiting_verdict.keep(
        own_job, verdict("simt", one=Status.PASSED, races=Status.PASSED, speed=Status.PENDING_GPU)
    )
    put(answers, verdict("cuda", one=Status.PASSED, races=Status.PENDING_CPU, speed=Status.PASSED))
    assert graded() == 0
    shown = capsys.readouterr()
    assert "Points that waited here and that gpu-box has judged: 2 of 2." in shown.err
    assert "6/6 points" in shown.out and "back end cuda: a cuda device (judged on gpu-box)" in shown.out
    line = progress.read().line(LESSON)
    assert (line.points, line.most, line.passed) == (6, 6, True)


def test_where_both_disagree_the_verdict_is_the_other_machines_alone(
    own_job: Job, answers: Callable[[bytes], None], capsys: pytest.CaptureFixture[str]
) -> None:
    waiting_verdict.keep(own_job, verdict("simt", one=Status.PASSED, speed=Status.PENDING_GPU))
    put(answers, verdict("cuda", one=Status.WRONG_OUTPUT, speed=Status.PASSED))
    assert graded() == 1
    shown = capsys.readouterr()
    assert "gpu-box judges otherwise than this machine: one." in shown.err and "2/4 points" in shown.out


def test_a_verdict_of_another_text_fills_in_nothing(own_job: Job, answers: Callable[[bytes], None]) -> None:
    waiting_verdict.keep(own_job, verdict("simt", races=Status.PASSED, speed=Status.PENDING_GPU))
    own_job.submission.path.write_text(own_job.submission.source + "# changed\n")
    put(answers, verdict("cuda", races=Status.PENDING_CPU, speed=Status.PASSED))
    graded()
    assert progress.read().line(LESSON).points == 2


def test_a_verdict_is_kept_only_while_points_wait_and_a_damaged_one_is_none(
    own_job: Job, tmp_path: Path
) -> None:
    waiting_verdict.keep(own_job, verdict("simt", one=Status.PASSED))
    assert waiting_verdict.find(own_job) is None
    kept = verdict("simt", one=Status.PENDING_GPU)
    waiting_verdict.keep(own_job, kept)
    assert waiting_verdict.find(own_job) == kept
    other = replace(own_job, options=GradingOptions(student="anna"))
    assert waiting_verdict.find(other) is None
    for file in (tmp_path / "cache" / "waiting").iterdir():
        file.write_text("{")
    assert waiting_verdict.find(own_job) is None


def test_a_local_grading_keeps_what_waits(own_job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    from grader.referee.job import Outcome

    found = verdict("simt", one=Status.PENDING_GPU)
    monkeypatch.setattr(check_verb, "grade", lambda _: Outcome(found, [], []))
    check_verb.check(Subject("03"), GradingOptions(backend="simt"), Shown())
    assert waiting_verdict.find(own_job) == found


@pytest.mark.parametrize("change, said", [
    ({"lesson": "07_fused_bias_relu"}, "is about another lesson"),
    ({"schema": "inline-to-fused/verdict/v9"}, "a verdict is inline-to-fused/verdict/v1"),
    ({"findings": []}, "points lie between"),
    ({"findings": [{"id": "a", "status": "passed", "points": 9, "max_points": 2}]}, "points lie between"),
    ({"findings": [{"id": "a", "status": "passed", "points": -1, "max_points": 2}]}, "points lie between"),
    ({"findings": [{"id": "a", "status": "passed", "points": 900, "max_points": 900}]}, "another lesson"),
    ({"findings": [{"id": "a", "status": "passed"}] * 2}, "each check is there once"),
    ({"findings": [{"id": "a", "status": "excellent"}]}, "no result"),
    ({"findings": [{"id": "a", "status": "passed", "points": "2", "max_points": 2}]}, "no result"),
    ({"backend": "magic"}, "a back end that there is"),
    ({"speed": {"kind": "measured"}}, "no result"),
])  # fmt: skip
def test_a_verdict_that_cannot_be_is_none(
    change: dict[str, Any], said: str, own_job: Job, answers: Callable[[bytes], None]
) -> None:
    found = {**verdict("cuda", one=Status.PASSED).as_json(), **change}
    answers(answer({remote_check.VERDICT: json.dumps(found).encode()}))
    with pytest.raises(BadInputError, match=said):
        graded()
    assert progress.read().line(LESSON).tries == 0


def test_texts_of_a_verdict_cannot_use_the_terminal() -> None:
    found = verdict("cuda", one=Status.FAILED)
    bad = replace(
        found.findings[0], message="a\x1b[2J\nb\u202e", evidence={"k\x07": ["\x00x", {"y": "\x9b"}]}
    )
    data = json.dumps(replace(found, findings=(bad,), output="\x1b]0;t\x07").as_json()).encode()
    read = remote_answers.verdict(data)
    assert read.findings[0].message == "a[2J\nb<U+202E>"
    assert read.findings[0].evidence == {"k": ["x", {"y": ""}]}
    assert read.output == "]0;t"


def test_what_could_not_be_graded_there_is_its_sentence(
    own_job: Job, answers: Callable[[bytes], None]
) -> None:
    from tests.student.elsewhere.conftest import STARTED, frame

    answers(STARTED + frame(b"L", b"course: The disk is full.\n") + frame(b"E", b'{"code": 2}'))
    with pytest.raises(BadInputError, match=r"^On gpu-box: The disk is full\.$"):
        graded()


def test_what_only_this_machine_can_show_is_refused(own_job: Job) -> None:
    for shown in (Shown(nvcc=True), Shown(profile=True)):
        with pytest.raises(BadInputError, match="With --on leave --profile and --also-nvcc out"):
            check_verb.check(Subject("03"), GradingOptions(), shown, ON)
