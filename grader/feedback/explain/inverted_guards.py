"""Guards of kernels that are turned round: they keep out those that have an element; see ``facts.py``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from grader.domain.verdict import Status
from grader.feedback.explain.source_text import OUTSIDE, SIZE, TWICE, WRONG, Fact, Finder, SubmissionText

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.domain.verdict import Finding

LEAVES = re.compile(
    rf"\bif\s*\(\s*(?P<i>\w+)\s*<\s*(?P<n>{SIZE})\s*(?:(?:&&|\|\|)\s*(?P<j>\w+)\s*<\s*(?P<m>{SIZE})\s*)?\)\s*\{{?\s*return\s*;"
)
ENTERS = re.compile(
    rf"\bif\s*\(\s*(?P<i>\w+)\s*(?:>=|>)\s*(?P<n>{SIZE})\s*\)\s*\{{?\s*\w+\s*\[(?P<at>[^][]*)\]\s*[-+*/]?=(?!=)"
)
NUMBER = r"\b{0}\s*=[^;]*\b(?:threadIdx|blockIdx)\b|\b{0}\s*=\s*\w+\(\s*\)"  # of a thread


def _inverted(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``if (i < n) return;`` and ``if (i >= n) out[i] = ...``."""
    for kernel in text.kernels:
        for guard in LEAVES.finditer(kernel.body):
            i, n, j, m = guard.group("i", "n", "j", "m")
            rest = kernel.body[guard.end() :]
            if not re.search(NUMBER.format(i), kernel.body[: guard.start()]) or not re.search(
                rf"\[[^]]*\b{i}\b|\b\w+\s*=[^;]*\b{i}\b", rest
            ):
                continue
            if re.search(r"\w+\s*\[[^;]*\]\s*[-+*/]?=(?!=)", kernel.body[: guard.start()]):
                continue  # the elements had their turn before
            asked = f"{i} < {n}" + (f" and {j} < {m}" if j else "")
            right = f"{i} >= {n}" + (f" || {j} >= {m}" if j else "")
            cause = f"This guard is the wrong way round: it sends away the threads that have an element ({asked}), and those go on that have none."
            yield Fact("inverted-guard", text.line(kernel.start + guard.start()), cause,
                       f"Leave if there is no element: `if ({right}) return;`.")  # fmt: skip
            return
        for guard in ENTERS.finditer(kernel.body):
            i, n = guard["i"], guard["n"]
            if re.search(rf"\b{i}\b", guard["at"]) and re.search(
                NUMBER.format(i), kernel.body[: guard.start()]
            ):
                cause = f"This guard is the wrong way round: it lets those threads store whose {i} is past the end, and none that has an element."
                yield Fact("inverted-guard", text.line(kernel.start + guard.start()), cause,
                           f"Ask whether there is an element: `if ({i} < {n})`.")  # fmt: skip
                return


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = (
    (_inverted, WRONG | OUTSIDE | TWICE | {Status.FAILED}),
)
