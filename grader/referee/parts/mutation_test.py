"""Mutation testing of a test that the student writes: it must pass on right kernels and fail on wrong ones.

The test runs in the submission's player and gets a stand-in for the kernel. Each call goes through the
referee to the kernel server: a second player, on the CPU back end with its memory checks on, which holds the
lesson's own kernels. So the test sees what a kernel returns and raises, and never which kernel it is.
"""

from __future__ import annotations

import base64
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from grader.domain.part import Check
from grader.domain.verdict import Finding, Status
from grader.referee.fault import FaultError, first_line
from grader.referee.parts.kernel_server import KernelServer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from grader.protocol.wire import Json
    from grader.referee.parts.part_session import PartSession

RIGHT_RUNS = 3
KINDS = {"float32": "<f4", "float64": "<f8", "float16": "<f2", "int32": "<i4", "int64": "<i8"}
MOST_DIMENSIONS = 8
NUMBER = re.compile(r"-?(?:[\d.]{1,14}(?:e[-+]\d{1,3})?|inf|nan)")  # as a player shows it
MOST_TEXT = 2 << 20  # of a tensor in base64


@dataclass(frozen=True, slots=True)
class Tried:
    """The first tensor that a call of the kernel hands over, as claimed.

    ``largest`` in absolute value; ``equal``: whether it has several elements, all with one value.
    """

    shape: tuple[int, ...]
    largest: float
    equal: bool = False

    @property
    def elements(self) -> int:
        """How many it has."""
        return math.prod(self.shape)


@dataclass(frozen=True, slots=True)
class Mutant:
    """A wrong kernel of the file: the name of its function, and in a clause what is wrong with it.

    ``shown_by``: what a test that passes on it mostly lacks: an input, an assertion, a tolerance.
    ``hidden_by``: a sentence about an input on which the fault cannot be seen, "" about any other.
    ``claimed``: the tolerance of the claim, where a test passes on it that allows more.
    ``basic``: plainly wrong: a test that passes on it earns nothing, and no points are given for it.
    """

    entry: str
    fault: str
    shown_by: str = "input"
    hidden_by: Callable[[Tried], str] | None = None
    basic: bool = False
    claimed: str = ""

    @property
    def evidence(self) -> dict[str, str]:
        """What an explanation wants to know of it."""
        return {"claimed": self.claimed} if self.claimed else {}


@dataclass(frozen=True, slots=True)
class MutationTest:
    """The test ``entry`` is run on ``right`` kernels and on ``mutants`` of the file ``kernels``.

    ``right`` are ways to do it well that no test may refuse. ``points`` for each mutant that it fails on, or
    ``total`` for all of them, rounded down for a part; basic ones are not counted.
    The test is called with the kernel and ``args``; the
    check is called ``name``, or else as the entry.
    """

    entry: str
    kernels: str
    right: tuple[str, ...]
    mutants: tuple[Mutant, ...]
    why: str
    points: int = 1
    name: str = ""
    args: tuple[Any, ...] = ()
    total: int = 0

    @property
    def checks(self) -> tuple[Check, ...]:
        """One check: the test."""
        return (Check(self.name or self.entry, self._worth(()), self.why, cpu=True),)

    def _worth(self, alive: Sequence[Mutant]) -> int:
        """Points where these mutants are left."""
        counted = [m for m in self.mutants if not m.basic]
        killed = 0 if any(m.basic for m in alive) else len([m for m in counted if m not in alive])
        return self.total * killed // len(counted) if self.total else self.points * killed

    def judge(self, session: PartSession) -> Iterator[Finding]:
        """Run the test on all kernels in an order that the submission cannot guess."""
        with KernelServer(self.kernels) as kernels:
            yield self.judge_with(session, kernels)

    def judge_with(self, session: PartSession, kernels: KernelServer) -> Finding:
        """The finding, with a kernel server that runs already."""
        (check,) = self.checks
        try:
            return self._judge(session, kernels, check)
        except FaultError as fault:
            return session.fallen(check, fault)

    def _judge(self, session: PartSession, kernels: KernelServer, check: Check) -> Finding:
        right = [self.right[i % len(self.right)] for i in range(max(RIGHT_RUNS, len(self.right)))]
        order = [*right, *(m.entry for m in self.mutants)]
        session.rng.shuffle(order)
        results: dict[str, Json | None] = {}
        differs: dict[str, str] = {}  # by the kernel as well
        tried: dict[str, list[Tried | None]] = {kernel: [] for kernel in order}
        for kernel in order:

            def serve(wants: Any, kernel: str = kernel) -> Any:
                tried[kernel].append(_tried(wants))
                return kernels.call(kernel, wants)

            claimed = session.command("student_test", serve, entry=self.entry, args=list(self.args))
            failed = claimed.get("failed")
            if not results.get(kernel):
                results[kernel] = failed if isinstance(failed, dict) else None
                differs[kernel] = _differing(claimed.get("differs"))
            if not claimed.get("calls") and kernel in right:
                return check.failed(
                    Status.WRONG_ANSWER,
                    session.line_of_test(self.entry, self.args) + _uncalled(self.entry, self.args, failed),
                )
        where = session.line_of_test(self.entry, self.args)
        for kernel in right:
            if error := results[kernel]:
                said = where + _false_alarm(error, differs[kernel])
                return check.failed(
                    Status.WRONG_ANSWER, said, right=kernel, error=error,
                    known=error.get("type") != "AssertionError",  # the error's own words tell it
                )  # fmt: skip
        alive = [m for m in self.mutants if not results[m.entry]]
        killed = len(self.mutants) - len(alive)
        if not alive:
            return check.passed(f"Passes on right kernels, fails on all {killed} wrong ones.")
        hidden = _hidden(alive[0], tried[alive[0].entry])
        message = f"{where}It passes on a kernel that {alive[0].fault}. "
        message += hidden or f"Which {alive[0].shown_by} would show that?"
        why, advice = session.never_fails(self.entry)
        if why:
            message = f"{why} {advice}"
        elif killed == 0 and len(alive) > 1:
            message += f" It fails on none of the {len(alive)} wrong kernels."
        elif len(alive) > 1:
            passes = "passes" if len(alive) == 2 else "pass"
            message += f" {len(alive) - 1} more of {len(self.mutants)} wrong kernels {passes} it as well."
        evidence: dict[str, Any] = {"killed": killed, "survived": [m.fault for m in alive]}
        evidence |= alive[0].evidence
        if advice:
            evidence["advice"] = advice
        points = self._worth(alive)
        return Finding(check.name, Status.WRONG_ANSWER, message, points, check.points, evidence)


@dataclass(frozen=True, slots=True)
class MutationTests:
    """Several tests with one kernel server: its player is started once."""

    kernels: str
    tests: tuple[MutationTest, ...]

    @property
    def checks(self) -> tuple[Check, ...]:
        """One for each test."""
        return tuple(check for test in self.tests for check in test.checks)

    def judge(self, session: PartSession) -> Iterator[Finding]:
        """All tests, in order."""
        with KernelServer(self.kernels) as kernels:
            for test in self.tests:
                yield test.judge_with(session, kernels)


def _tried(wants: Any) -> Tried | None:
    """The first tensor that a call hands over; None if the request does not tell."""
    import numpy as np  # tasks import this module, and a list of lessons needs no arrays

    args = wants.get("args") if isinstance(wants, dict) else None
    for given in args if isinstance(args, list) else ():
        if not isinstance(given, dict) or "tensor" not in given:
            continue
        shape, kind = given.get("shape"), KINDS.get(str(given.get("dtype")).removeprefix("torch."))
        if (
            not isinstance(shape, list)
            or not all(isinstance(n, int) and n >= 0 for n in shape)
            or kind is None
        ):
            return None
        try:
            stored = np.frombuffer(base64.b64decode(str(given["tensor"])[:MOST_TEXT]), kind)
        except ValueError:
            return None
        values = stored.astype(np.float64)
        whole = values.size == math.prod(shape) > 1
        equal = whole and bool((values == values[0]).all())
        return Tried(tuple(shape), float(np.abs(values).max(initial=0.0)), equal)
    return None


def _hidden(mutant: Mutant, calls: list[Tried | None]) -> str:
    """Why none of the test's inputs can show the mutant's fault; "" if one could, or that is not known."""
    if mutant.hidden_by is None or not calls:
        return ""
    said = [mutant.hidden_by(one) if one else "" for one in calls]
    return said[0] if all(said) else ""


def _uncalled(entry: str, args: tuple[Any, ...], failed: Any) -> str:
    about = f" for {args[0]!r}" if args else ""
    if isinstance(failed, dict):
        return f"{entry} never calls the kernel that it is given{about}. It ended with {_described(failed)}"
    yet = f". {NO_CODE}" if args else "."
    return f"{entry} never calls the kernel that it is given{about}{yet}"


NO_CODE = "It has no code for that, or no inputs, or does not use the kernel there."


def _false_alarm(error: Json, differs: str) -> str:
    said = f"The test fails on a right kernel: {_described(error)} {differs}"
    return f"{said}A test must let every right kernel pass."


def _differing(claimed: Any) -> str:
    """Which elements a test expects otherwise, in a sentence and a space; "" if that is not told."""
    if not isinstance(claimed, dict):
        return ""
    count, elements, given, expected = (claimed.get(k) for k in ("count", "elements", "given", "expected"))
    places = [one if isinstance(one, list) else [""] for one in (claimed.get("first"), claimed.get("last"))]
    if not (isinstance(count, int) and isinstance(elements, int) and 0 < count <= elements):
        return ""
    if not all(len(p) <= MOST_DIMENSIONS and all(isinstance(n, int) for n in p) for p in places):
        return ""
    if not all(isinstance(v, str) and NUMBER.fullmatch(v) for v in (given, expected)):
        return ""
    first, last = (", ".join(map(str, p)) for p in places)
    values = f"the right kernel gives {given}, and the test expects {expected}"
    if count == 1:
        end = (
            "the last, "
            if first == str(elements - 1)
            else "the first, "
            if not any(places[0])
            else "element "
        )
        return f"Of {elements} elements only {end}[{first}], differs: {values}. "
    if count == elements:
        return f"All {elements} elements differ; at [{first}] {values}. "
    return (
        f"{count} of {elements} elements differ, from [{first}] to [{last}]; at the first of them {values}. "
    )


def _described(error: Json) -> str:
    where = error.get("where")
    line = (
        f" (line {where[-1].get('line')}: {where[-1].get('code')})"
        if isinstance(where, list) and where
        else ""
    )
    text = first_line(str(error.get("message", "")))
    text = "" if text in ("", "(no message)") else f": {text}"
    return f"{error.get('type')}{text}{line}."[:400]
