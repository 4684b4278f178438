"""Facts about kernels that keep a largest element, and sums that are scaled down when it grows; see ``facts.py``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.domain.verdict import Finding, Status
from grader.feedback.explain.source_text import WRONG, CppFunction, Fact, Finder, SubmissionText

if TYPE_CHECKING:
    from collections.abc import Iterator

EXP = r"(?:__)?exp2?f?"
KEPT = re.compile(  # `before = largest; largest = fmaxf(before, ...);`
    r"\b(?P<old>\w+)\s*=\s*(?P<now>\w+)\s*;\s*(?P=now)\s*=\s*(?:fmaxf|max)\s*\((?P<of>[^;]*)\)\s*;"
)
ADDED = re.compile(  # `x += what;` or `x = x + what;`, and no step of a loop
    r"(?<![\w\]])(?P<x>\w+)(?P<i>\[\w+\])?\s*(?:\+=|=\s*(?P=x)(?:\[\w+\])?\s*\+)(?P<what>(?:[^;()]|\([^;()]*\))*);"
)


@dataclass(frozen=True, slots=True)
class Running:
    """The names of an online softmax in one kernel.

    ``now``: the largest so far, ``old``: the one before, ``of``: what it is made of; ``fade`` is the
    exponential of their distance, ``share`` that of the new score's.
    """

    kernel: CppFunction
    now: str
    old: str
    of: str
    fade: str
    share: str


def _running(text: SubmissionText) -> Iterator[Running]:
    for kernel in text.kernels:
        for kept in KEPT.finditer(kernel.body):
            made = rf"\b(?P<n>\w+)\s*=\s*[^;,]*?\b{EXP}\s*\(\s*{{}}\s*-\s*{kept['now']}\s*\)"
            fade = re.search(made.format(kept["old"]), kernel.body)
            share = re.search(made.format(rf"(?!{kept['old']}\b)[\w.]+"), kernel.body)
            if fade and share:
                yield Running(kernel, kept["now"], kept["old"], kept["of"], fade["n"], share["n"])


def _not_scaled_down(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """A sum to which shares are added, and which stays as it is when the largest grows."""
    for one in _running(text):
        body = one.kernel.body
        made = re.findall(rf"\b(\w+)\s*=\s*__shfl\w*\([^;]*\b{one.share}\b[^;]*;", body)
        shares = "|".join([one.share, *made])
        for match in ADDED.finditer(body):
            x = match["x"]
            if not re.search(rf"\b(?:{shares})\b", match["what"]):
                continue
            kept = rf"\b{x}(?:\[\w+\])?\s*\*=?\s*[^;+]*\b{one.fade}\b|\b{one.fade}\s*\*\s*{x}\b|\bfmaf\w*\(\s*{x}\b"
            if re.search(kept, body):
                continue
            name = x + (match["i"] or "")
            cause = (
                f"`{name}` is never multiplied by {one.fade}: where {one.now} grows, the shares in it are still measured from the "
                "one before, and the new one is not."
            )
            yield Fact("not-scaled-down", text.line(one.kernel.start + match.start()), cause,
                       f"Scale it down each time, before the new share is added: `{name} * {one.fade} + ...`.")  # fmt: skip


def _share_of_one_lane(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """A sum that takes the lane's own share, beside a largest that all lanes of the warp have found together."""
    joins = [f.name for f in text.functions if not f.kernel and "__shfl" in f.body]
    for one in _running(text):
        if (joined := next((j for j in joins if re.search(rf"\b{j}\s*\(", one.of)), "")) == "":
            continue
        for match in re.finditer(
            rf"(?<![\w\]])(?P<x>\w+)\s*(?:\+=|=\s*(?P=x)\s*\*\s*{one.fade}\s*\+)\s*{one.share}\s*;",
            one.kernel.body,
        ):
            if not re.search(rf"\b{joined}\s*\(\s*{match['x']}\b", one.kernel.body):
                cause = f"A lane adds its own {one.share} to `{match['x']}` here, and those of the other 31 are missing in it."
                yield Fact("own-share-only", text.line(one.kernel.start + match.start()), cause,
                           f"Add those of all lanes: `{joined}({one.share}, ...)`.")  # fmt: skip


def _masked_less_nothing(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``expf(score - largest)`` where a mask has made both minus infinity."""
    if finding.status is not Status.NOT_FINITE or str(finding.evidence.get("expected")) == "nan":
        return
    for one in _running(text):
        body = one.kernel.body
        masked = re.findall(r"\b(\w+)\s*=[^;]*\?[^;]*:\s*-\s*INFINITY\s*;", body)
        if not re.search(rf"\b{one.now}\s*=\s*-\s*INFINITY", body):
            continue
        for match in re.finditer(rf"\b{EXP}\s*\(\s*(?P<x>\w+)\s*-\s*{one.now}\s*\)", body):
            guarded = "?" in body[body.rfind(";", 0, match.start()) : match.start()]
            if guarded or match["x"] not in {one.old, *masked} or not masked:
                continue
            cause = (
                f"Where all is masked so far, {match['x']} and {one.now} are both -INFINITY: their difference is NaN, and so is "
                "all that it is multiplied with."
            )
            test = f"{match['x']} == -INFINITY"
            yield Fact("infinity-less-itself", text.line(one.kernel.start + match.start()), cause,
                       f"Nothing contributes 0: `{test} ? 0.0f : {match[0]}`.")  # fmt: skip


def _nothing_by_nothing(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``total / sum`` where a mask has left nothing, and 0 was expected."""
    if finding.status is not Status.NOT_FINITE or finding.evidence.get("expected") != 0:
        return
    for kernel in text.kernels:
        if not re.search(r"\?[^;]*:\s*-\s*INFINITY\s*;", kernel.body):
            continue
        for match in re.finditer(r"=\s*(?P<a>\w+(?:\[\w+\])?)\s*/\s*(?P<b>\w+)\s*;", kernel.body):
            cause = f"Where all is masked, {match['b']} is 0, and so is {match['a']}: 0 / 0 is NaN."
            yield Fact("nothing-by-nothing", text.line(kernel.start + match.start()), cause,
                       f"Say what comes out then: `{match['b']} == 0.0f ? 0.0f : {match['a']} / {match['b']}`.")  # fmt: skip


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = (
    (_not_scaled_down, WRONG),
    (_share_of_one_lane, WRONG),
    (_masked_less_nothing, WRONG),
    (_nothing_by_nothing, WRONG),
)
