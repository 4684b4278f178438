"""Reads at an edge that is asked for the wrong way: ``i < n ? 0 : x[i]``, ``x[max(i - 1, 0)]``, ``tile[count - t]``; see ``facts.py``."""

from __future__ import annotations

import ast
import re
from itertools import islice
from typing import TYPE_CHECKING

from grader.domain.verdict import Status
from grader.feedback.explain.source_text import (
    OUTSIDE,
    SIZE,
    WRONG,
    CppFunction,
    Fact,
    Finder,
    SubmissionText,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.domain.verdict import Finding

NAME = r"[A-Za-z_][\w.]*(?:\(\))?"
SIDE = rf"(?:{NAME}|\d+)(?:\s*[-+]\s*(?:{NAME}|\d+)){{0,3}}"
NUMBER = r"-?\d+(?:\.\d*)?f?"
READ = r"\w+\s*\[[^][;{}]{0,80}\]"
CHOICE = re.compile(
    rf"(?<![\w.\])*/%&|+-])(?<![*/%&|+-] )(?P<l>{SIDE})\s*(?P<sign><=?|>=?|[!=]=)\s*(?P<r>{SIDE})\s*\?\s*"
    rf"(?:(?P<a>{NUMBER})\s*:\s*(?P<x>{READ})|(?P<y>{READ})\s*:\s*(?P<b>{NUMBER}))(?!\s*[\w\[*/%])"
)
BOUND = re.compile(rf"({SIZE}|[A-Z][A-Z_\d]*|blockDim\.[xyz])(?:-(\d+))?")
TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
SIGNS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}


def inside(left: str, sign: str, right: str, index: str) -> bool | None:
    """Whether ``left sign right`` is true exactly where there is an element ``index``; None if it asks something else."""
    left, right, index = (re.sub(r"\s", "", one) for one in (left, right, index))
    for one, how, other in ((left, sign, right), (right, TURNED[sign], left)):
        step = re.fullmatch(r"([-+]\d+)?", index.removeprefix(one)) if index.startswith(one) else None
        if step is None or one.isdigit():
            continue
        k = int(step[1] or 0)
        if other.isdigit():  # the first elements: there is one from one == -k on
            first = int(other) + (how in (">", "<=", "==", "!="))
            return how in (">", ">=", "!=") if first == -k and (k or how not in ("==", "!=")) else None
        if bound := BOUND.fullmatch(other):  # the last: there is one up to one == bound - k - 1
            behind = int(bound[2] or 0) - (how in ("<=", ">"))
            return how in ("<", "<=", "!=") if behind == k and (k or how not in ("==", "!=")) else None
    return None


def _turned_choice(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``i < n ? 0.0f : x[i]``, which reads where it was to keep from reading."""
    for kernel in text.kernels:
        for one in CHOICE.finditer(kernel.body):
            read, value = one["x"] or one["y"], one["a"] or one["b"]
            asked = inside(one["l"], one["sign"], one["r"], read.partition("[")[2].rstrip("] "))
            if asked is None or asked == (one["y"] is not None):
                continue
            condition = " ".join(one[0].partition("?")[0].split())
            when = "false" if asked else "true"
            first, last = (read, value) if asked else (value, read)
            cause = (
                f"`{condition}` is turned round: {read} is read where it is {when}, which is where that element does not "
                f"exist, and {value} is taken where it does."
            )
            yield Fact("turned-choice", text.line(kernel.start + one.start()), cause,
                       f"Exchange the two: `{condition} ? {first} : {last}`.")  # fmt: skip
            return


FILL = re.compile(
    rf"\bif\s*\(\s*(?P<l>{SIDE})\s*(?P<sign><=?|>=?|!=)\s*(?P<r>{SIDE})\s*\)\s*\{{?\s*"
    rf"(?P<s>\w+)\s*\[[^][;{{}}]{{0,80}}\]\s*=\s*(?P<y>{READ})\s*;"
)
FURTHEST = 4  # a neighbour that a condition may ask for


def _own_by_the_neighbour(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``tile[t] = i + 1 < n ? x[i] : 0;``, which asks for the neighbour and reads the thread's own element."""
    last = re.search(r"the last (\d+) of|Wrong: (1) of", finding.message)
    wrong = int(last[1] or last[2]) if last else 0
    for kernel in text.kernels:
        filled = [
            f
            for f in FILL.finditer(kernel.body)
            if re.search(rf"__shared__[^;]*\b{f['s']}\s*\[", kernel.body)
        ]
        for one in (*CHOICE.finditer(kernel.body), *filled):
            i = (one["y"] or "").partition("[")[2].rstrip("] ").strip()
            if not re.fullmatch(NAME, i):
                continue
            steps = [
                k
                for k in range(-FURTHEST, FURTHEST + 1)
                if k and inside(one["l"], one["sign"], one["r"], f"{i}{k:+}")
            ]
            at_the_edge = steps and (
                0 < wrong <= steps[0] + 1 if steps[0] > 0 else "element [0]" in finding.message
            )
            if len(steps) != 1 or not at_the_edge:
                continue
            k, read = steps[0], one["y"]
            sides = [re.sub(r"\s", "", one[g]) for g in ("l", "r")]
            bound = BOUND.fullmatch(sides[sides[0].startswith(i)]) if k > 0 else None
            n = bound[1] if bound else "n" if "n" in kernel.names else ""
            condition = f"{one['l']} {one['sign']} {one['r']}"
            where = (
                f"{i} is {n} - 1"
                if k == 1
                else f"{i} is {n} - {k} to {n} - 1"
                if k > 0
                else f"{i} is below {-k}"
            )
            taken = "nothing is stored there" if one in filled else f"{one['b']} is taken in its place"
            cause = (
                f"`{condition}` asks whether there is an element {i} {'-+'[k > 0]} {abs(k)}, a neighbour, and what is read is "
                f"{read}, the thread's own: that exists where {where if k != -1 else f'{i} is 0'}, too, and {taken}."
            )
            fix = (
                f"Ask for the element that is read: `{i} < {n}`."
                if n
                else f"Ask whether there is an element {i}."
            )
            yield Fact("own-by-the-neighbour", text.line(kernel.start + one.start("y")), cause, fix)
            return


ASKED = re.compile(
    rf"\bif\s*\(\s*(?P<l>{SIDE})\s*(?P<sign><=?|>=?|!=)\s*(?P<r>{SIDE})\s*\)\s*\{{?\s*[^;{{}}()]{{1,80}}=\s*"
    rf"(?:[^;{{}}()]{{0,80}}\+\s*)?(?P<y>{READ})\s*;"
)
WROTE = re.compile(r"element \[(?P<e>\d+)\].*thread \((?P<t>[1-9]\d*), 0, 0\), at line (?P<line>\d+)", re.S)
MORE = 16  # conditions that are looked at


def _next_block_not_read(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``t + 1 < SIZE ? tile[t + 1] : 0`` beside a ``tile[SIZE]`` that holds the first element of the next block."""
    wrote = WROTE.search(finding.message)
    two = re.search(r"numbers (\d+)(?:,| and) (\d+)", finding.message)
    threads = int(wrote["t"]) + 1 if wrote else 1
    if not wrote or (int(wrote["e"]) + 1) % threads or (two and (int(two[2]) - int(two[1])) % threads):
        return  # not the last of a block
    for kernel in text.kernels:
        lines = range(text.line(kernel.start), text.line(kernel.start + len(kernel.body)) + 1)
        places = _of_the_thread(kernel, r"threadIdx\.x")
        for one in islice((*CHOICE.finditer(kernel.body), *ASKED.finditer(kernel.body)), MORE):
            chosen = one.re is CHOICE
            read = one["y"] or one["x"]
            s, _, index = read.partition("[")
            t = re.sub(r"\s*\+\s*1\s*\]$", "", index).strip()
            asked = inside(one["l"], one["sign"], one["r"], index.rstrip("] "))
            if int(wrote["line"]) not in lines or t not in places or asked is not (one["y"] is not None):
                continue
            s = s.strip()
            size = re.search(
                rf"__shared__[^;]{{0,200}}\b{s}\s*\[\s*(?P<n>\w+)\s*\+\s*[1-9]\d*\s*\]", kernel.body
            )
            bounds = {"count", "blockDim.x", size["n"]} if size else set()
            if size is None or not bounds & set(re.findall(r"[A-Za-z_][\w.]*", f"{one['l']} {one['r']}")):
                continue
            n = size["n"]
            filled = re.search(
                rf"\b{s}\s*\[\s*{n}\s*\]\s*=(?!=)[^;]{{0,100}}\[[^];]{{0,40}}\+\s*(?:1|{n})\s*\]", kernel.body
            )
            if filled is None:
                continue
            there = text.line(kernel.start + filled.start())
            condition = f"{one['l']} {one['sign']} {one['r']}"
            instead = f"takes {one['a'] or one['b']}" if chosen else "takes nothing"
            cause = (
                f"The last thread of each block, {n} - 1, {instead} here, as `{condition}` lets {s}[{t} + 1] be read by the others "
                f"alone. Its right neighbour is the first element of the next block, and line {there} has put that into {s}[{n}]."
            )
            numbers = _of_the_thread(kernel, r"[^;,=]{0,80}\bblockIdx\.[^;,=]{0,80}|me\(\)")
            i = min(numbers - {"me()", "threadIdx.x"}, default="me()")
            right = (
                f": ask `{i} + 1 < n{f' ? {s}[{t} + 1] : 0' if chosen else ''}`"
                if "n" in kernel.names
                else ""
            )
            fix = f"{s}[{t} + 1] is right for every thread of the block. Only the very last element has no neighbour{right}."
            yield Fact(
                "next-block-not-read",
                text.line(kernel.start + one.start("x" if one["y"] is None else "y")),
                cause,
                fix,
            )
            return


def _on_grid(text: SubmissionText, finding: Finding) -> Iterator[ast.AST]:
    """All nodes of the kernel in Python that the check has run."""
    name = finding.evidence.get("on_grid")
    for function in text.nodes if name else ():
        if isinstance(function, ast.FunctionDef) and function.name == name:
            yield from ast.walk(function)


def _turned_choice_in_python(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``0 if i > 0 else x[i - 1]``."""
    for node in _on_grid(text, finding):
        match node:
            case ast.IfExp(
                test=ast.Compare(left=left, ops=[sign], comparators=[right]) as test, body=first, orelse=last
            ) if type(sign) in SIGNS:
                pass
            case _:
                continue
        read, value = (first, last) if isinstance(first, ast.Subscript) else (last, first)
        if not isinstance(read, ast.Subscript) or not isinstance(value, ast.Constant):
            continue
        asked = inside(ast.unparse(left), SIGNS[type(sign)], ast.unparse(right), ast.unparse(read.slice))
        if asked is None or asked == (read is first):
            continue
        condition, shown = ast.unparse(test), ast.unparse(read)
        where = "false" if asked else "true"
        plain = ast.unparse(value)
        one, other = (shown, plain) if asked else (plain, shown)
        cause = (
            f"`{condition}` is turned round: {shown} is read where it is {where}, which is where that element does not "
            f"exist, and {plain} is taken where it does."
        )
        yield Fact(
            "turned-choice", node.lineno, cause, f"Exchange the two: `{one} if {condition} else {other}`."
        )
        return


CLAMPED = re.compile(
    rf"\b(?P<x>\w+)\s*\[\s*(?:std::)?(?P<f>max|min|abs)\s*\(\s*(?P<a>{SIDE})\s*(?:,\s*(?P<b>{SIDE})\s*)?\)\s*\]"
)


def _clamped(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``x[max(i - 1, 0)]`` and ``x[min(i + 1, n - 1)]``, which read another element where there is no neighbour."""
    wrong = re.search(r"\bout\[(\d+)\] is ", finding.message)
    for node in _on_grid(text, finding):
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
            told = _instead(CLAMPED.fullmatch(ast.unparse(node)))
            # At the other end this line does nothing wrong.
            if told and wrong and (wrong[1] == "0") == told[2].endswith("> 0"):
                yield Fact("clamped", node.lineno, told[0], f"Ask for it: `{told[1]} if {told[2]} else 0`.")
                return
    for kernel in text.kernels:
        for match in CLAMPED.finditer(kernel.body):
            if told := _instead(match):
                yield Fact("clamped", text.line(kernel.start + match.start()), told[0],
                           f"Ask for it, where 0 belongs in its place: `{told[2]} ? {told[1]} : 0`.")  # fmt: skip
                return


def _instead(match: re.Match[str] | None) -> tuple[str, str, str] | None:
    """What such an index reads at the edge, as a sentence; the neighbour; and whether there is one."""
    if match is None:
        return None
    x, how, sides = match["x"], match["f"], [match["a"], match["b"] or ""]
    named = [re.fullmatch(r"(\w[\w.()]*?)\s*([-+])\s*1", one) for one in sides]
    step = next(
        (m for m in named if m and not (how == "min" and BOUND.fullmatch(re.sub(r"\s", "", m[0])))), None
    )
    other = next((one for one in sides if step is None or one != step[0]), "")
    if step is None:
        return None
    i, shown = step[1], match[0].strip()
    neighbour = f"{x}[{step[0]}]"
    if step[2] == "-" and (how, other) in (("max", "0"), ("abs", "")):
        reads = f"{x}[0], its own element" if how == "max" else f"{x}[1], the one on its right"
        cause = (
            f"Where {i} is 0 there is no neighbour on the left, and `{shown}` reads {reads}, in its place."
        )
        return cause, neighbour, f"{i} > 0"
    if (
        step[2] == "+"
        and how == "min"
        and (bound := BOUND.fullmatch(re.sub(r"\s", "", other)))
        and bound[2] == "1"
    ):
        cause = f"Where {i} is {other} there is no neighbour on the right, and `{shown}` reads {x}[{other}], its own element, in its place."
        return cause, neighbour, f"{i} + 1 < {bound[1]}"
    return None


TERM = re.compile(rf"([-+]?)(?:({NAME})|(\d+))")


def _mirrored(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``tile[count - t]`` and ``tile[n - 1 - i]``, which were to go backwards through ``tile``."""
    for kernel in text.kernels:
        places = _of_the_thread(kernel, r"threadIdx\.[xyz]")
        numbers = _of_the_thread(kernel, r"[^;,=]{0,80}\bblockIdx\.[^;,=]{0,80}|me\(\)")
        declared = re.finditer(r"__shared__(?P<all>[^;]{1,200});", kernel.body)
        sizes = {m[1]: m[2] for one in declared for m in re.finditer(r"\b(\w+)\s*\[([^][]*)\]", one["all"])}
        for read in re.finditer(r"\b(?P<x>\w+)\s*\[(?P<i>[^][?:*/%;{}]{3,80})\]", kernel.body):
            code = re.sub(r"\s", "", read["i"])
            terms = list(TERM.finditer(code))
            added, taken = ([t[2] for t in terms if t[2] and (t[1] == "-") == less] for less in (False, True))
            if len(added) != 1 or len(taken) != 1 or "".join(t[0] for t in terms) != code:
                continue
            (n,), (t,) = added, taken
            off = sum(int(f"{term[1]}{term[3]}") for term in terms if term[3])
            shared = sizes.get(read["x"])
            line, shown = text.line(kernel.start + read.start()), " ".join(read[0].split())
            if shared and t in numbers and (within := _in_block(kernel, places)):
                cause = (
                    f"{read['x']} holds the elements of one block, and `{shown}` counts in the whole grid: {t} is the thread's "
                    "number among all threads."
                )
                yield Fact("mirrored", line, cause, f"Write `{read['x']}[{within[0]} - 1 - {within[1]}]`.")
                return
            longer = shared and "+" in shared
            if off == -1 or longer or (t not in places if shared else t not in numbers):
                continue
            last = f"{n}{f' + {off}' if off > 0 else f' - {-off}' if off else ''}"
            ends = (
                f"for {t} = 0 it is {last}, and the last element has the number {n} - 1"
                if off > -1
                else f"for {t} = {n} - 1 it is {off + 1}, and the first element has the number 0"
            )
            cause = f"`{shown}` goes backwards and is {abs(off + 1)} off: {ends}."
            yield Fact("mirrored", line, cause, f"Write `{read['x']}[{n} - 1 - {t}]`.")
            return


PLAIN = re.compile(r"\b(?P<x>\w+)\s*\[\s*(?P<i>\w+(?:\(\))?)\s*\]")
PAST = re.compile(
    r"line (\d+): (?:reads|writes) element [\d,]+ of \w+ \([^)]*\), [\d,]+ elements? past the end"
)


def _before_the_guard(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``tile[t] = x[i];`` of every thread, in a kernel that asks ``i < n`` below."""
    said = PAST.search(finding.message)
    for kernel in text.kernels if said else ():
        for match in PLAIN.finditer(kernel.body):
            line = text.line(kernel.start + match.start())
            if not said or line != int(said[1]):
                continue
            before = kernel.body[: match.start()]
            statement = before[max(before.rfind(sign) for sign in ";{}") + 1 :]
            inner = before.count("{") - before.count("}") > kernel.body.lstrip().startswith("{")
            guard = re.search(
                rf"(?<![\w.]){re.escape(match['i'])}\s*(?:<|>=)\s*(?P<n>{SIZE})\b(?!\s*[-+*/])", kernel.body
            )
            if (
                not guard
                or inner
                or guard.start() < match.end()
                or re.search(r"[?&]|\bif\b|\bfor\b", statement)
            ):
                continue
            i, n = match["i"], guard["n"]
            below = text.line(kernel.start + guard.start())
            cause = (
                f"Every thread does this, also one whose {i} is {n} or more: `{' '.join(guard[0].split())}` is asked only "
                f"below, in line {below}."
            )
            fix = f"Ask here as well: `{i} < {n} ? {match['x']}[{i}] : 0` where each thread needs a value, else `if ({i} < {n})`."
            yield Fact("guard-below", line, cause, fix)
            return


def _of_the_thread(kernel: CppFunction, made: str) -> set[str]:
    """The variables that are made of this, and what it is itself."""
    names = re.findall(rf"\b(\w+)\s*=\s*(?:static_cast<[^<>]*>\s*)?(?:{made})\s*(?=[;,])", kernel.body)
    return {*names, "me()"} if "blockIdx" in made else {*names, "threadIdx.x"}


def _in_block(kernel: CppFunction, places: set[str]) -> tuple[str, str] | None:
    """How many elements the block has, and the thread's place in it, by the names of the kernel."""
    counts = re.findall(r"\b(\w+)\s*=\s*min\s*\(", kernel.body)
    place = next((p for p in places if p != "threadIdx.x"), "threadIdx.x")
    return (counts[0], place) if len(counts) == 1 else None


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = (
    (_turned_choice, WRONG | OUTSIDE),
    (_own_by_the_neighbour, WRONG),
    (_next_block_not_read, WRONG),
    (_turned_choice_in_python, WRONG | OUTSIDE),
    (_clamped, frozenset({Status.WRONG_OUTPUT})),
    (_mirrored, WRONG | OUTSIDE),
    (_before_the_guard, OUTSIDE),
)
