"""One grading from start to end: load the submission, play every case, judge, collect the findings."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from grader.referee import contract, draw, exchange, memory, owner
from grader.referee.fault import FaultError
from grader.referee.judge import Judgement, judge
from grader.referee.oracle import Expected, Oracle
from grader.referee.process import Answer, Player
from grader.task import Case, Task, Tensor
from grader.verdict import Finding, Status

MAX_RESTARTS = 4
REFUSALS = (Status.RAISED, Status.MISSING_ENTRY)


@dataclass(slots=True)
class Record:
    """What a grading leaves: findings in order, seconds by stage, and what the back end saw."""

    findings: list[Finding] = field(default_factory=list)
    stages: dict[str, float] = field(default_factory=dict)
    memory: list[dict[str, Any]] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
    output: str = ""


class Match:
    """A submission against a task.

    ``start`` makes a player for the submission whenever one is needed; ``inspect`` looks for memory errors
    where the back end does not see them during the cases.
    """

    def __init__(
        self,
        task: Task,
        path: str,
        start: Callable[[], Player],
        oracle: Oracle,
        inspect: Callable[[], list[dict[str, Any]]] | None = None,
    ) -> None:
        self.task, self.path, self.oracle = task, path, oracle
        self.rng = draw.generator()
        self.record = Record()
        self.inspect = inspect
        self._start, self._restarts = start, 0
        self.player: Player | None = start()

    def run(self) -> Record:
        """Load and play everything; always comes back with a record."""
        record = self.record
        begun = time.monotonic()
        loaded = self._load()
        record.findings.append(loaded)
        building = self.player.seconds_building if self.player else 0.0
        record.stages["load"] = time.monotonic() - begun - building
        record.stages["build"] = building
        begun = time.monotonic()
        for case in self.task.cases:
            record.findings.append(self._play(case) if loaded.ok else _not_run(case))
        ordinary = self._any_ordinary_right(record.findings[1:])
        if not ordinary:
            record.findings[1:] = [_without_points(f) for f in record.findings[1:]]
        record.stages["cases"] = time.monotonic() - begun
        if self.task.memory_points:
            begun = time.monotonic()
            if ordinary and self.inspect:
                record.memory += self.inspect()
            record.findings.append(memory.finding(record.memory, self.task.memory_points, ordinary))
            record.stages["memory"] = time.monotonic() - begun
        return record

    def close(self) -> None:
        """End the submission's player and keep what it printed."""
        if self.player:
            self.record.output = self.player.output
            self.player.stop()

    def _any_ordinary_right(self, findings: list[Finding]) -> bool:
        """Whether a case that has something to compute is right; until then a corner case proves nothing."""
        pairs = zip(self.task.cases, findings, strict=True)
        return any(f.ok and c.expect == "match" and not _is_empty(c) for c, f in pairs)

    def _load(self) -> Finding:
        assert self.player is not None
        try:
            self.record.facts = self.player.ready()
            answer = self.player.ask("load", self.player.limits.load, path=self.path)
            self._observe(answer.findings)
        except FaultError as fault:
            cause = self.player.compile_error or fault
            return cause.finding("load")
        if self.player.compile_error:  # caught by the file; what it falls back to is not the exercise
            return self.player.compile_error.finding("load")
        return Finding("load", Status.PASSED, "The file was imported and its sources compiled.")

    def _play(self, case: Case) -> Finding:
        try:
            self.revive()
            if self.task.kind == "model" and not case.entry:
                self.construct(case)
            for _ in range(case.calls):
                failed = self._call(case)
                if failed:
                    return failed
        except FaultError as fault:
            return self._fallen(case, fault)
        if case.expect == "raise":
            message = f"The call was accepted, though it must be refused: {case.why}"
            return Finding(case.name, Status.NOT_REFUSED, message, 0, case.points)
        return Finding(case.name, Status.PASSED, case.why, case.points, case.points)

    def _fallen(self, case: Case, fault: FaultError) -> Finding:
        self._observe(fault.evidence.pop("findings", []))
        if fault.dead and self.player:
            self.record.output = self.player.output
            self.player.stop()
            self.player = None
        if case.expect == "raise" and fault.status in REFUSALS:
            return Finding(
                case.name,
                Status.PASSED,
                f"Refused as it should be: {fault.message}",
                case.points,
                case.points,
            )
        return fault.finding(case.name, case.points)

    def revive(self) -> None:
        """After a death the next case gets a new process; its builds are cached."""
        if self.player is not None:
            return
        self._restarts += 1
        if self._restarts > MAX_RESTARTS:
            raise FaultError(Status.NOT_RUN, "Not run: the submission's process has died too often.")
        self.player = self._start()
        self.player.ask("load", self.player.limits.load, path=self.path)

    def construct(self, case: Case) -> None:
        """Make the model of a case on both sides and match their parameters."""
        assert self.player is not None
        init = self.oracle.given(self.rng)[0] if case.given else list(case.init)
        self.oracle.construct(init)
        answer = self._ask("construct", entry=self.task.entry, init=init)
        self._names = contract.match_state(self.oracle.state, answer.data.get("state"), self.task.entry)

    def _call(self, case: Case) -> Finding | None:
        """One call on fresh inputs; None when it is right."""
        assert self.player is not None
        if self.task.kind == "model" and not case.entry:
            self.new_weights()
        args = self.arguments(case)
        expected = Expected()
        if case.expect == "match":
            expected = self.oracle.expect(case, args)
        fields, wanted, after = exchange.offer(self.player, args, expected.outputs)
        answer = self._ask("call", entry=case.entry or self.task.entry, **fields)
        if case.expect == "raise":
            return None
        number = exchange.changed(self.player, args, after)
        got = exchange.collect(self.player, wanted)
        failed = contract.differ(case, answer.data, expected)
        if failed:
            return failed
        views = tuple(a.view() for a in args if isinstance(a, draw.Drawn))
        for i, (answers, eager, array) in enumerate(zip(expected.answers, expected.eager, got, strict=True)):
            verdict = judge(answers, eager, array, views)
            if verdict.status is not Status.PASSED:
                return self._explain(case, verdict, i, array.shape)
        if number is not None:
            message = f"After the call, input {number} no longer holds what was passed in."
            return Finding(case.name, Status.MUTATED_INPUT, message, 0, case.points, {"input": number})
        return None

    def arguments(self, case: Case) -> list[exchange.Value]:
        """Arguments of one call, drawn now."""
        if case.given:
            return self.oracle.given(self.rng)[1]
        return [draw.draw(a, self.rng) if isinstance(a, Tensor) else a for a in case.args]

    def new_weights(self) -> None:
        """Give both sides the same new weights, in place."""
        assert self.player is not None
        drawn = self.oracle.new_weights(self.rng)
        slots = exchange.pack(self.player, [d for _, d in drawn])
        state = [[self._names[n], slot.as_json()] for (n, _), slot in zip(drawn, slots, strict=True)]
        self._ask("set_state", state=state)

    def _explain(self, case: Case, verdict: Judgement, output: int, shape: tuple[int, ...]) -> Finding:
        assert self.player is not None and verdict.first is not None
        index = tuple(verdict.evidence["first_wrong"])
        text, facts = owner.find(self.player, output, verdict.first, index, self.task.index)
        message = f"{verdict.message}{text} This case: {case.why}" if case.why else f"{verdict.message}{text}"
        return Finding(case.name, verdict.status, message, 0, case.points, verdict.evidence | facts)

    def _ask(self, do: str, **fields: Any) -> Answer:
        assert self.player is not None
        answer = self.player.ask(do, self.player.limits.call, **fields)
        self._observe(answer.findings)
        return answer

    def _observe(self, findings: list[dict[str, Any]]) -> None:
        self.record.memory.extend(findings)


def _is_empty(case: Case) -> bool:
    return any(isinstance(a, Tensor) and 0 in a.shape for a in case.args)


def _without_points(finding: Finding) -> Finding:
    if not finding.points:
        return finding
    message = f"{finding.message} No points yet: no ordinary case is right."
    return replace(finding, points=0, message=message)


def _not_run(case: Case) -> Finding:
    return Finding(case.name, Status.NOT_RUN, case.why, 0, case.points)
