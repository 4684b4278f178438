"""What was read of a tensor before another one took its place: a pointer, strides; see ``facts.py``."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from grader.feedback.explain.source_text import OUTSIDE, TWICE, WRONG, Fact, Finder, SubmissionText

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.domain.verdict import Finding, Status

MOST = 16  # pointers, and tensors that are replaced, that are looked at
NEW = "contiguous|to|clone|t|transpose|permute|cuda|toType|flip|mT"
TAKEN = re.compile(
    r"\b(?P<p>(?!(?:if|while|for|switch|return)\b)[A-Za-z_]\w*)\s*(?:=\s*|[({]\s*)(?:(?:reinterpret_cast|static_cast)\s*<[^<>;]*>\s*\(\s*)?"
    r"(?P<x>[A-Za-z_]\w*)\s*\.\s*(?P<what>(?:mutable_|const_)?data_ptr|strides?)\b"
)
REPLACED = re.compile(rf"\b(?P<x>[A-Za-z_]\w*)\s*=\s*(?P=x)\s*\.\s*(?P<how>{NEW})\s*\(")


def _before_the_copy(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``xp = x.data_ptr<float>(); x = x.contiguous();``, after which xp still points to the old x."""
    for function in text.host:
        body = function.body
        replaced = list(islice(REPLACED.finditer(body), MOST))
        early: list[tuple[re.Match[str], re.Match[str]]] = []
        for one in islice(TAKEN.finditer(body), MOST):
            for new in replaced:
                again = rf"(?<![\w.>]){one['p']}\s*=(?!=)"
                if new["x"] != one["x"] or new.start() < one.end() or re.search(again, body[one.end() :]):
                    continue
                if re.search(rf"(?<![\w.>]){one['p']}\b", body[new.end() :]):
                    early.append((one, new))
                    break
        if not early:
            continue
        (one, new), names = early[0], [one["p"] for one, _ in early]
        x, p, how = one["x"], one["p"], new["how"]
        at, below = (text.line(function.start + m.start()) for m in (one, new))
        beside = [o for o, _ in early[1:] if text.line(function.start + o.start()) == at]
        also = (
            f", and likewise {' and '.join(o['p'] for o in beside)} of {' and '.join(o['x'] for o in beside)}"
            if beside
            else ""
        )
        copied = (
            f"Where {x} has gaps or is transposed, line {below}" if how == "contiguous" else f"Line {below}"
        )
        if "stride" in one["what"]:
            rest = f"with strides of its own: {p} is still that of the old one"
        else:
            rest = f"and {p} still points to the old one"
        cause = f"{p} is taken from {x} here. {copied} puts another tensor in its place by `{how}()`, {rest}{also}."
        last = max(text.line(function.start + m.start()) for _, m in early)
        yield Fact("taken-early", at, cause, f"Take {' and '.join(dict.fromkeys(names))} below line {last}.")
        return


LAST_STRIDE_ONLY = re.compile(
    r"\bif\s*\(\s*(?P<x>[A-Za-z_]\w*)\s*\.\s*stride\s*\(\s*-?1\s*\)\s*!=\s*1\s*\)\s*\{?\s*"
    r"(?P=x)\s*=\s*(?P=x)\s*\.\s*contiguous\b"
)


def _by_the_last_stride(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``if (x.stride(1) != 1) x = x.contiguous();``, which a slice of columns does not enter."""
    for function in text.host:
        if found := LAST_STRIDE_ONLY.search(function.body):
            x = found["x"]
            cause = (
                f"{x} is made contiguous only where the elements of a row have gaps between them. In a slice of "
                "columns they have none, but the rows have."
            )
            fix = f"Write `{x} = {x}.contiguous();`: of a contiguous tensor it makes no copy."
            yield Fact("last-stride", text.line(function.start + found.start()), cause, fix)
            return


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = (
    (_before_the_copy, WRONG | OUTSIDE | TWICE),
    (_by_the_last_stride, WRONG | OUTSIDE | TWICE),
)
