"""Addresses in a compiled module as lines of the source."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

Place = tuple[str, int]
_known: dict[tuple[str, int], Place] = {}
_OWN = str(Path(__file__).resolve().parent / "include")


def resolve(wanted: Iterable[tuple[str, int]]) -> dict[tuple[str, int], Place]:
    """(file, line) for each (module, pc); ("", 0) where nothing is known.

    The line is that of the innermost inlined function that is not in a header of ours or torch's.
    """
    asked = set(wanted)
    missing: dict[str, list[int]] = {}
    for module, pc in asked - _known.keys():
        missing.setdefault(module, []).append(pc)
    for module, pcs in missing.items():
        places = _addr2line(module, pcs) if module else {}
        for pc in pcs:
            _known[module, pc] = places.get(pc, ("", 0))
    return {key: _known[key] for key in asked}


def _addr2line(module: str, pcs: list[int]) -> dict[int, Place]:
    command = ["addr2line", "-a", "-f", "-i", "-e", module, *(hex(pc) for pc in pcs if pc)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return {}
    return parse(done.stdout)


def parse(said: str) -> dict[int, Place]:
    """What ``addr2line -a -f -i`` has said, by address."""
    frames: dict[int, list[Place]] = {}
    current: list[Place] = []
    expect_function = True
    for line in said.splitlines():
        if line.startswith("0x"):
            current = frames.setdefault(int(line, 16), [])
            expect_function = True
        elif expect_function:
            expect_function = False
        else:
            expect_function = True
            file, _, number = line.split(" (discriminator")[0].rpartition(":")
            current.append((file, int(number) if number.isdigit() else 0))
    return {pc: _students(places) for pc, places in frames.items() if places}


def _students(frames: list[Place]) -> Place:
    for file, line in frames:
        if (
            line
            and file != "??"
            and not file.startswith(_OWN)
            and "/include/" not in file
            and Path(file).name != "source.cpp"
        ):
            return file, line
    return "", 0
