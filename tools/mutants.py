"""Wrong versions of a lesson's solution, and unusual right ones: ``mutants.toml`` beside the lesson.

Each is made from the solution by putting one text in place of another that occurs exactly once. So a change
of the solution that a mutant no longer fits is noticed, and what does not differ is compiled only once.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FEWEST = 12


class Solved(Protocol):
    """What has a solution: a lesson, or a problem of the capstone. ``mutants.toml`` lies in its folder."""

    @property
    def folder(self) -> Path:
        """Where its files lie."""

    @property
    def exercise(self) -> Path:
        """The starter."""

    @property
    def solution(self) -> Path:
        """What the starter becomes."""


class EditError(ValueError):
    """A text that a mutant replaces is not exactly once in the solution."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """A version of a solution: ``edits`` are pairs of a text and its replacement, made one after another.

    ``fails`` are the checks that a wrong version must fail. Beside them it fails none but those that it
    ``may``: whether it does is a matter of the size that such a check draws. If there are no ``fails``, it
    must lose points and still be a program. ``right`` versions get full marks.
    """

    name: str
    edits: tuple[tuple[str, str], ...]
    fails: frozenset[str] = frozenset()
    right: bool = False
    may: frozenset[str] = frozenset()

    def text(self, solution: str) -> str:
        """The version's source. Raises EditError if an edit does not fit the solution."""
        return edited(self.name, self.edits, solution)


def edited(name: str, edits: tuple[tuple[str, str], ...], text: str) -> str:
    """``text`` after ``edits``. Raises EditError, with ``name``, if one does not fit exactly once."""
    for find, replace in edits:
        if (count := text.count(find)) != 1:
            raise EditError(f"{name!r}: its text {find[:60]!r} occurs {count} times in the solution")
        text = text.replace(find, replace)
    return text


def declared(lesson: Solved) -> list[Mutant]:
    """All versions that the lesson declares, the wrong ones first; none if it has no such file."""
    path = lesson.folder / "mutants.toml"
    if not path.is_file():
        return []
    listed = tomllib.loads(path.read_text("utf-8"))
    return [
        Mutant(
            m["name"],
            tuple((a, b) for a, b in m.get("edits") or [(m["find"], m["replace"])]),
            frozenset(m.get("fails", ())),
            word == "variant",
            frozenset(m.get("may", ())),
        )
        for word in ("mutant", "variant")
        for m in listed.get(word, [])
    ]


def problems(lesson: Solved, fewest: int = FEWEST) -> Iterator[str]:
    """Fewer mutants than ``fewest``, two of one name or text, and edits that do not fit, a sentence each."""
    every = declared(lesson)
    wrong = [m for m in every if not m.right]
    if len(wrong) < fewest:
        yield f"there are {len(wrong)} mutants, not {fewest}."
    if len({m.name for m in every}) < len(every):
        yield "two mutants have one name."
    solution, seen = lesson.solution.read_text("utf-8"), {}
    seen[solution] = "the solution"
    for mutant in every:
        try:
            text = mutant.text(solution)
        except EditError as error:
            yield f"mutant {error}."
            continue
        if text in seen:
            yield f"mutant {mutant.name!r} is the same as {seen[text]}."
        seen[text] = repr(mutant.name)
