"""Timers judged on the referee's clock: what is counted between two events."""

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pytest

from grader.domain.lessons import find
from grader.referee.parts.timers import Probe

if TYPE_CHECKING:
    from grader.referee.parts.part_session import PartSession

(COLD,) = (p for p in find("04").task.parts if isinstance(p, Probe) and p.warm < 1)


def judged(lately: int) -> Any:
    """What comes of 100 calls on 16 inputs, of which the last ``lately`` are made between two events."""

    def command(_name: str, serve: Any, **_fields: Any) -> dict[str, Any]:
        buffers = [serve(["input"])["value"] for _ in range(16 - lately)]
        for k in range(100):
            serve(["record", 2 * k])
            if k < lately:
                buffers.append(serve(["input"])["value"])
            serve(["launch", buffers[-1 if k < lately else k % len(buffers)]])
            serve(["record", 2 * k + 1])
        serve(["sync"])
        times = sorted(serve(["elapsed", 2 * k, 2 * k + 1])["value"] / 1e3 for k in range(100))
        return {"value": {"median": times[50], "p10": times[10], "p90": times[90], "n": 100}}

    session = SimpleNamespace(rng=np.random.default_rng(1), command=command, line_of=lambda _: 7)
    (finding,) = COLD.judge(cast("PartSession", session))
    return finding


def test_inputs_that_are_there_before_the_timing_are_right() -> None:
    assert judged(0).ok


@pytest.mark.parametrize(("lately", "says"), [(1, "called once between"), (6, "called 6 times between")])
def test_an_input_that_is_made_between_two_events_is_seen(lately: int, says: str) -> None:
    finding = judged(lately)
    assert not finding.ok and says in finding.message and finding.message.startswith("Line 7, benchmark: ")
    assert finding.evidence["timer"]["which"] == "inside"
