"""Read a name of the submission, or call it with plain values, and answer the result as plain data."""

from __future__ import annotations

import dataclasses
import math
import sys
from typing import TYPE_CHECKING, Any, NotRequired, TypedDict

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    from grader.player.commands import Callback
    from grader.player.stage import Stage

DEPTH, MOST = 6, 10_000


class Said(TypedDict):
    """What a call has returned, as :func:`plain` data; ``line``: where it did, 0 if that is not known."""

    value: object
    line: NotRequired[int]


def perform(
    stage: Stage, _callback: Callback, entry: str, args: list[Any] | None = None, *, traced: bool = False
) -> Said:
    """``{"value": ...}``: of the name ``entry`` itself, or of calling it with ``args``."""
    if args is None:
        missing = object()
        value = getattr(stage.module, entry, missing)
        if value is missing:
            from grader.player.stage import MissingEntryError

            raise MissingEntryError(f"the file defines no {entry}")
        return {"value": plain(value)}
    if traced:
        value, line = called(stage.entry(entry), args)
        return {"value": plain(value), "line": line}
    return {"value": plain(stage.entry(entry)(*args))}


def called(function: Callable[..., Any], args: list[Any]) -> tuple[Any, int]:
    """What a call returns, and the line of the `return` that it took."""
    code, line = getattr(function, "__code__", None), 0

    def inside(frame: FrameType, event: str, _value: object) -> Callable[..., Any]:
        nonlocal line
        if event == "return":
            line = frame.f_lineno
        return inside

    before = sys.gettrace()
    sys.settrace(lambda frame, _event, _value: inside if frame.f_code is code else None)
    try:
        value = function(*args)
    finally:
        sys.settrace(before)
    return value, line


def plain(value: Any, depth: int = 0) -> Any:
    """``value`` as JSON values: numbers, text, lists, dicts; dataclasses and named tuples become dicts.

    NaN and infinity become text, and what cannot be said becomes ``{"type": its name}``.
    """
    if value is None or isinstance(value, (bool, int)):
        return value if not isinstance(value, int) or abs(value) < 1 << 63 else str(value)[:100]
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else str(value)
    if isinstance(value, str):
        return value[:MOST]
    if depth < DEPTH:
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            value = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
        elif isinstance(value, tuple) and hasattr(value, "_asdict"):
            value = value._asdict()
        if isinstance(value, dict):
            return {str(k)[:200]: plain(v, depth + 1) for k, v in list(value.items())[:MOST]}
        if isinstance(value, (set, frozenset)):  # texts lie in it in another order in each process
            value = sorted(value, key=repr)
        if isinstance(value, (list, tuple, range)):
            return [plain(v, depth + 1) for v in list(value)[:MOST]]
        if hasattr(value, "item") and getattr(value, "ndim", None) == 0:
            return plain(value.item(), depth + 1)
    return {"type": type(value).__name__}
