"""C++ text as tokens: enough to find launches and declarations without parsing the language.

The text is a submission's, so all of this takes time in proportion to its length: what is not closed ends
with the text, brackets are paired once, and the space between two words is one token however it is spelt.
"""

from __future__ import annotations

import functools
import re
from typing import NamedTuple

PATTERN = re.compile(
    r"""
    (?P<space>(?:\s+|//(?:\\\n|[^\n])*|/\*.*?(?:\*/|\Z)|\\\n)+)
  | (?P<raw>(?:u8|u|U|L)?R"(?P<fence>[^()\\\s]{0,16})\(.*?(?:\)(?P=fence)"|\Z))
  | (?P<str>(?:u8|u|U|L)?"(?:\\.|[^"\\\n])*")
  | (?P<chr>(?:u8|u|U|L)?'(?:\\.|[^'\\\n])+')
  | (?P<num>\.?\d(?:[eEpP][+-]|'?[\w.])*)
  | (?P<id>[A-Za-z_]\w*)
  | (?P<launch><<<|>>>)
  | (?P<op>::|->|<<|>>|\\["'\\]|.)
""",
    re.X | re.S,
)
CLOSER = {"(": ")", "[": "]", "{": "}"}
BESIDE_LINES = re.compile(r"//(?:\\\n|[^\n])*|/\*.*?(?:\*/|\Z)|\\\n", re.S)
OPENER = {closer: opener for opener, closer in CLOSER.items()}


class Token(NamedTuple):
    """A piece of the text; together the pieces are the whole text."""

    kind: str
    text: str


class Tokens(list[Token]):
    """The tokens of a text. They are not changed once the brackets are paired: a copy is."""

    @functools.cached_property
    def partners(self) -> list[int]:
        """For each bracket the index of the one that it closes or that closes it, or -1."""
        partners, opened = [-1] * len(self), list[int]()
        for i, token in enumerate(self):
            if token.text in CLOSER:
                opened.append(i)
            elif token.text in OPENER and opened:
                partners[i] = opened.pop()
                partners[partners[i]] = i
        return partners

    def at(self, i: int) -> str:
        """The text of a token, "" where there is none."""
        return self[i].text if 0 <= i < len(self) else ""


def tokenize(text: str) -> Tokens:
    """Every character of ``text``, in tokens; ``<<<`` and ``>>>`` are ``launch`` where they can be one."""
    out = Tokens()
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


def ends_line(token: Token) -> bool:
    """Whether a line of the preprocessor ends in this token."""
    return token.kind == "space" and "\n" in token.text and "\n" in BESIDE_LINES.sub("", token.text)


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


def opening(tokens: Tokens, i: int) -> int:
    """Index of the bracket or angle that the one at ``i`` closes, or -1.

    A list of template arguments holds no launch, no other declaration and no end of a statement, so that none
    is looked for beyond these.
    """
    if tokens[i].text not in (">", ">>", ">>>"):
        return tokens.partners[i]
    depth, begun = 0, i
    while i >= 0:
        text = tokens[i].text
        if text in OPENER:
            i = tokens.partners[i]
        elif text in CLOSER or text in (";", "__global__") or (tokens[i].kind == "launch" and i != begun):
            return -1
        elif text in (">", ">>", ">>>"):
            depth += len(text)
        elif text in ("<", "<<"):
            depth -= len(text)
            if depth == 0:
                return i
        i -= 1
    return -1


def closing(tokens: Tokens, i: int) -> int:
    """Index of the bracket that closes the one at ``i``, or -1."""
    return tokens.partners[i] if tokens[i].text in CLOSER else -1


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
