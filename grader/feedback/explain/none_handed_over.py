"""Where a None comes from that stands in a tensor's place: a layer without bias, a function without return; see ``facts.py``."""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from grader.domain.verdict import Finding, Status
from grader.feedback.explain.python_mistakes import gives
from grader.feedback.explain.source_text import Fact, Finder, SubmissionText, read

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.feedback.explain.engine import Explanation

HANDED = re.compile(r"Argument (?P<number>\d+) of (?P<name>\w+) must be .*, and it was called with None\.")
# Methods of PyTorch and Python that change what they belong to, or show it, and hand back nothing.
SILENT = {"append", "backward", "extend", "sort", "update", "register_parameter", "register_buffer", "print"}


class Origin(NamedTuple):
    """Why an expression is None, in a sentence, and what to do."""

    cause: str
    fix: str


def handed_over(found: Explanation, source: str) -> Explanation:
    """A call that was refused since an argument is None, with where that comes from."""
    told, tree = HANDED.match(found.cause), read(source).tree
    if told is None or tree is None:
        return found
    for call in (n for n in ast.walk(tree) if isinstance(n, ast.Call)):
        name, at = ast.unparse(call.func).rpartition(".")[2], int(told["number"]) - 1
        here = call.lineno <= found.line <= (call.end_lineno or 0)
        meant = name == told["name"] and here and at < len(call.args)
        if meant and (origin := _origin(tree, call.args[at], call.lineno)):
            return replace(found, cause=f"{found.cause} {origin.cause}", fix=origin.fix)
    return found


def _raised(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """An operation of PyTorch that met a None."""
    lines = re.findall(r"\.py, line (\d+)", finding.message)
    if "NoneType" not in finding.message or not lines or text.tree is None:
        return
    line = int(lines[-1])
    within = [n for n in text.nodes if isinstance(n, ast.Attribute | ast.Name | ast.Call)]
    for node in within:
        if node.lineno == line and (origin := _origin(text.tree, node, line)):
            yield Fact("none-for-tensor", line, origin.cause, origin.fix)
            return


def _origin(tree: ast.Module, node: ast.expr, line: int) -> Origin | None:
    """Where the None of an expression in this line comes from; None if that is not known."""
    around = [n for n in ast.walk(tree) if isinstance(n, ast.ClassDef | ast.FunctionDef)
              and n.lineno <= line <= (n.end_lineno or 0)]  # fmt: skip
    model = next((n for n in around if isinstance(n, ast.ClassDef)), None)
    if isinstance(node, ast.Attribute) and model:
        return _of_self(model, node)
    if isinstance(node, ast.Call):
        return _of_call(tree, node)
    function = max(
        (n for n in around if isinstance(n, ast.FunctionDef)), key=lambda n: n.lineno, default=None
    )
    if isinstance(node, ast.Name) and function:
        return _of_name(tree, model, function, node.id, line)
    return None


def _of_self(model: ast.ClassDef, node: ast.Attribute) -> Origin | None:
    """``self.gemm.bias`` of a layer made with ``bias=False``, and ``self.bias`` that was given None."""
    code = ast.unparse(node)
    made = [n for n in ast.walk(model) if isinstance(n, ast.Assign)]
    if node.attr == "bias" and isinstance(node.value, ast.Attribute):
        layer = ast.unparse(node.value)
        for one in made:
            if (
                layer in map(ast.unparse, one.targets)
                and isinstance(one.value, ast.Call)
                and _no_bias(one.value)
            ):
                return Origin(
                    f"Line {one.lineno} makes `{layer}` with bias=False, so `{code}` is None.",
                    _own_bias(made, layer),
                )
    given = [n for n in made if code in map(ast.unparse, n.targets)]
    if given and all(isinstance(n.value, ast.Constant) and n.value.value is None for n in given):
        return Origin(
            f"`{code}` is None: line {given[0].lineno} gives it no other value.", "Give it a tensor there."
        )
    return None


def _no_bias(made: ast.Call) -> bool:
    """Whether a layer is made without a bias."""
    said = [k.value for k in made.keywords if k.arg == "bias"]
    said += made.args[2:3] if ast.unparse(made.func).rpartition(".")[2] == "Linear" else []
    return any(isinstance(one, ast.Constant) and one.value is False for one in said)


def _own_bias(made: list[ast.Assign], layer: str) -> str:
    """What to hand over in its place: the parameter that the model has for it."""
    own = [
        (ast.unparse(t), n.lineno) for n in made if "Parameter(" in ast.unparse(n.value)
        for t in n.targets if isinstance(t, ast.Attribute) and "bias" in t.attr
    ]  # fmt: skip
    if len(own) == 1:
        return f"The model's bias is `{own[0][0]}`, which line {own[0][1]} makes: hand that over."
    return f"Leave bias=False away if the layer is to have one: then `{layer}.bias` is a tensor."


def _of_call(tree: ast.Module, call: ast.Call) -> Origin | None:
    """A function of the file without a return, and one of PyTorch or Python that hands back nothing."""
    name = ast.unparse(call.func).rpartition(".")[2]
    own = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name == name]
    if len(own) == 1 and not gives(own[0]):
        cause = f"`{ast.unparse(call)}` is None: {name} (line {own[0].lineno}) hands back nothing."
        return Origin(cause, f"End {name} with `return` and the result.")
    if not own and name in SILENT:
        return Origin(
            f"`{ast.unparse(call)}` is None: {name} hands back nothing.", "Call it in a line of its own."
        )
    return None


def _of_name(
    tree: ast.Module, model: ast.ClassDef | None, function: ast.FunctionDef, name: str, line: int
) -> Origin | None:
    """A variable whose only value is one of these, and an argument that is None where nobody gives it."""
    given = [n for n in ast.walk(function) if isinstance(n, ast.Assign) and n.lineno < line
             and name in map(ast.unparse, n.targets)]  # fmt: skip
    if len(given) == 1:
        value, where = given[0].value, given[0].lineno
        if isinstance(value, ast.Constant) and value.value is None:
            return Origin(f"{name} is None since line {where}.", f"Give {name} a tensor before this line.")
        origin = (
            _of_self(model, value) if model and isinstance(value, ast.Attribute)
            else _of_call(tree, value) if isinstance(value, ast.Call) else None
        )  # fmt: skip
        return Origin(f"{name} is what line {where} gives it. {origin.cause}", origin.fix) if origin else None
    defaults = dict(
        zip([a.arg for a in function.args.args][::-1], function.args.defaults[::-1], strict=False)
    )
    default = defaults.get(name)
    if not given and isinstance(default, ast.Constant) and default.value is None:
        cause = f"{name} is None where {function.name} (line {function.lineno}) is called without it."
        return Origin(cause, f"Hand {name} over, or give it a tensor before this line where it is None.")
    return None


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = ((_raised, frozenset({Status.RAISED})),)
