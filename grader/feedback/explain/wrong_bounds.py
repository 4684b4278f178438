"""Facts about guards that compare an index with the bound of another one; see ``facts.py``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from grader.feedback.explain.source_text import OUTSIDE, TWICE, WRONG, Fact, Finder, SubmissionText

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.domain.verdict import Finding, Status

# ``x[row * n + col]``, and ``i = row * n + col;``
IN_ROWS = re.compile(
    r"(?:\b\w+\s*\[|(?<![=!<>+*/-])=)\s*(?P<p>\w+)\s*\*\s*(?P<n>\w+)\s*\+\s*(?P<q>\w+)\s*[\];,]"
)


def _of_the_row(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``if (row < n)`` beside ``x[row * n + col]``: n elements are in each row, and row counts the rows."""
    for kernel in text.kernels:
        accesses = list(IN_ROWS.finditer(kernel.body))
        for one in accesses:
            row, n, col = one["p"], one["n"], one["q"]
            guard = re.search(rf"(?<![\w.]){row}\s*(?P<op><|>=)\s*{n}\b(?!\s*[-+*/])", kernel.body)
            turned = re.search(rf"(?<![\w.]){n}\s*(?P<op>>|<=)\s*{row}\b(?!\s*[-+*/])", kernel.body)
            if (guard := guard or turned) is None or row == col:
                continue
            # Of another access the same index is the second one, which tells its bound.
            bounds = {a["n"] for a in accesses if a["q"] == row and a["p"] == col} - {n}
            named = [p for p in kernel.names if re.fullmatch(r"(?:n_?|num_)?rows?|height|H|M", p) and p != n]
            (bound,) = bounds if len(bounds) == 1 else named if len(named) == 1 else ("",)
            if not bound or re.search(rf"(?<![\w.]){row}\s*(?:<|>=)\s*{bound}\b", kernel.body):
                continue
            if re.search(rf"(?<![\w.]){col}\s*(?:<|>=)\s*{bound}\b", kernel.body):
                continue  # the two are exchanged, which others tell
            cause = (
                f"`{' '.join(guard[0].split())}` compares {row} with {n}. By `{row} * {n} + {col}` {n} is the length of a row, which bounds {col}; "
                f"{row} is the number of the row, and bounded by {bound}."
            )
            right = re.sub(rf"\b{n}\b", bound, " ".join(guard[0].split()))
            fix = f"Write `{right}`."
            if re.search(rf"\b{row}\s*=\s*[^;,]*%\s*{bound}\b", kernel.body):  # which is smaller in any case
                other = re.sub(rf"\b{row}\b", col, " ".join(guard[0].split()))
                fix = f"{row} is smaller than {bound} in any case; ask for the other one: `{other}`."
            yield Fact("bound-of-another", text.line(kernel.start + guard.start()), cause, fix)
            return


def _of_one_row(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``if (i < cols) out[i] = x[i] + bias[i % cols];``: i counts all elements, cols those of a row."""
    for kernel in text.kernels:
        for part in re.finditer(r"(?<![\w.])(?P<i>\w+)\s*%\s*(?P<n>\w+)", kernel.body):
            i, n = part["i"], part["n"]
            guard = re.search(rf"(?<![\w.]){i}\s*(?:<|>=)\s*{n}\b(?!\s*[-+*/])", kernel.body)
            made = re.search(rf"\b{i}\s*=[^;]*\bblockIdx\b", kernel.body)
            others = [
                p
                for p in kernel.names
                if re.fullmatch(r"n\d?|N|size|count|total|numel|elements|n_elements|length", p) and p != n
            ]
            if (
                guard
                and made
                and len(others) == 1
                and not re.search(rf"(?<![\w.]){i}\s*(?:<|>=)\s*{others[0]}\b", kernel.body)
            ):
                cause = (
                    f"`{' '.join(guard[0].split())}` lets {n} threads through. By `{part[0]}` {n} is the length of a row, and {i} counts the "
                    f"elements of all rows, {others[0]} of them."
                )
                right = re.sub(rf"\b{n}\b", others[0], " ".join(guard[0].split()))
                yield Fact(
                    "bound-of-another", text.line(kernel.start + guard.start()), cause, f"Write `{right}`."
                )
                return


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = (
    (_of_the_row, WRONG | OUTSIDE | TWICE),
    (_of_one_row, WRONG | OUTSIDE | TWICE),
)
