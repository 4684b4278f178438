"""The form of what a player says. Content is judged elsewhere; a claim that has no proper form is tampering.

After this, code that reads an answer may rely on types and lengths, and on nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from grader.protocol.wire import MalformedError

Claim = dict[str, Any]
MOST_TENSORS, MOST_DIMENSIONS, MOST_TEXT, MOST_SEEN = 100, 64, 10_000, 200


def check(do: str, claim: Claim) -> Claim:
    """The answer to the request ``do``; :class:`~grader.protocol.wire.MalformedError` unless it has that
    form."""
    form = FORMS.get(do)
    if form and not form(claim):
        raise MalformedError(f"an answer to {do!r} that is not valid")
    return claim


def findings(claims: Any) -> list[Claim]:
    """What a back end has found. One that has no form is refused, not dropped: dropping would hide it."""
    return _all(claims, _finding, "findings")


def launches(claims: Any) -> list[Claim]:
    """The launches that a back end has seen."""
    return _all(claims, _launch, "launches")


def _all(claims: Any, form: Callable[[Claim], bool], what: str) -> list[Claim]:
    listed = claims if claims is not None else []
    if not isinstance(listed, list) or not all(isinstance(c, dict) and form(c) for c in listed):
        raise MalformedError(f"{what} that are none")
    return listed[:MOST_SEEN]


def _text(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= MOST_TEXT


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _wholes(value: Any, most: int = MOST_DIMENSIONS) -> bool:
    return isinstance(value, list) and len(value) <= most and all(map(_whole, value))


def _three(value: Any) -> bool:
    return _wholes(value, 3) and len(value) == 3


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


def _owner(claim: Claim) -> bool:
    if "kernels" in claim:
        kernels = claim["kernels"]
        return isinstance(kernels, list) and all(k is None or _text(k) for k in kernels)
    if "owner" in claim:
        owner = claim["owner"]
        return owner is None or (isinstance(owner, dict) and _place(owner))
    if "grid" in claim or "block" in claim:
        return _three(claim.get("grid")) and _three(claim.get("block"))
    return True


def _place(claim: Claim) -> bool:
    """Block, thread and line, as far as they are given."""
    block, thread, line = claim.get("block"), claim.get("thread"), claim.get("line")
    return (block is None or _three(block)) and (thread is None or _three(thread)) and _line(line)


def _line(value: Any) -> bool:
    return value is None or (_whole(value) and 0 <= value < 10_000_000)


def _finding(claim: Claim) -> bool:
    texts = all(isinstance(claim.get(k, ""), str) for k in ("kind", "kernel", "file", "what"))
    other = claim.get("other")
    sides = _place(claim) and (other is None or (isinstance(other, dict) and _place(other)))
    return texts and sides and (claim.get("count") is None or _whole(claim["count"]))


def _launch(claim: Claim) -> bool:
    counts = claim.get("counts", {})
    if not isinstance(claim.get("kernel", ""), str) or not isinstance(counts, dict):
        return False
    return all(_whole(counts.get(k, 0)) and counts.get(k, 0) >= 0 for k in ("read_bytes", "written_bytes"))


FORMS: dict[str, Callable[[Claim], bool]] = {
    "call": _call, "owner": _owner,
}  # fmt: skip
