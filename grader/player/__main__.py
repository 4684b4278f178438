"""The player's process: connect, wake the back end, then answer requests until the referee hangs up."""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import faulthandler
import gc
import json
import os
import signal
import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from grader.protocol import messages
from grader.protocol.arena import Arena
from grader.protocol.confinement.confine import confine
from grader.protocol.wire import Channel, ClosedError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from grader.player.player_backends import Forkable
    from grader.protocol.wire import Json, Seconds


class Answering(Channel):
    """The player's end: what it says after a request carries the request's number."""

    _turn: int | None = None

    def send(self, message: Json, *, seconds: float | None = None, files: Sequence[int] = ()) -> None:
        """Send one frame."""
        named = message if self._turn is None else message | {"turn": self._turn}
        super().send(named, seconds=seconds, files=files)

    def receive(self, *, seconds: Seconds = None) -> Json:
        """Wait for one frame."""
        message = super().receive(seconds=seconds)
        self._turn = message.pop("turn", self._turn)
        return message


def main(arguments: list[str] | None = None, forked: Forkable | None = None) -> None:
    """Serve one referee. Started by it with file descriptors as arguments; see
    ``grader.referee.process.player_process``.

    ``forked``: a back end that was woken before, in the process that this one was forked from.
    """
    parser = argparse.ArgumentParser()
    for name in ("--wire", "--inbox", "--outbox", "--words"):
        parser.add_argument(name, type=int, required=True)
    parser.add_argument("--backend", choices=["cuda", "simt", "cpu"], required=True)
    parser.add_argument("--step-budget", type=int, default=0)
    parser.add_argument("--libraries", type=Path, nargs=2)
    parser.add_argument("--confine", type=json.loads, default={})
    parser.add_argument("--waits", action="store_true", help="started before its file is known")
    options = parser.parse_args(arguments)
    # Importing torch makes a million objects and no garbage: without the collector it takes a fifth less.
    gc.disable()
    if options.backend == "cuda":
        _start_driver()
    options.confined = confine(options.confine)
    channel = Answering(socket.socket(fileno=options.wire), takes_files=True)
    # A run that hangs in Python is asked where it is before it is ended.
    with os.fdopen(os.dup(options.words), "w", closefd=False) as words:
        faulthandler.register(signal.SIGUSR1, file=words, all_threads=False)
        serve(channel, options, forked)


def _start_driver() -> None:
    """NVIDIA's driver looks at more of the system when it starts than a player may see afterwards.

    Without this, cuInit ends with "operation not supported on this OS" under Landlock and under seccomp.
    """
    with contextlib.suppress(OSError):  # no driver: torch says so in its own words
        ctypes.CDLL("libcuda.so.1").cuInit(0)


def _make_context() -> None:
    """What torch would make at its first use of the GPU, and uses then; a player that waits has the time.

    By the driver's own call: of torch's settings, which a file may still change, nothing is used up.
    """
    with contextlib.suppress(OSError):
        driver, device, context = ctypes.CDLL("libcuda.so.1"), ctypes.c_int(), ctypes.c_void_p()
        if driver.cuDeviceGet(ctypes.byref(device), 0) == 0:
            driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), device)


def serve(channel: Channel, options: argparse.Namespace, forked: Forkable | None = None) -> None:
    """Wake the back end (before torch is imported), say ready, answer."""
    from grader.player import player_backends

    if forked:
        forked.adopt(channel, options)
    backend = forked or player_backends.wake(channel, options)
    observed = backend.observed  # held since before anything foreign is loaded
    from grader.player import commands, exceptions, python_hooks
    from grader.player.sides import perform
    from grader.player.stage import MissingEntryError, Stage

    if options.backend == "cuda":
        from grader.player.commands import race_blocks  # noqa: F401 - holds the clock before that, too
    arenas = (Arena(options.inbox, 1 << 16), Arena(options.outbox, 1 << 16))
    stage = Stage(*arenas, device="cpu" if options.backend == "cpu" else "cuda")
    stage.given = channel.files
    if options.waits and options.backend == "cuda":
        _make_context()
    python_hooks.refuse_audits()
    gc.freeze()
    gc.enable()
    facts = backend.facts()
    ready = messages.Ready(facts.torch, facts.cuda, facts.device, confined=tuple(options.confined))
    channel.send({"ready": messages.plain(ready)})
    actions: dict[str, Callable[..., Json]] = {
        "load": stage.load,
        "begin_anew": stage.begin_anew,
        "play": lambda **k: perform(stage, **k),
        "owner": lambda **k: backend.owner(stage, **k),
        "count": lambda **k: backend.count(**k),
        "check": lambda **k: backend.check(**k),
        "schedule": lambda **k: backend.schedule(**k),
        "change": lambda **k: backend.change(**k),
        "command": lambda **k: commands.perform(stage, channel, **k),
    }
    while True:
        try:
            request = channel.receive()
        except ClosedError:
            return
        for arena, size in zip(arenas, request.pop("sizes"), strict=True):
            arena.attach(size)
        answer: Json
        try:
            answer = {"answer": actions[request.pop("do")](**request)}
        except MissingEntryError as error:
            answer = {"error": {"type": "MissingEntry", "message": str(error), "where": []}}
        except BaseException as error:
            answer = {"error": exceptions.describe(error, stage.path)}
        answer |= observed()
        channel.send(answer, files=stage.passing)
        while stage.passing:
            os.close(stage.passing.pop())


if __name__ == "__main__":
    try:
        main()
    except Exception as error:
        # The lines in which it failed are the grader's own, and say nothing to a student.
        with contextlib.suppress(Exception):
            print(f"The process cannot go on: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
        os._exit(1)
    os._exit(0)  # nothing of the submission runs on; and see grader/protocol/process_exit.py
