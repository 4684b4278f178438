"""A student's own log of tries: ``work/tries.jsonl``, a line a grading, kept once the student has agreed.

    {"at":"2026-11-26T19:10:00Z","agreed":true}
    {"at":"2026-11-26T19:12:41Z","lesson":"07_fused_bias_relu","left":["ragged edges","one row"]}

Whoever reads one that was handed in reads a claim: the student may have written anything into it. So it is
read up to a size, line by line, and what is not such a line is passed over and counted.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import msgspec
from msgspec import Meta

from grader.domain import typed_data

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

NAME = "tries.jsonl"
MOST_BYTES = 1 << 20  # about 5,000 tries; nothing is written or read beyond it
MOST_LINE = 4096
PAUSE_S = 15 * 60.0  # more between two tries was no work on the second

CheckName = Annotated[str, Meta(min_length=1, max_length=120)]


class LogLine(msgspec.Struct, frozen=True, omit_defaults=True):
    """A try, or with ``agreed`` the moment at which the student agreed to the log or took that back.

    ``left``: names of the checks that the try did not pass, the one to mend first in front.
    """

    at: Annotated[datetime, Meta(tz=True)]
    lesson: Annotated[str, Meta(max_length=60, pattern=r"^(\d\d_[a-z0-9_]+)?$")] = ""
    left: Annotated[tuple[CheckName, ...], Meta(max_length=100)] = ()
    agreed: bool | None = None

    def text(self) -> bytes:
        """As it stands in the file, with its end."""
        return msgspec.json.encode(self) + b"\n"


@dataclass(frozen=True, slots=True)
class TryLog:
    """What a log holds: its lines in their order, and how many others there are."""

    lines: tuple[LogLine, ...] = ()
    others: int = 0

    @property
    def agreed(self) -> bool:
        """Whether the student agrees now."""
        said = [line.agreed for line in self.lines if line.agreed is not None]
        return bool(said) and said[-1] is True


@dataclass(slots=True)
class LessonTries:
    """What a log says of one lesson.

    ``seconds``: between tries of it, without pauses. ``failed``: in how many tries a check was not passed.
    ``check_s``: of these seconds, those for which it was the check to mend first.
    """

    tries: int = 0
    seconds: float = 0.0
    failed: Counter[str] = field(default_factory=Counter)
    check_s: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))


def read(path: Path) -> TryLog:
    """The log of a file, empty where it cannot be read; nothing in a file is an error."""
    lines, others = [], 0
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES)
    except OSError:
        return TryLog()
    for raw in data.split(b"\n"):
        if not raw.strip():
            continue
        try:
            if len(raw) > MOST_LINE:
                raise ValueError
            lines.append(typed_data.decode(raw, LogLine))
        except (ValueError, RecursionError):
            others += 1
    return TryLog(tuple(lines), others)


def by_lesson(lines: Iterable[LogLine]) -> dict[str, LessonTries]:
    """Tries and time of each lesson that the lines speak of."""
    found: dict[str, LessonTries] = {}
    before: LogLine | None = None
    for line in lines:
        if not line.lesson:
            before = None
            continue
        mine = found.setdefault(line.lesson, LessonTries())
        mine.tries += 1
        mine.failed.update(tuple(dict.fromkeys(line.left)))
        if before and before.lesson == line.lesson:
            passed_s = (line.at - before.at).total_seconds()
            if 0 < passed_s <= PAUSE_S:
                mine.seconds += passed_s
                if before.left:
                    mine.check_s[before.left[0]] += passed_s
        before = line
    return found
