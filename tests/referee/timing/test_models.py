"""Large models: one seed gives two players the same weights, however they name and store them."""

from __future__ import annotations

from typing import Any, cast

import torch
from torch import nn

from grader.domain.task import Case, Task, Tensor
from grader.player import model_state, sides
from grader.referee.lesson_problem import LessonProblem
from grader.referee.session import Session
from grader.referee.side import Reference, Side
from grader.referee.timing import models
from tests.referee.in_process import InProcess

CASE = Case("speed", (Tensor((4, 6)),), "", 0, init=(6, 5))
TASK = Task("timed", "Mine", (CASE,), kind="model", reference_entry="Theirs")


class Theirs(nn.Module):
    def __init__(self, rows: int, columns: int) -> None:
        super().__init__()
        self.gemm, self.bias = nn.Linear(rows, columns, bias=False), nn.Parameter(torch.zeros(columns))
        self.register_buffer("steps", torch.zeros((), dtype=torch.int64))


class Mine(nn.Module):
    """Another name, and a matrix that is stored the other way round."""

    def __init__(self, rows: int, columns: int) -> None:
        super().__init__()
        self.bias, self.w = nn.Parameter(torch.zeros(columns)), nn.Parameter(torch.zeros(rows, columns).t())
        self.register_buffer("steps", torch.zeros((), dtype=torch.int64))


class Player(InProcess):
    backend = "cuda"

    def __init__(self) -> None:
        super().__init__(Mine=Mine, Theirs=Theirs)


def session_of(own: Player, reference: Player) -> Session:
    theirs = Reference(cast("Any", reference), __file__)
    return Session(TASK, __file__, lambda: cast("Any", own), theirs, LessonProblem)


def state(player: Player, side: str) -> dict[str, torch.Tensor]:
    model = sides.side_of(player.stage, side).model
    assert model is not None
    return {name: tensor for (_, name), tensor in model_state.state(model).items()}


def test_both_draw_the_same_and_so_does_a_third() -> None:
    own, reference, third = Player(), Player(), Player()
    session = session_of(own, reference)
    making = models.Making(session, CASE)
    making.finish()
    making.also(Side("submission", cast("Any", third)))
    right = state(reference, "reference")
    assert right["gemm.weight"].std() > 0 and right["bias"].std() > 0 and right["steps"] == 0
    assert right["gemm.weight"].abs().max() < 3 and right["gemm.weight"].abs().max() != 0
    for player in (own, third):
        mine = state(player, "submission")
        assert torch.equal(mine["w"], right["gemm.weight"]) and torch.equal(mine["bias"], right["bias"])
        assert not mine["w"].is_contiguous()
    assert session.problem.held(("parameter", "bias")) is None  # nobody has them here


def test_only_two_processes_on_one_gpu_draw_together() -> None:
    assert not models.together(session_of(Player(), Player()))
