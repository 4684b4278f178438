"""Who owns an element: the block and thread that wrote it, or would have."""

from __future__ import annotations

from typing import Any

from grader.referee.fault import FaultError
from grader.referee.process.player_process import Player

NAN = " NaN is also what memory holds that no thread has written."


def find(
    player: Player,
    output: int,
    flat: int,
    index: tuple[int, ...],
    convention: str,
    *,
    launched: bool | None,
    nan: bool,
) -> tuple[str, dict[str, Any]]:
    """A sentence about the owner of an output's element, and the facts behind it; for files with kernels.

    ``launched``: whether the CPU back end saw a kernel run in this call, None if it did not look. ``nan``:
    whether the element is NaN.

    On simt the shadow memory knows who wrote it. On a GPU the launch is known (from the profiler) and the
    owner follows from the usual index: ``convention`` "flat", or "row_col" with x along the columns.
    """
    try:
        answer = player.ask("owner", 10.0, output=output, index=flat).data
    except FaultError:
        return "", {}
    if "owner" in answer:
        return _seen(answer["owner"], launched, NAN if nan else "")
    if answer.get("launched") is False:
        return " No kernel of the file was launched.", {"owner": None}
    if isinstance(answer.get("block"), list) and isinstance(answer.get("grid"), list):
        text, facts = _usual(answer, flat, index, convention)
        return (f"{text}{NAN}" if nan else text), facts
    return "", {}


def _seen(owner: Any, launched: bool | None, nan: str) -> tuple[str, dict[str, Any]]:
    if owner is None and launched is None:
        return "", {}
    if owner is None and not launched:
        return " No kernel of the file was launched.", {"owner": None}
    if not isinstance(owner, dict):
        return f" No thread of the file's kernels wrote this element.{nan}", {"owner": None}
    at = f", at line {owner['line']}" if owner.get("line") else ""
    text = f" It was written by block {_xyz(owner.get('block'))} thread {_xyz(owner.get('thread'))}{at}."
    return text, {"owner": owner}


def _usual(
    launch: dict[str, Any], flat: int, index: tuple[int, ...], convention: str
) -> tuple[str, dict[str, Any]]:
    bx, by, _ = (max(1, int(v)) for v in launch["block"][:3])
    gx, gy, _ = (max(1, int(v)) for v in launch["grid"][:3])
    if convention == "row_col" and len(index) == 2:
        row, column = index
        block, thread = (column // bx, row // by, 0), (column % bx, row % by, 0)
        inside = block[0] < gx and block[1] < gy
    else:
        block, thread = (flat // bx, 0, 0), (flat % bx, 0, 0)
        inside = block[0] < gx
    facts = {
        "grid": launch["grid"][:3],
        "block_size": launch["block"][:3],
        "kernel": str(launch.get("kernel"))[:200],
    }
    size = f"{launch['grid'][0]}x{launch['grid'][1]} blocks of {bx}x{by}"
    if not inside:
        text = f" The launch of {size} threads has no thread for it: it would be block {_xyz(block)}."
        return text, facts | {"owner": None}
    text = f" With the usual index it belongs to block {_xyz(block)} thread {_xyz(thread)} of {size} threads."
    return text, facts | {"owner": {"block": list(block), "thread": list(thread)}}


def _xyz(value: Any) -> str:
    return f"({', '.join(str(int(v)) for v in value)})" if isinstance(value, (list, tuple)) else "?"
