"""Places at the ends of a tile that no thread's store reaches, as of a halo that nobody fills; see ``facts.py``."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from grader.domain.verdict import Finding, Status
from grader.feedback.explain.source_text import CppFunction, Fact, Finder, SubmissionText
from grader.feedback.explain.tile_fills import AROUND, heads

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST = 16  # stores that are looked at
READ = re.compile(
    r"reads element (?P<e>\d+) of (?P<a>\w+) \((?P<bytes>\d+) bytes of shared memory\), which no thread"
)
THREAD = re.compile(
    r"\b(?P<t>\w+)\s*=\s*(?:\(\w+\)\s*|static_cast<\w+>\s*\(\s*)?threadIdx\.x\s*\)?\s*(?:\+\s*(?P<k>\d+))?\s*[;,]"
)
SUM = re.compile(r"(?P<t>[A-Za-z_][\w.]*)\s*(?:\+\s*(?P<k>\d+))?|(?P<n>\d+)\s*\+\s*(?P<u>[A-Za-z_][\w.]*)")


def _ends_left_empty(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``tile[t] = x[i];`` with ``t = threadIdx.x + 1``, of a tile whose first and last place are read too."""
    every = [s for s in finding.evidence.get("seen") or [] if isinstance(s, dict)]
    first = every[0] if every else {}
    named = READ.match(str(first.get("what")))
    where, size = first.get("line"), first.get("size")
    if named is None or not isinstance(where, int) or not isinstance(size, int) or size <= 0:
        return
    array, elements = named["a"], int(named["bytes"]) // size
    read: dict[int, int] = {}  # by place: who reads it
    for seen in every:
        if (one := READ.match(str(seen.get("what")))) and one["a"] == array and seen.get("line") == where:
            x, *others = seen.get("thread") or [-1]
            read[int(one["e"])] = -1 if any(others) else int(x)
    for kernel in text.kernels:
        declared = re.search(rf"__shared__[^;]*?\b{array}\s*\[\s*([^][]*?)\s*\]\s*[;,]", kernel.body)
        around = range(text.line(kernel.start), text.line(kernel.start + len(kernel.body)) + 1)
        if declared is None or where not in around:
            continue
        stores = _stores(kernel, array)
        whole = re.fullmatch(r"(?P<s>[A-Za-z_]\w*|\d+)\s*\+\s*(?P<k>\d+)", declared[1])
        if not stores or not whole:
            return
        threads = elements - int(whole["k"])
        written = {at for _, begin in stores for at in range(begin, begin + threads)}
        store, begin = stores[0]
        behind = kernel.body[store.start() :]
        up_to = behind.find("__syncthreads")
        late = re.search(rf"\b{array}\s*\[[^][]*\]\s*=(?!=)", behind[max(up_to, 0) :])
        if up_to < 0 or late or threads <= 0 or min(read.values()) < 0 or written & read.keys():
            return
        yield _told(
            text, kernel, (store, begin), (array, whole["s"], threads), dict(sorted(read.items())), where
        )
        return


def _stores(kernel: CppFunction, array: str) -> list[tuple[re.Match[str], int]]:
    """The stores of all threads, each into a place beside its number, with thread 0's; [] if others may be more."""
    numbers = {m["t"]: int(m["k"] or 0) for m in THREAD.finditer(kernel.body)} | {"threadIdx.x": 0}
    found: list[tuple[re.Match[str], int]] = []
    if re.search(r"\b(?:for|while|do)\b", kernel.body):
        return found  # a loop may write any place
    own = re.compile(rf"==|\b(?:{'|'.join(map(re.escape, numbers))})(?!\w)")
    for store in islice(re.finditer(rf"\b{array}\s*\[\s*([^][]*?)\s*\]\s*=(?!=)[^;]*;", kernel.body), MOST):
        above = heads(kernel.body[max(0, store.start() - AROUND) : store.start()])
        of_all = SUM.fullmatch(store[1])
        thread = of_all and (of_all["t"] or of_all["u"])
        if any(
            re.search(r"\b(?:if|else)\b", head) and (own.search(head) or "else" in head) for head in above
        ):
            continue  # of some threads of the block: what they write is not among what is read
        if not of_all or thread not in numbers:
            return []
        found.append((store, numbers[thread] + int(of_all["k"] or of_all["n"] or 0)))
    return found


def _told(
    text: SubmissionText,
    kernel: CppFunction,
    stored: tuple[re.Match[str], int],
    tile: tuple[str, str, int],
    read: dict[int, int],
    where: int,
) -> Fact:
    store, begin = stored
    array, size, threads = tile

    def place(at: int) -> str:
        if size.isdigit() or at < threads - 1:
            return str(at)
        return size if at == threads else f"{size} {'+' if at > threads else '-'} {abs(at - threads)}"

    places = [f"{array}[{place(at)}]" for at in read]
    readers = [f"thread {place(thread)} reads" for thread in read.values()]
    each = f"{array}[threadIdx.x{f' + {begin}' if begin else ''}]"
    cause = (
        f"`{' '.join(store[0].split())}` lets a thread write one place, {each}: all together {array}[{place(begin)}] to "
        f"{array}[{place(begin + threads - 1)}]. "
        f"In each block {' and '.join(f'{who} {one}' for one, who in zip(places, readers, strict=True))}, in line {where}, and "
        f"nobody has written {'it' if len(places) == 1 else 'these'}. Shared memory does not begin with zeros: "
        "it holds what was left there."
    )
    asks = [
        f"`if (threadIdx.x == {place(t)}) {one} = ...;`" for one, t in zip(places, read.values(), strict=True)
    ]
    fix = (
        f"Let one thread write {'it' if len(places) == 1 else 'each of them'} in front of `__syncthreads()`, {' and '.join(asks)}: the element "
        "that belongs there, or 0 where there is none to be added."
    )
    return Fact("tile-ends-empty", text.line(kernel.start + store.start()), cause, fix)


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = ((_ends_left_empty, frozenset({Status.UNINITIALISED})),)
