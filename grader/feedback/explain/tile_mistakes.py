"""Facts about a block's tile in shared memory: its last element, and what is read although the tile has it; see ``facts.py``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from grader.domain.verdict import Finding, Status
from grader.feedback.explain.source_text import (
    OUTSIDE,
    SIZE,
    WRONG,
    CppFunction,
    Fact,
    Finder,
    SubmissionText,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

WHOLE = r"(?:blockDim\.x|[A-Z][A-Z_0-9]+|\d+)"  # the number of a block's threads
COPY = re.compile(r"(?:[^;?]*\?)?\s*(?P<x>\w+)\s*\[\s*(?P<i>[^\]]*?)\s*\]\s*(?::[^;]*)?")
FILL = r"\b(?P<tile>{tiles})\s*\[\s*(?P<at>[^\]]*?)\s*\]\s*=(?!=)\s*(?P<value>[^;]*);"


def _threads(kernel: CppFunction) -> str:
    """The names of the thread's number in its block, as a pattern."""
    own = re.findall(r"\b(\w+)\s*=\s*(?:\(\w+\)\s*)?threadIdx\.x\s*[;,]", kernel.body)
    return "|".join([r"threadIdx\.x", *(rf"\b{name}\b" for name in own)])


def _count(kernel: CppFunction) -> str:
    """The variable that has the number of the block's elements; "" if there is none."""
    made = re.search(
        r"\b(\w+)\s*=\s*(?:std::)?min\s*(?:<[^<>]*>)?\s*\([^;]*\b(?:SIZE|blockDim|[A-Z]+|\d+)", kernel.body
    )
    return made[1] if made else ""


def _from_the_end(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``tile[SIZE - 1 - t]`` and ``tile[SIZE - 1]``, in a block that may have fewer elements than threads."""
    seen = next((one for one in finding.evidence.get("seen") or [] if isinstance(one, dict)), {})
    for kernel in text.kernels:
        body, t = kernel.body, _threads(kernel)
        if not re.search(rf"(?:<|>=)\s*{SIZE}\b|\b{SIZE}\s*(?:>|<=)", body):
            continue  # nothing says that a block may be short
        turned = re.compile(
            rf"(?<![\w.])\(?\s*(?P<s>{WHOLE})\s*-\s*(?:1\s*\)?\s*-\s*(?P<t>{t})|(?P<u>{t})\s*-\s*1)(?!\w)"
        )
        for match in turned.finditer(body):
            size, thread = match["s"], match["t"] or match["u"]
            line = text.line(kernel.start + match.start())
            count, code = _count(kernel), " ".join(match[0].strip(" (").replace(")", "").split())
            cause = (
                f"`{code}` counts from the end of a full block of {size} elements. A short last block has fewer, and its last "
                f"element is at {count or '(the number of its elements)'} - 1, not at {size} - 1."
            )
            yield Fact("from-the-end", line, cause, _with_count(count, size, f" - 1 - {thread}"))
        for match in re.finditer(rf"\b(?P<a>\w+)\s*\[\s*(?P<s>{WHOLE})\s*-\s*1\s*\]", body):
            line = text.line(kernel.start + match.start())
            stored = re.match(r"\s*=(?!=)", body[match.end() :])
            if line != seen.get("line") or stored or "uninit" not in str(seen.get("kind")):
                continue
            count, size = _count(kernel), match["s"]
            cause = (
                f"`{match[0]}` is the last element of a full block of {size}. A short last block has fewer elements, and "
                f"{match['a']}[{size} - 1] has no value there."
            )
            yield Fact("from-the-end", line, cause, _with_count(count, size, " - 1"))
        single = "|".join(re.findall(r"__shared__\s+\w+\s+(\w+)\s*;", body))
        asked = rf"\(\s*(?P<t>{t})\s*==\s*(?P<s>{WHOLE})\s*-\s*1\s*(?:&&[^;{{}}]*)?\)\s*\{{?\s*(?P<v>{single})\s*=(?!=)"
        for match in re.finditer(asked, body) if single else ():
            count, size = _count(kernel), match["s"]
            cause = f"{match['v']} gets its value from the thread {size} - 1 alone, and in a short last block that thread has no element."
            fix = f"Ask for the last thread that has one: `{match['t']} == {count or '(the number of its elements)'} - 1`."
            yield Fact("from-the-end", text.line(kernel.start + match.start()), cause, fix)


def _with_count(count: str, size: str, rest: str) -> str:
    if count:
        return f"Write `{count}{rest}`."
    return f"Let count be the number of the block's elements, the smaller of {size} and n - (its first index), and write `count{rest}`."


def _again(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``x[i - 1]`` below ``tile[t] = x[i]``, where too many loads were counted."""
    if not str(finding.evidence.get("metric")).startswith("global_load"):
        return
    for kernel in text.kernels:
        tiles = re.findall(r"__shared__\s+[^;]*?\b(\w+)\s*\[", kernel.body)
        fill = re.search(FILL.format(tiles="|".join(tiles)), kernel.body) if tiles else None
        source = fill and COPY.fullmatch(fill["value"])
        if fill is None or source is None or source["x"] not in kernel.names:
            continue
        x, i, tile, t = source["x"], source["i"], fill["tile"], fill["at"]
        filled = text.line(kernel.start + fill.start())
        for read in re.finditer(rf"\b{x}\s*\[\s*(?P<i>[^\]]*?)\s*\]", kernel.body[fill.end() :]):
            at = fill.end() + read.start()
            statement = kernel.body[max(kernel.body.rfind(sign, 0, at) for sign in ";{}") + 1 : at]
            if re.search(rf"\b(?:{'|'.join(tiles)})\s*\[[^\]]*\]\s*=(?!=)", statement):
                continue  # another part of the tile
            cause = f"`{read[0]}` is read from device memory here, and line {filled} has brought the block's part of {x} into {tile} (`{' '.join(fill[0].split())}`)."
            beside = re.fullmatch(rf"{re.escape(i)}\s*(?P<s>[-+]\s*\w+)?", read["i"])
            if beside is None:
                fix = f"Take it from {tile}."
            elif beside["s"]:
                fix = f"Where {read[0]} belongs to this block, it is `{tile}[{t} {beside['s']}]`."
            else:
                fix = f"Take `{tile}[{t}]`."
            yield Fact("read-again", text.line(kernel.start + at), cause, fix)
            return


def _written_under(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``if (i == n - 1) last = x[i];``: the one statement that writes what a block then reads without a value."""
    for seen in (finding.evidence.get("seen") or [])[:1]:
        name = re.search(r"reads element \d+ of (\w+) \([^)]*shared memory\)", str(seen.get("what")))
        if name is None or "uninit" not in str(seen.get("kind")):
            continue
        for kernel in (k for k in text.kernels if re.search(rf"__shared__[^;(]*\s{name[1]}\s*;", k.body)):
            stores = list(re.finditer(rf"(?<![\w.]){name[1]}\s*[-+*/]?=(?!=)", kernel.body))
            uses = rf"\b{name[1]}\b\s*(?:\+\+|--)|(?:\+\+|--|&)\s*{name[1]}\b"
            head = r"\bif\s*\((?P<c>(?:[^;{}()]|\((?:[^;{}()]|\([^;{}()]*\))*\))*)\)\s*\{?\s*$"
            asked = re.search(head, kernel.body[: stores[0].start()]) if len(stores) == 1 else None
            barrier = kernel.body.find("__syncthreads", stores[0].end()) if asked else -1
            read = re.search(rf"\b{name[1]}\b", kernel.body[stores[0].end() :]) if asked else None
            if asked is None or re.search(uses, kernel.body) or read is None:
                continue
            if not 0 <= barrier < stores[0].end() + read.start():
                continue
            yield _told_of_one(text, kernel, name[1], (asked.start(), " ".join(asked["c"].split())), seen)


def _told_of_one(
    text: SubmissionText, kernel: CppFunction, name: str, asked: tuple[int, str], seen: dict[str, object]
) -> Fact:
    at, condition = asked
    block = seen.get("block")
    where = f"in block {tuple(block)}" if isinstance(block, list | tuple) else "in the block that is named"
    cause = f"Only this statement writes {name}, under `{condition}`, and {where} no thread came to it: line {seen.get('line')} reads {name} without a value."
    own = re.findall(r"\b(\w+)\s*=\s*(?:\(\w+\)\s*)?(?:me\(\)|[^;,]*\bblockIdx\.x\b[^;,]*)[;,]", kernel.body)
    number = re.match(rf"(?P<i>me\(\)|{'|'.join([*map(re.escape, own), '(?!)'])})\s*==(?!=)", condition)
    fix = "Each block has memory of its own there, so one thread of each block must write it."
    if number:
        cause += f" {number['i']} is a thread's number in the whole grid: one thread of all blocks together can have this one."
        places = re.findall(r"\b(\w+)\s*=\s*(?:\(\w+\)\s*)?threadIdx\.x\s*[;,]", kernel.body)
        fix += f" Ask for its place in the block, `{places[0] if places else 'threadIdx.x'}`."
    return Fact("written-under", text.line(kernel.start + at), cause, fix)


def _sizes(text: SubmissionText, kernel: CppFunction) -> set[str]:
    """What the number of a block's threads is called: blockDim.x, and constants that a launch or a tile has for it."""
    found = {"blockDim.x"}
    for launch in re.finditer(rf"\b{kernel.name}\s*<<<[^;]*?,\s*(?P<size>\w+)\s*(?:,[^;]*?)?>>>", text.code):
        found.add(launch["size"])
    for tile in re.finditer(
        rf"__shared__[^;]*?\b(?P<a>\w+)\s*\[\s*(?P<size>{WHOLE})\s*(?:\+\s*\d\s*)?\]", kernel.body
    ):
        if re.search(rf"\b{tile['a']}\s*\[\s*(?:{_threads(kernel)})\s*\]\s*=(?!=)", kernel.body):
            found.add(tile["size"])
    return found


def _met_by_nobody(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``if (t == SIZE)``, ``if (t > SIZE - 1)``, ``if (t < 0)``: no thread has such a number."""
    for kernel in text.kernels:
        size = "|".join(map(re.escape, sorted(_sizes(text, kernel), key=len, reverse=True)))
        past = rf"(?:==|>=?)\s*(?P<s>{size})(?!\s*[-*/\w])|>\s*(?P<s1>{size})\s*-\s*1(?![\w.])|<\s*0(?![\w.])|==\s*-\s*1(?![\w.])"
        asked = rf"\bif\s*\(\s*(?P<code>(?P<t>{_threads(kernel)})\s*(?:{past}))\s*(?:&&[^;{{}}]*)?\)\s*\{{?\s*(?!return\b)"
        for match in re.finditer(asked, kernel.body):
            t, code, whole = match["t"], " ".join(match["code"].split()), match["s"] or match["s1"]
            last = f"{whole or 'blockDim.x'} - 1"
            cause = f"No thread has `{code}`: {t} runs from 0 to {last}, so what stands behind this `if` never happens."
            fix = (
                f"The last thread of a block is the one with `{t} == {last}`, the first that with `{t} == 0`."
            )
            if re.search(r"==\s*-|<", code):
                fix = f"The first thread of a block is the one with `{t} == 0`, the last that with `{t} == {last}`."
            yield Fact("met-by-nobody", text.line(kernel.start + match.start()), cause, fix)


def _behind_the_last(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``if (t == count)``, of a block with count elements."""
    for kernel in text.kernels:
        if count := _count(kernel):
            for match in re.finditer(
                rf"\bif\s*\(\s*(?P<t>{_threads(kernel)})\s*==\s*{count}\s*[)&]", kernel.body
            ):
                t = match["t"]
                cause = f"A block's {count} elements belong to the threads 0 to {count} - 1: the thread with `{t} == {count}` has none, and a full block has no such thread."
                yield Fact("behind-the-last", text.line(kernel.start + match.start()), cause,
                           f"The last is the one with `{t} == {count} - 1`.")  # fmt: skip


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = (
    (_met_by_nobody, WRONG | OUTSIDE),
    (_behind_the_last, WRONG | OUTSIDE),
    (_from_the_end, WRONG | OUTSIDE),
    (_written_under, WRONG),
    (_again, frozenset({Status.FAILED})),
)
