"""Turns of phrase that pages avoid, each with what to write instead; see docs/contributing/style.md."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tools import prose

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BEGINS = r"(?:(?<=[.:;!?] )|(?<=\n\n)|(?<=\n\n- )|(?<=\*\* ))"
VERBS = (  # after which "what" is the subject
    "(?:is|was|are|were|has|had|remains|lies|limits|differs|differed|decides|decided|takes|comes|keeps|follows"
    "|stands|counts|matters|goes|makes|happens|helps)"
)
PAGES = ("lessons/*/README.md", "lessons/*/hints.md", "docs/*.md", "docs/guide/*.md")


@dataclass(frozen=True, slots=True)
class Turn:
    """What is avoided, as a pattern, and the advice that is given."""

    pattern: re.Pattern[str]
    advice: str


def _turn(pattern: str, advice: str) -> Turn:
    return Turn(re.compile(pattern), advice)


TURNS = (
    _turn(r"\b[Nn]obody\b|\b[Ss]omebody\b|\b[Ee]verybody\b|\b[Nn]o one\b",
          "name the thread, the program or the person, or say what never happens"),
    _turn(r"\b(?i:whoever)\b|\bfor who\b", 'say "if you", or name the person'),
    _turn(rf"{BEGINS}Who(?! [^.?!]*\?) [^.?!]*[.!]", 'begin with a noun or "you"'),
    _turn(rf"{BEGINS}What(?:ever)? {VERBS}(?! [^.?!]*\?) [^.?!]*[.!]", "begin with the thing itself"),
    _turn(rf"{BEGINS}One (?:can|may|must|should|has to|needs|sees)\b", 'write "you"'),
    _turn(r"\b[Ss]imply\b|\b[Oo]f course\b|\b[Oo]bviously\b|\b[Tt]rivially\b|\b[Nn]eedless to say\b",
          "leave it out: a reader who does not see it feels stupid"),
    _turn(r"(?<!has )(?<!have )(?<!had )(?<!was )(?<!were )\b[Jj]ust\b(?!-)",
          'leave it out, or write "only"'),
    _turn(r"\bcomes? to the same\b|\bcomes? by\b|\bcomes? to pass\b", "say what happens"),
    _turn(r"\bis told (?:with|on|in|by)\b|\bare told (?:with|on|in|by)\b", 'write "is explained in"'),
    _turn(r"\bwitness|\baccus(?:e[sd]?|ation|ing)\b|\bto blame\b|\bguilty\b",
          "no courtroom: say what the number shows"),
)  # fmt: skip


def problems(root: Path, within: tuple[str, ...] = ("",)) -> Iterator[str]:
    """Every place of a turn, with what to write, on pages whose paths begin with one of ``within``."""
    for path in sorted({page for pattern in PAGES for page in root.glob(pattern)}):
        if not (name := path.relative_to(root).as_posix()).startswith(within):
            continue
        text = prose.words_of(path.read_text("utf-8"))
        found = [(match.start(), match[0], turn) for turn in TURNS for match in turn.pattern.finditer(text)]
        for place, said, turn in sorted(found, key=lambda one: one[:2]):
            words = " ".join(said.split()[:6])
            yield f"{name}:{prose.line(text, place)}: {words!r}: {turn.advice}."
