"""Signs that bind weaker than the ``+`` beside them: ``a + b > 0``, ``a if c else 0 + b``, ``c ? a : 0 + b``; see ``facts.py``."""

from __future__ import annotations

import ast
import re
from itertools import pairwise
from typing import TYPE_CHECKING

from grader.domain.verdict import Status
from grader.feedback.explain.edge_reads import SIGNS, inside
from grader.feedback.explain.source_text import OUTSIDE, WRONG, Fact, Finder, SubmissionText

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.domain.verdict import Finding

SUMS: dict[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-"}
ZERO = re.compile(r"\+?0(?:\.0*)?f?")
LONGEST = 400  # characters of an expression that is read
ENDS = "[({,;="


# -- Python


def _values(text: SubmissionText, finding: Finding) -> Iterator[ast.expr]:
    """What the function that the check has called returns or stores, where its line is named."""
    line = re.search(r"(?i)\bline (\d+)\b", finding.message)
    named = str(finding.evidence.get("on_grid") or "")
    for function in text.nodes:
        if not isinstance(function, ast.FunctionDef):
            continue
        if function.name != named and not re.search(rf"\b{function.name}\(", finding.message):
            continue
        for node in ast.walk(function):
            if not isinstance(node, ast.Return | ast.Assign | ast.AugAssign) or not node.value:
                continue
            if named or (line and node.lineno <= int(line[1]) <= (node.end_lineno or node.lineno)):
                yield node.value


def _compared_sum(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``return n // size + n % size > 0``, which is True or False."""
    for value in _values(text, finding):
        match value:
            case ast.Compare(left=ast.BinOp(left=kept, op=sign, right=asked) as whole) if type(sign) in SUMS:
                inner: ast.expr = ast.Compare(asked, value.ops, value.comparators)
                weak = _COMPARISONS[type(value.ops[0])]
                gives = "True or False"
            case ast.BoolOp(
                op=joins, values=[ast.BinOp(left=kept, op=sign, right=asked) as whole, *rest]
            ) if type(sign) in SUMS:
                inner = ast.BoolOp(joins, [asked, *rest])
                weak = "and" if isinstance(joins, ast.And) else "or"
                gives = "one of its two sides"
            case _:
                continue
        code = ast.unparse(value).replace(ast.unparse(whole), f"({ast.unparse(whole)})", 1)
        strong = SUMS[type(sign)]
        cause = f"`{strong}` is carried out before `{weak}`, so without brackets this is `{code}`, which is {gives}."
        right = f"{ast.unparse(kept)} {strong} ({ast.unparse(inner)})"
        yield Fact("weaker-comparison", value.lineno, cause, f"Put brackets around the comparison: `{right}`."
                   if gives[0] == "T" else f"Put brackets around it: `{right}`.")  # fmt: skip
        return


_COMPARISONS: dict[type[ast.cmpop], str] = {
    **SIGNS, ast.In: "in", ast.NotIn: "not in", ast.Is: "is", ast.IsNot: "is not",
}  # fmt: skip


def _terms(node: ast.expr) -> list[str]:
    """The parts of a sum as they were meant: a conditional takes the part before it and the part behind ``else``."""
    match node:
        case ast.IfExp(test=test, body=body, orelse=orelse):
            first, last = _parts(body), _terms(orelse)
            chosen = next((k for k, one in enumerate(first) if _asks_for(test, one)), len(first) - 1)
            plain = [ast.unparse(one) for one in first]
            plain[chosen] = f"({plain[chosen]} if {ast.unparse(test)} else {last[0]})"
            return [
                *(f"({p})" if isinstance(n, ast.IfExp) else p for n, p in zip(first, plain, strict=True)),
                *last[1:],
            ]
        case _:
            return [
                f"({ast.unparse(n)})" if isinstance(n, ast.IfExp) else ast.unparse(n) for n in _parts(node)
            ]


def _parts(node: ast.expr) -> list[ast.expr]:
    """The parts of a sum."""
    match node:
        case ast.BinOp(op=ast.Add(), left=left, right=right):
            return [*_parts(left), right]
        case _:
            return [node]


def _asks_for(test: ast.expr, read: ast.expr) -> bool:
    """Whether a condition asks whether there is this element."""
    match test, read:
        case ast.Compare(left=left, ops=[sign], comparators=[right]), ast.Subscript(slice=index) if (
            type(sign) in SIGNS
        ):
            return bool(inside(ast.unparse(left), SIGNS[type(sign)], ast.unparse(right), ast.unparse(index)))
        case _:
            return False


def _edge(test: ast.expr, parts: list[ast.expr]) -> bool:
    """Whether a condition is false exactly where the first part exists, and others of its array are added."""
    match test, parts:
        case ast.Compare(left=left, ops=[sign], comparators=[right]), [
            ast.Subscript(slice=index) as read,
            *more,
        ] if type(sign) in SIGNS:
            alike = any(
                isinstance(n, ast.Subscript) and ast.unparse(n.value) == ast.unparse(read.value)
                for one in more
                for n in ast.walk(one)
            )
            there = inside(ast.unparse(left), SIGNS[type(sign)], ast.unparse(right), ast.unparse(index))
            return alike and there is False
        case _:
            return False


def _first(node: ast.expr) -> ast.expr:
    """The first part of a sum; of a conditional, the first of what it takes where its condition holds."""
    while isinstance(node, ast.BinOp | ast.IfExp):
        node = node.left if isinstance(node, ast.BinOp) else node.body
    return node


def _choice_in_python(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``x[i] + x[i - 1] if i > 0 else 0 + x[i + 1] if i + 1 < n else 0``."""
    for value in _values(text, finding):
        if not isinstance(value, ast.IfExp):
            continue
        body, orelse = value.body, value.orelse
        sums = [
            part for part in (body, orelse) if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Add)
        ]
        more = orelse.body if isinstance(orelse, ast.IfExp) else orelse
        first = _first(orelse)
        zero = isinstance(first, ast.Constant) and first.value == 0
        joined = zero and isinstance(more, ast.BinOp) and isinstance(more.op, ast.Add)
        last = body.right if isinstance(body, ast.BinOp) and isinstance(body.op, ast.Add) else None
        nothing = isinstance(body, ast.Constant) and body.value == 0 and _edge(value.test, _parts(orelse))
        alone = isinstance(orelse, ast.Constant) and orelse.value == 0
        guarded = (
            last is not None
            and zero
            and (
                (_asks_for(value.test, last) and not all(_asks_for(value.test, p) for p in _parts(body)))
                or (alone and isinstance(last, ast.Constant))
            )
        )
        if not (joined or guarded or nothing) or not (sums or joined):
            continue
        test = ast.unparse(value.test)
        where = f"where `{test}` is false, this is `{ast.unparse(orelse)}` and nothing else"
        if not guarded:
            where = f"where `{test}` is true, this is `{ast.unparse(body)}` and nothing else"
        cause = f"`if ... else` binds weaker than `+`: {where}."
        parts = _terms(value)
        if nothing:
            parts = [f"(0 if {test} else {parts[0].partition(' else ')[2][:-1]})", *parts[1:]]
        fix = f"Put brackets around each conditional: `{' + '.join(parts)}`."
        yield Fact("weaker-choice", value.lineno, cause, fix)
        return


# -- C++


def _expression(body: str, at: int) -> tuple[int, int]:
    """Where the expression around ``at`` begins and ends: between brackets, commas, semicolons and ``=``."""
    depth, start = 0, at
    while start and at - start < LONGEST:
        sign = body[start - 1]
        depth += (sign in ")]}") - (sign in "([{")
        if depth < 0 or (
            not depth
            and (sign in ",;{}" or (sign == "=" and body[start - 2] not in "=!<>" and body[start] != "="))
        ):
            break
        start -= 1
    depth, end = 0, at
    while end < len(body) and end - at < LONGEST:
        sign = body[end]
        depth += (sign in "([{") - (sign in ")]}")
        if depth < 0 or (not depth and sign in ",;"):
            break
        end += 1
    start += len(re.match(r"\s*(?:return\b)?\s*", body[start:end])[0])  # type: ignore[index]
    return start, end


def _outer(code: str, signs: str) -> list[int]:
    """Where these signs stand outside all brackets."""
    depth, found = 0, []
    for place, sign in enumerate(code):
        depth += (sign in "([{") - (sign in ")]}")
        double = {code[place : place + 2], code[max(place - 1, 0) : place + 1]} & {"::", "++", "--"}
        if not depth and sign in signs and not double and code[place : place + 2] != "->":
            found.append(place)
    return found


def _split(code: str) -> list[str]:
    """The parts of a sum, each with its sign but for the first."""
    places = [
        p
        for p in _outer(code, "+-")
        if code[:p].strip() and not code[:p].rstrip().endswith(tuple("*/%<>=&|?:+-("))
    ]
    edges = [0, *places, len(code)]
    return [code[a:b].strip() for a, b in pairwise(edges)]


COMPARED = re.compile(r"\s*(?P<l>[^<>=!&|]+?)\s*(?P<s><=?|>=?|[!=]=)\s*(?P<r>[^<>=!&|]+?)\s*")
INDEX = re.compile(r"(?P<x>\w+)\s*\[(?P<i>[^][]+)\]$")


def _compared(code: str) -> tuple[str, str, str] | None:
    """The two sides of a comparison and its sign; None if it is none, or several."""
    depth, bare = 0, ""
    for sign in code:  # what stands in brackets compares nothing here
        depth -= sign in ")]}"
        bare += "." if depth else sign
        depth += sign in "([{"
    found = COMPARED.fullmatch(bare)
    return (code[slice(*found.span("l"))], found["s"], code[slice(*found.span("r"))]) if found else None


def _condition(code: str, read: str) -> tuple[list[str], str]:
    """A condition before ``?``, apart from the parts of the sum that stands before it."""
    parsed, index = _compared(code), INDEX.search(read.strip())
    if parsed is None or index is None:
        return [], code.strip()
    left, sign, right = parsed
    parts = _split(left)
    for k in range(len(parts)):
        asked = re.sub(r"^[-+]\s*", "", " ".join(parts[k:]))
        if (not k or parts[k][0] == "+") and inside(asked, sign, right, index["i"]) is not None:
            return parts[:k], f"{asked} {sign} {right}"
    return [], code.strip()


def _meant(code: str) -> tuple[list[str], list[str]]:
    """The parts of a sum in which each ``?:`` has its brackets, and why they are needed: one reason for each."""
    asked = _outer(code, "?")
    if not asked:
        return [part for part in _split(code) if part], []
    question, depth, colon = asked[0], 0, -1
    for place in _outer(code, "?:"):
        depth += 1 if code[place] == "?" else -1
        if not depth:
            colon = place
            break
    if colon < 0:
        return [code], []
    yes, no = code[question + 1 : colon].strip(), code[colon + 1 :].strip()
    before, condition = _condition(
        code[:question], yes if INDEX.search(yes) else _split(no.partition("?")[0])[0]
    )
    parts, why = _meant(no)
    zero = ZERO.fullmatch(parts[0]) if parts else None
    other = re.sub(r"^\+\s*", "", parts[0]) if parts else no
    rest = parts[1:] if parts else []
    if before:
        why = [f"the condition here is `{' '.join(code[:question].split())}`", *why]
    edge = ZERO.fullmatch(yes) and _of_edge(condition, other, rest)
    if rest and (zero or edge) and len(_split(yes)) == 1:
        why = [f"where `{condition}` is true, this is `{yes}` and nothing else", *why]
    choice = f"({condition} ? {yes} : {other})"
    return [*before, choice, *rest], why


def _of_edge(condition: str, read: str, rest: list[str]) -> bool:
    """Whether a condition is false exactly where there is this element, and others of its array are added."""
    parsed, index = _compared(condition), INDEX.fullmatch(read)
    more = index and any(re.search(rf"\b{index['x']}\s*\[", part) for part in rest)
    return bool(parsed and index and more and inside(*parsed, index["i"]) is False)


def _choice(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``t > 0 ? tile[t - 1] : 0 + tile[t] + (t + 1 < SIZE ? tile[t + 1] : 0)``."""
    for function in text.functions:
        done = 0
        for match in re.finditer(r"\?", function.body):
            if match.start() < done:
                continue
            start, end = _expression(function.body, match.start())
            code = " ".join(function.body[start:end].split())
            if len(code) > LONGEST or not (parts := _meant(code))[1]:
                continue
            done = end
            joined = " ".join(p if not k or p[0] in "+-" else f"+ {p}" for k, p in enumerate(parts[0]))
            cause = f"`?:` binds weaker than `+`: {parts[1][0]}."
            fix = f"Put brackets around each conditional: `{joined}`."
            yield Fact("weaker-choice", text.line(function.start + start), cause, fix)
            return


ADDED = re.compile(
    r"(?<![\w.)\]])(?P<a>[\w.]+(?:\(\w*\))?)\s*/\s*(?P<d>[\w.]+)\s*\+\s*(?P<rest>(?P=a)\s*%\s*(?P=d)\s*(?P<c>(?:>|[!=]=)\s*\d+))(?!\s*\?)"
)
MASKED = re.compile(
    r"(?P<a>\w+)\s*(?P<s>&|\^|(?<!\|)\|(?!\|))\s*(?P<b>\w+)\s*(?P<c>[!=]=)\s*(?P<d>\w+)(?![\w.(\[])"
)


def _compared_sum_in_cpp(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``n / threads + n % threads > 0``, and ``i & 1 == 0``."""
    for function in text.functions:
        for match in ADDED.finditer(function.body):
            whole, rest = " ".join(match[0].split()), " ".join(match["rest"].split())
            compared = " ".join(match["c"].split())
            total = whole.removesuffix(compared).strip()
            sign = compared.split()[0].rstrip("0123456789")
            cause = (
                f"`+` is carried out before `{sign}`, so without brackets this is `({total}) {compared}`, which is true or "
                "false: 1 or 0."
            )
            fix = f"Round up: `({match['a']} + {match['d']} - 1) / {match['d']}`, or put brackets around the comparison: `({rest})`."
            yield Fact("weaker-comparison", text.line(function.start + match.start()), cause, fix)
            return
        for match in MASKED.finditer(function.body):
            before = function.body[: match.start()].rstrip()
            if before.endswith(("&", "=", "!", ">", "<", "|", "*", ".", "->", "::")):
                continue
            one, sign, other, equal, last = match["a"], match["s"], match["b"], match["c"], match["d"]
            if not (other.isdigit() or last.isdigit()):
                continue
            cause = f"`{equal}` is carried out before `{sign}`, so without brackets this is `{one} {sign} ({other} {equal} {last})`."
            fix = f"Put brackets around what is compared: `({one} {sign} {other}) {equal} {last}`."
            yield Fact("weaker-comparison", text.line(function.start + match.start()), cause, fix)
            return


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = (
    (_compared_sum, WRONG | {Status.WRONG_ANSWER}),
    (_choice_in_python, WRONG | OUTSIDE | {Status.WRONG_ANSWER}),
    (_choice, WRONG | OUTSIDE),
    (_compared_sum_in_cpp, WRONG | OUTSIDE | {Status.RAISED}),
)
