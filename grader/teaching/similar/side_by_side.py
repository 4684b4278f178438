"""Groups and pairs on a page: both files beside each other, the lines that they share marked."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from grader.reports.formats.html_page import environment

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grader.teaching.similar.winnow import Pair


@dataclass(frozen=True, slots=True)
class Found:
    """What is alike in one lesson. ``groups``: files that are equal but for comments and layout.

    Of a group only the first is compared with others, so that no pair is listed many times.
    """

    lesson: str
    count: int
    texts: dict[str, str]
    groups: tuple[tuple[str, ...], ...]
    pairs: tuple[Pair, ...]


def page(found: Iterable[Found], note: str) -> str:
    """All that was found, nothing left out; a page that opens from the disk."""
    lessons = [
        {
            "name": one.lesson, "count": one.count, "groups": [", ".join(group) for group in one.groups],
            "pairs": [_sides(pair, one.texts) for pair in one.pairs],
        }
        for one in found
    ]  # fmt: skip
    made: str = environment().get_template("similar.html").render(lessons=lessons, note=note)
    return made


def _sides(pair: Pair, texts: dict[str, str]) -> dict[str, object]:
    return {
        "pair": pair,
        "first": _marked(texts[pair.first], [(a, b) for a, b, _, _ in pair.lines]),
        "second": _marked(texts[pair.second], [(c, d) for _, _, c, d in pair.lines]),
    }


def _marked(text: str, spans: list[tuple[int, int]]) -> str:
    """The text as HTML, a line a line, with its number; those within a span are marked."""
    lines = []
    for number, line in enumerate(text.splitlines(), 1):
        shown = f"{number:4} {escape(line)}"
        lines.append(f"<mark>{shown}</mark>" if any(a <= number <= b for a, b in spans) else shown)
    return "\n".join(lines)
