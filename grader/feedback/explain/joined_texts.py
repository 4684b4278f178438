"""Two texts with no comma between them, which Python makes one of: ``("name" "sources", "flags")``; see ``facts.py``."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from grader.domain.verdict import Status
from grader.feedback.explain.source_text import WRONG, Fact, Finder, SubmissionText

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.domain.verdict import Finding

WORD = r"(?:\"[\w.+-]+\"|'[\w.+-]+')"
TWO = re.compile(rf"(?P<a>{WORD})\s*(?P<b>{WORD})")


def _joined(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """An entry of a list that is made of two words, where each of the others is one."""
    for node in text.nodes:
        if not isinstance(node, ast.Tuple | ast.List | ast.Set) or len(node.elts) < 2:
            continue
        texts = [e for e in node.elts if isinstance(e, ast.Constant) and isinstance(e.value, str)]
        for entry in texts if len(texts) == len(node.elts) else ():
            if two := TWO.fullmatch(text.segment(entry)):
                code = " ".join(two[0].split())
                cause = (
                    f"There is no comma between {two['a']} and {two['b']}: Python joins texts that stand side by side, so this "
                    f'is one text, "{entry.value!s}".'
                )
                yield Fact(
                    "joined-texts",
                    entry.lineno,
                    cause,
                    f"Write `{two['a']}, {two['b']}` in place of `{code}`.",
                )
                return


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = (
    (_joined, WRONG | {Status.WRONG_ANSWER, Status.RAISED}),
)
