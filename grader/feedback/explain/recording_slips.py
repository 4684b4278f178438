"""Slips in a recording by torch.profiler and in a model of one's own for it; see ``facts.py``."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from grader.domain.verdict import Finding, Status
from grader.feedback.explain.source_text import Fact, Finder, SubmissionText

if TYPE_CHECKING:
    from collections.abc import Iterator

ORDER = ("wait", "warmup", "active", "repeat", "skip_first")  # of schedule()


def _nodes(text: SubmissionText) -> Iterator[ast.AST]:
    yield from text.nodes


def _calls(text: SubmissionText, name: str) -> Iterator[ast.Call]:
    """The calls of what has this name, in whatever module."""
    for node in _nodes(text):
        if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] == name:
            yield node


def _several_names(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``record_function(f"forward {k}")``, where each turn has a region of another name."""
    asked = re.search(r"A step holds 0 regions called '(?P<name>[^']+)'", finding.message)
    for call in _calls(text, "record_function") if asked else ():
        text_and_value = (
            call.args and isinstance(call.args[0], ast.JoinedStr) and len(call.args[0].values) > 1
        )
        if asked and text_and_value:
            code, name = text.quoted(call.args[0]), asked["name"]
            cause = f"`{code}` puts a value into the name, so no region is called '{name}' and nothing else."
            yield Fact("several-names", call.lineno, cause,
                       f'Give all the same name: `{ast.unparse(call.func)}("{name}")`.')  # fmt: skip


def _without_as(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``with profile(...):`` and then ``profiler.step()``."""
    lost = re.search(r"name '(?P<name>\w+)' is not defined", finding.message)
    lines = {int(n) for n in re.findall(r"\bline (\d+): ", finding.message)}
    for node in _nodes(text) if lost else ():
        if (
            not lost
            or not isinstance(node, ast.With)
            or not lines & {*range(node.lineno, (node.end_lineno or 0) + 1)}
        ):
            continue
        item, name = node.items[-1], lost["name"]
        inside = [n for one in node.body for n in ast.walk(one)]
        uses = [n for n in inside if isinstance(n, ast.Attribute) and ast.unparse(n.value) == name]
        if item.optional_vars or not isinstance(item.context_expr, ast.Call) or not uses:
            continue
        made = ast.unparse(item.context_expr.func)
        cause = f"`with {made}(...)` makes an object and gives it no name here; line {uses[0].lineno} calls it {name}."
        yield Fact("without-as", item.context_expr.end_lineno or node.lineno, cause,
                   f"Name it behind the closing bracket, in front of the colon: `) as {name}:`.")  # fmt: skip
        return


def _numbers_for_schedule(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``profile(schedule=(1, 2, steps, 1))``."""
    if not re.search(r"'(?:tuple|list|int|dict)' object is not callable", finding.message):
        return
    for call in _calls(text, "profile"):
        given = next((k.value for k in call.keywords if k.arg == "schedule"), None)
        if not isinstance(given, ast.Tuple | ast.List | ast.Dict | ast.Constant):
            continue
        cause = f"`schedule` wants a function that says for each step what is to be done with it, and `{text.quoted(given)}` is none."
        values = given.elts if isinstance(given, ast.Tuple | ast.List) else []
        named = (
            ", ".join(f"{k}={ast.unparse(v)}" for k, v in zip(ORDER, values, strict=False))
            or "wait=..., warmup=..., active=..."
        )
        yield Fact("numbers-for-schedule", given.lineno, cause,
                   f"torch.profiler's function of that name makes one: `schedule=schedule({named})`.")  # fmt: skip
        return


def _nothing_exported(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``on_trace_ready=lambda profiler: print(profiler.key_averages().table())``."""
    if "nothing was written to the path given" not in finding.message:
        return
    if (
        re.search(r"export|trace_handler|\bopen\s*\(|json\.dump|\.step\b(?!\s*\()", text.source)
        or ".step" not in text.source
    ):
        return
    for call in _calls(text, "profile"):
        ready = next((k.value for k in call.keywords if k.arg == "on_trace_ready"), None)
        if not isinstance(ready, ast.Lambda) or not isinstance(ready.body, ast.Call) or not ready.args.args:
            continue
        one = ready.args.args[0].arg
        cause = f"`{text.quoted(ready.body)}` is what is done when the trace is ready, and it writes no file. No line writes the trace."
        yield Fact("nothing-exported", ready.lineno, cause,
                   f"Write `on_trace_ready=lambda {one}: {one}.export_chrome_trace(path)`, with the path that the function is given.")  # fmt: skip
        return


def _returned(text: SubmissionText) -> tuple[int, ast.expr, ast.expr] | None:
    """What ``mine()`` returns: the line, the model and the batch."""
    for node in _nodes(text):
        if isinstance(node, ast.FunctionDef) and node.name == "mine":
            for one in ast.walk(node):
                if (
                    isinstance(one, ast.Return)
                    and isinstance(one.value, ast.Tuple)
                    and len(one.value.elts) == 2
                ):
                    return one.lineno, one.value.elts[0], one.value.elts[1]
    return None


def _no_model(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``return torch.nn.Sequential, x``, ``return [layer, layer], x`` and ``return model, (4, 3, 8, 8)``."""
    found = re.search(r"begins with an? (?P<first>\w+) and ends with an? (?P<second>\w+)", finding.message)
    returned = _returned(text) if found else None
    if found is None or returned is None:
        return
    line, model, batch = returned
    shown, shape = text.quoted(model), text.quoted(batch)
    if found["first"] == "type":
        cause = f"`{shown}` is the class: what models are made from, and no model yet."
        yield Fact("no-model", line, cause, f"Call it with what it takes, in brackets: `{shown}(...)`.")
    elif found["first"] in ("list", "tuple"):
        cause = f"`{shown}` is a {found['first']}, and no model: it cannot be called with a batch."
        fix = "`torch.nn.Sequential` makes a model of layers, each of which gets what the one before gives: "
        fix += (
            f"`torch.nn.Sequential({shown[1:-1]})`."
            if isinstance(model, ast.List | ast.Tuple)
            else f"`torch.nn.Sequential(*{shown})`."
        )
        yield Fact("no-model", line, cause, fix)
    elif found["second"] in ("tuple", "list", "Size"):
        cause = f"`{shape}` is a shape, some numbers; a batch is a tensor of that shape."
        if not isinstance(batch, ast.Tuple | ast.List) or not all(
            isinstance(e, ast.Constant) for e in batch.elts
        ):
            cause = f"`{shape}` is a {found['second']}, and a batch is one tensor."
        yield Fact(
            "no-model",
            line,
            cause,
            f"Make one: `torch.randn({shape.strip('()[]')})`." if "a shape" in cause else "",
        )


def _tuple_of_layers(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``torch.nn.Sequential(layers)`` with a tuple or list."""
    said = re.search(
        r"TypeError: (?:\w+\.)?(?P<kind>tuple|list)(?: object)? is not a Module subclass", finding.message
    )
    for call in _calls(text, "Sequential") if said else ():
        if said and len(call.args) == 1 and not isinstance(call.args[0], ast.Starred | ast.Call):
            given, name = text.quoted(call.args[0]), ast.unparse(call.func)
            cause = f"{name} takes layers one by one, and `{given}` is one {said['kind']} that holds them."
            yield Fact(
                "tuple-of-layers",
                call.lineno,
                cause,
                f"A star hands them over one by one: `{name}(*{given})`.",
            )
            return


def _whole_numbers(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``return model, torch.randint(0, 255, (4, 3, 8, 8))``."""
    refused = re.search(
        r"Input type \((?:long|int)[^)]*\) and bias type \(float\)|expected m1 and m2 to have the same dtype, but got: (?:long|int)\w*(?: int)? != float"
        r"|mat1 and mat2 must have the same dtype, but got (?:Long|Int) and Float",
        finding.message,
    )
    returned = _returned(text) if refused else None
    if returned is None:
        return
    line, _, batch = returned
    if re.search(r"\b(?:randint|arange)\b|dtype=torch\.(?:u?int|long)", ast.unparse(batch)):
        cause = f"`{text.quoted(batch)}` holds whole numbers, and the weights of a layer are floats: the two cannot be multiplied."
        yield Fact(
            "whole-numbers",
            line,
            cause,
            "Make a batch of floats: `torch.randn(...)` with the shape, or `.float()` behind what you have.",
        )


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = (
    (_several_names, frozenset({Status.WRONG_ANSWER})),
    (_without_as, frozenset({Status.RAISED})),
    (_numbers_for_schedule, frozenset({Status.RAISED})),
    (_nothing_exported, frozenset({Status.WRONG_ANSWER})),
    (_no_model, frozenset({Status.WRONG_ANSWER})),
    (_tuple_of_layers, frozenset({Status.RAISED})),
    (_whole_numbers, frozenset({Status.RAISED})),
)
