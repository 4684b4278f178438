"""Exceptions of a submission as faults: which of them leave a process that can go on."""

import pytest

from grader.domain.verdict import Status
from grader.referee import fault


@pytest.mark.parametrize(
    ("text", "dead"),
    [("CUDA error: device not ready", False), ("CUDA error: unspecified launch failure", True)],
)
def test_an_event_that_is_not_ready_is_an_answer(text: str, dead: bool) -> None:
    found = fault.from_error({"type": "RuntimeError", "message": text}, "call")
    assert (found.status, found.dead) == (Status.CUDA_ERROR, dead)
