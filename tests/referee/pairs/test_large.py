"""Problems that are large: judged where the answers are, and with a GPU's memory in mind."""

from __future__ import annotations

import contextlib
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest
import torch

from benchmarks.pairs.kit import reference, torch_one
from grader.backends import detect
from grader.domain.verdict import Status
from grader.player.sides.wide_answers import Wide
from grader.protocol import play
from grader.protocol.play import Node
from grader.referee import case_calls, comparison, device_link, problem, transfer
from grader.referee.fault import FaultError
from grader.referee.pairs import pair_problem, size
from grader.referee.process.player_process import Player
from grader.referee.side import Side
from tests.referee.in_process import InProcess
from tests.referee.pairs.test_pairs import judged, said

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LARGE = reference("return x + 1", "[torch.rand(47, 41)]")
LAST, PUT = "y = x + 1\n        y[46, 40] *= 1.02\n", "y = x + 1\n        x[46, 40] = 0\n"
EDITS = {
    "right": ("x + 1", "1 + x", "passed", ""),
    "last": ("return x + 1", f"{LAST}        return y", "wrong_output", "element [46, 40]"),
    "coarse": ("x + 1", "(x + 1).bfloat16().float()", "precision", "bfloat16"),
    "input": ("return x + 1", f"{PUT}        return y", "mutated_input", "input 0"),
}


@pytest.fixture(params=["over the host", "in shared memory"])
def large(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[None]:
    """What has a thousand bytes is more than is copied as a whole, and takes several windows.

    It goes both ways that there are; what players on a GPU share is a file here.
    """
    for module in (case_calls, comparison, pair_problem, problem):
        monkeypatch.setattr(module, "FEW", 1000)
    monkeypatch.setattr(comparison, "WINDOW", 200)
    monkeypatch.setattr(transfer, "WINDOW", 2000)
    if request.param == "over the host":
        yield
        return
    carried: list[int] = []
    place = device_link.place

    def noted(target: Side, number: int, nbytes: int) -> int:
        carried.append(place(target, number, nbytes))
        return carried[-1]

    monkeypatch.setattr(transfer, "LARGE", 1000)
    monkeypatch.setattr(device_link, "HALF", 4096)
    monkeypatch.setattr(transfer, "HALF", 2048)
    monkeypatch.setattr(device_link, "place", noted)
    monkeypatch.setattr(Player, "shares_gpu", True)
    yield
    assert {at < device_link.HALF for at in carried} == {True, False}, "both directions"


@pytest.mark.slow
@pytest.mark.parametrize("name", EDITS)
def test_every_element_of_a_large_result_counts(name: str, large: None, tmp_path: Path) -> None:
    old, new, status, words = EDITS[name]
    verdict = judged(tmp_path, LARGE, torch_one(LARGE, (old, new)), inputs="as-given")
    assert verdict.status == status and words in said(verdict, "as given")


@pytest.mark.gpu
@pytest.mark.parametrize("name", EDITS)
def test_on_a_gpu_they_do_not_pass_through_the_host(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new, status, words = EDITS[name]
    carried: list[int] = []
    place = device_link.place

    def noted(target: Side, number: int, nbytes: int) -> int:
        carried.append(nbytes)
        return place(target, number, nbytes)

    monkeypatch.setattr(device_link, "place", noted)
    ref = LARGE.replace("[torch.rand(47, 41)]", "[torch.rand(4700, 16400)]")
    verdict = judged(tmp_path, ref, torch_one(ref, (old, new)), backend="cuda", inputs="as-given")
    assert verdict.status == status and words in said(verdict, "as given")
    assert sum(carried) > 4700 * 16400 * 4


@pytest.mark.slow
def test_large_weights_must_stay_as_they_are(large: None, tmp_path: Path) -> None:
    ref = reference("return x @ self.w", "[torch.rand(3, 47)]", "self.w = nn.Parameter(torch.randn(47, n))",
                    "41", "n")  # fmt: skip
    edit = ("return x @ self.w", "y = x @ self.w\n        self.w.data[46, 40] = 0\n        return y")
    verdict = judged(tmp_path, ref, torch_one(ref, edit), inputs="as-given")
    assert verdict.status is Status.MUTATED_INPUT and "parameter w" in said(verdict, "as given")


def drawing(**names: Any) -> tuple[InProcess, Side]:
    player = InProcess(**names)
    return player, Side("reference", cast("Any", player))


def test_inputs_that_cannot_be_drawn_where_they_belong_are_drawn_on_the_host() -> None:
    """A function that refuses the first way is asked in the old one, with the seed as it was."""
    calls = []

    def get_inputs() -> list[torch.Tensor]:
        drawn = torch.rand(3)
        calls.append(drawn)
        if len(calls) == 1:
            raise TypeError("can't convert cuda:0 device type tensor to numpy")
        return [drawn]

    player, side = drawing(get_inputs=get_inputs, Model=torch.nn.Identity)
    side.ask(play.Begin("Model", 1, "", there=True), play.Begun)
    side.ask(play.Draw(7), play.Inputs)
    side.ask(play.Draw(8), play.Inputs)
    assert len(calls) == 3 and torch.equal(calls[0], calls[1]) and not torch.equal(calls[1], calls[2])
    player.stop()


def test_a_model_that_cannot_be_made_where_it_belongs_is_made_on_the_host() -> None:
    made = []

    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w = torch.nn.Parameter(torch.rand(3))
            made.append(self)
            if len(made) == 1:
                raise TypeError("can't convert cuda:0 device type tensor to numpy")

    player, side = drawing(Model=Model, get_inputs=list)
    begun = side.ask(play.Begin("Model", 1, "", there=True), play.Begun)
    assert [held.name for held in begun.state] == ["w"] and torch.equal(made[0].w, made[1].w)
    side.ask(play.Weights(2, (), ""), play.Done)
    assert len(made) == 3, "it is not tried again"
    player.stop()


def measuring(backend: str) -> Side:
    limits = SimpleNamespace(memory_bytes=16 << 30)
    said = play.Measured(inputs=9 << 30, outputs=9 << 30, state=0, batch=32)
    return cast(
        "Any", SimpleNamespace(ask=lambda *_: said, player=SimpleNamespace(backend=backend, limits=limits))
    )


def test_on_a_gpu_its_memory_counts_not_the_hosts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(detect, "gpu_bytes", lambda: 80 << 30)
    size.require(measuring("cuda"), "Model")
    with pytest.raises(FaultError, match="instead of 32 would fit"):
        size.require(measuring("cpu"), "Model")
    monkeypatch.setattr(detect, "gpu_bytes", lambda: 24 << 30)
    with pytest.raises(FaultError, match=r"12\.9 GB here"):
        size.require(measuring("cuda"), "Model")


@pytest.mark.parametrize("gpu", [True, False])
def test_answers_that_a_gpu_cannot_hold_are_judged_by_rule(*, gpu: bool) -> None:
    """Without a GPU whoever tries is killed, so there the problem is refused."""

    def model(x: torch.Tensor) -> torch.Tensor:
        if x.dtype is torch.float64:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return x / x.norm()

    x = torch.rand(64, 8)
    side = SimpleNamespace(
        stage=SimpleNamespace(gpu=gpu, seed=lambda _: None, synchronize=lambda: None),
        model=None, target=model,
        inputs=[x], outputs=[model(x)], tree=Node(l=(Node(t=0),)),
        words=contextlib.nullcontext, run=lambda call, given: call(*given),
    )  # fmt: skip
    wide = Wide(cast("Any", side), 1, budget=1000, room=1000)
    if gpu:
        found = wide.settle()
        assert found.blocks == 1 and "memory" in found.why_native
        assert torch.equal(found.tensors[0], side.outputs[0])
    else:
        with pytest.raises(RuntimeError, match="would fit"):
            wide.settle()


def test_what_learns_from_its_batch_is_not_tried_in_parts() -> None:
    """BatchNorm in training mode: parts of a batch look alike, and each trial would move its averages."""
    model = torch.nn.BatchNorm1d(8)
    x = torch.rand(6400, 8)
    result = model(x)
    before = model.running_mean.clone()
    side = SimpleNamespace(
        stage=SimpleNamespace(gpu=True, seed=lambda _: None, synchronize=lambda: None),
        model=model, target=model,
        inputs=[x], outputs=[result.detach()], tree=Node(l=(Node(t=0),)),
        words=contextlib.nullcontext, run=lambda call, given: call(*given),
    )  # fmt: skip
    found = Wide(cast("Any", side), 1, budget=x.numel() * 40, room=1 << 30).settle()
    assert found.blocks == 1 and not found.why_native
    assert torch.equal(model.running_mean, before)
