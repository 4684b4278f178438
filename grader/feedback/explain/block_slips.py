"""A thread's place in its block and its number in the grid, the block's tile and its neighbours, exchanged; see ``facts.py``."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from grader.feedback.explain.source_text import TWICE, WRONG, CppFunction, Fact, Finder, SubmissionText

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.domain.verdict import Finding, Status

MOST = 16
PLACE = re.compile(r"\b(?P<t>\w+)\s*=\s*threadIdx\.x\s*[;,]")
NUMBER = re.compile(r"\b(?P<i>\w+)\s*=\s*(?:me\(\)|[^;,=]*\bblockIdx\.x\s*\)?\s*\*[^;,]*)\s*[;,]")
AT_AN_END = re.compile(
    r"\bif\s*\(\s*(?P<a>[^;{}()]{1,60})\)\s*\{?\s*(?P<s>\w+)\s*\[[^][;]{1,40}\]\s*=(?!=)\s*(?:[^;{}?]{1,60}\?)?\s*"
    r"(?P<v>(?P<x>\w+)\s*\[\s*(?P<i>\w+)\s*(?P<o>[-+])\s*1\s*\])"
)


def _names(kernel: CppFunction) -> tuple[str, str]:
    """The names of a thread's place in its block and of its number in the grid; "" where there is none."""
    place, number = PLACE.search(kernel.body), NUMBER.search(kernel.body)
    return place["t"] if place else "threadIdx.x", number["i"] if number else ""


def _first_block_again(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``tile[t] = x[t]`` and ``out[t] = ...`` beside ``i = me()``: every block takes the elements of the first."""
    from_there = re.search(r"Wrong: every element from flat index [1-9][\d,]* on", finding.message)
    races = {s.get("line") for s in finding.evidence.get("seen") or [] if s.get("kind") == "global-race"}
    for kernel in text.kernels:
        t, i = _names(kernel)
        if not i or re.search(r"\bfor\b|\bwhile\b", kernel.body):
            continue
        for match in islice(
            re.finditer(rf"(?<![\w.])(?P<x>\w+)\s*\[\s*{re.escape(t)}\s*\]", kernel.body), MOST
        ):
            x, line = match["x"], text.line(kernel.start + match.start())
            pointer = re.search(rf"\*\s*(?:__restrict__\s+)?{x}\b", kernel.parameters)
            moved = re.search(rf"(?<![\w.]){x}\s*[-+]?=(?!=)", kernel.body)
            stored = re.match(r"\s*=(?!=)", kernel.body[match.end() :])
            if not pointer or moved or not (line in races if stored else from_there):
                continue
            does = "writes to" if stored else "takes"
            cause = (
                f"{t} is a thread's place in its block, and it begins with 0 again in each block: every block {does} the first "
                f"elements of {x} here, those of block 0."
            )
            yield Fact("first-block-again", line, cause,
                       f"{x} lies in device memory and has the elements of all blocks: `{x}[{i}]`.")  # fmt: skip
            return


def _whole_turned(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``out[n - 1 - i] = tile[t]`` in a kernel that has a block's ``first`` and ``count``."""
    for kernel in text.kernels:
        _, i = _names(kernel)
        if not i or not re.search(r"\bcount\s*=(?!=)", kernel.body) or "__shared__" not in kernel.body:
            continue
        turned = rf"(?<![\w.])(?P<x>\w+)\s*\[\s*(?P<n>n\w*)\s*-\s*(?:1\s*-\s*{i}|{i}\s*-\s*1)\s*\]"
        for match in islice(re.finditer(turned, kernel.body), 1):
            if match["x"] not in kernel.names:
                continue
            code = " ".join(match[0].split())
            cause = (
                f"`{code}` counts from the end of all {match['n']} elements: the first block's elements come to the end of {match['x']}. "
                "count and first are there to turn each block round in its own place."
            )
            fix = (
                f"Let each thread use `{match['x']}[{i}]`, its own element, and take another place of the tile: in a block of count "
                "elements, count - 1 - (its place in the block)."
            )
            yield Fact("whole-turned", text.line(kernel.start + match.start()), cause, fix)


def _own_place_again(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``tile[count - 1 - t] = x[i]; ... out[i] = tile[count - 1 - t];``, where what comes out is what went in."""
    if "the result is a copy of input" not in finding.message:
        return
    for kernel in text.kernels:
        for array in re.findall(r"__shared__\s+\w+\s+(\w+)\s*\[", kernel.body):
            uses = list(
                islice(
                    re.finditer(rf"(?<![\w.]){array}\s*\[\s*([^][;]{{1,60}}?)\s*\](?!\s*\[)", kernel.body), 8
                )
            )
            uses = [u for u in uses if not re.search(r"__shared__[^;]*$", kernel.body[: u.start()])]
            if len(uses) != 2 or "".join(uses[0][1].split()) != "".join(uses[1][1].split()):
                continue
            if not re.match(r"\s*=(?!=)", kernel.body[uses[0].end() :]):
                continue
            first, then = (text.line(kernel.start + u.start()) for u in uses)
            code = " ".join(uses[0][0].split())
            cause = (
                f"Line {first} writes `{code}`, and this line reads `{code}`: the same place, so each thread gets back what it has put "
                "there itself, and nothing has moved."
            )
            t, _ = _names(kernel)
            fix = (
                f"Let the two differ: `{array}[{t}]` in one of them."
                if uses[0][1] != t
                else "Read the place of another thread."
            )
            yield Fact("own-place-again", then, cause, fix)


def _value_plus_one(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``tile[t] + tile[t] + 1`` for ``tile[t] + tile[t + 1]``."""
    for kernel in text.kernels:
        for match in islice(
            re.finditer(
                r"(?<![\w.])(?P<e>(?P<a>\w+)\s*\[\s*(?P<i>[\w.]+)\s*\])\s*\+\s*(?P=e)\s*(?P<o>[-+])\s*1(?![\w.])",
                kernel.body,
            ),
            1,
        ):
            a, i, o = match["a"], match["i"], match["o"]
            cause = (
                f"`{a}[{i}] {o} 1` is the value of {a}[{i}], {'plus' if o == '+' else 'minus'} 1. What stands behind the bracket is "
                "no part of the index."
            )
            yield Fact("value-plus-one", text.line(kernel.start + match.start()), cause,
                       f"The {'next' if o == '+' else 'previous'} element is `{a}[{i} {o} 1]`.")  # fmt: skip


def _of_another_block(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``if (t == 1) tile[0] = x[i - 1];``, where exactly the elements at the ends of blocks are wrong."""
    wrong = re.search(r"Wrong: (\d+) of (\d+) elements, scattered", finding.message)
    if wrong is None or int(wrong[1]) * 16 > int(wrong[2]):
        return
    for kernel in text.kernels:
        _, i = _names(kernel)
        ends = [m for m in islice(AT_AN_END.finditer(kernel.body), MOST) if m["i"] == i and "==" in m["a"]]
        ends = [m for m in ends if re.search(rf"__shared__[^;]*\b{m['s']}\s*\[", kernel.body)]
        if not i or {m["o"] for m in ends} != {"-", "+"} or len(ends) != 2:
            continue
        left, right = sorted(ends, key=lambda m: m["o"] == "+")
        first, other = sorted(text.line(kernel.start + m.start()) for m in ends)
        cause = (
            f"Here the thread at an end of a block fetches `{ends[0]['v']}`, and in line {other} `{ends[1]['v']}`: elements of the blocks "
            f"beside its own. {wrong[1]} elements are wrong, few enough to be those at the ends of blocks."
        )
        fix = (
            "Read once more whose neighbours the task asks for. If they are those within the block, the two ends have none: "
            f"write 0 there in place of `{left['v']}` and `{right['v']}`."
        )
        yield Fact("of-another-block", first, cause, fix)


def _scalar_not_shared(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``float last;`` that one thread sets in front of a barrier and all read behind it."""
    for kernel in text.kernels:
        declared = r"(?P<q>__shared__\s+)?(?<![\w.(,<])(?P<k>float|double|int|bool|unsigned)\s+(?P<v>\w+)\s*;"
        for match in islice(re.finditer(declared, kernel.body), MOST):
            v = match["v"]
            rest = kernel.body[match.end() :]
            stores = list(islice(re.finditer(rf"(?<![\w.]){v}\s*[-+*/]?=(?!=)", rest), 2))
            if match["q"] or len(stores) != 1:
                continue
            asked = re.search(r"\bif\s*\(\s*([^;{}()]*==[^;{}()]*)\)\s*\{?\s*$", rest[: stores[0].start()])
            barrier = rest.find("__syncthreads", stores[0].end())
            if asked is None or barrier < 0 or re.search(rf"\b{v}\b", rest[stores[0].end() : barrier]):
                continue
            if not re.search(rf"\b{v}\b", rest[barrier:]) or re.search(rf"&\s*{v}\b", rest):
                continue
            a = " ".join(asked[1].split())
            line = text.line(kernel.start + match.end() + stores[0].start())
            cause = (
                f"{v} is declared without `__shared__`, so each thread has a {v} of its own. In line {line} the thread for which `{a}` "
                "is true sets its own; those of the others stay without a value."
            )
            yield Fact("not-shared", text.line(kernel.start + match.start("k")), cause,
                       f"Write `__shared__ {match['k']} {v};`: then the block has one {v} for all its threads.")  # fmt: skip


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = (
    (_first_block_again, WRONG | TWICE),
    (_whole_turned, WRONG),
    (_own_place_again, WRONG),
    (_value_plus_one, WRONG),
    (_of_another_block, WRONG),
    (_scalar_not_shared, WRONG),
)
