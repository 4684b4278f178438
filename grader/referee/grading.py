"""One grading from start to end: load the submission, play every case, judge, collect the findings."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from grader.domain.task import EXTENSION, Case, Tensor
from grader.domain.verdict import PENDING, Finding, Status
from grader.feedback import memory
from grader.referee import further_calls, parts, stream_check
from grader.referee.case_calls import Calls
from grader.referee.fault import FaultError
from grader.referee.further_calls import Played
from grader.referee.problem import LeftOutError
from grader.referee.redact import redact

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.domain.task import Argument
    from grader.protocol.messages import MemoryFinding
    from grader.referee.session import Record, Session

NO_ACCESSES = "No kernel of CUDA C++ did the work whose accesses could be checked here."
WITHOUT = "What {0} returns is right, but without the Python around it the extension's own {0} is not:"
UNTRIED = "It is tried once it is known whose work the cases are."
LAYOUTS = {
    "transposed": "A transposed view, not contiguous.",
    "strided": "A view with gaps between its elements.",
    "offset": "A view that starts inside its storage.",
    "offset by two": "A view that starts two elements into its storage.",
    "columns": "A slice of columns: its rows have gaps between them.",
    "expanded": "A view of one row, which is seen as every row.",
}
FILLS = {"nan at the end": "An input whose last number is NaN."}


def grade(session: Session) -> Record:
    """Load and play everything; always comes back with a record."""
    record, task = session.record, session.task
    assert session.player is not None
    backend = session.player.backend
    loaded = _loaded(session)
    record.findings.append(loaded)
    if loaded.ok:
        session.started()
        session.loaded()
    begun = time.monotonic()
    ordinary, undecided = _cases(session, loaded=loaded.ok)
    record.findings += stream_check.judge(session, backend)
    record.stages["cases"] = time.monotonic() - begun
    if task.memory_points:
        begun = time.monotonic()
        if ordinary and session.inspect:
            record.memory += session.inspect()
            session.share_gpu()
        found = session.problem.memory()
        seen = memory.at_statements(record.memory, session.source)
        found = found or memory.finding(seen, task.memory_points, matched=ordinary, stages=task.stages)
        found = _waiting(found, NO_ACCESSES) if undecided else found
        record.findings.append(memory.known(found, session.known_clean))
        record.stages["memory"] = time.monotonic() - begun
    begun = time.monotonic()
    session.pardon()  # a kernel that crashes in every case takes nothing from a function beside it
    for part in task.parts:
        session.share_gpu()
        judged = parts.judge(part, session, loaded=loaded.ok)
        record.findings += [_waiting(f, UNTRIED) for f in judged] if undecided else judged
    record.stages["parts"] = time.monotonic() - begun
    return record


def changed(session: Session, case: Case, number: int) -> Finding:
    """The case with an alternative of an instrumented source. Deaths of the player are not counted."""
    session.pardon()
    session.record.memory.clear()
    try:
        session.revive()
        session.ask("change", number=number)
    except FaultError as fault:
        return fault.finding(case.name)
    return _case(session, case)


def _loaded(session: Session) -> Finding:
    """The first finding: whether the file could be imported and built; and what that took."""
    player, begun = session.player, time.monotonic()
    assert player is not None
    failed: FaultError | None = None
    try:
        session.record.facts = player.ready()
        session.share_gpu()
        session.load()
    except FaultError as fault:
        failed = fault
    stages, building = session.record.stages, player.seconds_building
    stages["load"], stages["build"] = time.monotonic() - begun - building, building
    # A compile error that the file caught counts, too: what it falls back to is not the exercise.
    if cause := player.compile_error or failed:
        return cause.finding("load")
    compiled = " and its sources compiled" if building else ""
    return Finding("load", Status.PASSED, f"The file was imported{compiled}.")


def _cases(session: Session, *, loaded: bool) -> tuple[bool, bool]:
    """Play all cases; whether one that has something to compute is right, and whether one is undecided.

    Until one is, a corner case proves nothing and has no points.
    """
    cases, problem, found = session.task.cases, session.problem, list[Finding]()
    if loaded:
        problem.open()
    right: list[Played] = []
    for case in cases:
        refused = problem.refusal(case, found) if loaded else _not_run(case)
        begun, before = time.monotonic(), session.calls
        found.append(redact(case, refused or _case(session, case)))
        if further_calls.may_follow(case, found[-1]) and (made := session.calls - before):
            right.append(Played(case, (time.monotonic() - begun) / made, problem.nbytes))
    if session.schedules > 1 and session.player:
        session.ask("schedule", seed=0)
    found = _after_further_calls(session, right, found)
    pairs = [*zip(cases, found, strict=True)]
    undecided = any(f.status in PENDING for c, f in pairs if not _only_launched(session, c))
    computed = {c.entry for c, f in pairs if f.ok and _has_result(session, c)}
    ordinary = bool(computed) and not undecided
    session.record.findings += problem.findings()
    if not ordinary:
        found = [_without_points(f, "" if undecided else "no ordinary case is right") for f in found]
    else:  # that a launch is allowed counts for a function that is right otherwise
        found = [
            f
            if not _only_launched(session, c) or c.entry in computed
            else _without_points(f, "no other case of this function is right")
            for c, f in pairs
        ]
    session.record.findings += _without_guesses(found)
    return ordinary, undecided


def _after_further_calls(session: Session, right: list[Played], found: list[Finding]) -> list[Finding]:
    """The findings of the cases; the one that is wrong in a further call says so instead."""
    if any(not _may_be_right(f) for f in found):  # there is something to be told already
        return found
    before = len(session.record.memory)
    if not (wrong := further_calls.play(session, right)):
        return found
    told = redact(wrong.case, _caused(session, wrong.finding, session.record.memory[before:]))
    return [told if f.id == wrong.case.name else f for f in found]


def _case(session: Session, case: Case) -> Finding:
    """One check: a call, and where it has further arguments those, until one is wrong.

    Where what is compiled is the point, it is then called by itself.
    """
    found = _call(session, case)
    for args in case.others:
        if not _may_be_right(found):
            break
        further = _call(session, replace(case, args=args, why=_kind_of(args) or case.why, others=()))
        if found.ok or not further.ok:
            found = further
    if case.compiled and found.ok:
        entry = case.entry or session.task.entry
        bound = _call(session, replace(case, entry=f"{EXTENSION}{entry}"))
        if not bound.ok:
            return replace(bound, message=f"{WITHOUT.format(entry)} {bound.message}")
    return found


def _may_be_right(finding: Finding) -> bool:
    """Whether nothing is wrong here; another back end may have to tell more."""
    return finding.ok or finding.status in PENDING


def _kind_of(args: Sequence[Argument]) -> str:
    """What is special about further arguments, in a sentence; "" if nothing is."""
    tensors = [a for a in args if isinstance(a, Tensor)]
    layouts = [LAYOUTS[t.layout] for t in tensors if t.layout in LAYOUTS]
    fills = [FILLS[t.fill] for t in tensors if t.fill in FILLS]
    empty = [t for t in tensors if not math.prod(t.shape)]
    shapes = [f"An input of {t.dtype} of shape {list(t.shape)}, without elements." for t in empty]
    dtypes = [f"An input of {t.dtype}." for t in tensors if t.dtype != "float32"]
    dims = [f"An input of shape {list(t.shape)}." for t in tensors if len(t.shape) < 2]
    return next(iter(layouts + fills + shapes + dtypes + dims), "")


def _call(session: Session, case: Case) -> Finding:
    session.begin(case)
    seen, before = session.record.memory, len(session.record.memory)
    try:
        session.revive()
        for seed in range(session.schedules):
            if session.schedules > 1:
                session.ask("schedule", seed=seed)
            calls = Calls(session, case)
            if failed := calls.run():
                return _in_schedule(_caused(session, failed, seen[before:]), seed, session.schedules)
    except FaultError as fault:
        return _fallen(session, case, fault, before)
    except LeftOutError as why:
        return Finding(case.name, Status.PASSED, f"Left out: {why}.", case.points, case.points)
    if case.expect == "raise":
        message = f"The call was accepted, though it must be refused: {case.why}"
        return Finding(case.name, Status.NOT_REFUSED, message, 0, case.points, {"passes": _passed(case)})
    return calls.undecided or Finding(case.name, Status.PASSED, case.why, case.points, case.points)


def _passed(case: Case) -> list[dict[str, object]]:
    """The tensors that the case passes, for what is said about a check that is missing."""
    tensors = [a for a in case.args if isinstance(a, Tensor)]
    return [{"dtype": a.dtype, "device": a.device, "dims": len(a.shape)} for a in tensors]


def _fallen(session: Session, case: Case, fault: FaultError, before: int) -> Finding:
    """The finding of a case that a fault has ended; memory findings since ``before`` are its own."""
    try:
        session.problem.fallen(case, fault)
    except LeftOutError as why:
        return Finding(case.name, Status.PASSED, f"Left out: {why}.", case.points, case.points)
    if fault.status is Status.RAISED and case.expect == "match":
        fault.evidence["computes"] = _passed(case)  # to refuse these inputs is no way out
    return _caused(session, session.fallen(case, fault), session.record.memory[before:])


def _caused(session: Session, finding: Finding, seen: list[MemoryFinding]) -> Finding:
    """A failed case, what its threads did wrong to memory first: its result may be only what came of it."""
    found = memory.errors(memory.at_statements(seen, session.source))
    if finding.ok or not found:
        return finding
    _, text = memory.told(found)
    evidence = finding.evidence | {"seen": [f.as_json() for f in found[: memory.MOST_TOLD]]}
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


def _has_result(session: Session, case: Case) -> bool:
    """Whether the case has a result with elements, which is looked at."""
    return case.expect == "match" and not _is_empty(case) and not _only_launched(session, case)


def _only_launched(session: Session, case: Case) -> bool:
    return case.launched and session.player is not None and session.player.backend == "simt"


def _is_empty(case: Case) -> bool:
    return any(isinstance(a, Tensor) and 0 in a.shape for a in case.args)


def _without_points(finding: Finding, why: str) -> Finding:
    """``why`` there are none yet; "" if another back end has to decide."""
    if not finding.points:
        return finding
    if not why:
        message = f"{finding.message} It counts once a GPU has told whose work the other cases are."
        return replace(finding, status=Status.PENDING_GPU, points=0, message=message)
    message = f"{finding.message} No points yet: {why}."
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


def _waiting(finding: Finding, why: str) -> Finding:
    """What is not judged before a case is: that waits for a GPU, and so does this."""
    untried = finding.status is Status.NOT_RUN
    return replace(finding, status=Status.PENDING_GPU, message=why) if untried else finding


def _not_run(case: Case) -> Finding:
    return Finding(case.name, Status.NOT_RUN, case.why, 0, case.points)
