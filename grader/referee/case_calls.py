"""The calls of one case, round after round, and what each must fulfil."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from grader.domain.verdict import PENDING, Finding, Status
from grader.feedback.look import first_look
from grader.protocol import play
from grader.protocol.play import Returned, ReturnedApart
from grader.referee import own_work, rounds
from grader.referee.comparison import Comparison
from grader.referee.dtypes import array
from grader.referee.problem import FEW, LeftOutError, Posed
from grader.referee.transfer import Line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from grader.domain.task import Case
    from grader.referee.rounds import Round
    from grader.referee.session import Session

ATOMICS = {"atomicAdd", "atomicAdd_block", "atomicCAS", "atomicExch", "gpuAtomicAdd", "gpuAtomicAddNoReturn",
           "atomicMax", "atomicMin", "fastAtomicAdd", "atomic_ref"}  # fmt: skip
EARLY = (
    "The result is right for an input of zeros: the work began before its input was there. It is on a stream "
    "of its own that does not wait for the current stream, which was still writing the input. Launch on the "
    "current stream (`at::cuda::getCurrentCUDAStream()`), or have the other one wait for it, and it for the "
    "other one."
)


class Calls:
    """Plays one case of a session; ``run`` comes back with the first failure, or None.

    Then ``undecided`` is what only another back end can tell of its calls, or None.

    ``weigh``: count torch's operators; ``seconds``: for each call, if not the usual ones; ``made``: told of
    each call of the submission, before it is judged.
    """

    def __init__(
        self,
        session: Session,
        case: Case,
        *,
        weigh: bool = False,
        seconds: float | None = None,
        made: Callable[[Returned], None] = lambda _: None,
    ) -> None:
        assert session.player is not None
        self.session, self.case, self.player = session, case, session.player
        self.problem = session.problem
        self.weigh, self.seconds, self.made = weigh, seconds, made
        self.posed: Posed | None = None
        self.before: list[tuple[Line, bytes]] = []  # results of the call before
        self._draws = 0  # of inputs
        self._told: _Heard | None = None
        self._decides = False  # the next watched call
        self.undecided: Finding | None = None  # what only another back end can tell of a call

    def run(self) -> Finding | None:
        """All rounds of the case; LeftOutError if the problem cannot be asked this."""
        if not self.only_launched:
            return self.play(self.problem.rounds(self.case))
        self.session.ask("schedule", seed=0, no_blocks=True)
        try:
            return self.play([(rounds.FIRST, False)])
        finally:
            if self.session.player:
                self.session.ask("schedule", seed=0)

    @property
    def only_launched(self) -> bool:
        """Whether no block runs, so that there is no result to look at."""
        return self.case.launched and self.player.backend == "simt"

    def play(self, planned: Iterable[tuple[Round, bool]], first: int = 0) -> Finding | None:
        """These rounds, and whether each is watched; the first of them has this number in its case."""
        self.problem.construct(self.case)
        for number, (one, watch) in enumerate(planned, first):
            failed = self._call(number, one, watch=watch)
            if failed:
                return _told(failed, number, one)
            if self.posed and not self.posed.tensors:
                break
        return None

    @property
    def late(self) -> bool:
        """Whether the input comes late in all but the first calls."""
        return self.player.backend == "cuda"

    def _call(self, number: int, one: Round, *, watch: bool) -> Finding | None:
        own = own_work.applies(self.session.task, self.case, self.player.backend)
        self.draw(one)
        posed = self.posed
        changed = bool(posed and posed.answered.changed)
        if one.inputs != "keep" or changed:
            self.problem.give(fresh=one.inputs in ("new", "move"))
        watch = own and (watch or self.player.backend == "simt") and not one.followed
        returned = self._returned(one, posed, watch=watch)
        if self.only_launched:
            return self._launched(returned) if own else None
        if posed is None:
            return None
        lines = [line for line, _ in self.before]
        comparison = Comparison(self.session, self.case, posed, lines, look=number == 0)
        failed = self.problem.judged(comparison, returned)
        if failed:
            failed = self._early(failed, one, comparison)
        elif self.problem.pure:
            failed = comparison.inputs_changed() or self._state(comparison) or self._unsteady(one, comparison)
        self.problem.played(self.case, number, one, comparison)
        if failed and (why := self.problem.excuse(self.case, failed, comparison)):
            raise LeftOutError(why)
        if failed or not watch:
            return failed
        own_work.keep_launches(self.session, self.case)
        failed = self._not_own(returned, posed) or self._by_the_host(number, returned, posed)
        if failed and failed.status in PENDING:  # the calls that follow may be wrong
            self.undecided, failed = failed, None
        return failed

    def draw(self, one: Round) -> None:
        """Weights, inputs and answers of a round; some tries for answers that are not all one value."""
        self._draws += one.inputs in ("new", "refill")
        for again in range(self.problem.draws):
            if one.weights != "keep" and self.problem.has_weights:
                self.problem.new_weights(one.weights)
            if one.inputs in ("new", "refill"):
                self.problem.draw(self.case)
            elif one.inputs == "swap" and not again:
                self.problem.swap()
            if self.case.expect != "match" or self._repeats(one):
                return
            self.posed = self.problem.pose()
            drawn_anew = one.inputs in ("new", "refill") or (
                self.problem.has_weights and one.weights != "keep"
            )
            if not drawn_anew or not self.posed.says_little:
                return

    def _repeats(self, one: Round) -> bool:
        """Whether the answer is that of the call before: not where each call changes the model's state."""
        return one.same_answer and not (self.posed and self.posed.answered.state)

    def _returned(self, one: Round, posed: Posed | None, *, watch: bool) -> Returned:
        few = posed is not None and posed.nbytes <= FEW and self.problem.pure
        sizes = posed.sizes if posed and few else ()
        call = play.Call(
            one.inputs, self._seed(), few, sizes, watch, self.weigh, followed=one.followed
        )  # fmt: skip
        if watch and posed:
            products = self.session.task.own in ("elementwise", "fused")
            given, wanted = self._given(), {tuple(sorted(tensor.shape)) for tensor in posed.tensors}
            prepared = tuple(shape for shape in given if tuple(sorted(shape)) not in wanted)
            call = msgspec.structs.replace(call, products=products, prepared=prepared)
        returned = self.problem.mine.ask(call, Returned, seconds=self.seconds)
        self.made(returned)
        return returned

    def _given(self) -> list[tuple[int, ...]]:
        """The shapes of inputs and weights."""
        shapes = [form.shape for form in self.problem.inputs.forms]
        shapes += [own.shape for _, own in self.problem.pairs]
        return [shape for shape in shapes if 0 not in shape]

    def _seed(self) -> int:
        """Where the problem draws no random numbers, a result must not depend on any."""
        return self.problem.call_seed if self.problem.seeded else self.problem.seed()

    def apart(self, hold_s: float) -> tuple[bool, ReturnedApart]:
        """A further call, with new weights and inputs, while the current stream is not the default one.

        Whether its result was right, and what the player tells. ``hold_s``: see :class:`.play.CallApart`.
        """
        self.problem.construct(self.case)
        self.draw(rounds.FIRST)
        self.problem.give(fresh=True)
        posed = self.posed
        assert posed is not None
        sizes = posed.sizes if posed.nbytes <= FEW else ()
        told = self.problem.mine.ask(play.CallApart(self._seed(), hold_s, sizes), ReturnedApart)
        right = self.problem.agreed(Comparison(self.session, self.case, posed), told)
        self.problem.forget(posed.answered.state)
        return right, told

    def _early(self, failed: Finding, one: Round, comparison: Comparison) -> Finding:
        """Say so if a result is right for zeros: the kernel did not wait (see `player/late_inputs.py`)."""
        wrong = failed.status in (Status.WRONG_OUTPUT, Status.NOT_FINITE, Status.PRECISION)
        if not self.late or one.inputs == "new" or not wrong or not comparison.posed.tensors:
            return failed
        self.problem.draw(self.case, zeros=True)
        nothing = comparison.beside(self.problem.pose())
        if not nothing.right():
            return failed
        return replace(failed, message=EARLY, evidence=failed.evidence | {"early": True})

    def _state(self, comparison: Comparison) -> Finding | None:
        """Whether the model's state is as it should be; where it is too large to look, it is put right."""
        updated = comparison.posed.answered.state
        self.problem.forget(updated)
        if self.problem.looks_at_state:
            return comparison.state_changed()
        if updated:
            self.problem.hand_over(updated)
        return None

    def _unsteady(self, one: Round, comparison: Comparison) -> Finding | None:
        """The last call's results must have stayed as they were; the same call must give the same bits."""
        before, results = self.before, comparison.results
        dtypes = [tensor.dtype for tensor in comparison.posed.tensors]
        self.before = [
            (Line("before", n, comparison.posed.sizes[n], dtypes[n]), data) for n, data in enumerate(results)
        ]
        for line, data in before:
            if comparison.mine.get(line) != data:
                return comparison.fail(Status.WRONG_OUTPUT, rounds.CHANGED_LATER)
        if not self._repeats(one):
            return None
        for (line, data), now in zip(before, results, strict=True):
            old, new = array(data, line.dtype), array(now, line.dtype)
            differ = (old != new) & ~((old != old) & (new != new))  # NaN is not unequal to NaN here
            if (count := int(np.count_nonzero(differ))) and not self._is_unordered():
                message = (
                    f"The same values gave another result the second time, in {count:,} of {new.size:,} "
                    "elements: something depends on the address, or on the order in which threads run."
                )
                return comparison.fail(Status.WRONG_OUTPUT, message)
        return None

    def _is_unordered(self) -> bool:
        """Whether kernels add atomically, which comes in any order, so that the last bits may differ.

        The CPU back end counts what is executed in one more such call. On a GPU the kernels' words tell.
        """
        session = self.session
        if self.player.backend != "simt":
            return bool(first_look.words_of_kernels(session.source) & ATOMICS)
        with session.counting():
            self.problem.mine.ask(play.Call("keep", self._seed()), Returned, seconds=self.seconds)
        self.before = []  # the call before the next one is this one now, and nobody has taken its results
        counts = [launch.counts for launch in session.launches if launch.counts]
        return any(c.global_atomic.requests or c.shared_atomic.requests for c in counts)

    def _not_own(self, returned: Returned, posed: Posed) -> Finding | None:
        seen = own_work.ObservedCall(
            self.player, returned.watched, self.session.launches, self.session.source,
            any(tensor.turned for tensor in returned.tensors),
        )  # fmt: skip
        wanted = [tensor.shape for tensor in posed.tensors]
        return own_work.not_own(self.session.task, self.case, seen, wanted, self._given(), self.session.rng)

    def _launched(self, returned: Returned) -> Finding | None:
        found = None if returned.watched.interpreted else own_work.only_launched(self.session, self.case)
        if found and found.status in PENDING:
            self.undecided, found = found, None
        return found

    def _by_the_host(self, number: int, returned: Returned, posed: Posed) -> Finding | None:
        """The host must tell the device the same, whatever the inputs' values are.

        Two calls may differ in what is made once, or after new weights; then two more decide. How much may
        differ goes by the largest result that this function has had to give: a seed stays one in small cases.
        """
        entry = self.case.entry or self.session.task.entry
        largest = max([self.session.largest.get(entry, 0), *posed.sizes])
        self.session.largest[entry] = largest
        before, self._told = self._told, None
        if returned.watched.told is None:
            return None
        now = self._told = _Heard(self._draws, self.problem.inputs.forms, returned.watched.told)
        if before is None or before.draw == now.draw or before.forms != now.forms:
            return None
        found = own_work.by_the_host(
            self.session.task, self.case, before.told, now.told, largest,
            interpreted=bool(returned.watched.interpreted),
        )  # fmt: skip
        if not found or self._decides:
            return found
        self._told = None
        for decides in (False, True):
            self._decides = decides
            if failed := self._call(max(1, number), rounds.AGAIN, watch=True):
                return failed
        self._decides = False
        return None


@dataclass(frozen=True, slots=True)
class _Heard:
    """What the host told the device in a watched call, and which inputs that had."""

    draw: int
    forms: tuple[play.InputForm, ...]
    told: tuple[play.Told, ...]


def _told(finding: Finding, number: int, one: Round) -> Finding:
    """Say what happened before a later round that failed, when it matters."""
    if not number or not one.what or finding.status is Status.NO_KERNEL:
        return finding
    message = f"Call {number + 1}, after {one.what}: {finding.message}"
    if one.followed:
        message += f" {rounds.BEHIND}"
    return replace(finding, message=message, evidence=finding.evidence | {"call": number + 1})
