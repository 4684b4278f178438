"""The pieces that an engine is made of, each by itself."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from grader.domain.verdict import Status
from grader.protocol import messages
from grader.protocol.play import Node
from grader.protocol.wire import MalformedError
from grader.referee import dtypes, result_form, state_match
from grader.referee.fault import FaultError
from grader.referee.judge import judge
from grader.referee.pairs.degenerate import Signs
from grader.referee.transfer import Line, windows


def node(data: object) -> Node:
    return messages.decode(data, Node)


@pytest.mark.parametrize("bad", [None, {"t": "x"}, {"l": 3}, {"d": [[1]]}, {"z": 1}, [1], {"l": [{"t": -1}]}])
def test_a_claim_of_no_form_is_malformed(bad: object) -> None:
    with pytest.raises(MalformedError):
        node(bad)


@pytest.mark.parametrize("bad", [{}, {"f": "abc"}, {"t": 0, "v": 1}, {"d": [[{"t": 0}, {"v": 1}]]}])
def test_a_claim_that_is_no_result_is_tampering(bad: object) -> None:
    with pytest.raises(FaultError) as caught:
        result_form.leaves(node(bad))
    assert caught.value.status is Status.TAMPERED


ANOTHER_FORM = [
    ({"t": 0}, Status.WRONG_SHAPE),
    ({"v": None}, Status.NOT_A_TENSOR),
    ({"l": [{"v": None}, {"v": 3}]}, Status.NOT_A_TENSOR),
    ({"l": [{"t": 0}, {"v": True}]}, Status.WRONG_OUTPUT),
    ({"l": [{"t": 0}, {"o": "set"}]}, Status.WRONG_OUTPUT),
]


@pytest.mark.parametrize("got, status", ANOTHER_FORM)
def test_results_of_another_form_are_told_apart(got: object, status: Status) -> None:
    two = result_form.leaves(node({"u": [{"t": 0}, {"v": 3}]}))
    assert result_form.differ(two, result_form.leaves(node({"l": [{"t": 0}, {"v": 3}]}))) is None
    differs = result_form.differ(two, result_form.leaves(node(got)))
    assert differs is not None and differs[0] is status


def listed(*names: str, kind: str = "parameter", shape: tuple[int, ...] = (2, 3)) -> list[state_match.Held]:
    return [state_match.Held(kind, name, shape, "float32") for name in names]


def test_parameters_match_by_name_then_by_order() -> None:
    found = state_match.match(listed("a", "b", "c"), listed("x", "b", "y"), "ModelNew")
    assert [(m.name, o.name) for m, o in found.pairs] == [("a", "x"), ("b", "b"), ("c", "y")]
    assert found.by_order == "x for a, y for c"
    with pytest.raises(FaultError, match="no parameter like"):
        state_match.match(listed("a", "b"), listed("a"), "ModelNew")
    buffers = state_match.match(listed("mask", kind="buffer"), [], "ModelNew")
    assert not buffers.pairs and buffers.left[0].name == "mask"


@pytest.mark.parametrize(
    ("own", "says"),
    [(listed("a", "b"), ""), (listed("b", "x"), "a .* is x here"),
     (listed("b") + listed("a", kind="buffer"), "a .* is a buffer")],
)  # fmt: skip
def test_a_lesson_asks_for_parameters_of_the_same_names(own: list[state_match.Held], says: str) -> None:
    pairs = state_match.match(listed("a", "b"), own, "ModelNew").pairs
    if not says:
        return state_match.require_names(pairs, "ModelNew")
    with pytest.raises(FaultError, match=says):
        state_match.require_names(pairs, "ModelNew")
    return None


def test_bfloat16_is_read_exactly() -> None:
    x = torch.randn(64).bfloat16()
    data = x.view(torch.int16).numpy().tobytes()
    assert np.array_equal(dtypes.array(data, "bfloat16"), x.float().numpy())


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_rounding_passes_and_less_precision_does_not(dtype: str) -> None:
    exact = np.random.default_rng(3).standard_normal(4000)
    kind = getattr(torch, dtype)
    eager = torch.from_numpy(exact).to(kind)
    less = {"float16": torch.bfloat16, "bfloat16": torch.float8_e4m3fn, "float32": torch.float16}
    coarse = eager.to(less.get(dtype, torch.float32)).to(kind)
    read = [t.float().numpy() if dtype == "bfloat16" else t.numpy() for t in (eager, coarse)]
    by = dtypes.tolerance(dtype, 4000)
    assert judge(exact, read[0], read[0], (), by).status is Status.PASSED
    assert judge(exact, read[0], read[1], (), by).status is not Status.PASSED


def test_windows_hold_every_element_once() -> None:
    lines = [Line("x", 0, 1000, "float32"), Line("x", 1, 3, "int8"), Line("x", 2, 700, "float64")]
    seen = [(n, i) for pieces in windows(lines, 1024) for n, lo, hi, _ in pieces for i in range(lo, hi)]
    assert seen == [(n, i) for n, line in enumerate(lines) for i in range(line.elements)]


def signs(constant: list[bool], same: bool) -> list[str]:
    found = Signs()
    for one in constant:
        found.round(SimpleNamespace(tensors=[SimpleNamespace(constant=one)]))  # type: ignore[arg-type]
    found.same = same
    return list(found)


def test_results_of_one_value_count_only_if_no_weights_give_others() -> None:
    assert signs([True, True, True], same=True) == [
        "its result is one value throughout", "its results do not depend on the input",
    ]  # fmt: skip
    assert signs([True, True, False], same=True) == []
    assert signs([False, False, False], same=True) == ["its results do not depend on the input"]
    assert signs([False, True, False], same=False) == []
