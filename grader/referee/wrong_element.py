"""The first wrong element of a case in a recording: whose it is, and what is known of its writer."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.domain.digits import apart
from grader.domain.thread_recording import DTYPES, MORE, UPDATES, WRITES, Object, Seen

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from grader.domain.thread_recording import Column, Head
    from grader.domain.verdict import Finding
    from grader.protocol.messages import Xyz

KIND = "wrong-result"


@dataclass(frozen=True, slots=True)
class Element:
    """An element of a recorded tensor: the object's number, and the element's in the object."""

    object: int
    number: int
    name: str


def find(objects: Sequence[Object], contents: bytes, evidence: Mapping[str, Any]) -> Element | None:
    """The element that a verdict's evidence names first; None where its tensor cannot be told."""
    index, many = evidence.get("first_wrong"), evidence.get("elements")
    if not isinstance(index, list) or not isinstance(many, int):
        return None
    found: list[tuple[int, int]] = []
    for number, one in enumerate(objects):
        shape = one.shape if index else ()
        if one.kind != "tensor" or math.prod(one.shape) != many or len(shape) != len(index):
            continue
        if all(0 <= at < extent for at, extent in zip(index, shape, strict=True)):
            found.append((number, int(np.ravel_multi_index(index, shape)) if index else 0))
    for narrows in (_holds, _changed):
        if len(found) > 1:
            some = [
                (n, flat) for n, flat in found if narrows(objects[n], flat, contents, evidence.get("got"))
            ]
            found = some or found
    if len(found) != 1:
        return None
    number, flat = found[0]
    place = f"[{', '.join(map(str, index))}]" if index else ""
    return Element(number, flat, f"{objects[number].name or 'the result'}{place}")


def written(one: Object, number: int, contents: bytes, at: int) -> bool | None:
    """Whether anything had written an element when the contents at ``at`` were kept; None: they were not."""
    if at < 0:
        return None
    return all(_bytes(one, number, contents, at + one.bytes))


def last_write(columns: Mapping[str, Column], one: Object, element: Element) -> int:
    """The last event that writes the element, -1 if none does."""
    start = element.number * one.element
    offset = columns["offset"].astype(np.int64)
    size = np.minimum(columns["size"], 8)  # the rest of a wide access is an event of its own
    hits = np.isin(columns["op"], (WRITES, UPDATES, MORE)) & (columns["object"] == element.object)
    hits &= (offset < start + one.element) & (offset + size > start)
    for hit in np.flatnonzero(hits)[::-1].tolist():
        at = hit
        while columns["op"][at] == MORE and at:
            at -= 1
        if columns["op"][at] in (WRITES, UPDATES):
            return int(at)
    return -1


def unwritten(
    one: Object, element: Element, contents: bytes, failed: Finding, event: int, line: int
) -> Seen:  # fmt: skip
    """A finding on an element that nothing that was recorded wrote, at the end of its launch."""
    evidence = failed.evidence
    told = said(element, evidence)
    before = written(one, element.number, contents, one.before)
    after = written(one, element.number, contents, one.after)
    owner = evidence.get("owner")
    if after is False:
        told += "when this launch ends, no thread has written it"
    elif isinstance(owner, dict):
        told += f"line {owner['line']} wrote it, in block {tuple(owner['block'])}, which was not recorded"
    elif (
        before
        and after
        and _bytes(one, element.number, contents, one.before)
        == _bytes(one, element.number, contents, one.after)
    ):
        told += "nothing that was recorded wrote it, and it holds what it held before the launch"
    else:
        told += "nothing that was recorded wrote it"
    block = tuple(owner["block"]) if isinstance(owner, dict) and after is not False else None
    return Seen(KIND, event, -1, -1, told, failed.message, block, None, line,
                object=element.object, element=element.number)  # fmt: skip


def said(element: Element, evidence: Mapping[str, Any]) -> str:
    """The beginning of a sentence: what it is, and what it should be."""
    got, want = evidence.get("got"), evidence.get("expected")
    if isinstance(got, float) and isinstance(want, float):
        got, want = apart(got, want)
    return f"{element.name} is {_short(got)}, expected {_short(want)}: "


def nearest(head: Head, seen: Seen) -> Xyz:
    """The block that lies in its grid as the element does in its tensor: it or its neighbours end there."""
    shape, rest, place = head.objects[seen.object].shape, seen.element, list[int]()
    for extent in reversed(shape):
        place.append(rest % max(1, extent))
        rest //= max(1, extent)
    grid = head.launch.grid
    if grid[1] == grid[2] == 1:  # one row of blocks: the elements are counted through
        return min(grid[0] - 1, seen.element * grid[0] // max(1, math.prod(shape))), 0, 0
    along = [*zip(place, reversed(shape), strict=True), (0, 1), (0, 1)]
    x, y, z = (min(blocks - 1, at * blocks // max(1, extent))
               for blocks, (at, extent) in zip(grid, along, strict=False))  # fmt: skip
    return x, y, z


def _holds(one: Object, number: int, contents: bytes, got: object) -> bool:
    """Whether it holds after the launch what was returned."""
    if one.after < 0:
        return False
    if one.dtype not in DTYPES:
        return not written(one, number, contents, one.after)
    value = float(np.frombuffer(_bytes(one, number, contents, one.after), DTYPES[one.dtype])[0])
    if isinstance(got, int | float):
        return value == got
    return str(value) == got


def _changed(one: Object, _number: int, contents: bytes, _got: object) -> bool:
    """Whether the launch changed anything of the tensor, or left some of it unwritten."""
    if one.before < 0 or one.after < 0:
        return False
    before, after = (contents[at : at + 2 * one.bytes] for at in (one.before, one.after))
    return before != after or 0 in after[one.bytes :]


def _bytes(one: Object, number: int, contents: bytes, at: int) -> bytes:
    start = at + number * one.element
    return contents[start : start + one.element]


def _short(value: object) -> str:
    return f"{value:.7g}" if isinstance(value, float) else str(value)
