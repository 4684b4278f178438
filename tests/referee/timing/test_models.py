"""Large models: one seed gives two players the same weights, however they name and store them."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import torch
from torch import nn

from grader.domain.task import Case, Task, Tensor
from grader.player.stage import Stage
from grader.referee.lesson_problem import LessonProblem
from grader.referee.process.connection import Answer
from grader.referee.reference import Oracle
from grader.referee.session import Session
from grader.referee.timing import models

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


class Player:
    backend = "cuda"
    limits = SimpleNamespace(call=1.0)

    def __init__(self) -> None:
        self.stage = Stage(cast("Any", None), cast("Any", None), device="cpu")
        self.stage.module = cast("Any", SimpleNamespace(Mine=Mine, Theirs=Theirs))

    def ask(self, do: str, seconds: float, **fields: Any) -> Answer:
        return Answer(getattr(self.stage, do)(**fields), [], [])


def test_both_draw_the_same_and_so_does_a_third() -> None:
    own, reference, third = Player(), Player(), Player()
    oracle = Oracle(cast("Any", reference), TASK)
    session = Session(TASK, str(Path(__file__)), lambda: cast("Any", own), oracle, LessonProblem)
    making = models.Making(session, CASE)
    making.finish()
    making.also(cast("Any", third))
    right = reference.stage.state()
    assert right["gemm.weight"].std() > 0 and right["bias"].std() > 0 and right["steps"] == 0
    assert right["gemm.weight"].abs().max() < 3 and right["gemm.weight"].abs().max() != 0
    for player in (own, third):
        state = player.stage.state()
        assert torch.equal(state["w"], right["gemm.weight"]) and torch.equal(state["bias"], right["bias"])
        assert not state["w"].is_contiguous()
    assert isinstance(session.problem, LessonProblem) and session.problem.weights == []


def test_only_two_processes_on_one_gpu_draw_together() -> None:
    session = Session(
        TASK,
        str(Path(__file__)),
        lambda: cast("Any", Player()),
        Oracle(cast("Any", Player()), TASK),
        LessonProblem,
    )
    assert not models.together(session)
