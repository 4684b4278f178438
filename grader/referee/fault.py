"""What a player can do wrong, as an exception with a status: raise, die, hang, or break the protocol."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from grader.backends.extension.request import named
from grader.domain.installation import COURSE
from grader.domain.verdict import SENTENCE, Evidence, Finding, Status

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.protocol.messages import MemoryFinding
    from grader.protocol.wire import Json

# The files that torch's load_inline writes: what is in them, and how many lines of its own come first.
TORCHS = {"cuda.cu": ("CUDA source", 3), "main.cpp": ("C++ source", 1)}


class FaultError(Exception):
    """A request to a player that has no answer. ``dead``: the player is gone and must be started again.

    ``seen``: what the back end has found by then; the evidence holds it under "findings".
    """

    def __init__(self, status: Status, message: str, *, dead: bool = False, **evidence: Any) -> None:
        super().__init__(message)
        self.status, self.message, self.dead, self.evidence = status, message, dead, evidence
        self.seen: Sequence[MemoryFinding] = ()

    def with_findings(self, seen: Sequence[MemoryFinding]) -> FaultError:
        """The same fault, which knows what the back end has found."""
        self.seen, self.evidence["findings"] = seen, [f.as_json() for f in seen]
        return self

    def finding(self, name: str, max_points: int = 0) -> Finding:
        """The fault as a check's result."""
        return Finding(name, self.status, self.message, 0, max_points, self.evidence)


def from_error(error: Json, stage: str) -> FaultError:
    """An exception that the player reports (a claim, so only its text is used) as a fault."""
    name, text = str(error.get("type", "Error")), str(error.get("message", ""))[:6000]
    where = (
        [w for w in error.get("where", []) if isinstance(w, dict)]
        if isinstance(error.get("where"), list)
        else []
    )
    evidence: Evidence = {"type": name, "text": text, "where": where[:8]}
    at = _place(where)
    if name == "MissingEntry":
        return FaultError(
            Status.MISSING_ENTRY, f"{text[:1].upper()}{text[1:]}, which the grader asks for.", **evidence
        )
    if name == "SystemExit":
        return FaultError(Status.EXITED_EARLY, f"{text[:1].upper()}{text[1:]}{at}.", **evidence)
    if "out of memory" in text or "t allocate memory" in text or name in ("OutOfMemoryError", "MemoryError"):
        return FaultError(Status.OUT_OF_MEMORY, f"{first_line(text)}{at}", **evidence)
    if "Error building extension" in text:
        return FaultError(Status.COMPILE_ERROR, compiler_line(text), log=text, **evidence)
    if "launch timed out" in text:  # the CPU back end counts steps; its memory finding names the line
        return FaultError(Status.TIMEOUT, f"{first_line(text)}{at}", dead=True, **evidence)
    if name == "AcceleratorError" or "CUDA error" in text:
        illegal = "illegal memory access" in text or "misaligned" in text
        status = Status.ILLEGAL_ACCESS if illegal else Status.CUDA_ERROR
        if "CUDA error: no error" in text:  # an exception from a place that the code never meant to reach
            message = f"The call ended in an exception without an error: code ran on where it must not{at}"
            return FaultError(Status.CRASHED, message, dead=True, **evidence)
        # After such an error the process's CUDA context is of no use; "not ready" is an answer.
        dead = "device not ready" not in text
        return FaultError(status, f"{first_line(text)}{at}", dead=dead, **evidence)
    if name == "BdbQuit":
        said = (
            "breakpoint() waits for commands, which nobody can give in a grading; "
            f"step with {COURSE} run FILE"
        )
        return FaultError(Status.IMPORT_ERROR if stage == "load" else Status.RAISED, said, **evidence)
    if stage == "load":
        return FaultError(Status.IMPORT_ERROR, f"{name}: {first_line(text)}{at}", **evidence)
    return FaultError(Status.RAISED, f"{name}: {first_line(text)}{at}", **evidence)


def first_line(text: str) -> str:
    """The first line that says something; of pybind11's, without the announcement of what follows."""
    first = next((line.strip() for line in text.splitlines() if line.strip()), "(no message)")
    return first.removesuffix(" The following argument types are supported:")


def compiler_line(log: str) -> str:
    """The first error of a compiler's log, as "file:line: message"."""
    for line in log.splitlines():
        found = re.search(r"(\S+?)[:(](\d+)\)?:(?:\d+:)? (?:fatal )?error:? (.*)", line)
        if found:
            name, before = TORCHS.get(found[1].rsplit("/", 1)[-1], (found[1], 0))
            place = named(name, max(1, int(found[2]) - before))
            return f"{place}: {found[3].removeprefix(': ')}"
        if "undefined symbol" in line or "undefined reference" in line:
            return line.strip()
    return first_line(log)


def _place(where: Sequence[Json]) -> str:
    if not where:
        return ""
    last = where[-1]
    file, code = str(last.get("file", "")).rsplit("/", 1)[-1], str(last.get("code", ""))
    code += "...)" if code.endswith("(") else ""  # a call over several lines
    return f" ({file}, line {last.get('line')}: {code})" if code else f" ({file}, line {last.get('line')})"


def sentence(status: Status) -> str:
    """The sentence that every student reads for this status."""
    return SENTENCE[status]
