"""Numbers in a student's test that do not belong together: another input, another factor, no size; see ``facts.py``."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from grader.domain.verdict import Finding, Status
from grader.feedback.explain.source_text import Fact, Finder, SubmissionText

if TYPE_CHECKING:
    from collections.abc import Iterator

FAILS = "fails on a right kernel"


def _claims(text: SubmissionText, finding: Finding) -> Iterator[ast.stmt]:
    """What the test does for the claim that the check is about."""
    claim = finding.id.removeprefix("claim: ")
    for node in text.nodes:
        if not isinstance(node, ast.If) or not isinstance(node.test, ast.Compare):
            continue
        if any(isinstance(n, ast.Constant) and n.value == claim for n in ast.walk(node.test)):
            yield from node.body


def _helpers(text: SubmissionText) -> dict[str, ast.FunctionDef]:
    return {f.name: f for f in text.top_functions}


def _calls(text: SubmissionText, finding: Finding) -> Iterator[tuple[ast.Call, ast.Call]]:
    """Calls of the file's own helpers that get ``kernel(...)`` and its input, and that call of the kernel."""
    helpers = _helpers(text)
    for statement in _claims(text, finding) if FAILS in finding.message else ():
        for node in ast.walk(statement):
            match node:
                case ast.Call(
                    func=ast.Name(id=name),
                    args=[ast.Call(func=ast.Name(id="kernel"), args=[_, _]) as made, _, *_],
                ) if name in helpers:
                    yield node, made


def _another_input(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``close(kernel(x * size, 2.0), x, 1e-6)``."""
    for call, made in _calls(text, finding):
        given, right = made.args[0], call.args[1]
        if not isinstance(right, ast.Name) or ast.dump(given) == ast.dump(right):
            continue
        names = {n.id for n in ast.walk(given) if isinstance(n, ast.Name)}
        if right.id in names and not isinstance(given, ast.Name):
            a, b = ast.unparse(given), right.id
            cause = f"The kernel gets `{a}`, and its result is compared with what is right for `{b}`: two different inputs."
            yield Fact("another-input", call.lineno, cause, f"Hand over the same: `{a}` in place of `{b}`.")
            return


def _another_factor(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``close(kernel(x, 1.5), ...)`` where the helper multiplies by 2.0."""
    for call, made in _calls(text, finding):
        factor, helper = made.args[1], _helpers(text)[call.func.id if isinstance(call.func, ast.Name) else ""]
        products = [n for n in ast.walk(helper) if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Mult)]
        own = [c for n in products for c in (n.left, n.right) if isinstance(c, ast.Constant)]
        own = [c for c in own if isinstance(c.value, int | float)]
        if not isinstance(factor, ast.Constant) or len(own) != 1 or own[0].value == factor.value:
            continue
        ours, theirs = ast.unparse(factor), ast.unparse(own[0])
        cause = f"The kernel is called with the factor {ours}, and line {own[0].lineno} works out what is right with {theirs}."
        yield Fact(
            "another-factor",
            call.lineno,
            cause,
            f"Take the same factor for both, {theirs} here or {ours} there.",
        )
        return


def _without_size(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``((out - best).abs() <= allowed).all()`` for a claim that allows a part of the result's size."""
    if FAILS not in finding.message or finding.id not in (
        "claim: accurate",
        "claim: autocast",
        "claim: layout",
    ):
        return
    if "AssertionError" not in finding.message:
        return
    lines = {int(n) for n in re.findall(r"\bline (\d+): ", finding.message)}
    for node in text.nodes:
        match node:
            case ast.Compare(
                left=ast.Call(func=ast.Attribute(value=ast.BinOp(op=ast.Sub(), right=best), attr="abs")),
                ops=[ast.Lt() | ast.LtE()],
                comparators=[ast.Name() | ast.Constant() as bound],
            ) if node.lineno in lines:
                b, right = ast.unparse(bound), ast.unparse(best)
                if not re.fullmatch(r"\w+", right):
                    continue
                cause = (
                    f"`{b}` is allowed here whatever the size of the result. The claim allows that times (1 + the size): a float has "
                    "a fixed number of digits, so of a large result the last one is worth more, and right kernels are off by more."
                )
                yield Fact("without-size", node.lineno, cause, f"Allow `{b} * (1 + {right}.abs())`.")
                return


def _range_of_fractions(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``for size in range(0.001, 1000)``."""
    said = f"{finding.message} {finding.evidence.get('text')}"
    if "'float' object cannot be interpreted as an integer" not in said:
        return
    lines = {int(n) for n in re.findall(r"\bline (\d+): ", said)}
    for node in text.nodes:
        match node:
            case ast.Call(func=ast.Name(id="range"), args=args) if node.lineno in lines:
                broken = [
                    ast.unparse(a) for a in args if isinstance(a, ast.Constant) and isinstance(a.value, float)
                ]
                if broken:
                    listed = ", ".join(ast.unparse(a) for a in args)
                    cause = f"`range` counts in whole numbers, and {broken[0]} is a number with a point."
                    fix = f"Write the numbers that you want one by one in brackets: `({listed})`, and others between."
                    yield Fact("range-of-fractions", node.lineno, cause, fix)
                    return


def _never_equal(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``kernel(x[:0], 2.0) is None`` and ``.shape == [0, 7]``, which no result of a kernel is."""
    if FAILS not in finding.message or "AssertionError" not in finding.message:
        return
    lines = {int(n) for n in re.findall(r"\bline (\d+): ", finding.message)}
    for node in text.nodes:
        match node:
            case ast.Compare(
                left=ast.Call(func=ast.Name(id="kernel")) as made,
                ops=[ast.Is() | ast.Eq()],
                comparators=[ast.Constant(value=None)],
            ) if node.lineno in lines:
                cause = f"`{ast.unparse(made)}` is a tensor, also where it has no elements: it is never None."
                fix = f"Compare its shape: `{ast.unparse(made)}.shape` is a tuple of numbers, with 0 for no rows."
                yield Fact("never-equal", node.lineno, cause, fix)
            case ast.Compare(
                left=ast.Attribute(attr="shape") as shape, ops=[ast.Eq()], comparators=[ast.List(elts=sizes)]
            ) if node.lineno in lines:
                right = ast.unparse(ast.Tuple(sizes, ast.Load()))
                cause = f"`{ast.unparse(shape)}` is a tuple, and to Python a tuple never equals a list, whatever numbers they have."
                yield Fact("never-equal", node.lineno, cause, f"Write round brackets: `{right}`.")


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = (
    (_another_input, frozenset({Status.WRONG_ANSWER})),
    (_another_factor, frozenset({Status.WRONG_ANSWER})),
    (_never_equal, frozenset({Status.WRONG_ANSWER})),
    (_without_size, frozenset({Status.WRONG_ANSWER})),
    (_range_of_fractions, frozenset({Status.WRONG_ANSWER, Status.RAISED})),
)
