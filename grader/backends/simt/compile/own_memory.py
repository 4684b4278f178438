"""Which accesses of a compiled function may go beyond its own memory: where their addresses come from.

An address is the function's own if it was made from the stack's pointer, on every path to where it is used:
in a register, or kept in a place of the stack meanwhile. A compiler uses one place for several variables, so
that only the order in which things are done tells what is in it.
"""

from __future__ import annotations

import re
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    Known = frozenset[str]  # registers and places of the stack that hold an address of the function's own

ALWAYS = {"rsp", "rip"}
LABEL = re.compile(r"([\w.$]+):")
OPERAND = re.compile(r"(?<![\w%])(%fs:)?([\w.$+*-]*)\((%\w+)?(?:,(%\w+)(?:,\d)?)?\)")
PLACE = re.compile(r"(-?\d*)\(%rsp\)")
PARTS = re.compile(r"%(?:[re]?([a-d])[xhl]|[re]?([sd]i|bp|sp)l?|(r\d+)[bwd]?)")
LOST_IN_CALLS = frozenset(("rax", "rcx", "rdx", "rsi", "rdi", *(f"r{n}" for n in range(8, 12))))

# What these change is not, or not only, their last operand.
IMPLIED = re.compile(
    r"i?div[bwlq]?|i?mul[bwlq]?|c[lqw]t[dlqo]|rep\w*|xchg\w*|xadd\w*|cmpxchg\w*|rdtsc|cpuid|lock"
)
CHANGED_UNSEEN = frozenset(("rax", "rcx", "rdx", "rsi", "rdi"))


def register(name: str) -> str:
    """The whole register that this is, or is a part of: ``%eax`` is one of ``rax``; "" if it is none."""
    found = PARTS.fullmatch(name)
    if not found:
        return "rip" if name == "%rip" else ""
    return f"r{found[1]}x" if found[1] else f"r{found[2]}" if found[2] else found[3]


def beyond(instruction: str, known: Known) -> bool:
    """Whether it reads or writes by an address that is not known to be the function's own."""
    for segment, _, base, index in OPERAND.findall(instruction):
        one, other = register(base), register(index)
        if base and not segment and not {one, other} & ALWAYS and one not in known:
            return True
    return False


def accesses_beyond(lines: list[str]) -> set[int]:
    """The indices of all instructions that may access memory that is not the function's own.

    ``lines`` are its instructions and labels. What a jump through a register leads to is any of its labels.
    """
    blocks = list(_blocks(lines))
    by_label = {
        lines[k][:-1]: n for n, block in enumerate(blocks) for k in block if LABEL.fullmatch(lines[k])
    }
    entry: dict[int, Known] = {0: frozenset()}
    waiting = deque([0])
    found: dict[int, set[int]] = {}
    while waiting:
        number = waiting.popleft()
        known, found[number] = _through(lines, blocks[number], entry[number])
        for after in _successors(lines, blocks, number, by_label):
            joined = entry[after] & known if after in entry else known
            if after not in entry or joined != entry[after]:
                entry[after] = joined
                waiting.append(after)
    return set().union(*found.values())


def _blocks(lines: list[str]) -> Iterator[range]:
    """Runs of lines that are done one after another."""
    begin = 0
    for k, line in enumerate(lines):
        if LABEL.fullmatch(line) and k > begin:
            yield range(begin, k)
            begin = k
        if line[0] == "j" or line.startswith("ret"):
            yield range(begin, k + 1)
            begin = k + 1
    if begin < len(lines):
        yield range(begin, len(lines))


def _successors(lines: list[str], blocks: list[range], number: int, by_label: dict[str, int]) -> set[int]:
    word, _, to = lines[blocks[number][-1]].partition(" ")
    found = set()
    if word[0] == "j":
        to = to.strip()
        found = set(by_label.values()) if to.startswith("*") else {by_label[to]} if to in by_label else set()
    if not word.startswith(("jmp", "ret")) and number + 1 < len(blocks):
        found.add(number + 1)
    return found


def _through(lines: list[str], block: range, entry: Known) -> tuple[Known, set[int]]:
    known, found = set(entry), set[int]()
    for k in block:
        line = lines[k]
        if not LABEL.fullmatch(line):
            if not line.startswith(("lea", "nop", "prefetch")) and beyond(line, frozenset(known)):
                found.add(k)
            _do(line, known)
    return frozenset(known), found


def _do(line: str, known: set[str]) -> None:
    """What is known after an instruction."""
    word, _, operands = line.partition(" ")
    if word == "call":
        known -= LOST_IN_CALLS
        return
    if word.startswith(("cmp", "test", "j", "ret", "nop", "prefetch")):
        return
    if IMPLIED.fullmatch(word) and ("," not in operands or word[:2] not in ("im", "mu")):
        known -= CHANGED_UNSEEN | {register(one) for one in re.findall(r"%\w+", operands)}
        known -= {one for one in known if one.endswith(")")} if "%rsp" in operands else set()
        return
    source, _, target = operands.rpartition(",")
    to = register(target.strip())
    if to == "rsp" or word.startswith(("push", "pop")):  # from here on the places have other names
        known -= {one for one in known if one.endswith(")")}
    if place := PLACE.fullmatch(target.strip()):
        own = word == "movq" and register(source.strip()) in known | {"rsp"}
        own |= word in ("addq", "subq") and place[0] in known
        _forget(int(place[1] or 0), _width(word), known)
        known |= {place[0]} if own else set()
    elif to and not word.startswith("push"):
        (known.add if _is_own(word, source.strip(), to, known) else known.discard)(to)


def _is_own(word: str, source: str, to: str, known: set[str]) -> bool:
    """Whether the register ``to`` holds an address of the function's own after this."""
    own = register(source) in known | {"rsp"}
    if word.startswith("lea"):
        found = OPERAND.search(source)
        return bool(found) and register(found[3] or "") in known | ALWAYS  # type: ignore[index]
    if word == "movq":
        return own or source in known
    return word in ("addq", "subq") and (to in known or (own and word == "addq"))


def _forget(at: int, width: int, known: set[str]) -> None:
    """All addresses of which one of so many bytes, from this offset to the stack's pointer on, is a part."""
    known -= {f"{n or ''}(%rsp)" for n in range(at - 7, at + width)}


def _width(word: str) -> int:
    """Bytes that an instruction writes; as many as any may for one that is not known."""
    if word in ("movss", "movsd"):
        return 4 if word == "movss" else 8
    plain = re.fullmatch(r"(?:mov|add|sub|and|or|xor|inc|dec|neg|not|s[ah][lr])([bwlq])", word)
    return {"b": 1, "w": 2, "l": 4, "q": 8}[plain[1]] if plain else 64
