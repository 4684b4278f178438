"""A pair of files as a problem: inputs as the reference gives them, and unkind ones; or its own tests.

It is also asked whether it can tell a right result from a wrong one.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, cast

from grader.domain.verdict import PENDING, Finding, Status
from grader.protocol import play
from grader.protocol.play import Begun, Made, Returned, Work
from grader.referee import rounds, state_match
from grader.referee.comparison import Comparison
from grader.referee.fault import FaultError
from grader.referee.pairs import size
from grader.referee.pairs.degenerate import MOST_SLACK, Signs
from grader.referee.pairs.pair_spec import AS_GIVEN, VARIANTS, PairSpec, arguments
from grader.referee.problem import (
    BUDGET,
    FEW,
    Compared,
    Inputs,
    LeftOutError,
    Posed,
    Problem,
    Sides,
    require_passable,
)
from grader.referee.rounds import Round
from grader.referee.transfer import input_lines, move

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.domain.task import Case
    from grader.referee.session import Session
    from grader.referee.side import Side
    from grader.referee.state_match import Held

NAME, WHY = "problem", "Can this problem tell a right result from a wrong one?"
# Beyond either, a problem is played with its own inputs only: bytes of tensors, and on a CPU operations of
# products, whose float64 answers take minutes.
LARGE, HEAVY = 1 << 30, 1 << 37
WEIGHTS = 3  # with which it is seen what a training mode makes of rounding
STEADY = 1e-4  # an allowed error, of the largest value: below it other weights will not make it large
MORE = 3  # rounds to see whether results of one value are due to the weights alone
ROUNDED = (Status.WRONG_OUTPUT, Status.PRECISION)  # what rounding alone may look like
ONCE = Round("new", "keep")  # a variant of the inputs
# A test of the problem's own: new inputs, and others in the same memory.
TWICE = (ONCE, Round("refill", "keep"))


class PairProblem(Problem):
    """A reference with the submission that is to be like it.

    Attributes:
        spec: What is asked.
        work: torch's operators in one call of the reference.
        uncompiled: torch.compile was left out of the submission, as there is no GPU.
        large: The tensors are too many to be timed.
        result_bytes: What the reference returns.
        notes: Remarks about the problem.
    """

    def __init__(self, sides: Sides, spec: PairSpec) -> None:
        super().__init__(sides)
        self.spec, self.mode = spec, spec.mode
        self.budget = spec.budget_bytes or BUDGET
        self.work: Work = ()
        self.large, self.result_bytes = False, 0
        self.notes: list[str] = []
        self.wanted: list[Held] = []
        self._init, self._signs = Inputs(), Signs()
        self.uncompiled = False
        self._short = False  # played with its own inputs only
        self._checked = True  # the CPU back end can check every access
        self._opened = False  # else there is no submission to ask
        self._fault: FaultError | None = None
        self._size: dict[str, int] = {}
        self._made_by: object = None
        self._unkind = ""  # how the inputs were changed, as the name of the case says

    def open(self) -> None:
        """Construct the reference, and learn what it holds, returns and does."""
        self._opened = True
        try:
            super().open()
            if not self.spec.specs:
                size.require(self.theirs, self.spec.reference_entry)
            self.begin()
            self._measure()
        except FaultError as fault:
            self._fault = fault
            self.theirs.player.stop()

    def begin(self) -> None:
        """Construct the reference."""
        spec = self.spec
        specs = tuple(map(arguments, spec.specs))
        step = play.Begin(spec.reference_entry, self.seed(), self.mode, specs=specs, there=True)
        said = self.theirs.ask(step, Begun)
        require_passable(said.init, "get_init_inputs()")
        self._init = Inputs(said.init, said.forms)
        self.wanted, self.training = state_match.read(said.state), said.training

    def _measure(self) -> None:
        """Draw once and answer: is it random, is it large, what does it compute?"""
        if not self._drawn("as given", 0):
            raise FaultError(Status.NOT_GRADABLE, "The reference gives no inputs.")
        posed = self.pose(weigh=True)
        if posed.answered.random and self.training:
            self.notes.append(
                "Its training mode draws random numbers, so both are judged in evaluation mode."
            )
            self.mode, self.training = "eval", False
            self.draw_weights()
            posed = self.pose(weigh=True)
        if posed.answered.random == "seeded":
            self.notes.append("It draws random numbers; both draw them with the same seed.")
            self.seeded = True
            posed = self.pose(weigh=True)
        elif not posed.answered.random and self.training and not self.mode and self._magnifies(posed):
            self.notes.append(
                "Its training mode makes so much of rounding that its own results are far from the exact "
                "ones, so both are judged in evaluation mode."
            )
            self.mode, self.training = "eval", False
            self.draw_weights()
            posed = self.pose(weigh=True)
        elif posed.answered.random:
            message = (
                "The reference draws random numbers in every call, so its results are another thing each "
                "time and there is nothing to compare with."
            )
            raise FaultError(Status.NOT_GRADABLE, message)
        self._learn(posed)

    def _magnifies(self, posed: Posed) -> bool:
        """Whether the reference's own results allow an error that hides mistakes, in its training mode.

        Batch normalisation over few values can divide by nearly nothing, with some weights and not others.
        What holds no running statistics does the same in evaluation mode.
        """
        for _ in range(WEIGHTS if any(held.kind == "buffer" for held in self.wanted) else 0):
            if posed.nbytes > FEW or not posed.tensors:
                return False
            slack = Comparison(cast("Session", self.sides), self.spec.cases[0], posed).own_slack()
            if not STEADY < slack < math.inf:
                return False
            if slack > MOST_SLACK:
                return True
            self.draw_weights()
            posed = self.pose()
        return False

    def _learn(self, posed: Posed) -> None:
        answered = posed.answered
        if answered.native:
            self.notes.append(
                f"It cannot be computed in float64 ({answered.native}); errors are judged by rule."
            )
        if answered.blocks > 1:
            self.notes.append(f"Its float64 answers come in {answered.blocks} blocks of the batch.")
        total = self.inputs.nbytes + posed.nbytes
        operations = sum(flops for *_, flops in answered.work) + answered.elements
        self.large = total > LARGE
        self._short = self.large or (operations > HEAVY and self.theirs.player.backend == "cpu")
        if self._short:
            gigabytes, billions = f"{total / 1e9:.1f} GB of tensors", f"{operations / 1e9:.0f}e9 operations"
            much = gigabytes if self.large else billions
            self.notes.append(f"With {much} it is played with its own inputs only.")
        self._checked = size.checks_fit(self.mine.player.backend, total)
        self.work, self.result_bytes = answered.work, posed.nbytes
        self._size = {"bytes": total + sum(h.nbytes for h in self.wanted), "operations": operations}

    def findings(self) -> list[Finding]:
        """Whether a wrong result would show, and what is to be known of the problem."""
        if not self._opened:
            return [Finding(NAME, Status.NOT_RUN, WHY)]
        if self._fault:
            return [self._fault.finding(NAME)]
        if self.uncompiled:
            self.notes.append(
                "Without a GPU torch.compile was left out: its functions ran as written, and what it "
                "generates is checked on a GPU only."
            )
        if self._signs.shown and (kind := "; ".join(self._signs.kind)):
            self.notes.append(f"With its inputs as given {kind}; what shows is {self._signs.shown[0]}.")
        remarks, what = " ".join(self.notes), "; ".join(self._signs)
        facts = {"notes": self.notes, "mode": "train" if self.training else "eval", "work": self._size}
        if what:
            message = f"The problem is degenerate: {what}. A right result proves nothing here. {remarks}"
            return [Finding(NAME, Status.NOT_GRADABLE, message.strip(), evidence=facts)]
        return [Finding(NAME, Status.PASSED, f"A wrong result shows. {remarks}".strip(), evidence=facts)]

    def memory(self) -> Finding | None:
        """What is said where checks do not fit beside the tensors."""
        points = self.sides.task.memory_points
        if self._fault:
            return Finding("memory", Status.NOT_RUN, "What the threads do to memory.", 0, points)
        if self._checked:
            return None
        message = (
            "Memory was not checked: what the checks note of every access would not fit beside tensors "
            "of this size. Grade the same pair with a smaller batch, too."
        )
        return Finding("memory", Status.PENDING_CPU, message, 0, points)

    def refusal(self, case: Case, before: list[Finding]) -> Finding | None:
        """Unkind inputs come when the inputs as given are right."""
        if self._fault:
            return Finding(case.name, Status.NOT_RUN, case.why, 0, case.points)
        undecided = bool(before) and before[0].status in PENDING
        if before and not (before[0].ok or undecided) and not self.spec.specs:
            message = "The inputs as given are not right yet."
            return Finding(case.name, Status.NOT_RUN, message, 0, case.points)
        return None

    def rounds(self, case: Case) -> Iterator[tuple[Round, bool]]:
        """Few calls, for they take their time. One is watched, and one of those with other values."""
        if self.spec.specs:
            planned: tuple[Round, ...] = TWICE
        elif case.name != AS_GIVEN:
            planned = (ONCE,)
        else:
            planned = rounds.FULL_SIZE[:2] if self._short else rounds.FULL_SIZE
        watched = rounds.watched(planned, self.rng, twice=self.mine.player.backend == "simt")
        yield from ((one, number in watched) for number, one in enumerate(planned))
        # Results of one value throughout may be due to the weights alone.
        if case.name == AS_GIVEN and self.wanted and not self._short:
            for _ in range(MORE):
                if self._signs.always:
                    yield rounds.AGAIN, False

    def construct(self, _case: Case) -> None:
        """The reference's model is there; a player that was started anew gets its own."""
        player = self.mine.player
        if self._made_by is player:
            return
        if not self._checked:
            player.ask("check", player.limits.call, on=False)
        self.match(self.wanted, self.make(self.mine), self.spec.entry)
        self._made_by = player

    def make(self, side: Side) -> Made:
        """The submission's model, on this side."""
        spec, forms = self.spec, self._init.forms
        if forms:
            lines = input_lines(forms, "init")
            side.later(play.Room("init", forms))
            move(self.theirs, side, [(line, line) for line in lines])
        step = play.Make(spec.entry, self._init.tree, self.seed(), self.mode, single=bool(spec.specs))
        made = side.ask(step, Made)
        self.uncompiled |= made.uncompiled
        return made

    @property
    def depth(self) -> float:
        """From the shapes: nobody has tried other orders of summation for this problem."""
        forms = self.inputs.forms
        longest = max((n for form in forms for n in form.shape), default=1)
        largest = max((form.elements for form in forms), default=1)
        return float(max(longest, largest / max(min(self.posed.sizes if self.posed else (), default=1), 1)))

    @property
    def has_weights(self) -> bool:
        """Whether the reference's model holds anything."""
        return bool(self.wanted)

    @property
    def pure(self) -> bool:
        """Not where there is a list of tests: many of these pass the memory for the result as an input."""
        return not self.spec.specs

    @property
    def looks_at_state(self) -> bool:
        """Not where that is too much beside large tensors."""
        return not self.large or sum(held.nbytes for held in self.wanted) <= FEW

    def draw_weights(self) -> None:
        """Construct the reference's model anew; what is one constant gets other values, unless as given."""
        names = () if self.spec.as_given else tuple(theirs.name for theirs, _ in self.pairs)
        self.theirs.later(play.Weights(self.seed(), names, self.mode))

    def draw(self, case: Case, *, zeros: bool = False) -> None:
        """The inputs that the case is about; those of a teacher's case are what it declares."""
        if case.args:
            self.drawn(play.Draw(self.seed(), "zeros" if zeros else "as given", arguments=case.args))
            return
        known = {one.name: number for number, one in enumerate(self.spec.cases)}
        spec = known.get(case.name, 0) if self.spec.specs else 0
        variant = case.name if case.name in known and not self.spec.specs else AS_GIVEN
        if not self._drawn("zeros" if zeros else variant, spec):
            self.notes.append(
                f"Left out: {case.name} (it changes nothing here, or the dtype cannot hold it)."
            )
            raise LeftOutError("it changes nothing here")

    def _drawn(self, variant: str, spec: int) -> bool:
        name = "generate_input()" if self.spec.specs else "get_inputs()"
        self._unkind = variant if variant in VARIANTS else ""
        return self.drawn(play.Draw(self.seed(), variant, spec), name)  # type: ignore[arg-type]

    def pose(self, *, weigh: bool = False) -> Posed:
        """The reference's results; unkind inputs that it has no finite ones for are left out."""
        posed = super().pose(weigh=weigh)
        if self._unkind and not all(t.finite for t in posed.tensors):
            self.notes.append(f"Left out: {self._unkind} (the reference itself gives NaN or infinity there).")
            raise LeftOutError("the reference itself gives NaN or infinity there")
        return posed

    def judged(self, comparison: Compared, returned: Returned) -> Finding | None:
        """By the problem's own check, if it has one."""
        if self.spec.own_check:
            return comparison.by_own_check(returned)
        return comparison.run(returned)

    def shows_streams(self, case: Case, _backend: str) -> bool:
        """With inputs as the reference draws them."""
        return bool(self.spec.specs) or case.name == AS_GIVEN

    def agreed(self, comparison: Compared, returned: Returned) -> bool:
        """By the problem's own check, if it has one."""
        if self.spec.own_check:
            return comparison.by_own_check(returned) is None
        return comparison.agrees(returned)

    def played(self, case: Case, number: int, one: Round, comparison: Compared) -> None:
        """See what the rounds say of the problem."""
        if number == 0 and (case.name == AS_GIVEN or case == self.spec.cases[0]):
            self._signs.round(comparison.posed)
            self._signs.first(comparison, looked=not self.spec.specs)
        elif case.name == AS_GIVEN:
            self._signs.round(comparison.posed)
            self._signs.same |= one.weights == "keep" and comparison.posed.answered.same
        elif number == 0 and self._unkind:
            self._signs.unkind(case.name, comparison)

    def excuse(self, case: Case, failed: Finding, comparison: Compared) -> str | None:
        """Rounding, where the problem magnifies it for unkind inputs."""
        rounded = failed.status in ROUNDED and not comparison.posed.answered.random
        if case.name == AS_GIVEN or self.spec.specs or case.args or not rounded or not comparison.excused():
            return None
        why = "the reference's own results depend on the last bit of its inputs there"
        self.notes.append(f"Left out: {case.name} ({why}).")
        self.hand_over(comparison.posed.answered.state)
        return why

    def fallen(self, case: Case, fault: FaultError) -> None:
        """Unkind inputs that the reference itself refuses are left out.

        Not where memory ran out: they are no larger than the others, and a submission can take it all.
        """
        refused = fault.evidence.pop("reference", "") == "called" and fault.status is not Status.OUT_OF_MEMORY
        if refused and case.name != AS_GIVEN:
            why = fault.message.removeprefix("The reference itself failed: ")
            if not case.hidden:
                self.notes.append(f"Left out: {case.name} (the reference refuses it: {why[:200]})")
            raise LeftOutError("the reference itself refuses such inputs")

    def beside(self, other: Sides) -> PairProblem:
        """The same problem for another pair of processes; the reference's model is made there."""
        made = PairProblem(other, self.spec)
        made.mode = self.mode
        made.begin()
        return made
