"""A pointer that does not begin at a multiple of 16 bytes, in a kernel that takes 16 at a time; see ``facts.py``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from grader.feedback.explain.source_text import OUTSIDE, CppFunction, Fact, Finder, SubmissionText
from grader.feedback.explain.vector_mistakes import launched

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.domain.verdict import Finding, Status

ASKS = re.compile(
    r"%\s*(?:8|16|32|alignof|sizeof)|&\s*\(?(?:7|15|31|0x[01]?[fF]|sizeof|alignof)\b|is_aligned"
)
MADE = r"\b(?:bool|auto|int)\s+(?P<v>\w+)\s*=\s*(?P<value>[^;]*);"


def _any_address(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """A launch that hands over a tensor wherever it begins, by what the first wrong access was."""
    for seen in (finding.evidence.get("seen") or [])[:1]:
        tensor, size = seen.get("tensor") or {}, seen.get("size")
        inside = tensor.get("argument_offset")
        if seen.get("kind") != "misaligned" or not isinstance(inside, int) or not isinstance(size, int):
            continue
        if size < 8 or inside % size:
            continue  # the index is wrong, whatever the pointer is
        every = [one for one in launched(text) if one[1].name == _name(str(seen.get("kernel")))]
        for host, kernel, given, at in every[:1] if len(every) == 1 else ():
            if tensor.get("argument") not in kernel.names or len(given) != len(kernel.names):
                continue
            pointer = _bare(given[kernel.names.index(tensor["argument"])])
            if not _asked(text, host, pointer):
                yield _fact(text, host, kernel, (pointer, str(tensor["argument"])), at, size)


def _bare(pointer: str) -> str:
    """A pointer without the cast around it."""
    cast = re.fullmatch(r"(?:reinterpret|static)_cast<[^<>]*>\((?P<of>.*)\)|\([^()]*\*\)(?P<by>.*)", pointer)
    return (cast["of"] or cast["by"]) if cast else pointer


def _name(kernel: str) -> str:
    return re.sub(r"^.*::|[<(].*$", "", kernel)


def _names(host: CppFunction, pointer: str) -> set[str]:
    """The variables that a pointer is made of."""
    found = set(re.findall(r"[A-Za-z_]\w*", pointer))
    for name in sorted(found):
        for made in re.finditer(rf"\b{name}\s*=(?!=)\s*([^;]*);", host.body):
            found |= set(re.findall(r"[A-Za-z_]\w*", made[1]))
    return found - {"reinterpret_cast", "static_cast", "const", "float", "float4", "float2", "data_ptr", "mutable_data_ptr", "const_data_ptr", "auto"}  # fmt: skip


def _asked(text: SubmissionText, host: CppFunction, pointer: str) -> bool:
    """Whether the function that launches asks where this pointer points to, as far as a text tells."""
    if unused := _unused(text, host):  # what it asks there comes to nothing
        body = host.body.replace(unused[0], ";")
    else:
        body = host.body
    helpers = [f.name for f in text.host if f is not host and ASKS.search(f.body)]
    helpers += re.findall(r"\bauto\s+(\w+)\s*=\s*\[", body)  # a lambda may ask
    asks = rf"\b(?:{'|'.join([*helpers, 'uintptr_t', 'intptr_t', 'size_t'])})\b"
    names = _names(host, pointer)
    return any(
        re.search(asks, part) and names & set(re.findall(r"[A-Za-z_]\w*", part))
        for part in re.split(r"[;{}]", body)
        if "<<<" not in part
    )


def _unused(text: SubmissionText, host: CppFunction) -> re.Match[str] | None:
    """The statement that keeps whether pointers are aligned in a variable which nothing asks."""
    for made in re.finditer(MADE, host.body):
        asks = ASKS.search(made["value"]) and "uintptr_t" in made["value"]
        if asks and len(re.findall(rf"\b{made['v']}\b", text.code)) == 1:
            return made
    return None


def _fact(
    text: SubmissionText, host: CppFunction, kernel: CppFunction, called: tuple[str, str], at: int, size: int
) -> Fact:
    pointer, argument = called
    where, condition = _condition(host, at)
    cause = (
        f"{kernel.name} takes {size} bytes of {argument} at a time, which must begin at a multiple of {size} bytes. A tensor "
        f"may begin at any element, and here `{pointer}` does not begin at such a multiple."
    )
    unused = _unused(text, host)
    idle = [f.name for f in text.host if f is not host and ASKS.search(f.body) and "uintptr_t" in f.body]
    idle = [name for name in idle if len(re.findall(rf"\b{name}\b", text.code)) == 1]
    if unused:
        made = text.line(host.start + unused.start())
        cause += f" Line {made} asks for that, and {unused['v']}, which it makes, is used nowhere."
    else:
        cause += f" Nothing asks for that of `{pointer}` before the launch"
        cause += f"; {idle[0]} could, and is called nowhere." if len(idle) == 1 else "."
    ask = unused["v"] if unused else f"reinterpret_cast<uintptr_t>({pointer}) % {size} == 0"
    whole = f"`{condition} && {ask}`" if condition and "||" not in condition else f"`{ask}`"
    fix = f"Launch {kernel.name} only if {whole}, and else a kernel that takes one element at a time."
    return Fact("any-address", text.line(host.start + where), cause, fix)


def _condition(host: CppFunction, at: int) -> tuple[int, str]:
    """Where it is decided that the launch at ``at`` takes place, and by which condition; ``at`` and "" if unknown."""
    before = host.body[:at]
    depth, opened = 0, -1
    for place in range(len(before) - 1, 0, -1):
        depth += (before[place] == "}") - (before[place] == "{")
        if depth < 0:
            opened = place
            break
    head = re.search(r"\bif\s*\((?P<c>[^;{}]*)\)\s*$", before[:opened] if opened > 0 else before)
    if head is None:
        return at, ""
    condition, where = " ".join(head["c"].split()), head.start()
    chosen = re.fullmatch(r"(\w+)(?:\s*(?:==|>|!=)\s*\d+)?", condition)
    made = re.search(rf"\b{chosen[1]}\s*=(?!=)[^;]*;", before) if chosen else None
    return (made.start(), "") if made else (where, condition)


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = ((_any_address, OUTSIDE),)
