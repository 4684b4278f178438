"""``extern __shared__`` arrays, whose size the launch says; see ``facts.py``."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from grader.domain.verdict import Status
from grader.feedback.explain.source_text import OUTSIDE, Fact, Finder, SubmissionText

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.domain.verdict import Finding

DECLARED = re.compile(
    r"\bextern\s+__shared__\s+(?:__align__\(\d+\)\s*)?(?P<type>[\w:]+(?:\s+\w+)?)\s+(?P<name>\w+)\s*\[\s*\]"
)
SIZED = re.compile(r"__shared__\s+[\w:]+\s+\w+\s*\[\s*([A-Za-z_]\w*)\b")


def _without_size(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """An access past the end of dynamic shared memory: how large the launch made it."""
    told = f"{finding.message} {[one.get('what') for one in finding.evidence.get('seen') or [] if isinstance(one, dict)]}"
    size = re.search(r"dynamic shared memory \(([\d,]+) bytes", told)
    if size is None:
        return
    has = int(size[1].replace(",", ""))
    for kernel in text.kernels:
        for one in DECLARED.finditer(kernel.body):
            name, kind = one["name"], " ".join(one["type"].split())
            cause = f"An `extern __shared__` array is as large as the launch's third argument says, in bytes, and this launch says {has}"
            cause += f": {name} has no element at all." if not has else "."
            known = Counter(SIZED.findall(text.code)).most_common(1)
            fix = f"Give the launch the number of bytes, elements * sizeof({kind}), as its third argument."
            if f"{kernel.name}<<<" not in text.code:  # it is launched by others
                fix = f"The launch is not in this file: declare the array with its size, `__shared__ {kind} {name}[{known[0][0] if known else '...'}];`."
            yield Fact("dynamic-shared-size", text.line(kernel.start + one.start()), cause, fix)
            return


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = ((_without_size, OUTSIDE | {Status.FAILED}),)
