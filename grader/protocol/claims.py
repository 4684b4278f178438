"""The form of what a player says. Content is judged elsewhere; a claim that has no proper form is tampering.

After this, code that reads an answer may rely on types and lengths, and on nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from grader.protocol import messages
from grader.protocol.wire import MalformedError

if TYPE_CHECKING:
    from collections.abc import Callable

Claim = dict[str, Any]


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


def _timed(claim: Claim) -> bool:
    """Of all acts, only a GPU's profiler answers with launches."""
    return "launches" not in claim or bool(messages.decode(claim, messages.Timed, "launches"))


FORMS: dict[str, Callable[[Claim], bool]] = {
    "start": lambda claim: bool(messages.decode(claim, messages.Ready, "a greeting")),
    "owner": lambda claim: bool(messages.decode(claim, messages.Ownership, "an owner")),
    "command": _timed,
}
