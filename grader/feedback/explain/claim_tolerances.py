"""What a student's test of a claim allows, where the claim allows less; see ``facts.py``."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from grader.domain.verdict import Finding, Status
from grader.feedback.explain.claim_tests import branch, spelled
from grader.feedback.explain.source_text import Fact, Finder, SubmissionText

if TYPE_CHECKING:
    from collections.abc import Iterator

CLOSE = {"allclose", "isclose", "assert_close"}
USUAL_RTOL = 1e-5  # of allclose and isclose
TWICE = 2.0  # a tolerance that is a little too wide is no cause
WIDEST = 0.5  # what is larger is hardly meant as a tolerance
Numbers = dict[str, ast.Constant]


def _wider_than_claimed(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``torch.allclose(out, best, rtol=1e-3)`` in the test of a claim that allows 1e-6."""
    claimed = str(finding.evidence.get("claimed") or "")
    inside = branch(text, finding) if claimed else []
    if text.tree is None or not inside:
        return
    own = {n.name: n for n in text.tree.body if isinstance(n, ast.FunctionDef)}
    once = _constants(text.tree)
    found = list(_allowed(inside, once))
    for call in (n for one in inside for n in ast.walk(one) if isinstance(n, ast.Call)):
        if helper := own.get(ast.unparse(call.func)):
            found += _allowed(helper.body, once | _handed_over(call, helper, once))
    usual, (value, line, code, close) = float(claimed), max(found, default=(0.0, 0, "", False))
    if value < TWICE * usual:
        return
    times = f"{round(value / usual):,}" if value > 9.5 * usual else f"{value / usual:.2g}"
    write = f"`rtol={claimed}, atol={claimed}`" if close else f"{claimed} and no more"
    cause = f"{code} allows {times} times the {claimed} of the claim: results pass that are further off than it says."
    yield Fact("wider-than-claimed", line, cause,
               f"Allow {write}. Your inputs may be right, the tolerance is not.")  # fmt: skip


def _constants(tree: ast.Module) -> Numbers:
    """The names that stand for one number in the whole file."""
    given = [(t.id, n.value) for n in ast.walk(tree) if isinstance(n, ast.Assign)
             for t in n.targets if isinstance(t, ast.Name)]  # fmt: skip
    names = [name for name, _value in given]
    return {k: v for k, v in given if isinstance(v, ast.Constant) and names.count(k) == 1}


def _handed_over(call: ast.Call, helper: ast.FunctionDef, names: Numbers) -> Numbers:
    """The numbers that a call hands over, by the names that the function has for them."""
    pairs = [(p.arg, a) for p, a in zip(helper.args.args, call.args, strict=False)]
    pairs += [(k.arg, k.value) for k in call.keywords if k.arg]
    given = {name: names.get(value.id) if isinstance(value, ast.Name) else value for name, value in pairs}
    return {name: value for name, value in given.items() if isinstance(value, ast.Constant)}


def _allowed(statements: list[ast.stmt], names: Numbers) -> Iterator[tuple[float, int, str, bool]]:
    """What the comparisons allow: the number, its line, its code, and whether it is given to ``allclose`` or its kin."""
    nodes = [n for one in statements for n in ast.walk(one)]
    values = {t.id: n.value for n in nodes if isinstance(n, ast.Assign)
              for t in n.targets if isinstance(t, ast.Name)}  # fmt: skip
    for node in nodes:
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            low, high = node.left, node.comparators[0]
            if isinstance(node.ops[0], ast.Gt | ast.GtE):
                low, high = high, low
            elif not isinstance(node.ops[0], ast.Lt | ast.LtE):
                continue
            if "abs" in spelled(low, values):
                for number in _terms(high, names):
                    yield float(number.value), number.lineno, f"`{_shown(number)}`", False
        elif isinstance(node, ast.Call) and (name := ast.unparse(node.func)).rpartition(".")[2] in CLOSE:
            given = dict(zip(("rtol", "atol"), node.args[2:], strict=False))
            given |= {k.arg: k.value for k in node.keywords if k.arg in ("rtol", "atol")}
            for which, tolerance in given.items():
                for number in _terms(tolerance, names):
                    shown = f"`{which}={_shown(number)}`" if number is tolerance else f"`{_shown(number)}`"
                    yield float(number.value), number.lineno, shown, True
            if "rtol" not in given and not name.endswith("assert_close"):
                yield (
                    USUAL_RTOL,
                    node.lineno,
                    f"`{name}` without `rtol` takes {USUAL_RTOL:g} of a number's size, which",
                    True,
                )


def _terms(bound: ast.expr, names: Numbers) -> Iterator[ast.Constant]:
    """The numbers of a sum that stand alone or are multiplied by a size."""
    if isinstance(bound, ast.BinOp) and isinstance(bound.op, ast.Add):
        yield from _terms(bound.left, names)
        yield from _terms(bound.right, names)
    elif isinstance(bound, ast.BinOp) and isinstance(bound.op, ast.Mult):
        for number, size in ((bound.left, bound.right), (bound.right, bound.left)):
            if "abs" in ast.unparse(size):
                yield from _terms(number, names)
    else:
        number = names.get(bound.id) if isinstance(bound, ast.Name) else bound
        if isinstance(number, ast.Constant) and isinstance(number.value, float) and 0 < number.value < WIDEST:
            yield number


def _shown(number: ast.Constant) -> str:
    """A number as one writes a tolerance: 1e-3, not 0.001."""
    digits, _, exponent = f"{number.value:.3e}".partition("e")
    return f"{float(digits):g}e{int(exponent)}"


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = (
    (_wider_than_claimed, frozenset({Status.WRONG_ANSWER})),
)
