"""The calls of one case, round after round, and what each must fulfil."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from grader.domain.task import Case
from grader.domain.verdict import Finding, Status
from grader.referee import contract, own_work, rounds, transport
from grader.referee.draw import Drawn
from grader.referee.judge import judge, right
from grader.referee.lesson_problem import LessonProblem
from grader.referee.process.player_process import Answer
from grader.referee.reference import Expected
from grader.referee.rounds import Round
from grader.referee.session import Session

Arrays = list[transport.Array]
DRAWS = 5  # at most, for one round
EARLY = (
    "The result is right for an input of zeros: the work began before its input was there. This call is made "
    "on another stream than the default one, which is still writing the input. Launch on the current stream "
    "(`at::cuda::getCurrentCUDAStream()`, asked for in the thread that was called)."
)


class Calls:
    """Plays one case of a match; ``run`` comes back with the first failure, or None."""

    def __init__(self, session: Session, case: Case) -> None:
        assert session.player is not None
        assert isinstance(session.problem, LessonProblem), "only lessons have cases"
        self.session, self.case, self.player = session, case, session.player
        self.problem = session.problem
        self.model = session.task.kind == "model" and not case.entry
        self.args: list[transport.Value] = []
        self.expected = Expected()
        self.before: Arrays = []

    def run(self) -> Finding | None:
        """All rounds of the case."""
        if self.model:
            self.problem.construct(self.case)
        for number, (one, watch) in enumerate(self._course()):
            failed = self._call(one, watch)
            if failed:
                return _told(failed, number, one)
            if self.expected.is_value:
                break
        return None

    @property
    def elsewhere(self) -> bool:
        """Whether all but the first calls are made on another stream, on which the input comes late."""
        return self.player.backend == "cuda"

    def _course(self) -> Iterator[tuple[Round, bool]]:
        """The rounds, and whether this is the one that is watched, which nobody can foresee.

        How many there are shows when the first answer is there.
        """
        first, *rest = rounds.planned(self.session.task, self.case)
        watched = int(self.session.rng.integers(1 + len(rest)))
        yield first, watched == 0
        extra = rounds.more(self.case, sum(e.size for e in self.expected.eager))
        too = int(self.session.rng.integers(max(1, extra)))
        yield from ((first, number == too) for number in range(extra))
        yield from ((one, number == watched) for number, one in enumerate(rest, 1))

    def _call(self, one: Round, watch: bool) -> Finding | None:
        case, player, session = self.case, self.player, self.session
        own = own_work.applies(session.task, case, player.backend)
        self._draw(one)
        expected = self.expected
        sheet = transport.prepare(
            player,
            self.args,
            expected.outputs,
            kept=[(a.shape, str(a.dtype)) for a in self.before],
            state=self.problem.weights if self.model else None,
        )
        entry = case.entry or session.task.entry
        answer = session.ask("call", entry=entry, inputs=one.inputs, watch=watch and own, **sheet.fields)
        if case.expect == "raise":
            return None
        changed = transport.changed(player, sheet)
        got, again = transport.collect(player, sheet.wanted), transport.collect(player, sheet.kept)
        if failed := contract.differ(case, answer.data, expected):
            return failed
        if failed := self._wrong(got):
            return self._early(failed, one, got)
        if changed is not None:
            message = f"After the call, {changed} no longer holds what was passed in."
            return Finding(case.name, Status.MUTATED_INPUT, message, 0, case.points, {"changed": changed})
        return self._unsteady(one, got, again) or (self._not_own(answer) if own else None)

    def _draw(self, one: Round) -> None:
        """Weights, inputs and answers of a round; some tries for answers that are not all one value."""
        for again in range(DRAWS):
            self._weights(one)
            if not again or one.inputs != "swap":
                self._inputs(one)
            if self.case.expect != "match" or one.same_answer:
                return
            self.expected = self.session.oracle.expect(self.case, self.args, self.expected)
            drawn_anew = one.inputs in ("new", "refill") or (self.model and one.weights != "keep")
            if not drawn_anew or not self.expected.says_little:
                return

    def _weights(self, one: Round) -> None:
        if not self.model or one.weights == "keep":
            return
        if one.weights == "move":
            self.problem.send_weights("move")
        else:
            self.problem.new_weights(one.weights)

    def _inputs(self, one: Round) -> None:
        if one.inputs in ("new", "refill"):
            self.args = self.problem.arguments(self.case)
        elif one.inputs == "swap":
            self.args = [rounds.swapped(a) if isinstance(a, Drawn) else a for a in self.args]

    def _wrong(self, got: Arrays) -> Finding | None:
        """Every element of every output against the answers."""
        views = tuple(a.view() for a in self.args if isinstance(a, Drawn))
        answers = zip(self.expected.answers, self.expected.eager, got, strict=True)
        for number, (answer, eager, array) in enumerate(answers):
            verdict = judge(answer, eager, array, views)
            if verdict.status is not Status.PASSED:
                return self.session.explain(self.case, verdict, number, array.shape)
        return None

    def _early(self, failed: Finding, one: Round, got: Arrays) -> Finding:
        """Say so if a result is right for zeros: the kernel did not wait (see `player/late_inputs.py`)."""
        if not self.elsewhere or one.inputs == "new":
            return failed
        zeros = [
            replace(a, storage=np.zeros_like(a.storage)) if isinstance(a, Drawn) else a for a in self.args
        ]
        nothing = self.session.oracle.expect(self.case, zeros, self.expected)
        if not all(map(right, nothing.answers, nothing.eager, got)):
            return failed
        return replace(failed, message=EARLY, evidence=failed.evidence | {"early": True})

    def _unsteady(self, one: Round, got: Arrays, again: Arrays) -> Finding | None:
        """The last call's results must have stayed as they were; the same call must give the same bits."""
        before, self.before = self.before, got
        for old, now in zip(before, again, strict=True):
            if not np.array_equal(old, now, equal_nan=old.dtype.kind == "f"):
                return Finding(self.case.name, Status.WRONG_OUTPUT, rounds.CHANGED_LATER, 0, self.case.points)
        if not (one.same_answer and before) or self.session.unordered:
            return None
        for old, now in zip(before, got, strict=True):
            differ = (old != now) & ~((old != old) & (now != now))  # NaN is not unequal to NaN here
            if count := int(np.count_nonzero(differ)):
                message = (
                    f"The same values gave another result the second time, in {count:,} of {now.size:,} "
                    "elements: something depends on the address, or on the order in which threads run."
                )
                return Finding(self.case.name, Status.WRONG_OUTPUT, message, 0, self.case.points)
        return None

    def _not_own(self, answer: Answer) -> Finding | None:
        session = self.session
        shapes = [a.shape for a in self.args if isinstance(a, Drawn)] + [
            w.shape for _, w in self.problem.weights
        ]
        given = [s for s in shapes if math.prod(s)]
        seen = own_work.ObservedCall(self.player, answer, session.source)
        return own_work.not_own(session.task, self.case, seen, self.expected, given, session.rng)


def _told(finding: Finding, number: int, one: Round) -> Finding:
    """Say what happened before a later round that failed, when it matters."""
    if not number or not one.what or finding.status is Status.NO_KERNEL:
        return finding
    message = f"Call {number + 1}, after {one.what}: {finding.message}"
    return replace(finding, message=message, evidence=finding.evidence | {"call": number + 1})
