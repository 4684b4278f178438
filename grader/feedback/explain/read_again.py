"""Elements that several threads read from device memory, where each was to be read once; see ``facts.py``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from grader.domain.verdict import Finding, Status
from grader.feedback.explain.source_text import Fact, Finder, SubmissionText

if TYPE_CHECKING:
    from collections.abc import Iterator

COUNTED = re.compile(
    r"Counted [\d,]+ global load (?:requests|sectors), allowed .* Line (?P<line>\d+) makes ", re.S
)
READ = re.compile(r"\b(?P<p>\w+)\s*\[(?P<i>[^][;{}]{1,60})\](?!\s*=(?!=))")
FEWEST, SHOWN = 2, 4


def _neighbours(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``x[i - 1] + x[i] + x[i + 1]`` in a kernel without shared memory."""
    counted = COUNTED.match(finding.message)
    for kernel in text.kernels if counted and "One read of each element" in finding.message else ():
        first, line = text.line(kernel.start), int(counted["line"]) if counted else 0
        lines = kernel.body.split("\n")
        if "__shared__" in kernel.body or not 0 <= line - first < len(lines):
            continue
        read: dict[str, dict[str, None]] = {}
        for found in READ.finditer(lines[line - first]):
            if found["p"] in kernel.names:
                read.setdefault(found["p"], {})[" ".join(found[0].split())] = None
        for pointer, places in read.items():
            if len(places) >= FEWEST:
                shown = ", ".join(f"`{one}`" for one in list(places)[:SHOWN])
                cause = (
                    f"Here each thread reads {len(places)} elements of {pointer} itself ({shown}), so each element is read by up to "
                    f"{len(places)} threads. {kernel.name} has no `__shared__` array."
                )
                fix = (
                    "Let each thread read its own element into such an array, let all meet at `__syncthreads()`, and take the "
                    "neighbours from the array."
                )
                yield Fact("read-again", line, cause, fix)
                return


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = ((_neighbours, frozenset({Status.FAILED})),)
