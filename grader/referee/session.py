"""A submission in one process, its reference in another, and what was found so far."""

from __future__ import annotations

import contextlib
import math
import re
import time
from contextlib import AbstractContextManager, nullcontext
from dataclasses import KW_ONLY, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader.domain import inputs
from grader.domain.verdict import Finding, Status
from grader.protocol.messages import Facts, Launch, MemoryFinding
from grader.protocol.play import Call, CallApart, Step
from grader.referee import ownership
from grader.referee.fault import FaultError
from grader.referee.process import exit_reason
from grader.referee.process.player_process import MAX_OUTPUT_BYTES, Answer, Player
from grader.referee.redact import redact_memory
from grader.referee.side import Reference, Side

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import numpy as np

    from grader.backends.simt.compile.warnings import Warned
    from grader.domain.task import Case, Task
    from grader.referee.judge import Judgement
    from grader.referee.problem import Problem, Sides

MAX_RESTARTS = 4
ENDED = "had to be ended"
ENDS = {
    Status.CRASHED: "crashed",
    Status.TIMEOUT: "did not end in time",
    Status.OUT_OF_MEMORY: "took all memory",
    Status.EXITED_EARLY: "ended its process",
    Status.ILLEGAL_ACCESS: "left CUDA in an error that does not end",
    Status.CUDA_ERROR: "left CUDA in an error that does not end",
}
WHOLE_CALLS = 12  # all calls of a grading may take so many times the limit of one
# What PyTorch's C++ logs unasked: "USDT:2026-11-24 02:10:11 31:31 Profiler.cpp:52] profiler_start".
LOGGED = re.compile(
    r"^(?:[A-Z]{4,8}:\d{4}-\d\d-\d\d |\[?[IWE]\d{4} )[^\n]*?\b\w+\.(?:cpp|h|cc):\d+\][^\n]*\n?", re.M
)
REFUSALS = (Status.RAISED, Status.MISSING_ENTRY)


@dataclass(slots=True)
class Record:
    """What a grading leaves: findings in order, seconds by stage, what the back end and the compiler saw.

    ``explained``: the findings that were explained last, and what they became.
    """

    findings: list[Finding] = field(default_factory=list)
    stages: dict[str, float] = field(default_factory=dict)
    memory: list[MemoryFinding] = field(default_factory=list)
    warned: list[Warned] = field(default_factory=list)
    facts: Facts = field(default_factory=Facts)
    output: str = ""
    nearest: dict[str, Any] | None = None
    explained: tuple[list[Finding], list[Finding]] = field(default_factory=lambda: ([], []))


@dataclass(eq=False)
class Session:
    """A submission against a task. The submission's process is started when this is made.

    Args:
        task: What is asked.
        path: The submission's file.
        start: Makes a player for the submission, whenever one is needed.
        reference: The reference, in a player of its own.
        pose: Makes the problem that both sides get.
        student: Whose work it is, or "".
        folders: Beside the file's own, what it may import from.
        schedules: Orders of blocks and warps that each case is played in, on the CPU back end.
        inspect: Looks for errors of memory where the back end does not see them during the cases.
        known_clean: The day on which ``inspect`` found this very file clean, if it need not look again.
        on_cpu: On a GPU: the CPU back end's findings by name, or why there are none.
        loaded: Told once the file is imported and built.
        twin: Another pair of processes with the same files, both loaded, for the problem it is given.
        solution: The course's own solution, loaded in a process.
        clock: While it lasts no other grading uses the GPU, whose clock is read. It is shared no longer then.
        share_gpu: Called before the GPU is used: waits for the race of another grading, if there is one.
    """

    task: Task
    path: str
    start: Callable[[], Player]
    reference: Reference
    pose: Callable[[Sides], Problem]
    _: KW_ONLY
    student: str = ""
    folders: tuple[str, ...] = ()
    schedules: int = 1
    inspect: Callable[[], list[MemoryFinding]] | None = None
    known_clean: str = ""
    on_cpu: Callable[[], dict[str, Finding] | str] | None = None
    loaded: Callable[[], None] = lambda: None
    twin: Callable[[Callable[[Sides], Problem]], Session] | None = None
    solution: Callable[[], Player] | None = None
    clock: Callable[[], AbstractContextManager[None]] = nullcontext
    share_gpu: Callable[[], None] = lambda: None
    record: Record = field(default_factory=Record, init=False)
    rng: np.random.Generator = field(default_factory=inputs.generator, init=False)
    source: str = field(init=False)
    player: Player | None = field(init=False)
    problem: Problem = field(init=False)
    calls: int = field(default=0, init=False)  # that the submission answered
    largest: dict[str, int] = field(default_factory=dict, init=False)  # result, in elements, by function
    kernels: dict[str, set[str]] = field(default_factory=dict, init=False)  # of right calls, by function
    _restarts: dict[str, int] = field(default_factory=dict, init=False)  # by the function that was called
    _ends: dict[str, None] = field(default_factory=dict, init=False)  # of the players so far, in words
    _end: float = field(default=math.inf, init=False)
    _case: Case | None = field(default=None, init=False)
    _sealed: bool = field(default=False, init=False)
    _abandoned: bool = field(default=False, init=False)
    _side: Side | None = field(default=None, init=False)
    _launches: tuple[Launch, ...] | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self.source = Path(self.path).read_text(errors="replace")
        self.player = self.start()
        self.problem = self.pose(self)

    @property
    def submission(self) -> Side:
        """The submission's player as one side of a call."""
        assert self.player is not None
        if self._side is None or self._side.player is not self.player:
            self._side = Side("submission", self.player, self._heard)
        return self._side

    @property
    def launches(self) -> tuple[Launch, ...]:
        """What was launched in the last call, as far as the CPU back end sees it."""
        return self._launches or ()

    def load(self) -> None:
        """Have a new player import the file."""
        assert self.player is not None
        folders = list(self.folders)
        answer = self.player.ask("load", self.player.limits.load, path=self.path, folders=folders)
        self.observe(answer.findings)

    def started(self) -> None:
        """The file is loaded: from now on its calls have a time together."""
        self._end = time.monotonic() + WHOLE_CALLS * (self.player.limits.call if self.player else 0.0)

    def begin(self, case: Case) -> None:
        """From now on it is about this case; from the first hidden one on, output is no longer kept."""
        self._case = case
        if case.hidden:
            self._keep_output()
            self._sealed = True

    @property
    def _entry(self) -> str:
        return (self._case.entry if self._case else "") or self.task.entry

    def pardon(self) -> None:
        """Deaths of players so far count no longer."""
        self._restarts.clear()
        self._ends.clear()

    def revive(self) -> None:
        """After a death the next case gets a new process; its builds are cached.

        A function that is fatal each time is left alone after a few; one beside it is still asked.
        """
        if time.monotonic() > self._end:
            raise FaultError(
                Status.TIMEOUT,
                f"Not run: all calls together may take {WHOLE_CALLS} times as long as one may, "
                "and those before this one have used that up.",
            )
        if self.player is not None and not self.player.stopped:
            return
        if self.player is not None:  # it died of a question on which nothing depended
            self._ends[ENDED] = None
            self.drop()
        made = self._restarts[self._entry] = self._restarts.get(self._entry, 0) + 1
        if made > MAX_RESTARTS or self._abandoned:
            raise FaultError(
                Status.NOT_RUN,
                f"Not run: too many calls before it {' or '.join(self._ends or [ENDED])}.",
            )
        begun_s = time.monotonic()
        self.player = self.start()
        self.load()
        self._end += time.monotonic() - begun_s  # what a start takes is no time of calls

    def lost(self, fault: FaultError) -> None:
        """A fault of which the player is dead: it is ended, and kept for what is not run is why."""
        self._ends[ENDS.get(fault.status, ENDED)] = None
        self.drop()

    def close(self) -> None:
        """End the submission's player and keep what it printed."""
        if self.player:
            self._keep_output()
            self.player.stop()

    def abandon(self) -> None:
        """From another thread: kill the submission's player, and start no other."""
        self._abandoned = True
        if player := self.player:
            player.kill()

    def rest(self) -> None:
        """End the submission's player; the next one is started because we want it, not because it died."""
        if self.player:
            self.drop()
            self._restarts[self._entry] = self._restarts.get(self._entry, 0) - 1

    def drop(self) -> None:
        """End the submission's player, and keep what it printed."""
        self.close()
        self.player = None

    def forfeit(self) -> None:
        """Caught: nothing that was earned so far is."""
        self.record.findings[:] = [replace(f, points=0) for f in self.record.findings]

    def fallen(self, case: Case, fault: FaultError) -> Finding:
        """A fault as the finding of a case; a refusal is what some cases want."""
        fault.evidence.pop("findings", None)
        seen, fault.seen = fault.seen, ()
        self.observe(seen)
        if case.expect == "raise":
            fault.evidence["must_refuse"] = True
        if fault.dead and self.player:
            if fault.evidence.get("signal") == "SIGABRT":
                fault.evidence |= exit_reason.printed(self.player.output)
            self.lost(fault)
        if case.expect == "raise" and fault.status in REFUSALS:
            return Finding(
                case.name,
                Status.PASSED,
                f"Refused as it should be: {fault.message}",
                case.points,
                case.points,
            )
        return fault.finding(case.name, case.points)

    def ask(self, do: str, **fields: Any) -> Answer:
        """A request to the submission's player; what its back end saw is kept."""
        assert self.player is not None
        self.submission.flush()
        answer = self.player.ask(do, self.player.limits.call, **fields)
        self.observe(answer.findings)
        return answer

    @contextlib.contextmanager
    def counting(self) -> Iterator[None]:
        """Within it the CPU back end counts. A player that has been ended meanwhile is asked nothing more."""
        self.ask("count", on=True)
        try:
            yield
        finally:
            if self.player and not self.player.stopped:
                self.ask("count", on=False)

    def _heard(self, step: Step, answer: Answer) -> None:
        """An answer of the submission's side."""
        self.observe(answer.findings)
        if isinstance(step, Call | CallApart):
            self.calls += 1
            self._launches = answer.launches

    def explain(self, case: Case, verdict: Judgement, output: int, *, narrow: bool = False) -> Finding:
        """A wrong result as a finding: what is wrong, whose element it is, what the case is for.

        ``narrow``: its elements have fewer than four bytes.
        """
        assert self.player is not None and verdict.first is not None
        index = tuple(verdict.evidence["first_wrong"])
        text, facts = "", dict[str, object]()
        if "__global__" in self.source:
            nan = verdict.evidence.get("got") == "nan"
            element = ownership.Element(output, verdict.first, index, nan, narrow)
            launched = None if self._launches is None else bool(self._launches)
            text, facts = ownership.find(
                self.player, element, self.task.index, launched=launched, source=self.source
            )
        if self._launches is not None and not self._launches:
            facts |= {"launched": []}
        message = f"{verdict.message}{text} This case: {case.why}" if case.why else f"{verdict.message}{text}"
        return Finding(case.name, verdict.status, message, 0, case.points, verdict.evidence | facts)

    def observe(self, findings: Sequence[MemoryFinding]) -> None:
        """Keep what the back end saw; of a hidden case no more than may be told."""
        self.record.memory.extend(redact_memory(self._case, findings))

    def _keep_output(self) -> None:
        """What was printed so far; from the first hidden case on nothing more: it could name the inputs."""
        if self.player and not self._sealed:
            printed = LOGGED.sub("", self.player.output)
            self.record.output = (self.record.output + printed)[:MAX_OUTPUT_BYTES]
