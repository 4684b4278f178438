"""Shared and ``__device__`` variables as a source declares them: name, type and extents."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from grader.domain.thread_recording import CPP

if TYPE_CHECKING:
    from collections.abc import Iterable

DECLARED = re.compile(
    r"__(?:shared|device)__\s+((?:[A-Za-z_][\w:]*\s+)*?[A-Za-z_]\w*)\s+([A-Za-z_]\w*[^;{}]*);"
)
VARIABLE = re.compile(r"([A-Za-z_]\w*)((?:\s*\[[^\]]*\])*)\s*(?:=.*)?")
CONSTANT = re.compile(
    r"(?:constexpr|const)\s+(?:unsigned\s+|static\s+)*\w+\s+([^;]+);|#\s*define\s+(\w+)\s+([^\n/]+)"
)
NAMED = re.compile(r"([A-Za-z_]\w*)\s*=\s*([^,;]+)")
SUM = re.compile(r"[\w\s+*/()-]+")
MOST_TEXT, MOST_TERM = 200_000, 60


def declared(texts: Iterable[str]) -> dict[str, tuple[str, tuple[int, ...]]]:
    """(dtype, shape) by name; what is no number of the source's has no entry."""
    found: dict[str, tuple[str, tuple[int, ...]]] = {}
    for text in texts:
        text = text[:MOST_TEXT]
        known = _constants(text)
        for match in DECLARED.finditer(text):
            dtype = CPP.get(" ".join(match[1].split()), "")
            for one in re.split(r",(?![^\[]*\])", match[2]):
                if variable := VARIABLE.fullmatch(one.strip()):
                    extents = [_number(e, known) for e in re.findall(r"\[([^\]]*)\]", variable[2])]
                    if dtype and all(e is not None for e in extents):
                        found[variable[1]] = dtype, tuple(e for e in extents if e is not None) or (1,)
    return found


def _constants(text: str) -> dict[str, int]:
    known: dict[str, int] = {}
    for match in CONSTANT.finditer(text):
        pairs = [(match[2], match[3])] if match[2] else NAMED.findall(match[1])
        for name, term in pairs:
            if (value := _number(term, known)) is not None:
                known[name] = value
    return known


def _number(term: str, known: dict[str, int]) -> int | None:
    """The value of a term of whole numbers, known names and + - * / ( ); None for any other."""
    term = re.sub(r"[A-Za-z_]\w*", lambda m: str(known.get(m[0], "?")), term.strip())
    if len(term) > MOST_TERM or not SUM.fullmatch(term):
        return None
    try:
        return _Term(re.findall(r"\d+|[-+*/()]", term)).value()
    except (IndexError, ValueError, ZeroDivisionError):
        return None


class _Term:
    """A recursive descent over whole numbers."""

    def __init__(self, words: list[str]) -> None:
        self._words = [*words, ""]

    def value(self) -> int:
        """Of all of it."""
        result = self._sum()
        if self._words[0]:
            raise ValueError
        return result

    def _sum(self) -> int:
        result = self._product()
        while self._words[0] and self._words[0] in "+-":
            sign = 1 if self._words.pop(0) == "+" else -1
            result += sign * self._product()
        return result

    def _product(self) -> int:
        result = self._one()
        while self._words[0] and self._words[0] in "*/":
            if self._words.pop(0) == "*":
                result *= self._one()
            else:
                result //= self._one()
        return result

    def _one(self) -> int:
        word = self._words.pop(0)
        if word == "(":
            result = self._sum()
            if self._words.pop(0) != ")":
                raise ValueError
            return result
        return int(word)
