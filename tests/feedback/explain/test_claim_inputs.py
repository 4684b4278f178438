"""What a student's test asks for by name, and an input that is to be empty."""

import pytest

from grader.domain.verdict import Finding, Status
from grader.feedback.explain import attach

TEST = """import torch


def test(kernel, claim):
    x = torch.randn(33, 7, device="cuda") * 4
    if claim == "gradients":
        assert kernel(x.requires_grad_(), 2.0).requires_grad
    elif claim == "{}":
        assert kernel({}, 2.0).shape == (0, 7)
"""


def told(name: str, source: str, message: str) -> dict[str, object]:
    finding = Finding(f"claim: {name}", Status.WRONG_ANSWER, message)
    found = attach.explained(finding, source).evidence.get("explanation")
    return found if isinstance(found, dict) else {"rule": "", "cause": "", "fix": ""}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("x[0]", "`x[0]` is of shape (7,), 7 elements: row 0 of x. It is not empty"),
        ("x", "`x` is of shape (33, 7), 231 elements."),
        ("x[:1]", "of shape (1, 7)"),
        ("x[:, 0]", "of shape (33,)"),
        ("x[1:].t()", "of shape (7, 32)"),
        ("torch.empty(33, 7)", "`empty` leaves the values open, and makes as many as it is asked for"),
        ("torch.zeros_like(x)", "of shape (33, 7)"),
        ("torch.zeros((1, 7))", "of shape (1, 7)"),
        ("x[:0]", ""),
        ("x[5:2]", ""),
        ("x[:, :0]", ""),
        ("torch.empty(0, 7)", ""),
        ("torch.empty((0, 7))", ""),
        ("torch.tensor([])", ""),
        ("torch.full((0,), 7)", ""),
        ("x[x > 99]", ""),
        ("x[n:]", ""),
    ],
)
def test_an_input_that_is_not_empty(given: str, words: str) -> None:
    passes = "Line 8: It passes on a kernel that launches a grid of no blocks. Which input would show that?"
    found = told("empty", TEST.format("empty", given), passes)
    assert (found["rule"] == "not-empty") is bool(words)
    if words:
        assert (
            found["line"] == 9
            and words in str(found["cause"])
            and "`x[:0]`, of shape (0, 7)" in str(found["fix"])
        )


@pytest.mark.parametrize(("word", "meant"), [("empt", True), ("empty", False), ("other", False)])
def test_a_claim_that_is_misspelt(word: str, meant: bool) -> None:
    never = "Line 4: test never calls the kernel that it is given for 'empty'. It has no code for that."
    found = told("empty", TEST.format(word, "x[:0]"), never)
    assert (found["rule"] == "claim-misspelt") is meant
    if meant:
        assert found["line"] == 8 and found["fix"] == 'Write `"empty"`.'
        assert "no line asks for that: `claim == \"empt\"` asks for 'empt'." in str(found["cause"])


def test_an_entry_that_is_misspelt() -> None:
    never = "Line 1: test never calls the kernel that it is given for 'reverse'. It ended with KeyError: 'reverse'."
    found = told("reverse", 'TESTS = {\n    "revers": (1, []),\n}\n', never)
    assert (found["rule"], found["line"]) == ("claim-misspelt", 2)


VIEWS = (
    TEST.split("    if claim")[0]
    + '    if claim == "layout":\n        for view in ({}):\n            check(kernel({}, 2.0))\n'
)
BEGINS = "Line 6: It passes on a kernel that takes every tensor to begin at a multiple of 16 bytes. Which input would show that?"


@pytest.mark.parametrize(
    ("views", "given", "words"),
    [
        ("x.t(), x[:, ::2]", "view", "begins where x does"),
        ("x.T, x[4:]", "view", "another multiple of 16 bytes"),
        ("x.t(), x[:, 1:]", "view", "as `x[:, 1:]`. A kernel that calls contiguous() gets a copy"),
        ("x.t().flatten()[4:],", "view", "another multiple of 16 bytes"),
        ("x.t(), x[1:]", "view", ""),
        ("x.t(), x.flatten()[1:].view(-1, 2)", "view", ""),
        ("x.t(), x[n:]", "view", ""),
        ("x.t(), x.unfold(0, 2, 1)", "view", ""),
        ("x.t(), x[:, ::2]", "view.contiguous()", ""),
    ],
)
def test_views_that_begin_alike(views: str, given: str, words: str) -> None:
    found = told("layout", VIEWS.format(views, given), BEGINS)
    assert (found["rule"] == "views-begin-alike") is bool(words), found
    assert not words or (words in str(found["cause"]) and found["line"] == 7), found


AS_IT_LIES = "Line {}: It passes on a kernel that reads the memory of a view with gaps as if it had none."
LAYOUT = """import torch


def test(kernel, claim):
    x = torch.randn(33, 7, device="cuda") * 4
    if claim == "layout":
        for view in ({}):
            assert kernel(view, 2.0).shape == view.shape
"""


@pytest.mark.parametrize(
    ("views", "words"),
    [
        ("x.t().contiguous(), x.reshape(7, 33)",
         "`x.t().contiguous()` is a copy of `x.t()`, row after row without gaps, and no view; `x` lies row after row"),
        ("x[:, ::2].clone(),", "This input has no gaps in memory: `x[:, ::2].clone()` is a copy without gaps"),
        ("x.t().clone(), x", "`x.t().clone()` is a copy without gaps"),
        ("x.contiguous(), x.t()", "`x` lies row after row, and `contiguous` changes nothing."),
        ("x[:, ::2].reshape(-1), x", "`x[:, ::2].reshape(-1)` is a copy of `x[:, ::2]`"),
        ("x.view(7, 33), x[:, ::2]", ""),
        ("x.t(),", ""),
        ("x.t().reshape(7, 33),", ""),
        ("x.contiguous(), some(x)", ""),
        ("x.contiguous(memory_format=torch.channels_last),", ""),
    ],
)  # fmt: skip
def test_inputs_that_are_no_views_with_gaps(views: str, words: str) -> None:
    found = told("layout", LAYOUT.format(views), AS_IT_LIES.format(6))
    assert (found["rule"] == "no-view") is bool(words), found
    if words:
        assert found["line"] == 7 and words in str(found["cause"]) and "`x[:, ::2]`" in str(found["fix"])
