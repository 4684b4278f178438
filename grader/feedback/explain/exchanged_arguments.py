"""Facts about calls whose arguments bear each other's names: ``f(scale, x[i])`` of ``f(x, scale)``; see ``facts.py``."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from grader.backends.simt.compile.tokens import Tokens, closing, split_commas, tokenize
from grader.domain.verdict import Status
from grader.feedback.explain.source_text import OUTSIDE, WRONG, Fact, Finder, SubmissionText

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from grader.domain.verdict import Finding


def crossed(given: Sequence[str], taken: Sequence[str]) -> tuple[int, int] | None:
    """Two places whose arguments bear the names of each other's parameters; None if there are no such two."""
    if len(given) != len(taken) or len(set(taken)) < len(taken):
        return None
    return next(
        ((i, j) for i in range(len(given)) for j in range(i + 1, len(given))
         if given[i] == taken[j] and given[j] == taken[i]),
        None,
    )  # fmt: skip


def _told(
    name: str, written: Sequence[str], taken: Sequence[str], pair: tuple[int, int], head: int
) -> tuple[str, str]:
    i, j = pair
    right = list(written)
    right[i], right[j] = right[j], right[i]
    cause = (
        f"{name} takes {', '.join(taken[:-1])} and {taken[-1]}, in this order (line {head}); here `{written[i]}` is handed over as "
        f"{taken[i]} and `{written[j]}` as {taken[j]}."
    )
    return cause, f"Exchange the two: `{name}({', '.join(right)})`."


def _in_cpp(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``sigmoid_one(scale, x[i])`` in a kernel."""
    for function in (f for f in text.functions if not f.kernel):
        for caller in text.functions:
            for match in re.finditer(rf"(?<![\w.]){function.name}\s*\(", caller.body):
                tokens = Tokens(tokenize(caller.body[match.end() - 1 :]))
                end = closing(tokens, 0)
                written = (
                    [" ".join("".join(t.text for t in p).split()) for p in split_commas(tokens[1:end])]
                    if end > 0
                    else []
                )
                roots = [
                    re.sub(r"\[[^][]*\]|\.[xyzw]\b|^static_cast\s*<[^<>]*>\s*\((.*)\)$", r"\1", one)
                    for one in written
                ]
                if pair := crossed(roots, function.names):
                    head = text.line(text.code.rfind(function.name, 0, function.start))
                    cause, fix = _told(function.name, written, function.names, pair, head)
                    yield Fact("arguments-exchanged", text.line(caller.start + match.start()), cause, fix)


def _in_python(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``blocks_for(size, n)`` of a function of the file."""
    if text.tree is None:
        return
    own = {f.name: f for f in text.top_functions}
    for call in (n for n in text.nodes if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)):
        function = own.get(call.func.id) if isinstance(call.func, ast.Name) else None
        if function is None or any(isinstance(a, ast.Starred) for a in call.args):
            continue
        taken = [a.arg for a in function.args.args]
        written = [ast.unparse(a) for a in call.args]
        roots = [re.sub(r"^self\.|\[.*\]$", "", one) for one in written]
        if pair := crossed(roots, taken[: len(roots)]):
            cause, fix = _told(function.name, written, taken, pair, function.lineno)
            yield Fact("arguments-exchanged", call.lineno, cause, fix)


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = (
    (_in_cpp, WRONG | OUTSIDE),
    (_in_python, WRONG | OUTSIDE | {Status.WRONG_ANSWER, Status.RAISED}),
)
