"""The student's timer on a real device: kernels that spin for as long as the referee chose."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.domain.part import Check
from grader.domain.verdict import Finding, Status
from grader.referee.fault import FaultError
from grader.referee.parts.timers import form, spelt

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.referee.parts.part_session import PartSession

CALIBRATION_CYCLES = 200_000_000  # a tenth of a second, against which a question to the player is nothing
OVERHEAD_S = 3e-6  # what two events add to what lies between them, and some
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
        return (Check("on the GPU", 0, self.why, gpu=True, clock=True),)

    def judge(self, session: PartSession) -> Iterator[Finding]:
        """Each duration is drawn now."""
        (check,) = self.checks
        if session.backend != "cuda":
            yield check.failed(Status.PENDING_GPU, "A kernel of known length needs a GPU to run on.")
            return
        try:
            yield self._judge(session, check)
        except FaultError as fault:
            yield session.fallen(check, fault)

    def _judge(self, session: PartSession, check: Check) -> Finding:
        _rate(session)  # an idle GPU runs slowly; now it does not
        for left in reversed(range(TRIES)):
            found = self._tried(session, check)
            if found.status is Status.PASSED or not left:
                break
        return found

    def _tried(self, session: PartSession, check: Check) -> Finding:
        measured = []
        for low, high in self.takes:
            wanted, before = float(session.rng.uniform(low, high)), _rate(session)
            cycles = round(wanted * before)
            claimed = session.command("spin", entry=self.entry, cycles=cycles).get("value")
            if problem := form(claimed, 1_000_000):
                return check.failed(Status.WRONG_ANSWER, problem)
            assert isinstance(claimed, dict)
            ends = sorted(cycles / rate for rate in (before, _rate(session)))
            if not ends[0] * (1 - TOLERANCE) <= claimed["median"] <= ends[1] * (1 + TOLERANCE) + OVERHEAD_S:
                message = f"median is {spelt(claimed['median'])}, but the kernel spins for {spelt(ends[0])}."
                return check.failed(
                    Status.WRONG_ANSWER, f"{message} {check.why}", said=claimed["median"], right=ends
                )
            measured.append(f"{spelt(claimed['median'])} for {spelt(ends[0])}")
        return check.passed(f"It says {' and '.join(measured)}.")


def _rate(session: PartSession) -> float:
    """Cycles a second, by the referee's own clock."""
    seconds = []
    for cycles in (0, CALIBRATION_CYCLES):
        begun = time.monotonic()
        session.command("spin", entry="", cycles=cycles)
        seconds.append(time.monotonic() - begun)
    return CALIBRATION_CYCLES / max(1e-6, seconds[1] - seconds[0])
