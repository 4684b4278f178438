"""What a student's test of a claim allows, where the claim allows less; see ``facts.py``."""

from __future__ import annotations

import ast
from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING

from grader.domain.verdict import Finding, Status
from grader.feedback.explain.claim_tests import branch, calls, kernels, spelled
from grader.feedback.explain.source_text import Fact, Finder, SubmissionText

if TYPE_CHECKING:
    from collections.abc import Iterator

CLOSE = {"allclose", "isclose", "assert_close"}
USUAL_RTOL = 1e-5  # of allclose and isclose
TWICE = 2.0  # a tolerance that is a little too wide is no cause
MOST_CALLS = 16  # of the file's own functions: each is read for each call
WIDEST = 0.5  # what is larger is hardly meant as a tolerance
Numbers = dict[str, ast.Constant]


def _wider_than_claimed(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``torch.allclose(out, best, rtol=1e-3)`` in the test of a claim that allows 1e-6."""
    claimed = str(finding.evidence.get("claimed") or "")
    inside = branch(text, finding) if claimed else []
    if text.tree is None or not inside:
        return
    own = {f.name: f for f in text.top_functions}
    once = _constants(text.tree)
    found = list(_allowed(inside, once))
    called = (n for one in inside for n in ast.walk(one)
              if isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id in own)  # fmt: skip
    for call in islice(called, MOST_CALLS):
        helper = own[ast.unparse(call.func)]
        found += _allowed(helper.body, once | _handed_over(call, helper, once))
    usual, (value, line, code, close) = float(claimed), max(found, default=(0.0, 0, "", False))
    if value < TWICE * usual:
        return
    times = f"{round(value / usual):,}" if value > 9.5 * usual else f"{value / usual:.2g}"
    write = f"`rtol={claimed}, atol={claimed}`" if close else f"{claimed} and no more"
    cause = f"{code} allows {times} times the {claimed} of the claim: results pass that are further off than it says."
    yield Fact("wider-than-claimed", line, cause,
               f"Allow {write}. Your inputs may be right, the tolerance is not.")  # fmt: skip


def _nearly_the_same_bits(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``torch.allclose(first, again)`` where a kernel passes that gives another last bit each time."""
    if "It passes on a kernel that gives another last bit" not in finding.message:
        return
    inside = [
        n for one in branch(text, finding) for n in ast.walk(one) if isinstance(n, ast.expr | ast.Assign)
    ]
    own = kernels(text)
    by_kernel = _by_kernel(inside, own)
    for node in inside:
        sides: list[ast.expr] = []
        if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in CLOSE:
            of = [node.func.value] if isinstance(node.func, ast.Attribute) else []
            sides = node.args[:2] if len(node.args) > 1 else [*of, *node.args]
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Lt | ast.LtE):
            differences = [
                n for n in ast.walk(node.left) if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Sub)
            ]
            sides = [differences[0].left, differences[0].right] if differences else []
        names = [ast.unparse(side) for side in sides]
        if len(sides) == 2 and all(
            n in by_kernel or calls(s, own) for n, s in zip(names, sides, strict=True)
        ):
            cause = f"`{text.quoted(node)}` allows a small difference, and the claim is that all bits are the same."
            yield Fact("nearly-the-same-bits", node.lineno, cause,
                       f"Ask for the same bits: `torch.equal({', '.join(names)})`.")  # fmt: skip
            return


def _by_kernel(nodes: list[ast.expr | ast.Assign], names: set[str]) -> set[str]:
    """The names that stand for what the kernel gives."""
    found: set[str] = set()
    for node in (n for n in nodes if isinstance(n, ast.Assign)):
        to, value = node.targets[0], node.value
        pairs = [(to, value)]
        if isinstance(to, ast.Tuple) and isinstance(value, ast.Tuple):
            pairs = list(zip(to.elts, value.elts, strict=False))
        found |= {ast.unparse(t) for t, v in pairs if calls(v, names)}
    return found


def _constants(tree: ast.Module) -> Numbers:
    """The names that stand for one number in the whole file."""
    given = [(t.id, n.value) for n in ast.walk(tree) if isinstance(n, ast.Assign)
             for t in n.targets if isinstance(t, ast.Name)]  # fmt: skip
    times = Counter(name for name, _ in given)
    return {k: v for k, v in given if isinstance(v, ast.Constant) and times[k] == 1}


def _handed_over(call: ast.Call, helper: ast.FunctionDef, names: Numbers) -> Numbers:
    """The numbers that a call hands over, by the names that the function has for them."""
    pairs = [(p.arg, a) for p, a in zip(helper.args.args, call.args, strict=False)]
    pairs += [(k.arg, k.value) for k in call.keywords if k.arg]
    meant = [(n, names.get(v.id) if isinstance(v, ast.Name) else v) for n, v in pairs]
    return {name: value for name, value in meant if isinstance(value, ast.Constant)}


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
                    yield _value(number), number.lineno, f"`{_shown(number)}`", False
        elif isinstance(node, ast.Call) and (name := ast.unparse(node.func)).rpartition(".")[2] in CLOSE:
            given = dict(zip(("rtol", "atol"), node.args[2:], strict=False))
            given |= {k.arg: k.value for k in node.keywords if k.arg in ("rtol", "atol")}
            for which, tolerance in given.items():
                for number in _terms(tolerance, names):
                    shown = f"`{which}={_shown(number)}`" if number is tolerance else f"`{_shown(number)}`"
                    yield _value(number), number.lineno, shown, True
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
        meant: ast.expr | None = names.get(bound.id) if isinstance(bound, ast.Name) else bound
        if isinstance(meant, ast.Constant) and 0 < _value(meant) < WIDEST:
            yield meant


def _value(number: ast.Constant) -> float:
    return number.value if isinstance(number.value, float) else 0.0


def _shown(number: ast.Constant) -> str:
    """A number as one writes a tolerance: 1e-3, not 0.001."""
    digits, _, exponent = f"{_value(number):.3e}".partition("e")
    return f"{float(digits):g}e{int(exponent)}"


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = (
    (_wider_than_claimed, frozenset({Status.WRONG_ANSWER})),
    (_nearly_the_same_bits, frozenset({Status.WRONG_ANSWER})),
)
