"""The pieces that pairs are graded with, each by itself."""

from __future__ import annotations

from collections import namedtuple
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from grader.domain.verdict import Status
from grader.player import model_state, values
from grader.player.pairs import variants
from grader.player.pairs.pieces import Flat
from grader.player.pairs.weigh import Weigher
from grader.protocol.arena import Arena
from grader.referee import dtypes, result_form, state_match
from grader.referee.fault import FaultError
from grader.referee.judge import judge
from grader.referee.pairs.degenerate import Signs
from grader.referee.pieces_transport import Line, windows


def test_nested_values_come_back() -> None:
    one = [torch.ones(2), {"a": (1, 2.5, None), "b": [torch.zeros(1), "word", True]}, torch.float16]
    tensors: list[torch.Tensor] = []
    data = values.encode(one, tensors)
    back = values.decode(data, tensors)
    assert back[0] is one[0] and back[1]["a"] == (1, 2.5, None) and back[2] is torch.float16
    assert values.others(values.encode([object()], [])) == ["object"]
    both = namedtuple("both", "x y")
    assert values.mapped(both(torch.ones(1), 2), lambda t: t + 1).x.item() == 2.0


@pytest.mark.parametrize("bad", [None, {}, {"t": "x"}, {"l": 3}, {"d": [[1]]}, {"f": "abc"}, {"z": 1}, [1]])
def test_a_claim_of_no_form_is_tampering(bad: object) -> None:
    with pytest.raises(FaultError) as caught:
        result_form.leaves(bad)
    assert caught.value.status is Status.TAMPERED


def test_results_of_another_form_are_told_apart() -> None:
    two = result_form.leaves({"u": [{"t": 0}, {"v": 3}]})
    assert result_form.differ(two, result_form.leaves({"l": [{"t": 0}, {"v": 3}]})) is None
    assert result_form.differ(two, result_form.leaves({"t": 0}))[0] is Status.WRONG_SHAPE  # type: ignore[index]
    assert (
        result_form.differ(two, result_form.leaves({"l": [{"v": None}, {"v": 3}]}))[0] is Status.NOT_A_TENSOR
    )  # type: ignore[index]
    assert (
        result_form.differ(two, result_form.leaves({"l": [{"t": 0}, {"v": True}]}))[0] is Status.WRONG_OUTPUT
    )  # type: ignore[index]


def listed(*names: str, kind: str = "parameter", shape: tuple[int, ...] = (2, 3)) -> list[state_match.Held]:
    return [state_match.Held(kind, name, shape, "float32", 6) for name in names]


def test_parameters_match_by_name_then_by_order() -> None:
    found = state_match.match(listed("a", "b", "c"), listed("x", "b", "y"), "ModelNew")
    assert [(m.name, o.name) for m, o in found.pairs] == [("a", "x"), ("b", "b"), ("c", "y")]
    assert found.by_order == "x for a, y for c"
    with pytest.raises(FaultError, match="no parameter like"):
        state_match.match(listed("a", "b"), listed("a"), "ModelNew")
    buffers = state_match.match(listed("mask", kind="buffer"), [], "ModelNew")
    assert not buffers.pairs and buffers.left[0].name == "mask"


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
    lines = [Line("x", 0, 1000, "float32", 4), Line("x", 1, 3, "int8", 1), Line("x", 2, 700, "float64", 8)]
    seen = [(n, i) for pieces in windows(lines, 1024) for n, lo, hi, _ in pieces for i in range(lo, hi)]
    assert seen == [(n, i) for n, line in enumerate(lines) for i in range(line.elements)]


def test_pieces_of_views_arrive() -> None:
    arena = Arena.create("a")
    source, target = torch.randn(5, 7).t(), torch.zeros(5, 7).t()
    for lo, hi in ((0, 20), (20, 35)):
        Flat(source).read(arena, lo, hi, 0)
        whole = target if lo == 0 else whole  # noqa: F821
        flat = Flat(whole) if lo == 0 else flat  # noqa: F821
        flat.write(arena, lo, hi, 0, "float32")
    assert torch.equal(source, target)


def test_variants_keep_what_they_must() -> None:
    x, y = torch.rand(50), torch.arange(5)
    assert variants.applied("signs mixed", [x, y], 1)
    assert bool((x < 0).any()) and bool((x > 0).any()) and y.tolist() == [0, 1, 2, 3, 4]
    assert not variants.applied("signs mixed", [x], 1)
    assert not variants.applied("scaled up", [torch.full((3,), 100.0).half()], 1)
    row = torch.ones(1, 4).expand(3, 4)
    assert variants.applied("scaled down", [row], 1) and row[2, 3].item() == pytest.approx(1e-3)


def test_a_models_state_holds_plain_tensors_too() -> None:
    model = torch.nn.BatchNorm1d(3)
    model.extra = [torch.ones(2), {"k": torch.zeros(1)}]  # type: ignore[assignment]
    names = [name for _, name in model_state.state(model)]
    assert names[-2:] == ["extra[0]", "extra[1][k]"] and "running_var" in names
    model_state.unsettle(model, {"weight", "running_var", "bias"}, torch.Generator().manual_seed(1))
    assert model.weight.unique().numel() == 3 and bool((model.running_var > 0).all())
    model_state.doubled(model)
    assert model.extra[0].dtype is torch.float64  # type: ignore[index]


def test_get_inputs_has_three_forms() -> None:
    def add(x: int, *, y: int = 0) -> int:
        return x - y

    assert (
        model_state.call(add, [2])
        == model_state.call(add, {"y": 3, "x": 5})
        == model_state.call(add, [[5], {"y": 3}])
        == 2
    )


def test_the_weigher_counts_bytes_and_products() -> None:
    x, w = torch.randn(8, 16), torch.randn(16, 4)
    with Weigher() as seen:
        torch.relu(x @ w).t()
    assert seen.ops["mm"] == [1, 4 * (8 * 16 + 16 * 4 + 8 * 4), 2 * 8 * 16 * 4]
    assert seen.ops["relu"][1] == 2 * 4 * 32 and not seen.random and "t" not in seen.ops
    with Weigher() as seen:
        torch.nn.functional.dropout(x, 0.5, training=True)
    assert seen.random == {"native_dropout"} or seen.random == {"bernoulli_"}


def signs(constant: list[bool], same: bool) -> list[str]:
    found = Signs()
    for one in constant:
        found.round(SimpleNamespace(tensors=[{"constant": one}]))  # type: ignore[arg-type]
    found.same = same
    return list(found)


def test_results_of_one_value_count_only_if_no_weights_give_others() -> None:
    assert signs([True, True, True], same=True) == [
        "its result is one value throughout", "its results do not depend on the input",
    ]  # fmt: skip
    assert signs([True, True, False], same=True) == []
    assert signs([False, False, False], same=True) == ["its results do not depend on the input"]
    assert signs([False, True, False], same=False) == []
