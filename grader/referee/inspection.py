"""The look at memory beside the cases: compute-sanitizer's processes start while others still import torch.

Most of a tool's time is its process's start. So the tools for shared memory start beside the first one where
the file's text suggests that they will be needed; what was built decides whether they are used.

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
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from grader.domain import disk
from grader.domain.cache import cache_folder
from grader.referee import builder, sanitizer

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.protocol.messages import MemoryFinding
    from grader.referee.builder import SimtBuilder
    from grader.referee.cuda_builder import CudaBuilder
    from grader.referee.gpu_turns import GpuTurns
    from grader.referee.process.player_process import Player


class Inspection:
    """One submission's look at memory, begun when it is made. :meth:`allow` it once the file has loaded.

    ``turns``: makes a tool's turns on the GPU, which it shares while the file is played.
    """

    def __init__(
        self, subject: sanitizer.Subject, *, keep: bool = True, turns: Callable[[], GpuTurns] | None = None
    ) -> None:
        self.seconds = 0.0
        self._subject = subject
        self._place = place(subject) if keep else None
        self._turns = turns
        self._go, self._decided, self._wanted = threading.Event(), threading.Event(), True
        self._further: tuple[str, ...] = ()
        self._found: list[MemoryFinding] = []
        self._players: list[Player] = []
        self._held: list[GpuTurns] = []
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
        self._decided.set()
        for player in self._players:
            player.stop()
        for turns in self._held:
            turns.close()
        if self._thread.is_alive():
            self._thread.join(30.0)

    def _work(self) -> None:
        begun = time.monotonic()
        try:
            with ThreadPoolExecutor(len(sanitizer.FURTHER)) as pool:
                try:
                    self._all(pool)
                finally:
                    self._decided.set()
        except BaseException as error:  # raised again by whoever asks
            self._error = error
        finally:
            self.seconds = time.monotonic() - begun

    def _all(self, pool: ThreadPoolExecutor) -> None:
        ahead = sanitizer.expected(self._subject.source)
        begun = {name: pool.submit(self._run_further, name) for name in ahead}
        first = self._builder()
        said = self._run(sanitizer.FIRST, self._allowed, first)
        self._further = sanitizer.further(first.requests)
        self._decided.set()
        for name in self._further:
            if said is None or not self._wanted:
                return
            self._found += said
            said = (begun.get(name) or pool.submit(self._run_further, name)).result()
        if said is None or not self._wanted:
            return
        self._found += said
        self._write()

    def _run_further(self, name: str) -> list[MemoryFinding] | None:
        self._go.wait()  # until then the file's own players start
        return self._run(name, lambda: self._chosen(name), self._builder())

    def _run(
        self, name: str, go: Callable[[], bool], build: SimtBuilder | CudaBuilder
    ) -> list[MemoryFinding] | None:
        turns = self._turns() if self._turns else None

        def ready(player: Player) -> bool:
            self._players.append(player)
            player.ready()
            if not go():
                return False
            if turns:
                self._held.append(turns)
                turns.share()
            return self._wanted

        try:
            return sanitizer.run(name, self._subject, ready, build)
        finally:
            if turns:
                turns.close()

    def _builder(self) -> SimtBuilder | CudaBuilder:
        return builder.for_backend("cuda", self._subject.limits.build, "auto")

    def _allowed(self) -> bool:
        self._go.wait()
        return self._wanted

    def _chosen(self, name: str) -> bool:
        self._decided.wait()  # by what the first tool's player built
        return self._wanted and name in self._further

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
