"""The memory check: what the back end saw threads do to memory, as one finding."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec

from grader.backends.extension.request import named
from grader.domain.verdict import Finding, Status

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.domain.exercise_stage import Stage
    from grader.protocol.messages import MemoryFinding

# The back end's kinds of finding, and the status each amounts to; the most telling first.
KINDS: tuple[tuple[str, Status], ...] = (
    ("unseen", Status.TAMPERED),
    ("out-of-bounds", Status.ILLEGAL_ACCESS),
    ("use-after-free", Status.ILLEGAL_ACCESS),
    ("illegal-address", Status.ILLEGAL_ACCESS),
    ("misaligned", Status.ILLEGAL_ACCESS),
    ("cluster-address", Status.ILLEGAL_ACCESS),
    ("free", Status.ILLEGAL_ACCESS),
    ("host", Status.ILLEGAL_ACCESS),
    ("integer-overflow", Status.WRONG_OUTPUT),
    ("division", Status.WRONG_OUTPUT),
    ("race", Status.RACE),
    ("barrier", Status.BARRIER),
    ("deadlock", Status.BARRIER),
    ("cooperative", Status.BARRIER),  # a barrier of the grid, in a launch that has none
    ("mask", Status.BARRIER),
    ("lane", Status.BARRIER),
    ("uninit", Status.UNINITIALISED),
    ("not-written", Status.UNINITIALISED),
    ("missing-return", Status.UNINITIALISED),
    ("budget", Status.TIMEOUT),
    ("assert", Status.CUDA_ERROR),
    ("local-memory", Status.CUDA_ERROR),
    ("async-copy", Status.CUDA_ERROR),
    ("child-launch", Status.CUDA_ERROR),
)

MOST_TOLD, MOST_PUBLISHED, MOST_WHAT, MOST_NAME = 3, 20, 600, 80


def status_of(kind: str) -> Status:
    """The status that a kind of memory finding amounts to."""
    return next((status for part, status in KINDS if part in kind), Status.ILLEGAL_ACCESS)


def errors(seen: Sequence[MemoryFinding]) -> list[MemoryFinding]:
    """Those that are wrong in any program, the most telling first."""
    order = [status for _, status in KINDS]
    found = [f for f in seen if f.severity != "warning"]
    return sorted(found, key=lambda f: order.index(status_of(f.kind)))


def told(found: Sequence[MemoryFinding]) -> tuple[Status, str]:
    """The first of some errors in full, and one of each other kind: a race beside an access out of bounds."""
    first, *others = found
    past = {f.place for f in found if status_of(f.kind) is Status.ILLEGAL_ACCESS}
    # What an access past the end meets in memory, another tensor's element, is no mistake of its own.
    others = [f for f in others if status_of(f.kind) is not Status.UNINITIALISED or f.place not in past]
    message, told = describe(_counted(first, found)), [_what(first)]
    for other in others:
        if _what(other)[0] not in [what for what, _ in told] and len(told) < MOST_TOLD:
            message += f"\nAlso: {describe(_counted(other, found))}"
            told.append(_what(other))
    more = len({_what(f) for f in others} - set(told))
    if more:
        message += f"\n({more} more {'place' if more == 1 else 'places'} in the source with such errors.)"
    return status_of(first.kind), message


def _counted(one: MemoryFinding, found: Sequence[MemoryFinding]) -> MemoryFinding:
    """The same, as often as it was seen in all: a compiler may write a line of the source more than once."""
    alike = [
        f for f in found if (f.kind, f.place, f.kernel, f.what) == (one.kind, one.place, one.kernel, one.what)
    ]
    return msgspec.structs.replace(one, count=sum(f.count or 1 for f in alike))


def at_statements(seen: Sequence[MemoryFinding], source: str) -> list[MemoryFinding]:
    """The same, but a write of a statement over several lines is in the first of them, as others name it."""
    if not seen:
        return []
    from grader.feedback.explain import own_lines  # explanations are loaded where something failed

    code = own_lines.code_of(source)
    return [
        msgspec.structs.replace(f, line=own_lines.begun(code, f.line))
        if f.access == "write" and f.line and not named(*f.place).startswith("line ")
        else f
        for f in seen
    ]


def _what(seen: MemoryFinding) -> tuple[Status, tuple[str, int]]:
    """Its status and its place: what a student would count as one mistake."""
    return status_of(seen.kind), seen.place


def _staged(
    seen: Sequence[MemoryFinding], stages: Sequence[Stage]
) -> tuple[list[MemoryFinding], list[MemoryFinding]]:
    """The errors of the first stage that has any, and those of later ones, which may not be written yet."""
    number = {name: k for k, stage in enumerate(stages) for name in stage.checks}
    at = [number.get(str(getattr(f, "check", "")), 0) for f in seen]
    first = min(at, default=0)
    now = [f for f, stage in zip(seen, at, strict=True) if stage == first]
    return now, [f for f, stage in zip(seen, at, strict=True) if stage > first]


def finding(
    seen: Sequence[MemoryFinding], points: int, *, matched: bool, stages: Sequence[Stage] = ()
) -> Finding:
    """One finding about all launches. Clean memory earns points only if some case was right (``matched``).

    ``stages``: of the exercise; what is told is of the first of them that has errors.
    """
    if seen := errors(seen):
        now, later = _staged(seen, stages)
        status, message = told(now)
        seen = [*now, *later]
        return Finding(
            "memory", status, message, 0, points, {"seen": [f.as_json() for f in seen[:MOST_PUBLISHED]]}
        )
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


def describe(seen: MemoryFinding) -> str:
    """One memory finding in a sentence or two: what, where, who."""
    place, text = named(*seen.place), seen.what[:MOST_WHAT]
    text = f"{place}: {text}" if place else text
    if (other := seen.other) and status_of(seen.kind) is Status.RACE:
        where = f"at line {other.line}, " if other.line else ""
        text += f" ({where}block {other.block} thread {other.thread})"
    if not text.endswith((".", "?")):
        text += "."
    if seen.thread and seen.kernel:
        # Another thread of the host may have done it meanwhile: the accesses that are not seen have no owner.
        when = "Seen while this ran:" if seen.kind == "unseen-access" else "First seen in"
        text += f" {when} {seen.kernel[:MOST_NAME]}, block {seen.block or '?'} thread {seen.thread}"
        text += f"; seen {seen.count:,} times in all." if (seen.count or 1) > 1 else "."
    return text
