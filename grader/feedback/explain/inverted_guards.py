"""Guards of kernels that are turned round, or that nothing depends on; see ``facts.py``."""

from __future__ import annotations

import re
from itertools import islice
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


NOTHING = r"(?:printf\s*\([^;]{0,200}\)|(?!(?:return|break|continue|throw|goto|else)\b)\w+)?\s*;"
IDLE = re.compile(
    rf"\bif\s*\((?P<c>(?:[^()]|\([^()]*\)){{1,200}})\)\s*(?P<b>\{{\s*(?:{NOTHING}\s*){{0,4}}\}}|{NOTHING})(?!\s*else\b)"
)
MOST = 8  # guards that are looked at in a kernel
ASKS = re.compile(rf"\b(?P<i>\w+)\s*(?P<sign><|>=)\s*(?P<n>{SIZE})\b")


def _nothing_depends_on_it(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``if (i >= n) {}`` and ``if (i < n) {}`` in front of the access."""
    for kernel in text.kernels:
        for guard in islice(IDLE.finditer(kernel.body), MOST):
            before, rest, asked = (
                kernel.body[: guard.start()],
                kernel.body[guard.end() :],
                " ".join(guard["c"].split()),
            )
            about = list(ASKS.finditer(asked))
            access = re.search(r"\w\s*\[", rest)
            if not about or not access or not all(re.search(NUMBER.format(a["i"]), before) for a in about):
                continue
            i, leaves = about[0]["i"], about[0]["sign"] == ">="
            others = re.search(
                rf"\b(?:if|while|for)\s*\([^;{{}}]{{0,200}}\b{i}\b|\b{i}\b[^;]{{0,200}}\?",
                before + ";" + rest,
            )
            prints = "printf" in guard["b"]
            if others or (prints and not leaves):
                continue
            line = text.line(kernel.start + guard.end() + access.start())
            if leaves:
                does = (
                    "is followed by a `printf` alone"
                    if prints
                    else "is followed by nothing that leaves the kernel"
                )
                cause = f"`if ({asked})` {does}: a thread for which it is true goes on to line {line}."
                fix = f"Leave there: `if ({asked}) return;`."
            else:
                cause = f"Nothing depends on `if ({asked})`, as nothing stands behind it: every thread comes to line {line}."
                fix = f"Open the braces there and close them below what is for threads with an element: `if ({asked}) {{ ... }}`."
            yield Fact("guard-without-return", text.line(kernel.start + guard.start()), cause, fix)
            return


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = (
    (_inverted, WRONG | OUTSIDE | TWICE | {Status.FAILED}),
    (_nothing_depends_on_it, OUTSIDE),
)
