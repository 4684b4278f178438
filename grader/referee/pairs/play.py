"""A pair from beginning to end: inputs as given and unkind ones, every call compared, the problem too."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from grader.domain.part import Check
from grader.domain.task import Case
from grader.domain.verdict import Finding, Status
from grader.feedback import memory
from grader.referee import rounds
from grader.referee.dtypes import size_of
from grader.referee.fault import FaultError
from grader.referee.pairs import size
from grader.referee.pairs.degenerate import Signs
from grader.referee.pairs.pair_problem import FEW, PairProblem, Posed
from grader.referee.pairs.pair_spec import AS_GIVEN, MEMORY, PairSpec
from grader.referee.pairs.windows import Comparison, inputs_changed, own_check, state_changed
from grader.referee.parts.part_session import PartSession
from grader.referee.pieces_transport import Line, fetch
from grader.referee.rounds import Round

# Beyond either, a problem is played with its own inputs only: bytes of tensors, and on a CPU operations of
# products, whose float64 answers take minutes.
LARGE, HEAVY = 1 << 30, 1 << 37
MORE = 3  # rounds to see whether results of one value are due to the weights alone
ROUNDED = (Status.WRONG_OUTPUT, Status.PRECISION)  # what rounding alone may look like


@dataclass(slots=True)
class Play:
    """One pair from beginning to end."""

    room: PartSession
    pair: PairSpec
    game: PairProblem = field(init=False)
    notes: list[str] = field(default_factory=list)
    signs: Signs = field(default_factory=Signs)
    checked: bool = True
    short: bool = False
    work: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        problem = self.room.grading.problem
        assert isinstance(problem, PairProblem), "whoever makes the job says how its problem is posed"
        self.game = problem

    def run(self) -> list[Finding]:
        """All findings, in the order of the checks."""
        problem, *checks = self.pair.checks
        try:
            self._open()
        except FaultError as fault:
            self.room.grading.oracle.player.stop()
            first = fault.finding(problem.name, problem.points)
            return [first, *(c.failed(Status.NOT_RUN, c.why) for c in checks)]
        cases = [c for c in checks if c.name != MEMORY]
        found: list[Finding] = []
        for number, check in enumerate(cases):
            if found and not found[0].ok and not self.pair.specs:
                found.append(check.failed(Status.NOT_RUN, "The inputs as given are not right yet."))
                continue
            found.append(self._case(check, number))
        ordinary = bool(found) and found[0].ok
        return [self._problem(problem), *found, *self._memory(ordinary)]

    def _open(self) -> None:
        game, pair = self.game, self.pair
        session = self.room.grading
        session.oracle.load(pair.reference)
        size.require(game)
        game.open()
        if not game.draw(AS_GIVEN):
            raise FaultError(Status.NOT_GRADABLE, "The reference gives no inputs.")
        posed = game.pose(game.seed(), weigh=True)
        if posed.random and game.training:
            self.notes.append(
                "Its training mode draws random numbers, so both are judged in evaluation mode."
            )
            game.evaluate()
            game.weights("write")
            posed = game.pose(game.seed(), weigh=True)
        if posed.random == "seeded":
            self.notes.append("It draws random numbers; both draw them with the same seed.")
            game.seeded = True
            posed = game.pose(game.seed(), weigh=True)
        elif posed.random:
            message = (
                "The reference draws random numbers in every call, so its results are another thing each "
                "time and there is nothing to compare with."
            )
            raise FaultError(Status.NOT_GRADABLE, message)
        if posed.native:
            self.notes.append(
                f"It cannot be computed in float64 ({posed.native}); errors are judged by rule."
            )
        if posed.blocks > 1:
            self.notes.append(f"Its float64 answers come in {posed.blocks} blocks of the batch.")
        total = game.inputs.nbytes + posed.nbytes
        operations = sum(entry[3] for entry in posed.ops) + posed.elements
        self.game.large = total > LARGE
        self.short = self.game.large or (operations > HEAVY and game.theirs.player.backend == "cpu")
        if self.short:
            much = (
                f"{total / 1e9:.1f} GB of tensors"
                if self.game.large
                else f"{operations / 1e9:.0f}e9 operations"
            )
            self.notes.append(f"With {much} it is played with its own inputs only.")
        self.checked = size.checks_fit(game, total)
        game.ops, game.result_bytes = posed.ops, posed.nbytes
        held = sum(h.nbytes for h in game.wanted)
        self.work = {"bytes": total + held, "operations": operations}

    def _case(self, check: Check, number: int) -> Finding:
        case = Case(check.name, (), check.why, check.points)
        session = self.room.grading
        session.begin(case)
        try:
            session.revive()
            if not self.checked:
                session.ask("check", on=False)
            self.game.enter()
            if self.pair.specs:
                return self._spec(case, check, number)
            if check.name == AS_GIVEN:
                return self._rounds(case, check)
            return self._variant(case, check)
        except FaultError as fault:
            if fault.evidence.pop("reference", False) and check.name != AS_GIVEN:
                why = fault.message.removeprefix("The reference itself failed: ")
                self.notes.append(f"Left out: {check.name} (the reference refuses it: {why[:200]})")
                return check.passed("Left out: the reference itself refuses such inputs.")
            return session.fallen(case, fault)

    def _rounds(self, case: Case, check: Check) -> Finding:
        before: dict[int, bytes] = {}
        for number, one in enumerate(self._planned()):
            posed, comparison, failed = self._round(case, one)
            if not failed and before:
                failed = self._unsteady(comparison, before)
            before = comparison.kept
            self.signs.round(posed)
            if number == 0:
                self.signs.first(posed, comparison)
            elif one.weights == "keep" and posed.same:
                self.signs.same = True
            if failed:
                message = (
                    f"Call {number + 1}, after {one.what}: {failed.message}" if number else failed.message
                )
                return check.failed(failed.status, message, **failed.evidence)
        return check.passed()

    def _planned(self) -> Iterator[Round]:
        """The rounds, and some more where results of one value throughout may be due to the weights alone."""
        yield from rounds.FULL_SIZE[:2] if self.short else rounds.FULL_SIZE
        for _ in range(MORE if self.game.wanted and not self.short else 0):
            if self.signs.always:
                yield rounds.AGAIN

    def _variant(self, case: Case, check: Check) -> Finding:
        game = self.game
        if self.short:
            return check.passed("Left out: the problem is large.")
        if not game.draw(check.name):
            self.notes.append(
                f"Left out: {check.name} (it changes nothing here, or the dtype cannot hold it)."
            )
            return check.passed("Left out: it changes nothing here.")
        posed = game.pose(game.seed())
        if not all(t["finite"] for t in posed.tensors):
            self.notes.append(f"Left out: {check.name} (the reference itself gives NaN or infinity there).")
            return check.passed("Left out: the reference itself gives NaN or infinity there.")
        _, comparison, failed = self._play(case, posed, "new", game.seed() >> 30)
        if failed and failed.status in ROUNDED and not posed.random and comparison.excused():
            why = "the reference's own results depend on the last bit of its inputs there"
            self.notes.append(f"Left out: {check.name} ({why}).")
            game.hand_over(set(posed.state))
            return check.passed(f"Left out: {why}.")
        return failed or check.passed()

    def _spec(self, case: Case, check: Check, number: int) -> Finding:
        """A test of the problem's own list, twice: with new inputs, and with others in the same memory."""
        game, own = self.game, self.pair.own_check
        for inputs in ("new", "refill"):
            game.draw(AS_GIVEN, number)
            posed = game.pose(game.seed() >> 30)
            game.give(fresh=inputs == "new")
            said = game.call(inputs, game.seed() >> 30, keep=False)
            comparison = Comparison(game, posed, case, look=number == 0)
            if number == 0 and inputs == "new":
                self.signs.round(posed)
                self.signs.first(posed, comparison)
            failed = (comparison.form(said) or own_check(comparison, said)) if own else comparison.run(said)
            if failed:
                return failed
        return check.passed()

    def _round(self, case: Case, one: Round) -> tuple[Posed, Comparison, Finding | None]:
        game = self.game
        if one.weights != "keep":
            game.weights(one.weights)
        if one.inputs != "keep":
            game.draw(AS_GIVEN)
        seed = game.seed() >> 30
        return self._play(case, game.pose(seed), one.inputs, seed)

    def _play(
        self, case: Case, posed: Posed, inputs: str, seed: int
    ) -> tuple[Posed, Comparison, Finding | None]:
        """Give the inputs, call, compare."""
        game = self.game
        if inputs != "keep" or posed.changed:
            game.give(fresh=inputs == "new")
        said = game.call(inputs, seed, keep=posed.nbytes <= FEW)
        comparison = Comparison(game, posed, case, look=case.name == AS_GIVEN and inputs == "new")
        failed = comparison.run(said) or inputs_changed(comparison, [])
        if not failed and game.table and self._look_at_state():
            failed = state_changed(comparison)
        elif posed.state:
            game.hand_over(set(posed.state))
        return posed, comparison, failed

    def _look_at_state(self) -> bool:
        return not self.game.large or sum(h.nbytes for h in self.game.wanted) <= FEW

    def _unsteady(self, comparison: Comparison, before: dict[int, bytes]) -> Finding | None:
        """The results of the call before must have stayed as they were."""
        for output, data in before.items():
            dtype = comparison.posed.tensors[output]["dtype"]
            line = Line("before", output, len(data) // size_of(dtype), dtype, size_of(dtype))
            (again,) = fetch(self.game.mine, [(line, 0, line.elements)])
            if again != data:
                return comparison.fail(Status.WRONG_OUTPUT, rounds.CHANGED_LATER)
        return None

    def _problem(self, check: Check) -> Finding:
        if self.game.uncompiled:
            self.notes.append(
                "Without a GPU torch.compile was left out: its functions ran as written, and what it "
                "generates is checked on a GPU only."
            )
        remarks = " ".join(self.notes)
        mode = "train" if self.game.training else "eval"
        facts: dict[str, Any] = {"notes": self.notes, "mode": mode, "work": self.work}
        if what := "; ".join(self.signs):
            message = f"The problem is degenerate: {what}. A right result proves nothing here. {remarks}"
            return check.failed(Status.NOT_GRADABLE, message.strip(), **facts)
        return check.passed(f"A wrong result shows. {remarks}".strip(), **facts)

    def _memory(self, ordinary: bool) -> list[Finding]:
        if not self.pair.memory_points:
            return []
        if not self.checked:
            message = (
                "Memory was not checked: what the checks note of every access would not fit beside tensors "
                "of this size. Grade the same pair with a smaller batch, too."
            )
            return [Finding(MEMORY, Status.PENDING_CPU, message, 0, self.pair.memory_points)]
        return [memory.finding(self.room.grading.record.memory, self.pair.memory_points, matched=ordinary)]


@dataclass(frozen=True, slots=True)
class Pair(PairSpec):
    """The part of a task that is a pair."""

    def judge(self, room: PartSession) -> Iterator[Finding]:
        """One finding for each check."""
        return iter(Play(room, self).run())
