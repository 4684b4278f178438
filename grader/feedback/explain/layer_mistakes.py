"""A model's own input handed on where the result of its layer is meant; see ``facts.py``."""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from grader.domain.verdict import Status
from grader.feedback.explain.source_text import OUTSIDE, WRONG, Fact, Finder, SubmissionText, read

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.domain.verdict import Finding
    from grader.feedback.explain.engine import Explanation

LAYER = re.compile(r"(?:torch\.)?(?:nn\.)?(?:Lazy)?(?:Linear|Bilinear|Conv(?:Transpose)?[123]d)")
# Methods that give the same numbers in another place or form.
SAME = {"contiguous", "float", "double", "half", "cuda", "to", "clone", "detach"}
# Ways to reach a layer without its name.
HIDDEN = {"children", "modules", "named_children", "named_modules", "_modules", "parameters", "get_submodule"}
BOUND = re.compile(r"functions\s*=\s*\[([^\]]*)\]")


def _unused_layer(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``bias_relu(x, self.bias)`` in a model whose ``self.gemm`` nothing calls, or whose result nothing uses."""
    tree = text.tree
    loaded = {n.attr for n in ast.walk(tree) if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Load)} if tree else HIDDEN  # fmt: skip
    if tree is None or loaded & HIDDEN or re.search(r"\b(?:getattr|vars|__dict__|locals)\b", text.source):
        return
    bound = re.findall(r"[\"'](\w+)[\"']", " ".join(BOUND.findall(text.source)))
    own = {*bound, *(f.name for f in text.host)}
    for model in (n for n in tree.body if isinstance(n, ast.ClassDef)):
        methods = {n.name: n for n in model.body if isinstance(n, ast.FunctionDef)}
        forward, init = methods.get("forward"), methods.get("__init__")
        if forward is None or init is None:
            continue
        every = layers(init)
        lost = [one for one in every if one[0] not in loaded]
        idle = _idle(forward, {layer for layer, _ in every})
        for call, name, x in _given(forward, own):
            gets = f"{name} gets `{x}` here, the model's own input, and not what the layer makes of it."
            if len(lost) == 1:
                layer, made = lost[0]
                cause = f"self.{layer}, which line {made} makes, is never called: {gets}"
                yield Fact("unused-layer", call.lineno, cause, f"Hand over `self.{layer}({x})`.")
                return
            if len(idle) == 1 and not lost:
                ((result, layer, line),) = idle
                cause = f"`{result}`, which line {line} makes by self.{layer}, is used nowhere: {gets}"
                yield Fact("unused-layer", call.lineno, cause, f"Hand over `{result}`.")
                return


def _given(forward: ast.FunctionDef, own: set[str]) -> Iterator[tuple[ast.Call, str, str]]:
    """Calls of the file's own functions that are handed an input of the model as it came: call, function, input."""
    inputs = _inputs(forward)
    for call in (n for n in ast.walk(forward) if isinstance(n, ast.Call)):
        name = ast.unparse(call.func).rpartition(".")[2]
        for given in [*call.args, *(k.value for k in call.keywords)] if name in own else ():
            if (x := _plain(given)) in inputs:
                yield call, name, x


def _idle(forward: ast.FunctionDef, layers: set[str]) -> list[tuple[str, str, int]]:
    """Names that get a layer's result and are never read: name, layer, line."""
    read = {n.id for n in ast.walk(forward) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    return [
        (node.targets[0].id, call.func.attr, node.lineno)
        for node in ast.walk(forward) if isinstance(node, ast.Assign) and len(node.targets) == 1
        if isinstance(node.targets[0], ast.Name) and node.targets[0].id not in read
        if isinstance(call := node.value, ast.Call) and isinstance(call.func, ast.Attribute)
        if call.func.attr in layers and ast.unparse(call.func.value) == "self"
    ]  # fmt: skip


def layers(init: ast.FunctionDef) -> list[tuple[str, int]]:
    """The layers that it makes, each with its line."""
    return [
        (target.attr, node.lineno)
        for node in ast.walk(init) if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)
        if LAYER.fullmatch(ast.unparse(node.value.func))
        for target in node.targets if isinstance(target, ast.Attribute)
    ]  # fmt: skip


def _plain(node: ast.expr) -> str:
    """The name whose numbers an expression holds unchanged; "" if it computes something."""
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in SAME:
        node = node.func.value
    return node.id if isinstance(node, ast.Name) else ""


def _inputs(forward: ast.FunctionDef) -> set[str]:
    """The names that hold forward's own arguments throughout."""
    found = {a.arg for a in forward.args.args[1:]}
    given: dict[str, list[str]] = {}
    for node in ast.walk(forward):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            given.setdefault(node.targets[0].id, []).append(_plain(node.value))
    stored = {n.id for n in ast.walk(forward) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    found -= {name for name in found & stored if set(given.get(name, [""])) - {name}}
    once = {name: values[0] for name, values in given.items() if len(values) == 1}
    return found | {name for name, value in once.items() if value in found}


def added_input(found: Explanation, finding: Finding, source: str) -> Explanation:
    """``return f(self.gemm(x)) + x`` in a model, whose input has another width than what the layer gives."""
    tree = read(source).tree
    lines = {int(n) for n in re.findall(r"\.py, line (\d+): ", finding.message)}
    for function in ast.walk(tree) if tree else ():
        if (
            not isinstance(function, ast.FunctionDef)
            or function.name != "forward"
            or len(function.args.args) < 2
        ):
            continue
        x = function.args.args[1].arg
        for node in ast.walk(function):
            if (
                not isinstance(node, ast.BinOp)
                or not isinstance(node.op, ast.Add)
                or node.lineno not in lines
            ):
                continue
            sides = (node.left, node.right)
            call = next((n for n in sides if isinstance(n, ast.Call)), None)
            if call is None or not call.args or not any(isinstance(n, ast.Name) and n.id == x for n in sides):
                continue
            inner, name = ast.unparse(call.args[0]), ast.unparse(call.func)
            if inner == x or not isinstance(call.args[0], ast.Call):
                continue
            cause = (
                f"`+ {x}` adds forward's own argument, the input of the model, to what {name} makes of `{inner}`: the two have "
                "different sizes."
            )
            fix = f"A residual is what {name} is handed, `{inner}`. If {name} adds it already, leave `+ {x}` away."
            return replace(found, rule="added-input", cause=cause, fix=fix)
    return found


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = (
    (_unused_layer, WRONG | OUTSIDE | {Status.RAISED, Status.WRONG_SHAPE, Status.FAILED}),
)
