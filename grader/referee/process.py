"""A player as the referee holds it: a process that is started, asked, timed and ended, whatever it does."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from grader import wire
from grader.arena import Arena
from grader.referee import death
from grader.referee.fault import FaultError, from_error
from grader.verdict import Status

KEEP_OUTPUT = 64 << 10
PASSED_ON = [
    "PATH",
    "HOME",
    "LANG",
    "LC_ALL",
    "TMPDIR",
    "LD_LIBRARY_PATH",
    "PYTHONPATH",
    "CC",
    "CXX",
    "CUDA_HOME",
    "CUDA_PATH",
    "CUDA_VISIBLE_DEVICES",
    "COURSE_CACHE",
    "XDG_CACHE_HOME",
    "VIRTUAL_ENV",
    "NVIDIA_VISIBLE_DEVICES",
    "TRITON_CACHE_DIR",
]

Builder = Callable[[dict[str, Any]], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds allowed for each stage of a player's life. Building is not counted as importing."""

    start: float = 60.0
    load: float = 20.0
    build: float = 300.0
    call: float = 20.0


@dataclass(slots=True)
class Answer:
    """What a player answered, and what its back end observed meanwhile. All of it is claims."""

    data: dict[str, Any]
    findings: list[dict[str, Any]] = field(default_factory=list)
    launches: list[dict[str, Any]] = field(default_factory=list)


class Player:
    """One player process.

    ``build`` compiles for it (simt); ``wrap`` is a command to run it under; ``env`` adds to its environment.
    """

    def __init__(
        self,
        backend: str,
        limits: Limits,
        *,
        build: Builder | None = None,
        wrap: tuple[str, ...] = (),
        env: dict[str, str] | None = None,
    ) -> None:
        self.backend, self.limits, self.seconds_building = backend, limits, 0.0
        self.compile_error: FaultError | None = None
        self.inbox, self.outbox = Arena.create("inbox"), Arena.create("outbox")
        self._words = Arena.create("words", 1 << 16)
        self._build, self._ready = build, False
        self._folder = tempfile.mkdtemp(prefix="player-")
        ours, theirs = socket.socketpair()
        self._channel = wire.Channel(ours)
        self._output, self._output_lock = bytearray(), threading.Lock()
        read_end, write_end = os.pipe()
        fds = {
            "wire": theirs.fileno(),
            "inbox": self.inbox.fd,
            "outbox": self.outbox.fd,
            "words": self._words.fd,
        }
        command = [*wrap, sys.executable, "-m", "grader.player", "--backend", backend]
        command += [text for name, fd in fds.items() for text in (f"--{name}", str(fd))]
        self._process = subprocess.Popen(
            command, cwd=self._folder, env=_environment(backend) | (env or {}), pass_fds=tuple(fds.values()),
            stdin=subprocess.DEVNULL, stdout=write_end, stderr=write_end, start_new_session=True,
        )  # fmt: skip
        theirs.close()
        os.close(write_end)
        threading.Thread(target=self._drain, args=(read_end,), daemon=True).start()

    @property
    def output(self) -> str:
        """What the submission has printed so far, cut to the first 64 KiB."""
        with self._output_lock:
            return self._output.decode(errors="replace")

    def ready(self) -> dict[str, Any]:
        """Wait until the player has started; answers versions and device. Call before the first request."""
        self._ready = True
        try:
            return self._conversation("start", self.limits.start, "ready").data
        except FaultError as fault:  # until then only our own code has run
            message = f"{fault.message} It printed: {self.output.strip()[-500:] or 'nothing'}"
            raise FaultError(Status.NOT_GRADABLE, message, dead=True) from fault

    def ask(self, do: str, seconds: float, **fields: Any) -> Answer:
        """One request and its answer; a FaultError for anything else."""
        if not self._ready:
            self.ready()
        message = {"do": do, "sizes": [self.inbox.size, self.outbox.size], **fields}
        try:
            self._channel.send(message, seconds=seconds)
        except wire.WireError as error:
            raise self._end(do, error) from error
        return self._conversation(do, seconds, "answer")

    def _conversation(self, stage: str, seconds: float, key: str) -> Answer:
        deadline = time.monotonic() + seconds
        building_since: float | None = None
        while True:
            try:
                message = self._channel.receive(seconds=deadline - time.monotonic())
            except wire.WireError as error:
                raise self._end("build" if building_since else stage, error) from error
            if "build" in message and self._build:
                begun = time.monotonic()
                reply = self._compile(message["build"])
                self.seconds_building += time.monotonic() - begun
                deadline += time.monotonic() - begun
                with contextlib.suppress(wire.WireError):
                    self._channel.send(reply, seconds=10)
            elif message.get("notice") == "build_begins" and building_since is None:
                # On a GPU torch compiles inside the player; the total is bounded all the same.
                building_since = time.monotonic()
                deadline = building_since + max(1.0, self.limits.build - self.seconds_building)
            elif message.get("notice") == "build_ends" and building_since is not None:
                self.seconds_building += time.monotonic() - building_since
                building_since, deadline = None, time.monotonic() + seconds
            elif isinstance(message.get("error"), dict):
                fault = from_error(message["error"], stage)
                fault.evidence["findings"] = _dicts(message.get("findings"))
                raise fault
            elif isinstance(message.get(key), dict):
                return Answer(message[key], _dicts(message.get("findings")), _dicts(message.get("launches")))
            else:
                raise self._end(stage, wire.MalformedError("an answer of no known kind"))

    def _compile(self, request: Any) -> dict[str, Any]:
        assert self._build is not None
        try:
            return self._build(request if isinstance(request, dict) else {})
        except FaultError as fault:
            self.compile_error = self.compile_error or fault
            return {"message": fault.message}

    def _end(self, stage: str, error: wire.WireError) -> FaultError:
        """Turn a broken conversation into a fault, and make sure that nothing is left running."""
        late = isinstance(error, wire.LateError)
        if late:
            for sign, patience in ((signal.SIGUSR1, 0.2), (signal.SIGALRM, 0.8)):
                with contextlib.suppress(OSError, subprocess.TimeoutExpired):
                    self._process.send_signal(sign)
                    self._process.wait(patience)
        elif isinstance(error, wire.ClosedError):
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(2.0)
        code = self._process.poll()
        words = os.pread(self._words.fd, 1 << 16, 0).rstrip(b"\0").decode(errors="replace")
        self.stop()
        if late:
            return death.timeout(stage, words, self._allowed(stage))
        if isinstance(error, wire.MalformedError):
            return FaultError(
                Status.TAMPERED, f"The submission's process sent the referee {error}.", dead=True
            )
        return death.ended(code, words, stage)

    def _allowed(self, stage: str) -> float:
        return float(getattr(self.limits, stage, self.limits.call))

    def _drain(self, fd: int) -> None:
        with os.fdopen(fd, "rb", buffering=0) as pipe:
            while chunk := pipe.read(1 << 16):
                with self._output_lock:
                    self._output += chunk[: max(0, KEEP_OUTPUT - len(self._output))]

    def finish(self, seconds: float) -> None:
        """Hang up and let the process end by itself, so that a tool around it can write its report."""
        self._channel.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)

    def stop(self) -> None:
        """End the process and all that it started, and remove its folder. May be called twice."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._channel.close()
        shutil.rmtree(self._folder, ignore_errors=True)


def _environment(backend: str) -> dict[str, str]:
    env = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    root = str(Path(__file__).resolve().parents[2])
    beside_python = str(Path(sys.executable).parent)  # torch looks for ninja on PATH
    env["PATH"] = os.pathsep.join([beside_python, env.get("PATH", os.defpath)])
    env["PYTHONPATH"] = os.pathsep.join([root, *filter(None, [env.get("PYTHONPATH")])])
    env["PYTHONDONTWRITEBYTECODE"] = env["PYTHONUNBUFFERED"] = "1"
    if backend != "cuda":
        env["OMP_NUM_THREADS"] = "1"
    return env


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [v for v in value[:200] if isinstance(v, dict)] if isinstance(value, list) else []
