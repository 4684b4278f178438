"""One grading from start to end: load the submission, play every case, judge, collect the findings."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from grader.backends.simt.compile.warnings import Warned
from grader.domain.task import Case, Task, Tensor
from grader.domain.verdict import Finding, Status
from grader.feedback import memory
from grader.referee import contract, draw, ownership, parts, transport
from grader.referee.case_calls import Calls
from grader.referee.fault import FaultError
from grader.referee.judge import Judgement
from grader.referee.process.player_process import KEEP_OUTPUT, Answer, Player
from grader.referee.redact import veil, veil_memory
from grader.referee.reference import Oracle

MAX_RESTARTS = 4
# What PyTorch's C++ logs unasked: "USDT:2026-11-24 02:10:11 31:31 Profiler.cpp:52] profiler_start".
LOGGED = re.compile(
    r"^(?:[A-Z]{4,8}:\d{4}-\d\d-\d\d |\[?[IWE]\d{4} )[^\n]*?\w+\.(?:cpp|h|cc):\d+\][^\n]*\n?", re.M
)
REFUSALS = (Status.RAISED, Status.MISSING_ENTRY)


@dataclass(slots=True)
class Record:
    """What a grading leaves: findings in order, seconds by stage, what the back end and the compiler saw."""

    findings: list[Finding] = field(default_factory=list)
    stages: dict[str, float] = field(default_factory=dict)
    memory: list[dict[str, Any]] = field(default_factory=list)
    warned: list[Warned] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
    output: str = ""
    nearest: dict[str, Any] | None = None


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
        self.source = Path(path).read_text(errors="replace")
        self.rng = draw.generator()
        self.weights: transport.State = []
        # Atomic additions come in any order, so results may then differ in their last bits.
        self.unordered = "atomic" in self.source
        self.record = Record()
        self.inspect = inspect
        self.known_clean = (
            ""  # the day on which ``inspect`` found this very file clean, if it need not look again
        )
        self.student = ""
        self.folders: list[str] = []  # beside the file's own, that it may import from
        self.kept: dict[str, Any] = {}  # what a part leaves for those who look after it
        self.schedules = 1  # orders of blocks and warps that each case is played in, on the CPU back end
        self.on_cpu: Callable[[], dict[str, Finding] | str] | None = (
            None  # on a GPU: the CPU back end's findings
        )
        self.loaded: Callable[[], None] = lambda: None  # told once the file is imported and built
        # For the clock: another pair of processes with the same files; the course's solution in a process.
        self.twin: Callable[[], Match] | None = None
        self.solution: Callable[[], Player] | None = None
        self._start, self._restarts = start, 0
        self._case: Case | None = None
        self._sealed = False
        self._launched: bool | None = None  # in the last call, as far as that was seen
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
        if loaded.ok:
            self.loaded()
        begun = time.monotonic()
        for case in self.task.cases:
            record.findings.append(veil(case, self._play(case) if loaded.ok else _not_run(case)))
        if self.schedules > 1 and self.player:
            self.ask("schedule", seed=0)
        ordinary = self._any_ordinary_right(record.findings[1:])
        if not ordinary:
            record.findings[1:] = [_without_points(f) for f in record.findings[1:]]
        record.findings[1:] = _without_guesses(record.findings[1:])
        record.stages["cases"] = time.monotonic() - begun
        if self.task.memory_points:
            begun = time.monotonic()
            if ordinary and self.inspect:
                record.memory += self.inspect()
            found = memory.finding(record.memory, self.task.memory_points, ordinary)
            record.findings.append(memory.known(found, self.known_clean))
            record.stages["memory"] = time.monotonic() - begun
        begun = time.monotonic()
        for part in self.task.parts:
            record.findings += parts.judge(part, self, loaded.ok)
        record.stages["parts"] = time.monotonic() - begun
        return record

    def close(self) -> None:
        """End the submission's player and keep what it printed."""
        if self.player:
            self._keep_output()
            self.player.stop()

    def abandon(self) -> None:
        """From another thread: kill the submission's player, and start no other."""
        self._restarts = MAX_RESTARTS
        if player := self.player:
            player.strike()

    def rest(self) -> None:
        """End the submission's player; the next one is started because we want it, not because it died."""
        if self.player:
            self.drop()
            self._restarts -= 1

    def drop(self) -> None:
        """End the submission's player, and keep what it printed."""
        self.close()
        self.player = None

    def forfeit(self) -> None:
        """Caught: nothing that was earned so far is."""
        self.record.findings[:] = [replace(f, points=0) for f in self.record.findings]

    def _keep_output(self) -> None:
        """What was printed so far; from the first hidden case on nothing more: it could name the inputs."""
        if self.player and not self._sealed:
            printed = LOGGED.sub("", self.player.output)
            self.record.output = (self.record.output + printed)[:KEEP_OUTPUT]

    def _any_ordinary_right(self, findings: list[Finding]) -> bool:
        """Whether a case that has something to compute is right; until then a corner case proves nothing."""
        pairs = zip(self.task.cases, findings, strict=True)
        return any(f.ok and c.expect == "match" and not _is_empty(c) for c, f in pairs)

    def _load(self) -> Finding:
        assert self.player is not None
        try:
            self.record.facts = self.player.ready()
            answer = self.player.ask("load", self.player.limits.load, path=self.path, folders=self.folders)
            self._observe(answer.findings)
        except FaultError as fault:
            cause = self.player.compile_error or fault
            return cause.finding("load")
        if self.player.compile_error:  # caught by the file; what it falls back to is not the exercise
            return self.player.compile_error.finding("load")
        return Finding("load", Status.PASSED, "The file was imported and its sources compiled.")

    def _play(self, case: Case) -> Finding:
        if case.hidden:
            self._keep_output()
            self._sealed = True
        self._case, before = case, len(self.record.memory)
        try:
            self.revive()
            for seed in range(self.schedules):
                if self.schedules > 1:
                    self.ask("schedule", seed=seed)
                failed = Calls(self, case).run()
                if failed:
                    return _in_schedule(_caused(failed, self.record.memory[before:]), seed, self.schedules)
        except FaultError as fault:
            return _caused(self._fallen(case, fault), self.record.memory[before:])
        if case.expect == "raise":
            message = f"The call was accepted, though it must be refused: {case.why}"
            return Finding(case.name, Status.NOT_REFUSED, message, 0, case.points)
        return Finding(case.name, Status.PASSED, case.why, case.points, case.points)

    def changed(self, case: Case, number: int) -> Finding:
        """The case with an alternative of an instrumented source. Deaths of the player are not counted."""
        self._restarts = 0
        self.record.memory.clear()
        try:
            self.revive()
            self.ask("change", number=number)
        except FaultError as fault:
            return fault.finding(case.name)
        return self._play(case)

    def _fallen(self, case: Case, fault: FaultError) -> Finding:
        self._observe(fault.evidence.pop("findings", []))
        if fault.dead and self.player:
            self.drop()
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
            raise FaultError(
                Status.NOT_RUN,
                "Not run: too many calls before it crashed, or left CUDA in an error that does not end.",
            )
        self.player = self._start()
        self.player.ask("load", self.player.limits.load, path=self.path, folders=self.folders)

    def construct(self, case: Case) -> None:
        """Make the model of a case on both sides and match their parameters."""
        init = self.oracle.given(self.rng)[0] if case.given else list(case.init)
        self.oracle.construct(init)
        answer = self.ask("construct", entry=self.task.entry, init=init)
        self._names = contract.match_state(self.oracle.state, answer.data.get("state"), self.task.entry)

    def arguments(self, case: Case) -> list[transport.Value]:
        """Arguments of one call, drawn now."""
        if case.given:
            return self.oracle.given(self.rng)[1]
        return [draw.draw(a, self.rng) if isinstance(a, Tensor) else a for a in case.args]

    def new_weights(self, how: str = "write") -> None:
        """Give both sides the same new weights; ``how`` as in a round."""
        drawn = self.oracle.new_weights(self.rng)
        self.weights = [(self._names[name], values) for name, values in drawn]
        self.send_weights(how)

    def send_weights(self, how: str) -> None:
        """Give the submission's model the weights that it should have."""
        assert self.player is not None
        slots = transport.pack(self.player, [d for _, d in self.weights])
        state = [[name, slot.as_json()] for (name, _), slot in zip(self.weights, slots, strict=True)]
        self.ask("set_state", state=state, how=how)

    def explain(self, case: Case, verdict: Judgement, output: int, shape: tuple[int, ...]) -> Finding:
        """A wrong result as a finding: what is wrong, whose element it is, what the case is for."""
        assert self.player is not None and verdict.first is not None
        index = tuple(verdict.evidence["first_wrong"])
        text, facts = "", dict[str, Any]()
        if "__global__" in self.source:
            nan = verdict.evidence.get("got") == "nan"
            text, facts = ownership.find(
                self.player, output, verdict.first, index, self.task.index, launched=self._launched, nan=nan
            )
        message = f"{verdict.message}{text} This case: {case.why}" if case.why else f"{verdict.message}{text}"
        return Finding(case.name, verdict.status, message, 0, case.points, verdict.evidence | facts)

    def ask(self, do: str, **fields: Any) -> Answer:
        """A request to the submission's player; what its back end saw is kept."""
        assert self.player is not None
        answer = self.player.ask(do, self.player.limits.call, **fields)
        self._observe(answer.findings)
        if do == "call":
            self._launched = bool(answer.launches)
        return answer

    def _observe(self, findings: list[dict[str, Any]]) -> None:
        self.record.memory.extend(veil_memory(self._case, findings))


def _caused(finding: Finding, seen: list[dict[str, Any]]) -> Finding:
    """A failed case, what its threads did wrong to memory first: its result may be only what came of it."""
    found = memory.errors(seen)
    if finding.ok or not found:
        return finding
    _, text = memory.told(found)
    evidence = finding.evidence | {"seen": found[: memory.MOST_TOLD]}
    if not (finding.message and finding.message in text):  # a launch that was stopped says just that
        text += f"\nWhat came of it: {finding.message}"
    return replace(finding, message=text, evidence=evidence)


def _in_schedule(finding: Finding, seed: int, schedules: int) -> Finding:
    """Say that the case failed in a shuffled order only."""
    if not seed:
        return finding
    what = f"Only in schedule {seed} of {schedules}, where blocks and warps run in another order"
    message = f"{what}: {finding.message}"
    return replace(finding, message=message, evidence=finding.evidence | {"schedule": seed})


def _is_empty(case: Case) -> bool:
    return any(isinstance(a, Tensor) and 0 in a.shape for a in case.args)


def _without_points(finding: Finding) -> Finding:
    if not finding.points:
        return finding
    message = f"{finding.message} No points yet: no ordinary case is right."
    return replace(finding, points=0, message=message)


def _without_guesses(findings: list[Finding]) -> list[Finding]:
    """The findings, without guesses at a precision where another result is plainly wrong: so is this one."""
    if not any(f.status in (Status.WRONG_OUTPUT, Status.NOT_FINITE, Status.UNINITIALISED) for f in findings):
        return findings
    return [
        replace(f, status=Status.WRONG_OUTPUT, message=f.message.replace(f"{f.evidence['guess']} ", ""))
        if f.status is Status.PRECISION and f.evidence.get("guess")
        else f
        for f in findings
    ]


def _not_run(case: Case) -> Finding:
    return Finding(case.name, Status.NOT_RUN, case.why, 0, case.points)
