"""Facts about fragments of tensor cores: sums that do not begin with 0, and numbers left out; see ``facts.py``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from grader.feedback.explain.source_text import WRONG, Fact, Finder, SubmissionText

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.domain.verdict import Finding, Status

ADDED = re.compile(r"\bmma_sync\s*\(\s*(?P<f>\w+)\s*,[^;]*,\s*(?P=f)\s*\)")


def _never_begun(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """A fragment that products are added to, and that nothing is put into before."""
    for kernel in text.kernels:
        for name in dict.fromkeys(match["f"] for match in ADDED.finditer(kernel.body)):
            declared = re.search(
                rf"\b(?:fragment\s*<[^;]*>|[A-Z]\w*)\s+[\w\s,]*\b{name}\b[\w\s,]*;", kernel.body
            )
            put = re.search(
                rf"\b(?:fill_fragment|load_matrix_sync)\s*\(\s*{name}\b|\b{name}\s*(?:\.x\s*\[[^\]]*\]\s*)?=(?!=)",
                kernel.body,
            )
            if declared and not put:
                cause = f"`mma_sync` adds its product to what {name} holds, and nothing was put into {name} before: a fragment does not begin with 0."
                fix = f"Where its sum begins: `fill_fragment({name}, 0.0f);`."
                yield Fact("fragment-never-begun", text.line(kernel.start + declared.start()), cause, fix)


def _one_number(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """One number of a thread's share of a fragment, in a kernel that never goes over all of them."""
    for kernel in text.kernels:
        if not ADDED.search(kernel.body) or re.search(r"\.x\s*\[\s*(?!\d+\s*\])", kernel.body):
            continue
        for match in re.finditer(r"\b(?P<f>\w+)\.x\s*\[\s*\d+\s*\]\s*[-+*/]?=(?!=)", kernel.body):
            name = match["f"]
            cause = f"This is one of the numbers of {name} that a thread holds, and it holds {name}.num_elements: the others stay as they were."
            fix = f"Go over all of them: `for (int i = 0; i < {name}.num_elements; ++i)`, with `.x[i]` of each fragment."
            yield Fact("fragment-one-number", text.line(kernel.start + match.start()), cause, fix)


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = ((_never_begun, WRONG), (_one_number, WRONG))
