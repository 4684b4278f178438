"""What the fast build has to know of ELF files: the symbols of g++'s object files and of nvcc's cubins."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

FUNCTION, OBJECT = 2, 1
TABLE = 2  # a section with symbols
SECTION = struct.Struct("<IIQQQQIIQQ")
SYMBOL = struct.Struct("<IBBHQQ")
MOST_SECTIONS = 0xFF00  # numbers from here on say something else than where a symbol is


@dataclass(frozen=True, slots=True)
class Symbol:
    """A defined function or variable: its mangled name, size in bytes, and the name of its section."""

    name: str
    kind: int
    is_local: bool
    size: int
    section: str


def symbols(path: Path) -> list[Symbol]:
    """The functions and variables that an ELF64 file defines. ValueError if it is none.

    Source: System V ABI, edition 4.1, chapter 4.
    """
    data = path.read_bytes()
    try:
        return _symbols(data)
    except (struct.error, IndexError) as error:
        raise ValueError(f"{path.name} is not a whole ELF file") from error


def code(path: Path) -> dict[str, bytes]:
    """The machine code of each kernel of a cubin, by its mangled name."""
    data = path.read_bytes()
    heads, names = _sections(data)
    return {
        name.removeprefix(".text."): data[head[4] : head[4] + head[5]]
        for head, name in zip(heads, names, strict=True)
        if name.startswith(".text.")
    }


def _sections(data: bytes) -> tuple[list[tuple[int, ...]], list[str]]:
    if data[:5] != b"\x7fELF\x02":
        raise ValueError("not an ELF64 file")
    (offset,) = struct.unpack_from("<Q", data, 0x28)
    size, count, strings = struct.unpack_from("<HHH", data, 0x3A)
    if offset and not count:  # more than fit into 16 bits: the first section says how many
        count = SECTION.unpack_from(data, offset)[5]
        strings = SECTION.unpack_from(data, offset)[6] if strings == 0xFFFF else strings
    heads = [SECTION.unpack_from(data, offset + i * size) for i in range(count)]
    return heads, [_text(data, heads[strings][4] + head[0]) for head in heads]


def _symbols(data: bytes) -> list[Symbol]:
    heads, names = _sections(data)
    table = next((head for head in heads if head[1] == TABLE), None)
    if table is None:
        return []
    found, strings = [], heads[table[6]][4]
    for at in range(table[4], table[4] + table[5], SYMBOL.size):
        name, info, _, section, _, size = SYMBOL.unpack_from(data, at)
        if 0 < section < min(MOST_SECTIONS, len(names)) and info & 15 in (FUNCTION, OBJECT):
            text = _text(data, strings + name)
            found.append(Symbol(text, info & 15, info >> 4 == 0, size, names[section]))
    return found


def _text(data: bytes, at: int) -> str:
    return data[at : data.index(b"\0", at)].decode("utf-8", "replace")
