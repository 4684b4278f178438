"""The form of what a player says. Content is judged elsewhere; a claim that has no proper form is tampering.

After this, code that reads an answer may rely on types and lengths, and on nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from grader.protocol import messages
from grader.protocol.wire import MalformedError

Claim = dict[str, Any]
MOST_TENSORS, MOST_DIMENSIONS, MOST_TEXT = 100, 64, 10_000


def check(do: str, claim: Claim) -> Claim:
    """The answer to the request ``do``; :class:`~grader.protocol.wire.MalformedError` unless it has that
    form."""
    form = FORMS.get(do)
    if form and not form(claim):
        raise MalformedError(f"an answer to {do!r} of another form")
    return claim


def observed(message: Claim) -> messages.Observed:
    """What the back end has seen by the time of an answer, which comes beside it."""
    told = {key: message[key] for key in ("findings", "launches") if message.get(key) is not None}
    return messages.decode(told, messages.Observed, "memory findings or launches")


def _text(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= MOST_TEXT


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _wholes(value: Any, most: int = MOST_DIMENSIONS) -> bool:
    return isinstance(value, list) and len(value) <= most and all(map(_whole, value))


def _call(claim: Claim) -> bool:
    if claim.get("kind") == "value":
        value = claim.get("value")
        return value is None or isinstance(value, (bool, int, float)) or _text(value)
    if claim.get("kind") == "other":
        return _text(claim.get("type"))
    tensors = claim.get("tensors")
    if claim.get("kind") != "tensors" or not isinstance(tensors, list) or len(tensors) > MOST_TENSORS:
        return False
    return _text(claim.get("container")) and all(map(tensor, tensors))


def tensor(claim: Any) -> bool:
    """Whether this describes a tensor."""
    if not isinstance(claim, dict) or not isinstance(claim.get("plain"), bool):
        return False
    return _wholes(claim.get("shape")) and all(_text(claim.get(k)) for k in ("dtype", "device", "type"))


def _timed(claim: Claim) -> bool:
    """Of all acts, only a GPU's profiler answers with launches."""
    return "launches" not in claim or bool(messages.decode(claim, messages.Timed, "launches"))


FORMS: dict[str, Callable[[Claim], bool]] = {
    "start": lambda claim: bool(messages.decode(claim, messages.Ready, "a greeting")),
    "owner": lambda claim: bool(messages.decode(claim, messages.Ownership, "an owner")),
    "act": _timed, "call": _call,
}  # fmt: skip
