"""What both sides do with the tensors that they hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch

from grader.player import model_state
from grader.player.sides.submission_side import SubmissionSide
from grader.player.stage import Stage
from grader.protocol import play
from grader.protocol.arena import Arena
from grader.protocol.play import Piece

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def arenas() -> Iterator[tuple[Arena, Arena]]:
    """In and out."""
    yield Arena.create("in"), Arena.create("out")


def test_the_state_of_a_model_is_looked_up_once_for_all_pieces_of_a_step(
    arenas: tuple[Arena, Arena], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once for each of hundreds of tensors it took most of a grading."""
    side = SubmissionSide(Stage(*arenas, "cpu"))
    side.model = torch.nn.Sequential(*(torch.nn.Linear(1, 1) for _ in range(20)))
    looked: list[int] = []

    def state(model: torch.nn.Module) -> dict[play.Key, torch.Tensor]:
        looked.append(1)
        return dict(plain(model))

    plain = model_state.state
    monkeypatch.setattr(model_state, "state", state)
    keys = list(plain(side.model))
    read = play.Read(tuple(Piece("state", key, 0, 1, 4 * at, "float32") for at, key in enumerate(keys)))
    side.perform(read)
    assert len(looked) == 1
    side.model[3].weight = torch.nn.Parameter(torch.full((1, 1), 9.0))  # the next step sees it
    side.forget("state")
    side.perform(read)
    assert len(looked) == 2
    out = torch.frombuffer(arenas[1].map, dtype=torch.float32, count=len(keys))
    assert float(out[keys.index(("parameter", "3.weight"))]) == 9.0
