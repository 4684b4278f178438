"""Floating-point operations of each basic block, read from the object code that was run.

The compiler tells the runtime when a basic block is entered; what it computes is in the machine code
between that call and the next one. Additions and multiplications are counted as Nsight Compute counts them
(`op_fadd`, `op_fmul`, and an `op_ffma` as two).
"""

from __future__ import annotations

import functools
import re
import subprocess

LINE = re.compile(r"\s*([0-9a-f]+):\s+(\S+)\s*(.*)")
ARITHMETIC = re.compile(r"v?(add|sub|mul|div|sqrt)(ss|sd|ps|pd)$")
FUSED = re.compile(r"vfn?m(?:add|sub)\d+(ss|sd)$")
CALLED_FUSED = re.compile(r"<fma(f?)(?:@|>)")
LANES = {"ss": 1, "sd": 1, "ps": 4, "pd": 2}
KIND = {"add": "add", "sub": "add", "mul": "mul", "div": "div", "sqrt": "sqrt"}


@functools.cache
def operations(module: str) -> dict[int, dict[str, int]]:
    """For each basic block of the module (by the address that the runtime knows it by): kind to number.

    Kinds: ``add_f32``, ``mul_f32``, ``fma_f32``, ``div_f32``, ``sqrt_f32`` and the same with ``f64``. Empty
    without ``objdump``, and on other machines than x86-64.
    """
    command = ["objdump", "-d", "--no-show-raw-insn", module]
    try:
        text = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return {}
    blocks: dict[int, dict[str, int]] = {}
    here: dict[str, int] | None = None
    begins = False
    for line in text.splitlines():
        match = LINE.match(line)
        if match is None:
            here = None if line.endswith(">:") else here
            continue
        if begins:
            here = blocks[int(match[1], 16)] = {}
            begins = False
        name = match[2]
        if name.startswith("call"):
            begins = "__sanitizer_cov_trace_pc" in match[3]
            fused = CALLED_FUSED.search(match[3])
            if fused:
                _add(here, "fma_f32" if fused[1] else "fma_f64", 1)
        elif plain := ARITHMETIC.match(name):
            _add(here, f"{KIND[plain[1]]}_f{32 if plain[2][1] == 's' else 64}", LANES[plain[2]])
        elif joined := FUSED.match(name):
            _add(here, f"fma_f{32 if joined[1] == 'ss' else 64}", 1)
    return {pc: kinds for pc, kinds in blocks.items() if kinds}


def _add(block: dict[str, int] | None, kind: str, number: int) -> None:
    if block is not None:
        block[kind] = block.get(kind, 0) + number
