"""Facts about tests that a student writes: their inputs and their tolerances; see ``facts.py``."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from grader.domain.verdict import Finding, Status
from grader.feedback.explain.source_text import Fact, Finder, SubmissionText

if TYPE_CHECKING:
    from collections.abc import Iterator

REFUSED = re.compile(
    r"must be a CUDA tensor of torch\.(?P<want>\w+) with (?P<dims>\d) dimension.*?; this one is of (?P<got>\w+) with (?P<has>\d)"
)
# PyTorch's names for the types of C++, as toString gives them.
TYPES = {
    "Float": "float32",
    "Double": "float64",
    "Long": "int64",
    "Int": "int32",
    "Half": "float16",
    "Bool": "bool",
}
CLOSE = {"allclose": "1e-5", "isclose": "1e-5"}
NEAR = 12  # lines below the place that the message names


def _entries(text: SubmissionText, finding: Finding) -> Iterator[tuple[ast.expr, list[ast.expr]]]:
    """What a dict has for the check's name, and what it has for its other keys."""
    for node in ast.walk(text.tree) if text.tree else ():
        if not isinstance(node, ast.Dict):
            continue
        for key, value in zip(node.keys, node.values, strict=True):
            if (
                isinstance(key, ast.Constant)
                and isinstance(key.value, str)
                and finding.id.split()[-1:] == [key.value]
            ):
                yield value, [other for other in node.values if other is not value]


def _no_list(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """A tensor where the other entries have lists of tensors: a loop over it goes along its first dimension."""
    refused = REFUSED.search(finding.message)
    if refused is None or int(refused["has"]) >= int(refused["dims"]):
        return
    for value, others in _entries(text, finding):
        for at, part in enumerate(value.elts if isinstance(value, ast.Tuple) else ()):
            beside = [o.elts[at] for o in others if isinstance(o, ast.Tuple) and len(o.elts) > at]
            lists = [b for b in beside if isinstance(b, ast.List)]
            if isinstance(part, ast.Call) and lists and ast.unparse(part.func).startswith("torch."):
                code = ast.unparse(part)
                cause = (
                    f"`{code}` is a tensor where the other entries have a list: a loop over a tensor goes along its first "
                    "dimension, so what it hands over has one dimension less."
                )
                yield Fact("no-list", part.lineno, cause, f"Put it into a list: `[{code}]`.")


def _dtype(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """An input that is made without the dtype that the kernel takes."""
    refused = REFUSED.search(finding.message)
    if refused is None or TYPES.get(refused["got"]) in (None, refused["want"]):
        return
    for value, _ in _entries(text, finding):
        made = [
            n
            for n in ast.walk(value)
            if isinstance(n, ast.Call)
            and re.fullmatch(
                r"torch\.(?:rand\w*|arange|tensor|ones|zeros|full|eye|linspace)", ast.unparse(n.func)
            )
        ]
        bare = [n for n in made if not any(k.arg == "dtype" for k in n.keywords)]
        if len(made) == 1 and bare:
            want, got = refused["want"], TYPES[refused["got"]]
            cause = (
                f"`{ast.unparse(bare[0])}` makes a tensor of torch.{got}, and the kernel takes torch.{want}."
            )
            if re.fullmatch(r"torch\.randn?", ast.unparse(bare[0].func)) and "int" in want:
                fix = f"Make whole numbers: `torch.randint(low, high, size, dtype=torch.{want})`."
            else:
                fix = f"Say so where it is made: `dtype=torch.{want}`."
            yield Fact("input-dtype", bare[0].lineno, cause, fix)


def _usual_tolerance(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``torch.allclose`` without a tolerance, in a test that lets a kernel pass which is slightly off."""
    if "Which tolerance" not in finding.message:
        return
    named = re.match(r"Line (\d+): ", finding.message)
    calls = [
        (n.lineno, ast.unparse(n.func), n.func.attr)
        for n in (ast.walk(text.tree) if text.tree else ())
        if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and n.func.attr in CLOSE
        if not any(k.arg == "rtol" for k in n.keywords) and len(n.args) < 3
    ]
    for line, name, function in sorted(calls):
        if named and 0 <= line - int(named[1]) <= NEAR:
            yield Fact("usual-tolerance", line, f"{name} without `rtol` allows {CLOSE[function]} of a number's size.",
                       "Give it the tolerance that is claimed (`rtol`, `atol`), and compute what is expected in float64.")  # fmt: skip
            return


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = (
    (_no_list, frozenset({Status.WRONG_ANSWER})),
    (_dtype, frozenset({Status.WRONG_ANSWER})),
    (_usual_tolerance, frozenset({Status.WRONG_ANSWER})),
)
