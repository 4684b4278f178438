"""A player as the referee holds it: a process that is started, asked, timed and ended, whatever it does."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from grader.domain.verdict import Status
from grader.protocol import messages, wire
from grader.protocol.messages import Facts
from grader.referee import sandbox
from grader.referee.fault import FaultError
from grader.referee.process import exit_reason, player_start, wire_log
from grader.referee.process.connection import Answer, Builder, Connection
from grader.referee.process.player_start import Started
from grader.referee.sandbox import launch_spec
from grader.referee.sandbox.watcher import MAX_PROCESSES, MAX_PROCESSES_COMPILING, Watcher, memory_limit

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from grader.protocol.arena import Arena
    from grader.protocol.messages import MemoryFinding
    from grader.protocol.wire import Json
    from grader.referee.process.forkserver import Forkserver
    from grader.referee.process.pool_client import PoolConnection
    from grader.referee.sandbox.launch_spec import LaunchSpec

__all__ = ["Answer", "Builder", "Limits", "Player"]

MAX_OUTPUT_BYTES = 64 << 10
MAX_READS = 64  # of a pipe that holds 64 KiB
USED_AGE_S = 0.1
# Where torch builds in a player. One that has waited has a place of its own there, which goes with it: so a
# file whose builds are torch's is noted in the folder that keeps them, and its next player is started for it.
TORCH_BUILDS = "TORCH_EXTENSIONS_DIR"
BY_TORCH = "by-torch"
COUNT_AT = 1 << 16  # of the CPU back end's errors, behind the last words (csrc/findings.cpp)
WITHHELD = (
    "The CPU back end's library has found {} of its kernels' errors of memory, and the submission's process "
    "told the grader of none."
)


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds allowed for each stage of a player's life; building is not counted as importing.

    ``memory_bytes``: of the computer's memory that the player's processes may use together; 0: half of it.
    """

    start: float = 60.0
    load: float = 20.0
    build: float = 300.0
    call: float = 20.0
    memory_bytes: int = 0


class CapturedOutput:
    """What a player prints into a pipe; a thread keeps the pipe empty. Only the beginning is kept."""

    def __init__(self, pipe: int) -> None:
        self._pipe = pipe
        self._kept = bytearray()
        self._lock = threading.Lock()
        threading.Thread(target=self._drain, daemon=True).start()

    def text(self) -> str:
        """What has been printed so far, without control characters."""
        with self._lock:
            for _ in range(MAX_READS):  # what it printed before its last answer lies in the pipe by now
                if self._read() <= 0:
                    break
            return wire.printable(self._kept.decode(errors="replace"))

    def _drain(self) -> None:
        waiting = select.poll()
        waiting.register(self._pipe, select.POLLIN)
        while True:
            waiting.poll()
            with self._lock:
                if self._read() == 0:
                    os.close(self._pipe)
                    self._pipe = -1
                    return

    def _read(self) -> int:
        """With the lock: read once what is there; its length, 0 at the end and -1 if there is nothing."""
        if self._pipe < 0:
            return -1
        there = select.poll()
        there.register(self._pipe, select.POLLIN)
        if not there.poll(0):
            return -1
        chunk = os.read(self._pipe, 1 << 16)
        self._kept += chunk[: max(0, MAX_OUTPUT_BYTES - len(self._kept))]
        return len(chunk)


class Player:
    """One player process.

    ``sees``: the files that it may read beside Python and torch; ``writes``: folders it may write to.
    ``build`` compiles for it (simt); ``wrap`` is a command to run it under; ``env`` adds to its environment.
    ``mode`` is "auto", "strict" or "off" (see :mod:`grader.referee.sandbox`). From a
    ``forkserver`` it is forked instead of started, which is quicker, and has no namespaces of its own. From a
    ``pool`` it is one that has waited, where one can be had.
    """

    def __init__(  # noqa: PLR0913 - what a process may see, write and use, by name
        self,
        backend: str,
        limits: Limits,
        *,
        sees: tuple[Path, ...] = (),
        writes: tuple[Path, ...] = (),
        build: Builder | None = None,
        wrap: tuple[str, ...] = (),
        env: dict[str, str] | None = None,
        mode: str = "auto",
        forkserver: Forkserver | None = None,
        pool: PoolConnection | None = None,
    ) -> None:
        sandbox.require(mode)
        self.backend = backend
        self.limits = limits
        self._used = 0.0, 0.0  # when it was read, and seconds of a processor
        self._mode = mode
        self.links: dict[Player, int] = {}  # the numbers of memory that it shares with those of references
        self.partners: dict[int, Player] = {}  # of a reference's: who has its shared memory of that number
        self._ready = False
        self._stopped = False
        self._fault: FaultError | None = None  # that ended it
        # Whether errors of memory were told, and how many there were at the last answer.
        self._told, self._errors = False, 0
        started, env = None, env or {}
        self._writes = writes
        if pool and not (forkserver or wrap or self._needs_its_folder(env)):
            started = pool.take(backend, mode, sees)
        if started is None:
            warm = forkserver is not None
            spec = launch_spec.for_player(backend, mode, sees, writes, warm=warm, wrapped=bool(wrap))
            started = self._start(spec, wrap, env, forkserver)
        ends, self._spec, self._process = started.ends, started.spec, started.process
        self._began_s = started.began_s
        self._inbox, self._outbox, self._last_words = ends.inbox, ends.outbox, ends.words
        self._connection = Connection(
            wire_log.channel(ends.line), self._spec.deliver(build), limits.build,
            # What the referee's builder cannot, the player builds as torch does.
            compiles=backend == "cuda", shown=self._spec.shown, processor_s=self._processor_s,
        )  # fmt: skip
        self._output = CapturedOutput(ends.printed)
        most = MAX_PROCESSES_COMPILING if backend == "cuda" else MAX_PROCESSES
        self._watcher = Watcher(self._process, self._shared, limits.memory_bytes or memory_limit(), most)

    def _start(
        self, spec: LaunchSpec, wrap: tuple[str, ...], env: dict[str, str], parent: Forkserver | None
    ) -> Started:
        ours, theirs = player_start.connected()
        began_s = time.monotonic()
        try:
            process = player_start.process(self.backend, spec, (ours, theirs), wrap, env, parent)
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
        return Started(process, ours, spec, began_s)

    @property
    def output(self) -> str:
        """What the submission has printed so far, cut to the first 64 KiB, without control characters."""
        return str(self._spec.shown(self._output.text()))

    @property
    def seconds_building(self) -> float:
        """How long it has been compiled for, in all."""
        return self._connection.seconds_building

    @property
    def compile_error(self) -> FaultError | None:
        """The first build that failed."""
        return self._connection.compile_error

    def ready(self) -> Facts:
        """Wait until the player has started; answers versions and device. Call once, before any request."""
        assert not self._ready, "a player says once that it has started"
        self._ready = True
        try:
            left = self._began_s + self.limits.start - time.monotonic()
            data = self._answer("start", max(left, 1.0), "ready").data
        except FaultError as fault:  # until then only our own code has run
            message = f"{fault.message} It printed: {self.output.strip()[-500:] or 'nothing'}"
            raise FaultError(Status.NOT_GRADABLE, message, dead=True) from fault
        said = messages.decode(data, messages.Ready)
        given_up = said.confined
        if self._mode == "strict" and "seccomp" not in given_up:
            self.stop()
            raise FaultError(Status.NOT_GRADABLE, "The system refused the seccomp filter.", dead=True)
        layers = ", ".join([self._process.name, *given_up, "watcher"])
        return Facts(said.torch, said.cuda, said.device, layers)

    def ask(self, do: str, seconds: float, *, stage: str = "", **fields: Any) -> Answer:
        """One request and its answer; a FaultError for anything else. ``stage``: what errors call it."""
        self.expect_alive()
        if not self._ready:
            self.ready()
        message = {"do": do, "sizes": [self._inbox.size, self._outbox.size], **self._inside(fields)}
        try:
            self._connection.ask(message, seconds)
            answer = self._answer(stage or do, seconds, "answer")
            self._expect_told(answer.findings)
            return answer
        except wire.WireError as error:
            raise self._end(stage or do, error) from error
        except FaultError as fault:
            self._expect_told(fault.seen)
            raise
        except BaseException:  # a signal: its answer would come to the next question
            self.stop()
            raise

    @property
    def inbox(self) -> Arena:
        """Shared memory, for what goes to the process. If that has been ended, what ended it is raised."""
        self.expect_alive()
        return self._inbox

    @property
    def outbox(self) -> Arena:
        """As :attr:`inbox`, for what comes from it."""
        self.expect_alive()
        return self._outbox

    def begin_anew(self) -> None:
        """Let it forget its file and what came of it. FaultError if it cannot. Only for a reference's."""
        self.ask("begin_anew", self.limits.call)
        self.partners.clear()

    def give_file(self, file: int) -> None:
        """Pass an open file on with the next request."""
        self._connection.files = (file,)

    @contextlib.contextmanager
    def taking_files(self) -> Iterator[list[int]]:
        """Within it, files that come with answers are taken. Only for a process of a reference."""
        channel = self._connection.channel
        channel.takes_files = True
        try:
            yield channel.files
        finally:
            channel.takes_files = False

    @property
    def shares_gpu(self) -> bool:
        """Whether its tensors lie on a GPU, whose memory processes can share."""
        return self.backend == "cuda"

    @property
    def runs(self) -> bool:
        """Whether its process is still there."""
        return not self._stopped and self._process.code() is None

    @property
    def stopped(self) -> bool:
        """Whether it has been ended."""
        return self._stopped

    def _needs_its_folder(self, env: dict[str, str]) -> bool:
        """Whether it cannot do without an environment of its own, or what lies in its folders."""
        return bool(env.keys() - {TORCH_BUILDS}) or any((f / BY_TORCH).exists() for f in self._writes)

    def _inside(self, fields: Json) -> Json:
        """The request's paths as the player knows them."""
        known = dict(fields)
        if "path" in fields:
            known["path"] = self._spec.inside(fields["path"])
        if "folders" in fields:
            known["folders"] = [self._spec.inside(folder) for folder in fields["folders"]]
        return known

    def _answer(self, stage: str, seconds: float, key: str) -> Answer:
        try:
            return self._connection.expect(stage, seconds, key)
        except wire.WireError as error:
            raise self._end("build" if self._connection.building else stage, error) from error
        finally:
            if self._connection.by_player:
                for folder in self._writes:
                    (folder / BY_TORCH).touch()

    def _expect_told(self, findings: Sequence[MemoryFinding]) -> None:
        """The CPU back end's library leaves how many errors of memory it has found: then some must be told.

        What it finds while an answer is on its way, the next one tells.
        """
        self._told |= any(finding.severity == "error" for finding in findings)
        if self._errors and not self._told and not self._stopped:
            self.stop()
            self._fault = FaultError(Status.TAMPERED, WITHHELD.format(self._errors), dead=True)
            raise self._fault
        if self.backend == "simt" and not self._stopped:
            self._errors = int.from_bytes(os.pread(self._last_words.fd, 8, COUNT_AT), "little")

    def expect_alive(self) -> None:
        """Raise what ended it, if it has been ended: whoever asked then may have left it at that."""
        if self._stopped:
            raise self._fault or FaultError(Status.NOT_GRADABLE, "Its process was ended.", dead=True)

    def _end(self, stage: str, error: wire.WireError) -> FaultError:
        """Turn a broken conversation into a fault, and make sure that nothing is left running."""
        self._fault = self._ended(stage, error)
        return self._fault

    def _ended(self, stage: str, error: wire.WireError) -> FaultError:
        late = isinstance(error, wire.LateError)
        if late:
            for sign, patience in ((signal.SIGUSR1, 0.2), (signal.SIGALRM, 0.8)):
                self._process.signal(sign)
                self._process.wait(patience)
        elif isinstance(error, wire.ClosedError):
            self._process.wait(2.0)
        code = self._process.code()
        said = self._spec.shown(os.pread(self._last_words.fd, 1 << 16, 0))
        last_words = exit_reason.LastWords(said, self._spec.original)
        self.stop()
        if self._watcher.reason:
            return exit_reason.stopped_by_watcher(self._watcher.reason, stage, self._watcher.limit_bytes)
        if late:
            return exit_reason.timeout(stage, last_words, self._allowed(stage))
        if isinstance(error, wire.MalformedError):
            return FaultError(
                Status.TAMPERED, f"The submission's process sent the grader {error}.", dead=True
            )
        return exit_reason.ended(code, last_words, stage)

    def _allowed(self, stage: str) -> float:
        return float(getattr(self.limits, stage, self.limits.call))

    def _processor_s(self) -> float:
        """Seconds of a processor, at most ``USED_AGE_S`` ago: a grading asks for it hundreds of times."""
        if time.monotonic() - self._used[0] >= USED_AGE_S:
            used = sum(process.processor_s for process in self._process.processes())
            self._used = time.monotonic(), used
        return self._used[1]

    def _shared(self) -> int:
        return sum(arena.in_memory() for arena in (self._inbox, self._outbox, self._last_words))

    def finish(self, seconds: float) -> None:
        """Close the connection and let the process end by itself: a tool around it then writes its report."""
        self._connection.channel.close()
        self._process.wait(seconds)

    def kill(self) -> None:
        """Kill it, from any thread: whoever waits for its answer gets a fault. :meth:`stop` tidies up."""
        if not self._stopped:
            self._process.kill()

    def stop(self) -> None:
        """End the process and all that it started, and remove its folders. May be called twice."""
        if self._stopped:
            return
        self._stopped = True
        self._watcher.stop()
        if isinstance(channel := self._connection.channel, wire_log.LoggedChannel):
            channel.ended(self._process.code(), self.output)
        self._process.end()
        self._connection.channel.close()
        for arena in (self._inbox, self._outbox, self._last_words):
            arena.close()
        self._spec.remove_builds()
