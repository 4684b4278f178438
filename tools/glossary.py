"""The glossary: a page of the site, and tooltips on the lessons' pages.

Each lesson explains its own words in its ``glossary.toml``; those that belong to none are in ``docs/``.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from grader.domain.task import Task

HEAD = """\
---
hide: [toc]
---

# Glossary

The words of the course, each with the lesson that introduces it. On the lessons' pages a word with a dotted
line tells its meaning when you point at it."""


@dataclass(frozen=True, slots=True)
class Glossary:
    """``terms``: what each word means. ``shown``: in which forms it has a tooltip."""

    terms: dict[str, str]
    shown: dict[str, list[str]]

    def page(self, tasks: dict[str, Task]) -> str:
        """All words in order of the alphabet; ``tasks`` by the names of the lessons' folders."""
        where = {word: name for name, task in tasks.items() for word in (*task.introduces, *task.terms)}
        every = sorted(self.terms, key=_letters)
        begun = list(dict.fromkeys(_letters(word)[0].upper() for word in every))
        parts = [HEAD, "", " ".join(f"[{letter}](#{letter.lower()})" for letter in begun), "{ .letters }", ""]
        for word in every:
            if begun and _letters(word)[0].upper() == begun[0]:
                letter = begun.pop(0)
                parts.append(f"## {letter} {{#{letter.lower()}}}\n")
            name = where.get(word)
            lesson = f" [Lesson {name[:2]}](../lessons/{name}/README.md)" if name else ""
            parts.append(f"### {word} {{#{anchor(word)}}}\n\n{self.terms[word]}{lesson}\n")
        return "\n".join(parts)

    def links(self, tasks: dict[str, Task]) -> dict[str, str]:
        """Where a lesson's page finds each word: its meaning, or the lesson whose subject it is."""
        there = {word: f"../../reference/glossary.md#{anchor(word)}" for word in self.terms}
        for name, task in tasks.items():
            there |= {word: f"../{name}/README.md" for word in task.introduces if word not in there}
        return there

    def tooltips(self) -> str:
        """Definitions of abbreviations, to be put below a page's text."""
        lines = [f"*[{form}]: {self.terms[word]}" for word, forms in self.shown.items() for form in forms]
        return "\n\n" + "\n".join(lines) + "\n"

    def problems(self, tasks: dict[str, Task]) -> Iterator[str]:
        """Words that a lesson introduces and nobody explains, and other disorder, a sentence each."""
        introduced = [word for task in tasks.values() for word in (*task.introduces, *task.terms)]
        for word in introduced:
            if word not in self.terms:
                yield f"the glossary.toml of the lesson that introduces {word!r} does not explain it."
        for word in self.shown:
            if word not in self.terms:
                yield f"a glossary.toml has tooltips for {word!r}, but no meaning."
        forms = [form for many in self.shown.values() for form in many]
        if len(set(forms)) < len(forms):
            yield "the glossary gives one form to two words."
        for word, meaning in self.terms.items():
            if not meaning.endswith(".") or '"' in meaning:
                yield f"the glossary: the meaning of {word!r} is not a plain sentence."


def anchor(word: str) -> str:
    """Where the page has a word: ``glossary.md#term-sector``."""
    return "term-" + re.sub(r"[^a-z0-9]+", "-", word.lower()).strip("-")


def _letters(word: str) -> str:
    return re.sub(r"^[^a-z0-9]+", "", word.lower()) or word.lower()


def read(root: Path) -> Glossary:
    """The glossary of the checkout ``root``: the site's own words and those of each lesson."""
    terms: dict[str, str] = {}
    shown: dict[str, list[str]] = {}
    for path in (root / "docs" / "glossary.toml", *sorted(root.glob("lessons/*/glossary.toml"))):
        if path.is_file():
            data = tomllib.loads(path.read_text("utf-8"))
            terms |= data.get("terms", {})
            shown |= data.get("shown", {})
    return Glossary(terms, shown)
