"""Every element of a result against the answers, window by window; and what must not have changed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grader.domain.task import Case
from grader.domain.verdict import Finding, Status
from grader.protocol import claims
from grader.referee import result_form
from grader.referee.draw import row_major
from grader.referee.dtypes import array, is_float, size_of, tolerance
from grader.referee.fault import FaultError
from grader.referee.judge import Fair, Judgement, judge
from grader.referee.pairs.pair_problem import FEW, PairProblem, Posed
from grader.referee.pieces_transport import Line, fetch, move, same
from grader.referee.state_match import Held

WINDOW = 4 << 20  # elements that are compared at a time
MAGNIFIED = 8.0  # times what one part in the last place of the inputs does that rounding on the way may do
Array = NDArray[Any]


class Comparison:
    """The results of one call; ``zeros_pass`` says whether zeros would have been right everywhere."""

    def __init__(self, game: PairProblem, posed: Posed, case: Case, look: bool = False) -> None:
        self.game, self.posed, self.case = game, posed, case
        self.zeros_pass = look  # it is looked for in one call only
        self.kept: dict[int, bytes] = {}
        self.depth = _depth(game, posed)

    def run(self, said: dict[str, Any]) -> Finding | None:
        """The first thing that is wrong, or None."""
        return self.form(said) or self._values(said) or self._elements()

    def fail(self, status: Status, message: str, **evidence: Any) -> Finding:
        """No points for the case."""
        return Finding(self.case.name, status, message, 0, self.case.points, evidence)

    def form(self, said: dict[str, Any]) -> Finding | None:
        """Containers, shapes, dtypes, devices."""
        got, listed = result_form.leaves(said.get("tree")), said.get("tensors")
        if not isinstance(listed, list) or len(listed) > claims.MOST_TENSORS * 20:
            raise FaultError(Status.TAMPERED, "The submission's process described tensors that are none.")
        wrong = result_form.differ(self.posed.leaves, got)
        if wrong:
            return self.fail(*wrong)
        for want, have in zip(self.posed.leaves, got, strict=True):
            if want.tensor < 0:
                continue
            fact = listed[have.tensor] if 0 <= have.tensor < len(listed) else None
            if have.tensor != want.tensor or not isinstance(fact, dict) or not claims.tensor(fact):
                raise FaultError(Status.TAMPERED, "The submission's process described tensors that are none.")
            failed = self._tensor(fact, self.posed.tensors[want.tensor], want.path)
            if failed:
                return failed
        return None

    def _tensor(self, got: dict[str, Any], want: dict[str, Any], path: str) -> Finding | None:
        on_gpu = self.game.theirs.player.backend == "cpu" or want["device"] == "cuda"
        device = "cuda" if on_gpu and self.game.inputs.facts else ""
        wrong = result_form.tensor_differs(got, want["shape"], want["dtype"], device, path)
        return self.fail(*wrong) if wrong else None

    def _values(self, said: dict[str, Any]) -> Finding | None:
        """Plain floats among the results."""
        for want, have in zip(self.posed.leaves, result_form.leaves(said["tree"]), strict=True):
            if not isinstance(want.value, float):
                continue
            near = math.isclose(have.value, want.value, rel_tol=1e-5, abs_tol=1e-7)
            if not near and not (math.isnan(want.value) and math.isnan(have.value)):
                at = f" at {want.path}" if want.path else ""
                message = f"The call returned {have.value:.7g}{at}, expected {want.value:.7g}."
                return self.fail(Status.WRONG_OUTPUT, message)
        return None

    def _elements(self) -> Finding | None:
        """Every element of every tensor."""
        return next((found for window in self._windows() if (found := self._window(*window))), None)

    def excused(self) -> bool:
        """Whether rounding may explain what is wrong, because the problem magnifies it.

        The reference is called with inputs that differ by one part in the last place. Where its results miss
        the answers then, by the same measure and by nearly as much, no way of computing them in this dtype
        can be asked to be right.
        """
        self.game.theirs.ask("nudge", seed=self.game.seed() >> 1)
        missed, far, moved = False, 0.0, 0.0
        for window in self._windows():
            _, answer, eager, got = self._fetched(*window)
            _, _, _, nudged = self._fetched(*window, "nudged")
            missed |= _judged(answer, eager, nudged, self._by(window[0])).status is not Status.PASSED
            far, moved = max(far, _far(answer, got)), max(moved, _far(answer, nudged))
        return missed and far <= MAGNIFIED * moved

    def _windows(self) -> Iterator[tuple[int, int, int, int, str]]:
        """Output, from, to, where its block of answers begins, and their dtype."""
        for number in range(self.posed.blocks):
            ready = self.game.theirs.ask("block", number=number)
            for output, ((lo, hi), kind) in enumerate(zip(ready["ranges"], ready["facts"], strict=True)):
                for begin in range(lo, hi, WINDOW):
                    yield output, begin, min(hi, begin + WINDOW), lo, kind

    def _fetched(
        self, output: int, lo: int, hi: int, base: int, kind: str, whose: str = ""
    ) -> tuple[bytes, Array, Array, Array]:
        """A window of the submission, or of ``whose`` at the reference: bytes, answers, eager's, its own."""
        fact = self.posed.tensors[output]
        dtype, shape = fact["dtype"], tuple(fact["shape"])
        line = Line("output", output, math.prod(shape), dtype, size_of(dtype))
        answers = Line("answer", output, 0, kind, size_of(kind))
        data = fetch(self.game.theirs, [(answers, lo - base, hi - base), (line, lo, hi)])
        wanted = replace(line, what=whose or line.what)
        (mine,) = fetch(self.game.theirs if whose else self.game.mine, [(wanted, lo, hi)])
        answer, eager, got = array(data[0], kind), array(data[1], dtype), array(mine, dtype)
        if is_float(dtype):
            answer = answer.astype(np.float64)
        if (lo, hi) == (0, math.prod(shape)):
            answer, eager, got = (a.reshape(shape) for a in (answer, eager, got))
        return mine, answer, eager, got

    def _window(self, output: int, lo: int, hi: int, base: int, kind: str) -> Finding | None:
        mine, answer, eager, got = self._fetched(output, lo, hi, base, kind)
        by = self._by(output)
        verdict = _judged(answer, eager, got, by)
        if self.zeros_pass and got.size:
            zeros = _judged(answer, eager, np.zeros_like(got), by)
            self.zeros_pass = zeros.status is Status.PASSED
        if self.posed.nbytes <= FEW:
            self.kept[output] = self.kept.get(output, b"") + mine
        if verdict.status is Status.PASSED:
            return None
        shape = tuple(self.posed.tensors[output]["shape"])
        whole = (lo, hi) == (0, math.prod(shape))
        return self._explained(verdict, output, shape, 0 if whole else lo)

    def _by(self, output: int) -> Fair | None:
        return self._fair(self.posed.tensors[output]["dtype"])

    def _fair(self, dtype: str) -> Fair | None:
        by = tolerance(dtype, self.depth)
        if by is None or not self.posed.native:
            return by
        # Without answers in float64 the framework's own error is not known: then it is a rule of thumb.
        return Fair(by.eps, by.largest, by.tiny, by.factor, by.ulps, by.relative + 64 * by.eps)

    def _explained(self, verdict: Judgement, output: int, shape: tuple[int, ...], offset: int) -> Finding:
        assert verdict.first is not None
        place = verdict.first + offset
        index = [int(i) for i in np.unravel_index(place, shape)] if shape else []
        evidence = verdict.evidence | {"first_wrong": index, "output": output}
        moved = Judgement(verdict.status, verdict.message, place, evidence)
        finding = self.game.session.explain(self.case, moved, output, shape)
        many = len(self.posed.tensors) > 1
        table = self.game.table
        notes = [f"In result {output}: "] if many else [""]
        by_order = (
            f" (Parameters matched by their order: {table.by_order}.)" if table and table.by_order else ""
        )
        # A window of a large result is judged as a line of its own.
        named = finding.message.replace(f"element [{verdict.first}]", f"element {index}", 1)
        message = f"{notes[0]}{named}{by_order}"
        return Finding(finding.id, finding.status, message, 0, finding.max_points, finding.evidence)


def _judged(answer: Any, eager: Any, got: Any, by: Fair | None) -> Judgement:
    """As in any case; a whole number may be the framework's or the exact one."""
    if by is None:
        eager = np.where(got == answer, got, eager) if answer.dtype.kind in "iub" else eager
    return judge(answer, eager, got, (), by)


def _far(answer: Array, got: Array) -> float:
    """The largest difference; infinity where one is not finite and the other is."""
    if not got.size:
        return 0.0
    with np.errstate(invalid="ignore"):
        apart = np.abs(got.astype(np.float64) - answer.astype(np.float64))
    apart = np.where(np.isnan(apart), np.where(np.isfinite(got) == np.isfinite(answer), 0.0, np.inf), apart)
    return float(apart.max())


def _depth(game: PairProblem, posed: Posed) -> float:
    """How many terms an element is reckoned to be a sum of."""
    sizes = [f["elements"] for f in game.inputs.facts]
    longest = max((n for f in game.inputs.facts for n in f["shape"]), default=1)
    out = min((math.prod(t["shape"]) for t in posed.tensors), default=1)
    return float(max(longest, max(sizes, default=1) / max(out, 1)))


def own_check(comparison: Comparison, said: dict[str, Any]) -> Finding | None:
    """What the problem's own ``check_implementation`` says of the result, in the reference's process."""
    game, tensors = comparison.game, comparison.posed.tensors
    facts = [
        {
            "shape": t["shape"], "dtype": t["dtype"], "elements": math.prod(t["shape"]),
            "strides": list(row_major(tuple(t["shape"]))),
        }
        for t in tensors
    ]  # fmt: skip
    game.theirs.ask("room", what="init", facts=facts)
    lines = [
        (Line("output", n, f["elements"], f["dtype"], size_of(f["dtype"])),
         Line("init", n, f["elements"], f["dtype"], size_of(f["dtype"])))
        for n, f in enumerate(facts)
    ]  # fmt: skip
    move(game.mine, game.theirs, lines)
    found = game.theirs.ask("judge", tree=said["tree"])
    if found["good"]:
        return None
    why = f" It says: {found['why']}" if found["why"] else ""
    return comparison.fail(Status.WRONG_OUTPUT, f"The problem's own check does not take the result.{why}")


def inputs_changed(comparison: Comparison, aliases: list[int]) -> Finding | None:
    """Inputs must hold what was passed in, or what the reference writes into them."""
    game, posed = comparison.game, comparison.posed
    lines = game.inputs.lines
    looked = [n for n in range(len(lines)) if n not in posed.changed and n not in aliases]
    pairs = [(Line("input", n, lines[n].elements, lines[n].dtype, lines[n].size), lines[n]) for n in looked]
    wrong = same(game.mine, game.theirs, pairs)
    if wrong is not None:
        what = f"input {looked[wrong]}"
        message = f"After the call, {what} no longer holds what was passed in."
        return comparison.fail(Status.MUTATED_INPUT, message, changed=what)
    for n in posed.changed:
        if n not in aliases and (failed := _written(comparison, lines[n], Line("after", n, *_of(lines[n])))):
            what = f"The reference changes input {n} in place, and the submission not in the same way"
            return comparison.fail(failed.status, f"{what}. {failed.message}", **failed.evidence)
    return None


def state_changed(comparison: Comparison) -> Finding | None:
    """Parameters and buffers must stay, or change as the reference's do."""
    game, posed = comparison.game, comparison.posed
    pairs = [(a, b) for a, b in (game.table.pairs if game.table else []) if _lasting(a)]
    still = [(a, b) for a, b in pairs if a.key not in posed.state and a.dtype == b.dtype]
    wrong = same(game.mine, game.theirs, [(b.line, a.line) for a, b in still])
    if wrong is not None:
        name = still[wrong][1].name
        message = f"After the call, {still[wrong][1].kind} {name} no longer holds what it was given."
        return comparison.fail(Status.MUTATED_INPUT, message, changed=name)
    for a, b in pairs:
        if a.key in posed.state and a.dtype == b.dtype:
            failed = _written(comparison, b.line, a.line)
            if failed:
                what = (
                    f"The reference updates {a.kind} {a.name} in this call, and {b.name} was not updated so"
                )
                hint = " (as BatchNorm does in training mode; with --mode eval it stays)"
                return comparison.fail(failed.status, f"{what}{hint}. {failed.message}", **failed.evidence)
    return None


def _lasting(held: Held) -> bool:
    """Whether its values matter after a call; the count of batches that BatchNorm keeps beside does not."""
    return held.kind != "attribute" and not held.name.endswith("num_batches_tracked")


def _of(line: Line) -> tuple[int, str, int]:
    return line.elements, line.dtype, line.size


def _written(comparison: Comparison, own: Line, right: Line) -> Judgement | None:
    """Values that both sides wrote, compared within rounding."""
    game = comparison.game
    for lo in range(0, own.elements, WINDOW):
        hi = min(own.elements, lo + WINDOW)
        (a,), (b,) = fetch(game.mine, [(own, lo, hi)]), fetch(game.theirs, [(right, lo, hi)])
        got, want = array(a, own.dtype), array(b, own.dtype)
        by = tolerance(own.dtype, comparison.depth)
        if by is not None:
            by = Fair(by.eps, by.largest, by.tiny, by.factor, by.ulps, by.relative + 32 * by.eps)
        verdict = judge(want.astype(np.float64) if by else want, want, got, (), by)
        if verdict.status is not Status.PASSED:
            return verdict
    return None
