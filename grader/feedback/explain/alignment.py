"""A pointer that does not begin at a multiple of 16 bytes, in a kernel that takes 16 at a time; see ``facts.py``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.domain.verdict import Status
from grader.feedback.explain.source_text import OUTSIDE, CppFunction, Fact, Finder, SubmissionText
from grader.feedback.explain.vector_mistakes import launched

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.domain.verdict import Finding

ASKS = re.compile(
    r"%\s*(?:8|16|32|alignof|sizeof)|&\s*\(?(?:7|15|31|0x[01]?[fF]|sizeof|alignof)\b|is_aligned"
)
WORD = re.compile(r"[A-Za-z_]\w*")
MADE = r"\b(?:bool|auto|int)\s+(?P<v>\w+)\s*=\s*(?P<value>[^;]*);"


@dataclass(frozen=True, slots=True)
class Modulus:
    """A ``multiple`` in bytes that an address is asked for, 0 if it is unknown, ``at`` a place of the code."""

    multiple: int
    at: int
    code: str


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
            asked = _asked(text, host, pointer, size)
            if asked:
                yield _too_small(text, kernel, asked[0], str(tensor["argument"]), size)
            elif asked is not None:
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


def _asked(text: SubmissionText, host: CppFunction, pointer: str, size: int) -> list[Modulus] | None:
    """By which multiples the launching function, and those that it calls, ask where this pointer points to.

    None if it asks in a way that is not followed here, or by a multiple that is large enough.
    """
    names = _names(host, pointer)
    unused = _unused(text, host)  # what it asks there comes to nothing
    body = host.body.replace(unused[0], " " * len(unused[0])) if unused else host.body
    every = _helpers(text, host, body)
    found = _moduli(body, host.start, names)
    for name in every:
        for call in re.finditer(rf"\b{name}\s*\((?P<given>(?:[^;()]|\((?:[^;()]|\([^;()]*\))*\))*)\)", body):
            if names & set(WORD.findall(call["given"])):
                asks = _followed(every, name)
                if asks is None:
                    return None
                found += asks
    if not found:
        whole = re.split(r"[;{}]", body)
        mine = [part for part in whole if "<<<" not in part and names & set(WORD.findall(part))]
        return (
            None if any(re.search(r"\b(?:u?intptr_t|size_t|storage_offset)\b", part) for part in mine) else []
        )
    return found if all(0 < one.multiple < size for one in found) else None


def _helpers(text: SubmissionText, host: CppFunction, body: str) -> dict[str, tuple[str, int]]:
    """The bodies of the file's own functions, of its macros and of the function's lambdas, and where they begin."""
    every = {f.name: (f.body, f.start) for f in text.functions if f is not host and not f.kernel}
    for macro in re.finditer(r"#\s*define\s+(?P<name>\w+)\([^()\n]*\)(?P<body>(?:[^\n\\]|\\\n)*)", text.code):
        every[macro["name"]] = macro["body"], macro.start("body")
    for inner in re.finditer(r"\bauto\s+(?P<name>\w+)\s*=\s*\[[^\]]*\][^{};]*(?P<body>\{[^{}]*\})", body):
        every[inner["name"]] = inner["body"], host.start + inner.start("body")
    return every


def _followed(every: dict[str, tuple[str, int]], name: str, depth: int = 4) -> list[Modulus] | None:
    """The multiples that a function asks an address for, itself or by those it calls; None where one is unknown."""
    body, start = every[name]
    found = _moduli(body, start, None)
    for other in every:
        if other != name and depth and re.search(rf"\b{other}\s*\(", body):
            asks = _followed(every, other, depth - 1)
            if asks is None:
                return None
            found += asks
    unknown = not found and (ASKS.search(body) or re.search(r"\bu?intptr_t\b|storage_offset", body))
    return None if unknown or any(not one.multiple for one in found) else found


def _moduli(body: str, start: int, names: set[str] | None) -> list[Modulus]:
    """What remains of an address is asked here: of one of these names, or of any address."""
    kept = re.findall(r"\b(\w+)\s*=\s*[^;=]*\bu?intptr_t\b[^;%&]*;", body)
    address = "|".join([r"u?intptr_t", r"reinterpret_cast\s*<\s*size_t", *kept])
    form = rf"\b(?:{address})\b[^;%&|]*?(?:%\s*(?P<k>[\w()]+)|&\s*\(?(?P<m>0x[0-9a-fA-F]+|\w+)\b(?!\s*&))"
    found = []
    for match in re.finditer(form, body):
        if names is not None and not (names | set(kept)) & set(WORD.findall(match[0])):
            continue
        at = match.start("k") if match["k"] else match.start("m")
        sign = "%" if match["k"] else "&"
        found.append(
            Modulus(_multiple(match["k"], match["m"]), start + at, f"{sign} {match['k'] or match['m']}")
        )
    return found


def _multiple(divisor: str | None, mask: str | None) -> int:
    """The multiple that `% divisor` or `& mask` asks for; 0 if it is no number."""
    if divisor:
        known = re.match(r"sizeof\(float(?P<n>[24]?)\)", divisor)
        number = re.match(r"\d+", divisor)
        return 4 * int(known["n"] or 1) if known else int(number[0]) if number else 0
    number = re.fullmatch(r"0x[0-9a-fA-F]+|\d+", mask or "")
    return int(number[0], 0) + 1 if number else 0


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


def _too_small(text: SubmissionText, kernel: CppFunction, asked: Modulus, argument: str, size: int) -> Fact:
    """An address that is asked for a smaller multiple than the kernel needs."""
    cause = (
        f"`{asked.code}` asks for an address that is a multiple of {asked.multiple}: an address counts in bytes. {kernel.name} takes "
        f"{size} bytes of {argument} at a time, which must begin at a multiple of {size}."
    )
    right = f"% {size}" if asked.code.startswith("%") else f"& {size - 1}"
    return Fact(
        "address-of-too-little", text.line(asked.at), cause, f"Ask for a multiple of {size}: `{right}`."
    )


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


def _of_the_object(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``reinterpret_cast<uintptr_t>(&t) % 16``, which asks where the C++ object lies."""
    address = r"(?:reinterpret_cast\s*<\s*(?:std::)?u?(?:intptr|int64|size)_t\s*>\s*\(\s*|\(\s*(?:std::)?u?(?:intptr|int64|size)_t\s*\)\s*)"
    for function in text.host:
        named = re.findall(r"\bTensor\s*&?\s*(\w+)", f"{function.parameters}\n{function.body}")
        tensors = "|".join(dict.fromkeys(named))
        form = rf"{address}(?P<of>&\s*(?P<t>{tensors})\b)\s*\)?\s*%\s*\d+"
        for match in re.finditer(form, function.body) if tensors else ():
            t = match["t"]
            cause = f"`{match['of']}` is the address of the object {t} in the host's memory, and not that of its elements."
            yield Fact("address-of-object", text.line(function.start + match.start()), cause,
                       f"Ask for where the elements begin: `reinterpret_cast<uintptr_t>({t}.data_ptr())`.")  # fmt: skip


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = (
    (_of_the_object, OUTSIDE | {Status.FAILED}),
    (_any_address, OUTSIDE),
)
