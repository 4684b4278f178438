"""How a player came to its end, in words: time-outs, signals, exits, and where it was at the time."""

from __future__ import annotations

import contextlib
import re
import signal
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.backends.extension.request import named
from grader.domain.verdict import Status
from grader.protocol import claims, wire
from grader.referee.fault import FaultError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from grader.domain.verdict import Evidence
    from grader.protocol.messages import MemoryFinding
    from grader.protocol.wire import Json

MOST_PRINTED = 4000
STAGES = {
    "start": "Starting the submission's process",
    "load": "Importing the file",
    "build": "Compiling",
    "construct": "Constructing the model",
    "call": "The call",
}


@dataclass(frozen=True, slots=True)
class Crash:
    """What the CPU back end's crash handler says: the signal, where in which module, in which thread."""

    signal: int = 0
    module: str = ""
    pc: int = 0
    kernel: str = ""
    block: str = "?"
    thread: str = "?"

    @classmethod
    def read(cls, said: Json) -> Crash:
        """From its line of JSON, which the submission may have written: what is of another kind is empty."""
        number, module, pc, kernel = (said.get(key) for key in ("signal", "module", "pc", "kernel"))
        return cls(
            signal=number if isinstance(number, int) and 0 < number < 65 else 0,
            module=module if isinstance(module, str) else "",
            pc=pc if isinstance(pc, int) and 0 < pc < 1 << 48 else 0,
            kernel=str(kernel)[:100] if kernel else "",
            block=_xyz(said.get("block")),
            thread=_xyz(said.get("thread")),
        )


class LastWords:
    """What a player wrote when it died, which the submission may have written as well.

    ``original`` knows the module behind a path that the player was given, and no other file.
    """

    def __init__(self, raw: bytes, original: Callable[[str], Path | None] = lambda _: None) -> None:
        self.text = wire.printable(raw.rstrip(b"\0").decode(errors="replace"))
        said = self._said()
        self.crash = Crash.read(said)
        self.findings = _findings(said)
        self._original = original

    def _said(self) -> Json:
        """The line of JSON that the CPU back end leaves at its end, if there is one."""
        for line in reversed(self.text.splitlines()):
            if line.startswith("{"):
                with contextlib.suppress(wire.MalformedError):
                    return wire.decode(line.encode())
        return {}

    def place(self) -> tuple[str, int]:
        """File and line of the address in it; ("", 0) when that is not known."""
        known = self._original(self.crash.module) if self.crash.module else None
        if known is None or not self.crash.pc:
            return "", 0
        from grader.referee.sandbox import symbolize  # seldom needed

        return symbolize.find(known, self.crash.pc)


def _findings(said: Json) -> tuple[MemoryFinding, ...]:
    """What the checks had found before the process ended itself; none where it says nothing of the kind."""
    with contextlib.suppress(wire.MalformedError):
        return claims.observed(said).findings if "findings" in said else ()
    return ()


def timeout(stage: str, last_words: LastWords, seconds: float) -> FaultError:
    """It was stopped after ``seconds``; ``last_words`` may tell where it hung."""
    what = STAGES.get(stage, f"The request {stage!r}")
    message = f"{what} did not end within {seconds:g} s, so it was stopped{_where(last_words)}."
    return FaultError(Status.TIMEOUT, message, dead=True, stage=stage, seconds=seconds)


def ended(code: int | None, last_words: LastWords, stage: str) -> FaultError:
    """It ended by itself, with exit status ``code`` (negative: a signal) in the middle of ``stage``."""
    what = STAGES.get(stage, f"the request {stage!r}").lower()
    if last_words.crash.signal:
        code = -last_words.crash.signal
    if code is None:
        return FaultError(
            Status.TAMPERED,
            f"The submission's process closed its connection to the grader during {what}. Do not close files "
            "that the file did not open, as os.closerange() does.",
            dead=True,
        )
    if code >= 0:
        fault = FaultError(
            Status.EXITED_EARLY,
            f"The process ended by itself with exit code {code} during {what}; "
            "something called exit() or os._exit(), or took away a file that the process works with.",
            dead=True,
            code=code,
        )
        return fault.with_findings(last_words.findings) if last_words.findings else fault
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    if name == "SIGKILL":
        return FaultError(
            Status.OUT_OF_MEMORY,
            f"The system killed the process during {what}, most likely because memory ran out.",
            dead=True,
        )
    return FaultError(
        Status.CRASHED, f"The process crashed during {what} with {name}{_meaning(name)}{_where(last_words)}.",
        dead=True, signal=name,
    )  # fmt: skip


ASSERTED = re.compile(r":(?P<line>\d{1,6}):[^\n]{0,2000}?\b[Aa]ssertion [`'].*?['`] failed")


def printed(output: str) -> Evidence:
    """What a process that gave up had printed about why: the line of an assertion, an exception."""
    last = output[-MOST_PRINTED:]
    said: Evidence = {}
    if found := list(ASSERTED.finditer(last)):
        said["asserted"] = int(found[-1]["line"])
    elif re.search(r"terminate called after|free\(\)|malloc|corrupt|munmap_chunk|stack smashing", last):
        said["uncaught"] = True
    return said


def stopped_by_watcher(reason: str, stage: str, limit: int) -> FaultError:
    """It was ended by the watcher: for "memory" or for "processes"."""
    what = STAGES.get(stage, f"The request {stage!r}")
    if reason == "memory":
        message = (
            f"{what} took more than {limit / (1 << 30):.1f} GiB of the computer's memory, so it was stopped."
        )
        return FaultError(Status.OUT_OF_MEMORY, message, dead=True, stage=stage)
    message = (
        f"{what} started ever more processes or threads, so all of them were stopped. "
        "Take out what starts them."
    )
    return FaultError(Status.CRASHED, message, dead=True, stage=stage)


def _meaning(name: str) -> str:
    return {
        "SIGSEGV": " (memory that is not there was touched)",
        "SIGFPE": " (an integer was divided by zero)",
        "SIGABRT": " (it gave up by itself: a failed assertion or an uncaught C++ exception)",
        "SIGBUS": " (an address was misaligned or beyond the end of a file)",
    }.get(name, "")


def _where(last_words: LastWords) -> str:
    crash = last_words.crash
    if crash.kernel:
        file, line = last_words.place()
        at = f" at {place}" if (place := named(file, line)) else ""
        return f", in kernel {crash.kernel}{at}, block {crash.block}, thread {crash.thread}"
    frames = re.findall(r'File "([^"]+)", line (\d+) in (\S+)', last_words.text)
    own = [
        f
        for f in frames
        if "/grader/" not in f[0] and "/site-packages/" not in f[0] and "<frozen" not in f[0]
    ]
    if own:
        return f"; it was at {own[0][0].rsplit('/', 1)[-1]}, line {own[0][1]}"
    return ""


def _xyz(value: object) -> str:
    if isinstance(value, list) and len(value) == 3 and all(isinstance(v, int) for v in value):
        return f"({', '.join(map(str, value))})"
    return "?"
