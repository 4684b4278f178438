"""What a page of results is made of: tables and pictures."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True)
class Described:
    """Markdown of a result, and pictures by name, SVG each."""

    parts: list[str]
    pictures: dict[str, str] = field(default_factory=dict)


def table(columns: list[str], rows: list[list[str]]) -> Iterator[str]:
    """A Markdown table; what looks like a number stands to the right."""
    yield f"| {' | '.join(c.replace('|', '/') or ' ' for c in columns)} |"
    right = [
        all(not r[k] or r[k][0] in "-0123456789" for r in rows) and any(r[k] for r in rows)
        for k in range(len(columns))
    ]
    yield "|" + "|".join("---:" if r else "---" for r in right) + "|"
    for row in rows:
        yield f"| {' | '.join(c.replace('|', '/').replace(chr(10), ' ') for c in row)} |"
    yield ""


def shown(name: str, alt: str) -> list[str]:
    """The picture ``name`` on its page."""
    return ["", f"![{alt}]({name}.svg)", ""]
