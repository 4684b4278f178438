"""Who owns an element: the block and thread that wrote it, or would have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.feedback.explain import own_lines
from grader.protocol import messages
from grader.protocol.messages import Launch, Ownership, Writer
from grader.referee.fault import FaultError

if TYPE_CHECKING:
    from grader.referee.process.player_process import Player

NAN = " NaN is also what memory holds that no thread has written."


@dataclass(frozen=True, slots=True)
class Element:
    """An element of an output: its row-major number and its index; and whether it is NaN.

    ``narrow``: it has fewer than the four bytes of which the CPU back end knows one writer.
    """

    output: int
    flat: int
    index: tuple[int, ...]
    nan: bool
    narrow: bool = False


def find(
    player: Player, element: Element, convention: str, *, launched: bool | None, source: str = ""
) -> tuple[str, dict[str, object]]:
    """A sentence about the owner of an element, and the facts behind it; for files with kernels.

    On simt the shadow memory knows who wrote it. On a GPU the launch is known (from the profiler) and the
    owner follows from the usual index.

    Args:
        player: The submission's, right after the call.
        element: The one that is asked about.
        convention: The usual index: "flat", or "row_col" with x along the columns.
        launched: Whether the CPU back end saw a kernel run in this call, None if it did not look.
        source: The submission's text, by which a line is that where its statement begins.
    """
    try:
        answer = player.ask("owner", 10.0, output=element.output, index=element.flat).data
    except FaultError:
        return "", {}
    owner, nan = messages.decode(answer, Ownership), NAN if element.nan else ""
    if owner.seen:
        return _seen(owner.writer, nan, source, launched=launched, narrow=element.narrow)
    if owner.traced and owner.last is None:
        return " No kernel of the file was launched.", {"owner": None}
    if owner.last and len(owner.last.grid) == len(owner.last.block) == 3:
        text, facts = _usual(owner.last, element, convention)
        return f"{text}{nan}", facts
    return "", {}


def _seen(
    writer: Writer | None, nan: str, source: str, *, launched: bool | None, narrow: bool
) -> tuple[str, dict[str, object]]:
    if writer is None:
        if launched is None:
            return "", {}
        if not launched:
            return " No kernel of the file was launched.", {"owner": None}
        return f" No thread of the file's kernels wrote this element.{nan}", {"owner": None}
    own = writer.file.endswith(".py")
    line = own_lines.begun(own_lines.code_of(source), writer.line) if own else writer.line
    at = f", at line {line}" if line else ""
    what = "It, or its neighbour in the same four bytes," if narrow else "It"
    text = f" {what} was written by block {writer.block} thread {writer.thread}{at}."
    return text, {"owner": messages.plain(writer)}


def _usual(launch: Launch, element: Element, convention: str) -> tuple[str, dict[str, object]]:
    (bx, by, _), (gx, gy, _) = ([max(1, n) for n in shape] for shape in (launch.block, launch.grid))
    if convention == "row_col" and len(element.index) == 2:
        row, column = element.index
        block, thread = (column // bx, row // by, 0), (column % bx, row % by, 0)
        inside = block[0] < gx and block[1] < gy
    else:
        block, thread = (element.flat // bx, 0, 0), (element.flat % bx, 0, 0)
        inside = block[0] < gx
    facts = {"grid": list(launch.grid), "block_size": list(launch.block), "kernel": launch.kernel[:200]}
    size = f"{launch.grid[0]}x{launch.grid[1]} blocks of {bx}x{by}"
    if not inside:
        text = f" The launch of {size} threads has no thread for it: it would be block {block}."
        return text, facts | {"owner": None}
    text = f" With the usual index it belongs to block {block} thread {thread} of {size} threads."
    return text, facts | {"owner": {"block": list(block), "thread": list(thread)}}
