"""Facts about which line of a student's test lets a wrong kernel pass, or refuses a right one; see ``facts.py``."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from grader.domain.verdict import Finding, Status
from grader.feedback.explain import left_empty
from grader.feedback.explain.claim_tests import branch, kernels
from grader.feedback.explain.source_text import Fact, Finder, SubmissionText

if TYPE_CHECKING:
    from collections.abc import Iterator

SURVIVES = re.compile(
    r"It passes on a kernel that .*?(Which (?:assertion|comparison|input|tolerance) would show that\?)"
)
OVERWRITES = re.compile(r"passes on a kernel that (?:overwrites its input|writes its result over its input)")
# What two right kernels may give differently, and how it is called.
NOT_PROMISED = {"dtype": "dtype", "stride": "stride", "is_contiguous": "layout in memory", "device": "device",
                "grad_fn": "grad_fn"}  # fmt: skip


def _lets_it_pass(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """The line that hands the kernel its inputs, or looks at what it gives, within the part that is about a claim."""
    asked, names = SURVIVES.search(finding.message), kernels(text)
    if asked is None:
        return
    inside = branch(text, finding)
    every = [n for one in inside for n in ast.walk(one)]
    called = [
        n for n in every if isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id in names
    ]
    if not called:
        return
    call = min(called, key=lambda n: n.lineno)
    line, what = call.lineno, f"`{text.quoted(call)}` is the call whose result the test looks at"
    given = {n.id for one in called for arg in one.args for n in ast.walk(arg) if isinstance(n, ast.Name)}
    if OVERWRITES.search(finding.message) and (x := _not_looked_at(every, called, given)):
        cause = (
            f"This is the last call with {x}, and no assertion compares {x} with what it was before the calls. So the test does not "
            f"see a kernel that overwrites {x}."
        )
        fix = f"Keep a copy above the calls, `kept = {x}.clone()`, and ask below them: `assert torch.equal({x}, kept)`."
        yield Fact("input-not-compared", max(one.lineno for one in called), cause, fix)
        return
    loops = [
        n for n in every if isinstance(n, ast.For) and isinstance(n.target, ast.Name) and n.target.id in given
    ]
    if "input" in asked[1] and loops:
        line, what = loops[0].lineno, f"The kernel gets its inputs from `{text.quoted(loops[0].iter)}`"
    yield Fact("lets-it-pass", line, f"{what}, and that does not show the fault.", asked[1])


def _not_looked_at(every: list[ast.AST], called: list[ast.Call], given: set[str]) -> str:
    """The one tensor that the calls get, if no assertion and no other call is handed it; "" otherwise."""
    firsts = {one.args[0].id for one in called if one.args and isinstance(one.args[0], ast.Name)}
    inside = {id(n) for one in called for n in ast.walk(one)}
    looks = [one for one in every if isinstance(one, ast.Assert | ast.Call) and id(one) not in inside]
    named = {n.id for one in looks for n in ast.walk(one) if isinstance(n, ast.Name) and id(n) not in inside}
    asserted = any(isinstance(one, ast.Assert) for one in looks)
    return min(firsts) if len(firsts) == 1 and asserted and not firsts & given & named else ""


def _not_promised(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``assert out.dtype == torch.float16``, which a right kernel need not fulfil."""
    lines = re.findall(r"\(line (\d+): ", finding.message)
    if "right kernel: AssertionError" not in finding.message or not lines or text.tree is None:
        return
    for node in text.nodes:
        if not (isinstance(node, ast.Assert) and node.lineno == int(lines[-1])):
            continue
        first = node.test.left if isinstance(node.test, ast.Compare) else node.test
        asked = first.func if isinstance(first, ast.Call) else first
        if (
            isinstance(node.test, ast.Compare | ast.Call)
            and isinstance(asked, ast.Attribute)
            and asked.attr in NOT_PROMISED
        ):
            kind = NOT_PROMISED[asked.attr]
            cause = (
                f"This asserts a {kind} that nothing promises: there is a right kernel that answers with another "
                f"{kind}, and the test refuses it."
            )
            yield Fact("not-promised", node.lineno, cause, left_empty.without(text.source, range(node.lineno, (node.end_lineno or 0) + 1)))  # fmt: skip
            return


def _no_tensors(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``[64, 200]`` where the other entries have lists of tensors."""
    if not re.search(r"'(?:int|float|tuple|list|str)' object has no attribute", finding.message):
        return
    for node in (n for n in text.nodes if isinstance(n, ast.Dict)):
        mine = {
            k.value: v for k, v in zip(node.keys, node.values, strict=True) if isinstance(k, ast.Constant)
        }
        value = mine.get(finding.id.split()[-1])
        for part in value.elts if isinstance(value, ast.Tuple) else ():
            sizes = (
                [ast.literal_eval(n) for n in part.elts if _sizes(n)] if isinstance(part, ast.List) else []
            )
            if not isinstance(part, ast.List) or not 0 < len(sizes) == len(part.elts) <= 8:
                continue
            shown = text.quoted(part)
            made = ", ".join(f"torch.randn({str(one).strip('()')})" for one in sizes)
            cause = (
                f"`{shown}` holds numbers and no tensors, and the test hands the kernel what stands there."
            )
            yield Fact("no-tensors", part.lineno, cause,
                       f"Put tensors there: if these are lengths, `[{made}]`.")  # fmt: skip
            return


def _sizes(node: ast.expr) -> bool:
    """Whether it is a whole number above zero, or several in brackets."""
    parts = node.elts if isinstance(node, ast.Tuple) else [node]
    return bool(parts) and all(
        isinstance(n, ast.Constant) and type(n.value) is int and n.value > 0 for n in parts
    )


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = (
    (_not_promised, frozenset({Status.WRONG_ANSWER})),
    (_no_tensors, frozenset({Status.WRONG_ANSWER})),
)
LAST: tuple[tuple[Finder, frozenset[Status]], ...] = ((_lets_it_pass, frozenset({Status.WRONG_ANSWER})),)
