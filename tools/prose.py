"""The prose of a page of Markdown, at its places: code blocks, comments, targets and tags are blanked."""

from __future__ import annotations

import re

NO_PROSE = re.compile(r"\A---\n.*?^---$|^ *(`{3,})[^\n]*\n.*?^ *\1|<!--.*?-->", re.M | re.S)
TARGET = re.compile(r"(?<=\])\([^)\n]*\)|<[^>\n]*>")
CODE = re.compile(r"`+([^`\n]+)`+")


def blank(match: re.Match[str]) -> str:
    """As many spaces and line breaks as were matched."""
    return re.sub(r"[^\n]", " ", match[0])


def text_of(page: str) -> str:
    """``page`` without code blocks, comments and front matter; links and code in lines are still there."""
    return NO_PROSE.sub(blank, page)


def words_of(page: str) -> str:
    """What is left of that without targets of links, tags, and code in lines that is more than a word."""
    text = TARGET.sub(blank, text_of(page))
    return CODE.sub(lambda code: code[0] if re.fullmatch(r"[\w +]+", code[1]) else blank(code), text)


def line(text: str, place: int) -> int:
    """The line of a place in a text, from 1."""
    return text.count("\n", 0, place) + 1
