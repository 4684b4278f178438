"""Which address of the host half stands for which kernel or variable of the device half.

nvcc's own host code tells the CUDA runtime by ``__cudaRegisterFunction`` and its relatives when a module is
loaded; here a table does, made from the symbols of both halves after they were compiled.
"""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.backends.cuda.compile.elf import FUNCTION, OBJECT, Symbol, symbols
from grader.backends.cuda.compile.host_text import CannotError

if TYPE_CHECKING:
    from pathlib import Path

DEVICE_DATA = (".nv.constant3", ".nv.global", ".nv.global.init", ".nv.constant")
IDENTIFIER = re.compile(r"[\w.$]+")
# How the two compilers mark what a file has for itself: the same for c++filt, but for a name of the file.
UNNAMED = re.compile(r"\(anonymous namespace\)::|_INTERNAL_\w+::|_GLOBAL__N_\w*::")


@dataclass(frozen=True, slots=True)
class Pairing:
    """``kernels``: (host symbol, name on the device). ``variables``: with size in bytes and "is constant".

    ``local``: host symbols that only their own object file knows so far.
    """

    kernels: list[tuple[str, str]]
    variables: list[tuple[str, str, int, bool]]
    local: list[str]


def pair(host: Path, device: Path, kernels: frozenset[str]) -> Pairing:
    """Pair the symbols of the host half's object file with those of the cubin.

    Raises:
        CannotError: The host half launches a kernel that the device half does not have.
    """
    there, here = symbols(device), symbols(host)
    entries = [s for s in there if s.kind == FUNCTION and s.section == f".text.{s.name}"]
    data = [s for s in there if s.kind == OBJECT and s.section.startswith(DEVICE_DATA)]
    launchers = [s for s in here if s.kind == FUNCTION and _is_of(s.name, kernels)]
    found = _matched(launchers, entries)
    if missing := [s for s in launchers if s.name not in found]:
        plain = _plain([missing[0].name])[0]
        raise CannotError(f"nvcc made no machine code of {plain[:200]}, which the host launches")
    variables = _matched([s for s in here if s.kind == OBJECT], data)
    by_name = {s.name: s for s in here}
    used = [*found, *variables]
    if strange := [name for name in used if not IDENTIFIER.fullmatch(name)]:
        raise CannotError(f"a symbol is called {strange[0][:60]!r}")
    return Pairing(
        [(name, found[name].name) for name in found],
        [(n, v.name, v.size, v.section.startswith(".nv.constant")) for n, v in variables.items()],
        [name for name in used if by_name[name].is_local],
    )


def _is_of(symbol: str, kernels: frozenset[str]) -> bool:
    """Whether a mangled name is that of a kernel with one of these names, not of something within one."""
    if not symbol.startswith("_Z"):
        return symbol in kernels
    if symbol.startswith("_ZZ") or "." in symbol:
        return False
    # A name is written with its length before it. Too many may be found: then the ordinary build takes over.
    return any(f"{len(name)}{name}" in symbol for name in kernels)


def _matched(here: list[Symbol], there: list[Symbol]) -> dict[str, Symbol]:
    """The partner of each symbol that has one: by its mangled name, or by its plain one if it is local."""
    exact = {s.name: s for s in there}
    found = {s.name: exact[s.name] for s in here if s.name in exact}
    rest = [s for s in here if s.name not in found]
    others = [s for s in there if s.name not in found]
    if rest and others:
        names = _plain([s.name for s in [*rest, *others]])
        partner = dict(zip(names[len(rest) :], others, strict=True))
        found |= {s.name: partner[n] for s, n in zip(rest, names, strict=False) if n in partner}
    return found


def _plain(names: list[str]) -> list[str]:
    done = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True, check=True)
    return [UNNAMED.sub("", line) for line in done.stdout.split("\n")]


def assembly(pairing: Pairing) -> str:
    """The table as an assembler's text: the device half's code, and what ``register.cpp`` reads.

    The code is ``device.fatbin`` in the folder where this is assembled.
    """
    lines = [
        ".section .nv_fatbin,\"a\"", ".align 8", "itf_code:", '.incbin "device.fatbin"',
        ".section .data.rel.ro.itf,\"aw\"", ".align 8",
        ".globl itf_wrapper", ".hidden itf_wrapper", "itf_wrapper:",
        ".long 0x466243b1, 1", ".quad itf_code, 0",
        ".globl itf_kernels", ".hidden itf_kernels", "itf_kernels:",
    ]  # fmt: skip
    texts = []
    for number, (host, device) in enumerate(pairing.kernels):
        lines.append(f'.quad "{host}", itf_k{number}')
        texts.append(f'itf_k{number}: .asciz "{device}"')
    lines += [".quad 0, 0", ".globl itf_variables", ".hidden itf_variables", "itf_variables:"]
    for number, (host, device, size, constant) in enumerate(pairing.variables):
        lines.append(f'.quad "{host}", itf_v{number}, {size}, {int(constant)}')
        texts.append(f'itf_v{number}: .asciz "{device}"')
    lines += [".quad 0, 0, 0, 0", '.section .rodata.itf,"a"', *texts, '.section .note.GNU-stack,"",@progbits']
    return "\n".join(lines) + "\n"
