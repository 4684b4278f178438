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
    calls = [n for n in text.nodes if isinstance(n, ast.Call) and n.lineno <= lines[-1] <= (n.end_lineno or 0)
             and ast.unparse(n.func).rpartition(".")[2] == name]  # fmt: skip
    taken, line, method = _taken(text.tree, name)
    if method and not told["lost"] and taken[:1] != ["self"]:
        cause = f"{name} is a method, and Python hands it the object first: its head has no `self` for that."
        yield Fact(
            "self-missing", line, cause, f"Write `def {name}(self{''.join(f', {one}' for one in taken)}):`."
        )
        return
    taken = [one for one in taken if one != "self"]
    if not calls and line and not any(n.lineno == line for n in text.nodes if isinstance(n, ast.ClassDef)):
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
    for call in text.nodes if told else ():
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


def ran_out(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``next(inputs)`` of an iterator that has handed out all it had, and ``inputs.pop()`` of an empty list."""
    told = re.search(r"StopIteration|IndexError: pop from (?:an )?empty", finding.message)
    lines = {int(n) for n in re.findall(r"\.py, line (\d+)", finding.message)}
    popped = told is not None and told[0].startswith("IndexError")
    for call in text.nodes if told else ():
        match call:
            case ast.Call(func=ast.Name(id="next"), args=[ast.Name(id=name)]) if not popped:
                pass
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="pop" | "popleft")) if popped:
                pass
            case _:
                continue
        made = _stored(text.tree, name)
        if (
            call.lineno not in lines
            or len(made) != 1
            or (maker := _maker(text, made[0], popped=popped)) is None
        ):
            continue
        kind, values, count = maker
        if sum(isinstance(n, ast.Name) and n.id == name for n in ast.walk(text.tree or call)) != 2:
            count = 0  # something else takes values from it, too
        how_many = f"its {count} values" if count else "its values"
        then = f"the {_nth(count + 1)} `{text.quoted(call)}`" if count else f"one more `{text.quoted(call)}`"
        error = "IndexError: pop from empty list" if popped else "StopIteration"
        does = (
            f"takes {how_many.replace('its', 'the')} out of the list"
            if popped
            else f"hands out {how_many} once"
        )
        cause = f"{kind} {does}; {then} finds nothing left ({error})."
        fix = f"itertools.cycle begins again at its end: `{name} = itertools.cycle({values})`"
        yield Fact("ran-out", made[0].lineno, cause, f"{fix}, and `next({name})`." if popped else f"{fix}.")
        return


def _nth(number: int) -> str:
    tens = number % 100 in (11, 12, 13)
    return f"{number}{'th' if tens else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"


def _stored(tree: ast.AST | None, name: str) -> list[ast.expr]:
    """What a name gets by assignments there; each twice if it gets a value otherwise, too."""
    nodes = list(ast.walk(tree)) if tree else []
    values = [
        n.value for n in nodes if isinstance(n, ast.Assign) and [ast.unparse(t) for t in n.targets] == [name]
    ]
    stores = [n for n in nodes if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store)]
    given = [n for n in nodes if isinstance(n, ast.arg) and n.arg == name]
    return values if len(values) == len(stores) and not given else [*values, *values]


def _maker(text: SubmissionText, made: ast.expr, *, popped: bool) -> tuple[str, str, int] | None:
    """What an iterator is made by, in words; its values as an argument of ``cycle``; how many, 0 if that is not told."""
    match made:
        case ast.Call(func=ast.Name(id="iter"), args=[values]) if not popped:
            listed, count = values, _count(values)
            if isinstance(values, ast.Name) and len(before := _stored(text.tree, values.id)) == 1:
                count = _count(before[0])
            return "`iter`", ast.unparse(listed), count
        case ast.GeneratorExp(elt=elt, generators=parts) if not popped:
            listed = ast.ListComp(elt, parts)
            return "A generator, `(... for ...)`,", ast.unparse(listed), _count(listed)
        case ast.Call(func=ast.Name(id="map" | "zip" | "filter" | "enumerate" | "reversed" as word)) if (
            not popped
        ):
            return f"`{word}`", f"list({ast.unparse(made)})", _count(made)
        case ast.List() | ast.ListComp() if popped:
            return "`pop`", ast.unparse(made), _count(made)
    return None


def _count(values: ast.expr) -> int:
    """How many values a list, a range or what is made of them has; 0 if that is not certain."""
    match values:
        case ast.List(elts=elts) | ast.Tuple(elts=elts) if not any(isinstance(e, ast.Starred) for e in elts):
            return len(elts)
        case ast.ListComp(generators=[ast.comprehension(iter=source, ifs=[])]):
            return _count(source)
        case ast.Call(func=ast.Name(id="range"), args=[ast.Constant(value=int(count))]):
            return max(count, 0)
        case ast.Call(func=ast.Name(id="map"), args=[_, source]):
            return _count(source)
        case ast.Call(func=ast.Name(id="list" | "tuple" | "reversed" | "enumerate"), args=[source]):
            return _count(source)
    return 0


READERS = re.compile(r"min|max|sum|sorted|list|tuple|statistics\.\w+|(?:f?mean|median|quantiles|p?stdev)")
SPENT = re.compile(
    r"StatisticsError: (?:no \w+ for empty data|.*requires at least|must have at least)|empty (?:sequence|iterable)|argument is empty"
)


def spent(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``statistics.median(seconds)`` and ``min(seconds)`` of a generator, which the first has used up."""
    told = SPENT.search(finding.message)
    lines = {int(n) for n in re.findall(r"\.py, line (\d+)", finding.message)}
    for function in text.python_functions if told else ():
        inside = range(function.lineno, (function.end_lineno or 0) + 1)
        for name, read in _readers(function).items() if lines & set(inside) else ():
            made = _spendable(text, function, name)
            if made is None or len(read) < 2 or not {n.lineno for n in read[1:]} & lines:
                continue
            shown = text.quoted(made)
            is_, listed = f"what `{shown.partition('(')[0]}` gives", f"list({shown})"
            if isinstance(made, ast.GeneratorExp):
                is_, listed = "a generator", f"[{shown.removeprefix('(').removesuffix(')')}]"
            cause = (
                f"`{name}` is {is_}, which hands out its values once: `{text.quoted(read[0])}`, in line "
                f"{read[0].lineno}, takes them all, and the next finds none."
            )
            fix = "Make a list, which can be read as often as you like"
            yield Fact("spent", made.lineno, cause, f"{fix}: `{listed}`." if len(listed) < 120 else f"{fix}.")
            return


def _readers(function: ast.FunctionDef) -> dict[str, list[ast.Call]]:
    """By name, the calls that read a value to its end, in their order: ``min(seconds)``, ``sum(seconds)``."""
    found: dict[str, list[ast.Call]] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and READERS.fullmatch(ast.unparse(node.func)):
            for one in (a for a in node.args[:1] if isinstance(a, ast.Name)):
                found.setdefault(one.id, []).append(node)
    return {name: sorted(calls, key=lambda n: (n.lineno, n.col_offset)) for name, calls in found.items()}


def _spendable(text: SubmissionText, function: ast.FunctionDef, name: str) -> ast.expr | None:
    """The generator, or the call of ``map`` or ``zip``, that a name holds: by the function, or by its one caller."""
    names = [a.arg for a in function.args.args]
    made = _stored(function, name)
    if name in names and not made:
        calls = [n for n in ast.walk(text.tree or function) if isinstance(n, ast.Call)
                 and ast.unparse(n.func) == function.name and len(n.args) > names.index(name)]  # fmt: skip
        made = [n.args[names.index(name)] for n in calls]
        if len(made) == 1 and isinstance(made[0], ast.Name) and made[0].id != name:
            made = _stored(text.tree, made[0].id)
    match made:
        case [
            ast.GeneratorExp() | ast.Call(func=ast.Name(id="map" | "zip" | "filter" | "iter" | "reversed"))
        ]:
            return made[0]
    return None


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = ((_refused, frozenset({Status.RAISED})),)
