"""Facts about timers and benchmarks, from the student's Python: what lies between its clocks. See ``facts.py``.

Which of them is said depends on the numbers that the referee holds: what the kernel took, what was answered,
what was made difficult (``evidence`` of a finding of :mod:`grader.referee.parts.timers`).
"""

from __future__ import annotations

import ast
import itertools
import math
import re
from collections import Counter
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from grader.domain.verdict import Evidence, Finding, Status
from grader.feedback.explain import left_out
from grader.feedback.explain.indices import told
from grader.feedback.explain.source_text import Fact, Finder, SubmissionText, operation, read, segment

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from grader.feedback.explain.engine import Explanation

CLOCKS = {"perf_counter", "perf_counter_ns", "time", "time_ns", "monotonic", "monotonic_ns", "process_time"}
LOOPS = (ast.For, ast.While, ast.ListComp, ast.GeneratorExp, ast.SetComp)
INNER = (ast.Lambda, ast.FunctionDef)
IN_CACHE = 4  # inputs that lie in the cache together
MOST_TAKEN = 20  # values that are worked out once and looked at
SHORT = 1e-4  # seconds below which the cost of a launch or a wait is seen
FIELDS = ("median", "p10", "p90", "n")
SHARE = {"median": 0.5, "p10": 0.1, "p90": 0.9}
WORDS = {"median": "median", "p10": "10th percentile", "p90": "90th percentile"}
BARE = {
    "synchronize",
    "step",
    "record",
    "start",
    "stop",
    "close",
    "fn",
    "kernel_fn",
    "zero_grad",
    "eval",
    "wait",
}
UNITS = {"elapsed_time": "milliseconds", "_ns": "nanoseconds"}
MEANS = {"mean", "fmean", "average", "nanmean"}


def events(finding: Finding, source: str) -> Explanation | None:
    """Why CUDA's events gave no time, from the text: a wait, a record or ``enable_timing`` is missing."""
    return next((told(fact, source, "04") for fact in _refused(read(source), finding)), None)


def _refused(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    if text.tree is None:
        return
    asked = [n for n in _ordered(text.tree) if _called(n) == "elapsed_time"]
    recorded = {ast.unparse(n.func.value) for n in text.nodes
                if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and n.func.attr == "record"}  # fmt: skip
    if "not ready" in finding.message:
        yield from _bare(text, finding)
        at = _raised(finding) or (asked[0].lineno if asked else 0)
        for node in _ordered(text.tree):
            if isinstance(node, ast.Call) and _called(node) == "synchronize" and node.lineno < at:
                assert isinstance(node.func, ast.Attribute)
                waits = ast.unparse(node.func.value)
                if re.match(r"\w+$|\w+\[", waits) and not re.search(r"stream|device|torch|cuda", waits, re.I):
                    yield Fact("not-ready", node.lineno,
                               f"`{waits}.synchronize()` waits for this one event alone, and line {at} asks for one that the device reaches later.",
                               "Wait for the last event that was recorded, or for everything: `torch.cuda.synchronize()`.")  # fmt: skip
        cause = (
            "elapsed_time is asked for an event that the device has not reached. A launch and a record only queue "
            "work, and nothing has waited for this event since it was recorded."
        )
        yield Fact("not-ready", at, cause,
                   "Wait once, after all calls and before the first elapsed_time: `torch.cuda.synchronize()`.")  # fmt: skip
    elif "must be recorded" in finding.message:
        yield from _bare(text, finding)
        for node in asked:
            assert isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
            for event in (node.func.value, *node.args):
                name = ast.unparse(event)
                if isinstance(event, ast.Name) and name not in recorded:
                    yield Fact("not-recorded", node.lineno, f"{name} is never recorded, so it holds no time.",
                               f"Record it where its time is to be taken: `{name}.record()`.")  # fmt: skip
    else:
        for node in _ordered(text.tree):
            given = {k.arg: ast.unparse(k.value) for k in node.keywords} if isinstance(node, ast.Call) else {}
            plain = isinstance(node, ast.Call) and _called(node) == "Event" and not node.args
            if plain and given.get("enable_timing", "False") == "False":
                cause = (
                    "This event is made without enable_timing=True: it can be waited for, and keeps no time."
                )
                yield Fact("event-timing", node.lineno, cause,
                           "Make both events with `torch.cuda.Event(enable_timing=True)`.")  # fmt: skip


def _raised(finding: Finding) -> int:
    """The line of the student's file at which it raised; 0 if unknown."""
    where = finding.evidence.get("where")
    last = where[-1] if isinstance(where, list) and where and isinstance(where[-1], dict) else {}
    line = last.get("line")
    return line if isinstance(line, int) and not isinstance(line, bool) else 0


def _bare(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """A name as a statement: what was to be called is not."""
    nodes = list(_ordered(text.tree)) if text.tree else []
    called = {ast.unparse(n.func) for n in nodes if isinstance(n, ast.Call)}
    given = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)} - called
    for node in nodes:
        if isinstance(node, ast.Expr) and isinstance(node.value, (ast.Name, ast.Attribute)):
            name = ast.unparse(node.value)
            if name in given:
                continue  # a variable that nobody calls: it may be no function
            cause = (
                f"`{name}` without brackets names a function and does not call it, so this line does nothing."
            )
            yield Fact("not-called", node.lineno, cause, _call_it(text, name))


def _call_it(text: SubmissionText, name: str) -> str:
    """What to write in place of ``name``; without its arguments where these are not known."""
    calls = [n for n in text.nodes if isinstance(n, ast.Call)]
    same = {ast.unparse(n) for n in calls if ast.unparse(n.func) == name}
    made = [f for f in _functions(text.tree).values() if f.name == name] if text.tree else []
    if name.rpartition(".")[2] in BARE or (made and not made[-1].args.args):
        return f"Call it: `{name}()`."
    if len(same) == 1:
        return f"Call it: `{same.pop()}`."
    return f"Call it, with what it is to be given in the brackets: `{name}(...)`."


def _handed_over(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``time_kernel(kernel(x))``: the result is handed over where the function is wanted."""
    if text.tree is None or "not callable" not in finding.message:
        return
    functions = _functions(text.tree)
    calls = {name: _calls_of(f) for name, f in functions.items()}
    for node in _ordered(text.tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in functions):
            continue
        taken = [a.arg for a in functions[node.func.id].args.args]
        handed = [*zip(taken, node.args, strict=False), *((k.arg, k.value) for k in node.keywords)]
        for name, value in handed:
            if name in calls[node.func.id] and isinstance(value, ast.Call) and _called(value) != "partial":
                what = ast.unparse(value)
                cause = (
                    f"`{what}` is called here, at once, and {node.func.id} gets its result instead of a function "
                    "that it can call."
                )
                bare = not value.args and not value.keywords
                right = ast.unparse(value.func) if bare else f"lambda: {what}"
                yield Fact("called-at-once", node.lineno, cause,
                           f"Hand over a function: `{node.func.id}({right})`.")  # fmt: skip


def _timer(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """Everything about a timer or a benchmark whose numbers are wrong."""
    if text.tree is None or not isinstance(finding.evidence.get("timer"), dict):
        return
    seen = TimerCode(text.tree, text.source, finding.evidence["timer"])
    yield from _bare(text, finding)
    which = seen.which
    if which == "form":
        yield from seen.form()
    if which in SHARE:
        made = [*seen.made_inside()]  # a build that is timed may by chance be a thousand times the kernel
        yield from () if made else seen.unit()
        yield from seen.between()
        yield from seen.host_clock()
        if seen.n.get("uneven"):
            yield from seen.whole_loop()
            yield from seen.numbers()
        else:
            yield from (fact for fact in seen.numbers() if fact.rule == "wrong-quantile")
        yield from made
        yield from seen.inputs()
        yield from seen.warm_up()
    if which == "warm-up":
        yield from seen.warm_up()
    if which == "inside":
        yield from seen.made_late()
    if which == "n":
        yield from seen.whole_loop()
        yield from seen.few()


@dataclass(frozen=True, slots=True)
class Step:
    """What one place of a timer does ("record", "wait", "call", "clock", "event", "elapsed") and in which loops."""

    kind: str
    node: ast.AST
    loops: tuple[int, ...]

    @property
    def line(self) -> int:
        """Where it stands."""
        return int(getattr(self.node, "lineno", 0))

    @property
    def looped(self) -> bool:
        """Whether it is done again and again."""
        return bool(self.loops)


class TimerCode:
    """The functions that a probe reaches, and its numbers."""

    def __init__(self, tree: ast.Module, source: str, numbers: Evidence) -> None:
        self.n, self.source = numbers, source
        self.all = _functions(tree)
        self.entry = self.all.get(str(numbers.get("entry")))
        self.reached = self._reach()
        self.which = str(numbers.get("which"))

    def _reach(self) -> list[ast.FunctionDef]:
        found: list[ast.FunctionDef] = [self.entry] if self.entry else []
        for function in found:
            names = {n.id for n in ast.walk(function) if isinstance(n, ast.Name)}
            found += [f for name, f in self.all.items() if name in names and f not in found]
        return found

    def shown(self, node: ast.AST) -> str:
        """A piece of the file as the student wrote it, in one line."""
        return " ".join((segment(self.source, node) or ast.unparse(node)).split())

    def number(self, name: str) -> float:
        """One of the numbers, 0 if it is not known."""
        value = self.n.get(name)
        return float(value) if isinstance(value, (int, float)) else 0.0

    @property
    def ratio(self) -> float:
        """How many times too large the answer is."""
        return self.number("said") / self.number("right") if self.number("right") else 1.0

    def form(self) -> Iterator[Fact]:
        """An answer that is no Timing, or with a number that cannot be."""
        for function in self.reached:
            steps = _steps(function)
            first = {self.shown(s.node.func.value): s.line for s in reversed(steps) if s.kind == "record"
                     and isinstance(s.node, ast.Call) and isinstance(s.node.func, ast.Attribute)}  # fmt: skip
            for step in steps:
                node = step.node
                if (
                    step.kind == "elapsed"
                    and isinstance(node, ast.Call)
                    and node.args
                    and self.number("said") < 0
                ):
                    assert isinstance(node.func, ast.Attribute)
                    begin, end = self.shown(node.func.value), self.shown(node.args[0])
                    if first.get(begin, 0) > first.get(end, 0) > 0:
                        cause = f"`{begin}.elapsed_time({end})` is the time from {begin} to {end}, and {begin} is the later one."
                        yield Fact(
                            "events-reversed", step.line, cause, f"Write `{end}.elapsed_time({begin})`."
                        )
            yield from _backwards(function) if self.number("said") < 0 else ()
        if self.n.get("said") is None or self.entry is None or self.number("said") < 0:
            return
        yield from self._count_claimed()
        if returned := self._returned(self.entry):
            value = self.shown(returned.value) if returned.value else ""
            cause = f"`{value}` is what {self.entry.name} hands back in the end, and it is not a Timing with its four fields."
            if isinstance(returned.value, ast.Call) and _called(returned.value) == "Timing":
                return
            yield Fact("not-a-timing", returned.lineno, cause,
                       "Return `Timing(median, p10, p90, n)`, all times in seconds; summary(seconds) makes one of a list.")  # fmt: skip

    def _count_claimed(self) -> Iterator[Fact]:
        """More measurements than launches."""
        n, launches = int(self.number("n")), int(self.number("launches"))
        for node, given, _ in self._given("n") if n > launches else ():
            cause = f"n gets `{self.shown(given)}`, which is {n}, and the kernel was launched {'once' if launches == 1 else f'{launches} times'} in all."
            yield Fact(
                "count-claimed", node.lineno, cause, "n is how many calls were measured: `len(seconds)`."
            )

    def _given(self, field: str) -> Iterator[tuple[ast.Call, ast.expr, ast.FunctionDef]]:
        """Each ``Timing(...)`` that gets the field, what the field gets, and the function where it stands."""
        for function in self.reached:
            for node in _ordered(function):
                if isinstance(node, ast.Call) and _called(node) == "Timing":
                    named = {k.arg: k.value for k in node.keywords}
                    if value := (dict(zip(FIELDS, node.args, strict=False)) | named).get(field):
                        yield node, value, function

    def _returned(self, function: ast.FunctionDef) -> ast.Return | None:
        """The only `return` of a function, or that of the own function whose result it hands on."""
        for _ in range(len(self.all) + 1):
            own = [n for n in _ordered(function) if isinstance(n, ast.Return)]
            if len(own) != 1:
                return None
            value = own[0].value
            after = self.all.get(_called(value)) if isinstance(value, ast.Call) else None
            if after is None:
                return own[0]
            function = after
        return None

    def unit(self) -> Iterator[Fact]:
        """A factor of a thousand or more."""
        factor = next(
            (f for f in (1e3, 1e6, 1e9, 1e-3, 1e-6) if math.isclose(self.ratio, f, rel_tol=0.1)), 0.0
        )
        if not factor:
            return
        scaled, read = [], []
        for function in self.reached:
            for node in _ordered(function):
                if (
                    isinstance(node, ast.BinOp)
                    and isinstance(node.op, (ast.Mult, ast.Div))
                    and _power(node.right)
                ):
                    scaled.append(node)
                elif isinstance(node, ast.Call) and (
                    _called(node) == "elapsed_time" or _called(node).endswith("_ns")
                ):
                    read.append(node)
        if not read:
            return
        name = _called(read[0])
        unit = UNITS["elapsed_time" if name == "elapsed_time" else "_ns"]
        times = f"{factor:,.0f} times too large" if factor > 1 else f"{1 / factor:,.0f} times too small"
        rule = "1e3 (1,000)" if name == "elapsed_time" else "1e9"
        if scaled:
            node = next((s for s in scaled if _power(s.right) != 1), scaled[0])
            sign = "*" if isinstance(node.op, ast.Mult) else "/"
            cause = f"`{sign} {self.shown(node.right)}` does not make seconds of what {name} gives, which is {unit}: the result is {times}."
            yield Fact("unit", node.lineno, cause, f"Seconds are {unit} / {rule}, and only once.")
        else:
            cause = f"{name} gives {unit}, and a Timing holds seconds: the result is {times}."
            yield Fact("unit", read[0].lineno, cause, f"Divide by {rule}.")

    def unsorted(self, value: ast.expr) -> Fact | None:
        """A function of the file that takes a percentile by its place in a list which nobody sorts."""
        made = value if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) else None
        name = made.func.id if made and isinstance(made.func, ast.Name) else ""
        helper = next((f for f in self.reached if f.name == name), None)
        if helper is None or any("sort" in ast.unparse(f) for f in self.reached):
            return None
        taken = {a.arg for a in helper.args.args}
        for node in ast.walk(helper):
            if (
                isinstance(node, ast.Subscript)
                and isinstance(node.value, ast.Name)
                and node.value.id in taken
            ):
                cause = f"{node.value.id} is in the order of the calls, not sorted, so this is the time of some call."
                return Fact(
                    "not-sorted",
                    node.lineno,
                    cause,
                    f"Sort first: `{node.value.id} = sorted({node.value.id})`.",
                )
        return None

    def numbers(self) -> Iterator[Fact]:
        """What the wrong field of the Timing is made of."""
        yield from self.percents()
        said = {k: v for k, v in dict(self.n.get("timing") or {}).items() if isinstance(v, (int, float))}
        for function in self.reached:
            for node in _ordered(function):
                if not (isinstance(node, ast.Call) and _called(node) == "Timing"):
                    continue
                fields = dict(zip(FIELDS, node.args, strict=False)) | {
                    k.arg: k.value for k in node.keywords if k.arg
                }
                if self.which not in fields:
                    continue
                value, line = _resolved(fields[self.which], function, node.lineno)
                shown = self.shown(fields[self.which])
                ordered = any("quantiles" in ast.unparse(f) or "sort" in ast.unparse(f) for f in self.reached)
                if (
                    ordered
                    and said.get("p10", 0) > said.get("p90", math.inf)
                    and {"p10", "p90"} <= set(fields)
                ):
                    ten, ninety = self.shown(fields["p10"]), self.shown(fields["p90"])
                    cause = f"p10 gets `{ten}`, which is the larger one, and p90 gets `{ninety}`: they are in each other's place."
                    yield Fact("percentiles-swapped", node.lineno, cause,
                               "The fields are, in this order, median, p10 (the small one), p90 (the large one) and n.")  # fmt: skip
                elif unsorted := self.unsorted(value):
                    yield unsorted
                elif misplaced := self.misplaced(fields, value, function):
                    yield Fact(misplaced[0], node.lineno, *misplaced[1:])
                elif why := _misjudged(value, self.which, function):
                    line = _cut_otherwise(value, function) or line
                    cause = f"{self.which} is made of `{self.shown(value)}`: {why[0]}"
                    yield Fact("wrong-quantile", line, cause, why[1])
                elif (
                    self.which != "median"
                    and "median" in fields
                    and ast.dump(fields["median"]) == ast.dump(fields[self.which])
                ):
                    cause = f"{self.which} gets the same value as the median, `{shown}`: that says nothing about the spread."
                    yield Fact("no-spread", node.lineno, cause,
                               'Take percentiles of all measurements: `statistics.quantiles(seconds, n=10, method="inclusive")` gives nine cuts, p10 the first and p90 the last.')  # fmt: skip
                elif self._mixed(said):
                    cause = "This Timing holds the right numbers in each other's place."
                    yield Fact(
                        "fields-mixed",
                        node.lineno,
                        cause,
                        "The fields are median, p10, p90 and n, in this order.",
                    )

    def misplaced(
        self, fields: dict[str, ast.expr], value: ast.expr, function: ast.FunctionDef
    ) -> tuple[str, str, str] | None:
        """A field that gets the number of measurements, or what another one needs: rule, cause, fix."""
        shown, order = self.shown(fields[self.which]), "The fields are median, p10, p90 and n, in this order."
        if self.which != "n" and _called(value) == "len":
            return (
                "fields-mixed",
                f"{self.which} gets `{shown}`, which is how many measurements there are.",
                order,
            )
        if exchanged := _in_each_others_place(fields, self.which, function):
            other, right = exchanged
            cause = f"{self.which} gets `{shown}`, and {other} gets `{self.shown(fields[other])}`: the two are in each other's place."
            return "fields-exchanged", cause, f"{right} {order}"
        return None

    def _mixed(self, said: dict[str, float]) -> bool:
        """Whether the three numbers are right ones in another order: one that is merely off stands in its place."""
        right, given = sorted(self.n.get("spread") or []), {k: said.get(k, 0.0) for k in SHARE}
        if len(right) != len(given):
            return False
        order = zip(sorted(given.values()), right, strict=True)
        own = right[("p10", "median", "p90").index(self.which)] if self.which in SHARE else math.inf
        return not math.isclose(given.get(self.which, own), own, rel_tol=0.1) and all(
            math.isclose(a, b, rel_tol=0.1) for a, b in order
        )

    def made_inside(self) -> Iterator[Fact]:
        """build() or make_output() in what is timed."""
        if self.entry is None:
            return
        names = [a.arg for a in self.entry.args.args]
        for at, cost, what in (
            (0, "build", "compiles"),
            (2, "output", "allocates and waits for the device"),
        ):
            if self.number(cost) and len(names) > at:
                for node in self._inside(names[at]):
                    cause = f"`{names[at]}()` is called in what is timed, so every call {what} once more, and that is measured, too."
                    yield Fact(f"{cost}-inside", node.lineno, cause,
                               f"Call {names[at]}() once, before the timing begins, and keep what it gives.")  # fmt: skip

    def _inside(self, name: str) -> list[ast.Call]:
        """Calls of the entry's ``name`` in a lambda, an inner function or a loop that measures."""
        assert self.entry is not None
        found = []
        for node in ast.walk(self.entry):
            measures = isinstance(node, INNER) and node is not self.entry
            if isinstance(node, (ast.For, ast.While)):
                kinds = {s.kind for s in _steps(node)}
                measures = bool(kinds & {"record", "clock"})
            if measures:
                body = node.body if isinstance(node.body, list) else [node.body]  # type: ignore[attr-defined]
                found += [n for part in body for n in ast.walk(part) if _calls(n, name)]
        return list(dict.fromkeys(found))  # type: ignore[arg-type]

    def _kept(self, name: str, inside: list[ast.Call]) -> str:
        """What to do instead of calling ``name`` in what is timed: take one of those that the file makes already."""
        assert self.entry is not None
        for node in ast.walk(self.entry):
            if not (isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)):
                continue
            made = [n for n in ast.walk(node.value) if _calls(n, name) and n not in inside]
            many = _count(node.value) or 0
            if made and many > IN_CACHE:
                kept = node.targets[0].id
                return f"Line {node.lineno} makes {many} already, `{kept}`: take one of them after another, and make none here."
        return f"Make more inputs than the cache holds before the timing, `[{name}() for _ in range(16)]`, and take one after another."

    def inputs(self) -> Iterator[Fact]:
        """Inputs that lie in the cache when the kernel reads them."""
        warm = self.number("warm")
        if self.entry is None or not 0 < warm < 1 or self.ratio > 0.95 or len(self.entry.args.args) < 2:
            return
        name = self.entry.args.args[1].arg
        if inside := self._inside(name):
            cause = f"`{name}()` is called in what is timed: an input that has just been written still lies in the cache when the kernel reads it."
            yield Fact("fresh-input", inside[0].lineno, cause, self._kept(name, inside))
            return
        if fact := self._from_a_generator(self.entry, name):
            yield fact
            return
        for node in _ordered(self.entry):
            if not _calls(node, name):
                continue
            loops = [
                n
                for n in ast.walk(self.entry)
                if isinstance(n, LOOPS) and n is not node and any(m is node for m in ast.walk(n))
            ]
            counts = [c for loop in loops if (c := _count(loop)) is not None]
            if loops and not counts:
                continue
            if not loops or min(counts) <= IN_CACHE:
                many = min(counts) if loops else 1
                who = "all calls use this one input" if many == 1 else f"all calls share these {many} inputs"
                stay, them = ("it stays", "it") if many == 1 else ("they stay", "them")
                cause = f"`{name}()` is called {'once' if many == 1 else f'{many} times'} here, and {who}: {stay} in the cache, where the kernel reads {them} faster than from memory."
                yield Fact("one-input", node.lineno, cause,
                           f"Make more inputs than the cache holds, `[{name}() for _ in range(16)]`, and take the next one for each call.")  # fmt: skip
                return
        for node in _ordered(self.entry):
            always = (
                isinstance(node, ast.Subscript)
                and isinstance(node.slice, ast.Constant)
                and _in_lambda(self.entry, node)
            )
            anew = (
                _called(node) == "next"
                and isinstance(node, ast.Call)
                and node.args
                and _called(node.args[0]) in ("iter", "cycle")
                and _in_lambda(self.entry, node)
            )
            if always or anew:
                cause = f"`{self.shown(node)}` is the same input in every call: it stays in the cache, where the kernel reads it faster than from memory."
                yield Fact("one-input", int(getattr(node, "lineno", 0)), cause,
                           "Take another one each time: `inputs = itertools.cycle(inputs)` before, and `next(inputs)` in the call.")  # fmt: skip
                return
        yield from (
            self._taken_once(self.entry, name) or self._same(self.entry) or self._handed_over(self.entry)
        )

    def _same(self, entry: ast.FunctionDef) -> list[Fact]:
        """An input that the timed calls do not change: ``inputs[i % 16]`` where nothing counts i up, a loop around the timing."""
        stored = Counter(
            n.id for n in ast.walk(entry) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        )
        stay = "in all timed calls: they get the same input, and it stays in the cache, where the kernel reads it faster than from memory."
        for inner in (n for n in _ordered(entry) if isinstance(n, INNER)):
            for node in ast.walk(inner):
                match node:
                    case ast.Subscript(
                        value=ast.Name(id=kept),
                        slice=ast.Name(id=i) | ast.BinOp(left=ast.Name(id=i), op=ast.Mod()),
                    ):
                        if (
                            stored[i] == 1
                            and not any(n.arg == i for n in ast.walk(entry) if isinstance(n, ast.arg))
                            and not any(isinstance(n, LOOPS) and i in _targets(n) for n in ast.walk(entry))
                        ):
                            cause = f"Nothing counts {i} up, so `{self.shown(node)}` is the same {stay}"
                            fix = f"Take the next one in each call: `inputs = itertools.cycle({kept})` before, and `next(inputs)` in the call."
                            return [Fact("one-input", node.lineno, cause, fix)]
        for loop in (n for n in ast.walk(entry) if isinstance(n, ast.For) and isinstance(n.target, ast.Name)):
            x = loop.target.id  # type: ignore[attr-defined]
            for call in (n for n in ast.walk(loop) if isinstance(n, ast.Call) and _called(n) in self.all):
                if any(isinstance(a, ast.Lambda) and _launches_with(a, x) for a in call.args):
                    cause = f"The loop of line {loop.lineno} calls {_called(call)} anew for each {x}, and within one such call {x} is the same {stay}"
                    fix = f"Call {_called(call)} once, without the loop: `inputs = itertools.cycle({self.shown(loop.iter)})` before, and `next(inputs)` in place of {x}."
                    return [Fact("one-input", call.lineno, cause, fix)]
        return []

    def _taken_once(self, entry: ast.FunctionDef, name: str) -> list[Fact]:
        """``x = next(inputs)`` in front of what is timed, a default value, an argument of ``partial``."""
        inner = [n for n in ast.walk(entry) if isinstance(n, INNER) and n is not entry]
        bodies = [p for n in inner for p in (n.body if isinstance(n.body, list) else [n.body])]
        loops = [n for n in ast.walk(entry) if isinstance(n, (*LOOPS, ast.While))]
        again = {id(m): m for n in (*bodies, *loops) for m in ast.walk(n)}
        uses = {n.id: n.lineno for n in again.values() if isinstance(n, ast.Name)}
        kept = {n.id for n in again.values() if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        early = {id(m) for n in inner for d in _defaults(n) for m in ast.walk(d)}
        early |= {id(m) for n in ast.walk(entry) if _called(n) == "partial" for m in ast.walk(n)}
        targets: dict[int, list[ast.expr]] = {}
        for target, value in (p for n in ast.walk(entry) if isinstance(n, ast.Assign) for p in _pairs(n)):
            targets.setdefault(id(value), []).append(target)
        once = (n for n in _ordered(entry) if id(n) in targets or id(n) in early)
        asked = (n for n in once if id(n) not in again and isinstance(n, ast.Call | ast.Subscript))
        for node in islice(asked, MOST_TAKEN):
            if isinstance(node, ast.Subscript):
                made, _ = _resolved(node.value, entry, node.lineno)
                if not isinstance(node.slice, ast.Constant) or not any(
                    _calls(m, name) for m in ast.walk(made)
                ):
                    continue
            elif _called(node) != "next":
                continue
            given = targets.get(id(node), [])
            names = [m.id for t in given for m in ast.walk(t) if isinstance(m, ast.Name)]
            used = [x for x in names if x in uses and x not in kept]
            if not used and id(node) not in early:
                continue
            shown = self.shown(node)
            does = f"`{shown}` is worked out" if isinstance(node, ast.Subscript) else "`next` runs"
            where = f", as line {uses[used[0]]} uses `{used[0]}`" if used else ""
            cause = (
                f"{does} only once here, before the timing, so all timed calls get this one input{where}. It stays in the "
                "cache, where the kernel reads it faster than from memory."
            )
            fix = f"Write `{shown}` in the call that is timed, so that each call takes another one."
            if isinstance(node, ast.Subscript):
                fix = f"Take another one in each call: `inputs = itertools.cycle({self.shown(node.value)})` before, and `next(inputs)` in the call."
            return [Fact("taken-once", node.lineno, cause, fix)]
        return []

    def _from_a_generator(self, entry: ast.FunctionDef, name: str) -> Fact | None:
        """Inputs that a generator makes one by one, each when the timed call asks for it."""
        for node in _ordered(entry):
            if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.GeneratorExp):
                continue
            asked = f"next({ast.unparse(node.targets[0])})"
            asks = [n for n in _ordered(entry) if _called(n) == "next" and ast.unparse(n) == asked]
            if _calls(node.value.elt, name) and any(_in_lambda(entry, n) for n in asks):
                made = self.shown(node.value).removeprefix("(").removesuffix(")")
                cause = (
                    f"This is a generator, which calls `{name}()` only when `{asked}` asks for a value, just before the "
                    "kernel: an input that has just been written lies in the cache."
                )
                fix = f"Make all of them first, in a list: `iter([{made}])`."
                return Fact("fresh-input", node.lineno, cause, fix)
        return None

    def made_late(self) -> Iterator[Fact]:
        """Inputs of which some are made between the two events: called for there, or taken from a generator."""
        if self.entry is None or len(self.entry.args.args) < 2:
            return
        name = self.entry.args.args[1].arg
        for node in _ordered(self.entry):
            if isinstance(node, ast.GeneratorExp) and any(_calls(n, name) for n in ast.walk(node.elt)):
                cause = (
                    f"This is a generator, which calls `{name}()` only when its next value is asked for: between the two "
                    "events of a call. An input that has just been written lies in the cache."
                )
                made = self.shown(node).removeprefix("(").removesuffix(")")
                yield Fact("made-late", node.lineno, cause, f"Make all of them first, in a list: `[{made}]`.")
                return
        if inside := self._inside(name):
            cause = f"`{name}()` is called in what is timed: an input that has just been written still lies in the cache when the kernel reads it."
            yield Fact("fresh-input", inside[0].lineno, cause, self._kept(name, inside))

    def _handed_over(self, entry: ast.FunctionDef) -> Iterator[Fact]:
        """What is launched, handed over without its arguments."""
        for node in _ordered(entry):
            given = [*node.args, *(k.value for k in node.keywords)] if isinstance(node, ast.Call) else []
            for one in given:
                if (
                    isinstance(one, ast.Name)
                    and one.id in _launched(entry)
                    and _called(node) in self.all
                    and not _inner(entry, one.id)
                ):
                    cause = (
                        f"`{one.id}` is handed over as it is, so it is called without an input and an output."
                    )
                    yield Fact(
                        "no-input",
                        node.lineno,
                        cause,
                        f"Hand over a call: `lambda: {one.id}(next(inputs), out)`.",
                    )

    def between(self) -> Iterator[Fact]:
        """What lies between two events, or does not."""
        yield from self.one_event()
        yield from self.one_event_often()
        yield from self.one_start()
        for function in self.reached:
            steps = [s for s in _steps(function) if s.kind in ("record", "wait", "call")]
            for begin, end in _windows(steps):
                inside = steps[begin + 1 : end]
                calls = [s for s in inside if s.kind == "call"]
                waits = [s for s in inside if s.kind == "wait"]
                first, last = steps[begin], steps[end]
                around = [s for s in steps if s.kind == "call" and s.loops == first.loops]
                if not calls and around and len({first.loops, last.loops}) == 1:
                    later = any(s.line > last.line for s in around)
                    cause = (
                        f"Both events, here and in line {first.line}, are recorded {'before' if later else 'after'} the "
                        "call: nothing lies between them, so they measure nothing."
                    )
                    yield Fact("nothing-between", last.line, cause,
                               "Record one event, call, record the other: the call must stand between them.")  # fmt: skip
                elif waits and self.ratio > 1 and self._short():
                    cause = (
                        "The host waits here, between the two events, so the time until it goes on is counted with the "
                        "kernel's."
                    )
                    yield Fact(
                        "wait-between",
                        waits[0].line,
                        cause,
                        "Wait once, after all calls were queued, and not between events.",
                    )
                elif len(calls) > 1 and self.ratio > 1.5:
                    cause = f"{len(calls)} calls lie between the two events (lines {', '.join(str(c.line) for c in calls)}), and their time is taken for that of one."
                    yield Fact("two-calls", calls[-1].line, cause, "Leave one call between two events.")
            for step in steps:
                beside = any(s.kind == "call" and s.loops == step.loops for s in steps)
                recorded = any(s.kind == "record" for s in steps)
                if (
                    step.kind == "wait"
                    and step.looped
                    and beside
                    and recorded
                    and self.ratio > 1
                    and self._short()
                ):
                    cause = (
                        "The host waits in the loop, for each call: the device has nothing to do until the next launch "
                        "reaches it, and that gap is measured with the kernel."
                    )
                    yield Fact("wait-in-loop", step.line, cause,
                               "Queue all calls first, each with two events of its own, and wait once, after the loop.")  # fmt: skip

    def one_event(self) -> Iterator[Fact]:
        """``begin = end = torch.cuda.Event(...)``."""
        for function in self.reached:
            for node in ast.walk(function):
                if isinstance(node, ast.Assign) and len(node.targets) > 1 and _called(node.value) == "Event":
                    names = [ast.unparse(t) for t in node.targets]
                    cause = f"{' and '.join(names)} are one event here, so the time from the one to the other is 0."
                    yield Fact(
                        "one-event", node.lineno, cause, "Make two: one call of torch.cuda.Event for each."
                    )

    def one_event_often(self) -> Iterator[Fact]:
        """``[torch.cuda.Event(...)] * n``, and ``[event for _ in range(n)]`` of one made before."""
        for function in self.reached:
            nodes = [*_ordered(function)]
            made = {t.id: n for n in nodes if isinstance(n, ast.Assign) and _called(n.value) == "Event"
                    for t in n.targets if isinstance(t, ast.Name)}  # fmt: skip
            found: list[tuple[ast.expr, str]] = []
            apart: list[str] = []
            for node in nodes:
                entries, count = _repeated(node)
                events = [
                    e for e in entries if _called(e) == "Event" or (isinstance(e, ast.Name) and e.id in made)
                ]
                if not events or count is None or not isinstance(node, ast.expr):
                    continue
                new = ", ".join(
                    self.shown(made[e.id].value if isinstance(e, ast.Name) and e.id in made else e)
                    for e in entries
                )
                new = f"({new})" if len(entries) > 1 else new
                times = self.shown(count) if isinstance(node, ast.ListComp) else f"range({self.shown(count)})"
                found.append((node, f"`[{new} for _ in {times}]`"))
                if len(found) == 1:
                    apart = _taken_apart(nodes, node)
            if found:
                node, right = found[0]
                cause = (
                    f"`{self.shown(node)}` is one event many times, not many: each record() of it overwrites the one "
                    "before, so every measurement uses the last one."
                )
                if apart:  # one measurement, between two names of one event
                    listed = f"{', '.join(apart[:-1])} and {apart[-1]}"
                    cause = (
                        f"`{self.shown(node)}` is one event {len(apart)} times: {listed} are names of the same event, so the "
                        "time from the one to the other is 0."
                    )
                others = sorted({n.lineno for n, _ in found[1:]} - {node.lineno})
                too = f" Line {others[0]} has the same mistake." if others else ""
                yield Fact("one-event-often", node.lineno, cause, f"Write {right}.{too}")

    def one_start(self) -> Iterator[Fact]:
        """``start.record()`` in front of the loop that records an ``end`` for each call."""
        for function in self.reached if self.ratio > 1.5 else ():
            nodes, steps = [*_ordered(function)], _steps(function)
            records = [(self.shown(s.node.func.value), s) for s in steps if s.kind == "record"
                       and isinstance(s.node, ast.Call) and isinstance(s.node.func, ast.Attribute)]  # fmt: skip
            bound = Counter(t.id for n in nodes if isinstance(n, ast.Assign)
                            for one in n.targets for t in ast.walk(one) if isinstance(t, ast.Name))  # fmt: skip
            (start, first), (end, last) = records if len(records) == 2 else (("", None), ("", None))
            if not first or not last or first.looped or not last.looped or bound[start] != 1 or start == end:
                continue
            call = next((s.line for s in steps if s.kind == "call" and s.loops == last.loops), 0)
            loop = next((n for n in nodes if id(n) == last.loops[-1]), function)
            inside = {id(n) for n in ast.walk(loop)}
            # An end that is made once and read after the loop is another mistake.
            made = [n for n in nodes if _called(n) == "Event" and end in _bound(function, n)]
            kept = any(id(n) not in inside for n in made)
            read = [n for n in nodes if _called(n) == "elapsed_time"]
            here = {id(n) for n in read}
            if not call or first.line > last.line or (kept and not (here and here <= inside)):
                continue
            pairs = any(
                isinstance(n, ast.Tuple)
                and id(n) in inside
                and [ast.unparse(e) for e in n.elts] == [start, end]
                for n in nodes
            )
            again = any(start in _targets(n) for n in nodes if isinstance(n, LOOPS))
            straight = len(read) == 1 and not again and self.shown(read[0]).startswith(f"{start}.")
            taken_off = any(isinstance(n, ast.Sub) for f in self.reached for n in ast.walk(f))
            if (pairs or straight) and not taken_off and "diff" not in self.source:
                cause = (
                    f"{start} is recorded once, before the loop, and every end (line {last.line}) is measured from there: a "
                    "measurement holds all calls up to its own, so the times grow from call to call."
                )
                fix = f"Give each call a start of its own: inside the loop a new event, recorded right before the call of line {call}."
                yield Fact("one-start", first.line, cause, fix)

    def percents(self) -> Iterator[Fact]:
        """``np.percentile(seconds, [0.1, 0.5, 0.9])``."""
        for function in self.reached:
            for node in ast.walk(function):
                if not (
                    isinstance(node, ast.Call) and ast.unparse(node.func) in NUMPYS and len(node.args) > 1
                ):
                    continue
                try:
                    asked = ast.literal_eval(node.args[1])
                except (ValueError, TypeError, SyntaxError):
                    continue
                several = asked if isinstance(asked, list | tuple) else [asked]
                if all(isinstance(q, int | float) and 0 < q <= 1 for q in several):
                    cause = f"percentile counts in percent, from 0 to 100: {several[0]:g} is the {several[0]:g} % mark."
                    yield Fact(
                        "percent",
                        node.lineno,
                        cause,
                        "Ask for 10, 50 and 90, or call quantile, which counts in shares.",
                    )

    def _short(self) -> bool:
        return 0 < self.number("right") < SHORT

    def host_clock(self) -> Iterator[Fact]:
        """A clock of the host, which sees launches and waits."""
        for function in self.reached:
            steps = [s for s in _steps(function) if s.kind in ("clock", "wait", "call", "record")]
            clocks = [i for i, s in enumerate(steps) if s.kind == "clock"]
            if len(clocks) < 2 or any(s.kind == "record" for s in steps):
                continue
            for begin, end in itertools.pairwise(clocks):
                inside = [s.kind for s in steps[begin + 1 : end]]
                if "call" not in inside:
                    continue
                name = f"`{self.shown(steps[end].node)}`"
                if "wait" not in inside[inside.index("call") :]:
                    cause = (
                        f"{name} is the host's clock, and a launch returns at once: what lies between the two readings is "
                        "the host's work of launching, while the kernel still waits or runs."
                    )
                elif self.ratio > 1 and self._short():
                    cause = (
                        f"{name} is the host's clock: between the two readings lie, beside the kernel, the launch and the "
                        "host's wait for the device."
                    )
                else:
                    continue
                yield Fact("host-clock", steps[end].line, cause,
                           "Let the device take the time: two `torch.cuda.Event(enable_timing=True)` for each call, recorded before and after it.")  # fmt: skip

    def whole_loop(self) -> Iterator[Fact]:
        """One measurement of many calls, or one pair of events for all."""
        for function in self.reached:
            steps = _steps(function)
            taken = [s for s in steps if s.kind in ("record", "clock")]
            looped = [s for s in steps if s.kind == "call" and s.looped]
            for one, other in itertools.pairwise(taken):
                calls = [c for c in looped if one.line < c.line < other.line]
                if calls and not one.looped and not other.looped and one.kind == other.kind:
                    cause = (
                        f"The time is taken in line {one.line} and here, around the whole loop: that is one measurement of "
                        "all calls together, which shows neither a median nor a spread."
                    )
                    yield Fact("whole-loop", other.line, cause,
                               "Measure each call: inside the loop two events of its own, recorded before and after the call.")  # fmt: skip
            events = [s for s in steps if s.kind == "event" and not _in_for(function, s.node)]
            names = {self.shown(s.node.func.value) for s in steps if s.kind == "record" and s.looped
                     and isinstance(s.node, ast.Call) and isinstance(s.node.func, ast.Attribute)}  # fmt: skip
            own = [e for e in events if _bound(function, e.node) & names]
            if (
                own
                and self.which != "n"
                and not any(s.kind == "elapsed" and s.looped and _in_for(function, s.node) for s in steps)
            ):
                cause = (
                    "One pair of events is made here for all calls, and each record overwrites the last: in the end all "
                    "measurements are that of the last call."
                )
                yield Fact("one-pair", own[0].line, cause, "Make two events for each call, inside the loop.")

    def warm_up(self) -> Iterator[Fact]:
        """First calls that were counted."""
        slow, launches, n = (int(self.number(k)) for k in ("slow", "launches", "n"))
        before = max(0, launches - n)
        if not slow or n > launches:
            return
        warmed = False
        for function in self.reached:
            steps = _steps(function)
            taken = [s for s in steps if s.kind in ("record", "clock")]
            calls = [s for s in steps if s.kind == "call"]
            if not taken or not calls:
                continue
            early = [c for c in calls if c.line < taken[0].line and not set(c.loops) & set(taken[0].loops)]
            warmed = warmed or bool(early)
            if before >= slow:
                continue
            first = f"The first {slow} calls of this kernel were slow, as first calls are"
            if early and before:
                at = max((n for n in ast.walk(function) if isinstance(n, LOOPS) and id(n) in early[0].loops),
                         key=lambda n: n.lineno, default=early[0].node)  # fmt: skip
                cause = f"{first}, and the warm-up here is too short: {slow - before} of them were counted."
                fix = "Make more calls that you do not count; ten or twenty cost next to nothing."
                yield Fact("short-warm-up", int(getattr(at, "lineno", 0)), cause, fix)
            elif not early and not before:
                call = next((c for c in calls if c.line > taken[0].line), calls[0])
                cause = (
                    f"{first}, and {function.name} counts them: no warm-up stands before its measurements."
                )
                again = self.shown(call.node) if isinstance(call.node, ast.Call) else "fn()"
                fix = f"Before the loop that measures, make ten calls that you do not count: `for _ in range(10): {again}`."
                yield Fact("no-warm-up", call.line, cause, fix)
        if before and not warmed:
            yield from left_out.first_ones(self.reached, slow, self.shown)

    def few(self) -> Iterator[Fact]:
        """The loop that measures too seldom, or an n that is another number than that of the measurements."""
        n, more = int(self.number("n")), "Measure 20 calls or more; 100 is usual."
        given = [*self._given("n")]
        for timing, value, function in given:
            if cuts := _cuts_counted(value, function):
                cause = (
                    f"n gets `{self.shown(value)}`, and `{cuts[0]}` holds the points at which {_called(cuts[1])} cuts the "
                    f"measurements, not the measurements: so n is {n} however many there are."
                )
                fix = f"n is how many calls were measured: `len({self.shown(cuts[1].args[0])})`."
                yield Fact("cuts-counted", timing.lineno, cause, fix)
                return
        every = {id(n): n for f in self.reached for n in ast.walk(f) if isinstance(n, LOOPS)}
        taken = [s for f in self.reached for s in _steps(f) if s.kind in ("record", "clock") and s.looped]
        loops = [[every[one] for one in step.loops] for step in taken]
        if not loops:
            return
        around = next((one for one in loops if _turns(one) == n), loops[0])
        turns = _turns(around)
        loop = around[0 if turns == n else -1]  # the outermost makes all of them
        line = int(getattr(loop, "lineno", 0))
        if turns == n:
            cause = f"This loop makes {n} measurement{'' if n == 1 else 's'}: so few say nothing about the spread."
            yield Fact("too-few", line, cause, more)
        elif len(given) == 1 and isinstance(loop, ast.For) and turns is not None:
            shown = self.shown(given[0][1])
            cause = (
                f"n gets `{shown}`, which is {n}, and the times are taken in the loop over `{self.shown(loop.iter)}`, line "
                f"{line}: n is the number of measurements that the median and the percentiles are made of."
            )
            fix = f"If `{shown}` is that number, it is too small: take 20 or more. If not, give n the length of the list of times."
            yield Fact("n-of-others", given[0][0].lineno, cause, fix)
        else:
            cause = f"This loop takes the times, and n came out as {n}: fewer than 20 say nothing about the spread."
            yield Fact("too-few", line, cause, f"n must be how many calls were measured. {more}")


def _targets(loop: ast.AST) -> set[str]:
    """The names that a loop gives a new value in each turn."""
    parts = [loop] if isinstance(loop, ast.For) else getattr(loop, "generators", [])
    return {n.id for p in parts for n in ast.walk(p.target) if isinstance(n, ast.Name)}


def _launches_with(one: ast.Lambda, x: str) -> bool:
    """Whether the lambda is a call with ``x`` itself as an argument."""
    return isinstance(one.body, ast.Call) and any(
        isinstance(a, ast.Name) and a.id == x for a in one.body.args
    )


def _turns(loops: Sequence[ast.AST]) -> int | None:
    """How often what stands in all these loops is done; None where that is not plain."""
    known = [n for n in map(_count, loops) if n is not None]
    return math.prod(known) if len(known) == len(loops) else None


def _cuts_counted(value: ast.expr, function: ast.FunctionDef) -> tuple[str, ast.Call] | None:
    """What a ``len(cuts)`` counts, alone in what n gets, and the call that made these cuts."""
    value, _ = _resolved(value, function, value.lineno)
    calls = [n for n in ast.walk(value) if isinstance(n, ast.Call)]
    if len(calls) != 1 or _called(calls[0]) != "len" or not calls[0].args:
        return None
    made, _ = _resolved(calls[0].args[0], function, calls[0].lineno)
    # Of a tensor's own method the first argument is not what is cut.
    if isinstance(made, ast.Call) and made.args and ast.unparse(made.func) in CUTTING:
        return ast.unparse(calls[0].args[0]), made
    return None


def _functions(tree: ast.Module) -> dict[str, ast.FunctionDef]:
    return {n.name: n for n in tree.body if isinstance(n, ast.FunctionDef)}


def _ordered(tree: ast.AST) -> list[ast.expr | ast.stmt]:
    """All expressions and statements as they stand in the file; of those that begin together the outer first."""
    placed = [n for n in ast.walk(tree) if isinstance(n, (ast.expr, ast.stmt))]
    return sorted(placed, key=lambda n: (n.lineno, n.col_offset))


def _called(node: ast.AST | None) -> str:
    """The last name of what a call calls; "" for anything else."""
    if not isinstance(node, ast.Call):
        return ""
    if isinstance(node.func, ast.Attribute):
        return node.func.attr
    return node.func.id if isinstance(node.func, ast.Name) else ""


def _calls(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name


def _calls_of(function: ast.FunctionDef) -> set[str]:
    """The parameters that a function calls."""
    parameters = {a.arg for a in function.args.args}
    return {
        n.func.id for n in ast.walk(function) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)
    } & parameters


def _repeated(node: ast.AST) -> tuple[list[ast.expr], ast.expr | None]:
    """The entries of a list that are the same objects again and again, and how often or over what they are."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        for one, count in ((node.left, node.right), (node.right, node.left)):
            if isinstance(one, ast.List) and not (isinstance(count, ast.Constant) and count.value == 1):
                inner = one.elts[0] if len(one.elts) == 1 else None
                return inner.elts if isinstance(inner, ast.Tuple) else one.elts if inner else [], count
    if isinstance(node, ast.ListComp) and len(node.generators) == 1:
        entries = node.elt.elts if isinstance(node.elt, ast.Tuple) else [node.elt]
        bound = {n.id for n in ast.walk(node.generators[0].target) if isinstance(n, ast.Name)}
        if all(isinstance(e, ast.Name) and e.id not in bound for e in entries):
            return entries, node.generators[0].iter
    return [], None


def _taken_apart(nodes: Sequence[ast.AST], made: ast.expr) -> list[str]:
    """The names that a list made here is given to, one for each entry: ``start, end = [event] * 2``."""
    for node in nodes:
        if (
            isinstance(node, ast.Assign)
            and node.value is made
            and isinstance(node.targets[0], ast.Tuple | ast.List)
        ):
            names = [ast.unparse(e) for e in node.targets[0].elts]
            return names if len(names) > 1 else []
    return []


def _steps(tree: ast.AST) -> list[Step]:
    """What a function, or a loop in it, does to clocks and the device, in the order of the text."""
    launched = _launched(tree)
    found: list[tuple[int, int, Step]] = []

    def visit(node: ast.AST, loops: tuple[int, ...]) -> None:
        if isinstance(node, INNER) and node is not tree:
            return
        name = _called(node)
        kind = {"record": "record", "synchronize": "wait", "Event": "event", "elapsed_time": "elapsed"}.get(
            name, ""
        )
        if name in CLOCKS or name == "default_timer":
            kind = "clock"
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and name in launched:
            kind = "call"
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Call):
            kind = "call"
        if kind and isinstance(node, ast.Call):
            found.append((node.lineno, node.end_col_offset or 0, Step(kind, node, loops)))
        inner = (*loops, id(node)) if isinstance(node, LOOPS) else loops
        for child in ast.iter_child_nodes(node):
            if isinstance(node, (ast.For, ast.ListComp, ast.GeneratorExp)) and child is getattr(
                node, "iter", None
            ):
                visit(child, loops)
            else:
                visit(child, inner)

    visit(tree, ())
    return [step for *_, step in sorted(found, key=lambda one: one[:2])]


def _launched(tree: ast.AST) -> set[str]:
    """The names whose call launches a kernel: of parameters those that are called and used for nothing else."""
    if not isinstance(tree, ast.FunctionDef):
        return {n.func.id for n in ast.walk(tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)} - {
            "range", "next", "iter", "len", "enumerate", "zip", "list", "sum", "float",
        }  # fmt: skip
    parameters = _calls_of(tree)
    made = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            for target, value in _pairs(node):
                if _called(value) in parameters and isinstance(target, ast.Name):
                    made.add((target.id, _called(value)))
    kernels = {name for name, maker in made}
    inner = {n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n is not tree}
    return (parameters if not made else kernels) | inner


def _pairs(node: ast.Assign) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Targets and what they get, one by one."""
    for target in node.targets:
        if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            yield from zip(target.elts, node.value.elts, strict=False)
        else:
            yield target, node.value


def _windows(steps: list[Step]) -> Iterator[tuple[int, int]]:
    """Records that follow each other, and do so in one turn of a loop."""
    at = [i for i, s in enumerate(steps) if s.kind == "record"]
    for begin, end in itertools.pairwise(at):
        if steps[begin].loops == steps[end].loops:
            yield begin, end


def _backwards(function: ast.FunctionDef) -> Iterator[Fact]:
    """``begun - perf_counter()``."""
    for node in ast.walk(function):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub) and _called(node.right) in CLOCKS:
            cause = f"`{ast.unparse(node)}` takes the later time from the earlier one, so it is negative."
            yield Fact(
                "clock-reversed",
                node.lineno,
                cause,
                f"Write `{operation(node.right, node.op, node.left)}`.",
            )


def _power(node: ast.expr) -> float:
    """The constant, written as 1e3, 1000 or 10**3, if it is a power of a thousand; else 0."""
    match node:
        case ast.Constant(value=int() | float() as value):
            number = float(value)
        case ast.BinOp(ast.Constant(value=int() as base), ast.Pow(), ast.Constant(value=int() as power)) if (
            power < 10
        ):
            number = float(base) ** power
        case _:
            return 0.0
    return number if any(math.isclose(number, f) for f in (1e3, 1e6, 1e9, 1e-3, 1e-6, 1e-9)) else 0.0


def _count(loop: ast.AST) -> int | None:
    """How often ``for _ in range(16)`` or such a comprehension runs; None if that is not plain."""
    over = loop.iter if isinstance(loop, ast.For) else loop.generators[0].iter if isinstance(loop, (ast.ListComp, ast.GeneratorExp, ast.SetComp)) else None  # fmt: skip
    if _called(over) == "range" and isinstance(over, ast.Call) and len(over.args) == 1:
        value = over.args[0]
        return value.value if isinstance(value, ast.Constant) and isinstance(value.value, int) else None
    return None


def _defaults(node: ast.AST) -> list[ast.expr]:
    """The default values of a function's parameters, which are worked out once, when it is made."""
    given = getattr(node, "args", None)
    return [*given.defaults, *(d for d in given.kw_defaults if d)] if isinstance(given, ast.arguments) else []


def _in_lambda(function: ast.FunctionDef, node: ast.AST) -> bool:
    inner = (n for n in ast.walk(function) if isinstance(n, INNER) and n is not function)
    return any(m is node for n in inner for m in ast.walk(n))


def _inner(function: ast.FunctionDef, name: str) -> bool:
    return any(isinstance(n, ast.FunctionDef) and n.name == name for n in ast.walk(function))


def _in_for(function: ast.FunctionDef, node: ast.AST) -> bool:
    loops = (n for n in ast.walk(function) if isinstance(n, (ast.For, ast.While)))
    records = (n for n in loops if any(_called(m) == "record" for m in ast.walk(n)))
    return any(m is node for n in records for m in ast.walk(n))


def _bound(function: ast.FunctionDef, event: ast.AST) -> set[str]:
    """The names that an assignment gives to an event, or to several at once."""
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and any(m is event for m in ast.walk(node.value)):
            return {n.id for t in node.targets for n in ast.walk(t) if isinstance(n, ast.Name)}
    return set()


def _resolved(value: ast.expr, function: ast.FunctionDef, line: int) -> tuple[ast.expr, int]:
    """What a local name was last given before ``line``, and where; the value itself if it is no such name."""
    for _ in range(3):
        if not isinstance(value, ast.Name):
            break
        given = [(n.lineno, v) for n in _ordered(function) if isinstance(n, ast.Assign) and n.lineno <= line
                 for t, v in _pairs(n) if isinstance(t, ast.Name) and t.id == value.id]  # fmt: skip
        if not given:
            break
        line, value = given[-1]
    return value, line


def _misjudged(value: ast.expr, which: str, function: ast.FunctionDef) -> tuple[str, str] | None:
    """Why an expression is not the median or percentile that is wanted, and what is; None if it may be."""
    words = WORDS[which]
    names = {_called(n) for n in ast.walk(value)}
    divides = isinstance(value, ast.BinOp) and isinstance(value.op, ast.Div) and _called(value.left) == "sum"
    right = "Take `statistics.median(seconds)`."
    if which != "median":
        place = "first" if which == "p10" else "last"
        right = f'`statistics.quantiles(seconds, n=10, method="inclusive")` gives nine cuts; {which} is the {place} of them.'
    if names & MEANS or divides:
        return f"that is the mean, not the {words}, and one slow call moves it far.", right
    if _called(value) in ("min", "max"):
        end = "smallest" if _called(value) == "min" else "largest"
        return f"that is the {end} of all, not the {words}: one odd call decides it.", right
    if isinstance(value, ast.Subscript) and (said := _wrong_place(value, which, function, right)):
        return said
    return _wrong_percent(value, which) if "percentile" in names else None


def _in_each_others_place(
    fields: dict[str, ast.expr], which: str, function: ast.FunctionDef
) -> tuple[str, str] | None:
    """The field that has the value which ``which`` needs, and needs the one of that; and what to write."""
    if _misjudged(_resolved(fields[which], function, fields[which].lineno)[0], which, function) is None:
        return None
    for other in (k for k in SHARE if k in fields and k != which):
        mine, theirs = (_resolved(fields[k], function, fields[k].lineno)[0] for k in (which, other))
        fits = (
            _called(theirs) == "median" if which == "median" else _misjudged(theirs, which, function) is None
        )
        back = _called(mine) == "median" if other == "median" else _misjudged(mine, other, function) is None
        if fits and back and _called(mine) != _called(theirs):
            swapped = fields | {which: fields[other], other: fields[which]}
            return other, f"Write `Timing({', '.join(map(ast.unparse, swapped.values()))})`."
    return None


def _wrong_place(
    value: ast.Subscript, which: str, function: ast.FunctionDef, right: str
) -> tuple[str, str] | None:
    """The same of an element of a list: of quantiles, of sorted times, of times in the order of the calls."""
    words, share = WORDS[which], SHARE[which]
    of, _ = _resolved(value.value, function, value.lineno)
    at = _place(value.slice, _cuts(of) - 1 if isinstance(of, ast.Call) and _called(of) == "quantiles" else 0)
    if _called(of) == "quantiles" and isinstance(of, ast.Call) and isinstance(at, int):
        n = _cuts(of)
        if n and abs((got := (at + 1 if at >= 0 else n + at) / n) - share) > 0.02:
            return f"of quantiles(..., n={n}) that is the {100 * got:.3g} % mark, not the {words}.", right
    if _called(of) == "sorted" and at in (0, -1):
        end = "largest" if at else "smallest"
        return f"that is the {end} of all, not the {words}: one odd call decides it.", right
    if isinstance(value.value, ast.Name) and _called(of) not in SORTING:
        name = value.value.id
        sorts = any(_called(n) in ("sort", "sorted") for n in ast.walk(function))
        if not sorts and name in {a.arg for a in function.args.args} | {"seconds", "times", "samples", "ms"}:
            cause = f"{name} is in the order of the calls, not sorted, so this is the time of some call."
            return cause, f"Sort first: `{name} = sorted({name})`."
    return None


def _place(index: ast.expr, length: int) -> object:
    """What an index is that is a literal, or a sum or difference of two; ``len(...)`` is ``length``."""
    both = [index]
    if isinstance(index, ast.BinOp) and isinstance(index.op, ast.Add | ast.Sub):
        both = [index.left, index.right]
    values = []
    for one in both:
        if _called(one) == "len" and length > 0:
            values.append(length)
            continue
        try:
            value = ast.literal_eval(one)
        except (ValueError, TypeError, SyntaxError, RecursionError):
            return None
        if not isinstance(value, int):
            return None
        values.append(value)
    return sum(values) if isinstance(getattr(index, "op", None), ast.Add) else values[0] - sum(values[1:])


def _cut_otherwise(value: ast.expr, function: ast.FunctionDef) -> int:
    """The line of ``quantiles(...)`` where it makes other than ten parts, of which the first or last is taken; else 0."""
    if not isinstance(value, ast.Subscript) or ast.unparse(value.slice) not in ("0", "-1"):
        return 0
    of, line = _resolved(value.value, function, value.lineno)
    return line if isinstance(of, ast.Call) and _called(of) == "quantiles" and _cuts(of) != 10 else 0


def _cuts(call: ast.Call) -> int:
    """The ``n`` of a call of statistics.quantiles; 0 if it is not told."""
    parts = next((k.value for k in call.keywords if k.arg == "n"), None)
    if parts is None:
        return 4
    return parts.value if isinstance(parts, ast.Constant) and isinstance(parts.value, int) else 0


def _wrong_percent(value: ast.expr, which: str) -> tuple[str, str] | None:
    """The same of numpy.percentile, which counts in percent."""
    percent = 100 * SHARE[which]
    for node in ast.walk(value):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in NUMPYS and len(node.args) > 1:
            try:
                asked = float(ast.literal_eval(node.args[1]))
            except (ValueError, TypeError, SyntaxError):
                return None
            if abs(asked - percent) > 2:
                cause = f"percentile counts in percent, and this asks for {asked:g} %, not {percent:g} %."
                return cause, f"Ask for {percent:g}."
    return None


SORTING = ("sorted", "quantiles", "percentile", "quantile")
NUMPYS = {"np.percentile", "numpy.percentile"}
CUTTING = NUMPYS | {"statistics.quantiles", "quantiles", "np.quantile", "numpy.quantile", "torch.quantile"}
BRACKETS = frozenset(
    {
        Status.WRONG_ANSWER,
        Status.RAISED,
        Status.CUDA_ERROR,
        Status.TIMEOUT,
        Status.NOT_A_TENSOR,
        Status.WRONG_OUTPUT,
    }
)


def _one_number(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``summary([start.elapsed_time(end) / 100])``: percentiles of one measurement."""
    raised = re.search(r"must have at least (?:one|two) data points?.*\.py, line (\d+): ", finding.message)
    if raised is None or text.tree is None:
        return
    own = text.top_functions
    asks = next((f for f in own if f.lineno <= int(raised[1]) <= (f.end_lineno or 0)), None)
    if asks is None:
        return
    for function in own:
        calls = [
            n for n in ast.walk(function) if isinstance(n, ast.Call) and ast.unparse(n.func) == asks.name
        ]
        for call in [c for c in calls if c.args][:5]:
            made = [n.value for n in ast.walk(function) if isinstance(n, ast.Assign)
                    and ast.unparse(n.targets[0]) == ast.unparse(call.args[0])]  # fmt: skip
            given = made[0] if len(made) == 1 else call.args[0]
            if (
                not isinstance(given, ast.List)
                or len(given.elts) != 1
                or isinstance(given.elts[0], ast.Starred)
            ):
                continue
            name = ast.unparse(call.args[0])
            if any(
                isinstance(n, ast.Call) and ast.unparse(n.func) in (f"{name}.append", f"{name}.extend")
                for n in ast.walk(function)
            ):
                continue
            cause = f"{asks.name} gets a list of one number from here, and percentiles need at least two."
            if "elapsed_time(" in ast.unparse(function):
                cause += " One pair of events gives one number: around many calls that is their mean, without any spread."
            yield Fact("one-number", given.lineno, cause,
                       "Measure each call by itself, in the loop, and hand over all the times.")  # fmt: skip
            return


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = (
    (_handed_over, frozenset({Status.RAISED})),
    (_one_number, frozenset({Status.RAISED})),
    (_timer, frozenset({Status.WRONG_ANSWER})),
    (_bare, BRACKETS),
)
