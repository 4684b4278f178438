"""Facts about fragments of tensor cores: how they are loaded, multiplied and added up; see ``facts.py``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from grader.domain.verdict import Finding, Status
from grader.feedback.explain.source_text import WRONG, CppFunction, Fact, Finder, SubmissionText

if TYPE_CHECKING:
    from collections.abc import Iterator

ADDED = re.compile(r"\bmma_sync\s*\(\s*(?P<f>\w+)\s*,[^;]*,\s*(?P=f)\s*\)")

LOADED = re.compile(r"\bload_matrix_sync\s*\(\s*(?P<f>\w+)\s*,(?P<address>[^;]*),(?P<apart>[^,;]*)\)\s*;")
CALLS = r"\b(?:load_matrix_sync|store_matrix_sync|mma_sync)\s*\("
SUMMED = re.compile(r"[^;{}]*\.x\s*\[[^;{}]*[-+]?=(?!=)(?P<value>[^;]*\.x\s*\[[^;]*);")
SMALL = 1e-4  # a part of the result: what a sum loses that is rounded in the tensor core, or less
HALF = (2e-5, 5e-3)  # what products of half precision alone are off by


def off(finding: Finding) -> float | None:
    """By which part of its value the first wrong element is off; None where that says nothing."""
    got, wanted = finding.evidence.get("got"), finding.evidence.get("expected")
    if not isinstance(got, int | float) or not isinstance(wanted, int | float) or not wanted:
        return None
    return abs(got - wanted) / abs(wanted)


def made_of(text: SubmissionText, kernel: CppFunction, finding: Finding) -> str:
    """Where a kernel with fragments makes its sums, and how large the error is; "" for any other kernel."""
    if "mma_sync" not in kernel.body:
        return ""
    found = {
        "loads": re.finditer(r"\bload_matrix_sync\b", kernel.body),
        "products": re.finditer(r"\bmma_sync\b", kernel.body),
        "sums": re.finditer(r"\.x\s*\[[^;]*=", kernel.body),
    }
    lines = {
        what: sorted({text.line(kernel.start + m.start()) for m in all_}) for what, all_ in found.items()
    }
    told = [f"{what} ({'line' if len(at) == 1 else 'lines'} {_span(at)})" for what, at in lines.items() if at]
    size, share = "", off(finding)
    if share is not None:
        like = ", as products of half precision alone are" if HALF[0] < share < HALF[1] else ""
        size = f" It is off by {share:.0e} of its value{like}."
    return f", from {', '.join(told)}.{size}"


def _span(lines: list[int]) -> str:
    return str(lines[0]) if len(lines) == 1 else f"{lines[0]} to {lines[-1]}"


def _some_lanes(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """A call of the whole warp behind a condition that some of its threads do not fulfil."""
    for kernel in text.kernels:
        guard = rf"\bif\s*\((?P<asked>(?:[^;{{}}()]|\([^()]*\))*)\)\s*(?:\{{[^{{}}]*?|[^;{{}}]*?)(?P<call>{CALLS})"
        for match in re.finditer(guard, kernel.body):
            lane = re.fullmatch(
                r"\s*(?:threadIdx\.x|lane\w*)(?:\s*(?:%|&)\s*\w+)?\s*(?:<|<=|==)\s*(\d+)\s*", match["asked"]
            )
            if lane and (int(lane[1]) < 32 or "%" in match["asked"]):
                name = match["call"].partition("(")[0].strip()
                cause = f"Threads for which `{match['asked'].strip()}` is false do not come to this `{name}`: each holds a part of the fragment, and its part stays as it was."
                yield Fact("fragment-some-lanes", text.line(kernel.start + match.start("call")), cause,
                           "Take the condition away: all 32 threads of a warp make each of these calls together.")  # fmt: skip


def _how_it_lies(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """A tile whose address says how it lies in memory, and a layout or a last argument that says otherwise."""
    declared = r"\bfragment\s*<\s*(?:\w+::)*(?P<use>matrix_[ab])\b[^;>]*?(?P<layout>row|col)_major\s*>\s*(?P<names>[\w\s,]+);"
    for kernel in text.kernels:
        layouts = {
            name: (m["use"], m["layout"], m.start("layout"))
            for m in re.finditer(declared, kernel.body)
            for name in re.findall(r"\w+", m["names"])
        }
        for load in LOADED.finditer(kernel.body):
            address = re.search(r"\*\s*(?P<row>[A-Za-z_]\w*)\s*\+\s*\w+\s*\]?\s*$", load["address"])
            if address is None or load["f"] not in layouts:
                continue
            (use, layout, at), row, apart = layouts[load["f"]], address["row"], load["apart"].strip()
            if apart.isdigit():
                cause = f"The last argument leads from one row of the matrix in memory to the next. By this line's address a row has {row} numbers, and {apart} is the tile's own size."
                yield Fact("fragment-rows-apart", text.line(kernel.start + load.start()), cause,
                           f"Give `{row}` as the last argument.")  # fmt: skip
            wanted = "row" if use == "matrix_a" else "col"
            if row == apart and layout != wanted:
                name = load["f"]
                side = "columns" if wanted == "col" else "rows"
                cause = f"{name} is loaded from `{load['address'].strip()}`: the numbers that follow each other in memory are those of one sum. In {use} they are {side} of the tile, and {layout}_major says the opposite."
                yield Fact("fragment-layout", text.line(kernel.start + at), cause,
                           f"Declare {name} with `{wanted}_major`.")  # fmt: skip


def _scaled(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """Rests that Python multiplies by 2048, and a kernel that never divides; or that leaves them out."""
    scaled = re.search(r"\*\s*2048\b", text.source) and "2048" not in text.code
    for kernel in text.kernels:
        added = list(re.finditer(r"\bmma_sync\s*\(", kernel.body))
        halves = re.findall(r"(?:\bhalf|__half)\s*\*\s*(?:__restrict__\s*)?(\w+)", kernel.parameters)
        unused = [name for name in halves if not re.search(rf"\b{name}\b", kernel.body)]
        if added and len(halves) == 4 and len(unused) == 2:
            first, second = unused
            cause = f"{first} and {second} are handed to the kernel and never loaded: of the products of two pairs of halves the one of both high parts is there alone, and the result has three or four right digits."
            yield Fact("fragment-high-alone", text.line(kernel.start + added[-1].start()), cause,
                       "Load tiles of both as well, and add the two cross terms to a fragment of their own.")  # fmt: skip
        summed = [m for m in SUMMED.finditer(kernel.body) if not re.search(r"[/*]|ldexp|scalbn", m["value"])]
        if scaled and len(added) > 1 and summed and not unused:
            at = summed[0].start() + len(summed[0][0]) - len(summed[0][0].lstrip())
            cause = "The low parts are 2048 times too large, so that half precision holds them, and so is each cross term. Nothing in the kernel divides by 2048."
            yield Fact("fragment-not-scaled-back", text.line(kernel.start + at), cause,
                       "Divide the cross terms' sum by 2048, once, where it is added to the other.")  # fmt: skip


def _never_promoted(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """A sum that is never begun anew inside the loop, of a result whose last digits are wrong."""
    share = off(finding)
    if finding.status is not Status.PRECISION and (share is None or share > SMALL):
        return
    for kernel in text.kernels:
        for added in ADDED.finditer(kernel.body):
            loop = re.search(r"\bfor\s*\(", kernel.body[: added.start()])
            again = rf"\bfill_fragment\s*\(\s*{added['f']}\b|\b{added['f']}(?:\.x\s*\[[^\]]*\])?\s*=(?!=)"
            if loop and not re.search(again, kernel.body[loop.start() :]):
                cause = f"{added['f']} is begun once and takes the products of the whole sum. Each `mma_sync` cuts the sum off towards zero, and over thousands of terms that shows."
                yield Fact("fragment-one-long-sum", text.line(kernel.start + added.start()), cause,
                           f"For each chunk of 64 terms begin {added['f']} anew with `fill_fragment`, and after it add its numbers to a float32 sum of their own.")  # fmt: skip
                break


def _never_begun(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """A fragment that products are added to, and that nothing is put into before."""
    for kernel in text.kernels:
        for name in dict.fromkeys(match["f"] for match in ADDED.finditer(kernel.body)):
            declared = re.search(
                rf"\b(?:fragment\s*<[^;]*>|[A-Z]\w*)\s+[\w\s,]*\b{name}\b[\w\s,]*;", kernel.body
            )
            put = re.search(
                rf"\b(?:fill_fragment|load_matrix_sync)\s*\(\s*{name}\b|\b{name}\s*(?:\.x\s*\[[^\]]*\]\s*)?=(?!=)",
                kernel.body,
            )
            if declared and not put:
                cause = f"`mma_sync` adds its product to what {name} holds, and nothing was put into {name} before: a fragment does not begin with 0."
                fix = f"Where its sum begins: `fill_fragment({name}, 0.0f);`."
                yield Fact("fragment-never-begun", text.line(kernel.start + declared.start()), cause, fix)


def _one_number(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """One number of a thread's share of a fragment, in a kernel that never goes over all of them."""
    for kernel in text.kernels:
        if not ADDED.search(kernel.body) or re.search(r"\.x\s*\[\s*(?!\d+\s*\])", kernel.body):
            continue
        for match in re.finditer(r"\b(?P<f>\w+)\.x\s*\[\s*\d+\s*\]\s*[-+*/]?=(?!=)", kernel.body):
            name = match["f"]
            cause = f"This is one of the numbers of {name} that a thread holds, and it holds {name}.num_elements: the others stay as they were."
            fix = f"Go over all of them: `for (int i = 0; i < {name}.num_elements; ++i)`, with `.x[i]` of each fragment."
            yield Fact("fragment-one-number", text.line(kernel.start + match.start()), cause, fix)


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = (
    (_never_begun, WRONG),
    (_one_number, WRONG),
    (_some_lanes, WRONG),
    (_how_it_lies, WRONG),
    (_scaled, WRONG),
    (_never_promoted, WRONG),
)
