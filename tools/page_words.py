"""How long pages are: words of prose that a reader meets without opening anything, and the most of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import yaml

from grader.domain import folds
from tools import prose

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

GROUP = "For students"  # of the navigation
MOST = 1500


def count(page: str) -> int:
    """Words outside code blocks, comments and folds."""
    return len(prose.text_of(folds.outside(page)).split())


def problems(root: Path) -> Iterator[str]:
    """Pages for students that are too long, a sentence each."""
    _, _, text = (root / "mkdocs.yml").read_text("utf-8").partition("\nnav:\n")
    for name in _pages(yaml.safe_load(text), inside=False):
        path = root / "docs" / name
        if path.is_file() and (words := count(path.read_text("utf-8"))) > MOST:
            yield f"docs/{name} is a page for students and has {words} words; {MOST} is the most."


def _pages(entries: object, *, inside: bool) -> Iterator[str]:
    """Pages below the group, however deep it stands."""
    if isinstance(entries, str):
        yield from [entries] if inside else []
    elif isinstance(entries, list):
        for entry in entries:
            yield from _pages(entry, inside=inside)
    elif isinstance(entries, dict):
        for title, below in entries.items():
            yield from _pages(below, inside=inside or title == GROUP)
