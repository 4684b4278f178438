"""Single key presses from a terminal, without waiting for Enter."""

from __future__ import annotations

import os
import sys
import termios
import tty
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import TracebackType


class Keys:
    """While it is entered the terminal hands over each key at once; afterwards it is as it was."""

    def __init__(self) -> None:
        self.fd = sys.stdin.fileno() if sys.stdin.isatty() and sys.stdout.isatty() else -1
        self._before: list[object] | None = None

    def __enter__(self) -> Keys:
        if self.fd >= 0:
            self._before = termios.tcgetattr(self.fd)
            tty.setcbreak(self.fd)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._before is not None:
            termios.tcsetattr(self.fd, termios.TCSADRAIN, self._before)  # type: ignore[arg-type]

    def pressed(self) -> str:
        """What was typed. An arrow key sends three characters, and means nothing here."""
        text = os.read(self.fd, 64).decode(errors="replace")
        return "" if text.startswith("\x1b") else text
