"""Arithmetic in Python around a call of the extension, which does what the kernel has done already; see ``facts.py``."""

from __future__ import annotations

import ast
import re
from itertools import islice
from typing import TYPE_CHECKING

from grader.feedback.explain.source_text import WRONG, Fact, Finder, SubmissionText

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.domain.verdict import Finding, Status
    from grader.feedback.explain.source_text import CppFunction

MOST = 40  # sums and products around a call that are looked at
LONGEST = 400  # characters of a statement that is looked at
SIGNS = {ast.Add: ("+", "adds", "to", "added"), ast.Mult: ("*", "multiplies", "by", "multiplied")}
TORCH = r"(?:torch\.(?:nn\.functional\.)?|F\.|nn\.functional\.)"


def _again(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``f(t, s) + t``, where f's kernel has added t."""
    for function in text.python_functions:
        values = {
            t.id: n.value for n in ast.walk(function) if isinstance(n, ast.Assign)
            for t in n.targets if isinstance(t, ast.Name)
        }  # fmt: skip
        sums = (n for n in ast.walk(function) if isinstance(n, ast.expr | ast.stmt) and _operation(n)[0])
        for node in islice(sums, MOST):
            sides, sign = _operation(node)
            for one, other in (sides, sides[::-1]) if sides else ():
                called = values.get(one.id) if isinstance(one, ast.Name) else one
                host = _host(text, called)
                if host is None or not isinstance(called, ast.Call) or not sign:
                    continue
                more = ast.unparse(other)
                given = [ast.unparse(_plain(a, values)) for a in called.args]
                parameter = dict(zip(given, host.names, strict=False)).get(ast.unparse(_plain(other, values)))
                line, code = _done(text, host, parameter, sign[0]) if parameter else (0, "")
                if not line:
                    continue
                name = ast.unparse(called.func)
                if sign[0] == "+":
                    cause = f"This adds {more} to what {name} returns, and line {line} has added it already: `{code}`. Two are added."
                else:
                    cause = f"This multiplies what {name} returns by {more}, and line {line} has used it as a factor already: `{code}`."
                yield Fact(
                    "done-again",
                    node.lineno,
                    cause,
                    f"Leave it to the kernel: hand back what {name} returns.",
                )
                return


def _operation(node: ast.AST) -> tuple[tuple[ast.expr, ast.expr] | None, tuple[str, ...]]:
    """The two sides of a sum or a product, written with a sign, as ``+=`` or as a method."""
    match node:
        case ast.BinOp(left=left, op=ast.Add() | ast.Mult() as op, right=right):
            return (left, right), SIGNS[type(op)]
        case ast.AugAssign(target=ast.Name() as left, op=ast.Add() | ast.Mult() as op, value=right):
            return (left, right), SIGNS[type(op)]
        case ast.Call(
            func=ast.Attribute(value=left, attr=("add" | "add_" | "mul" | "mul_") as how), args=[right]
        ):
            if ast.unparse(left) != "torch":
                return (left, right), SIGNS[ast.Add if how.startswith("add") else ast.Mult]
        case ast.Call(
            func=ast.Attribute(value=ast.Name(id="torch"), attr=("add" | "mul") as how), args=[left, right]
        ):
            return (left, right), SIGNS[ast.Add if how == "add" else ast.Mult]
    return None, ()


def _plain(node: ast.expr, values: dict[str, ast.expr]) -> ast.expr:
    """A call that a name stands for, where the name is given one; other things as they are."""
    value = values.get(node.id) if isinstance(node, ast.Name) else None
    return value if isinstance(value, ast.Call | ast.Attribute) else node


def _host(text: SubmissionText, node: ast.AST | None) -> CppFunction | None:
    """The C++ function that a call from Python goes to."""
    if not isinstance(node, ast.Call):
        return None
    name = ast.unparse(node.func).rpartition(".")[2]
    return next((f for f in text.host if f.name == name), None)


def _done(text: SubmissionText, host: CppFunction, parameter: str, sign: str) -> tuple[int, str]:
    """The one line of the file's device code that adds, or multiplies by, the parameter of this name."""
    element = rf"{parameter}(?:\s*\[[^][]*\]|\.[xyzw])?"
    if sign == "+":
        form = rf"\+\s*{element}(?!\s*[.\[(*/%]|\w)|(?<![\w.*/+-])(?<![*/+-] ){element}\s*\+(?![+=])"
    else:
        form = rf"(?<![\w.]){element}\s*[*/](?![/*=])|\*\s*{element}(?![\w.\[(])"
    for function in text.functions:
        if function is host or function in text.host:
            continue
        for statement in re.finditer(r"[^;{}]+", function.body):
            code = statement[0]
            begins = re.match(r"\s*return\b\s*", code) or re.search(r"(?<![=<>!])=(?!=)\s*", code)
            index = re.search(r"\b(?:int|int64_t|long|size_t|unsigned)\b|threadIdx|blockIdx", code)
            if begins is None or index or len(code) > LONGEST:
                continue
            value = code[begins.end() :]
            if re.search(form, _outermost(value)):
                return text.line(function.start + statement.start() + begins.end()), " ".join(value.split())
    return 0, ""


def _outermost(value: str) -> str:
    """A value without its indices and what stands in brackets, but for those of a maximum, which a sum may go through."""
    code = re.sub(r"\[[^][]*\]", "", value.strip())
    if inside := re.fullmatch(r"(?:std::)?f?max[fl]?\((.*)\)", code):
        code = inside[1]
    depth, kept = 0, []
    for sign in code:
        depth -= sign == ")"
        if depth <= 0:
            kept.append(sign)
        depth += sign == "("
    return "".join(kept)


def _through_another(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``torch.sigmoid(sigmoid_residual(t, s))``: a function that the kernel has applied, applied to its result."""
    for node in text.nodes:
        if not isinstance(node, ast.Call):
            continue
        name = ast.unparse(node.func)
        outer = re.fullmatch(rf"{TORCH}(?P<f>relu|sigmoid|tanh|exp)", name)
        inner = node.args[0] if outer and node.args else None
        if (
            outer is None
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in ("relu", "sigmoid", "tanh", "exp")
        ):
            inner, name = node.func.value, f".{node.func.attr}()"
        host = _host(text, inner)
        if host is None or not isinstance(inner, ast.Call):
            continue
        f = outer["f"] if outer else name.strip(".()")
        called = ast.unparse(inner.func)
        if f not in called and called.replace("_", "").find(f) < 0:
            if f == "relu" and not re.search(r"relu|max\(|< 0|> 0", text.code):
                cause = f"This sets what is negative in the result of {called} to 0, and no line of the kernel does so."
                yield Fact("through-another", node.lineno, cause,
                           f"Ask whether the task wants a ReLU after {called}; if not, hand back what {called} returns.")  # fmt: skip
                return
            continue
        if f == "relu":
            continue  # of what went through it once, it changes nothing
        cause = f"This applies {f} to what {called} returns, and by its name {called} has applied it already."
        yield Fact(
            "through-another", node.lineno, cause, f"Leave it to the kernel: hand back what {called} returns."
        )
        return


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = ((_again, WRONG), (_through_another, WRONG))
