"""The first use compiles for a minute: in a process of its own, so that no save starts it again.

``python -m grader.student.loop.background_build`` is that process. A grading that needs the same waits, since
the cache is locked.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys

COMMAND = (sys.executable, "-P", "-m", "grader.student.loop.background_build")


class BackgroundBuild:
    """Compiling in the background, until it is ready or the watch ends."""

    def __init__(self, command: tuple[str, ...] = COMMAND) -> None:
        from grader.domain.installation import python_path

        env = os.environ | {"PYTHONPATH": python_path()}
        # A group of its own: it is ended with its compilers, and Ctrl-C is the watch's to handle.
        self._process = subprocess.Popen(
            command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip

    def stop(self) -> None:
        """End it, if it still runs; what is ready stays."""
        with contextlib.suppress(OSError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()


def main() -> None:
    """Compile what is missing. Errors are left to the next grading to report."""
    from grader.domain.errors import BadInputError
    from grader.referee import builder

    with contextlib.suppress(BadInputError):
        builder.prepare(lambda _: None)


if __name__ == "__main__":
    main()
