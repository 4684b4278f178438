"""``blockIdx.x * 32 + threadIdx.x`` where a block is launched with another number of threads; see ``facts.py``."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from grader.feedback.explain.indices import constants
from grader.feedback.explain.launch_view import AXES, launches
from grader.feedback.explain.source_text import TWICE, WRONG, Fact, Finder, SubmissionText

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.domain.verdict import Finding, Status

MOST = 8
BLOCK = r"(?:(?:int64_t|static_cast\s*<\s*[\w: ]+>)\s*\(\s*blockIdx\.(?P<{0}>[xyz])\s*\)|blockIdx\.(?P<{0}{0}>[xyz]))"
NUMBER = re.compile(
    rf"\b(?P<i>\w+)\s*=\s*{BLOCK.format('b')}\s*\*\s*(?P<k>\w+)\s*\+\s*threadIdx\.(?P<t>[xyz])\s*[;,]"
    rf"|\b(?P<i2>\w+)\s*=\s*threadIdx\.(?P<t2>[xyz])\s*\+\s*{BLOCK.format('c')}\s*\*\s*(?P<k2>\w+)\s*[;,]"
)


def _another_step(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """A kernel without loops, each of whose threads has one element, and whose launches all have one size."""
    every = list(launches(text))
    for kernel in text.kernels:
        own = [one for one in every if one.kernel == kernel]
        if not own or re.search(r"\b(?:for|while|do)\b|__shared__", kernel.body):
            continue
        if len(re.findall(rf"\b{kernel.name}\s*(?:<[^<>;]{{0,80}}>\s*)?<<<", text.code)) != len(own):
            continue
        for one in islice(NUMBER.finditer(kernel.body), MOST):
            i, t, k = (one[name] or one[f"{name}2"] for name in "itk")
            d = next(one[name] for name in ("b", "bb", "c", "cc") if one[name])
            uses = len(re.findall(rf"\bblockIdx\.{d}\b|\bthreadIdx\.{d}\b", kernel.body))
            sizes = {
                constants(text.code, launch.block[AXES.index(d)].code)
                if len(launch.block) > AXES.index(d)
                else ""
                for launch in own
            }
            step, threads = constants(text.code, k), sizes.pop()
            if t != d or uses != 2 or sizes or not (step.isdecimal() and threads.isdecimal()):
                continue
            steps, n = int(step), int(threads)
            if (
                steps == n
                or min(steps, n) < 1
                or (steps > n and re.search(rf"\b{i}\s*\+|[(\[=]\s*[\w.]+\s*\+\s*{i}\b", kernel.body))
            ):
                continue
            line = text.line(own[0].block[AXES.index(d)].at)
            last = f"0 to {n - 1}" if n > 1 else "0 alone"
            left = f"nobody has {n}" if steps == n + 1 else f"nobody has {n} to {steps - 1}"
            shown = k if k == step else f"{k} ({step})"
            cause = (
                f"A block is launched with {n} thread{'s' * (n > 1)} along {d} (line {line}), and this line counts {shown} for each block. "
                f"Block 0 has the numbers {last}, and block 1 begins with {i} = {steps}: "
            )
            cause += f"{left}." if steps > n else "block 0 has that already."
            fix = f"Multiply by the number of threads that a block really has: `blockIdx.{d} * blockDim.{d} + threadIdx.{d}`."
            yield Fact("another-block-step", text.line(kernel.start + one.start()), cause, fix)
            return


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = ((_another_step, WRONG | TWICE),)
