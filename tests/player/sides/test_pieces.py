"""What moves tensors and describes values in a player's process, each by itself."""

from __future__ import annotations

from collections import namedtuple

import msgspec
import numpy as np
import pytest
import torch

from grader.domain import inputs
from grader.domain.task import Tensor
from grader.player import model_state, values
from grader.player.sides import variants
from grader.player.sides.pieces import Flat
from grader.player.sides.weigh import Weigher
from grader.protocol import play
from grader.protocol.arena import Arena
from grader.protocol.play import Piece

LAYOUTS = ("contiguous", "transposed", "strided", "offset", "expanded", "columns")


def test_nested_values_come_back() -> None:
    one = [torch.ones(2), {"a": (1, 2.5, None), "b": [torch.zeros(1), "word", True]}, torch.float16]
    tensors: list[torch.Tensor] = []
    data = msgspec.to_builtins(values.encode(one, tensors))
    back = values.decode(msgspec.convert(data, play.Node), tensors)
    assert back[0] is one[0] and back[1]["a"] == (1, 2.5, None) and back[2] is torch.float16
    assert values.encode([object()], []) == play.Node(l=(play.Node(o="object"),))
    both = namedtuple("both", "x y")
    assert values.mapped(both(torch.ones(1), 2), lambda t: t + 1).x.item() == 2.0


def test_pieces_of_views_arrive() -> None:
    arena = Arena.create("a")
    source, target = torch.randn(5, 7).t(), torch.zeros(5, 7).t()
    taken = Flat(target)
    for lo, hi in ((0, 20), (20, 35)):
        piece = Piece("input", 0, lo, hi, 0, "float32")
        Flat(source).read(arena, piece)
        taken.write(arena, piece)
    assert torch.equal(source, target)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_an_input_lies_as_it_did(layout: str) -> None:
    """Its strides, and where it begins as far as a kernel that reads four at a time can tell."""
    drawn = inputs.draw(Tensor((5, 7), layout=layout), inputs.generator())  # type: ignore[arg-type]
    one = torch.from_numpy(drawn.storage).as_strided(drawn.shape, drawn.strides, drawn.start)
    form = values.form(one)
    assert (form.shape, form.strides, form.start) == ((5, 7), drawn.strides, drawn.start)
    line = Flat(one, storage=True).line
    assert line.numel() == form.elements
    again = line.clone().as_strided(form.shape, form.strides, form.start)
    assert torch.equal(again, one)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_two_elements_change_places_inside_the_view(layout: str) -> None:
    drawn = inputs.draw(Tensor((5, 7), layout=layout), inputs.generator())  # type: ignore[arg-type]
    storage = torch.from_numpy(drawn.storage.copy())
    one = storage.as_strided(drawn.shape, drawn.strides, drawn.start)
    variants.swap(one)
    assert sorted(storage.tolist()) == sorted(drawn.storage.tolist())
    assert not np.array_equal(one.numpy(), drawn.view())


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
    assert seen.ops["mm"] == (1, 4 * (8 * 16 + 16 * 4 + 8 * 4), 2 * 8 * 16 * 4)
    assert seen.ops["relu"][1] == 2 * 4 * 32 and not seen.random and "t" not in seen.ops
    with Weigher() as seen:
        torch.nn.functional.dropout(x, 0.5, training=True)
    assert seen.random == {"native_dropout"} or seen.random == {"bernoulli_"}
