"""Terms that are used before anything says what they mean, on the front pages and in the lessons.

Where a term first stands in prose, it is in a link, or has a tooltip of the glossary, or its meaning is in
the ``glossary.toml`` of that lesson or of an earlier one. Headings count as prose; code, comments and notes
for teachers do not. Code in a line counts where it is the term alone.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tools import glossary, prose

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# Words of the field that a PyTorch user without CUDA may not know, whether or not a glossary has them yet.
FIELD = (
    "eager", "stream", "warp", "SM", "sector", "TF32", "KernelBench", "occupancy", "register",
    "shared memory", "nvcc", "PTX", "autograd", "autocast", "template", "lambda",
)  # fmt: skip
FRONT = ("docs/index.md", "docs/start.md")
LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\[\]]*\])*\]\([^)\n]*\)")


@dataclass(frozen=True, slots=True)
class Use:
    """A first use that nothing explains: ``page`` below the root, its ``line``, and the ``term``."""

    page: str
    line: int
    term: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}: {self.term!r} is used here first, and nothing explains or links it."


@dataclass(frozen=True, slots=True)
class Page:
    """A page to be read. ``lesson`` is its number, 0 of a front page; ``linked`` are places in links.

    ``prose`` has its lines and its places; what is no prose is blank.
    """

    path: str
    lesson: int
    prose: str
    linked: frozenset[int]


def open_uses(root: Path) -> list[Use]:
    """All first uses in the checkout at ``root`` that are not explained, in the order of reading."""
    words = glossary.read(root)
    explained = _explained(root)
    pages = [_page(root, path) for path in _order(root)]
    shown_forms = [form for forms in words.shown.values() for form in forms]
    found = []
    for term in dict.fromkeys((*words.terms, *FIELD)):
        shown = words.shown.get(term, _shown_with(words, term))
        longer = [form for form in shown_forms if term in form.split() and form not in (term, *shown)]
        first = next(((page, m) for page in pages if (m := _first(page, term, shown, longer))), None)
        if first is None:
            continue
        page, match = first
        tooltip = match[0] in shown and page.prose[match.start() - 1 : match.start()] != "`"
        if not (tooltip or match.start() in page.linked or explained.get(term, 100) <= page.lesson):
            found.append(
                (
                    pages.index(page),
                    match.start(),
                    Use(page.path, prose.line(page.prose, match.start()), term),
                )
            )
    return [use for *_, use in sorted(found, key=lambda one: one[:2])]


def _order(root: Path) -> Iterator[Path]:
    yield from (path for name in FRONT if (path := root / name).is_file())
    yield from sorted(root.glob("lessons/[0-9][0-9]_*/README.md"))


def _explained(root: Path) -> dict[str, int]:
    """The lesson whose glossary has a term."""
    found: dict[str, int] = {}
    for path in sorted(root.glob("lessons/[0-9][0-9]_*/glossary.toml")):
        for term in tomllib.loads(path.read_text("utf-8")).get("terms", {}):
            found.setdefault(term, int(path.parent.name[:2]))
    return found


def _shown_with(words: glossary.Glossary, term: str) -> list[str]:
    """The forms of the entry that has ``term`` as one of its forms: SM is shown for multiprocessor."""
    return next((forms for forms in words.shown.values() if term in forms), [])


def _first(page: Page, term: str, shown: list[str], longer: list[str]) -> re.Match[str] | None:
    """Where the term stands first, other than as a part of a ``longer`` one that has a tooltip of its own."""
    text = _form(longer).sub(prose.blank, page.prose) if longer else page.prose
    return _form([term, f"{term}s", *shown]).search(text)


def _form(words: list[str]) -> re.Pattern[str]:
    forms = set(words)
    forms |= {form[0].upper() + form[1:] for form in forms if form.islower()}
    longest = sorted(map(re.escape, forms), key=len, reverse=True)
    return re.compile(rf"(?<![\w.-])(?:{'|'.join(longest)})(?![\w-]|\.\w)")


def _page(root: Path, path: Path) -> Page:
    text = path.read_text("utf-8")
    note = text.find("??? note")
    text = text if note < 0 else text[:note]
    links = LINK.finditer(prose.text_of(text))
    linked = frozenset(k for link in links for k in range(link.start(), link.end()))
    number = int(path.parent.name[:2]) if path.parent.parent.name == "lessons" else 0
    return Page(path.relative_to(root).as_posix(), number, prose.words_of(text), linked)
