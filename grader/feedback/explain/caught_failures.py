"""A test that catches its own failure, and parts of an expected value that are cut otherwise; see ``facts.py``."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from grader.domain.verdict import Finding, Status
from grader.feedback.explain.expected_values import lambdas
from grader.feedback.explain.source_text import Fact, Finder, SubmissionText

if TYPE_CHECKING:
    from collections.abc import Iterator

ALL = {"Exception", "BaseException", "AssertionError"}


def _caught(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``try: assert ... except Exception: print(...)``, which passes on every kernel."""
    if "passes on a kernel" not in finding.message or text.tree is None:
        return
    for function in text.top_functions:
        for block in (n for n in ast.walk(function) if isinstance(n, ast.Try)):
            asserts = [a for s in block.body for a in ast.walk(s) if isinstance(a, ast.Assert)]
            for handler in block.handlers if asserts else ():
                kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
                named = {ast.unparse(k) for k in kinds if k is not None}
                again = any(isinstance(n, ast.Raise | ast.Assert) for s in handler.body for n in ast.walk(s))
                if again or (handler.type is not None and not named & ALL):
                    continue
                head = text.source.splitlines()[handler.lineno - 1].strip().rstrip(":")
                cause = (
                    f"A failed `assert` raises an AssertionError, and `{head}` catches that of line {asserts[0].lineno}: the test goes on "
                    "and ends as if nothing had been wrong. A test fails by the error that leaves it."
                )
                yield Fact("caught-failure", handler.lineno, cause,
                           "Take `try` and `except` away: let the error leave the test.")  # fmt: skip
                return


def _pieces(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``x.chunk(64)``, 64 pieces, for ``x.split(64)``, pieces of 64."""
    if "fails on a right kernel" not in finding.message:
        return
    for made, others in lambdas(text, finding):
        for node in ast.walk(made.body):
            match node:
                case ast.Call(
                    func=ast.Attribute(value=value, attr="chunk"), args=[ast.Constant(value=int(n))]
                ):
                    split = f".split({n})"
                    if n < 8 or not any(split in ast.unparse(o) for o in others):
                        continue
                    x = ast.unparse(value)
                    cause = f"`{x}.chunk({n})` cuts {x} into {n} pieces (or fewer), however long they then are, and not into pieces of {n} elements."
                    yield Fact(
                        "pieces-for-size", node.lineno, cause, f"Blocks of {n} elements are `{x}{split}`."
                    )
                    return


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = (
    (_caught, frozenset({Status.WRONG_ANSWER})),
    (_pieces, frozenset({Status.WRONG_ANSWER})),
)
