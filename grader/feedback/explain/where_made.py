"""Where a value of the wrong kind was made: a comma that makes a tuple, a function that is not called; see ``facts.py``."""

from __future__ import annotations

import ast
import builtins
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from grader.domain import python_text
from grader.domain.verdict import Finding, Status
from grader.feedback.explain.source_text import Fact, Finder, SubmissionText, read

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.feedback.explain.engine import Explanation

HANDED = re.compile(
    r"Argument (?P<number>\d+) of (?P<name>\w+) must be (?P<want>an? \w+), and "
    r"(?:it was called with (?P<kind>a \w+)|`\w+` is a function that is not called)\."
)
# Python's words for kinds of values, as errors have them.
KINDS = {"tuple": "a tuple", "list": "a list", "str": "a text", "method": "a function", "function": "a function",
         "builtin_function_or_method": "a function", "type": "a class"}  # fmt: skip
FUNCTIONS = {"contiguous", "numel", "dim", "cuda", "cpu", "clone", "detach", "float", "half", "double", "t", "item", "relu",
             "sigmoid", "size", "stride", "data_ptr", "elapsed_time", "perf_counter", "median", "flatten", "square"}  # fmt: skip
CONSTANTS = {"pi", "e", "tau", "inf", "nan"}  # of a module, and no functions
LONGEST = 70


def handed_over(found: Explanation, source: str) -> Explanation:
    """A call that was refused for the kind of an argument, with the line that made this argument."""
    told, tree = HANDED.match(found.cause), read(source).tree
    if told is None or tree is None:
        return found
    for call in (n for n in ast.walk(tree) if isinstance(n, ast.Call)):
        name, at = ast.unparse(call.func).rpartition(".")[2], int(told["number"]) - 1
        here = call.lineno <= found.line <= (call.end_lineno or 0)
        if name != told["name"] or not here or at >= len(call.args):
            continue
        if fact := _made(tree, call.args[at], call.lineno, told["kind"] or "a function", told["want"]):
            code = source.splitlines()[fact.line - 1].strip()
            return replace(found, line=fact.line, code=code, cause=fact.cause, fix=fact.fix, rule=fact.rule)
    return found


def called(found: Explanation, source: str) -> Explanation:
    """``f = extension.f()`` at the top of a file: the function is called where it was to get a name."""
    tree = read(source).tree
    for node in tree.body if tree else ():
        if not (isinstance(node, ast.Assign) and node.lineno <= found.line <= (node.end_lineno or 0)):
            continue
        call = node.value
        if (
            isinstance(call, ast.Call)
            and isinstance(call.func, ast.Attribute)
            and not call.args
            and not call.keywords
        ):
            taken = ast.unparse(call.func)
            cause = (
                f"The brackets call {call.func.attr}, without arguments, while the file is loaded. Without them this line takes the "
                "function itself, to be called later."
            )
            return replace(found, cause=cause, fix=f"Write `{ast.unparse(node.targets[0])} = {taken}`.")
    return found


def _around(tree: ast.Module, line: int) -> tuple[ast.ClassDef | None, ast.FunctionDef | None]:
    """The class and the innermost function that hold a line."""
    held = [
        n
        for n in ast.walk(tree)
        if isinstance(n, ast.ClassDef | ast.FunctionDef) and n.lineno <= line <= (n.end_lineno or 0)
    ]
    models = [n for n in held if isinstance(n, ast.ClassDef)]
    functions = sorted((n for n in held if isinstance(n, ast.FunctionDef)), key=lambda n: n.lineno)
    return (models[-1] if models else None), (functions[-1] if functions else None)


def _values(tree: ast.Module, node: ast.expr, line: int) -> list[ast.Assign]:
    """The assignments that give a name or an attribute of self its value."""
    code = ast.unparse(node)
    model, function = _around(tree, line)
    scopes: list[ast.AST] = []
    if isinstance(node, ast.Attribute) and code.startswith("self.") and model:
        scopes = [model]
    elif isinstance(node, ast.Name):
        scopes = [s for s in (function, tree) if s]
    for scope in scopes:
        inside = ast.walk(scope) if scope is not tree else iter(tree.body)
        made = [n for n in inside if isinstance(n, ast.Assign) and code in map(ast.unparse, n.targets)
                and (n.lineno < line or scope is not function)]  # fmt: skip
        if made or (isinstance(scope, ast.FunctionDef) and code in {a.arg for a in scope.args.args}):
            return made
    return []


def _made(tree: ast.Module, node: ast.expr, line: int, kind: str, want: str = "") -> Fact | None:
    """Why an expression of this line is of this kind: by itself, or by the one line that gives it a value."""
    if not isinstance(node, ast.Name | ast.Attribute):
        return None
    values = _values(tree, node, line)
    if len(values) != 1:
        return None
    (given,) = values
    name, value, code = ast.unparse(node), given.value, ast.unparse(given.value)
    shown = code if len(code) <= LONGEST else f"{code[: LONGEST - 4]} ..."
    if kind == "a tuple" and isinstance(value, ast.Tuple) and len(value.elts) == 1:
        inner = ast.unparse(value.elts[0])
        cause = f"The comma at the end makes a tuple: {name} is `({inner},)`, and not `{inner}`."
        return Fact("comma-makes-tuple", given.lineno, cause, f"Take the comma away: `{name} = {inner}`.")
    if kind == "a tuple" and isinstance(value, ast.Tuple):
        numbers = all(isinstance(e, ast.Constant) and isinstance(e.value, int) for e in value.elts)
        if len(value.elts) == 2 and numbers:
            whole = ".".join(ast.unparse(e) for e in value.elts)
            cause = (
                f"The comma makes a tuple of two numbers, `{shown}`: in Python the decimal sign is a point."
            )
            return Fact("comma-makes-tuple", given.lineno, cause, f"Write `{name} = {whole}`.")
        return Fact(
            "value-of-other-kind",
            given.lineno,
            f"{name} is a tuple of {len(value.elts)} here, `{shown}`.",
            "Give it one value, or hand over one of its parts.",
        )
    if kind == "a list" and isinstance(value, ast.List):
        cause = f"The square brackets make a list of Python: {name} is `{shown}`."
        fix = (
            f"Make a tensor of it: `{name} = torch.tensor({shown})`."
            if want == "a tensor"
            else "Give it what the call takes."
        )
        if want != "a tensor" and len(value.elts) == 1:
            fix = f"Take them away: `{name} = {ast.unparse(value.elts[0])}`."
        return Fact("value-of-other-kind", given.lineno, cause, fix)
    if kind == "a text" and isinstance(value, ast.Constant) and isinstance(value.value, str):
        fix = (
            f"Take the quotes away: `{name} = {value.value}`."
            if _is_code(value.value)
            else "Give it what the call takes."
        )
        return Fact(
            "value-of-other-kind", given.lineno, f"The quotes make a text of it: {name} is `{shown}`.", fix
        )
    if (
        kind == "a function"
        and isinstance(value, ast.Attribute)
        and (value.attr in FUNCTIONS or ast.unparse(value.value).startswith("self."))
    ):
        return Fact(
            "function-not-called",
            given.lineno,
            f"`{shown}` is the function itself, not what it gives: its brackets are missing.",
            f"Call it: `{name} = {code}()`.",
        )
    return None


def _is_code(text: str) -> bool:
    """Whether a text is a number, or an expression of Python that computes something."""
    try:
        node = python_text.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return isinstance(node, ast.BinOp) or (
        isinstance(node, ast.Constant) and isinstance(node.value, int | float)
    )


def _raised(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """An operation of Python or PyTorch that met such a value."""
    said = f"{finding.message} {finding.evidence.get('text')}"
    lines = re.findall(r"\.py, line (\d+)", finding.message) or re.findall(r"\bline (\d+)", said)
    if text.tree is None or not lines or "Error" not in said:
        return
    named = [
        k
        for k in KINDS
        if re.search(rf"'{k}'|\b(?:not|got|found) '?{k}\b|\b{k} object|\({k}[,)]|, {k}[,)]", said)
    ]
    if "is not callable" in said and not named:
        yield from _not_callable(text, said, int(lines[-1]))
    for line in (int(n) for n in lines[::-1]):
        nodes = [
            n
            for n in text.nodes
            if isinstance(n, ast.Name | ast.Attribute) and n.lineno == line and isinstance(n.ctx, ast.Load)
        ]
        for kind in named:
            for node in nodes:
                if fact := _made(text.tree, node, line, KINDS[kind]):
                    yield fact
                    return


def _not_callable(text: SubmissionText, said: str, line: int) -> Iterator[Fact]:
    """``sum = 0.0`` and then ``sum(x)``."""
    told = re.search(r"'(\w+)' object is not callable", said)
    calls = [n for n in text.nodes if isinstance(n, ast.Call) and n.lineno == line]
    for call in calls:
        values = (
            _values(text.tree, call.func, line)
            if text.tree and isinstance(call.func, ast.Name | ast.Attribute)
            else []
        )
        if len(values) != 1 or told is None:
            continue
        name, value = ast.unparse(call.func), values[0].value
        code = ast.unparse(value)
        if isinstance(value, ast.Constant) or (
            isinstance(value, ast.Call) and told[1] not in ("tuple", "list")
        ):
            hides = f" It hides Python's function {name}." if name in dir(builtins) else ""
            cause = f"{name} is `{code[:LONGEST]}` since line {values[0].lineno}, which is of type {told[1]}, and here it is called like a function.{hides}"
            fix = (
                "Give one of the two another name."
                if hides
                else "Take the brackets behind it away, or keep the function that is to be called."
            )
            yield Fact("called-value", line, cause, fix)
            return


def _in_a_tuple(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``self.gemm = nn.Linear(4, 4),`` in a model that then has no such layer."""
    missing = re.search(r"has no parameter like the reference's (\w+)", finding.message)
    nodes = text.nodes if missing else ()
    for node in (n for n in nodes if isinstance(n, ast.Assign)):
        one = node.value.elts[0] if isinstance(node.value, ast.Tuple) and len(node.value.elts) == 1 else None
        if one is not None and missing and [ast.unparse(t) for t in node.targets] == [f"self.{missing[1]}"]:
            cause = f"The comma at the end makes a tuple: self.{missing[1]} is `({ast.unparse(one)},)`, and what is in a tuple is no part of the model."
            yield Fact(
                "comma-makes-tuple",
                node.lineno,
                cause,
                f"Take the comma away: `self.{missing[1]} = {ast.unparse(one)}`.",
            )


def _among_arguments(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``Timing(statistics.median, ...)``: a function of a module among numbers."""
    if "'type': 'function'" not in finding.message or text.tree is None:
        return
    modules = {a.asname or a.name for n in text.nodes if isinstance(n, ast.Import) for a in n.names} - {
        "torch"
    }
    handed = [a for n in text.nodes if isinstance(n, ast.Call) for a in n.args if isinstance(a, ast.Attribute)
              and ast.unparse(a.value) in modules and a.attr not in CONSTANTS]  # fmt: skip
    if len(handed) == 1:
        code = ast.unparse(handed[0])
        cause = f"`{code}` without brackets names the function and does not call it: the function itself is handed over, and no number."
        yield Fact(
            "function-not-called", handed[0].lineno, cause, f"Call it: `{code}(...)`, with what it takes."
        )


def _itself(text: SubmissionText, tree: ast.Module) -> Iterator[Fact]:
    """``return extension.f``: the function, and not what it gives."""
    own = {f.name: f.names for f in text.host}
    found = [
        n for n in ast.walk(tree) if isinstance(n, ast.Return) and isinstance(n.value, ast.Attribute | ast.Name)
        and (n.value.attr if isinstance(n.value, ast.Attribute) else n.value.id) in own
    ]  # fmt: skip
    if len(found) == 1 and found[0].value is not None:
        code = ast.unparse(found[0].value)
        given = ", ".join(own[code.rpartition(".")[2]])
        cause = f"`{code}` without brackets names the function and does not call it: the function itself is handed back."
        yield Fact("function-not-called", found[0].lineno, cause, f"Call it: `return {code}({given})`.")


def _returned(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``return bias_relu(x),``: a tuple of one."""
    if text.tree is None:
        return
    if re.search(r"returned an? \w*(?:function|method)\w*", finding.message):
        yield from _itself(text, text.tree)
    if not re.search(r"\btuple\b|is [(\[]|a list|container with one", finding.message):
        return
    found = [
        (f, n, n.value.elts[0]) for f in text.nodes if isinstance(f, ast.FunctionDef) for n in ast.walk(f)
        if isinstance(n, ast.Return) and isinstance(n.value, ast.Tuple) and len(n.value.elts) == 1
    ]  # fmt: skip
    named = [one for one in found if re.search(rf"\b{one[0].name}\b", finding.message)] or found
    if len(named) == 1:
        function, node, value = named[0]
        inner = ast.unparse(value)
        cause = f"The comma at the end makes a tuple: {function.name} gives `({inner},)`, and not `{inner}`."
        yield Fact("comma-makes-tuple", node.lineno, cause, f"Take the comma away: `return {inner}`.")


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = (
    (_among_arguments, frozenset({Status.WRONG_ANSWER})),
    (_in_a_tuple, frozenset({Status.MISSING_ENTRY})),
    (_raised, frozenset({Status.RAISED, Status.WRONG_ANSWER, Status.NOT_A_TENSOR})),
    (
        _returned,
        frozenset(
            {Status.NOT_A_TENSOR, Status.WRONG_SHAPE, Status.WRONG_ANSWER, Status.RAISED, Status.WRONG_OUTPUT}
        ),
    ),
)
