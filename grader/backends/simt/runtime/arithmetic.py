"""Floating-point operations of each basic block, read from the object code that was run.

The compiler tells the runtime when a basic block is entered; what it computes is in the machine code
between that call and the next one. Additions and multiplications are counted as Nsight Compute counts them
(`op_fadd`, `op_fmul`, and an `op_ffma` as two). What a GPU has no instruction for, a division or `expf`, is a
short sequence of those; `WEIGHT` and `CALLED` say which, read from what nvcc 13 makes of them for sm_90.
"""

from __future__ import annotations

import functools
import re
import struct
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

LINE = re.compile(r"\s*([0-9a-f]+):\s+(\S+)\s*(.*)")
ARITHMETIC = re.compile(r"v?(add|sub|mul|div|sqrt)(ss|sd|ps|pd)$")
FUSED = re.compile(r"vfn?m(?:add|sub)\d+(ss|sd)$")
TARGET = re.compile(r"<(\w+)(?:@|>)")
CONSTANT = re.compile(r"\S+\(%rip\),(%xmm\d+)\s+# ([0-9a-f]+)")
LANES = {"ss": 1, "sd": 1, "ps": 4, "pd": 2}
KIND = {"add": "add", "sub": "add", "mul": "mul", "div": "div", "sqrt": "sqrt"}
# Floating-point operations of one of a kind. Of float: a division is a reciprocal of the special function
# unit and five fused multiply-adds, a reciprocal two of them and an addition, a root two and two products.
WEIGHT = {"div_f32": 10, "rcp_f32": 5, "sqrt_f32": 6, "fma_f32": 2, "fma_f64": 2}
# A called function as kinds. What the special function unit does alone (exp2f, rsqrtf) is not one.
CALLED = {
    "fma": {"fma_f64": 1},
    "fmaf": {"fma_f32": 1},
    "expf": {"fma_f32": 4, "add_f32": 1, "mul_f32": 1},
    "logf": {"fma_f32": 11, "add_f32": 1, "mul_f32": 1},
    "log2f": {"fma_f32": 11, "add_f32": 2, "mul_f32": 2},
    "_ZN4simt11fast_divideEff": {"mul_f32": 1},
}
ENTERS = "__sanitizer_cov_trace_pc"
JUMP = re.compile(r"([0-9a-f]+) <")
Code = dict[int, tuple[str, str, int]]  # address: instruction, its arguments, the next one's address
ONE = struct.pack("<f", 1.0)


@functools.cache
def operations(module: str) -> dict[int, dict[str, int]]:
    """For each basic block of the module (by the address that the runtime knows it by): kind to number.

    Kinds: ``add_f32``, ``mul_f32``, ``fma_f32``, ``div_f32``, ``sqrt_f32`` and the same with ``f64``;
    ``rcp_f32`` is one divided by something. Empty without ``objdump``, and on other machines than x86-64.
    """
    command = ["objdump", "-d", "--no-show-raw-insn", module]
    try:
        text = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return {}
    code = _code(text)
    is_one = _ones(module)
    starts = [after for name, arguments, after in code.values() if _target(name, arguments) == ENTERS]
    blocks = {start: _block(code, start, is_one) for start in starts}
    return {pc: kinds for pc, kinds in blocks.items() if kinds}


def _code(text: str) -> Code:
    """What ``objdump`` printed, by address."""
    lines = [match for match in map(LINE.match, text.splitlines()) if match]
    addresses = [int(match[1], 16) for match in lines]
    return {
        address: (match[2], match[3], after)
        for address, match, after in zip(addresses, lines, [*addresses[1:], 0], strict=True)
    }


def _target(name: str, arguments: str) -> str:
    """The function that an instruction calls, "" if it calls none."""
    found = TARGET.search(arguments) if name.startswith("call") else None
    return found[1] if found else ""


def _block(code: Code, start: int, is_one: Callable[[int], bool]) -> dict[str, int]:
    """The arithmetic from ``start`` up to where the next block is entered.

    The checks of whole numbers and of indices put jumps into a block, and its end may lie elsewhere. No such
    jump leads around arithmetic, so what can be reached is what is executed.
    """
    found: dict[str, int] = {}
    seen: set[int] = set()
    ways: list[tuple[int, frozenset[str]]] = [(start, frozenset())]
    while ways:
        at, ones = ways.pop()  # ones: registers that hold the constant 1
        while at in code and at not in seen:
            seen.add(at)
            name, arguments, after = code[at]
            target = _target(name, arguments)
            if target == ENTERS or name.startswith(("ret", "hlt", "ud2")):
                break
            if name.startswith("j"):
                there = JUMP.match(arguments)
                if there and name != "jmp":
                    ways.append((int(there[1], 16), ones))
                elif name == "jmp":
                    after = int(there[1], 16) if there else 0
            ones = _one(name, arguments, ones, found, is_one)
            at = after
    return found


def _one(
    name: str, arguments: str, ones: frozenset[str], found: dict[str, int], is_one: Callable[[int], bool]
) -> frozenset[str]:
    """Adds one instruction to what was ``found``; the registers that hold 1 after it."""
    into = arguments.rpartition(",")[2]
    if name.startswith("call"):
        for kind, number in CALLED.get(_target(name, arguments), {}).items():
            _add(found, kind, number)
        return frozenset()  # no function keeps these registers
    if name == "movss" and (constant := CONSTANT.match(arguments)):
        return ones | {constant[1]} if is_one(int(constant[2], 16)) else ones - {constant[1]}
    if name == "divss" and into in ones:
        _add(found, "rcp_f32", 1)
    elif plain := ARITHMETIC.match(name):
        _add(found, f"{KIND[plain[1]]}_f{32 if plain[2][1] == 's' else 64}", LANES[plain[2]])
    elif joined := FUSED.match(name):
        _add(found, f"fma_f{32 if joined[1] == 'ss' else 64}", 1)
    return ones - {into}


def _ones(module: str) -> Callable[[int], bool]:
    """Whether the four bytes at an address of the module are the float 1."""
    image = Path(module).read_bytes()
    (headers,), (size, number) = struct.unpack_from("<Q", image, 32), struct.unpack_from("<HH", image, 54)
    segments = [struct.unpack_from("<IIQQQQ", image, headers + k * size) for k in range(number)]
    loaded = [(place, address, length) for kind, _, place, address, _, length in segments if kind == 1]

    def is_one(at: int) -> bool:
        starts = [place + at - address for place, address, length in loaded if 0 <= at - address < length]
        return any(image[start : start + 4] == ONE for start in starts)

    return is_one


def _add(block: dict[str, int], kind: str, number: int) -> None:
    block[kind] = block.get(kind, 0) + number
