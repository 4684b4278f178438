"""The reference as the referee asks it: whose fault it is when there is no answer."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from grader.domain.task import Case
from grader.domain.verdict import Status
from grader.protocol import play
from grader.protocol.play import Agreement, Inputs, Step
from grader.referee.fault import FaultError
from grader.referee.pairs.pair_problem import PairProblem
from grader.referee.problem import LeftOutError
from grader.referee.process.player_process import Limits, Player
from grader.referee.side import Reference, Side
from grader.referee.transfer import Line, fetch, send, whole

if TYPE_CHECKING:
    from pathlib import Path

DRAW, COMPARE = play.Draw(1), play.Compare(0, 0, 1, 0, 1, None)


def asked(step: Step, fault: FaultError) -> FaultError:
    """The fault that a reference's player ends in, as it comes to the problem."""

    def ask(*_: object, **__: object) -> None:
        raise fault

    player = SimpleNamespace(ask=ask, limits=SimpleNamespace(call=1.0))
    with pytest.raises(FaultError) as caught:
        Reference(cast("Any", player), "").ask(step, Inputs if step is DRAW else Agreement)
    return caught.value


@pytest.mark.parametrize(
    ("step", "status", "left_out"),
    [
        (DRAW, Status.RAISED, True),
        (DRAW, Status.OUT_OF_MEMORY, False),  # a submission can take all of a GPU's
        (COMPARE, Status.RAISED, False),
    ],
)
def test_a_case_is_left_out_only_where_the_reference_refuses_its_inputs(
    step: Step, status: Status, *, left_out: bool
) -> None:
    fault = asked(step, FaultError(status, "It was so."))
    assert ("reference itself failed" in fault.message) is (step is DRAW)
    problem = SimpleNamespace(notes=[])
    case = Case("scaled up", (), "Large values.")
    if left_out:
        with pytest.raises(LeftOutError):
            PairProblem.fallen(cast("Any", problem), case, fault)
    else:
        PairProblem.fallen(cast("Any", problem), case, fault)
    assert bool(problem.notes) is left_out


@pytest.mark.parametrize("do", ["fetch", "send"])
@pytest.mark.parametrize("kind", ["reference", "submission"])
def test_memory_of_a_process_that_has_ended_is_a_fault_of_that_side(
    kind: str, do: str, tmp_path: Path
) -> None:
    """The first thing that is asked of a side after its end may be its memory, which went with it."""
    (file := tmp_path / "file.py").touch()
    player = Player("cpu", Limits(), sees=(file,))
    side = Reference(player, "") if kind == "reference" else Side("submission", player)
    player.ready()
    player.stop()
    line = Line("inputs", 0, 4, "float32")
    with pytest.raises(FaultError) as caught:
        fetch(side, whole([line])) if do == "fetch" else send(side, [(line, bytes(16))])
    assert caught.value.status is Status.NOT_GRADABLE
    assert bool(caught.value.evidence.get("reference")) is (kind == "reference")
