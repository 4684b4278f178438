"""How long a player may take: seconds on the clock, and more of them where other work had the processor.

A limit is about the submission, not about what else the machine does. So a player that is late, but has been
running and has had less of a processor than its limit, goes on. One that sleeps gains nothing by it, and none
gets more than ``MOST`` times its limit.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

MOST = 4
SLICE_S = 1.0
RUNNING = 0.05  # of the time that has passed: what has had less of a processor than this share sleeps


class TimeLimit:
    """The time for one answer.

    Args:
        seconds: On the clock; and, of a processor, where there is not one for everybody.
        processor_s: Seconds of a processor that the player's processes have had so far, all together.
    """

    def __init__(
        self, seconds: float, processor_s: Callable[[], float], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._seconds, self._processor_s, self._clock = seconds, processor_s, clock
        self._looked = clock()
        self._last = self._at_first = processor_s()
        self._end, self._granted = self._looked + seconds, 0.0
        self._paused = self._looked, self._last

    def pause(self) -> None:
        """What passes from now on does not count."""
        self._paused = self._clock(), self._processor_s()

    def resume(self) -> None:
        """It counts again."""
        since, used = self._paused
        self._end += self._clock() - since
        self._at_first += self._processor_s() - used

    def left_s(self) -> float:
        """Seconds until it is over, or until this must be asked again; 0 once it is over."""
        left = self._end - self._clock()
        return left if left > 0 else self._more()

    def _more(self) -> float:
        now, used = self._clock(), self._processor_s()
        runs = used - self._last >= RUNNING * (now - self._looked)
        self._looked, self._last = now, used
        short = self._seconds - (used - self._at_first)
        seconds = min(SLICE_S, short, (MOST - 1) * self._seconds - self._granted)
        if not runs or seconds <= 0:
            return 0.0
        self._granted += seconds
        self._end = now + seconds
        return seconds
