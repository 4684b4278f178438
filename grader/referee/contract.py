"""What kind of thing a call must return."""

from __future__ import annotations

from typing import Any

from grader.domain.task import Case, Tensor
from grader.domain.verdict import Finding, Status
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
        if not isinstance(tensor, dict) or tensor.get("plain") is not True:
            kind = tensor.get("type") if isinstance(tensor, dict) else type(tensor).__name__
            # One that computes when it is read has not computed when the call is over.
            message = f"The result is a {str(kind)[:100]}, a class of its own, and not a plain torch.Tensor."
            return fail(Status.NOT_A_TENSOR, message)
        if tensor.get("shape") != list(eager.shape):
            return fail(
                Status.WRONG_SHAPE,
                f"The result has shape {tensor.get('shape')}, expected {list(eager.shape)}.",
            )
        if tensor.get("dtype") != str(eager.dtype):
            return fail(Status.WRONG_DTYPE, f"The result is {tensor.get('dtype')}, expected {eager.dtype}.")
        if on_gpu and tensor.get("device") != "cuda":
            return fail(
                Status.WRONG_DEVICE, f"The result is on {tensor.get('device')!r}, the inputs on 'cuda'."
            )
    return None
