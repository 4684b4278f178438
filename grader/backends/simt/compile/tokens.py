"""C++ text as tokens: enough to find launches and declarations without parsing the language."""

from __future__ import annotations

import re
from typing import NamedTuple

PATTERN = re.compile(
    r"""
    (?P<space>\s+|//(?:\\\n|[^\n])*|/\*.*?\*/|\\\n)
  | (?P<raw>(?:u8|u|U|L)?R"(?P<fence>[^()\\\s]{0,16})\(.*?\)(?P=fence)")
  | (?P<str>(?:u8|u|U|L)?"(?:\\.|[^"\\\n])*")
  | (?P<chr>(?:u8|u|U|L)?'(?:\\.|[^'\\\n])+')
  | (?P<num>\.?\d(?:[eEpP][+-]|'?[\w.])*)
  | (?P<id>[A-Za-z_]\w*)
  | (?P<launch><<<|>>>)
  | (?P<op>::|->|<<|>>|.)
""",
    re.X | re.S,
)
CLOSER = {"(": ")", "[": "]", "{": "}"}
OPENER = {closer: opener for opener, closer in CLOSER.items()}


class Token(NamedTuple):
    """A piece of the text; together the pieces are the whole text."""

    kind: str
    text: str


def tokenize(text: str) -> list[Token]:
    """Every character of ``text``, in tokens; ``<<<`` and ``>>>`` are ``launch`` where they can be one."""
    out: list[Token] = []
    open_launches = 0
    for match in PATTERN.finditer(text):
        kind = match.lastgroup or "op"
        token = Token("raw" if kind == "fence" else kind, match.group())
        if token.text == "<<<":
            open_launches += 1
        elif token.text == ">>>":
            if not open_launches:  # A<B<C<int>>>
                out += [Token("op", ">")] * 3
                continue
            open_launches -= 1
        out.append(token)
    return out


def joined(tokens: list[Token]) -> str:
    """The text of the tokens."""
    return "".join(token.text for token in tokens)


def previous(tokens: list[Token], i: int) -> int:
    """Index of the last token before ``i`` that is not space, or -1."""
    i -= 1
    while i >= 0 and tokens[i].kind == "space":
        i -= 1
    return i


def following(tokens: list[Token], i: int) -> int:
    """Index of the first token after ``i`` that is not space, or ``len(tokens)``."""
    i += 1
    while i < len(tokens) and tokens[i].kind == "space":
        i += 1
    return i


def opening(tokens: list[Token], i: int) -> int:
    """Index of the bracket that the bracket or angle at ``i`` closes, or -1."""
    angle = tokens[i].text in (">", ">>", ">>>")
    depth = 0
    while i >= 0:
        text = tokens[i].text
        if text in OPENER:
            if angle:
                i = opening(tokens, i)
            else:
                depth += 1
        elif text in CLOSER:
            depth -= 1
            if depth == 0 and not angle:
                return i
        elif angle and text in (">", ">>", ">>>"):
            depth += len(text)
        elif angle and text in ("<", "<<", "<<<"):
            depth -= len(text)
            if depth == 0:
                return i
        i -= 1
    return -1


def closing(tokens: list[Token], i: int) -> int:
    """Index of the bracket that closes the one at ``i``, or -1."""
    depth = 0
    for j in range(i, len(tokens)):
        if tokens[j].text in CLOSER:
            depth += 1
        elif tokens[j].text in OPENER:
            depth -= 1
            if depth == 0:
                return j
    return -1


def split_commas(tokens: list[Token]) -> list[list[Token]]:
    """The tokens between commas that stand in no bracket of any kind; [] for nothing at all."""
    parts: list[list[Token]] = [[]]
    depth = 0
    for token in tokens:
        if token.text in CLOSER or token.text == "<":
            depth += 1
        elif token.text in OPENER or token.text == ">":
            depth -= 1
        elif token.text == ">>":
            depth -= 2
        if token.text == "," and depth == 0:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts if any(t.kind != "space" for part in parts for t in part) else []
