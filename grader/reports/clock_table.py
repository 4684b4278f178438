"""How a speed was measured: every contender with its interval, the machine, and what may be said of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from grader.domain.installation import document
from grader.domain.speed import Machine, Measured, NoSpeed, Predicted, Spread

if TYPE_CHECKING:
    from rich.console import Console

    from grader.domain.task import Task
    from grader.domain.verdict import Verdict

WITHOUT = "Time needs a GPU's clock: nothing is timed on this machine."


def show(console: Console, verdict: Verdict, task: Task) -> None:
    """The measurement as a table; without one the reason, and what was predicted instead."""
    speed = verdict.speed
    if not isinstance(speed, Measured):
        console.print(Text(_why_not(verdict, task), "yellow"))
        return
    grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in ("beside", "median", "p10 to p90", "calls", "times as fast", "95 % interval", ""):
        grid.add_column(name, justify="left" if name in ("beside", "") else "right")
    grid.add_row("this file", *_times(speed.seconds), "", "", "")
    for name, found in speed.baselines.items():
        low, high = found.interval
        ratio, between = f"{found.ratio:.4f}", f"{low:.4f} to {high:.4f}"
        grid.add_row(_named(name), *_times(found.seconds), ratio, between, found.outcome)
    console.print(grid)
    if not speed.claimed:
        console.print(Text(speed.why, "yellow"))
    console.print(Text(_about(speed), "dim"))


def _why_not(verdict: Verdict, task: Task) -> str:
    speed = verdict.speed
    if task.speed is None and not speed and task.cases:
        return "This task is not about speed: it has no size to time."
    if isinstance(speed, NoSpeed):
        return f"{WITHOUT} {speed.why}" if "no prediction" in speed.why else f"Not timed: {speed.why}"
    if isinstance(speed, Predicted):
        return (
            f"{WITHOUT} Predicted for {speed.device} from what was counted: "
            f"{speed.kernel_seconds * 1e6:.1f} us for the kernels, "
            f"{speed.eager_kernel_seconds * 1e6:.1f} us for those of PyTorch that they replace. "
            f"{_limits(speed)}How far to trust it: {document('guide/prediction')}."
        )
    return "Not timed: a file is timed once every check passes."


def _limits(speed: Predicted) -> str:
    """What holds the kernels up, in their order."""
    parts = list(dict.fromkeys(speed.limits or []))
    return f"What takes the longest: {', '.join(parts)}. " if parts else ""


def _named(name: str) -> str:
    known = {
        "eager": "eager PyTorch", "copy": "a copy of the same bytes", "solution": "the course's solution",
    }  # fmt: skip
    return known.get(name, f"torch.compile, {name}")


def _times(spread: Spread) -> tuple[str, str, str]:
    unit, scale = ("ms", 1e3) if spread.median >= 1e-3 else ("us", 1e6)
    low, high = spread.p10 * scale, spread.p90 * scale
    return f"{spread.median * scale:.4g} {unit}", f"{low:.4g} to {high:.4g}", f"{spread.n}"


def _about(speed: Measured) -> str:
    text = f"{speed.device}, {speed.rounds} rounds, {speed.compared} timed results compared"
    return f"{text}{_state(speed.machine)}. {speed.method}."


def _state(machine: Machine) -> str:
    if not (machine.sm_mhz and machine.celsius):
        return ""
    (slow, fast), (cold, warm) = machine.sm_mhz, machine.celsius
    text = f"; {slow} to {fast} MHz, {cold} to {warm} C, driver {machine.driver}"
    return text + (f", throttled: {', '.join(machine.throttled)}" if machine.throttled else "")
