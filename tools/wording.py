"""Turns that a reader of the course stumbles over, and what to write in their place."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

TURNS = {
    r"for who(?:ever)? (?:wants?|likes?)": "if you want to",
    r"[Ww]hoever \w+": "if you ..., or the one who does it by name",
    r"\bnobody\b": "you, no thread, no test: who exactly?",
    r"\bcomes? to the same\b": "gives the same",
    r"\b[Ss]o it is with\b": "the same holds for",
    r"\b(?:is|are) told (?:by|with)\b": "is explained in, is shown by",
    r"\bis no (?:witness|cheat|excuse)\b": "proves nothing, does not excuse",
    r"\bthreads? .{0,30}\bcomes? by\b": "reach",
    r"\bWhat is (?:new|told|asked) is\b": "New is ..., with the noun first",
}
CODE = re.compile(r"^ *```.*?^ *```|`[^`\n]+`", re.M | re.S)


def problems(page: str) -> Iterator[str]:
    """The turns of ``TURNS`` on a page, a sentence each; its code is not looked at."""
    text = CODE.sub("", page)
    for turn, better in TURNS.items():
        for match in re.finditer(turn, text):
            line = text.count("\n", 0, match.start()) + 1
            yield f"about line {line}: {match[0]!r}; better: {better}."
