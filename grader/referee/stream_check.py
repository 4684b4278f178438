"""Whether a submission's work goes to PyTorch's current stream: a check of its own, apart from results.

In a judged call the current stream is the default one, so a launch that names no stream is right there. A
caller may choose another, and such a launch does not follow. That is found in calls with another current
stream; :mod:`grader.player.other_stream` says how, and why no time decides.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from grader.domain.verdict import PENDING, Finding, Status
from grader.feedback.look import ON_DEFAULT_STREAM, Advice, launches, launches_on_default_stream
from grader.referee.case_calls import Calls
from grader.referee.fault import FaultError
from grader.referee.problem import LeftOutError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from grader.domain.task import Case
    from grader.protocol.messages import Launch
    from grader.protocol.play import ReturnedApart
    from grader.referee.session import Session

NAME = "streams"
HOLD_S = 50e-3  # far longer than most calls take a host that has made them before
MOST_S = 5.0
SEVERAL = 2  # launches: a file with fewer makes its own in any call
TIMES = 4  # what a call took that outlasted the time before
FOLLOWS = "The work goes to PyTorch's current stream, whichever that is."
LEAVES = (
    "The work does not go to PyTorch's current stream: who works on another stream than the default one may "
    "read the result before it is there."
)
FAILED = "With another current stream than the default one the call fails: "
LAUNCH = (
    "Launch on the current stream: `<<<blocks, threads, 0, at::cuda::getCurrentCUDAStream()>>>`, asked for "
    "in the function that Python calls: a thread that this starts has another one."
)
# What waits for another stream, or may: without any of these a stream of the submission's own runs at once.
WAITS = re.compile(
    r"[sS]ynchroni|[wW]ait|Event|Guard|setCurrent|LaunchHostFunc|\.(?:item|cpu|to|block)\s*[(<]|cudaMem|cudaFree|cudaMalloc"
    r"|Graph|Legacy|torch\.cuda\.[sS]tream"
)
SOME = ("The work does not go", "Not all of the work goes")  # to the current stream
RIGHT = "The results are right all the same, as long as nobody changes the current stream."
UNSEEN = (
    "Not seen: the CPU back end knows the streams of launches in CUDA C++, and the call made none. A GPU "
    "shows the others."
)
BESIDE = (
    "Not seen: a launch or a copy is on a stream of the submission's own, and the CPU back end does not know "
    "whether that waits for PyTorch's current stream. A GPU shows it."
)


@dataclass(frozen=True, slots=True)
class Seen:
    """A call with another current stream: whether its result was ``right``, and what its player tells."""

    right: bool
    told: ReturnedApart


@dataclass(frozen=True, slots=True)
class Opinion:
    """Whether the work goes to the current stream; None if that cannot be seen here.

    ``kernels`` that ran on the default stream, and the first ``line`` that launches one, as far as known.
    ``unseen``: why not.
    """

    follows: bool | None
    kernels: tuple[str, ...] = ()
    line: int = 0
    unseen: str = UNSEEN
    own: bool = False  # a stream of the submission's own, not the default one


def judge(session: Session, backend: str) -> list[Finding]:
    """The finding of the check, after those of the cases; none where it is not asked for."""
    points, known = session.task.stream_points, backend in ("cuda", "simt")
    right = {f.id for f in session.record.findings if f.ok or f.status in PENDING}
    ordinary = [c for c in session.task.cases if c.expect == "match" and not c.hidden]
    cases = [c for c in ordinary if known and session.problem.shows_streams(c, backend)]
    tried = [c for c in cases if c.name in right]
    if not tried:
        return [_not_tried("no ordinary case is right", points)] if cases or points else []
    # Inputs decide which of several launches a call makes, so other cases follow until all have been seen.
    places = launches(session.source)
    several = len(places) > len(set(places))  # in one line, of which one cannot be told from the other
    unseen, end = set(places), time.monotonic() + MOST_S
    told: list[Finding] = []
    for case in tried:
        found, seen = _tried(session, case, backend, points)
        unseen -= seen
        if found.evidence.get("follows") is False:
            followed = any(f.evidence.get("follows") for f in told)
            return [replace(found, message=found.message.replace(*SOME)) if followed else found]
        told.append(found)
        decided = "follows" in found.evidence
        if not decided or len(places) < SEVERAL or not (unseen or several) or time.monotonic() > end:
            break
    # One call that nobody can judge is not made up for by others.
    beside = (f for f in told if f.message == BESIDE)
    return [next(beside, next((f for f in told if f.evidence.get("follows")), told[0]))]


def _tried(session: Session, case: Case, backend: str, points: int) -> tuple[Finding, set[int]]:
    """The finding of a call with this case, and the lines of its launches, where they are known."""
    session.begin(case)
    try:
        session.revive()
    except FaultError as fault:  # the submission has died too often
        return fault.finding(NAME, points), set()
    try:
        found = _opinion(session, case, backend)
        seen = {launch.line for launch in session.launches} if backend == "simt" else set()
        return _finding(found, points), seen
    except FaultError as fault:
        if fault.evidence.get("reference"):
            return _not_tried(fault.message, points), set()
        failed = session.fallen(case, fault)
        return _finding(Opinion(follows=False), points, f"{FAILED}{failed.message}"), set()
    except LeftOutError as why:
        return _not_tried(str(why), points), set()


def follows(call: Callable[[float], Seen]) -> Opinion:
    """Whether the work goes to the current stream, from what ``call`` sees while the default stream is held.

    ``call`` gets seconds for that; 0: the streams of kernels are traced instead.

    A call that returned, and whose results were copied, before the default stream went on is decided by its
    results alone: nothing that was queued on the default stream is in them. Where the default stream went on
    before, the time was too short or something waits for the default stream. The next call tells which: it
    gets a multiple of what this one took. If something waits, a launch may come when nothing is held back any
    more, and be in time by luck: then it counts where the kernels ran.
    """
    hold_s = HOLD_S
    for _ in range(2):
        seen = call(hold_s)
        if not seen.right:
            return Opinion(follows=False)
        if seen.told.launched and seen.told.copied:
            return Opinion(follows=True)
        hold_s = min(MOST_S, max(hold_s, TIMES * seen.told.seconds))
    seen = call(0.0)
    kernels = seen.told.on_default
    return Opinion(seen.right and not kernels, kernels)


def of_launches(launches: Iterable[Launch], source: str = "") -> Opinion:
    """The same from the launches of a call on the CPU back end, each of which has its stream.

    ``source``: where nothing in it could make a stream of its own wait for the current one, that does not.
    """
    launched = tuple(launches)
    wrong = [launch for launch in launched if launch.default_stream]
    if not launched:
        return Opinion(follows=None)
    own = [launch for launch in launched if launch.own_stream]
    if not wrong and own:
        if own[0].line and "<<<" in source and not WAITS.search(source):
            kernels = tuple(dict.fromkeys(x.kernel for x in own))
            return Opinion(follows=False, kernels=kernels, line=own[0].line, own=True)
        return Opinion(follows=None, unseen=BESIDE)
    return Opinion(not wrong, tuple(dict.fromkeys(x.kernel for x in wrong)), wrong[0].line if wrong else 0)


def advised(findings: Iterable[Finding], looked: list[Advice]) -> list[Advice]:
    """Advice with what this check has to say, in the place of guesses by the text."""
    away = [f for f in findings if f.id == NAME and f.evidence.get("follows") is False]
    found = [f for f in away if f.ok]
    if away and not found:  # the failed check says it
        told = {f.evidence.get("line") for f in away}
        return [a for a in looked if a.message != ON_DEFAULT_STREAM or a.line not in told]
    if not found:
        return looked
    seen = [Advice(f.evidence["line"], f.message, lasting=True) for f in found]
    return seen + [a for a in looked if a.message != ON_DEFAULT_STREAM]


def _opinion(session: Session, case: Case, backend: str) -> Opinion:
    calls = Calls(session, case)
    if backend == "simt":
        calls.apart(0.0)
        found = of_launches(session.launches, session.source)
    else:
        most_s = min(MOST_S, calls.player.limits.call / TIMES)
        found = follows(lambda hold_s: Seen(*calls.apart(min(most_s, hold_s))))
    if found.follows is False and not found.line:
        lines = launches_on_default_stream(session.source)
        return replace(found, line=lines[0] if lines else 0)
    return found


def _not_tried(why: str, points: int) -> Finding:
    return Finding(NAME, Status.NOT_RUN, f"Not tried: {why.rstrip('.')}.", 0, points)


def _finding(found: Opinion, points: int, what: str = LEAVES) -> Finding:
    """As a failure where there are points for it, else as advice."""
    facts: dict[str, Any] = {"follows": found.follows}
    if found.follows:
        return Finding(NAME, Status.PASSED, FOLLOWS, points, points, facts)
    if found.follows is None:
        return Finding(NAME, Status.PENDING_GPU if points else Status.PASSED, found.unseen, 0, points, facts)
    facts |= {"kernels": list(found.kernels), "line": found.line, "own": found.own}
    words = f"{what} {_where(found)}{LAUNCH}"
    if points:
        facts["advice"] = f"{_where(found)}{LAUNCH}"
        return Finding(NAME, Status.WRONG_STREAM, words, 0, points, facts)
    return Finding(NAME, Status.PASSED, f"{words} {RIGHT}", 0, 0, facts)


def _where(found: Opinion) -> str:
    if found.own:
        return (
            f"The launch in line {found.line} is on a stream of its own, which does not wait for the current "
            "one: what the caller queued before may not be done yet. "
        )
    if found.line:
        return f"The launch in line {found.line} is on the default stream. "
    ran = ", ".join(found.kernels[:3])
    return f"On the default stream ran: {ran}. " if ran else ""
