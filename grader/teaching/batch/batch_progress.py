"""What a person sees while a class is graded; a line a grading where nobody watches."""

from __future__ import annotations

import sys
import time
from collections import Counter, deque
from typing import TYPE_CHECKING, Protocol

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from grader.domain.verdict import Status, Verdict

if TYPE_CHECKING:
    from types import TracebackType

WINDOW = 30  # the last gradings decide how long the rest will take


class Listener(Protocol):
    """Who is told what becomes of the gradings."""

    def say(self, text: str) -> None:
        """One sentence for the person who started it."""

    def done(self, who: str, verdict: Verdict) -> None:
        """A grading is over and kept."""


class Rate:
    """Gradings a second, from the last few, and the seconds that the rest will take."""

    def __init__(self) -> None:
        self._ends: deque[float] = deque([time.monotonic()], maxlen=WINDOW + 1)

    def count(self) -> None:
        """One more is over."""
        self._ends.append(time.monotonic())

    @property
    def a_second(self) -> float:
        """0.0 until one is over."""
        span = self._ends[-1] - self._ends[0]
        return (len(self._ends) - 1) / span if span > 0 else 0.0


class Bar:
    """Rich's progress on standard error: how many, how fast, how long still, what failed so far."""

    def __init__(self, total: int) -> None:
        self._console = Console(stderr=True, highlight=False)
        self._rate, self._counts, self._total, self._over = Rate(), Counter[str](), total, 0
        self._progress = Progress(
            TextColumn("grading"), BarColumn(bar_width=None), MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"), TextColumn("{task.fields[left]}"), TimeElapsedColumn(),
            TextColumn("{task.fields[failures]}", style="yellow"),
            console=self._console, transient=False,
        )  # fmt: skip
        self._task = self._progress.add_task("", total=total, rate="", left="", failures="")

    def __enter__(self) -> Bar:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def say(self, text: str) -> None:
        """Above the bar."""
        self._progress.console.print(text, style="dim")

    def done(self, who: str, verdict: Verdict) -> None:
        """One step further."""
        self._over += 1
        self._rate.count()
        if not verdict.ok:
            self._counts[str(verdict.status)] += 1
            if verdict.status is Status.NOT_GRADABLE:
                self.say(f"{who}: {verdict.findings[0].message}")
        common = ", ".join(f"{n} {status}" for status, n in self._counts.most_common(3))
        speed = self._rate.a_second
        self._progress.update(
            self._task, completed=self._over, rate=f"{60 * speed:.0f} a minute",
            left=remaining((self._total - self._over) / speed if speed else 0.0), failures=common,
        )  # fmt: skip


class Lines:
    """A line a grading, for logs; quiet: only what goes wrong with the grader itself."""

    def __init__(self, total: int, *, quiet: bool = False) -> None:
        self._total, self._quiet, self._over = total, quiet, 0

    def __enter__(self) -> Lines:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def say(self, text: str) -> None:
        """A line of its own."""
        if not self._quiet:
            print(text, file=sys.stderr, flush=True)

    def done(self, who: str, verdict: Verdict) -> None:
        """Who, what, how long."""
        self._over += 1
        if self._quiet and verdict.status is not Status.NOT_GRADABLE:
            return
        points = f"{verdict.points}/{verdict.max_points}"
        print(
            f"[{self._over}/{self._total}] {who} {verdict.lesson[:2]}: {verdict.status} {points}, "
            f"{verdict.seconds:.1f} s", file=sys.stderr, flush=True,
        )  # fmt: skip


def remaining(seconds: float) -> str:
    """How long still, in the words that one would use."""
    if seconds < 90:
        return f"{seconds:.0f} s left"
    return f"{seconds / 60:.0f} min left" if seconds < 5400 else f"{seconds / 3600:.1f} h left"


def listener(total: int, *, quiet: bool) -> Bar | Lines:
    """A bar for a person at a terminal, lines for a file or a pipe."""
    return Bar(total) if sys.stderr.isatty() and not quiet else Lines(total, quiet=quiet)
