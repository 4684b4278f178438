"""Loops whose condition nothing in them changes; see ``facts.py``."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, NamedTuple

from grader.backends.simt.compile.tokens import closing, tokenize
from grader.domain.verdict import Status
from grader.feedback.explain.source_text import OUTSIDE, Fact, Finder, SubmissionText, end_of_loop

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.domain.verdict import Finding
    from grader.feedback.explain.source_text import CppFunction

LEAVES = re.compile(r"\b(?:break|return|goto|throw|__trap|exit)\b")
CHANGED_BY_OTHERS = re.compile(r"\(|\[|->|\*\s*\w+\s*(?:[<>=!]|$)|\batomic|\bvolatile\b")
NAME = re.compile(r"(?<![\w.])(?!true\b|false\b|sizeof\b)[A-Za-z_]\w*(?:\.[xyz]\b)?")
ASSIGNED = (
    r"(?<![\w.>]){0}\s*(?:[-+*/%&|^]|<<|>>)?=(?!=)|(?<![\w.>]){0}\s*(?:\+\+|--)|(?:\+\+|--)\s*{0}\b|&\s*{0}\b"
)
BUILTIN = re.compile(r"(?:threadIdx|blockIdx|blockDim|gridDim)\.|warpSize$")


class Loop(NamedTuple):
    """A loop: ``kind``, its condition, the step of a ``for``, what it repeats, and where it begins in the code."""

    kind: str
    condition: str
    step: str
    body: str
    start: int


def _loops(function: CppFunction) -> Iterator[Loop]:
    tokens, at, starts = tokenize(function.body), function.start, []
    for token in tokens:
        starts.append(at)
        at += len(token.text)
    for i, token in enumerate(tokens):
        if token.text not in ("for", "while"):
            continue
        opened = next((k for k in range(i + 1, len(tokens)) if tokens[k].kind != "space"), i)
        closed = closing(tokens, opened) if tokens[opened].text == "(" else -1
        if closed < 0:
            continue
        head = "".join(t.text for t in tokens[opened + 1 : closed])
        rest = "".join(t.text for t in tokens[closed + 1 : end_of_loop(tokens, i) + 1])
        if token.text == "while":
            before = "".join(t.text for t in tokens[:i]).rstrip()
            if not (before.endswith("}") and rest.strip() == ";"):  # the end of do { } while
                yield Loop("while", head, "", rest, starts[i])
        elif head.count(";") == 2:
            _, condition, step = head.split(";")
            yield Loop("for", condition, step, rest, starts[i])


def _endless(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``while (i < n)`` that leaves i as it is, ``for (...; i < n; j += 4)``."""
    references = any(re.search(r"\w\s*&\s*\w", f.parameters) for f in text.functions)
    for function in text.functions:
        if re.search(r"\bvolatile\b|\[\s*[&=]", function.parameters + function.body):
            continue  # others may change it, or a function within the function
        for loop in _loops(function):
            condition, body = " ".join(loop.condition.split()), f"{loop.body};{loop.step}"
            names = list(dict.fromkeys(NAME.findall(condition)))
            if (
                not names
                or LEAVES.search(body)
                or CHANGED_BY_OTHERS.search(condition)
                or "=" in re.sub(r"[<>=!]=", "", condition)
            ):
                continue
            if re.search(r"\+\+|--", condition) or any(
                _changes(name, body, references=references) for name in names
            ):
                continue
            own = [name for name in names if not BUILTIN.match(name)]
            head = (
                f"{loop.kind} ({condition})"
                if loop.kind == "while"
                else f"for (...; {condition}; {' '.join(loop.step.split())})"
            )
            cause = f"`{head}` never ends once it has begun: nothing in it changes {' or '.join(own or names)}, so its condition stays true."
            yield Fact("endless-loop", text.line(loop.start), cause, _mended(function, loop, condition, own))
            return


def _changes(name: str, body: str, *, references: bool) -> bool:
    """Whether something in ``body`` may give the name another value."""
    word = re.escape(name.partition(".")[0])
    if re.search(ASSIGNED.format(re.escape(name)), body) or re.search(ASSIGNED.format(word), body):
        return True
    if re.search(rf"(?<![\w.>]){word}\s*\.\s*\w+\s*\(|>>\s*{word}\b|\basm\b", body):
        return True
    return references and re.search(rf"\w\s*\([^;]*(?<![\w.]){word}\s*[,)]", body) is not None


def _mended(function: CppFunction, loop: Loop, condition: str, own: list[str]) -> str:
    first = own[0] if own else "what it asks for"
    if loop.kind == "for":
        return f"The third part of `for` must change {first}: `++{first}`, or `{first} += ...` by its step."
    if "threadIdx" in function.body and re.match(r"\w+\s*<", condition):
        return (
            f"If each thread has one element, write `if ({condition})`. If it has several, end the loop with "
            f"`{first} += ...`, the number of all threads that share the work."
        )
    return f"Change {first} in the loop, or ask once, with `if ({condition})`."


SIMPLE = (ast.Name, ast.Constant, ast.Compare, ast.BoolOp, ast.BinOp, ast.UnaryOp, ast.cmpop, ast.boolop,
          ast.operator, ast.unaryop, ast.expr_context)  # fmt: skip


def _endless_in_python(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``while i < n: out[i] = ...`` of Python."""
    on_grid, at = finding.evidence.get("on_grid"), re.match(r"Line (\d+): ", finding.message)
    for function in text.top_functions:
        if on_grid and function.name != on_grid:
            continue
        shared = {n for s in ast.walk(function) if isinstance(s, ast.Global | ast.Nonlocal) for n in s.names}
        for loop in (n for n in ast.walk(function) if isinstance(n, ast.While)):
            names = list(dict.fromkeys(n.id for n in ast.walk(loop.test) if isinstance(n, ast.Name)))
            inside = range(loop.lineno, (loop.end_lineno or 0) + 1)
            if (at and int(at[1]) not in inside) or not names or shared & set(names):
                continue
            if not all(isinstance(n, SIMPLE) for n in ast.walk(loop.test)) or _may_end(loop, set(names)):
                continue
            first, asked = names[0], text.quoted(loop.test)
            cause = f"`while` asks again and again, and nothing in this loop changes {' or '.join(names[:2])}: once `{asked}` is true, it never ends."
            fix = f"A guard asks once: write `if {asked}:`."
            if not on_grid:
                fix = f"Change {first} in the loop, or ask once, with `if {asked}:`."
            elif any(ast.unparse(n).startswith(f"{first} + ") for n in loop.body):
                fix = f"{fix} (`{first} + ...` alone does not change {first}.)"
            yield Fact("endless-loop", loop.lineno, cause, fix)
            return


def _may_end(loop: ast.While, names: set[str]) -> bool:
    """Whether something in the loop leaves it, or may change what it asks for."""
    for node in (n for one in loop.body for n in ast.walk(one)):
        match node:
            case ast.Break() | ast.Return() | ast.Raise() | ast.Yield() | ast.YieldFrom() | ast.Await():
                return True
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()) if name in names:
                return True
            case ast.Call(func=called, args=args, keywords=given):
                parts = [called, *args, *(k.value for k in given)]
                owners = [p.value if isinstance(p, ast.Attribute | ast.Starred) else p for p in parts]
                if any(isinstance(p, ast.Name) and p.id in names for p in owners):
                    return True
                if isinstance(called, ast.Name) and called.id in ("exit", "quit", "next"):
                    return True
    return False


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = (
    (_endless, OUTSIDE | {Status.TIMEOUT, Status.FAILED}),
    (_endless_in_python, frozenset({Status.TIMEOUT})),
)
