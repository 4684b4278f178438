"""The memory check: what the back end saw threads do to memory, as one finding."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from grader.backends.simt.request import named
from grader.domain.verdict import Finding, Status

# The back end's kinds of finding, and the status each amounts to; the most telling first.
KINDS: tuple[tuple[str, Status], ...] = (
    ("out-of-bounds", Status.ILLEGAL_ACCESS),
    ("use-after-free", Status.ILLEGAL_ACCESS),
    ("illegal-address", Status.ILLEGAL_ACCESS),
    ("misaligned", Status.ILLEGAL_ACCESS),
    ("host", Status.ILLEGAL_ACCESS),
    ("overflow", Status.WRONG_OUTPUT),
    ("race", Status.RACE),
    ("barrier", Status.BARRIER),
    ("deadlock", Status.BARRIER),
    ("uninit", Status.UNINITIALISED),
    ("not-written", Status.UNINITIALISED),
    ("budget", Status.TIMEOUT),
    ("assert", Status.CUDA_ERROR),
)


MOST_TOLD = 3


def status_of(kind: str) -> Status:
    """The status that a kind of memory finding amounts to."""
    return next((status for part, status in KINDS if part in kind), Status.ILLEGAL_ACCESS)


def errors(seen: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Those that are wrong in any program, the most telling first."""
    order = [status for _, status in KINDS]
    found = [f for f in seen if f.get("severity") != "warning"]
    return sorted(found, key=lambda f: order.index(status_of(str(f.get("kind", "")))))


def told(found: list[dict[str, Any]]) -> tuple[Status, str]:
    """The first of some errors in full, and one of each other kind: a race beside an access out of bounds."""
    first, *others = found
    message, told = describe(first), [_what(first)]
    for other in others:
        if _what(other)[0] not in [what for what, _ in told] and len(told) < MOST_TOLD:
            message += f"\nAlso: {describe(other)}"
            told.append(_what(other))
    more = len({_what(f) for f in others} - set(told))
    if more:
        message += f"\n({more} more {'place' if more == 1 else 'places'} in the source with such errors.)"
    return status_of(str(first.get("kind", ""))), message


def _what(seen: dict[str, Any]) -> tuple[Status, tuple[str, int]]:
    """Its status and its place: what a student would count as one mistake."""
    place = str(seen.get("file", "")), int(seen.get("line") or 0)
    return status_of(str(seen.get("kind", ""))), place


def finding(seen: list[dict[str, Any]], points: int, matched: bool) -> Finding:
    """One finding about all launches. Clean memory earns points only if some case was right (``matched``)."""
    if seen := errors(seen):
        status, message = told(seen)
        return Finding("memory", status, message, 0, points, {"seen": seen[:20]})
    if not matched:
        message = "Memory is judged once an ordinary case is right; a kernel that does nothing is clean."
        return Finding("memory", Status.NOT_RUN, message, 0, points)
    message = "Every access of every thread was inside its tensor, ordered and initialised."
    return Finding("memory", Status.PASSED, message, points, points)


def known(found: Finding, day: str) -> Finding:
    """The same finding; where it rests on an earlier look at the same file, it says of which day."""
    if not day or not found.ok:
        return found
    message = f"{found.message} Seen on {day}, in the same file with the same cases."
    return replace(found, message=message, evidence=found.evidence | {"seen_on": day})


def describe(seen: dict[str, Any]) -> str:
    """One memory finding in a sentence or two: what, where, who."""
    place = named(str(seen.get("file", "")), int(seen.get("line") or 0))
    what = str(seen.get("what", seen.get("kind")))[:600]
    text = f"{place}: {what}" if place else what
    other = seen.get("other")
    if isinstance(other, dict) and status_of(str(seen.get("kind", ""))) is Status.RACE:
        where = f"at line {other['line']}, " if other.get("line") else ""
        text += f" ({where}block {_xyz(other.get('block'))} thread {_xyz(other.get('thread'))})"
    if not text.endswith((".", "?")):
        text += "."
    if seen.get("thread") is not None and seen.get("kernel"):
        owner = f"block {_xyz(seen.get('block'))} thread {_xyz(seen['thread'])}"
        text += f" First seen in {str(seen['kernel'])[:80]}, {owner}"
        count = seen.get("count")
        text += f", {count:,} times." if isinstance(count, int) and count > 1 else "."
    return text


def _xyz(value: Any) -> str:
    return f"({', '.join(str(v) for v in value[:3])})" if isinstance(value, list) else "?"
