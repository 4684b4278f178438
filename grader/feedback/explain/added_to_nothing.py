"""``out[i] += ...`` of a kernel in C++, where nothing has given out a value before; see ``facts.py``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from grader.domain.verdict import Status
from grader.feedback.explain.source_text import WRONG, Fact, Finder, SubmissionText

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.domain.verdict import Finding

READS = re.compile(r"reads element [\d, ]+ of (?P<a>\w+) ")
FOR = re.compile(r"\bfor\s*\(\s*(?:const\s+)?\w+\s+(?P<j>\w+)\s*=")


def _added(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """The line that adds to an element which the player has seen to be unwritten."""
    for seen in (finding.evidence.get("seen") or [])[:1]:
        reads, line = READS.search(str(seen.get("what"))), seen.get("line")
        if "uninit" not in str(seen.get("kind")) or not reads:
            continue
        for kernel in text.kernels:
            form = re.compile(
                rf"(?<![\w.]){reads['a']}\s*\[(?P<i>[^][;=]*)\]\s*(?P<s>[-+*])=\s*(?P<v>[^;]+);"
            )
            every = list(form.finditer(kernel.body))
            here = [m for m in every if text.line(kernel.start + m.start()) == line]
            if not here:
                continue
            (add, *_) = here
            target, sign = f"{reads['a']}[{add['i'].strip()}]", add["s"]
            cause = f"`{target} {sign}= ...` reads {target} before it writes it, and nothing has been written there yet."
            begin, first = ("1" if sign == "*" else "0"), text.line(kernel.start + every[0].start())
            counted = {m["j"] for m in FOR.finditer(kernel.body)} & set(re.findall(r"\w+", add["i"]))
            if text.looped({line}) and counted:
                fix = f"Store {begin} in {target} before the first `{sign}=` that belongs to it."
            elif text.looped({line}):
                does = "multiply" if sign == "*" else "add up"
                fix = (
                    f"Put `{target} = {begin};` before the loop, or {does} in a variable of its own there and store it in "
                    f"{target} after the loop."
                )
            elif len(every) > 1:
                fix = f"Put `{target} = {begin};` above line {first}, the first that goes on from it, and outside of any `if`."
            elif sign == "+":
                fix = f"Write `{target} = {' '.join(add['v'].split())};`."
            else:
                fix = f"Give {target} its first value before."
            yield Fact("added-to-nothing", int(str(line)), cause, fix)
            return


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = ((_added, WRONG | {Status.FAILED}),)
