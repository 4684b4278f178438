"""Every element of a result against the answers, window by window; and what must not have changed."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from grader.domain.inputs import row_major
from grader.domain.verdict import Finding, Status
from grader.protocol import messages, play
from grader.protocol.play import Done, InputForm, ResultForm, Returned
from grader.referee import result_form, transfer
from grader.referee.dtypes import array, tolerance
from grader.referee.fault import FaultError
from grader.referee.judge import Fair, Judgement, by_element, judge, right
from grader.referee.problem import FEW, Posed, Problem
from grader.referee.transfer import Line, claim, fetch, input_lines, move, same, whole

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from grader.domain.task import Case
    from grader.referee.session import Session
    from grader.referee.side import Side
    from grader.referee.state_match import Held

WINDOW = 4 << 20  # elements that are judged together
FEW_ON_GPU = 1 << 20  # bytes of results: above it the GPU judges in less time than they take to come here
NUDGES = 4  # one of few results that a last bit turns over is not found by each
MAGNIFIED = 8.0  # times what one part in the last place of the inputs does that rounding on the way may do
BY_ELEMENT = ("float32", "float64")  # half precision keeps too few digits to ask for each element
COARSE = 2.0**-8  # the eps of a dtype that is too coarse to ask for a hundredth
ONCE = 0.55  # eps of each element: half of one is rounding to the nearest, the rest float32 on the way
OF_RULE, OF_WRITTEN = 64, 32  # eps of the largest answer: by rule of thumb, and for what both sides wrote
Array = NDArray[np.generic]


class Copies:
    """Lines of a player as they are now: copied at once if they are few, else piece by piece."""

    def __init__(self, side: Side, lines: Sequence[Line], known: dict[Line, bytes] | None = None) -> None:
        self._side = side
        self.few = sum(line.nbytes for line in lines) <= FEW
        self._data = known or {}
        if not known and self.few and lines:
            self._data = dict(zip(lines, fetch(side, whole(lines)), strict=True))

    def get(self, line: Line, lo: int = 0, hi: int | None = None) -> bytes:
        """Some elements."""
        hi = line.elements if hi is None else hi
        if (data := self._data.get(line)) is not None:
            return data[lo * line.size : hi * line.size]
        return fetch(self._side, [(line, lo, hi)])[0]


@dataclass(frozen=True, slots=True)
class Window:
    """Elements ``lo`` to ``hi`` of a result; its block of answers begins at ``base`` and has ``dtype``."""

    output: int
    lo: int
    hi: int
    base: int
    dtype: str


@dataclass(frozen=True, slots=True)
class Elements:
    """A window's elements: the submission's, float64 answers, the framework's own."""

    got: Array
    answer: Array
    eager: Array


class Comparison:
    """The results of one call; ``zeros_pass`` says whether zeros would have been right everywhere.

    ``slack``: the error that was allowed as a part of the largest answer, of the result where that is least.

    Args:
        session: Whose call it was.
        case: That it belongs to.
        posed: The question.
        before: Results of the call before, which are copied along.
        look: Find out whether zeros would pass.
    """

    def __init__(
        self, session: Session, case: Case, posed: Posed, before: Sequence[Line] = (), *, look: bool = False
    ) -> None:
        self.session, self.case, self.posed = session, case, posed
        self.problem: Problem = session.problem
        self.zeros_pass = look
        self.slack = math.inf
        self.results: list[bytes] = []  # of each tensor, if they are few
        self.depth = self.problem.depth
        self._before = before
        self._mine: Copies | None = None
        self._theirs: Copies | None = None

    def run(self, returned: Returned) -> Finding | None:
        """The first thing that is wrong, or None."""
        return self.form(returned) or self._values(returned) or self._elements()

    def agrees(self, returned: Returned) -> bool:
        """Whether the result is right, without a word about what is not."""
        return not (self.form(returned) or self._values(returned)) and self.right()

    def fail(self, status: Status, message: str, **evidence: Any) -> Finding:
        """No points for the case."""
        return Finding(self.case.name, status, message, 0, self.case.points, dict(evidence))

    def form(self, returned: Returned) -> Finding | None:
        """Containers, shapes, dtypes, devices."""
        wanted, got = self.posed.leaves, result_form.leaves(returned.tree)
        if wrong := result_form.differ(wanted, got, returned.tree.kind):
            told = _told(returned)
            if len(wanted) == len(got) == 1 and wanted[0].tensor < 0:
                value = "a tensor" if got[0].tensor >= 0 else got[0].value
                told |= {"entry": self.case.entry, "expected": wanted[0].value, "got": value}
            return self.fail(*wrong, **told)
        for want, have in zip(wanted, got, strict=True):
            if want.tensor < 0:
                continue
            if have.tensor != want.tensor or have.tensor >= len(returned.tensors):
                raise FaultError(
                    Status.TAMPERED, "The submission's process described tensors that are not there."
                )
            tensor, claim = self.posed.tensors[want.tensor], returned.tensors[have.tensor]
            if wrong := result_form.tensor_differs(claim, tensor, self._device(tensor), want.path):
                return self.fail(*wrong, **_told(returned))
        return None

    def _device(self, tensor: ResultForm) -> str:
        """Where a result must be: where the inputs are, if the reference's is there, too; "" anywhere."""
        on_gpu = any(form.device == "cuda" for form in self.problem.inputs.forms)
        beside = self.problem.theirs.player.backend == "cpu"  # where all tensors of the reference are
        return "cuda" if on_gpu and (beside or tensor.device == "cuda") else ""

    def _values(self, returned: Returned) -> Finding | None:
        """Plain floats among the results."""
        for want, have in zip(self.posed.leaves, result_form.leaves(returned.tree), strict=True):
            if not isinstance(want.value, float):
                continue
            near = math.isclose(have.value, want.value, rel_tol=1e-5, abs_tol=1e-7)
            if not near and not (math.isnan(want.value) and math.isnan(have.value)):
                at = f" at {want.path}" if want.path else ""
                message = f"The call returned {have.value!r}{at}, expected {want.value!r}."
                facts: dict[str, Any] = {"entry": self.case.entry, "expected": want.value, "got": have.value}
                return self.fail(Status.WRONG_OUTPUT, message, **facts)
        return None

    def _elements(self) -> Finding | None:
        """Every element of every tensor; of many only those are fetched that the reference's side doubts."""
        found = next((found for window in self._to_judge() if (found := self._window(window))), None)
        if self.posed.nbytes <= FEW and not found:
            self.results = [self.mine.get(self.posed.output(n)) for n in range(len(self.posed.tensors))]
        return found

    def _to_judge(self) -> Iterator[Window]:
        """What is judged here: all of few elements, of many those that the reference's side doubts."""
        few = FEW if self.problem.theirs.player.backend == "cpu" else FEW_ON_GPU
        if self.posed.nbytes <= few:
            return self.windows()
        return (part for window in self.windows(transfer.WINDOW) for part in self._doubted(window))

    def _doubted(self, window: Window) -> list[Window]:
        """Parts of a window that may be wrong: told where the answers are, which are not moved for that."""
        lo, hi = window.lo, window.hi
        by, step = self.fair(window.output), play.Compare(*self._claimed(window), self.zeros_pass)
        said = self.problem.theirs.ask(step, play.Agreement)
        self.zeros_pass = said.zeros_pass
        if by and by.eps < COARSE and said.slack is not None:
            self.slack = min(self.slack, said.slack)
        parts = [replace(window, lo=at, hi=min(hi, at + WINDOW)) for at in range(lo, hi, WINDOW)]
        return [part for part, right in zip(parts, said.good, strict=True) if not right]

    def _claimed(self, window: Window) -> tuple[int, int, int, int, int, play.Fair | None]:
        """Bring what the submission has there to the reference's side; how it is looked at there."""
        w, by = window, self.fair(window.output)
        claim(self.problem.mine, self.problem.theirs, self.posed.output(w.output), w.lo, w.hi)
        return w.output, w.lo, w.hi, w.base, WINDOW, play.Fair(**asdict(by)) if by else None

    def windows(self, nbytes: int = 0) -> Iterator[Window]:
        """All elements of all results, in the order of the blocks in which the answers come.

        ``nbytes``: of results at a time; 0: as many as are judged together.
        """
        answered = self.posed.answered
        for number in range(answered.blocks):
            if answered.blocks == 1:
                ready = play.Ranges(tuple((0, n) for n in self.posed.sizes), answered.dtypes)
            else:
                ready = self.problem.theirs.ask(play.Block(number), play.Ranges)
            for output, ((lo, hi), dtype) in enumerate(zip(ready.ranges, ready.dtypes, strict=True)):
                step = nbytes // self.posed.output(output).size or WINDOW
                for begin in range(lo, hi, step):
                    yield Window(output, begin, min(hi, begin + step), lo, dtype)

    def elements(self, window: Window) -> Elements:
        """The elements of a window."""
        w, output = window, self.posed.output(window.output)
        mine = self.mine.get(output, w.lo, w.hi)
        answer, eager = self.wanted(window)
        got = array(mine, output.dtype)
        shape = self.posed.tensors[w.output].shape
        if (w.lo, w.hi) == (0, output.elements):
            answer, eager, got = (a.reshape(shape) for a in (answer, eager, got))
        return Elements(got, answer, eager)

    def wanted(self, window: Window) -> tuple[Array, Array]:
        """The answers of a window, in float64 if they are floating-point, and the framework's own."""
        w, output = window, self.posed.output(window.output)
        answers = Line("answer", w.output, output.elements, w.dtype)
        eager = array(self.theirs.get(output, w.lo, w.hi), output.dtype)
        answer = array(self.theirs.get(answers, w.lo - w.base, w.hi - w.base), w.dtype)
        return (answer.astype(np.float64, copy=False) if eager.dtype.kind == "f" else answer), eager

    @property
    def mine(self) -> Copies:
        """What the submission's process holds after the call; asked for once the form is right."""
        if self._mine is None:
            lines = [self.posed.output(n) for n in range(len(self.posed.tensors))]
            lines += self.problem.inputs.lines
            lines += [*(own.line for _, own in self.problem.pairs), *self._before]
            self._mine = Copies(self.problem.mine, lines)
        return self._mine

    @property
    def theirs(self) -> Copies:
        """The reference's results, and the answers if they come in one block."""
        if self._theirs is None:
            self._theirs = Copies(self.problem.theirs, self.posed.lines, self.posed.data)
        return self._theirs

    def excused(self) -> bool:
        """Whether rounding may explain what is wrong, because the problem magnifies it.

        The reference is called with inputs that differ by one part in the last place. Where its results miss
        the answers then, by the same measure and by nearly as much, no way of computing them in this dtype
        can be asked to be right.
        """
        missed, far, moved = False, 0.0, 0.0
        theirs = self.problem.theirs
        for _ in range(NUDGES):
            theirs.ask(play.Nudge(self.problem.seed(), self.problem.call_seed), Done)
            for window in self.windows(transfer.WINDOW):
                said = theirs.ask(play.Magnified(*self._claimed(window)), play.Distances)
                missed |= said.missed
                far, moved = max(far, said.claimed), max(moved, said.nudged)
            if missed and far <= MAGNIFIED * moved:
                return True
        return False

    def right(self) -> bool:
        """Whether all elements are, without a word about why not."""
        return all(
            right(found.answer, found.eager, found.got, self.fair(window.output))
            for window in self._to_judge()
            for found in (self.elements(window),)
        )

    def beside(self, other: Posed) -> Comparison:
        """The same results against another answer of the same form."""
        made = Comparison(self.session, self.case, other)
        made._mine = self.mine
        return made

    def _window(self, window: Window) -> Finding | None:
        found, by = self.elements(window), self.fair(window.output)
        if self.zeros_pass and found.got.size:
            zeros = np.zeros_like(found.got)
            self.zeros_pass = right(found.answer, _fitting(found, zeros, by), zeros, by)
        verdict = _judged(found, by)
        self._note_slack(found, verdict, by)
        if verdict.status is Status.PASSED:
            return None
        shape = self.posed.tensors[window.output].shape
        all_of_it = (window.lo, window.hi) == (0, math.prod(shape))
        if all_of_it:  # with the inputs, since the result may be one of them
            verdict = _judged(found, by, self.problem.inputs.arrays())
            if numbers := [a for a in self.case.args if type(a) in (int, float)]:
                verdict.evidence["numbers"] = numbers
        return self._explained(verdict, window.output, shape, 0 if all_of_it else window.lo)

    def own_slack(self) -> float:
        """The ``slack`` that the reference's own results make, before there are any others."""
        for window in self.windows():
            answer, eager = self.wanted(window)
            found, by = Elements(eager, answer, eager), self.fair(window.output)
            self._note_slack(found, _judged(found, by), by)
        return self.slack

    def _note_slack(self, found: Elements, verdict: Judgement, by: Fair | None) -> None:
        allowed = verdict.evidence.get("allowed_error")
        largest = float(np.abs(found.answer[np.isfinite(found.answer)]).max(initial=0.0)) if by else 0.0
        if by and isinstance(allowed, float) and largest and by.eps < COARSE:
            self.slack = min(self.slack, allowed / largest)

    def fair(self, output: int) -> Fair | None:
        """What error is fair for a result."""
        by = tolerance(self.posed.tensors[output].dtype, max(self.depth, self.case.terms))
        if by and self.case.rounded_once:
            by = replace(by, factor=0.0, ulps=ONCE)
        # Without answers in float64 the framework's own error is not known: then it is a rule of thumb.
        if by and self.posed.answered.native:
            return replace(by, relative=by.relative + OF_RULE * by.eps)
        if by and self.posed.tensors[output].dtype in BY_ELEMENT:
            return by_element(by, self.posed.answered.reach, max(self.depth, self.case.terms))
        return by

    def _explained(self, verdict: Judgement, output: int, shape: tuple[int, ...], offset: int) -> Finding:
        assert verdict.first is not None
        place = verdict.first + offset
        index = [int(i) for i in np.unravel_index(place, shape)] if shape else []
        many, table = len(self.posed.tensors) > 1, self.problem.table
        evidence = verdict.evidence | {"first_wrong": index, "output": output}
        moved = Judgement(verdict.status, verdict.message, place, evidence)
        narrow = self.posed.output(output).size < 4
        finding = self.session.explain(self.case, moved, output, narrow=narrow)
        by_order = (
            f" (Parameters matched by their order: {table.by_order}.)" if table and table.by_order else ""
        )
        # A window of a large result is judged as a line of its own.
        what = "gradient" if self.case.gradients and output else "result"
        named = finding.message.replace(f"element [{verdict.first}]", f"element {index}", 1)
        return replace(finding, message=f"{f'In {what} {output}: ' if many else ''}{named}{by_order}")

    def inputs_changed(self) -> Finding | None:
        """Inputs must hold what was passed in, or what the reference writes into them."""
        problem, written = self.problem, self.posed.answered.changed
        lines, given = problem.inputs.lines, problem.inputs.data
        looked = [n for n in range(len(lines)) if n not in written]
        if given:
            wrong = next((n for n in looked if self.mine.get(lines[n]) != given[n]), None)
        else:
            found = same(problem.mine, problem.theirs, [(lines[n], lines[n]) for n in looked])
            wrong = None if found is None else looked[found]
        if wrong is not None:
            message = f"After the call, input {wrong} no longer holds what was passed in."
            return self.fail(Status.MUTATED_INPUT, message, changed=f"input {wrong}")
        for n in written:
            after = replace(lines[n], what="after")
            if failed := self._written(lines[n], after, self.mine, Copies(problem.theirs, [after])):
                what = f"The reference changes input {n} in place, and the submission not in the same way"
                return self.fail(failed.status, f"{what}. {failed.message}", **failed.evidence)
        return None

    def state_changed(self) -> Finding | None:
        """Parameters and buffers must stay, or change as the reference's do."""
        problem, updated = self.problem, self.posed.answered.state
        pairs = [(a, b) for a, b in problem.pairs if _lasting(a) and a.dtype == b.dtype]
        still = [(a, b) for a, b in pairs if a.key not in updated]
        known = [(b, held) for a, b in still if (held := problem.held(a.key)) is not None]
        wrong = next((b for b, held in known if self.mine.get(b.line) != held), None)
        if wrong is None:
            unknown = [(b, a) for a, b in still if problem.held(a.key) is None]
            found = same(problem.mine, problem.theirs, [(b.line, a.line) for b, a in unknown])
            wrong = None if found is None else unknown[found][0]
        if wrong is not None:
            message = f"After the call, {wrong.kind} {wrong.name} no longer holds what it was given."
            return self.fail(Status.MUTATED_INPUT, message, changed=wrong.name)
        changed = [(a, b) for a, b in pairs if a.key in updated]
        mine = self.mine if self.mine.few else Copies(problem.mine, [b.line for _, b in changed])
        theirs = Copies(problem.theirs, [a.line for a, _ in changed])
        for a, b in changed:
            if failed := self._written(b.line, a.line, mine, theirs):
                what = (
                    f"The reference updates {a.kind} {a.name} in this call, and {b.name} was not updated so"
                )
                hint = " (as BatchNorm does in training mode; with --mode eval it stays)"
                return self.fail(failed.status, f"{what}{hint}. {failed.message}", **failed.evidence)
        return None

    def _written(self, line: Line, reference: Line, mine: Copies, theirs: Copies) -> Judgement | None:
        """Values that both sides wrote, compared within rounding."""
        for lo in range(0, line.elements, WINDOW):
            hi = min(line.elements, lo + WINDOW)
            got, want = (
                array(mine.get(line, lo, hi), line.dtype),
                array(theirs.get(reference, lo, hi), line.dtype),
            )
            by = tolerance(line.dtype, self.depth)
            by = by and replace(by, relative=by.relative + OF_WRITTEN * by.eps)
            verdict = judge(want.astype(np.float64) if by else want, want, got, (), by)
            if verdict.status is not Status.PASSED:
                return verdict
        return None

    def by_own_check(self, returned: Returned) -> Finding | None:
        """What the problem's own ``check_implementation`` says of the result, in the reference's process."""
        if failed := self.form(returned):
            return failed
        problem = self.problem
        forms = tuple(
            InputForm(t.shape, row_major(t.shape), t.dtype, math.prod(t.shape), 0, "cpu")
            for t in self.posed.tensors
        )
        problem.theirs.later(play.Room("init", forms))
        outputs = [self.posed.output(n) for n in range(len(forms))]
        move(problem.mine, problem.theirs, list(zip(outputs, input_lines(forms, "init"), strict=True)))
        found = problem.theirs.ask(play.Judge(returned.tree), play.Opinion)
        if found.good:
            return None
        why = f" It says: {found.why}" if found.why else ""
        return self.fail(Status.WRONG_OUTPUT, f"The problem's own check does not take the result.{why}")


def _told(returned: Returned) -> dict[str, Any]:
    """What was returned, as evidence."""
    return {"returned": messages.plain(Returned(returned.tree, returned.tensors))}


def _judged(found: Elements, by: Fair | None, inputs: tuple[Array, ...] = ()) -> Judgement:
    """As in any case."""
    return judge(found.answer, _fitting(found, found.got, by), found.got, inputs, by)


def _fitting(found: Elements, got: Array, by: Fair | None) -> Array:
    """The framework's results, for ``got``; a whole number may be the framework's or the exact one."""
    if by is None and found.answer.dtype.kind in "iub":
        return np.where(got == found.answer, got, found.eager)
    return found.eager


def _lasting(held: Held) -> bool:
    """Whether its values matter after a call; the count of batches that BatchNorm keeps beside does not."""
    return held.kind != "attribute" and not held.name.endswith("num_batches_tracked")
