"""The student's timer on a real device: kernels that spin for as long as the referee chose."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

from grader.domain.part import Check
from grader.domain.verdict import Finding, Status
from grader.referee.fault import FaultError
from grader.referee.parts.part_session import PartSession
from grader.referee.parts.timers import form, spelt

CALIBRATION = 200_000_000  # cycles: a tenth of a second, against which a question to the player is nothing
OVERHEAD = 3e-6  # seconds that two events add to what lies between them, and some
TOLERANCE = 0.15  # the clock of a GPU moves
TRIES = 3  # a host that is busy with something else may hold any timer up


@dataclass(frozen=True, slots=True)
class Spin:
    """``entry(fn)`` must say how long fn's kernel takes: a long one, then one of the length of a launch.

    Only a GPU can show it. The referee learns the device's clock by its own, from outside of the player,
    before and after. The check earns nothing, so that a machine without a GPU gives full marks.
    """

    entry: str
    why: str = "The timer agrees with a kernel that spins for a known time on this GPU."
    # The short one is still longer than Python needs to queue two events and a launch: below that, a timer
    # that is right measures its own host.
    takes: tuple[tuple[float, float], ...] = ((3e-4, 3e-3), (8e-5, 1.6e-4))

    @property
    def checks(self) -> tuple[Check, ...]:
        """One check."""
        return (Check("on the GPU", 0, self.why, gpu=True),)

    def judge(self, room: PartSession) -> Iterator[Finding]:
        """Each duration is drawn now."""
        (check,) = self.checks
        if room.backend != "cuda":
            yield check.failed(Status.PENDING_GPU, "A kernel of known length needs a GPU to run on.")
            return
        try:
            yield self._judge(room, check)
        except FaultError as fault:
            yield room.fallen(check, fault)

    def _judge(self, room: PartSession, check: Check) -> Finding:
        _rate(room)  # an idle GPU runs slowly; now it does not
        for left in reversed(range(TRIES)):
            found = self._tried(room, check)
            if found.status is Status.PASSED or not left:
                break
        return found

    def _tried(self, room: PartSession, check: Check) -> Finding:
        told = []
        for low, high in self.takes:
            wanted, before = float(room.rng.uniform(low, high)), _rate(room)
            cycles = round(wanted * before)
            said = room.act("spin", entry=self.entry, cycles=cycles).get("value")
            if problem := form(said, 1_000_000):
                return check.failed(Status.WRONG_ANSWER, problem)
            assert isinstance(said, dict)
            ends = sorted(cycles / rate for rate in (before, _rate(room)))
            if not ends[0] * (1 - TOLERANCE) <= said["median"] <= ends[1] * (1 + TOLERANCE) + OVERHEAD:
                message = f"median is {spelt(said['median'])}, but the kernel spins for {spelt(ends[0])}."
                return check.failed(
                    Status.WRONG_ANSWER, f"{message} {check.why}", said=said["median"], right=ends
                )
            told.append(f"{spelt(said['median'])} for {spelt(ends[0])}")
        return check.passed(f"It says {' and '.join(told)}.")


def _rate(room: PartSession) -> float:
    """Cycles a second, by the referee's own clock."""
    seconds = []
    for cycles in (0, CALIBRATION):
        begun = time.monotonic()
        room.act("spin", entry="", cycles=cycles)
        seconds.append(time.monotonic() - begun)
    return CALIBRATION / max(1e-6, seconds[1] - seconds[0])
