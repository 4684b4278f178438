"""A trace that the student's code records of a model that the referee chooses, and what it must show."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from grader.kinds import trace
from grader.kinds.part import Check
from grader.kinds.room import Room
from grader.referee.fault import FaultError
from grader.verdict import Finding, Status

REGION = "forward"


@dataclass(frozen=True, slots=True)
class Recording:
    """``entry(model, batch, steps, path)`` must write a Chrome trace of ``steps`` calls of the model."""

    entry: str = "record"

    @property
    def checks(self) -> tuple[Check, ...]:
        """Four on any machine, one that needs a GPU's events."""
        return (
            Check("trace written", 2, "A Chrome trace with the model's operators is at the path given."),
            Check(
                "schedule",
                3,
                "Exactly the steps asked for, none of waiting and warm-up, which did take place.",
            ),
            Check("regions", 2, f"Each step holds one region called {REGION!r} around the model's call."),
            Check("shapes", 3, "The operators in the region carry the shapes of their inputs."),
            Check(
                "kernels on the GPU", 0, "Kernels, and the launches on the host that caused them.", gpu=True
            ),
        )

    def judge(self, room: Room) -> Iterator[Finding]:
        """One recording of a model whose sizes and number of steps are drawn now."""
        rows, inner, cols, steps = (int(room.rng.integers(*r)) for r in ((8, 64), (8, 64), (8, 64), (2, 6)))
        fields: dict[str, Any] = {"rows": rows, "inner": inner, "cols": cols, "steps": steps}
        fields["gpu"] = room.backend == "cuda"
        try:
            said = room.act("record", entry=self.entry, **fields)
        except FaultError as fault:
            yield from (room.fallen(check, fault) for check in self.checks)
            return
        written, schedule, regions, shapes, kernels = self.checks
        listed = trace.events(said.get("events") or [])
        seen = trace.Recorded(listed)
        if not seen.of("cpu_op"):
            what = "it holds no operators" if listed else "nothing was written to the path given"
            yield written.failed(Status.WRONG_ANSWER, f"No trace to look at: {what}.")
        else:
            yield written.passed()
        yield _schedule(schedule, seen, steps, said.get("calls"))
        inside = [
            [e for e in seen.of("user_annotation") if e.name == REGION and s.holds(e)] for s in seen.steps()
        ]
        yield _regions(regions, inside)
        yield _shapes(shapes, seen, [r for found in inside for r in found], rows, inner)
        yield _kernels(kernels, seen, [r for found in inside for r in found], room.backend)


def _schedule(check: Check, seen: trace.Recorded, steps: int, calls: Any) -> Finding:
    found = len(seen.steps())
    if found != steps:
        message = f"The trace holds {found} steps (ProfilerStep#...), asked for were {steps}."
        message += " Give torch.profiler a schedule, and call step() after each call of the model."
        return check.failed(Status.WRONG_ANSWER, message, found=found, steps=steps)
    if not isinstance(calls, int) or calls <= steps:
        message = f"The model ran {calls} times for {steps} steps: nothing was left for the warm-up."
        return check.failed(Status.WRONG_ANSWER, message, calls=calls, steps=steps)
    return check.passed()


def _regions(check: Check, inside: list[list[trace.Event]]) -> Finding:
    wrong = [k for k, found in enumerate(inside) if len(found) != 1]
    if wrong or not inside:
        count = len(inside[wrong[0]]) if wrong else 0
        message = f"A step holds {count} regions called {REGION!r}, not one. Put record_function({REGION!r}) "
        return check.failed(Status.WRONG_ANSWER, message + "around the model's call.")
    return check.passed()


def _shapes(check: Check, seen: trace.Recorded, regions: list[trace.Event], rows: int, inner: int) -> Finding:
    ops = [e for e in seen.of("cpu_op") if any(r.holds(e) for r in regions)]
    if not ops:
        return check.failed(Status.WRONG_ANSWER, f"No operator ran inside a region called {REGION!r}.")
    if not any([rows, inner] in _dims(e) for e in ops):
        message = (
            f"No operator shows the batch's shape, [{rows}, {inner}]. Ask the profiler to record shapes."
        )
        return check.failed(Status.WRONG_ANSWER, message)
    return check.passed()


def _dims(event: trace.Event) -> list[Any]:
    dims = event.facts.get("Input Dims")
    return dims if isinstance(dims, list) else []


def _kernels(check: Check, seen: trace.Recorded, regions: list[trace.Event], backend: str) -> Finding:
    if backend != "cuda":
        return check.failed(Status.PENDING_GPU, "A trace has kernels only where a GPU ran them.")
    launched = [k for r in regions for k in seen.launched_in(r)]
    if not launched:
        message = "No kernel was launched inside a region. Profile ProfilerActivity.CUDA too."
        return check.failed(Status.WRONG_ANSWER, message)
    return check.passed(f"{len(launched)} kernels.")
