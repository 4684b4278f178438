"""Facts about calls that Python refused: an argument that is left out or too many, a lambda with other parameters; see ``facts.py``."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from grader.domain.verdict import Finding, Status
from grader.feedback.explain.source_text import Fact, Finder, SubmissionText

if TYPE_CHECKING:
    from collections.abc import Iterator

    Function = ast.FunctionDef | ast.Lambda

REFUSED = re.compile(
    r"TypeError: (?P<f>[\w.<>]+)\(\) (?:missing \d+ required (?:positional|keyword-only) arguments?: (?P<lost>'[^()]*')"
    r"|takes (?:from \d+ to )?(?P<takes>\d+) positional arguments? but (?P<given>\d+) (?:was|were) given)"
)
# What the course's callbacks are called with.
HANDED = {"on_trace_ready": "profiler"}


def _refused(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    told = REFUSED.search(finding.message)
    lines = [int(n) for n in re.findall(r"\.py, line (\d+)", finding.message)]
    if told is None or text.tree is None or not lines:
        return
    path = told["f"].split(".")
    if path[-1] == "<lambda>":
        yield from _lambda(text.tree, told, path, lines[-1])
        return
    name = path[-2] if path[-1] in ("__init__", "__new__") and len(path) > 1 else path[-1]
    calls = [n for n in ast.walk(text.tree) if isinstance(n, ast.Call) and n.lineno <= lines[-1] <= (n.end_lineno or 0)
             and ast.unparse(n.func).rpartition(".")[2] == name]  # fmt: skip
    taken, line, method = _taken(text.tree, name)
    if method and not told["lost"] and taken[:1] != ["self"]:
        cause = f"{name} is a method, and Python hands it the object first: its head has no `self` for that."
        yield Fact(
            "self-missing", line, cause, f"Write `def {name}(self{''.join(f', {one}' for one in taken)}):`."
        )
        return
    taken = [one for one in taken if one != "self"]
    if (
        not calls
        and line
        and not any(n.lineno == line for n in ast.walk(text.tree) if isinstance(n, ast.ClassDef))
    ):
        cause = f"{name} is called by what it was handed to, in line {lines[-1]}, and with another number of arguments than its {len(taken)}."
        given = int(told["given"] or 0)
        yield Fact("callback-parameters", line, cause,
                   f"Give it {given} parameter{'' if given == 1 else 's'}." if given else "Take the parameter away.")  # fmt: skip
        return
    if len(calls) != 1:
        return
    (call,) = calls
    shown = ast.unparse(call)
    shown = f"`{shown}`" if len(shown) < 90 else "This call"
    of = f" {name} takes {_listed(taken)} (line {line})." if taken else ""
    if told["lost"]:
        lost = re.findall(r"'(\w+)'", told["lost"])
        lost = [f"`{one}`" for one in lost]
        taken = [f"`{one}`" for one in taken]
        cause = f"{shown} leaves out {_listed(lost)}.{of}"
        fix = f"Hand over {_listed(lost)}, too."
        if taken[-len(lost) :] == lost and len(call.args) == len(taken) - len(lost):
            fix = (
                f"Hand over {_listed(lost)}, too, behind `{ast.unparse(call.args[-1])}`."
                if call.args
                else fix
            )
        yield Fact("argument-left-out", call.lineno, cause, fix)
    elif taken:
        number = len(call.args) - len(taken)
        cause = f"{shown} hands over {len(call.args)} arguments, {number} too many.{of}"
        yield Fact(
            "argument-too-many", call.lineno, cause, "Compare the two one by one: which has no place there?"
        )


def _listed(names: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1] if names else "nothing")))


def _taken(tree: ast.Module, name: str) -> tuple[list[str], int, bool]:
    """The parameters of the file's function or class of that name, its line, and whether it is a method."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.ClassDef):
            continue
        methods = {n.name: n for n in node.body if isinstance(n, ast.FunctionDef)}
        static = any(ast.unparse(d) == "staticmethod" for n in methods.values() for d in n.decorator_list)
        if node.name == name:
            fields = [
                n.target.id
                for n in node.body
                if isinstance(n, ast.AnnAssign) and isinstance(n.target, ast.Name)
            ]
            own = methods.get("__init__")
            return ([a.arg for a in own.args.args] if own else fields), (own or node).lineno, bool(own)
        if name in methods and not static:
            return [a.arg for a in methods[name].args.args], methods[name].lineno, True
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == name:
            return [a.arg for a in (*node.args.args, *node.args.kwonlyargs)], node.lineno, False
    return [], 0, False


def _without(tree: ast.Module, one: ast.Lambda, line: int) -> str:
    """What to do where a parameter of the file's own function is called without anything, as ``fn()`` of a timer; else ""."""
    for function in (n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)):
        names = {a.arg for a in function.args.args}
        for node in ast.walk(function):
            if (
                isinstance(node, ast.Call)
                and node.lineno == line != one.lineno
                and not (node.args or node.keywords)
                and isinstance(node.func, ast.Name)
                and node.func.id in names
            ):
                words = " and ".join(a.arg for a in one.args.args)
                return f"{function.name} calls what it gets with nothing in the brackets: write `lambda: ...`, and in place of {words} what makes or takes it"
    return ""


def _called_otherwise(tree: ast.Module, line: int) -> Fact | None:
    """A parameter of the file's own function that ``line`` calls with arguments, and another line without: ``fn(_)``."""
    for function in (n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)):
        names = {a.arg for a in function.args.args}
        calls = [n for n in ast.walk(function)
                 if isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id in names]  # fmt: skip
        for one in (n for n in calls if n.lineno == line and n.args):
            name = ast.unparse(one.func)
            bare = [n.lineno for n in calls if ast.unparse(n) == f"{name}()"]
            if bare:
                cause = f"`{ast.unparse(one)}` hands something over, and what {function.name} gets as {name} takes nothing: line {bare[0]} calls it as `{name}()`."
                return Fact("called-otherwise", line, cause, f"Write `{name}()`.")
    return None


def _lambda(tree: ast.Module, told: re.Match[str], path: list[str], line: int) -> Iterator[Fact]:
    """The one lambda of the file that takes so many arguments, in the function that the error names."""
    owners: list[ast.AST] = [
        n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name in path
    ] or [tree]
    lost = re.findall(r"'(\w+)'", told["lost"] or "")
    found = {
        (n.lineno, n.col_offset): n for owner in owners for n in ast.walk(owner) if isinstance(n, ast.Lambda)
        if not n.args.vararg and (set(lost) <= {a.arg for a in n.args.args} if lost else len(n.args.args) == int(told["takes"]))
    }  # fmt: skip
    if len(found) != 1:
        return
    (one,) = found.values()
    word = (
        next(
            (k.arg for c in ast.walk(tree) if isinstance(c, ast.Call) for k in c.keywords if k.value is one),
            "",
        )
        or ""
    )
    body = ast.unparse(one.body)
    who = f"what {word} calls" if word else "what calls it"
    where = f", in line {line}," if line != one.lineno else ""
    has = [a.arg for a in one.args.args]
    if lost:
        cause = f"This lambda takes {_listed(has)}, and {'it is called' if not where else f'line {line} calls it'} without {_listed(lost)}."
        right = f"lambda {', '.join(a for a in has if a not in lost)}".rstrip()
        used = {n.id for n in ast.walk(one.body) if isinstance(n, ast.Name)} & set(lost)
        fix = (
            f"{_without(tree, one, line) or 'Call it with ' + _listed(lost)}."
            if used
            else f"Take the parameter away: `{right}: {body}`."
        )
    else:
        given = int(told["given"])
        if odd := _called_otherwise(tree, line):
            yield odd
            return
        names = (
            [HANDED.get(word, "one")]
            if given == 1
            else [*has, *(f"arg{i + 1}" for i in range(len(has), given))]
        )
        number = f"{len(has) or 'no'} argument{'' if len(has) == 1 else 's'}"
        cause = f"This lambda takes {number}, and {who}{where} hands over {given}."
        if word:
            cause = f"This lambda takes {number}, and {word} is called{where} with {given}."
        free = {n.id for n in ast.walk(one.body) if isinstance(n, ast.Name)}
        name = next((n for n in ("profiler", "prof", "p", "one") if n in free), names[0])
        fix = f"Give it a parameter: `lambda {name if given == 1 else ', '.join(names)}: {body}`."
    yield Fact("lambda-parameters", one.lineno, cause, fix)


def no_iterator(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``next(inputs)`` of a list."""
    told = re.search(r"TypeError: '(?P<kind>\w+)' object is not an iterator", finding.message)
    lines = {int(n) for n in re.findall(r"\.py, line (\d+)", finding.message)}
    for call in ast.walk(text.tree) if told and text.tree else ():
        if (
            isinstance(call, ast.Call)
            and ast.unparse(call.func) == "next"
            and call.args
            and call.lineno in lines
        ):
            x, kind = ast.unparse(call.args[0]), told["kind"] if told else ""
            cause = f"next() takes the next value of an iterator, and `{x}` is a {kind}, which does not remember where it was."
            fix = f"Make an iterator of it, once and before: `itertools.cycle({x})` begins again at its end, `iter({x})` stops there."
            yield Fact("no-iterator", call.lineno, cause, fix)
            return


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = ((_refused, frozenset({Status.RAISED})),)
