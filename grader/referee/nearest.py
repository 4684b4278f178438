"""The one change that makes a failed check pass: found by trying what the course's solutions do otherwise.

A rule knows a mistake by its looks and may be wrong about it; what is said here was tried. The student's file
is never changed: each candidate is a copy with one change, graded for the checks alone that failed.
"""

from __future__ import annotations

import functools
import itertools
import keyword
import re
import shutil
import tempfile
import textwrap
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from grader.domain import python_text
from grader.domain.errors import BadInputError
from grader.domain.verdict import PENDING, Finding, Status
from grader.domain.within import TooMuchError, within
from grader.feedback.explain import (
    brackets,
    ceilings,
    left_empty,
    other_forms,
    outermost,
    precedence,
    python_alternatives,
)
from grader.feedback.explain.alternatives import Alternative, instrumented, ranked
from grader.feedback.explain.changes import Change, Difference, differences, together
from grader.feedback.explain.own_lines import code_of
from grader.referee import grading
from grader.referee.fault import FaultError
from grader.referee.lesson_problem import LessonProblem
from grader.referee.parts.mutation_test import MutationTest, MutationTests
from grader.referee.process import forkserver
from grader.referee.process.player_process import Limits, Player
from grader.referee.session import Session
from grader.referee.side import Reference

if TYPE_CHECKING:
    from grader.domain.task import Case, Task

SEARCH_LIMIT_S = 12.0
READING_S = 3.0  # for each reading of the file as a whole
STEPS = (2, 5, 11, 23)  # how many differences are taken away together, before all are
MAX_PARTS = 5
MAX_STATEMENTS = 3  # of statements that a name binds together, how many are tried alone after that
QUOTED = 200  # characters of several lines that are quoted
FEW = 5  # differences of a file that are tried before hundreds of slips are
SLIP = 50  # characters of a change that is shown, where it is in several lines
SLIP_WORDS = 3  # and new words and signs, where it is in one
MAX_EDITS, MAX_TOKENS = 3, 40  # places and tokens of a change that is worth telling
TRYING = 6.0  # seconds for all slips of one language
BUILT = 3.0  # and for those that are built already, even where time is over
TIMES = 3
LIMITS = Limits(load=8.0, build=30.0, call=3.0)
# Answers that the exercise asks for: a change of these would give them away.
ANSWER = re.compile(r"^[A-Z][A-Z_]* =|^\"\w+\":")
# Explanations that a file's looks lead to where nothing better is known.
GUESSES = {"written-here", "two-owners", "half-filled", "array-too-small", "part", "expected-value"}
COMMENT = re.compile(r"(?<=[;{}])\s*//.*$")  # of C++
# What decides which statements run.
CONDITION = re.compile(
    r"[=!<>]=|(?<![<>-])[<>](?![<>])|&&|\|\||!|\?|\b(?:if|else|elif|while|switch|break|continue|return)\b"
)
ARITHMETIC = re.compile(r"(?<=[\w\])])\s*[-+*/%]\s*(?=[\w(])")
NOTHING = re.compile(r"[\s(){}\[\],;:]*$")
STUDENTS_TESTS = (MutationTest, MutationTests)
ERRORS = {Status.COMPILE_ERROR, Status.IMPORT_ERROR, Status.RAISED, Status.CUDA_ERROR}
SILENT = PENDING | {Status.NOT_RUN, Status.NOT_GRADABLE, Status.TAMPERED}
Start = Callable[[Path], Player]


@dataclass(frozen=True, slots=True)
class Nearest:
    """What was found: the change, and its line ``before`` and ``after`` it.

    ``all``: with it every check passes that had failed, not only the first. ``lines``: all that it touches.
    ``known``: what was known of its line before the search, in sentences.
    """

    change: Change
    before: str
    after: str
    all: bool
    lines: tuple[int, ...] = ()
    known: str = ""
    quoted: str = ""  # the lines, where they are several, as one
    refused: bool = False  # whether the failure is an error in words, not a wrong result
    gone: str = left_empty.AWAY  # how to take a statement away
    form: other_forms.Mended | None = None  # a change of the student's own formula, which was tried as well

    @property
    def shown(self) -> bool:
        """Whether what was found is small enough to be shown to a student."""
        change = self.change
        if self.reason or self.in_one_line:
            return True
        if change.kind != "replace":
            short = len(change.was) + len(change.now) <= SLIP or not change.now
            return change.kind != "several" or (short and change.pieces == 1)
        long = len(change.was) > 80 or len(change.now) > 120
        if long and _core(change.was, change.now):
            return not _another(change.was, change.now)
        return not long and len(change.was) <= len(self.before) and not _another(change.was, change.now)

    @property
    def reason(self) -> tuple[str, str] | None:
        """Why the line is wrong, and what to write, where that can be told from its two forms."""
        if len(self.lines) != 1:
            return None
        known = brackets.moved(self.before, self.after) or precedence.first(self.before, self.after)
        return known or ((self.form.cause, self.form.fix) if self.form else None)

    @property
    def in_one_line(self) -> bool:
        """Whether several places of one line differ, and hardly anything in them is new."""
        several = self.change.kind == "several" and len(self.lines) == 1 < len(self.change.edits)
        return several and self.after not in ("", self.before) and not _another(self.before, self.after)

    @property
    def located(self) -> bool:
        """Whether the mistake is in what the change takes away; else something may be missing elsewhere."""
        return self.change.kind != "several" or all(start < end for start, end, _ in self.change.edits)

    def as_json(self) -> dict[str, object]:
        """As an explanation of :mod:`grader.feedback.explain.engine`."""
        cause, fix = _of_one_line(self) or _words(self)
        one = len(self.lines) < 2  # of several lines, the first may well be right
        place = f"line {self.change.line}: {self.before}" if one else f"lines {_listed(self.lines)}"
        if not one and self.quoted:
            place = f"{place}:{'' if self.quoted.startswith(chr(10)) else ' '}{self.quoted}"
        return {
            "rule": "one-change", "cause": cause, "fix": fix, "lesson": "", "error": "", "file": "",
            "line": self.change.line, "code": self.before, "where": place,
        }  # fmt: skip


def search(
    source: str,
    name: str,
    rights: Iterable[str],
    findings: list[Finding],
    task: Task,
    reference: Reference | None,
    start: Start,
) -> Nearest | None:
    """The change that makes the first failed check pass; None if no small one does, or time is over.

    ``findings``: those that failed in their order, and those that passed, which no change may make fail.
    ``rights``: the course's solutions. ``reference`` is loaded; ``start`` makes a file's player.
    """
    failed = [f for f in findings if not f.ok and f.status not in SILENT]
    known = {"memory", *(c.name for c in task.cases), *(c.name for p in task.parts for c in p.checks)}
    right = frozenset(f.id for f in findings if f.ok and f.id in known)
    waiting = frozenset(f.id for f in findings if f.status is Status.NOT_RUN and f.id in known)
    if not failed:
        return None
    folder = Path(tempfile.mkdtemp(prefix="nearest-"))
    try:
        return Search(source, name, failed, task, reference, start, folder, right, waiting).run(
            within(READING_S, lambda: _by_distance(source, rights))
        )
    except (
        OSError,
        BadInputError,
        TooMuchError,
    ):  # time is over, or the disk is full: the verdict is there without it
        return None
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@dataclass(slots=True)
class Search:
    """A file that failed, what its candidates are judged by, and what came of them so far.

    ``first``: the checks that a change must make pass at least. ``hot``: lines that the failures are about.
    """

    source: str
    name: str
    failed: list[Finding]
    task: Task
    reference: Reference | None
    start: Start
    folder: Path
    right: frozenset[str]  # the checks that pass
    waiting: frozenset[str]  # and those that were not run
    ids: set[str] = field(init=False)
    first: set[str] = field(init=False)
    hot: set[int] = field(init=False)
    end: float = field(init=False)
    known: dict[tuple[tuple[int, int, str], ...], bool] = field(default_factory=dict)
    best: Change | None = None  # the smallest that passed so far
    made: Iterator[int] = field(default_factory=itertools.count)

    def __post_init__(self) -> None:
        """Begin the time that the search has."""
        self.ids = {f.id for f in self.failed}
        self.first = self.ids if self.failed[0].id == "memory" else {self.failed[0].id}
        self.hot = _hot(self.failed)
        self.end = time.monotonic() + SEARCH_LIMIT_S

    def run(self, rights: list[list[Difference]]) -> Nearest | None:
        """Look in all places, the cheapest first. ``rights``: the differences to each, the nearest first."""
        if self.reference is None:  # not even Python: a sign is missing, or a line stands in the wrong column
            return next(filter(None, map(self.of_signs, rights)), None)
        vague: Nearest | None = None
        sensible = [[d for d in right if _sensible(d.whole, self.source)] for right in rights]
        if "load" not in self.ids:
            first = sensible[0] if sensible else []
            built = [d for d in first if d.cpp]
            few = next((some for some in (first, built) if len(some) <= FEW), [])
            pure = [[d for d in right if not d.cpp] for right in sensible[:2]]  # nothing is built for these
            for some in (*pure, few):
                found = self.among(some, set()) if vague is None else None
                if found and found.shown:
                    return found
                vague = vague or found
            # What is too large to be told may be one way of several, and another a slip of one sign.
            found = self.in_python()
            if found is None and (vague is None or time.monotonic() < self.end):
                found = self.in_cpp(self.reference)
            if found := found or vague:
                return found
        for right in sensible:
            scopes = {d.whole.scope for d in right if any(abs(d.whole.line - line) <= 1 for line in self.hot)}
            if found := self.among(right, scopes):
                return found
        return None

    # -- where it looks

    def of_signs(self, right: list[Difference]) -> Nearest | None:
        """Among brackets and commas, and the columns of lines."""
        signs = [p for d in right for p in (d.whole, *d.parts) if p.kind == "indent" or _sign(p)]
        near = sorted(signs, key=lambda c: _rank(c, self.hot, set()))[:20]
        sign = next((c for c in near if self.good(c)), None)
        return self.told(sign, whole=False) if sign else None

    def among(self, right: list[Difference], scopes: set[int]) -> Nearest | None:
        """Among differences to a right file."""
        self.best = None
        try:
            change = _found(self, right, lambda c: _rank(c, self.hot, scopes)) if right else None
        except TimeoutError:  # what it had come down to may still be worth telling, where it is one place
            change = self._one_place()
        if change is None or len(change.edits) > MAX_EDITS or change.size > MAX_TOKENS:
            return None  # or true, and no help
        # New inputs are drawn each time: what helps by chance does not help again and again.
        text = change.apply(self.source)
        if not all(self.passes(text, self.first) for _ in range(1 if self.task.cases else TIMES)):
            return None
        if not self.spoils_nothing(change):
            return None
        whole = self.ids <= self.first or self.passes(text, self.ids)
        told = self.told(change, whole=whole)
        return told if told.located else None

    def _one_place(self) -> Change | None:
        """The smallest that passed so far, if it is a change in one place."""
        return self.best if self.best and len(self.best.edits) == 1 else None

    def in_python(self) -> Nearest | None:
        """Among the usual slips in Python, where no line of a kernel is to blame."""
        every = within(READING_S, lambda: python_alternatives.alternatives(self.source, self.hot))
        about = any(one.function[0] <= line <= one.function[1] for one in every for line in self.hot)
        if self.hot and not about and "__global__" in self.source:
            return None
        stop = min(self.end, time.monotonic() + TRYING)
        # One at a time: ast.parse in several threads of CPython 3.11 fails now and then (SystemError).
        for one in every:
            if time.monotonic() > stop:
                return None
            text = one.change.apply(self.source)
            if not _sensible(one.change, self.source) or not self.passes(text, self.first):
                continue
            if all(self.passes(text, self.ids) for _ in range(TIMES)) and self.spoils_nothing(one.change):
                return self.told(one.change, whole=True)
        return None

    def in_cpp(self, reference: Reference) -> Nearest | None:
        """Among the usual slips in C++: hundreds are tried in one module."""
        task, ids = self.task, self.ids
        seen = [one for f in self.failed for one in f.evidence.get("seen") or [] if isinstance(one, dict)]
        about = {str(one.get("check")) for one in seen}
        probes = [c for c in task.cases if c.name in ids] or [c for c in task.cases if c.name in about]
        if not probes or ("__global__" not in self.source and "torch::" not in self.source):
            return None
        path = self.folder / "alternatives" / self.name
        path.parent.mkdir()
        less = replace(task, cases=(), parts=(), memory_points=0)
        dropped: frozenset[int] = frozenset()
        for turn in range(3):
            if turn and time.monotonic() > self.end:
                return None
            text, made = within(READING_S, functools.partial(instrumented, self.source, dropped))
            if not made:
                return None
            path.write_text(text, "utf-8")
            session = Session(less, str(path), lambda: self.start(path), reference, LessonProblem)
            try:
                loaded = grading.grade(session).findings[0]
                if loaded.ok:
                    # The build is paid for: on a slow machine it alone takes what the search has.
                    stop = max(min(self.end, time.monotonic() + TRYING), time.monotonic() + BUILT)
                    for one in _survivors(session, ranked(made, self.hot), probes[0], stop):
                        if _no_ceiling(one.change, self.source):
                            continue
                        passes = _passes(path, task, ids, reference, self.start, one.number)
                        if passes and self.spoils_nothing(one.change):
                            return self.told(one.change, whole=True)
                    return None
            except FaultError:
                return None
            finally:
                session.close()
            told = f"{loaded.message} {loaded.evidence}"
            lines = {int(n) for n in re.findall(r"\.py(?:, line |:)(\d+)", told)}
            if not lines - dropped:
                return None
            dropped |= lines
        return None

    # -- candidates

    def good(self, change: Change) -> bool:
        """Whether the file passes with it. Raises TimeoutError when time is over."""
        if change.edits not in self.known:
            if time.monotonic() > self.end:
                raise TimeoutError
            self.known[change.edits] = self.passes(change.apply(self.source), self.first)
            if self.known[change.edits] and (self.best is None or change.size < self.best.size):
                self.best = change
        return self.known[change.edits]

    def passes(self, text: str, ids: set[str]) -> bool:
        """Whether the checks pass for a copy that holds ``text``."""
        if self.reference is not None and not _parses(text):  # quicker than a player that finds it out
            return False
        path = self.folder / str(next(self.made)) / self.name
        path.parent.mkdir()
        path.write_text(text, "utf-8")
        return _passes(path, self.task, ids, self.reference, self.start)

    def spoils_nothing(self, change: Change) -> bool:
        """Whether the checks that pass for the file pass with the change as well.

        Of a condition even those that were not run: with another one, what is wrong may only be left out, or
        what is right be done beside it.
        """
        ids = self.right | (self.waiting if CONDITION.search(f"{change.was} {change.now}") else set())
        if _in_cpp(
            self.source, change
        ):  # which the student's own tests never see: they are given kernels of ours
            ids -= {c.name for p in self.task.parts if isinstance(p, STUDENTS_TESTS) for c in p.checks}
        return not ids or self.passes(change.apply(self.source), self.first | ids)

    def told(self, change: Change, *, whole: bool) -> Nearest:
        """What is said of the change that was found."""
        before = self.source.splitlines()[change.line - 1].strip()
        after = _line(change.apply(self.source).splitlines(), change)
        guess = self.failed[0].evidence.get("explanation")
        same = isinstance(guess, dict) and guess.get("line") == change.line
        known = str(guess.get("cause", "")) if isinstance(guess, dict) and same else ""
        lines = _touched(self.source, change)
        text = self.source.splitlines()
        shown = [text[n - 1] for n in lines if n <= len(text)]
        quoted = " ".join(map(str.strip, shown))
        if len(shown) > 1 and not _in_cpp(self.source, change) and not _parses(quoted):
            quoted = "\n" + textwrap.dedent("\n".join(shown))  # statements of Python have a line each
        refused = self.failed[0].status in ERRORS
        quoted = quoted if len(quoted) <= QUOTED else ""
        python = change.kind == "drop line" and not _in_cpp(self.source, change)
        gone = left_empty.without(self.source, lines) if python else left_empty.AWAY
        large = (
            len(lines) == 1 and change.size > SLIP_WORDS
        )  # else the change itself is in the student's form
        form = self.in_its_own_form(change.line, before, after, whole=whole) if large else None
        return Nearest(change, before, after, whole, lines, known, quoted, refused, gone, form)

    def in_its_own_form(
        self, line: int, before: str, after: str, *, whole: bool
    ) -> other_forms.Mended | None:
        """A change of the line's own formula that gives the right one's values, where it passes as well."""
        form = other_forms.mended(before, after)
        if form is None:
            return None
        lines = self.source.splitlines(keepends=True)
        lines[line - 1] = lines[line - 1].replace(before, form.line)
        return form if self.passes("".join(lines), self.ids if whole else self.first) else None


def _in_cpp(source: str, change: Change) -> bool:
    """Whether the change is in a C++ source that the file holds."""
    lines = code_of(source).splitlines() if "__global__" in source else []
    return change.line <= len(lines) and bool(lines[change.line - 1].strip())


def _survivors(session: Session, order: list[Alternative], probe: Case, end: float) -> Iterator[Alternative]:
    """Those with which the case passes, one after another, until time is over."""
    for one in order:
        if time.monotonic() > end:
            return
        if grading.changed(session, probe, one.number).ok and not session.record.memory:
            yield one


def _by_distance(source: str, rights: Iterable[str]) -> list[list[Difference]]:
    """The differences to each right file, those of the nearest first."""
    every = [found for right in rights if (found := differences(source, right))]
    return sorted(every, key=lambda found: sum(d.whole.size for d in found))


def _found(
    candidates: Search, every: list[Difference], rank: Callable[[Change], tuple[float, int]]
) -> Change | None:
    """The smallest change among these differences that is enough, found by halving.

    Without all of its differences the file is the right one. They are taken away in the order of ``rank``,
    more and more of them, until the file passes: the last of those is needed, and mostly enough.
    """
    some = (
        [d for d in every if d.cpp],
        [d for d in every if not d.cpp],
    )  # one may be another program altogether
    every = next((part for part in (every, *some) if part and candidates.good(_upto(part, len(part)))), [])
    if not every:
        return None
    every = sorted(every, key=lambda d: min(rank(part) for part in (d.whole, *d.parts)))
    low, high = 0, len(every)
    for number in (n for n in STEPS if n < len(every)):
        if candidates.good(_upto(every, number)):
            high = number
            break
        low = number
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if candidates.good(_upto(every, middle)) else (middle, high)
    last = every[high - 1]
    if not candidates.good(last.whole):
        return _pair(candidates, every, high)
    built = "load" not in candidates.ids  # else a bracket may be what lacks
    halves = [
        p
        for p in last.parts
        if p.edits != last.whole.edits and not _moves(p, last.parts) and not (built and _opens(p))
    ]
    parts = sorted(halves, key=lambda c: (c.size, rank(c)))
    large = sorted((p for p in parts[MAX_PARTS:] if p.kind == "replace"), key=lambda c: -c.size)
    tried = (*parts[:MAX_PARTS], *large[:MAX_STATEMENTS])
    return next((part for part in tried if candidates.good(part)), last.whole)


def _opens(part: Change) -> bool:
    """Whether it leaves a bracket open, or closes one too many: half of a bracket that is moved."""
    return any(
        part.was.count(a) - part.was.count(b) != part.now.count(a) - part.now.count(b)
        for a, b in ("()", "[]")
    )


def _moves(part: Change, every: Iterable[Change]) -> bool:
    """Whether another of them puts what it takes, or takes what it puts: half of a move repairs nothing."""
    words = re.findall(r"\w+", part.was + part.now)
    one_way = bool(words) and not (part.was and part.now)
    return one_way and any(
        re.findall(r"\w+", q.now if part.was else q.was) == words and not (q.was and q.now)
        for q in every
        if q is not part
    )


def _pair(candidates: Search, every: list[Difference], high: int) -> Change | None:
    """The last of ``every[:high]``, which is not enough alone, with the one other that is needed as well."""
    low, stop = 0, high - 1
    while stop - low > 1:
        middle = (low + stop) // 2
        rest = together([d.whole for d in every[middle:high]])
        low, stop = (middle, stop) if candidates.good(rest) else (low, middle)
    pair = together([every[low].whole, every[high - 1].whole])
    return pair if candidates.good(pair) else None


def _upto(every: list[Difference], number: int) -> Change:
    return together([d.whole for d in every[:number]])


def wanted(finding: Finding) -> bool:
    """Whether a search is worth its time: what the finding says of the cause is nothing, or a guess."""
    told = finding.evidence.get("explanation")
    # A weak test and a wrong answer are the exercise; other parts of a lesson know the cause themselves.
    if {"survived", "answered"} & finding.evidence.keys() or finding.evidence.get("known"):
        return False
    return not isinstance(told, dict) or not told.get("line") or told.get("rule") in GUESSES


def _sign(change: Change) -> bool:
    """Whether it adds or takes a bracket, a colon, a comma or a quote, and nothing else."""
    return not re.search(r"\w", change.was + change.now)


def _line(lines: list[str], change: Change) -> str:
    return lines[change.line - 1].strip() if 0 < change.line <= len(lines) else ""


def _touched(source: str, change: Change) -> tuple[int, ...]:
    """The lines of the file that the change takes something from or puts something into."""
    found: set[int] = set()
    for start, end, _ in change.edits:
        taken = source[start:end]
        first = start + len(taken) - len(taken.lstrip())
        last = max(first, start + len(taken.rstrip()) - 1)
        found |= set(range(source.count("\n", 0, first) + 1, source.count("\n", 0, last) + 2))
    return tuple(sorted(found)) if change.kind in ("several", "replace", "drop line") else (change.line,)


def _listed(lines: tuple[int, ...]) -> str:
    """``36 to 38``, ``20, 36 and 37``."""
    runs: list[list[int]] = []
    for line in lines:
        if runs and runs[-1][-1] == line - 1:
            runs[-1].append(line)
        else:
            runs.append([line])
    told = [n for run in runs for n in ([f"{run[0]} to {run[-1]}"] if len(run) > 2 else map(str, run))]
    return " and ".join(filter(None, (", ".join(told[:-1]), told[-1])))


def _sensible(change: Change, source: str) -> bool:
    """Whether it may be the answer to the question what is wrong, and not the exercise's own."""
    line = source.splitlines()[change.line - 1].strip()
    if ANSWER.match(line) or ANSWER.match(change.was) or _no_ceiling(change, source):
        return False
    return not (change.kind in ("drop line", "add line") and NOTHING.match(change.was + change.now))


def _no_ceiling(change: Change, source: str) -> bool:
    """Whether its line would hold a quotient that looks rounded up and is not: no advice, if it passes."""
    return any(map(ceilings.no_ceiling, change.apply(source).splitlines()[change.line - 1 : change.line]))


def _hot(failed: list[Finding]) -> set[int]:
    """Lines that the failures are about."""
    lines: set[int] = set()
    for finding in failed[:2]:
        told = finding.evidence.get("explanation") or {}
        seen = [one for one in finding.evidence.get("seen") or [] if isinstance(one, dict)]
        owner = finding.evidence.get("owner")
        for one in (told, finding.evidence, *seen, owner if isinstance(owner, dict) else {}):
            if isinstance(line := one.get("line"), int) and line > 0:
                lines.add(line)
        cause = str(told.get("cause", "")) if isinstance(told, dict) else ""
        lines |= {int(n) for n in re.findall(r"\bline (\d+)", f"{finding.message} {cause}")}
    return lines


def _rank(change: Change, hot: set[int], scopes: set[int]) -> tuple[float, int]:
    """Small changes near to what failed come first, those that hardly ever matter last."""
    worth = float(change.size)
    if change.line in hot:
        worth -= 8
    elif any(abs(change.line - line) <= 3 for line in hot):
        worth -= 4
    elif change.scope in scopes:
        worth -= 2
    words = f"{change.was} {change.now}"
    if re.fullmatch(r"(?:\s|\"[^\"]*\"|'[^']*'|const\b|__restrict__|inline|__forceinline__|[{}()])*", words):
        worth += 12
    return worth, change.line


def _passes(
    path: Path, task: Task, ids: set[str], reference: Reference | None, start: Start, number: int = 0
) -> bool:
    """Whether the checks of these names pass for the file, or for an alternative of an instrumented one."""
    cases = tuple(c for c in task.cases if c.name in ids or "memory" in ids)
    parts = tuple(p for p in task.parts if ids & {c.name for c in p.checks})
    less = replace(task, cases=cases, parts=parts, memory_points=task.memory_points if "memory" in ids else 0)
    if ids == {"load"}:
        less = replace(less, cases=task.cases, parts=())  # what only lets it be loaded may well be wrong
        ids = ids | {c.name for c in less.cases}
    if reference is None:  # the file could not even be read
        if not _parses(path.read_text("utf-8")):
            return False
        less, ids = replace(task, cases=(), parts=(), memory_points=0), {"load"}
        answers = Reference.__new__(Reference)  # of no cases it is asked nothing
    else:
        answers = reference

    def chosen() -> None:
        if number:
            session.ask("change", number=number)

    session = Session(less, str(path), lambda: start(path), answers, LessonProblem, loaded=chosen)
    try:
        found = grading.grade(session).findings
    except FaultError:
        return False
    finally:
        session.close()
    said = {f.id: f for f in found}
    return all(name in said and said[name].ok for name in ids)


def _parses(text: str) -> bool:
    try:
        python_text.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _of_one_line(nearest: Nearest) -> tuple[str, str] | None:
    """Cause and fix of a change in several places of one line; None for other changes."""
    passes = "every check passes that failed" if nearest.all else "this check passes"
    if found := nearest.reason:
        return f"{found[0]} Then {passes}.", found[1]
    if nearest.in_one_line:
        count, write = len(nearest.change.edits), COMMENT.sub("", nearest.after)
        return f"This line is wrong in {count} places: written as below, {passes}.", f"Write `{write}`."
    return None


def _words(nearest: Nearest) -> tuple[str, str]:
    """Cause and fix as sentences."""
    change = nearest.change
    passes = "every check passes that failed" if nearest.all else "this check passes"
    was, now, write = f"`{change.was}`", f"`{change.now}`", f"Write `{COMMENT.sub('', nearest.after)}`."
    long = len(change.was) > 80 or len(change.now) > 120
    if change.kind == "indent":
        return (
            "This line is indented by the wrong number of columns, so it belongs to another block: with "
            f"{change.other} spaces {passes}.",
            "",
        )
    if change.kind == "insert":
        return _missing(nearest, passes), write
    if change.kind == "delete":
        # Where it was taken out, a space is left too many.
        once = re.sub(r"(?<=\S) +(?=[,;)\]])", "", re.sub(r"(?<=\S)  +", " ", write))
        return f"{was} is too much in this line: without it {passes}.", once
    if change.kind == "add line":
        if len(change.now) > 160:
            return f"Something is missing below this line: with what the task asks for there {passes}.", ""
        return f"Something is missing below this line: with {now} there {passes}.", "Add it."
    if change.kind == "drop line":
        what = was if len(change.was) <= 80 else "What stands here"
        return f"{what} does not belong here: without it {passes}.", nearest.gone
    if change.kind == "move":
        return f"This stands in the wrong place: {passes} if it stands below line {change.other}.", "Move it."
    if not change.now and (change.pieces > 1 or not long):
        what = "Something" if change.pieces > 1 else was
        return f"{what} is too much here: without it {passes}.", ""
    if change.kind != "replace":
        if len(change.was) + len(change.now) > SLIP or change.pieces > 1:
            return _not_shown(nearest, f"The mistake is here: with something else in its place {passes}.")
        return f"{was} is the mistake here: with {now} in its place {passes}.", ""
    if not nearest.shown:
        return _not_shown(
            nearest, f"The mistake is in this statement: with another one in its place {passes}."
        )
    index = _one_index(change.was, change.now)
    piece = index or _one_piece(change.was, change.now) or (_core(change.was, change.now) if long else None)
    was, now = (f"`{one}`" for one in piece or (change.was, change.now))
    reason = (_exchanged(*index) if index else MEANS.get((change.was, change.now))) or _turned(
        change.was, change.now
    )
    which = "" if piece else _which(nearest)
    cause = f"{which or was} is the mistake in this line: with {now} in its place {passes}.{reason}"
    return cause, "" if nearest.after == change.now and not piece else write


def _which(nearest: Nearest) -> str:
    """``The second `s` `` of a line that holds the name several times; "" where it stands there once."""
    was, found = nearest.change.was, _apart(nearest.before, nearest.after)
    if found is None or not re.fullmatch(r"\w+", was) or found[0].count(was) < 2:
        return ""
    number = found[0][: found[2] + 1].count(was)
    return f"The {('first', 'second', 'third', 'fourth')[number - 1]} `{was}`" if 0 < number < 5 else ""


def _missing(nearest: Nearest, passes: str) -> str:
    """What lacks in the line, as a sentence."""
    now = nearest.change.now
    called = re.search(r"(?<!\w)[A-Za-z_]\w*$", nearest.after[: _inserted(nearest)].rstrip())
    whole = now.startswith("(") and now.endswith(")") and _balanced(now[1:-1])
    if called and whole and not keyword.iskeyword(called[0]):
        name = called[0]
        return f"`{name}` without brackets names the function and does not call it: with `{now}` {passes}."
    return f"`{now}` is missing in this line: with it {passes}.{_always(nearest)}"


def _inserted(nearest: Nearest) -> int:
    """Where what is missing stands in the line ``after``: the same text may stand there elsewhere, too."""
    now, after, bare = nearest.change.now, nearest.after, "".join(nearest.before.split())
    same = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(nearest.before, after, strict=False))
    shared = sum(1 for _ in same)
    for at in range(min(shared + 1, len(after)), max(-1, shared - len(now) - 2), -1):
        if after.startswith(now, at) and "".join(f"{after[:at]}{after[at + len(now) :]}".split()) == bare:
            return at
    return 0


CHOICE = re.compile(r"(?P<asked>[^?]+?)\s*\?\s*(?P<value>[^?:]+?)\s*:$")

LAST_THREAD = re.compile(r"==\s*(?:\w*SIZE|blockDim\.x|\w*size|[A-Z_]+|threads)\s*-\s*1\b")


def _always(nearest: Nearest) -> str:
    """What is taken in any case where ``i + 1 < n ? x[i + 1] :`` is missing, with a space in front; or ""."""
    choice = CHOICE.fullmatch(nearest.change.now)
    rest = nearest.after[_inserted(nearest) + len(nearest.change.now) :]
    other = re.match(r"\s*(?P<v>[-\w.]+|\w+\[[^][]*\])\s*[;,)]", rest)
    if choice is None or other is None:
        return ""
    asked, value = choice["asked"], choice["value"]
    told = f" Without it {other['v']} is taken in any case; where `{asked}` is true, {value} belongs there."
    if LAST_THREAD.search(nearest.before) and re.search(r"\[\w+ \+ 1\]$", value):
        told += " The line is for the last thread of a block"
        told += f", so {value}, one further, is an element of the next block."
    return told


def _not_shown(nearest: Nearest, found: str) -> tuple[str, str]:
    """Cause and fix where the change is too large to be told: with what the student's own line computes."""
    known = nearest.known or (
        outermost.compared(nearest.before, nearest.after) if len(nearest.lines) < 2 else ""
    )
    code = re.sub(r"\"[^\"]*\"|'[^']*'", "", f"{nearest.before} {nearest.quoted}")
    computes = known or ARITHMETIC.search(code)
    fix = (
        "Work out by hand what it gives here, and compare that with what the task asks for."
        if computes
        else ""
    )
    if nearest.refused:
        fix = "The error below is about this statement: compare the two, word by word."
    return f"{found} {known}".rstrip(), fix


WORDS = re.compile(r"[\w.]+|\s+|[^\w\s]")


def _apart(was: str, now: str) -> tuple[list[str], list[str], int, int] | None:
    """The words of two statements, and how many they share in front and behind; None if they are equal."""
    ours, theirs = WORDS.findall(was), WORDS.findall(now)
    first = next((i for i, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b), None)
    if first is None:
        return None
    same = zip(reversed(ours[first:]), reversed(theirs[first:]), strict=False)
    return ours, theirs, first, next((i for i, (a, b) in enumerate(same) if a != b), 0)


def _core(was: str, now: str) -> tuple[str, str] | None:
    """The one stretch in which two statements differ; None if it is long, or empty in one of them."""
    if (found := _apart(was, now)) is None:
        return None
    ours, theirs, first, last = found
    pieces = ["".join(one[first : len(one) - last]).strip() for one in (ours, theirs)]
    short = all(0 < len(one) <= SLIP // 2 for one in pieces)
    return (pieces[0], pieces[1]) if short and was.count(pieces[0]) == 1 else None


def _turned(was: str, now: str) -> str:
    """That ``a - b`` stands where ``b - a`` belongs, with a space in front; "" if it is something else."""
    if (found := _apart(was, now)) is None:
        return ""
    ours, theirs, first, last = found
    pieces = ["".join(one[first : len(one) - last]).strip() for one in (ours, theirs)]
    sides = re.fullmatch(r"([^-/%]+?)\s*(-|//?|%)\s*([^-/%]+)", pieces[0])
    if sides is None or pieces[1] != f"{sides[3]} {sides[2]} {sides[1]}":
        return ""
    return f" The two sides of `{sides[2]}` are exchanged: `{pieces[0]}` stands for `{pieces[1]}`."


QUOTIENT, REST = "how often the right side goes into the left one", "what is left over of the left side"
MEANS = {  # why an operator is not the other one
    ("%", "//"): f" `%` gives {REST}, `//` {QUOTIENT}.",
    ("//", "%"): f" `//` gives {QUOTIENT}, `%` {REST}.",
    ("%", "/"): f" `%` gives {REST}, `/` {QUOTIENT}.",
    ("/", "%"): f" `/` gives {QUOTIENT}, `%` {REST}.",
    ("/", "//"): " `/` gives a number with a fraction in Python, `//` a whole one.",
    ("&&", "||"): " `&&` asks for both, `||` for one of the two.",
    ("||", "&&"): " `||` asks for one of the two, `&&` for both.",
    ("and", "or"): " `and` asks for both, `or` for one of the two.",
    ("or", "and"): " `or` asks for one of the two, `and` for both.",
    ("elif", "if"): " An `elif` is asked only where every condition before it was false.",
    (
        "if",
        "elif",
    ): " An `if` is asked in any case, an `elif` only where every condition before it was false.",
    ("=", "=="): " `=` gives what is on its left a value; `==` asks whether both sides are equal.",
    ("==", "="): " `==` asks whether both sides are equal; `=` gives what is on its left a value.",
    ("=", "+="): " `=` gives a value in place of the one before, `+=` adds to it.",
    ("+=", "="): " `+=` adds to the value before, `=` gives one in its place.",
}
INDEX = re.compile(r"\b\w+\[[^][]*\]")
IN_ROWS = re.compile(r"(\w+)\[\s*(\w+)\s*\*\s*(\w+)\s*\+\s*(\w+)\s*\]$")


def _one_index(was: str, now: str) -> tuple[str, str] | None:
    """``a[i]`` before and after, where two statements differ in nothing else."""
    ours, theirs = INDEX.findall(was), INDEX.findall(now)
    if INDEX.sub("", was) != INDEX.sub("", now) or len(ours) != len(theirs):
        return None
    other = [(a, b) for a, b in zip(ours, theirs, strict=True) if a != b]
    return other[0] if len(other) == 1 else None


def _one_piece(was: str, now: str) -> tuple[str, str] | None:
    """The arguments or entries in which two statements differ, whole ones; None if that is most of them."""
    if (found := _apart(was, now)) is None:
        return None
    ours, theirs, first, last = found
    for begin in range(first, 0, -1):
        if ours[begin - 1] not in ("(", "[", ",", "{") and "".join(ours[begin - 2 : begin]) != ", ":
            continue
        for end in range(last, 0, -1):
            if ours[len(ours) - end] not in (")", "]", ",", "}"):
                continue
            pieces = ["".join(one[begin : len(one) - end]).strip() for one in (ours, theirs)]
            if all(one and _balanced(one) for one in pieces):
                told = was.count(pieces[0]) == 1 and 3 * len(pieces[0]) <= 2 * len(was)
                return (pieces[0], pieces[1]) if told else None
    return None


def _balanced(code: str) -> bool:
    """Whether each bracket of a piece of code is opened and closed in it."""
    depth = 0
    for sign in code:
        depth += (sign in "([{") - (sign in ")]}")
        if depth < 0:
            return False
    return not depth


def _exchanged(was: str, now: str) -> str:
    """Why ``x[col * n + row]`` is not ``x[row * n + col]``, with a space in front; "" for other indices."""
    ours, right = IN_ROWS.match(was), IN_ROWS.match(now)
    if not ours or not right or (ours[2], ours[4]) != (right[4], right[2]) or ours[3] != right[3]:
        return ""
    x, row, length, col = right.groups()
    return (
        f" In {x}, {row} rows of {length} elements stand before that one, and {col} elements of its own row: "
        f"{row} and {col} are exchanged."
    )


def _another(was: str, now: str) -> bool:
    """Whether so much is new in it that to say it would solve the exercise."""
    words = re.compile(r"\w+|[^\w\s]")
    return (Counter(words.findall(now)) - Counter(words.findall(was))).total() > SLIP_WORDS


def shared_forkserver() -> forkserver.Forkserver | None:
    """What forks the players of candidates on the CPU back end; None before that is prepared."""
    from grader.backends.simt.compile.compiler import is_prepared  # not loaded where no search is made

    return forkserver.one("simt") if is_prepared() else None
