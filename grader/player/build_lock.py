"""Who builds an extension while others want it too: told by a lock that ends with its process.

torch's own baton is a file that is there or not. A process that is killed while it builds leaves it behind,
and whoever wants the same extension afterwards waits for ever. A player is killed whenever nobody wants its
answer any more, so in players this takes the place of torch's.

By ``fcntl`` and not, as elsewhere, by filelock: this runs beside a submission, inside the sandbox, where the
fewer modules are imported the fewer can be changed. Two calls are all that it needs, and the kernel wakes who
waits, where filelock would ask twenty times a second.
"""

from __future__ import annotations

import fcntl
import os
from typing import Any


class Baton:
    """A drop-in for ``torch.utils.file_baton.FileBaton``: everyone gets it, one after another.

    The second process finds everything built, so that ninja has nothing to do; or it goes on with what
    one that was killed has begun. The file stays: one that is removed could be locked by two.
    """

    def __init__(self, lock_file_path: str, *_: Any, **__: Any) -> None:
        self.path = f"{lock_file_path}.held"  # torch's own, left by an earlier version, is not looked at
        self._fd = -1

    def try_acquire(self) -> bool:
        """Wait for it. No child inherits it, so that what a killed process has started holds nothing."""
        self._fd = os.open(self.path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._fd, fcntl.LOCK_EX)
        return True

    def wait(self) -> None:
        """Nobody gets here: whoever asks has it."""

    def release(self) -> None:
        """Let the next one have it."""
        os.close(self._fd)
