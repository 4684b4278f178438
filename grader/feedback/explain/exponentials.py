"""Facts about softmax and its like: exponentials of large numbers, infinities, a largest element; see ``facts.py``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from grader.domain.verdict import Finding, Status
from grader.feedback.explain.source_text import WRONG, CppFunction, Fact, Finder, SubmissionText

if TYPE_CHECKING:
    from collections.abc import Iterator

EXP = r"(?:__)?expf?"
JOINING = re.compile(r"__shfl|__shared__|__reduce")


def _finite(finding: Finding) -> bool:
    """Whether a number was expected, and something else came."""
    return isinstance(finding.evidence.get("expected"), int | float) and finding.status is Status.NOT_FINITE


def _on_device(text: SubmissionText) -> list[CppFunction]:
    return [f for f in text.functions if f not in text.host]


def _largest_from_a_number(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``float largest = 0.0f;`` and then ``largest = fmaxf(largest, x[i])``."""
    for function in _on_device(text):
        for match in re.finditer(r"\b(?P<v>\w+)\s*=\s*(?P<n>0(?:\.0*)?f?|FLT_MIN)\s*[,;]", function.body):
            v = match["v"]
            if re.search(r"\b(?:uint\w*|unsigned)\s[^;{}]*$", function.body[: match.start()]):
                continue  # nothing is smaller
            kept = re.search(rf"\b(\w+)\s*=\s*{v}\s*;", function.body[match.end() :])  # `before = largest;`
            same = rf"(?:{v}|{kept[1]})" if kept else v
            if re.search(
                rf"\b{v}\s*=\s*(?:fmaxf|max)\s*\(\s*{same}\b(?![^;]*\bf?abs)", function.body[match.end() :]
            ):
                cause = f"`{v}` begins at {match['n']}, so where all elements are smaller, {match['n']} is taken for the largest."
                yield Fact("largest-from-zero", text.line(function.start + match.start()), cause,
                           f"Begin with what is smaller than every number: `{v} = -INFINITY`.")  # fmt: skip


def _overflow(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """A sum of exponentials of the elements as they are."""
    for function in _on_device(text) if _finite(finding) else ():
        form = rf"(?:\+=|\b(?P<v>\w+)\s*=)\s*(?P<e>{EXP}\s*\((?P<x>[^();-]*)\))\s*;"
        for match in re.finditer(form, function.body):
            if match["v"] and not re.search(rf"\+=\s*{match['v']}\s*;", function.body):
                continue
            cause = f"`{match['e']}` is infinite in float32 where {match['x'].strip()} is 89 or more, and infinity divided by infinity is NaN."
            fix = "Subtract the row's largest element from each before the exponential, in the sum and in the result: the shares stay the same."
            yield Fact("exponential-overflows", text.line(function.start + match.start()), cause, fix)


def _infinity_less_itself(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``expf(a - largest)`` where ``largest`` is the larger of a and b, and both may be minus infinity."""
    for function in _on_device(text) if _finite(finding) and "-INFINITY" in text.code else ():
        for top in re.finditer(
            r"\b(?P<m>\w+)\s*=\s*fmaxf\s*\((?P<a>[^(),]+),(?P<b>[^(),]+)\)", function.body
        ):
            for operand in (top["a"].strip(), top["b"].strip()):
                scaled = re.search(
                    rf"(?P<s>[\w.]+)\s*\*\s*{EXP}\s*\(\s*{re.escape(operand)}\s*-\s*{top['m']}\s*\)",
                    function.body,
                )
                if scaled is None or re.search(r"INFINITY|isinf|[=!]=\s*0", function.body):
                    continue
                cause = (
                    f"Where both sets are empty, or all is masked, {operand} and {top['m']} are -INFINITY: their difference is NaN, "
                    "and so is 0 times it."
                )
                fix = f"Let a set without elements add 0: `{scaled['s']} == 0.0f ? 0.0f : {scaled[0]}`."
                yield Fact("infinity-less-itself", text.line(function.start + scaled.start()), cause, fix)
                return


def _masked_counts(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """A set of one element, ``{row[i], 1.0f}``, where the element may be minus infinity."""
    guarded = re.search(r"\?\s*0(?:\.0*)?f?\s*:\s*[\w.]+\s*\*\s*" + EXP, text.code)
    for kernel in text.kernels if _finite(finding) and guarded else ():
        for match in re.finditer(r"\{\s*(?P<x>\w+\[[^\];]*\])\s*,\s*1(?:\.0*)?f?\s*\}", kernel.body):
            x = match["x"]
            cause = "An element of -INFINITY counts as one here, so its set is not empty, and `-INFINITY - -INFINITY` is computed for it: NaN."
            yield Fact("masked-counts", text.line(kernel.start + match.start()), cause,
                       f"It adds nothing to the sum: `{{{x}, {x} == -INFINITY ? 0.0f : 1.0f}}`.")  # fmt: skip


def _nan_is_no_element(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``x > -INFINITY ? 1 : 0`` where NaN has to reach the sum."""
    if str(finding.evidence.get("expected")) != "nan":
        return
    for function in _on_device(text):
        for match in re.finditer(r"(?P<x>[\w.]+(?:\[[^\];]*\])?)\s*>\s*-\s*INFINITY", function.body):
            cause = f"Where {match['x']} is NaN, `{match[0]}` is false, so NaN counts as nothing and is lost; PyTorch passes it on."
            yield Fact("nan-is-nothing", text.line(function.start + match.start()), cause,
                       f"Ask for what is meant: `{match['x']} == -INFINITY`, which is false for NaN.")  # fmt: skip


def _own_part_only(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """What a thread has found in its part of a row, used as if it were the row's."""
    joins = [f.name for f in _on_device(text) if not f.kernel and JOINING.search(f.body)]
    if len(joins) != 1:
        return
    for kernel in text.kernels:
        if JOINING.search(kernel.body) or "atomic" in kernel.body:
            continue
        own = "|".join([r"threadIdx\.x", *re.findall(r"\b(\w+)\s*=\s*threadIdx\.x\s*[;,]", kernel.body)])
        for match in re.finditer(
            rf"=\s*(?:{own})\s*;[^;]*;[^)]*\)\s*(?P<v>\w+)\s*(?:\+=|=\s*fmaxf\s*\(\s*(?P=v)\b)", kernel.body
        ):
            v, after = match["v"], kernel.body[match.end() :]
            if re.search(rf"\b{joins[0]}\s*\(\s*{v}\b", after) or not re.search(
                rf"\b{v}\b", after.partition(";")[2]
            ):
                continue
            cause = f"Each thread finds `{v}` of its own elements here, and goes on with it as if it were the whole row's."
            yield Fact("own-part-only", text.line(kernel.start + match.start("v")), cause,
                       f"Join what all threads have found, behind the loop: `{v} = {joins[0]}({v}, ...);`.")  # fmt: skip


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = (
    (_overflow, WRONG),
    (_largest_from_a_number, WRONG),
    (_infinity_less_itself, WRONG),
    (_masked_counts, WRONG),
    (_nan_is_no_element, WRONG),
    (_own_part_only, WRONG),
)
