"""Slips in a student's test of a claim: a factor inside of the sigmoid, a view that is not used, a mean of errors; see ``facts.py``."""

from __future__ import annotations

import ast
import re
from itertools import islice, pairwise
from typing import TYPE_CHECKING

from grader.domain.verdict import Finding, Status
from grader.feedback.explain.claim_inputs import MOST_VIEWS, laid
from grader.feedback.explain.claim_tests import branch, calls, kernels
from grader.feedback.explain.source_text import Fact, Finder, SubmissionText

if TYPE_CHECKING:
    from collections.abc import Iterator

FAILS = "fails on a right kernel"
FACTORS = {"scale", "factor", "scaling_factor"}
HALF = 4e-4  # of a result's size: what is smaller, float16 cannot hold
WIDEST = 0.1  # what is larger is hardly meant as a tolerance


def _nodes(text: SubmissionText, finding: Finding) -> list[ast.AST]:
    """What the claim's branch and the file's functions that it calls are made of."""
    return [n for statement in branch(text, finding) for n in ast.walk(statement)]


def _lines(finding: Finding) -> set[int]:
    """The student's lines that an error came through."""
    return {int(n) for n in re.findall(r"\(line (\d+): ", finding.message)}


def _factor(node: ast.expr) -> bool:
    number = isinstance(node, ast.Constant) and isinstance(node.value, int | float)
    return number or (isinstance(node, ast.Name) and node.id in FACTORS)


def _factor_inside(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``torch.sigmoid(x.double() * 2.0) + x.double()``."""
    for node in _nodes(text, finding) if FAILS in finding.message else ():
        sides = (
            [node.left, node.right] if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) else []
        )
        for side, other in zip(sides, reversed(sides), strict=True):
            match side:
                case ast.Call(
                    func=ast.Attribute(attr="sigmoid"), args=[ast.BinOp(left=a, op=ast.Mult(), right=b)]
                ) if _factor(a) != _factor(b) and not isinstance(other, ast.BinOp):
                    x, c = (ast.unparse(one) for one in ((b, a) if _factor(a) else (a, b)))
                    call = ast.unparse(side.func)
                    cause = (
                        f"`{text.quoted(side)}` is the sigmoid of {c} times `{x}`: the factor stands inside of the brackets. The kernel "
                        "computes sigmoid(x) * scale + x."
                    )
                    yield Fact(
                        "factor-inside", side.lineno, cause, f"Multiply the sigmoid: `{call}({x}) * {c}`."
                    )
                    return


def _finer_than_half(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``close(kernel(x.half(), 2.0), x.half(), 1e-6)``."""
    if (
        finding.id != "claim: autocast"
        or FAILS not in finding.message
        or "AssertionError" not in finding.message
    ):
        return
    own = {f.name for f in text.top_functions}
    for node in _nodes(text, finding):
        given: list[ast.expr] = []
        if isinstance(node, ast.Call) and ast.unparse(node.func) in own:
            given = [*node.args, *(k.value for k in node.keywords)]
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Lt | ast.LtE):
            bound = node.comparators[0]
            given = [bound.left if isinstance(bound, ast.BinOp) and isinstance(bound.op, ast.Mult) else bound]
        numbers = [n for n in given if isinstance(n, ast.Constant) and isinstance(n.value, float)]
        allowed = [n for n in numbers if isinstance(n.value, float) and 0 < n.value < WIDEST]
        if len(allowed) == 1 and float(str(allowed[0].value)) < HALF:
            shown = text.quoted(allowed[0])
            cause = (
                f"`{shown}` is finer than float16: it has 11 binary digits, so a right result may be off by 5e-4 of its size when it "
                "is rounded to it. The claim allows 1e-3."
            )
            yield Fact("finer-than-half", allowed[0].lineno, cause, f"Write `1e-3` in place of `{shown}`.")
            return


def _another_device(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``torch.autocast("cpu")`` and ``torch.autocast()``."""
    missing = "autocast.__init__() missing 1 required positional argument: 'device_type'" in finding.message
    if finding.id != "claim: autocast" or not (missing or FAILS in finding.message):
        return
    for node in _nodes(text, finding):
        if not isinstance(node, ast.Call) or ast.unparse(node.func) not in ("torch.autocast", "autocast"):
            continue
        asked = [*node.args[:1], *(k.value for k in node.keywords if k.arg == "device_type")]
        name, code = ast.unparse(node.func), text.quoted(node)
        if missing and not asked:
            cause = "Autocast is switched on for one kind of device, and this call does not say for which."
            yield Fact("another-device", node.lineno, cause, f'Write `{name}("cuda")`.')
        elif asked and isinstance(asked[0], ast.Constant) and asked[0].value == "cpu":
            cause = f"`{code}` switches autocast on for operators on the CPU. The kernel works on the GPU, where it is off then, so a right kernel may refuse float16."
            yield Fact("another-device", node.lineno, cause, f'Write `{name}("cuda")`.')


def _truth_of_nothing(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``assert not kernel(x[:0], 2.0)``."""
    if "Boolean value of Tensor with no values is ambiguous" not in finding.message:
        return
    lines = _lines(finding)
    for node in _nodes(text, finding):
        if not isinstance(node, ast.Assert) or node.lineno not in lines:
            continue
        asked = node.test.operand if isinstance(node.test, ast.UnaryOp) else node.test
        if not isinstance(asked, ast.Call | ast.Name):
            continue
        code = text.quoted(asked)
        cause = f"Whether a tensor is true depends on its one element. `{code}` has no elements here, so Python gets no answer."
        fix = f"Compare its shape, a tuple with a 0 for no rows: `{code}.shape == (0, ...)`."
        yield Fact("truth-of-nothing", node.lineno, cause, fix)
        return


def _view_not_used(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``for view in (x.t(), x[:, ::2]): close(kernel(x, 2.0), x, 1e-6)``."""
    for node in _nodes(text, finding):
        if not isinstance(node, ast.For) or not isinstance(node.target, ast.Name):
            continue
        name = node.target.id
        inside = [n for one in node.body for n in ast.walk(one)]
        made = [c for one in node.body for c in calls(one, kernels(text))]
        used = any(isinstance(n, ast.Name) and n.id == name for n in inside)
        if used or name.startswith("_") or not made or ast.unparse(node.iter).startswith("range("):
            continue
        code = text.quoted(made[0])
        cause = f"The loop puts one after another into {name}, and nothing in it uses {name}: `{code}` is the same call each time."
        right = ", ".join([name, *map(ast.unparse, made[0].args[1:])])
        yield Fact("view-not-used", made[0].lineno, cause,
                   f"Hand {name} over, `{ast.unparse(made[0].func)}({right})`, and compare with what is right for it.")  # fmt: skip
        return


def _method_handed_over(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``kernel(x.half, 2.0)``."""
    if not re.search(
        r"TypeError: an? (?:builtin_function_or_method|method) cannot be passed", finding.message
    ):
        return
    lines = _lines(finding)
    for call in (c for n in branch(text, finding) for c in calls(n, kernels(text)) if c.lineno in lines):
        for given in call.args:
            if isinstance(given, ast.Attribute) and not isinstance(given.value, ast.Attribute):
                code = text.quoted(given)
                cause = f"`{code}` without brackets is the method {given.attr} itself, and not the tensor that it gives."
                yield Fact("method-handed-over", given.lineno, cause, f"Call it: `{code}()`.")
                return


def _mean_of_errors(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``(out - best).abs().mean() <= allowed``, where one wrong result is lost among many right ones."""
    if "It passes on a kernel that is off by 1e-5 in one place" not in finding.message:
        return
    for node in _nodes(text, finding):
        match node:
            case ast.Compare(left=left, ops=[ast.Lt() | ast.LtE()]):
                means = [n for n in ast.walk(left) if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute)
                         and n.func.attr in ("mean", "median", "sum", "std")]  # fmt: skip
                if means:
                    how = means[0].func.attr if isinstance(means[0].func, ast.Attribute) else ""
                    code = text.quoted(means[0])
                    cause = f"`{code}` is one number for all elements together: one that is far off hardly changes it. The claim is about each result."
                    if how == "sum":
                        cause = f"`{code}` is one number for all elements together. The claim is about each result."
                    yield Fact("mean-of-errors", node.lineno, cause,
                               "Compare each error with what is allowed for it, and ask for `.all()` of the answers.")  # fmt: skip
                    return


def _none_transposed(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``for view in (x[::2], x[1:])``, in all of which the elements of a row are the nearest."""
    if "reads a transposed view in the order of its memory" not in finding.message:
        return
    inside = branch(text, finding)
    loops = [n for one in inside for n in ast.walk(one) if isinstance(n, ast.For)]
    values = {
        t.id: n.value for n in ast.walk(text.tree or ast.Module([], [])) if isinstance(n, ast.Assign)
        for t in n.targets if isinstance(t, ast.Name)
    }  # fmt: skip
    given = [c.args[0] for one in inside for c in calls(one, kernels(text)) if c.args][:MOST_VIEWS]
    entries = [
        e
        for loop in loops
        for e in (loop.iter.elts if isinstance(loop.iter, ast.Tuple | ast.List) else [loop.iter])
    ]
    names = {ast.unparse(loop.target) for loop in loops}
    entries += [g for g in given if ast.unparse(g) not in names]
    views = [laid(entry, values, 0) for entry in islice(entries, MOST_VIEWS)]
    if not entries or len(views) < len(entries):
        return
    for view in views:
        if view is None or any(
            a < b for a, b in pairwise(s for s, n in zip(view.strides, view.shape, strict=True) if n > 1)
        ):
            return
    x = next((n.id for n in ast.walk(entries[0]) if isinstance(n, ast.Name) and n.id in values), "x")
    only = "This input is" if len(entries) == 1 else "None of these inputs is"
    cause = f"{only} {'not ' if len(entries) == 1 else ''}transposed: in all of them the next element of a row is nearer in memory than the next row."
    yield Fact("none-transposed", entries[0].lineno, cause, f"Add a transposed view, `{x}.t()`.")


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = tuple(
    (find, frozenset({Status.WRONG_ANSWER}))
    for find in (
        _factor_inside,
        _finer_than_half,
        _another_device,
        _truth_of_nothing,
        _view_not_used,
        _method_handed_over,
        _mean_of_errors,
        _none_transposed,
    )
)
