"""Facts about quotients and remainders whose sides are exchanged: ``cols % i`` for ``i % cols``; see ``facts.py``."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from grader.domain.verdict import Status
from grader.feedback.explain.source_text import OUTSIDE, WRONG, Fact, Finder, SubmissionText

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.domain.verdict import Finding

BUILTINS = r"threadIdx\.[xyz]|blockIdx\.[xyz]|me\(\)"
GIVES = {"%": "remainder", "/": "quotient", "//": "quotient"}


def _in_cpp(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``bias[cols % i]`` with the thread's number i."""
    for kernel in text.kernels:
        own = re.findall(rf"\b([A-Za-z_]\w*)\s*=(?!=)[^;,]*(?:{BUILTINS})", kernel.body)
        numbers = "|".join([BUILTINS, *(re.escape(name) for name in dict.fromkeys(own))])
        sizes = "|".join(
            n for n in kernel.names if not re.search(rf"\*\s*(?:__restrict__\s*)?{n}\b", kernel.parameters)
        )
        for match in (
            re.finditer(
                rf"(?<![\w.\])*/%])(?<![*/%] )(?P<n>{sizes}|SIZE|\d+)\s*(?P<op>[%/])\s*(?P<i>{numbers})(?![\w.(\[])",
                kernel.body,
            )
            if sizes
            else ()
        ):
            n, op, i = match["n"], match["op"], match["i"]
            cause = f"`{match[0]}` divides {n} by {i}, the number of a thread, which is 0 for the first one: the two sides are exchanged."
            means = (
                f"the place of element {i} in its row of {n}"
                if op == "%"
                else f"the number of the row of {n} that element {i} is in"
            )
            means = means if not n.isdigit() else f"the {GIVES[op]} of {i}"
            yield Fact(
                "turned-operands",
                text.line(kernel.start + match.start()),
                cause,
                f"Write `{i} {op} {n}`, {means}.",
            )


def _in_python(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``16 % col`` where col is 0."""
    said = f"{finding.message} {finding.evidence.get('text')}"
    if "ZeroDivisionError" not in said or text.tree is None:
        return
    lines = {int(n) for n in re.findall(r"\bline (\d+)", said)}
    made = [
        n
        for n in text.nodes
        if isinstance(n, ast.BinOp)
        and isinstance(n.op, ast.Mod | ast.FloorDiv | ast.Div)
        and n.lineno in lines
    ]
    parameters = {
        a.arg
        for f in text.nodes
        if isinstance(f, ast.FunctionDef) and any(f.lineno <= line <= (f.end_lineno or 0) for line in lines)
        for a in f.args.args
    }
    turned = [n for n in made if isinstance(n.right, ast.Name) and n.right.id in parameters
              and (isinstance(n.left, ast.Constant) or (isinstance(n.left, ast.Name) and re.search(r"size|width|^n$", n.left.id)))]  # fmt: skip
    if not turned or len({n.lineno for n in turned}) > 1:
        return
    turned.sort(key=lambda n: n.col_offset)
    parts = [
        (ast.unparse(n.left), {ast.Mod: "%", ast.FloorDiv: "//"}.get(type(n.op), "/"), ast.unparse(n.right))
        for n in turned
    ]
    left, sign, right = parts[0]
    cause = f"`{left} {sign} {right}` divides {left} by {right}, which may be 0: the two sides are exchanged."
    fix = f"Write {' and '.join(f'`{c} {b} {a}`' for a, b, c in parts)}."
    yield Fact("turned-operands", turned[0].lineno, cause, fix)


SIZES, COUNTS = (
    r"(?:block_?|tile_?)?(?:size|threads|dim)|block(?:Dim)?\.[xyz]|threads_per_block|kThreads",
    r"n|count|total|numel|elements|rows|cols",
)


def _covered(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``(size + n - 1) // n``, which counts how often n goes into size."""
    form = rf"\(\s*(?P<a>{SIZES})\s*\+\s*(?P<b>{COUNTS})\s*-\s*1\s*\)\s*(?P<op>//?)\s*(?P=b)(?![\w.])"
    asked = finding.status is Status.WRONG_ANSWER
    for match in re.finditer(form, text.source):
        line = text.source.count("\n", 0, match.start()) + 1
        if asked and f"{line}" not in re.findall(r"\d+", finding.message.partition(":")[0]):
            continue
        a, b, op = match["a"], match["b"], match["op"]
        cause = f"`{match[0]}` is how many groups of {b} it takes to cover {a}: the two are exchanged."
        yield Fact(
            "turned-operands",
            line,
            cause,
            f"Write `({b} + {a} - 1) {op} {a}`, as many blocks of {a} as cover {b}.",
        )
        return


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = (
    (_in_cpp, WRONG | OUTSIDE),
    (_covered, WRONG | OUTSIDE | {Status.WRONG_ANSWER}),
    (_in_python, frozenset({Status.RAISED, Status.WRONG_ANSWER})),
)
