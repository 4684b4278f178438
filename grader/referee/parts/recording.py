"""Traces that the student's code records: of a model that the referee draws, and of one of the student's."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from grader.domain.part import Check
from grader.domain.verdict import Finding, Status
from grader.referee.fault import FaultError
from grader.referee.parts import trace_events

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.feedback.look.python_source import CallsInside
    from grader.protocol.wire import Json
    from grader.referee.parts.part_session import PartSession

REGION = "forward"
LAYERS = 2
MOST_NAME = 40  # characters of a name that a player tells
PRODUCTS = {"aten::linear", "aten::addmm", "aten::mm"}  # the drawn model's layer, eager or compiled
WAITS, WARMS = 1, 2  # steps, at least


@dataclass(frozen=True, slots=True)
class Recording:
    """``entry(model, batch, steps, path)`` must write a Chrome trace of ``steps`` calls of the model.

    ``own()`` gives a model of the student and a batch for it, which is recorded in the same way.
    """

    entry: str = "record"
    own: str = "mine"

    @property
    def checks(self) -> tuple[Check, ...]:
        """Five on any machine, one that needs a GPU's events."""
        return (
            Check("trace written", 2, "A Chrome trace with the model's operators is at the path given."),
            Check(
                "schedule",
                2,
                "Exactly the steps asked for, after one of waiting and two of warm-up, or more.",
            ),
            Check("regions", 2, f"Each step holds one region called {REGION!r} around the model's call."),
            Check("shapes", 2, "The operators in the region carry the shapes of their inputs."),
            Check(
                "own model",
                2,
                "The trace of a model of your own: every step, its region, its layers, the batch.",
            ),
            Check(
                "kernels on the GPU", 0, "Kernels, and the launches on the host that caused them.", gpu=True
            ),
        )

    def judge(self, session: PartSession) -> Iterator[Finding]:
        """A recording of a model whose sizes and number of steps are drawn now, then one of the student's."""
        rows, inner, cols, steps = (
            int(session.rng.integers(*r)) for r in ((8, 64), (8, 64), (8, 64), (6, 12))
        )
        gpu = session.backend == "cuda"
        try:
            claimed = session.command(
                "record", entry=self.entry, rows=rows, inner=inner, cols=cols, steps=steps, gpu=gpu
            )
        except FaultError as fault:
            yield from (session.fallen(check, fault) for check in self.checks)
            return
        written, schedule, regions, shapes, own, kernels = self.checks
        listed = trace_events.events(claimed.get("events") or [])
        seen = trace_events.Recorded(listed)
        code = session.calls_in(self.entry)
        if _device_alone(claimed):
            line = f"Line {code.keywords.get(('profile', 'activities'), code.line)}: " if code else ""
            message = (
                f"{line}These `activities` leave the host out, and operators and regions are its events: "
                "a GPU's trace would hold none. Ask for `ProfilerActivity.CPU` as well."
            )
            yield written.failed(Status.WRONG_ANSWER, message, known=bool(code))
            others = self.checks[1:] if gpu else self.checks[1:-1]
            yield from (c.failed(Status.NOT_RUN, "Not looked at: there is no trace.") for c in others)
            if not gpu:
                yield _kernels(kernels, seen, [], session.backend)
            return
        if not seen.of_kind("cpu_op"):
            what = "it holds no operators" if listed else "nothing was written to the path given"
            why = _unwritten(code, claimed.get("calls"), steps)
            known = {"known": True} if why else {}
            yield written.failed(Status.WRONG_ANSWER, f"{why}No trace to look at: {what}.", **known)
        else:
            yield written.passed()
        inside = _inside(seen)
        if seen.of_kind("cpu_op"):
            plan = (claimed.get("prepared"), claimed.get("started"))
            yield _schedule(schedule, seen, steps, claimed.get("calls"), code, plan)
            found = _regions(regions, seen, inside, code)
            yield _model_kept(regions, claimed, code) if found.ok else found
            yield _shapes(shapes, seen, [r for found in inside for r in found], [rows, inner], code)
        else:
            yield from (
                c.failed(Status.NOT_RUN, "Not looked at: there is no trace.")
                for c in (schedule, regions, shapes)
            )
        yield self._own(own, session, gpu=gpu, written=bool(seen.of_kind("cpu_op")))
        yield _kernels(kernels, seen, [r for found in inside for r in found], session.backend)

    def _own(self, check: Check, session: PartSession, *, gpu: bool, written: bool) -> Finding:
        steps = int(session.rng.integers(2, 5))
        try:
            claimed = session.command("record", entry=self.entry, own=self.own, steps=steps, gpu=gpu)
        except FaultError as fault:
            line = session.line_of(self.own, result=True)
            if line and "unpack" in fault.message:
                message = (
                    f"Line {line}: {self.own}() must return two things, a model and a batch for it: "
                    f"`return model, batch`. ({fault.message})"
                )
                return check.failed(Status.WRONG_ANSWER, message)
            return session.fallen(check, fault)
        layers, batch = claimed.get("layers"), claimed.get("batch")
        if not isinstance(layers, int) or layers < LAYERS:
            line = session.line_of(self.own, result=True)
            message = f"Line {line}: " if line else ""
            message += f"{self.own}() must return a model of {LAYERS} layers or more, and a batch for it"
            idle = claimed.get("idle")
            more = f", and {idle} that did not run" if isinstance(idle, int) and idle else ""
            message += (
                f"; this model has {layers}{more}." if isinstance(layers, int) else _other_types(claimed)
            )
            return check.failed(Status.WRONG_ANSWER, message, layers=layers, known="wrong order" in message)
        if isinstance(batch, list) and 0 in batch:
            message = f"The batch of {self.own}() has no elements: its shape is {batch}. {check.why}"
            return check.failed(Status.WRONG_ANSWER, message, known=True)
        seen = trace_events.Recorded(trace_events.events(claimed.get("events") or []))
        if not seen.of_kind("cpu_op"):
            return _no_own(check, seen, written=written)
        found = [region for inside in _inside(seen) for region in inside]
        ops = [e for e in seen.of_kind("cpu_op") if any(r.holds(e) for r in found)]
        wrong = ""
        if not len(found) == len(seen.steps()) == steps:
            wrong = f"{len(found)} regions called {REGION!r} in {len(seen.steps())} steps, not {steps}"
        elif not any(batch in e.shapes for e in ops):
            wrong = f"no operator with the batch's shape, {batch}"
        elif len({e.name for e in ops}) < layers:
            wrong = f"{len({e.name for e in ops})} kinds of operators in its regions, for {layers} layers"
        if wrong:
            return check.failed(
                Status.WRONG_ANSWER, f"The trace of your own model holds {wrong}. {check.why}"
            )
        return check.passed(f"{layers} layers, {len(ops)} operators in {steps} steps.")


def _device_alone(claimed: Json) -> bool:
    """Whether the profiler was asked for the device's events and not for the host's."""
    asked = claimed.get("asked")
    return isinstance(asked, list) and "CUDA" in asked and "CPU" not in asked


def _other_types(claimed: Json) -> str:
    """What was handed back in place of a model and a batch, as the end of a sentence."""
    returned = claimed.get("returned")
    if not isinstance(returned, list) or len(returned) != 2:
        return "."
    first, second = (str(one)[:MOST_NAME] for one in returned)
    swapped = " The two stand in the wrong order." if first == "Tensor" != second else ""
    return f"; what it returns begins with a {first} and ends with a {second}.{swapped}"


def _no_own(check: Check, seen: trace_events.Recorded, *, written: bool) -> Finding:
    """No trace of the student's own model; ``written``: whether there is one of the first model."""
    if not written:
        return check.failed(Status.NOT_RUN, "Not looked at: there is no trace.")
    what = "holds no operators" if seen.all else "was not written to the path given"
    message = f"The trace of your own model {what}; that of the model before was right in this."
    return check.failed(Status.WRONG_ANSWER, f"{message} {check.why}")


def _inside(seen: trace_events.Recorded) -> list[list[trace_events.TraceEvent]]:
    """The regions of each step."""
    named = [e for e in seen.of_kind("user_annotation") if e.name == REGION]
    return [[e for e in named if s.holds(e)] for s in seen.steps()]


def _unwritten(code: CallsInside | None, calls: Any, steps: int) -> str:
    """Why nothing was written, by the text of the function and by how often the model ran; "" if unknown."""
    if code is None:
        return ""
    names, at = code.names, code.names.get("profile", code.line)
    loop = code.loops[0] if code.loops else at
    given = {keyword for name, keyword in code.keywords if name == "profile"}
    if "profile" not in names:
        return f"Line {code.line}: no profiler is opened here; `with profile(...) as profiler:` does. "
    if "on_trace_ready" not in given and "export_chrome_trace" not in names:
        return (
            f"Line {at}: nothing writes the trace. Hand profile an `on_trace_ready` that calls "
            "`export_chrome_trace(path)`. "
        )
    if "schedule" in given and "step" not in names:
        name = code.bound.get("profile", "profiler")
        return (
            f"Line {loop}: nothing calls `{name}.step()` after the model, so the profiler never leaves the "
            "first step of its schedule. "
        )
    if "schedule" in given and code.loops and "step" not in code.looped:
        return (
            f"Line {names['step']}: this step() stands outside of the loop and is called once. The profiler "
            "must be told after each call of the model. "
        )
    if calls == 0:
        return f"Line {loop}: the model was never called, so there is nothing to record. "
    if isinstance(calls, int) and calls < _needed(code, steps):
        return (
            f"Line {loop}: the model ran {calls} times, and {steps} steps are to be recorded after those of "
            f"waiting and warm-up: the schedule never got to its end.{_turns(code)} "
        )
    return ""


def _schedule(
    check: Check,
    seen: trace_events.Recorded,
    steps: int,
    calls: Any,
    code: CallsInside | None,
    plan: tuple[Any, Any],
) -> Finding:
    """``plan``: after how many calls the profiler was told to warm up, and to record."""
    found = len(seen.steps())
    if found != steps:
        held = "1 step" if found == 1 else f"{found} steps"
        message = f"The trace holds {held} (ProfilerStep#...), asked for were {steps}."
        at = code.names.get("profile", code.line) if code else 0
        if code and ("profile", "schedule") not in code.keywords:
            message = f"Line {at}: this profile(...) has no `schedule`, so nothing is a step of it. {message}"
        elif code and "step" not in code.names:
            message = f"Line {at}: nothing calls `step()` after the model. {message}"
        elif code and isinstance(calls, int) and calls < _needed(code, steps):
            at = code.loops[0] if code.loops else at
            message = (
                f"Line {at}: the model ran {calls} times, and after the steps of waiting and warm-up "
                f"{steps} are to be recorded.{_turns(code)}"
            )
        elif code and "schedule" in code.names:
            at = code.keywords.get(("schedule", "active"), code.names["schedule"])
            message = (
                f"Line {at}: {message} `active` is how many steps are recorded, after those of `wait` and "
                "`warmup`: it must be as many as are asked for, and the loop must have as many turns as all "
                "three together."
            )
        else:
            message += " Give torch.profiler a schedule, and call step() after each call of the model."
        return check.failed(Status.WRONG_ANSWER, message, found=found, steps=steps, known=bool(code))
    if not isinstance(calls, int) or calls <= steps:
        line = f"Line {code.keywords.get(('schedule', 'warmup'), code.line)}: " if code else ""
        message = f"{line}The model ran {calls} times for {steps} steps: nothing was left for the warm-up."
        return check.failed(Status.WRONG_ANSWER, message, calls=calls, steps=steps, known=bool(code))
    first = re.search(r"#(\d{1,9})$", seen.steps()[0].name) if seen.steps() else None
    if first and isinstance(plan[1], int) and int(first[1]) >= plan[1] + steps:
        line = f"Line {code.names.get('schedule', code.line)}: " if code else ""
        message = (
            f"{line}The trace holds the steps from #{first[1]} on, and the first recorded one was "
            f"#{plan[1]}: the schedule has begun again, and what it recorded then has taken the place of the "
            "first. Give it `repeat=1`, and the loop no more turns than `wait`, `warmup` and `active` have "
            "together."
        )
        return check.failed(Status.WRONG_ANSWER, message, known=bool(code))
    waited, started = (n if isinstance(n, int) else 0 for n in plan)
    warmed = started - waited
    if waited < WAITS or warmed < WARMS:
        word = "wait" if waited < WAITS else "warmup"
        line = f"Line {code.keywords.get(('schedule', word), code.line)}: " if code else ""
        message = (
            f"{line}Before the first recorded step the model runs {_often(waited)} while this profiler waits "
            f"and {_often(warmed)} while it warms up. Asked for are {WAITS} and {WARMS}, or more: "
            f"`schedule(wait={WAITS}, warmup={WARMS}, ...)`, and a call of the model in each of these steps."
        )
        return check.failed(Status.WRONG_ANSWER, message, waited=waited, warmed=warmed, known=bool(code))
    return check.passed()


def _often(times: int) -> str:
    return {0: "not at all", 1: "once"}.get(times, f"{times} times")


def _needed(code: CallsInside, steps: int) -> int:
    """How often the model must run for so many ``steps`` to be recorded, as far as the text tells."""
    before = [code.values.get(("schedule", word), "") for word in ("wait", "warmup")]
    if _turns(code) and all(re.fullmatch(r"\d{1,3}", one) for one in before):
        return sum(map(int, before)) + steps
    return steps + 1


def _turns(code: CallsInside) -> str:
    """How many turns the loop must have, by what the schedule is given; "" if that is no help."""
    given = [code.values.get(("schedule", word), "") for word in ("wait", "warmup", "active")]
    if not all(given) or given[2].isdecimal():  # the number of steps is the caller's
        return ""
    return f" The loop needs `{' + '.join(given)}` turns: those of `wait`, `warmup` and `active` together."


def _regions(
    check: Check,
    seen: trace_events.Recorded,
    inside: list[list[trace_events.TraceEvent]],
    code: CallsInside | None,
) -> Finding:
    steps = seen.steps()
    wrong = [k for k, found in enumerate(inside) if len(found) != 1]
    if wrong or not inside:
        count = len(inside[wrong[0]]) if wrong else 0
        line = f"Line {code.names.get('record_function', code.line)}: " if code else ""
        if code and "record_function" in code.around:
            message = (
                f"{line}This region is opened once, around the loop; each step needs one of its own. Move "
                f"`with {code.heads['record_function']}:` into the loop, around the model's call."
            )
            return check.failed(Status.WRONG_ANSWER, message, known=bool(code))
        known = _misnamed(code)
        if not known and len(wrong) < len(inside) and not count:
            right = len(inside) - len(wrong)
            known = (
                f"{right} of the {len(inside)} steps hold one: has the loop as many turns as the schedule?"
            )
        how = known or f"Put `with record_function({REGION!r}):` around the model's call."
        message = f"{line}A step holds {count} regions called {REGION!r}, not one. {how}"
        return check.failed(Status.WRONG_ANSWER, message, known=bool(code))
    if any(found[0].end > step.end for found, step in zip(inside, steps, strict=True)):
        line = f"Line {code.names.get('step', code.line)}: " if code else ""
        message = (
            f"{line}A region called {REGION!r} is still open when its step ends: `step()` is called "
            "inside of it. Call it after the region, which is around the model's call alone."
        )
        return check.failed(Status.WRONG_ANSWER, message, known=bool(code))
    ops = [e for e in seen.of_kind("cpu_op") if e.name in PRODUCTS]
    if not all(any(found[0].holds(e) for e in ops) for found in inside):
        message = _outside(code) or (
            f"The model did not run inside of the region called {REGION!r}: its call belongs there."
        )
        return check.failed(Status.WRONG_ANSWER, message, known=bool(code))
    return check.passed()


def _model_kept(check: Check, claimed: Json, code: CallsInside | None) -> Finding:
    """Passed, unless more was done to the model than to call it."""
    line = f"Line {code.line}: " if code else ""
    if claimed.get("derived") is True:
        message = (
            f"{line}Afterwards the model's parameters have gradients: the region is around the model's call, "
            "and around nothing else."
        )
        return check.failed(Status.WRONG_ANSWER, message)
    if claimed.get("evaluates") is True:
        message = (
            f"{line}The model came in training mode and was left in that of evaluation, in which other "
            "operators run: record it as it comes."
        )
        return check.failed(Status.WRONG_ANSWER, message)
    return check.passed()


def _outside(code: CallsInside | None) -> str:
    """The model's call that is not in the body of the region's ``with``; "" if the text shows none such."""
    at = code.names.get("record_function") if code else None
    if code is None or at is None or "record_function" not in code.inside or not code.first:
        return ""
    model = code.first
    if model not in code.names or model in code.inside["record_function"]:
        return ""
    return (
        f"Line {code.names[model]}: `{code.calls[model]}` stands outside of the `with` of line {at}, the "
        f"region called {REGION!r}; indent it into that `with`."
    )


def _misnamed(code: CallsInside | None) -> str:
    """What is wrong with the one region that the text makes; "" if that is unknown."""
    if code is None or "record_function" not in code.names:
        return ""
    if "record_function" in code.alone:
        return (
            "`record_function(...)` as a statement of its own makes a region and does not open it: write "
            f"`with record_function({REGION!r}):`, and indent the model's call below it."
        )
    name = code.texts.get("record_function", REGION)
    return (
        f"Here the region is called {name!r}, and the name asked for is {REGION!r}." if name != REGION else ""
    )


def _shapes(
    check: Check,
    seen: trace_events.Recorded,
    regions: list[trace_events.TraceEvent],
    shape: list[int],
    code: CallsInside | None,
) -> Finding:
    ops = [e for e in seen.of_kind("cpu_op") if any(r.holds(e) for r in regions)]
    if not ops and not regions:
        return check.failed(Status.NOT_RUN, f"Not looked at: no step holds a region called {REGION!r}.")
    if not ops:
        message = f"Not looked at: no operator ran inside a region called {REGION!r}."
        return check.failed(Status.NOT_RUN, message)
    if not any(shape in e.shapes for e in ops):
        at = code.names.get("profile", code.line) if code else 0
        line = f"Line {code.keywords.get(('profile', 'record_shapes'), at)}: " if code else ""
        message = (
            f"{line}No operator shows the batch's shape, {shape}. Ask the profiler for shapes: "
            "`record_shapes=True`."
        )
        return check.failed(Status.WRONG_ANSWER, message, known=bool(code))
    return check.passed()


def _kernels(
    check: Check, seen: trace_events.Recorded, regions: list[trace_events.TraceEvent], backend: str
) -> Finding:
    if backend != "cuda":
        return check.failed(Status.PENDING_GPU, "A trace has kernels only where a GPU ran them.")
    launched = [k for r in regions for k in seen.launched_in(r)]
    if not launched:
        message = "No kernel was launched inside a region. Profile ProfilerActivity.CUDA too."
        return check.failed(Status.WRONG_ANSWER, message)
    return check.passed(f"{len(launched)} kernels.")
