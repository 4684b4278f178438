"""Facts about a C++ function whose declaration and definition promise different results; see ``facts.py``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from grader.domain.verdict import Status
from grader.feedback.explain import own_lines
from grader.feedback.explain.source_text import OUTSIDE, TWICE, WRONG, Fact, Finder, SubmissionText

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.domain.verdict import Finding

DECLARATION = re.compile(
    r"(?:^|[;}])\s*(?P<type>[A-Za-z_][\w:<>,&* ]*?[\s&*>])(?P<name>[A-Za-z_]\w*)\s*\((?P<taken>[^(){};]*)\)\s*;",
    re.M,
)


def _other_result(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``void f(torch::Tensor x);`` in cpp_sources of a function that returns a tensor in cuda_sources."""
    if text.tree is None:
        return
    for _, line, given in own_lines.handed_over(text.tree):
        code = own_lines.blanked(given)
        for match in DECLARATION.finditer(code):
            made = [f for f in text.host if f.name == match["name"]]
            if len(made) != 1 or not made[0].head.strip():
                continue
            (function,) = made
            defined = (
                re.sub(r"^.*(?:^|[;}>])\s*\n", "", function.head, flags=re.S).strip().splitlines()[-1].strip()
            )
            if (
                _plain(match["type"]) == _plain(defined)
                or not _plain(defined)
                or re.search(r"template|auto|\bT\b", function.head)
            ):
                continue
            head = text.line(text.code.rfind(function.name, 0, function.start))
            cause = (
                f"`{' '.join(match[0].strip(' ;}').split())};` promises {_named(match['type'])}, and {function.name} in line {head} gives "
                f"{_named(defined)}. A linker compares names and parameters, not results, so nothing refuses this."
            )
            taken = " ".join(match["taken"].split())
            yield Fact("declared-otherwise", line + code.count("\n", 0, match.start("name")), cause,
                       f"Declare it as it is defined: `{_shown(defined)} {function.name}({taken});`.")  # fmt: skip


def _plain(kind: str) -> str:
    """A type without what makes no difference here."""
    kind = re.sub(r"\b(?:inline|static|extern|const|class|struct)\b|\s", "", kind.replace("at::", "torch::"))
    kind = re.sub(r"^long(?:long)?(?:int)?$", "int64_t", kind.replace("std::", ""))
    return re.sub(r"^Tensor", "torch::Tensor", kind)


def _shown(kind: str) -> str:
    return " ".join(re.sub(r"\b(?:inline|static|extern)\b", "", kind).split())


def _named(kind: str) -> str:
    shown = _shown(kind)
    return "no result (void)" if shown == "void" else f"{'an' if shown.startswith('int') else 'a'} {shown}"


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = (
    (_other_result, WRONG | OUTSIDE | TWICE | {Status.NOT_A_TENSOR, Status.RAISED, Status.WRONG_ANSWER, Status.FAILED,
                                               Status.WRONG_SHAPE, Status.WRONG_DTYPE}),
)  # fmt: skip
