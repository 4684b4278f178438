"""A player as the referee holds it: a process that is started, asked, timed and ended, whatever it does."""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.domain.verdict import Status
from grader.protocol import messages, wire
from grader.protocol.arena import Arena
from grader.protocol.messages import Facts
from grader.referee import sandbox
from grader.referee.fault import FaultError
from grader.referee.process import exit_reason
from grader.referee.process.connection import Answer, Builder, Conversation
from grader.referee.process.forkserver import Nursery
from grader.referee.sandbox import launch_spec
from grader.referee.sandbox.sandboxed import Cage
from grader.referee.sandbox.watcher import MOST_COMPILING, MOST_PROCESSES, Watcher, memory_limit

__all__ = ["Answer", "Builder", "Limits", "Player"]

KEEP_OUTPUT = 64 << 10
MOST_READS = 64  # of a pipe that holds 64 KiB
STEPS = 200_000_000  # of one launch on the CPU back end; more would not end within the limit of a call


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds allowed for each stage of a player's life; building is not counted as importing.

    ``memory``: bytes of the computer's memory that the player's processes may use together; 0: half of it.
    """

    start: float = 60.0
    load: float = 20.0
    build: float = 300.0
    call: float = 20.0
    memory: int = 0


class Player:
    """One player process.

    ``sees``: the files that it may read beside Python and torch; ``writes``: folders it may write to.
    ``build`` compiles for it (simt); ``wrap`` is a command to run it under; ``env`` adds to its environment.
    ``mode`` is "auto", "strict" or "off" (see :mod:`grader.referee.sandbox`). From a ``nursery`` it is forked
    instead of started, which is quicker, and has no namespaces of its own.
    """

    def __init__(
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
        nursery: Nursery | None = None,
    ) -> None:
        sandbox.require(mode)
        self.backend, self.limits, self._mode = backend, limits, mode
        self.inbox, self.outbox = Arena.create("inbox"), Arena.create("outbox")
        self._words = Arena.create("words")
        self._ready, self._stopped = False, False
        order = launch_spec.give(backend, mode, sees, writes, warm=nursery is not None, wrapped=bool(wrap))
        ours, theirs = socket.socketpair()
        self._talk = Conversation(wire.Channel(ours), order.deliver(build), limits.build)
        self._output, self._output_lock = bytearray(), threading.Lock()
        read_end, write_end = os.pipe()
        fds = {
            "wire": theirs.fileno(),
            "inbox": self.inbox.fd,
            "outbox": self.outbox.fd,
            "words": self._words.fd,
        }
        arguments = ["--backend", backend, "--step-budget", str(STEPS)]
        arguments += ["--confine", json.dumps(order.confine), *launch_spec.libraries(backend)]
        named = [text for name, fd in fds.items() for text in (f"--{name}", str(fd))]
        command = [*wrap, sys.executable, "-m", "grader.player", *arguments, *named]
        try:
            passed = tuple(fds.values())
            if nursery:
                self._cage: Cage = nursery.spawn(arguments, passed, write_end, env)
            else:
                env = launch_spec.environment(backend) | (env or {})
                self._cage = sandbox.start(command, order.room, env, passed, write_end, order.bubble)
        finally:
            theirs.close()
            os.close(write_end)
        self._order = order
        self._printed = read_end
        threading.Thread(target=self._drain, daemon=True).start()
        most = MOST_COMPILING if backend == "cuda" else MOST_PROCESSES
        self._watcher = Watcher(self._cage, self._shared, limits.memory or memory_limit(), most)

    @property
    def output(self) -> str:
        """What the submission has printed so far, cut to the first 64 KiB, without control characters."""
        with self._output_lock:
            for _ in range(MOST_READS):  # what it printed before its last answer lies in the pipe by now
                if self._take() <= 0:
                    break
            return wire.printable(self._output.decode(errors="replace"))

    @property
    def seconds_building(self) -> float:
        """How long it has been compiled for, in all."""
        return self._talk.seconds_building

    @property
    def compile_error(self) -> FaultError | None:
        """The first build that failed."""
        return self._talk.compile_error

    def ready(self) -> Facts:
        """Wait until the player has started; answers versions and device. Call before the first request."""
        self._ready = True
        try:
            data = self._conversation("start", self.limits.start, "ready").data
        except FaultError as fault:  # until then only our own code has run
            message = f"{fault.message} It printed: {self.output.strip()[-500:] or 'nothing'}"
            raise FaultError(Status.NOT_GRADABLE, message, dead=True) from fault
        said = messages.decode(data, messages.Ready)
        given_up = said.confined
        if self._mode == "strict" and "seccomp" not in given_up:
            self.stop()
            raise FaultError(Status.NOT_GRADABLE, "The system refused the seccomp filter.", dead=True)
        layers = ", ".join([self._cage.name, *given_up, "watcher"])
        return Facts(said.torch, said.cuda, said.device, layers)

    def ask(self, do: str, seconds: float, **fields: Any) -> Answer:
        """One request and its answer; a FaultError for anything else."""
        if not self._ready:
            self.ready()
        message = {"do": do, "sizes": [self.inbox.size, self.outbox.size], **fields}
        try:
            self._talk.ask(message, seconds)
        except wire.WireError as error:
            raise self._end(do, error) from error
        return self._conversation(do, seconds, "answer")

    def _conversation(self, stage: str, seconds: float, key: str) -> Answer:
        try:
            return self._talk.expect(stage, seconds, key)
        except wire.WireError as error:
            raise self._end("build" if self._talk.building else stage, error) from error

    def _end(self, stage: str, error: wire.WireError) -> FaultError:
        """Turn a broken conversation into a fault, and make sure that nothing is left running."""
        late = isinstance(error, wire.LateError)
        if late:
            for sign, patience in ((signal.SIGUSR1, 0.2), (signal.SIGALRM, 0.8)):
                self._cage.signal(sign)
                self._cage.wait(patience)
        elif isinstance(error, wire.ClosedError):
            self._cage.wait(2.0)
        code = self._cage.code()
        words = exit_reason.Words(os.pread(self._words.fd, 1 << 16, 0), self._order.original)
        self.stop()
        if self._watcher.reason:
            return exit_reason.struck(self._watcher.reason, stage, self._watcher.limit)
        if late:
            return exit_reason.timeout(stage, words, self._allowed(stage))
        if isinstance(error, wire.MalformedError):
            return FaultError(
                Status.TAMPERED, f"The submission's process sent the referee {error}.", dead=True
            )
        return exit_reason.ended(code, words, stage)

    def _allowed(self, stage: str) -> float:
        return float(getattr(self.limits, stage, self.limits.call))

    def _shared(self) -> int:
        return sum(arena.in_memory() for arena in (self.inbox, self.outbox, self._words))

    def _drain(self) -> None:
        waiting = select.poll()
        waiting.register(self._printed, select.POLLIN)
        while True:
            waiting.poll()
            with self._output_lock:
                if self._take() == 0:
                    os.close(self._printed)
                    self._printed = -1
                    return

    def _take(self) -> int:
        """With the lock: read once what is there; its length, 0 at the end and -1 if there is nothing."""
        if self._printed < 0:
            return -1
        there = select.poll()
        there.register(self._printed, select.POLLIN)
        if not there.poll(0):
            return -1
        chunk = os.read(self._printed, 1 << 16)
        self._output += chunk[: max(0, KEEP_OUTPUT - len(self._output))]
        return len(chunk)

    def finish(self, seconds: float) -> None:
        """Hang up and let the process end by itself, so that a tool around it can write its report."""
        self._talk.channel.close()
        self._cage.wait(seconds)

    def strike(self) -> None:
        """Kill it, from any thread: whoever waits for its answer gets a fault. :meth:`stop` tidies up."""
        if not self._stopped:
            self._cage.strike()

    def stop(self) -> None:
        """End the process and all that it started, and remove its folders. May be called twice."""
        if self._stopped:
            return
        self._stopped = True
        self._watcher.stop()
        self._cage.end()
        self._talk.channel.close()
        for arena in (self.inbox, self.outbox, self._words):
            arena.close()
        self._order.forget()
