"""What a student's test expects, where that is not what a right kernel gives; see ``facts.py``."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from grader.domain.verdict import Finding, Status
from grader.feedback.explain.source_text import Fact, Finder, SubmissionText

if TYPE_CHECKING:
    from collections.abc import Iterator

RUN = re.compile(
    r"(?P<count>\d+) of (?P<all>\d+) elements differ, from \[(?P<first>\d+)\] to \[(?P<last>\d+)\]"
)
VALUES = re.compile(r"the right kernel gives (?P<k>[^ ,]+), and the test expects (?P<t>\S+?)\.(?= |$)")


def lambdas(text: SubmissionText, finding: Finding) -> Iterator[tuple[ast.Lambda, list[ast.expr]]]:
    """What the check's entry in a dict expects, as a function of its input, and the other entries."""
    dicts = [n for n in text.nodes if isinstance(n, ast.Dict)]
    for node in dicts:
        for key, value in zip(node.keys, node.values, strict=True):
            named = isinstance(key, ast.Constant) and finding.id.split()[-1:] == [key.value]
            made = value.elts[0] if isinstance(value, ast.Tuple) and value.elts else value
            if named and isinstance(made, ast.Lambda) and made.args.args:
                yield made, [v for v in node.values if v is not value]


def _one_of_all(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``x - x[-1]``, where each block has a last element of its own: those of the last block agree."""
    run = RUN.search(finding.message)
    if "fails on a right kernel" not in finding.message or run is None:
        return
    first, last, count, every = (int(run[k]) for k in ("first", "last", "count", "all"))
    for made, others in lambdas(text, finding):
        x, body = made.args.args[0].arg, made.body
        sizes = {
            int(n)
            for o in [*others, body]
            for n in re.findall(r"\.(?:split|chunk|view)\((?:-1, )?(\d+)", ast.unparse(o))
        }
        for node in ast.walk(body):
            code, which = _of_the_whole(node, x)
            if not code or re.search(r"\.split\(|\.chunk\(|\bfor\b", ast.unparse(body)):
                continue
            size = next(iter(sizes)) if len(sizes) == 1 else 0
            if which == "last" and first == 0 and last < every - 1 and (not size or (last + 1) % size == 0):
                agree, length = (last + 1, every - 1), every - last - 1
            elif which == "first" and last == every - 1 and first > 0 and (not size or first % size == 0):
                agree, length = (0, first - 1), first
            else:
                continue
            block = f", the {which} block of {size}," if size and length <= size else ""
            own = f"Each block of {size}" if size else "Each block"
            cause = (
                f"`{code}` is the {which} element of the whole of {x}. The elements [{agree[0]}] to [{agree[1]}]{block} agree with what "
                f"the right kernel gives; of the others {count} differ. {own} has a {which} element of its own."
            )
            each = (
                f"`{x}.split({size})` gives the blocks"
                if size
                else f"`{x}.split(n)` gives blocks of n elements"
            )
            fix = f"If it is meant block by block: {each}, and `torch.cat` puts the results together again."
            yield Fact("one-of-all", made.lineno, cause, fix)
            return


def _of_the_whole(node: ast.AST, x: str) -> tuple[str, str]:
    """``x[-1]`` or ``x[0]``, and which element that is; two empty texts for other things."""
    match node:
        case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=0)) if name == x:
            return ast.unparse(node), "first"
        case ast.Subscript(
            value=ast.Name(id=name), slice=ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=1))
        ) if name == x:
            return ast.unparse(node), "last"
    return "", ""


def _made_here(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """The line that makes what the test expects, where nothing better is known of it."""
    values = VALUES.search(finding.message)
    if "fails on a right kernel" not in finding.message or values is None:
        return
    for made, _ in lambdas(text, finding):
        code = text.quoted(made.body)
        run, agree = RUN.search(finding.message), ""
        if run and int(run["count"]) == int(run["last"]) - int(run["first"]) + 1:
            ends = [f"[0] to [{int(run['first']) - 1}]"] if int(run["first"]) else []
            ends += (
                [f"[{int(run['last']) + 1}] to [{int(run['all']) - 1}]"]
                if int(run["last"]) < int(run["all"]) - 1
                else []
            )
            agree = f" The elements {' and '.join(ends)} agree." if ends else ""
        cause = (
            f"What the test expects is made by `{code}`. The first element that differs is {values['t']} there, and "
            f"{values['k']} from the right kernel.{agree}"
        )
        fix = "Work out that one element by hand, from what the task says of this kernel, and compare it with both numbers."
        yield Fact("expected-value", made.lineno, cause, fix)
        return


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = (
    (_one_of_all, frozenset({Status.WRONG_ANSWER})),
    (_made_here, frozenset({Status.WRONG_ANSWER})),
)
