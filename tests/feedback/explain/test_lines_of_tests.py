"""Which line of a student's test, timer or model is named: their own, and not the given one above it."""

import inspect

import pytest
import torch

from grader.domain.verdict import Finding, Status
from grader.feedback.explain import attach

TEST = "def test(kernel, claim):\n    if claim == 'a':\n        pass\n    elif claim == 'b':\n"
PASSES = "Line 4: It passes on a kernel that reads too little. Which {} would show that?"
REFUSES = "Line 4: The test fails on a right kernel: AssertionError (line {}: ...). A test must let every right kernel pass."


def told(
    source: str, message: str, status: Status = Status.WRONG_ANSWER, name: str = "k"
) -> tuple[str, int, str]:
    found = attach.explained(Finding(name, status, message, 0, 1), source).evidence.get("explanation")
    return (found["rule"], found["line"], f"{found['cause']} {found['fix']}") if found else ("", 0, "")


@pytest.mark.parametrize(
    ("body", "asked", "line", "words"),
    [
        ("        for view in (x.t(),):\n            close(kernel(view), view)\n", "input", 5, "`(x.t(),)`"),
        ("        y = x * 2\n        for view in (x.t(),):\n            close(kernel(y), view)\n", "input", 7, "`kernel(y)`"),
        ("        for view in (x.t(),):\n            close(kernel(view), view)\n", "comparison", 6, "`kernel(view)`"),
        ("        y = x\n        out = kernel(y)\n        assert (out - y).abs().max() < 1\n", "tolerance", 6, "`kernel(y)`"),
    ],
)  # fmt: skip
def test_the_line_that_lets_a_wrong_kernel_pass(body: str, asked: str, line: int, words: str) -> None:
    rule, at, said = told(TEST + body, PASSES.format(asked))
    assert (rule, at) == ("lets-it-pass", line) and words in said and f"Which {asked}" in said


@pytest.mark.parametrize(
    ("body", "line"),
    [
        (
            "first = kernel(x, 2.0)\n        again = kernel(x, 2.0)\n        assert torch.equal(first, again)\n",
            6,
        ),
        ("kept, first = x.clone(), kernel(x, 2.0)\n        assert torch.equal(x, kept)\n", 0),
        ("first = kernel(x, 2.0)\n        same(x, first)\n        assert first.shape == (3, 4)\n", 0),
        ("assert kernel(x, 2.0).shape == x.shape\n", 0),
        ("kernel(x, 2.0)\n", 0),
    ],
)
def test_an_input_that_is_not_looked_at_afterwards(body: str, line: int) -> None:
    message = "Line 4: It passes on a kernel that overwrites its input, but only in its second call. Which assertion would show that?"
    rule, at, said = told(f"{TEST}        {body}", message)
    assert (rule == "input-not-compared") == bool(line)
    assert not line or (at == line and "no assertion compares x with what it was" in said)
    assert told(f"{TEST}        {body}", PASSES.format("assertion"))[0] != "input-not-compared"


@pytest.mark.parametrize(
    ("asserted", "words"),
    [
        ("out.dtype == torch.float16", "a dtype"), ("out.is_contiguous()", "a layout in memory"),
        ("out.stride() == x.stride()", "a stride"), ("out.shape == (3, 4)", ""), ("torch.equal(out, x)", ""),
    ],
)  # fmt: skip
def test_what_a_right_kernel_need_not_keep(asserted: str, words: str) -> None:
    rule, at, said = told(f"{TEST}        out = kernel(x)\n        assert {asserted}\n", REFUSES.format(6))
    assert (rule == "not-promised") == bool(words)
    assert not words or (at == 6 and words in said and "Take it away." in said)


@pytest.mark.parametrize(
    ("listed", "words"),
    [
        ("[64, 200]", "`[torch.randn(64), torch.randn(200)]`"), ("[(3, 4)]", "`[torch.randn(3, 4)]`"),
        ("[torch.randn(64)]", ""), ("[0]", ""), ("[torch.randn(64), 3]", ""),
    ],
)  # fmt: skip
def test_lengths_in_place_of_tensors(listed: str, words: str) -> None:
    source = f"TESTS = {{\n    'a': (f, [torch.randn(3)]),\n    'reverse': (f, {listed}),\n}}\n"
    message = "Line 3: test never calls the kernel. It ended with AttributeError: 'int' object has no attribute 'cuda'"
    rule, at, said = told(source, message, name="test of reverse")
    assert (rule == "no-tensors") == bool(words) and (not words or (at == 3 and words in said))


TIMER = (
    "def timed(fn):\n    {}\n    return summary({})\n\ndef summary(seconds):\n    return quantiles(seconds)\n"
)


@pytest.mark.parametrize(
    ("first", "given", "line"),
    [
        ("start.record()", "[start.elapsed_time(end) / 100]", 3), ("times = [time() - begun]", "times", 2),
        ("times = [0]; times.append(1)", "times", 0), ("start.record()", "[*times]", 0),
    ],
)  # fmt: skip
def test_percentiles_of_one_number(first: str, given: str, line: int) -> None:
    message = "StatisticsError: must have at least two data points (s.py, line 6: return quantiles(seconds))"
    rule, at, said = told(TIMER.format(first, given), message, Status.RAISED)
    assert (rule == "one-number") == bool(line) and (not line or at == line)
    assert ("pair of events" in said) == (bool(line) and "elapsed" in given)


@pytest.mark.parametrize(
    ("returned", "known"),
    [("f(self.gemm(x), 2) + x", True), ("x + f(self.gemm(x))", True), ("f(x) + x", False), ("f(self.gemm(x)) + y", False)],
)  # fmt: skip
def test_the_input_of_a_model_added_to_what_its_layer_gives(returned: str, known: bool) -> None:
    source = f"class M(nn.Module):\n    def forward(self, x):\n        return {returned}\n"
    message = (
        "RuntimeError: The size of tensor a (8) must match the size of tensor b (4) at non-singleton dimension 1 "
        f"(s.py, line 3: return {returned})"
    )
    rule, at, said = told(source, message, Status.RAISED)
    assert rule == ("added-input" if known else "sizes-differ") and at == 3
    assert ("unsqueeze" in said) != known


@pytest.mark.parametrize(
    ("imported", "called", "old"),
    [
        ("import torch", "torch.autograd.profiler.profile", True),
        ("from torch.autograd import profiler", "profiler.profile", True),
        ("from torch.autograd.profiler import profile", "profile", True),
        ("import torch.autograd.profiler as ap", "ap.profile", True),
        ("from torch.profiler import profile", "profile", False),
        ("import torch", "torch.profiler.profile", False),
    ],
)
def test_the_older_profiler(imported: str, called: str, old: bool) -> None:
    source = f"{imported}\ndef record(path):\n    with {called}() as p:\n        pass\n"
    message = "Line 3: this profile(...) has no `schedule`, so nothing is a step of it."
    rule, at, said = told(source, message)
    assert (rule == "old-profiler") == old and (not old or (at == 3 and f"`{called}`" in said))


def test_what_is_said_of_the_older_profiler_is_so() -> None:
    older = torch.autograd.profiler.profile
    assert "schedule" not in inspect.signature(older).parameters and not hasattr(older, "step")
