"""What a library leaves to others: names that its loader must find, and which of them PyTorch may change."""

from __future__ import annotations

import re
import struct
import sys
from pathlib import Path

SECTION, SYMBOL = struct.Struct("<IIQQQQIIQQ"), struct.Struct("<IBBHQQ")
DYNAMIC_SYMBOLS = 11  # a section's type
# C++ names in PyTorch's namespaces, mangled. Those of its stable interface are C's: aoti_torch_..., torch_...
CPP = re.compile(r"_ZT?[A-Z]?N?[KVRO]*(?:S[a-z])?(?:2at|3c10|5torch)")


def names(library: Path) -> list[str]:
    """The undefined symbols of an ELF64 library, sorted. ValueError if it is none.

    Source: System V ABI, edition 4.1, chapters 4 and 5.
    """
    data = library.read_bytes()
    if data[:5] != b"\x7fELF\x02":
        raise ValueError(f"{library.name} is not an ELF64 file")
    (offset,) = struct.unpack_from("<Q", data, 0x28)
    size, count = struct.unpack_from("<HH", data, 0x3A)
    sections = [SECTION.unpack_from(data, offset + k * size) for k in range(count)]
    found: set[str] = set()
    for section in sections:
        if section[1] != DYNAMIC_SYMBOLS:
            continue
        strings = sections[section[6]][4]
        for at in range(section[4], section[4] + section[5], SYMBOL.size):
            name, _, _, place, _, _ = SYMBOL.unpack_from(data, at)
            if name and not place:
                begin = strings + name
                found.add(data[begin : data.index(b"\0", begin)].decode())
    return sorted(found)


def of_torch(symbols: list[str]) -> list[str]:
    """Those that belong to PyTorch's C++, which may be other ones in the next version."""
    return [name for name in symbols if CPP.match(name)]


if __name__ == "__main__":
    for path in map(Path, sys.argv[1:]):
        try:
            needed = names(path)
        except (OSError, ValueError, struct.error, IndexError) as error:
            print(f"{path} cannot be read as a library: {error}", file=sys.stderr)
            sys.exit(2)
        stable = sum(name.startswith(("aoti_torch_", "torch_")) for name in needed)
        print(
            f"{path.name}: {len(of_torch(needed))} names of PyTorch's C++, {stable} of its stable interface"
        )
