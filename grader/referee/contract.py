"""What kind of thing a call must return."""

from __future__ import annotations

from typing import Any

from grader.domain.task import Case, Tensor
from grader.domain.verdict import Finding, Status
from grader.referee import result_form
from grader.referee.reference import Expected


def differ(case: Case, facts: dict[str, Any], expected: Expected) -> Finding | None:
    """Kind, number, device, dtype and shape of what was returned, against what should have been."""

    def fail(status: Status, message: str) -> Finding:
        return Finding(case.name, status, message, 0, case.points, {"returned": facts})

    if expected.is_value:
        got = facts.get("value") if facts.get("kind") == "value" else f"a {facts.get('type', 'tensor')}"
        if type(got) is not type(expected.value) or got != expected.value:
            message = f"The call returned {got!r}, expected {expected.value!r}."
            evidence = {"returned": facts, "entry": case.entry, "expected": expected.value, "got": got}
            return Finding(case.name, Status.WRONG_OUTPUT, message, 0, case.points, evidence)
        return None
    if facts.get("kind") != "tensors":
        what = f"a {facts.get('type')}" if facts.get("kind") == "other" else repr(facts.get("value"))
        return fail(Status.NOT_A_TENSOR, f"The call returned {what[:200]}, not a tensor.")
    tensors = facts.get("tensors")
    if not isinstance(tensors, list) or len(tensors) != len(expected.eager):
        count = len(tensors) if isinstance(tensors, list) else 0
        return fail(Status.WRONG_SHAPE, f"The call returned {count} tensors, expected {len(expected.eager)}.")
    on_gpu = any(isinstance(a, Tensor) and a.device == "cuda" for a in case.args)
    for tensor, eager in zip(tensors, expected.eager, strict=True):
        described = tensor if isinstance(tensor, dict) else {"type": type(tensor).__name__}
        device = "cuda" if on_gpu else ""
        if wrong := result_form.tensor_differs(described, list(eager.shape), str(eager.dtype), device):
            return fail(*wrong)
    return None
