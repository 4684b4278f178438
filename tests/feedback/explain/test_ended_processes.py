"""A process that ended where an error was to be raised: by an assertion, abort() or exit()."""

import pytest

from grader.domain.verdict import Finding, Status
from grader.feedback.explain import attach
from grader.referee.process import exit_reason

SOURCE = '''source = r"""
__global__ void k(const float* x) {{ assert(x); }}
torch::Tensor square(torch::Tensor x) {{
    TORCH_CHECK(x.is_cuda(), "on the CPU");
    {}
    return x;
}}
"""

def call(x):
    return module.square(x)
'''
ABORTED = "The process crashed during the call with SIGABRT (it gave up by itself)."
EXITED = "The process ended by itself with exit code 1 during the call; something called exit()."


def told(line: str, status: Status, message: str, **evidence: object) -> dict[str, object]:
    finding = Finding("three dimensions", status, message, 0, 1, {"must_refuse": True} | evidence)
    found = attach.explained(finding, SOURCE.format(line)).evidence.get("explanation") or {}
    assert isinstance(found, dict)
    return found if found.get("rule") == "process-ended" else {}


@pytest.mark.parametrize(
    ("line", "check"),
    [
        ("assert(x.dim() == 2);", "x.dim() == 2"),
        ('assert(x.dim() == 2 && "two dimensions");', "x.dim() == 2"),
        ("assert(x.dim() == 2 && x.size(0) > 0);", "x.dim() == 2 && x.size(0) > 0"),
    ],
)
def test_a_failed_assertion(line: str, check: str) -> None:
    found = told(line, Status.CRASHED, ABORTED, signal="SIGABRT", asserted=5)
    assert found["line"] == 5 and f"`{check}` is false here" in str(found["cause"])
    assert "NDEBUG" in str(found["cause"]) and f'`TORCH_CHECK({check}, "...");`' in str(found["fix"])
    right = told(line, Status.CRASHED, ABORTED, signal="SIGABRT", asserted=5, must_refuse=False)
    assert right["fix"] == f"These inputs are right ones: correct the condition `{check}`."
    assert not told(line, Status.CRASHED, ABORTED, signal="SIGABRT")  # which may be for another reason
    assert not told(line, Status.CRASHED, ABORTED, signal="SIGABRT", asserted=2)  # a kernel's


@pytest.mark.parametrize(
    ("line", "check"),
    [
        ("if (x.dim() != 2) abort();", "x.dim() == 2"),
        ('if (x.dim() != 2) { puts("no"); std::terminate(); }', "x.dim() == 2"),
        ("if (!x.is_contiguous()) std::abort();", "x.is_contiguous()"),
        ("if (x.dim() != 2 || x.size(0) < 1) abort();", "!(x.dim() != 2 || x.size(0) < 1)"),
        ("if (x.dim() == 2) { return x; } else { abort(); }", "..."),
        ("abort();", "..."),
    ],
)
def test_a_call_that_aborts(line: str, check: str) -> None:
    found = told(line, Status.CRASHED, ABORTED, signal="SIGABRT")
    assert found["line"] == 5 and "ends the whole process" in str(found["cause"])
    assert found["fix"] == f'Raise an error: `TORCH_CHECK({check}, "...");`.'
    assert not told(line, Status.CRASHED, ABORTED, signal="SIGABRT", uncaught=True)
    assert not told(line, Status.CRASHED, ABORTED, signal="SIGABRT", must_refuse=False)
    assert not told(line, Status.CRASHED, "with SIGSEGV", signal="SIGSEGV")
    assert not told(f"{line} abort();", Status.CRASHED, ABORTED, signal="SIGABRT")


def test_a_call_of_exit() -> None:
    found = told("if (x.dim() != 2) exit(EXIT_FAILURE);", Status.EXITED_EARLY, EXITED, code=1)
    assert found["line"] == 5 and "TORCH_CHECK(x.dim() == 2" in str(found["fix"])
    assert not told("abort();", Status.EXITED_EARLY, EXITED, code=1)
    said = "The file called exit(1) (a.py, line 11: if x.dim() != 2: sys.exit(1))."
    found = told("", Status.EXITED_EARLY, said)
    assert found["line"] == 11 and "`sys.exit(1)` ends" in str(found["cause"])
    assert not told("", Status.EXITED_EARLY, said, must_refuse=False)


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ("/a/b.py:29: assertion\n/a/b.py:30: assertion `x.dim() == 2' failed\n", {"asserted": 30}),
        ("python: cuda.cu:7: at::Tensor f(at::Tensor): Assertion `x' failed.", {"asserted": 7}),
        ("terminate called after throwing an instance of 'c10::Error'", {"uncaught": True}),
        ("free(): invalid pointer", {"uncaught": True}),
        ("terminate called without an active exception", {}),
        ("", {}),
    ],
)
def test_what_was_printed_about_the_reason(output: str, said: dict[str, object]) -> None:
    assert exit_reason.printed(output) == said
