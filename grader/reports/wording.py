"""What reports say to a student about findings and points: the same words in every format."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING

from grader.domain.installation import COURSE
from grader.domain.verdict import PENDING, SENTENCE, WAITS_FOR, Finding, Status, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable

# What a replay of the kernel shows (grader/referee/replay.py).
REPLAYED = frozenset(
    (Status.ILLEGAL_ACCESS, Status.RACE, Status.BARRIER, Status.UNINITIALISED, Status.WRONG_OUTPUT,
     Status.NOT_FINITE, Status.CUDA_ERROR, Status.TIMEOUT)
)  # fmt: skip


def feedback(finding: Finding) -> str:
    """The message, and for what is not right the sentence of its status; an explanation comes first."""
    if finding.ok or finding.status is Status.NOT_RUN:
        return finding.message or ("" if finding.ok else SENTENCE[finding.status])
    plain = finding.evidence.get("explanation")
    parts = [str(plain["cause"]), str(plain["fix"])] if isinstance(plain, dict) else []
    parts.append(finding.message)
    if not isinstance(plain, dict) and finding.status is not Status.FAILED:  # which is said of many together
        parts.append(_sentence(finding))
    return "\n".join(p for p in parts if p)


def _sentence(finding: Finding) -> str:
    """The sentence of a status, with what to try in the case that the message tells of."""
    what, _, usual = SENTENCE[finding.status].partition("; ")
    tried = advice(finding.status, finding.message)
    if tried.casefold() == usual.casefold():
        return SENTENCE[finding.status]
    if finding.message.startswith("Not run"):  # then what the status says did not happen
        return tried
    return f"{what.rstrip('.')}. {tried}".rstrip()


def replay_offer(verdict: Verdict, file: str = "") -> str:
    """How to see the threads of the first failure, where a kernel did something wrong to memory; or "".

    ``file``: what is typed after the lesson's number, if it is not the student's own file.
    """
    first = verdict.failed[0] if verdict.failed else None
    if first is None or verdict.backend != "simt" or not re.match(r"\d\d_", verdict.lesson):
        return ""
    if first.status not in REPLAYED or not (first.evidence.get("seen") or first.evidence.get("owner")):
        return ""
    seen = [one for one in first.evidence.get("seen") or [] if isinstance(one, dict)]
    if seen and str(seen[0].get("kind", "")).startswith("host-"):
        return ""  # what touched the memory was no thread of a kernel
    about = {first.id, *(str(one.get("check")) for one in seen[:1])}
    if any(f.id in about and f.evidence.get("launched") == [] for f in verdict.findings):
        return ""  # no kernel of CUDA C++ ran in it: one in Triton or numba has no replay
    return f"See the threads: {COURSE} replay {verdict.lesson[:2]}{f' {file}' if file else ''}"


ALL_COME = (
    "All lanes that the mask names must come to this line: let those without a number bring one that changes "
    "nothing, such as 0 to a sum."
)
WAITED = "Call cudaStreamSynchronize() or cudaEventSynchronize() before the host uses the memory again."
NO_INDEX = {
    "leaves out its own lane": "A lane must be in the mask of each warp function that it calls.",
    "takes no part in the shuffle": ALL_COME,
    "calls a warp function": ALL_COME,
    "waits for the lanes": ALL_COME,
    "divides an integer by zero": "Look at what stands behind the / or %, and which thread has 0 there.",
    "waits for the whole grid": "Launch the kernel with cudaLaunchCooperativeKernel.",
    "which is not aligned": "Use this vector type only where the address is a multiple of its size.",
    "which has been freed": "Free memory once, and after its last use.",
    "an asynchronous copy was begun": "Before the memory is used: commit the copy to a group, wait for it, "
    "and put a barrier behind the wait if another thread has begun it.",
    "the host changed it before": WAITED,
    "while a copy to it": WAITED,
    "goes to a new tensor": "Call record_stream() of the tensor, or have the current stream wait for the "
    "other one before the tensor goes.",
    "in another stream or node of a graph": "Record an event behind the work that comes first "
    "(cudaEventRecord), and let the other stream wait for it (cudaStreamWaitEvent); in a graph, add an edge.",
    "in the scope of one block": "Use the atomic function without _block, or a wider scope: "
    "thread_scope_device, .gpu.",
    "__threadfence_block()": "Write __threadfence(), which is for all blocks.",
    "by __ldg()": "Read it without __ldg, behind a fence or a barrier that orders it.",
    "begins an asynchronous copy of": "Copy 4, 8 or 16 bytes at once, or with plain loads and stores.",
    "which fails: ": "A launch by a kernel has the limits of any other.",
    "not device memory": "Look first at the pointer that the host handed to the kernel, then at the index.",
}


OF_A_THREAD = (
    Status.ILLEGAL_ACCESS,
    Status.BARRIER,
    Status.RACE,
    Status.CUDA_ERROR,
    Status.WRONG_OUTPUT,
)


def advice(status: Status, message: str = "") -> str:
    """What to try, if the sentence of a status says it: its part after the semicolon.

    ``message``: of what a thread did, which is not always what the status is usually about.
    """
    first = message.partition("\n")[0]
    if status in OF_A_THREAD and (other := next((t for w, t in NO_INDEX.items() if w in first), "")):
        return other
    if status is Status.WRONG_OUTPUT and first.startswith("The call returned"):
        return ""  # it has no elements
    if (status is Status.CUDA_ERROR and "assertion" in first) or (
        status is Status.UNINITIALISED and "return" in first
    ):
        return ""  # neither the launch nor an element is what is wrong
    if status is Status.RACE and "Each element must belong to one thread" in message:
        return "Give each element one owner."  # a grid in Python has no barrier
    if status is Status.TIMEOUT and first.startswith("Not run"):
        return "Look at the checks that took long; of this one nothing is known."
    if status is Status.WRONG_STREAM and "getCurrentCUDAStream" in message:
        return ""  # the message says it
    tried = "" if status is Status.FAILED else SENTENCE[status].partition("; ")[2]
    return f"{tried[:1].upper()}{tried[1:]}"


def points(verdict: Verdict) -> str:
    """Points earned, and beside them those that wait for another machine: "18/18 points + 2 for a GPU"."""
    machine = waiting_for(f.status for f in verdict.findings if f.max_points)
    earned = f"{verdict.points}/{verdict.max_points - verdict.waiting} points"
    return earned + (f" + {verdict.waiting} for {machine}" if verdict.waiting else "")


def waiting_for(statuses: Iterable[Status]) -> str:
    """The machines that checks of these statuses wait for, as part of a sentence; "" for none."""
    found = set(statuses)
    return " and ".join(machine for status, machine in WAITS_FOR.items() if status in found)


@functools.cache
def outcome(status: Status) -> str:
    """One of passed, failed, pending, error: what formats with fewer words than ours know."""
    if status is Status.PASSED:
        return "passed"
    if status in (*PENDING, Status.NOT_RUN):
        return "pending"
    return "error" if status is Status.NOT_GRADABLE else "failed"
