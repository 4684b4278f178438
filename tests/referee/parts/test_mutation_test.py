"""A student's test is run on kernels that it cannot see; points for each wrong kernel that it catches."""

import base64
import math
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pytest

from grader.domain.lessons import find
from grader.domain.verdict import Status
from grader.referee.parts.mutation_test import Mutant, MutationTest, MutationTests
from tests.referee.parts.asking import grade

if TYPE_CHECKING:
    from grader.referee.parts import PartSession
    from grader.referee.parts.kernel_server import KernelServer

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


@pytest.mark.thorough
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


@pytest.mark.thorough
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


def weak(name: str, values: np.ndarray, survivor: str) -> str:
    """What is said of a test of lesson 06 that makes one call, and notices all faults but one."""
    (tests,) = (p for p in find("06").task.parts if isinstance(p, MutationTests))
    test = next(t for t in tests.tests if t.args == (name,))
    given = {
        "tensor": base64.b64encode(values.tobytes()).decode(),
        "dtype": str(values.dtype),
        "shape": list(values.shape),
    }

    def command(_name: str, serve: Any, **_fields: Any) -> dict[str, Any]:
        return {"calls": 1, "failed": serve({"args": [given]})}

    def call(kernel: str, _wants: Any) -> dict[str, str] | None:
        return None if kernel in (*test.right, f"{name}_{survivor}") else {"type": "AssertionError"}

    session = SimpleNamespace(
        rng=np.random.default_rng(0),
        command=command,
        line_of_test=lambda *_: "Line 62: ",
        never_fails=lambda _: ("", ""),
    )
    kernels = SimpleNamespace(call=call)
    return test.judge_with(cast("PartSession", session), cast("KernelServer", kernels)).message


def test_how_many_wrong_kernels_pass() -> None:
    def said(survivors: set[str]) -> str:
        session = SimpleNamespace(
            rng=np.random.default_rng(0),
            command=lambda _name, serve, **_: {"calls": 1, "failed": serve({"args": []})},
            line_of_test=lambda *_: "",
            never_fails=lambda _: ("", ""),
        )
        right = {*TEST.right, *survivors}
        kernels = SimpleNamespace(call=lambda k, _: None if k in right else {"type": "AssertionError"})
        return TEST.judge_with(cast("PartSession", session), cast("KernelServer", kernels)).message

    every = {m.entry for m in TEST.mutants}
    assert said(every).endswith("It fails on none of the 4 wrong kernels.")
    assert said({"tripled", "in_place"}).endswith("1 more of 4 wrong kernels passes it as well.")
    assert said({"tripled"}).endswith("show that?")


def test_a_basic_fault_that_passes_costs_all_points() -> None:
    basic = replace(TEST, mutants=(*TEST.mutants, Mutant("lower", "is lower", basic=True)))

    def points(*survivors: str) -> int:
        session = SimpleNamespace(
            rng=np.random.default_rng(0),
            command=lambda _name, serve, **_: {"calls": 1, "failed": serve({"args": []})},
            line_of_test=lambda *_: "",
            never_fails=lambda _: ("", ""),
        )
        right = {*basic.right, *survivors}
        kernels = SimpleNamespace(call=lambda k, _: None if k in right else {"type": "AssertionError"})
        return basic.judge_with(cast("PartSession", session), cast("KernelServer", kernels)).points

    assert basic.checks[0].points == points() == 8
    assert points("lower") == 0
    assert points("tripled") == 6
    every = [m.entry for m in TEST.mutants]
    assert points(*every) == 0


@pytest.mark.parametrize(
    ("name", "shape", "survivor", "says"),
    [
        ("transpose", (16, 16), "stride", "A matrix of 16 x 16 is square"),
        ("transpose", (1, 5), "reshape", "take several rows and several columns"),
        ("reverse", (128,), "whole_blocks", "128 elements are full blocks of 64 only"),
        ("pairs", (192,), "unset_end", "192 elements are full blocks of 64 only"),
        ("pairs", (50,), "within_block", "50 elements are in one block: take more than 64."),
        ("offset", (64,), "of_all", "64 elements are in one block"),
        ("offset", (64,), "barrier_in_branch", "64 elements are full blocks"),
    ],
)
def test_an_input_on_which_a_fault_cannot_be_seen_is_named(
    name: str, shape: tuple[int, ...], survivor: str, says: str
) -> None:
    said = weak(name, np.arange(math.prod(shape), dtype=np.float32).reshape(shape), survivor)
    assert said.startswith("Line 62: It passes on a kernel that ") and says in said
    assert "Which input" not in said


@pytest.mark.parametrize(
    ("values", "survivor", "says"),
    [
        (
            [5, -46340],
            "overflow",
            "The largest number of this input is 46340, and its square fits in 32 bits",
        ),
        ([5, -100], "in_float", "The largest number of this input is 100, and its square fits in 24 bits"),
        ([5, -46341], "overflow", "Which input would show that?"),
    ],
)
def test_numbers_whose_squares_are_too_small_are_named(values: list[int], survivor: str, says: str) -> None:
    assert says in weak("squares", np.array(values, np.int32), survivor)


def test_an_input_that_could_show_the_fault_leaves_the_question() -> None:
    for name, shape, survivor in (
        ("transpose", (11, 17), "stride"),
        ("reverse", (130,), "whole_blocks"),
        ("pairs", (65,), "within_block"),
        ("reverse", (128,), "no_barrier"),
    ):
        values = np.arange(math.prod(shape), dtype=np.float32).reshape(shape)
        assert weak(name, values, survivor).endswith("Which input would show that?")


@pytest.mark.parametrize(
    ("name", "shape", "survivor"),
    [("reverse", (200,), "in_place"), ("offset", (200,), "of_all"), ("transpose", (11, 17), "reshape")],
)
def test_equal_numbers_show_no_order(name: str, shape: tuple[int, ...], survivor: str) -> None:
    assert "All numbers of this input are equal" in weak(name, np.full(shape, 2.5, np.float32), survivor)
    other = np.full(shape, 2.5, np.float32)
    other.flat[-1] = 3
    assert weak(name, other, survivor).endswith("Which input would show that?")


@pytest.mark.parametrize(
    ("claimed", "says"),
    [
        ({"count": 1, "elements": 200, "first": [199], "last": [199]}, "only the last, [199], differs: the"),
        ({"count": 1, "elements": 6, "first": [0, 0], "last": [0, 0]}, "only the first, [0, 0], differs"),
        ({"count": 1, "elements": 6, "first": [1, 0], "last": [1, 0]}, "only element [1, 0], differs"),
        ({"count": 6, "elements": 6, "first": [0], "last": [5]}, "All 6 elements differ; at [0] the"),
        ({"count": 3, "elements": 6, "first": [1], "last": [5]}, "3 of 6 elements differ, from [1] to"),
    ],
)  # fmt: skip
def test_which_elements_differ_is_said_and_a_strange_claim_is_not(claimed: dict[str, Any], says: str) -> None:
    def said(differs: object) -> str:
        failed = {"type": "AssertionError", "message": "wrong", "where": []}
        session = SimpleNamespace(
            rng=np.random.default_rng(0),
            command=lambda *_args, **_: {"calls": 1, "failed": failed, "differs": differs},
            line_of_test=lambda *_: "",
            never_fails=lambda _: ("", ""),
        )
        return TEST.judge_with(cast("PartSession", session), cast("KernelServer", None)).message

    whole = claimed | {"given": "0.01234567", "expected": "nan"}
    assert says in said(whole) and "the test expects nan" in said(whole)
    strange: list[object] = [None, 3, claimed]
    changes: list[dict[str, Any]] = [{"given": "x" * 9}, {"first": "a"}, {"last": [{}]}, {"count": 0}]
    strange += [whole | one for one in changes]
    for one in strange:
        assert said(one).endswith("AssertionError: wrong. A test must let every right kernel pass.")
