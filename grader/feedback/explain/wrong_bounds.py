"""Facts about guards that compare an index with the bound of another one; see ``facts.py``."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from grader.feedback.explain.source_text import OUTSIDE, TWICE, WRONG, Fact, Finder, SubmissionText

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.domain.verdict import Finding, Status
    from grader.feedback.explain.source_text import CppFunction

# ``x[row * n + col]``, and ``i = row * n + col;``
IN_ROWS = re.compile(
    r"(?:\b\w+\s*\[|(?<![=!<>+*/-])=)\s*(?P<p>\w+)\s*\*\s*(?P<n>\w+)\s*\+\s*(?P<q>\w+)\s*[\];,]"
)
# ``threadIdx.x < n`` or ``t >= n``, and ``x[i]`` or ``x[me()]``.
OF_PLACE = re.compile(
    r"(?<![\w.])(?P<place>threadIdx\.[xyz]|[A-Za-z_]\w*)\s*(?P<sign><|>=)\s*(?P<n>[A-Za-z_]\w*)\b(?!\s*[-+*/.(\[])"
)
ELEMENT = re.compile(r"\b(?P<x>\w+)\s*\[(?P<i>[^\][]{1,80})\]")
MOST_GUARDS, FEW_STATEMENTS = 16, 300  # guards that are looked at; characters behind one


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


def _place_in_the_block(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``if (threadIdx.x < n) out[me()] = ...``: the guard asks for the place in the block, and not for the element."""
    for kernel in text.kernels:
        pointers = set(re.findall(r"\*\s*(?:__restrict__\s+|const\s+)*(\w+)", kernel.parameters))
        for match in islice(OF_PLACE.finditer(kernel.body), MOST_GUARDS):
            place, sign, n = match["place"], match["sign"], match["n"]
            made = re.search(rf"\b{re.escape(place)}\s*=\s*threadIdx\.[xyz]\s*[;,]", kernel.body)
            if n not in kernel.names or not (made or place.startswith("threadIdx")):
                continue
            behind = kernel.body[match.end() : match.end() + FEW_STATEMENTS]
            used = [m["i"].strip() for m in ELEMENT.finditer(behind) if m["x"] in pointers]
            elements = [i for i in used if _of_the_grid(text, kernel, i, n)]
            if not elements or len(elements) != len(used):
                continue
            i = elements[0]
            cause = (
                f"`{place} {sign} {n}` compares the thread's place in its block with {n}; the element that it takes is `{i}`, "
                "so threads of later blocks whose element does not exist pass."
            )
            yield Fact(
                "guard-of-place", text.line(kernel.start + match.start("place")), cause,
                f"Ask for the element: `{i} {sign} {n}`.",
            )  # fmt: skip


def _of_the_grid(text: SubmissionText, kernel: CppFunction, index: str, n: str) -> bool:
    """Whether this is made of the block's number, by a function or in the kernel, and not of ``n``."""
    if index.endswith(")"):
        made = text.function(index.partition("(")[0].strip())
        return made is None or "blockIdx" in made.body  # of a lesson's own header, as `me()` of 06
    told = re.search(rf"\b{index}\s*=(?!=)([^;]*);", kernel.body) if index.isidentifier() else None
    return told is not None and "blockIdx" in told[1] and not re.search(rf"\b{n}\b", told[1])


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = (
    (_place_in_the_block, OUTSIDE),
    (_of_the_row, WRONG | OUTSIDE | TWICE),
    (_of_one_row, WRONG | OUTSIDE | TWICE),
)
