"""What being late costs: a percentage of the earned points for each day begun, up to a maximum."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from grader.domain.errors import BadInputError

if TYPE_CHECKING:
    from collections.abc import Iterable

DAY = 86_400.0
# What is no grade before the teacher says so: no file, a file that is none, points that wait for a GPU.
FINAL = ("missing", "refused", "open")


@dataclass(frozen=True, slots=True)
class Policy:
    """``due`` as Unix time, or None; ``grace`` seconds cost nothing; percentages of what was earned.

    ``final``: of ``FINAL``, what the teacher has declared to count although a person could look at it first.
    """

    due: float | None = None
    percent_a_day: float = 0.0
    most_percent: float = 100.0
    grace: float = 0.0
    final: tuple[str, ...] = ()

    def seconds(self, when: float | None, *, marked: bool) -> float:
        """How late, 0.0 in time. A platform's mark alone counts as a moment after the end of the grace."""
        if self.due is not None and when is not None:
            return max(0.0, when - self.due)
        return self.grace + 1.0 if marked else 0.0

    def penalty(self, earned: int, seconds: float) -> int:
        """Whole points taken off, rounded in the student's favour."""
        over = seconds - self.grace
        if over <= 0 or not self.percent_a_day:
            return 0
        percent = min(self.most_percent, self.percent_a_day * math.ceil(over / DAY))
        return math.floor(earned * percent / 100 + 1e-9)


def parse(due: str, late: str, grace: float = 0.0, final: Iterable[str] = ()) -> Policy:
    """The policy of ``--due 2026-11-20T23:59``, ``--late 10%`` or ``--late 10%,50%``, minutes of grace, and
    the words of ``--final``.

    A time without a zone is this machine's own. BadInputError for anything else.
    """
    moment = None
    kept = tuple(dict.fromkeys(final))
    if unknown := [word for word in kept if word not in FINAL]:
        raise BadInputError(f"--final {unknown[0]!r} is none of {', '.join(FINAL)}.")
    if due:
        try:
            moment = datetime.fromisoformat(due).timestamp()
        except ValueError as error:
            raise BadInputError(f"--due {due!r} is not a date; write it as 2026-11-20T23:59.") from error
    if not late:
        return Policy(moment, grace=grace * 60, final=kept)
    match = re.fullmatch(r"(\d+(?:\.\d+)?)%?(?:/day)?(?:,\s*(\d+(?:\.\d+)?)%?)?", late.strip())
    if match is None or float(match[1]) > 100:
        raise BadInputError(
            f"--late {late!r} is not a late policy; 10%,50% takes 10 % a day off, 50 % at most."
        )
    return Policy(moment, float(match[1]), min(100.0, float(match[2] or 100)), grace * 60, kept)


def words(seconds: float) -> str:
    """How late, as a teacher says it."""
    days, rest = divmod(int(seconds), int(DAY))
    hours, minutes = rest // 3600, rest % 3600 // 60
    parts = [f"{days} d" if days else "", f"{hours} h" if hours else "", f"{minutes} min" if minutes else ""]
    return " ".join(p for p in parts if p) or "less than a minute"
