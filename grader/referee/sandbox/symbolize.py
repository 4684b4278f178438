"""An address in a module that a submission had compiled, as a line of its source.

The module holds what foreign text made of it, debug information included: so it is read in the compiler jail.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from grader.backends.simt import addresses
from grader.referee.sandbox import compiler_jail

ADDR2LINE_TIMEOUT_S = 10.0


def find(module: Path, pc: int) -> addresses.Place:
    """(file, line); ("", 0) where nothing is known."""
    command = ["addr2line", "-a", "-f", "-i", "-e", str(module), hex(pc)]
    with tempfile.TemporaryDirectory(prefix="places-") as folder:
        code, output = compiler_jail.run(command, ADDR2LINE_TIMEOUT_S, Path(folder), (module,))
    return addresses.parse(output).get(pc, ("", 0)) if code == 0 else ("", 0)
