"""What another machine answered: data that is checked for size, form and text before anything uses it."""

from __future__ import annotations

import re
from typing import Any, TypeVar

import msgspec

from grader.domain import typed_data
from grader.domain.errors import BadInputError
from grader.domain.verdict import SCHEMA, Verdict
from grader.domain.visible import all_visible

CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")  # but not tabs and ends of lines
MOST_DEEP = 60
Form = TypeVar("Form")


def text(data: bytes | str) -> str:
    """A text without characters that a terminal would obey."""
    found = data if isinstance(data, str) else data.decode("utf-8", "replace")
    return all_visible(CONTROL.sub("", found.replace("\r\n", "\n")))


def plain(data: bytes) -> Any:
    """JSON whose texts are all clean; BadInputError for anything else."""
    try:
        found = typed_data.decode(data, Any)
        return all_visible(_clean(found, MOST_DEEP))
    except (msgspec.DecodeError, RecursionError, UnicodeError, ValueError) as error:
        raise _wrong(f"no JSON: {error}") from error


def form(data: bytes, kind: type[Form]) -> Form:
    """The same as an object of a type, whose fields are checked."""
    try:
        return typed_data.convert(plain(data), kind)
    except msgspec.ValidationError as error:
        raise _wrong(str(error)) from error


def verdict(data: bytes | object) -> Verdict:
    """A verdict in its published form, with points that can be."""
    found = plain(data) if isinstance(data, bytes) else data
    if not isinstance(found, dict) or found.get("schema") != SCHEMA:
        raise _wrong(f"a verdict is {SCHEMA}")
    try:
        one = Verdict.from_json(found)
    except (msgspec.ValidationError, ValueError) as error:
        raise _wrong(str(error)) from error
    if not one.findings or any(not 0 <= f.points <= f.max_points for f in one.findings):
        raise _wrong("points lie between 0 and what a check has")
    if one.backend not in ("cuda", "simt") or len({f.id for f in one.findings}) < len(one.findings):
        raise _wrong("each check is there once, and judged by a back end that there is")
    return one


def _clean(value: Any, deep: int) -> Any:
    if deep < 0:
        raise ValueError("too deep")
    if isinstance(value, str):
        return CONTROL.sub("", value)
    if isinstance(value, dict):
        return {_clean(k, deep): _clean(v, deep - 1) for k, v in value.items()}
    if isinstance(value, list):
        return [_clean(v, deep - 1) for v in value]
    return value


def _wrong(reason: str) -> BadInputError:
    return BadInputError(f"What came back is no result ({text(reason)[:200]}), so nothing of it is used.")
