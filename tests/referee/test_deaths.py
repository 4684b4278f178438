"""Every way in which a submission can fail has a status and a sentence of its own, and takes nothing down."""

import os
from pathlib import Path

import pytest

from grader.backends.detect import Choice
from grader.domain import lessons
from grader.domain.options import GradingOptions
from grader.domain.submission import read
from grader.domain.task import Case, Tensor
from grader.domain.verdict import Finding, Status
from grader.referee import ownership, pipeline, session
from grader.referee.job import lesson_job
from grader.referee.process.player_process import Player
from tests.referee.plain import CASES, grade

BODY = "def double(x):\n    "

AT_IMPORT = {
    "raises": ("1 / 0", Status.IMPORT_ERROR, "ZeroDivisionError"),
    "syntax": ("def double(x:\n    pass", Status.IMPORT_ERROR, "line 2"),
    "exits": ("sys.exit(0)", Status.EXITED_EARLY, "exit(0)"),
    "exits hard": ("os._exit(0)", Status.EXITED_EARLY, "exit code 0"),
    "hangs": ("while True:\n    pass", Status.TIMEOUT, "mine.py, line"),
    "segfaults": ("import ctypes; ctypes.string_at(0)", Status.CRASHED, "SIGSEGV"),
    "aborts": ("os.abort()", Status.CRASHED, "SIGABRT"),
    "no entry": ("def triple(x):\n    return 3 * x", Status.MISSING_ENTRY, "double"),
    "recursion": ("def f():\n    f()\nf()", Status.IMPORT_ERROR, "RecursionError"),
    "closes every file": ("os.closerange(3, 4096)\ntime.sleep(60)", Status.TAMPERED, "closed its connection"),
    "stops for a debugger": ("breakpoint()", Status.IMPORT_ERROR, "step with ./course run FILE"),
    "missing module": ("import no_such_module_here", Status.IMPORT_ERROR, "no_such_module_here"),
}

AT_CALL = {
    "raises": (BODY + "raise ValueError('not today')", Status.RAISED, "not today"),
    "stops for a debugger": (
        BODY + "breakpoint(); return 2 * x",
        Status.RAISED,
        "./course run FILE",
    ),
    "not a tensor": (BODY + "return x.tolist()", Status.NOT_A_TENSOR, "list"),
    "none": (BODY + "pass", Status.NOT_A_TENSOR, "None"),
    "shape": (BODY + "return (2 * x)[:-1]", Status.WRONG_SHAPE, "expected [4, 6]"),
    "dtype": (BODY + "return (2 * x).double()", Status.WRONG_DTYPE, "float64"),
    "nan": (BODY + "y = 2 * x; y[3, 5] = float('nan'); return y", Status.NOT_FINITE, "[3, 5]"),
    "zeros": (BODY + "return torch.zeros_like(x)", Status.WRONG_OUTPUT, "all zeros"),
    "copy": (BODY + "return x.clone()", Status.WRONG_OUTPUT, "copy of input 0"),
    "half": (BODY + "return (2 * x.half()).float()", Status.PRECISION, "half precision"),
    "mutates": (BODY + "x.mul_(2); return x.clone()", Status.MUTATED_INPUT, "input 0"),
    "hangs": (BODY + "time.sleep(60)", Status.TIMEOUT, "mine.py, line 3"),
    "exits": (BODY + "os._exit(3)", Status.EXITED_EARLY, "exit code 3"),
    "memory": (BODY + "return torch.empty(1 << 50)", Status.OUT_OF_MEMORY, "memory"),
    "last columns": (BODY + "y = 2 * x; y[:, -2:] = 7; return y", Status.WRONG_OUTPUT, "last 2 columns"),
}

# What is done to the process is done to one that `check` starts; for the rest a forked one is there sooner.
TO_THE_PROCESS = {"exits", "exits hard", "hangs", "segfaults", "aborts", "closes every file", "memory"}


def first_failure(findings: tuple[Finding, ...]) -> Finding:
    return next(f for f in findings if not f.ok)


@pytest.mark.thorough
@pytest.mark.slow
def test_a_kernels_mistake_is_said_before_the_exit_that_came_of_it(tmp_path: Path) -> None:
    """Code that checks for errors often ends the process; the mistake was seen by then."""
    lesson, file = lessons.find("03"), tmp_path / "mine.py"
    text = lesson.solution.read_text()
    guard, check = "row >= rows || col >= cols", "C10_CUDA_KERNEL_LAUNCH_CHECK();"
    assert guard in text and check in text
    ends = "if (cudaDeviceSynchronize() != cudaSuccess) exit(EXIT_FAILURE);"
    file.write_text(text.replace(guard, "row > rows || col > cols").replace(check, ends))
    job = lesson_job(lesson, read(file), Choice("simt", "test"), GradingOptions(search=False))
    verdict = pipeline.check(pipeline.warm(job)).verdict
    ended = next(f for f in verdict.findings if f.status is Status.EXITED_EARLY)
    assert "past the end" in ended.message
    assert "What came of it: The process ended by itself with exit code 1" in ended.message
    assert any(f.id == "memory" and f.status is Status.ILLEGAL_ACCESS for f in verdict.findings)


@pytest.mark.slow(cases=3)
@pytest.mark.parametrize("name", AT_IMPORT)
def test_a_death_at_import_is_told(name: str, tmp_path: Path) -> None:
    text, status, words = AT_IMPORT[name]
    verdict = grade(tmp_path, text, forked=name not in TO_THE_PROCESS)
    finding = first_failure(verdict.findings)
    assert (finding.status, verdict.points) == (status, 0), finding
    assert words in finding.message
    assert verdict.status is status


@pytest.mark.slow(cases=8)
@pytest.mark.parametrize("name", AT_CALL)
def test_a_failing_call_is_told(name: str, tmp_path: Path) -> None:
    text, status, words = AT_CALL[name]
    verdict = grade(tmp_path, text, forked=name not in TO_THE_PROCESS)
    finding = first_failure(verdict.findings)
    assert finding.status is status, finding
    assert words in finding.message
    assert verdict.points == 0


@pytest.mark.slow
def test_a_right_one_passes(tmp_path: Path) -> None:
    verdict = grade(tmp_path, "print('hello')\n" + BODY + "return x + x")
    assert verdict.ok, verdict.findings
    assert verdict.points == verdict.max_points == 5
    assert verdict.output == "hello\n"


@pytest.mark.slow
def test_a_death_in_one_case_leaves_the_others_their_points(tmp_path: Path) -> None:
    verdict = grade(tmp_path, BODY + "os._exit(1) if x.shape[0] == 4 else None; return 2 * x")
    assert [f.status for f in verdict.findings[1:]] == [Status.EXITED_EARLY, Status.PASSED]
    assert verdict.points == 2


@pytest.mark.slow
def test_an_input_that_must_be_refused(tmp_path: Path) -> None:
    cases = (*CASES, Case("vector", (Tensor((5,), device="cpu"),), "Matrices only.", 1, "raise"))
    careless = grade(tmp_path, BODY + "return 2 * x", cases, forked=True)
    assert careless.findings[-1].status is Status.NOT_REFUSED
    text = BODY + "assert x.dim() == 2, 'a matrix, please'; return 2 * x"
    careful = grade(tmp_path, text, cases, forked=True)
    assert careful.ok and "a matrix, please" in careful.findings[-1].message


@pytest.mark.slow
def test_output_is_cut_and_forges_nothing(tmp_path: Path) -> None:
    forged = 'print(\'{"answer": {"status": "passed"}}\' * 100000)\n'
    verdict = grade(tmp_path, forged + BODY + "return x", forked=True)
    assert verdict.status is Status.WRONG_OUTPUT
    assert len(verdict.output) <= 64 << 10


def test_what_it_prints_on_the_wire_is_tampering(tmp_path: Path) -> None:
    text = """
for fd in range(3, 4096):
    try:
        os.write(fd, b"\\xff" * 64)
    except OSError:
        pass
"""
    verdict = grade(tmp_path, text + BODY + "return 2 * x")
    assert verdict.findings[0].status is Status.TAMPERED, verdict.findings[0]


def test_a_reference_that_fails_is_not_the_students_fault(tmp_path: Path) -> None:
    verdict = grade(
        tmp_path, BODY + "return 2 * x", reference=BODY + "raise ValueError('our mistake')", forked=True
    )
    assert verdict.findings[-1].status is Status.NOT_GRADABLE
    assert "our mistake" in verdict.findings[-1].message


def test_nothing_is_left_running(tmp_path: Path) -> None:
    seconds = f"6{os.getpid()}.5"  # nobody else sleeps that long
    daemon = f"import subprocess\nsubprocess.Popen(['sleep', '{seconds}'])\n"
    assert grade(tmp_path, daemon + BODY + "return 2 * x").ok
    assert not [p for p in Path("/proc").glob("[0-9]*/cmdline") if seconds in _text(p)]


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""


@pytest.mark.thorough
@pytest.mark.slow
def test_why_the_rest_was_not_run_is_what_happened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its four new starts take longer than all calls may, and are no calls."""
    monkeypatch.setattr(session, "WHOLE_CALLS", 3)
    cases = tuple(Case(f"case {k}", (Tensor((4, 6)),), points=1) for k in range(6))
    found = grade(tmp_path, "time.sleep(2)\n" + BODY + "os.abort()", cases=cases).findings
    last = next(f for f in found if f.id == "case 5")
    assert (last.status, last.message) == (Status.NOT_RUN, "Not run: too many calls before it crashed.")


@pytest.mark.slow
def test_a_function_that_is_fatal_takes_nothing_from_one_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "MAX_RESTARTS", 1)
    args = (Tensor((4, 6), device="cpu"),)
    fatal = [Case(f"fatal {k}", args, points=1) for k in range(3)]
    beside = [Case(f"beside {k}", args, points=1, entry="triple") for k in range(2)]
    triple = "def triple(x):\n    return 3 * x\n"
    cases = (*fatal, *beside, Case("fatal after", args, points=1))
    reference = triple + BODY + "return 2 * x"
    found = {f.id: f for f in grade(tmp_path, triple + BODY + "os.abort()", cases, reference).findings}
    assert [found[f.id].status for f in found.values() if f.id.startswith("fatal")] == [
        Status.CRASHED,
        Status.CRASHED,
        Status.NOT_RUN,
        Status.CRASHED,  # the process that the other function left alive
    ]
    assert [(found[c.name].status, found[c.name].points) for c in beside] == [(Status.PASSED, 1)] * 2


@pytest.mark.slow
def test_of_further_arguments_those_are_named_that_it_fails_with(tmp_path: Path) -> None:
    row = Tensor((4, 6), layout="expanded", device="cpu")
    case = Case("views", (Tensor((4, 6), layout="strided", device="cpu"),), "Gaps.", others=((row,),))
    found = first_failure(
        grade(tmp_path, BODY + "return 2 * x if x.stride(0) else x", cases=(case,)).findings
    )
    assert "This case: A view of one row" in found.message


@pytest.mark.slow
def test_a_death_by_a_question_about_a_wrong_result_is_no_other_cases(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing depends on whose element it is; the next case gets a process of its own."""

    def find(player: Player, *_given: object, **_named: object) -> tuple[str, dict[str, object]]:
        player.stop()
        return "", {}

    monkeypatch.setattr(ownership, "find", find)
    text = "# __global__\n" + BODY + "return 2 * x if x.shape[0] == 7 else 3 * x"
    verdict = grade(tmp_path, text, forked=True)
    assert [f.status for f in verdict.findings[1:]] == [Status.WRONG_OUTPUT, Status.PASSED]
