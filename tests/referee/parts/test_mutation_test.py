"""A student's test is run on kernels that it cannot see; points for each wrong kernel that it catches."""

from pathlib import Path

import pytest

from grader.domain.verdict import Status
from grader.referee.parts.mutation_test import Mutant, MutationTest
from tests.referee.parts.asking import grade

TEST = MutationTest(
    "test_doubled",
    str(Path(__file__).parent / "tested_kernels.py"),
    ("right", "also_right"),
    (
        Mutant("no_guard", "lets threads past the end work"),
        Mutant("tripled", "multiplies by three"),
        Mutant("in_place", "changes its input", "assertion"),
        Mutant("any_layout", "takes every view for contiguous"),
    ),
    "Catch every wrong kernel.",
    2,
)
HEAD = "import torch\ndef test_doubled(kernel):\n"
THOROUGH = """\
    x = torch.randn(37, device="cuda")
    kept = x.clone()
    assert torch.equal(kernel(x), 2 * kept)
    assert torch.equal(x, kept)
    view = torch.randn(10, 3, device="cuda")[:, 1]
    assert torch.equal(kernel(view), view * 2)
    try:
        kernel(torch.zeros(2, 2, device="cuda"))
        raise SystemExit("accepted")
    except (RuntimeError, AssertionError):
        pass
"""


@pytest.mark.slow
def test_a_thorough_test_kills_all(tmp_path: Path) -> None:
    verdict = grade(tmp_path, HEAD + THOROUGH, TEST, entry="test_doubled")
    assert verdict.ok and verdict.points == 8, verdict.findings


@pytest.mark.slow
def test_a_weak_test_gets_its_part(tmp_path: Path) -> None:
    text = HEAD + "    x = torch.ones(37, device='cuda')\n    assert kernel(x).sum() == 74\n"
    finding = grade(tmp_path, text, TEST, entry="test_doubled").findings[1]
    assert finding.status is Status.WRONG_ANSWER and finding.points == 4, finding
    assert finding.evidence["survived"] == ["changes its input", "takes every view for contiguous"]


@pytest.mark.slow
def test_tests_that_refuse_everything_guess_or_never_look_get_nothing(tmp_path: Path) -> None:
    for body, said in (
        (
            "    kernel(torch.ones(3, device='cuda'))\n    assert False\n",
            "fails on a right kernel: Assertion",
        ),
        ("    assert True\n", "never calls"),
        ("    kernel(torch.zeros(1 << 20))\n", "too large"),
        ("    kernel(object())\n", "cannot be passed"),
    ):
        finding = grade(tmp_path, HEAD + body, TEST, entry="test_doubled").findings[1]
        assert finding.points == 0 and said in finding.message, finding
