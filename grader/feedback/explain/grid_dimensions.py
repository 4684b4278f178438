"""Facts about launches whose grid has fewer dimensions than their kernel asks about; see ``facts.py``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from grader.feedback.explain.source_text import WRONG, Fact, Finder, SubmissionText

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.domain.verdict import Finding, Status

INSIDE = r"(?:[^(),]|\((?:[^()]|\([^()]*\))*\))*"  # a whole argument


def _too_few(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``grid(n)`` for a kernel that uses ``blockIdx.y``."""
    for kernel in text.kernels:
        if (asked := re.search(r"\bblockIdx\.([yz])\b", kernel.body)) is None:
            continue
        launched = {
            m[1] for m in re.finditer(rf"\b{kernel.name}\s*(?:<[^<>]*>)?\s*<<<\s*(\w+)\s*,", text.code)
        }
        for name in launched:
            declared = re.findall(rf"\bdim3\b[^;]*\b{name}\b[^;]*;", text.code)
            made = re.search(rf"\bdim3\b[^;]*?\b{name}\s*[({{]{INSIDE}[)}}]\s*[,;]", text.code)
            if made is None or len(declared) != 1:
                continue
            d = asked[1]
            cause = f"`{name}` has one number here, so blockIdx.{d}, which {kernel.name} uses, is 0 in every block."
            yield Fact("grid-of-one-dimension", text.line(made.end() - 1), cause,
                       f"Say how many blocks there are along {d}, as a further number of `{name}(...)`.")  # fmt: skip


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = ((_too_few, WRONG),)
