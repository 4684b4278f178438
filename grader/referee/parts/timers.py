"""Timers that students write, probed with functions whose duration the referee knows and they do not."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from grader.domain.part import Check
from grader.domain.verdict import Evidence, Finding, Status
from grader.feedback import how_far
from grader.referee.fault import FaultError
from grader.referee.parts.simulated_clock import LAUNCH, SYNC, Machine

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np

    from grader.referee.parts.part_session import PartSession

FEWEST = 20
FIRST_CALLS = 10  # of a hundred: the 90th percentile shows a forgotten warm-up
GOLDEN = (math.sqrt(5) - 1) / 2
NUMBERS = ("median", "p10", "p90", "n")
# How far from the percentile asked for the share of smaller calls may be: half of the way to the next tenth.
NEAR = 0.05
CLOCKS = 3e-3  # what a wait or a launch adds to the longest kernels


@dataclass(frozen=True, slots=True)
class Probe:
    """One virtual kernel and what is difficult about it. Times in seconds; ``takes`` is drawn between two.

    ``kind``: "timer" calls ``entry(fn)``, "benchmark" ``entry(build, make_input, make_output)``. ``queued``
    is older work on the device, ``first`` the host's work in the first call, ``slow`` how many times longer
    each of the first ten calls takes, or if ``outliers`` is set one call in ``outliers``. ``jitter`` spreads
    durations evenly by that part to both sides, ``warm`` is the duration's share when the input is in the
    cache. The result must be within ``tolerance``; if there is a jitter, each percentile is compared with
    those of the calls that were counted.
    """

    name: str
    entry: str
    kind: str
    points: int
    why: str
    takes: tuple[float, float] = (3e-4, 3e-3)
    queued: float = 0.0
    first: float = 0.0
    build: float = 0.0
    output: float = 0.0
    slow: float = 1.0
    jitter: float = 0.0
    outliers: int = 0
    warm: float = 1.0
    tolerance: float = 0.05

    @property
    def checks(self) -> tuple[Check, ...]:
        """One check."""
        return (Check(self.name, self.points, self.why),)

    def judge(self, session: PartSession) -> Iterator[Finding]:
        """Time one kernel whose duration is drawn now."""
        (check,) = self.checks
        shortest, longest = map(math.log, self.takes)
        takes = math.exp(session.rng.uniform(shortest, longest))
        machine = self._machine(takes, session.rng)
        try:
            fields = {"entry": self.entry, "kind": self.kind}
            said = session.command("timer", machine.serve, **fields).get("value")
            yield self._judge(check, said, takes, machine, session.line_of(self.entry))
        except FaultError as fault:
            yield session.fallen(check, fault)

    def _machine(self, takes: float, rng: np.random.Generator) -> Machine:
        begin = int(rng.integers(1000))

        def kernel(call: int, *, cold: bool) -> float:
            # Evenly spread over any stretch of calls, so that no grade depends on luck.
            seconds = takes * (1 + self.jitter * (2 * ((begin + call) * GOLDEN % 1) - 1))
            slow = (begin + call) % self.outliers == 0 if self.outliers else call < FIRST_CALLS
            return seconds * (self.slow if slow else 1.0) * (1.0 if cold else self.warm)

        # Whoever takes the host's time and subtracts what its steps cost must not know what they cost here.
        slow = rng.uniform(0.4, 0.75) if rng.integers(2) else rng.uniform(1.4, 2.2)
        machine = Machine(kernel, self.first, self.build, self.output, LAUNCH * slow, SYNC * slow)
        machine.busy(self.queued)
        return machine

    def _judge(self, check: Check, said: Any, takes: float, machine: Machine, line: int) -> Finding:
        launches = len(machine.durations)
        at = f"Line {line}, {self.entry}: " if line else ""
        told = {k: said[k] for k in NUMBERS if _number(said.get(k))} if isinstance(said, dict) else {}
        timer: Evidence = {
            "entry": self.entry, "timing": told, "n": told.get("n"), "launches": launches, "right": takes,
            "slow": FIRST_CALLS if self.slow > 1 and not self.outliers else 0, "build": self.build,
            "output": self.output, "warm": self.warm,
        }  # fmt: skip
        spread = dict.fromkeys((0.1, 0.5, 0.9), takes)
        counted = _counted(machine, told.get("n")) if self.jitter else []
        if counted:
            spread = {q: _quantile(counted, q) for q in spread}
        timer["spread"] = list(spread.values())
        timer["uneven"] = bool(self.jitter or self.outliers or self.queued or timer["slow"])
        if problem := form(said, launches):
            given = min(told.values(), default=0) if len(told) == len(NUMBERS) else said
            timer |= {"which": "form", "said": given if _number(given) else None if said is None else 0}
            return check.failed(Status.WRONG_ANSWER, f"{at}{problem}", launches=launches, timer=timer)
        for key, q in (("median", 0.5), ("p10", 0.1), ("p90", 0.9)):
            allowed = self.tolerance * spread[q]
            least, most = spread[q] - allowed, spread[q] + allowed
            if counted:
                least, most = _quantile(counted, q - NEAR), _quantile(counted, q + NEAR) * (1 + CLOCKS)
            if not least * (1 - 1e-6) <= said[key] <= most * (1 + 1e-6):
                what = "the kernel takes" if key == "median" else f"{key} of the kernel's time is"
                how = how_far.seconds(said[key], spread[q], self.tolerance)
                # A factor does not tell how many calls were timed where some take longer than others.
                if "calls?" in how and timer["uneven"]:
                    how = ""
                if machine.apart:
                    how = " Its events are recorded in another stream than the current one, the kernel's."
                advice = how or f" {self.why}"
                message = f"{at}{key} is {spelt(said[key])}, but {what} {spelt(spread[q])}.{advice}"
                evidence = {"said": said[key], "right": spread[q], "launches": launches, "advice": advice}
                evidence["timer"] = timer | {"which": key, "said": said[key], "right": spread[q]}
                return check.failed(Status.WRONG_ANSWER, message, **evidence)
        if amiss := self._calls_amiss(said, machine, spread[0.5]):
            problem, which, got, right = amiss
            timer |= {"which": which, "said": got, "right": right}
            return check.failed(Status.WRONG_ANSWER, f"{at}{problem}", launches=launches, timer=timer)
        message = f"{spelt(said['median'])}, and the kernel takes {spelt(spread[0.5])} (virtual clock)."
        return check.passed(message, said=said["median"], right=spread[0.5], launches=launches)

    def _calls_amiss(self, said: Any, machine: Machine, right: float) -> tuple[str, str, float, float] | None:
        """What is wrong with the calls though the numbers are right: a sentence, a name, found, asked."""
        launches, n = len(machine.durations), said["n"]
        if self.warm < 1 and machine.made_inside:
            times = "once" if machine.made_inside == 1 else f"{machine.made_inside} times"
            message = f"make_input() was called {times} between the two events of a call. {self.why}"
            return message, "inside", said["median"], right
        if n < FEWEST:
            message = f"n is {n}, and fewer than {FEWEST} measurements say nothing about the spread."
            return message, "n", n, FEWEST
        if self.jitter and 0 < len(machine.timed) < n:
            message = (
                f"n is {n}, and {len(machine.timed)} different calls lie between two events whose distance "
                "was asked for: an event that is recorded again forgets where it was before."
            )
            return message, "again", n, len(machine.timed)
        uncounted = launches - int(n)
        if self.slow > 1 and not self.outliers and uncounted < FIRST_CALLS:
            message = (
                f"{launches} calls were made and {n} counted, which leaves {uncounted} for the warm-up. Make "
                f"{FIRST_CALLS} or more that you do not count."
            )
            return message, "warm-up", uncounted, FIRST_CALLS
        return None


def form(said: Any, launches: int) -> str:
    """What is wrong with a Timing before its numbers are looked at, or ""."""
    if not isinstance(said, dict) or not all(k in said for k in NUMBERS):
        lost = " Is there a `return`?" if said is None else ""
        return f"it returned {str(said)[:80]}, not a Timing with median, p10, p90 (seconds) and n.{lost}"
    for key in NUMBERS:
        if not _number(said[key]) or said[key] < 0:
            if _number(said[key]) and key != "n":
                return f"{key} is negative, {said[key]:.3g} s: is the later time taken from the earlier one?"
            return f"{key} is {str(said[key])[:40]}, not a number of seconds or calls."
    if said["n"] > launches:
        often = "once" if launches == 1 else f"{launches} times"
        return f"n is {said['n']}, but the kernel was launched {often}."
    return ""


def _counted(machine: Machine, n: Any) -> list[float]:
    """How long the calls took that were counted, the last ``n`` of those between events; sorted."""
    if not _number(n) or n < 1:
        return []
    timed = list(machine.timed) if len(machine.timed) >= n else list(range(len(machine.durations)))
    return sorted(machine.durations[k] for k in timed[-int(n) :])


def _quantile(ordered: list[float], q: float) -> float:
    """The value below which the share ``q`` of ``ordered`` lies, between its neighbours."""
    below, part = divmod(q * (len(ordered) - 1), 1)
    low, high = ordered[int(below)], ordered[min(int(below) + 1, len(ordered) - 1)]
    return low + part * (high - low)


def _number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def spelt(seconds: float) -> str:
    """``seconds`` in the unit that fits."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e6:.3g} us"
