"""Kernels written in Python, graded on a grid: the referee owns the memory and sees who touches what."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypedDict

from grader.domain.digits import apart
from grader.domain.part import Check
from grader.domain.verdict import Finding, Status
from grader.feedback.look import python_source
from grader.lesson_support.grid import Access, AccessError, Array, Grid, Who
from grader.protocol.plain_numbers import heard, told
from grader.referee.fault import FaultError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from grader.referee.parts.part_session import PartSession

MAX_ACCESSES = (
    20  # for each thread; one that needs more goes over all elements, which is judged, or does not end
)
ALL_OVER, MAX_IN_ALL = 4, 20_000  # accesses to each element by a thread that goes over all; of all threads
BIGGEST = 1e300
MAX_LINES = 100_000
NEIGHBOURS = (
    "Here neighbouring threads have neighbouring elements, the first the first, and each writes its own only."
)


@dataclass(frozen=True, slots=True)
class Launch:
    """A further launch that must be right for the same check; what is None is as in the first.

    ``x``: the input, which is else drawn. ``surplus``: blocks more than it takes to cover ``n``.
    """

    n: int
    size: int | None = None
    x: tuple[float, ...] = ()
    surplus: int = 0
    extra: tuple[float, ...] | None = None


@dataclass(frozen=True, slots=True)
class OnGrid:
    """The kernel ``entry`` on ``n`` elements: ``kernel([block, thread, size, n,] x, out, *extra)``.

    ``size`` 0 is a kernel of one index, ``kernel(i, x, out, *extra)``; else blocks have ``size`` threads, and
    there are as many as cover ``n``. A thread writes the element of ``out`` with its own number in the grid,
    and one without such an element does nothing. ``answer`` maps the list x to the list out (the extras come
    after x). ``others`` are launched after it.
    """

    name: str
    entry: str
    n: int
    size: int
    answer: Callable[..., list[float]]
    points: int
    why: str
    extra: tuple[float, ...] = ()
    others: tuple[Launch, ...] = ()
    launch: Launch = Launch(0)  # of this launch: its input and its surplus blocks

    @property
    def checks(self) -> tuple[Check, ...]:
        """One check."""
        return (Check(self.name, self.points, self.why),)

    def judge(self, session: PartSession) -> Iterator[Finding]:
        """Run every thread of each launch once, in an order drawn now; the first that is wrong is told."""
        (check,) = self.checks
        try:
            finding = self._judge(session, check)
            for other in self.others if finding.ok else ():
                finding = self._with(other)._judge(session, check)
                if not finding.ok:
                    finding = replace(finding, message=f"{finding.message} {other_launch(self, other)}")
                    break
            yield finding
        except FaultError as fault:
            fault.evidence["on_grid"] = self.entry
            yield session.fallen(check, fault)

    def _with(self, other: Launch) -> OnGrid:
        size = self.size if other.size is None else other.size
        extra = self.extra if other.extra is None else other.extra
        return replace(self, n=other.n, size=size, extra=extra, launch=other)

    def _judge(self, session: PartSession, check: Check) -> Finding:
        x = [*self.launch.x] or [float(v) for v in session.rng.integers(-999, 999, self.n) / 8]
        memory = Memory(x, self._threads(session))
        shape = [self.size, self.n] if self.size else []
        args = [*shape, {"array": "x", "length": self.n}, {"array": "out", "length": self.n}, *self.extra]
        session.command("grid_run", memory.serve, entry=self.entry, args=args)
        if memory.grid.faults:
            return self._fault(check, memory.grid)
        if shared := memory.grid.shared():
            return self._race(check, *shared[0])
        finding = self._compare(session, check, memory, self.answer(x, *self.extra))
        return self._changed_input(check, memory, x) if finding.ok else finding

    def _fault(self, check: Check, grid: Grid) -> Finding:
        """An access outside of an array, or of an element that nobody has written."""
        first = grid.faults[0]
        unwritten = "nobody" in first.fault
        status = Status.UNINITIALISED if unwritten else Status.ILLEGAL_ACCESS
        does = "reads" if first.kind == "read" else "writes"
        message = (
            f"{_at(first.line, _who(first.who))} {does} {first.array}[{first.index}], and {first.fault}."
        )
        if unwritten and first.kind == "read" and first.array == "out":
            message += " The input is x; out holds nothing until a thread has written it."
            return check.failed(
                status, message, thread=list(first.who), index=first.index, line=first.line, known=True
            )
        own = self._own(first.who)
        advice = ""
        if not unwritten and own >= self.n:
            advice = " A guard must keep a thread without an element of its own from doing anything."
        elif not unwritten:
            advice = f" The element of its own is {first.array}[{own}]."
        return check.failed(
            status,
            f"{message}{advice}",
            thread=list(first.who),
            array=first.array,
            index=first.index,
            line=first.line,
            on_grid=self.entry,
            size=self.size,
            n=self.n,
            advice=advice,
        )

    def _compare(self, session: PartSession, check: Check, memory: Memory, expected: list[float]) -> Finding:
        """Whether each element is what it should be; if not, who wrote it and what that thread had read."""
        grid, out = memory.grid, memory.arrays["out"].values
        for i, (value, right) in enumerate(zip(out, expected, strict=True)):
            if value is None:
                return self._unwritten(session, check, grid, i)
            if _same(value, right):
                continue
            owner = next(a for a in grid.accesses if (a.kind, a.array, a.index) == ("write", "out", i))
            reads = [a for a in grid.accesses if a.who == owner.who and a.kind == "read"]
            read = dict.fromkeys(f"{a.array}[{a.index}]" for a in reads)
            line, more = self._strange(reads, memory.arrays["x"].values, i)
            shown, wanted = apart(value, right, 6)
            message = (
                f"{_at(line or owner.line, f'out[{i}]')} is {shown}, expected {wanted}. {_who(owner.who)} "
                f"wrote it, and read {', '.join(read) or 'nothing'}. {more}{self.why}"
            )
            known = {"known": True} if line else {}
            return check.failed(
                Status.WRONG_OUTPUT,
                message,
                index=i,
                expected=right,
                got=value,
                line=line or owner.line,
                on_grid=self.entry,
                size=self.size,
                n=self.n,
                **known,
            )
        return self._of_others(check, grid) or self._elsewhere(check, memory) or check.passed()

    def _of_others(self, check: Check, grid: Grid) -> Finding | None:
        """The first thread that wrote another element than its own, or that has none and read one.

        The result is right, by luck or since nothing came of what was read.
        """
        for access in grid.accesses:
            own = self._own(access.who)
            if access.kind == "read" and own >= self.n:
                what = (
                    f"{_who(access.who)} reads {access.array}[{access.index}], and it has no element of its "
                    f"own: its number is {own}, and n is {self.n}."
                )
                advice = " A guard must keep it from reading, too."
                return check.failed(
                    Status.WRONG_ANSWER, f"{_at(access.line, what)}{advice}", thread=list(access.who),
                    index=access.index, line=access.line, on_grid=self.entry, advice=advice,
                )  # fmt: skip
            if access.kind == "write" and access.index != own:
                has = f"its own element is out[{own}]" if own < self.n else "it has no element of its own"
                what = f"{_who(access.who)} writes out[{access.index}], and {has}. {NEIGHBOURS}"
                return check.failed(
                    Status.WRONG_ANSWER, _at(access.line, what), thread=list(access.who), index=access.index,
                    line=access.line, on_grid=self.entry, advice=f" {NEIGHBOURS}",
                )  # fmt: skip
        return None

    def _elsewhere(self, check: Check, memory: Memory) -> Finding | None:
        """A thread whose result is right though it has not read what that depends on: another computed it."""
        x = [v if v is not None and math.isfinite(v) else 0.0 for v in memory.arrays["x"].values]
        read: dict[Who, set[int]] = {}
        for access in memory.grid.accesses:
            if access.kind == "read" and access.array == "x":
                read.setdefault(access.who, set()).add(access.index)
        for one in memory.grid.accesses:
            if (
                one.kind == "write"
                and one.array == "out"
                and (lost := self._lost(read.get(one.who, set()), x, one.index))
            ):
                message = (
                    f"{_who(one.who)} writes out[{one.index}] without having read what it depends on. {lost}"
                )
                advice = "Each thread computes its own element, from what it reads itself."
                return check.failed(
                    Status.WRONG_ANSWER, f"{_at(one.line, message)}{advice}", thread=list(one.who),
                    index=one.index, line=one.line, on_grid=self.entry, advice=f" {advice}",
                )  # fmt: skip
        return None

    def _own(self, who: Who) -> int:
        """The number of a thread in the grid."""
        return who[0] * self.size + who[1] if self.size else who[0]

    def _changed_input(self, check: Check, memory: Memory, x: list[float]) -> Finding:
        """Passed, unless an element of x has another value than before: by whom, and in which line."""
        changed = [i for i, v in enumerate(memory.arrays["x"].values) if v is None or not _same(v, x[i], 0.0)]
        if not changed:
            return check.passed()
        one = next(
            a for a in memory.grid.accesses if (a.kind, a.array, a.index) == ("write", "x", changed[0])
        )
        advice = " Compute the value without storing it in x, and write it into out alone."
        who = _at(one.line, _who(one.who))
        message = f"{who} writes x[{one.index}], and x is the input: it must stay as it was.{advice}"
        return check.failed(
            Status.MUTATED_INPUT,
            message,
            index=one.index,
            line=one.line,
            on_grid=self.entry,
            advice=advice,
        )

    def _strange(self, reads: list[Access], x: Sequence[float | None], i: int) -> tuple[int, str]:
        """The line that reads what ``out[i]`` does not depend on, and that in words; or 0 and what lacks."""
        values = [v if v is not None and math.isfinite(v) else 0.0 for v in x]
        right = self.answer(values, *self.extra)[i]
        for one in reads:
            if one.array == "x" and 0 <= one.index < len(values):
                other = [*values]
                other[one.index] += 1.0
                if _same(self.answer(other, *self.extra)[i], right, 0.0):
                    return one.line, f"x[{one.index}] does not belong to out[{i}]. "
        return 0, self._lost({one.index for one in reads if one.array == "x"}, values, i)

    def _lost(self, read: set[int], values: list[float], i: int) -> str:
        """Which elements of x ``out[i]`` depends on that nobody has read for it, in words; "" for none."""
        right = self.answer(values, *self.extra)[i]
        lost = []
        for k in sorted(set(range(len(values))) - read):
            other = [*values]
            other[k] += 1.0
            if not _same(self.answer(other, *self.extra)[i], right, 0.0):
                lost.append(f"x[{k}]")
        return (
            f"{' and '.join(lost)} would have to be read for out[{i}] as well. " if 0 < len(lost) <= 2 else ""
        )

    def _unwritten(self, session: PartSession, check: Check, grid: Grid, i: int) -> Finding:
        """No thread wrote ``out[i]``: which threads there are, and what they wrote instead."""
        line = session.line_of(self.entry)
        wrote = sorted({a.index for a in grid.accesses if a.kind == "write" and a.array == "out"})
        message, advice = f"no thread wrote out[{i}] of {self.n} element{'s' if self.n != 1 else ''}", ""
        if not wrote:
            message += f": {self.entry} writes nothing into out."
            advice = " A kernel returns nothing; it stores out[i] = ..."
        elif self.size:
            who = divmod(i, self.size)
            own = [a for a in grid.accesses if a.who == who and a.kind == "write"]
            line = (
                own[0].line if own else python_source.first_use(session.grading.source, self.entry, 1) or line
            )
            guard = None if own else python_source.guard(session.grading.source, self.entry)
            if guard:
                line = guard[0]
            message += (
                f"; it belongs to {_small(_who(who))} ({who[0]} * {self.size} + {who[1]}), who wrote "
                f"{f'out[{own[0].index}]' if own else 'nothing'}."
            )
            advice = (
                f" Its number in the grid must come out as {i}, and the guard `{guard[1]}` must let it "
                f"through: size is {self.size} and n is {self.n}."
                if guard
                else " A thread's number in the grid is block * size + thread."
            )
        else:
            message += f"; it belongs to thread {i}."
        message = f"{_at(line, message)}{advice} {self.why}"
        return check.failed(
            Status.UNINITIALISED,
            message,
            index=i,
            line=line,
            on_grid=self.entry,
            advice=advice,
            size=self.size,
            n=self.n,
        )

    def _race(self, check: Check, one: Access, two: Access) -> Finding:
        """Two threads that touch the same element, at least one of which writes it."""
        own = "the numbers of the block and of the thread" if len(one.who) > 1 else "the thread's own number"
        advice = f" Each element must belong to one thread: compute its index from {own}."
        where = f"in line {two.line}" if two.line and two.line != one.line else "too"
        message = (
            f"{_at(one.line, _who(one.who))} writes {one.array}[{one.index}], and "
            f"{_small(_who(two.who))} {two.kind}s it {where}.{advice}"
        )
        return check.failed(
            Status.RACE,
            message,
            threads=[list(one.who), list(two.who)],
            line=one.line,
            on_grid=self.entry,
            index=one.index,
            size=self.size,
            n=self.n,
            advice=advice,
        )

    def _threads(self, session: PartSession) -> list[Who]:
        if not self.size:
            order: list[Who] = [(i,) for i in range(self.n)]
        else:
            blocks = -(-self.n // self.size) + self.launch.surplus
            order = [(b, t) for b in range(blocks) for t in range(self.size)]
        return [order[k] for k in session.rng.permutation(len(order))]


class Reply(TypedDict, total=False):
    """The ``thread`` that runs next, or None; the ``value`` of an access as it is told; or its ``fault``."""

    thread: list[int] | None
    value: float | str | None
    fault: str


class Memory:
    """The arrays x and out, and the list of threads still to run. Answers a player's questions."""

    def __init__(self, x: list[float], threads: list[Who]) -> None:
        self.grid, self._left = Grid(), threads[::-1]
        self.arrays = {"x": Array("x", [*x], self.grid), "out": Array("out", [None] * len(x), self.grid)}
        each, count = MAX_ACCESSES + ALL_OVER * len(x), max(1, len(threads))
        self._most = max(MAX_ACCESSES * count, min(each * count, MAX_IN_ALL))
        self._most_each, self._begun = each, 0

    def serve(self, wants: Any) -> Reply:
        """Name the next thread, or do one access of the thread that runs."""
        if isinstance(wants, dict) and wants.get("next") is True:
            if not self._left:
                return {"thread": None}
            self.grid.begin(self._left.pop())
            self._begun = len(self.grid.accesses)
            return {"thread": list(self.grid.who)}
        line = wants.get("line") if isinstance(wants, dict) else None
        self.grid.line = line if isinstance(line, int) and 0 < line < MAX_LINES else 0
        done = len(self.grid.accesses)
        if done >= self._most or done - self._begun >= self._most_each:
            raise self._too_much(done - self._begun)
        try:
            for kind in ("read", "write"):
                if kind in wants:
                    name, index, value = wants[kind]
                    array = self.arrays[name]
                    if kind == "read":
                        return {"value": told(array[index])}
                    value = heard(value)
                    if isinstance(value, int) and abs(value) > BIGGEST:
                        raise TypeError("such a large number")
                    array[index] = value
                    return {"value": None}
        except AccessError as error:
            return {"fault": str(error)}
        except (TypeError, ValueError, KeyError, IndexError) as error:
            raise FaultError(
                Status.TAMPERED, f"The submission's process asked for an impossible access: {error}"
            ) from error
        raise FaultError(
            Status.TAMPERED, "The submission's process asked for something that is not an access."
        )

    def _too_much(self, by_this_one: int) -> FaultError:
        """A kernel that is stopped: one of its threads has no end, or each touches far too much."""
        advice = " Is there a loop over all of them? The threads are the loop."
        text = f"a thread touches far more elements than its own.{advice}"
        if by_this_one >= self._most_each:
            advice = ""
            who = _small(_who(self.grid.who))
            text = f"{who} was stopped here after {by_this_one} reads and writes. Does its loop end?"
        return FaultError(Status.TIMEOUT, _at(self.grid.line, text), advice=advice)


def _same(value: float, right: float, far: float = 1e-9) -> bool:
    """Whether two numbers are one: NaN is NaN, and what is small is compared relative to its size."""
    return math.isclose(value, right, rel_tol=far) or (math.isnan(value) and math.isnan(right))


def other_launch(first: OnGrid, other: Launch) -> str:
    """In which way a further launch differs from the first, as a sentence."""
    size = first.size if other.size is None else other.size
    how = f"n = {other.n}"
    if size:
        how += f" and {-(-other.n // size) + other.surplus} blocks of {size} threads"
    if other.surplus:
        how += f", of which {other.surplus} more than it takes"
    if other.x:
        how += f"; x is {[*other.x]}"
    if other.extra is not None:
        how += f", and the factor {other.extra[0]}"
    return f"This was another launch, with {how}."


def _at(line: int, text: str) -> str:
    """The sentence with its line in front, or with a capital."""
    return f"Line {line}: {_small(text)}" if line else f"{text[:1].upper()}{text[1:]}"


def _small(text: str) -> str:
    return f"{text[:1].lower()}{text[1:]}"


def _who(who: Who) -> str:
    return f"Block {who[0]}, thread {who[1]}" if len(who) == 2 else f"Thread {who[0]}"
