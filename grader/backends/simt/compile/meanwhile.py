"""What the CPU back end needs once, compiled while packages are still being installed.

``python -m grader.backends.simt.compile.meanwhile runtime`` needs no torch; with ``everything`` it needs
torch's files. Both need the packages filelock, msgspec and platformdirs. Whoever wants a file that is being
made waits for it, so that nothing is made twice.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from grader.backends.simt.compile import compiler, library, toolchain


def main(what: str) -> int:
    """Compile the runtime, or everything. 1: not possible here, which the first check explains."""
    try:
        if what == "everything":
            compiler.prepare()
        else:
            # What it compiles is kept elsewhere, for all folders that want it.
            with tempfile.TemporaryDirectory() as folder:
                library.runtime(Path(folder))
    except (toolchain.ToolchainError, toolchain.CompilerFailed, toolchain.BuildTimeout, OSError):
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
