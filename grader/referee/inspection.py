"""The look at memory beside the cases: compute-sanitizer's processes start while others still import torch.

What was found clean is kept, by all that it depends on: the file, the cases, the tool and torch. A file that
is graded again unchanged is not run again under the tool; its finding says since when that is known. Errors
are never kept.
"""

from __future__ import annotations

import hashlib
import json
import platform
import threading
import time
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from grader.domain import disk
from grader.domain.cache import cache_folder
from grader.referee import builder, sanitizer

if TYPE_CHECKING:
    from grader.protocol.messages import MemoryFinding
    from grader.referee.process.player_process import Player


class Inspection:
    """One submission's look at memory, begun when it is made. :meth:`allow` it once the file has loaded."""

    def __init__(self, subject: sanitizer.Subject, *, keep: bool = True) -> None:
        self.seconds = 0.0
        self._subject = subject
        self._place = place(subject) if keep else None
        self._go, self._wanted = threading.Event(), True
        self._found: list[MemoryFinding] = []
        self._whole = False
        self._player: Player | None = None
        self._error: BaseException | None = None
        self.known = self._read()
        self._thread = threading.Thread(target=self._work, daemon=True)
        if not self.known:
            self._thread.start()

    def allow(self) -> None:
        """The file has been imported and built: what it does may be looked at."""
        self._go.set()

    def findings(self) -> list[MemoryFinding]:
        """Wait for the tools; what they have found."""
        self.allow()
        if not self.known:
            self._thread.join()
        if self._error:
            raise self._error
        return self._found

    def stop(self) -> None:
        """Nothing more is wanted. May be called twice, and at any time."""
        self._wanted = False
        self._go.set()
        if self._player:
            self._player.stop()
        if self._thread.is_alive():
            self._thread.join(30.0)

    def _work(self) -> None:
        begun = time.monotonic()
        try:
            build = builder.for_backend("cuda", self._subject.limits.build, "auto")
            waiting = [sanitizer.FIRST]
            for name in waiting:
                said = sanitizer.run(name, self._subject, self._allowed, build)
                if said is None or not self._wanted:
                    return
                self._found += said
                if name == sanitizer.FIRST:
                    waiting += sanitizer.further(build.requests)
            self._write()
        except BaseException as error:  # raised again by whoever asks
            self._error = error
        finally:
            self.seconds = time.monotonic() - begun

    def _allowed(self, player: Player) -> bool:
        self._player = player
        self._go.wait()
        return self._wanted

    def _read(self) -> str:
        """The day on which this was found clean, or ""."""
        try:
            return str(json.loads(self._place.read_text())["day"]) if self._place else ""
        except (OSError, ValueError, KeyError, TypeError):
            return ""

    def _write(self) -> None:
        if self._place and not self._found:
            disk.write(self._place, json.dumps({"day": time.strftime("%Y-%m-%d")}))


def place(subject: sanitizer.Subject) -> Path:
    """Where it is noted that this file's memory is clean. No player can write there."""
    program = Path(sanitizer.tool())
    seen = program.resolve().stat() if program.exists() else None
    parts = [
        subject.source, subject.task.entry, subject.task.kind, repr(subject.cases), metadata.version("torch"),
        str(program), str(seen and (seen.st_size, seen.st_mtime_ns)), platform.node(),
        Path(sanitizer.__file__).read_text(encoding="utf-8"),
    ]  # fmt: skip
    key = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]
    return cache_folder() / "memory" / f"{key}.json"
