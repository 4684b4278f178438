"""Facts about an answer that comes from a table, an ``else`` or a list in another order; see ``facts.py``."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from grader.domain import python_text
from grader.domain.verdict import Finding, Status
from grader.feedback.explain.listed_names import SAID
from grader.feedback.explain.source_text import Fact, Finder, SubmissionText

if TYPE_CHECKING:
    from collections.abc import Iterator

LOST = re.compile(r"^KeyError: (?P<key>'[^'\n]*'|\d+) \(.*\.py, line (?P<line>\d+): ", re.M)
NONE = re.compile(r"(?P<f>\w+)\([^()]*\) is None, expected (?P<right>\[\]|)")


def _tables(tree: ast.Module) -> dict[str, ast.Dict]:
    """Dicts that are written out, by the one name that they are given; those that are changed later are left out."""
    found: dict[str, list[ast.expr]] = {}
    changed = set()
    for node in ast.walk(tree):
        for target in node.targets if isinstance(node, ast.Assign) else ():
            if isinstance(target, ast.Name) and isinstance(node, ast.Assign):
                found.setdefault(target.id, []).append(node.value)
            elif isinstance(target, ast.Subscript):
                changed.add(ast.unparse(target.value))
        if isinstance(node, ast.Attribute) and node.attr in ("update", "setdefault"):
            changed.add(ast.unparse(node.value))
    return {
        name: values[0]
        for name, values in found.items()
        if len(values) == 1 and isinstance(values[0], ast.Dict) and name not in changed
    }


def _lacks(table: ast.Dict, key: object) -> bool:
    """Whether a table whose keys are all written out has no entry of this key."""
    keys: list[object] = [k.value for k in table.keys if isinstance(k, ast.Constant)]
    return len(keys) == len(table.keys) and key not in keys


def _no_entry(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``table[word]``, where the table has no entry for the word."""
    said = LOST.search(finding.message)
    if said is None or text.tree is None:
        return
    tables, key = _tables(text.tree), python_text.literal(said["key"])
    asked = [n for n in text.nodes if isinstance(n, ast.Subscript) and n.lineno == int(said["line"])]
    if len(asked) != 1 or (table := tables.get(name := ast.unparse(asked[0].value))) is None:
        return  # of two in a line it may be either
    if _lacks(table, key):
        word = text.quoted(asked[0].slice)
        yield Fact(
            "no-entry", asked[0].lineno,
            f"`{name}[{word}]` looks up the entry of {said['key']}, and {name} (line {table.lineno}) has none.",
            f"Give {name} an entry for it, or write `{name}.get({word}, ...)` with what is right for all that have "
            "no entry in place of the dots.")  # fmt: skip


def _none_for_the_rest(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``return table.get(word)``, which is None where the table has no entry."""
    said, args = NONE.search(finding.message), finding.evidence.get("args")
    if said is None or text.tree is None or not isinstance(args, list):
        return
    tables = _tables(text.tree)
    for node in text.nodes:
        match node:
            case ast.Return(
                value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="get"), args=[asked])
            ):
                if name in tables and any(_lacks(tables[name], one) for one in args):
                    shown = text.quoted(asked)
                    fix = (
                        f"`{name}.get({shown}, [])`"
                        if said["right"]
                        else f"`{name}.get({shown}, ...)` with it"
                    )
                    yield Fact(
                        "none-for-the-rest", node.lineno,
                        f"`{name}.get({shown})` is None where {name} (line {tables[name].lineno}) has no entry, as for {args[0]!r}.",
                        f"Say what is right for all that have no entry: write {fix}.")  # fmt: skip


def _another_order(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """Two texts that are appended, listed or kept in a set, in another order than asked for."""
    said = SAID.search(finding.message)
    if said is None or text.tree is None:
        return
    got, right = (re.findall(r"'([^']*)'", said[k]) for k in ("got", "right"))
    if got == right or sorted(got) != sorted(right) or len(set(got)) < len(got):
        return
    for function in [f for f in text.top_functions if f.name == said["f"]]:
        nodes = list(ast.walk(function))
        for node in nodes:
            if (
                isinstance(node, ast.List | ast.Tuple)
                and [getattr(e, "value", None) for e in node.elts] == got
            ):
                wanted = ", ".join(f'"{one}"' for one in right)
                yield Fact("another-order", node.lineno, f"The entries of this list stand in another order than asked for: {wanted}.",
                           f"Write `[{wanted}]`.")  # fmt: skip
                return
        added: dict[str, list[int]] = {}
        for node in nodes:
            match node:
                case ast.Call(
                    func=ast.Attribute(attr="append" | "add" as how), args=[ast.Constant(value=str(one))]
                ):
                    added.setdefault(one, []).append(node.lineno)
                    if how == "add":
                        name = ast.unparse(node.func.value)  # type: ignore[attr-defined]
                        made = next(
                            (
                                n.lineno
                                for n in nodes
                                if isinstance(n, ast.Assign) and ast.unparse(n.targets[0]) == name
                            ),
                            0,
                        )
                        if made:
                            yield Fact("another-order", made, f"{name} is a set, and a set keeps no order: what is asked for is a list, in the order of the page.",
                                       f"Make a list, `{name} = []`, and add to it with `{name}.append(...)`.")  # fmt: skip
                            return
        lines = [added.get(one, []) for one in right]
        if all(len(one) == 1 for one in lines) and len(right) == 2 and lines[0] > lines[1]:
            (first,), (second,) = lines
            yield Fact("another-order", second,
                       f'"{right[1]}" is added here, and "{right[0]}" only later, in line {first}: a list keeps the order in which it was filled.',
                       f'"{right[0]}" comes first: move what adds it (line {first}) above what adds "{right[1]}".')  # fmt: skip


def _asks(test: ast.expr, word: str, name: str) -> bool | None:
    """Whether a condition about the text ``word`` is true for ``name``; None if it cannot be told."""
    match test:
        case ast.BoolOp(op=op, values=values):
            every = [_asks(one, word, name) for one in values]
            if None in every:
                return None
            return any(every) if isinstance(op, ast.Or) else all(every)
        case ast.UnaryOp(op=ast.Not(), operand=one):
            told = _asks(one, word, name)
            return None if told is None else not told
        case ast.Compare(
            left=ast.Name(id=left), ops=[ast.Eq()], comparators=[ast.Constant(value=str(other))]
        ) if left == word:
            return name == other
        case ast.Compare(
            left=ast.Name(id=left),
            ops=[ast.In()],
            comparators=[ast.Tuple(elts=e) | ast.List(elts=e) | ast.Set(elts=e)],
        ) if left == word:
            return (
                name in [one.value for one in e if isinstance(one, ast.Constant)]
                if all(isinstance(one, ast.Constant) for one in e)
                else None
            )
        case ast.Compare(
            left=ast.Constant(value=str(part)), ops=[ast.In()], comparators=[ast.Name(id=right)]
        ) if right == word:
            return part in name
        case ast.Call(
            func=ast.Attribute(value=ast.Name(id=left), attr="startswith" | "endswith" as how),
            args=[ast.Constant(value=str(part))],
        ) if left == word:
            return bool(getattr(name, how)(part))
    return None


def _the_rest(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """A name for which no condition of a chain is true, and which its ``else`` answers wrongly."""
    said, args = SAID.search(finding.message), finding.evidence.get("args")
    if (
        said is None
        or text.tree is None
        or not isinstance(args, list)
        or len(args) != 1
        or not isinstance(args[0], str)
    ):
        return
    got, right = (re.findall(r"'([^']*)'", said[k]) for k in ("got", "right"))
    name = args[0]
    for function in [f for f in text.top_functions if f.name == said["f"]]:
        word = function.args.args[0].arg if function.args.args else ""
        chains = [n for n in function.body if isinstance(n, ast.If)]
        for node in chains if len(chains) == 1 else ():
            lines = []
            while (
                _asks(node.test, word, name) is False
                and len(node.orelse) == 1
                and isinstance(node.orelse[0], ast.If)
            ):
                lines.append(node.lineno)
                node = node.orelse[0]
            if (
                _asks(node.test, word, name) is not False
                or not node.orelse
                or isinstance(node.orelse[0], ast.If)
            ):
                continue
            lines.append(node.lineno)
            texts = [
                n.value
                for one in node.orelse
                for n in ast.walk(one)
                if isinstance(n, ast.Constant) and isinstance(n.value, str)
            ]
            other = next((n for n in range(node.orelse[0].lineno, node.body[-1].lineno, -1)
                          if text.source.splitlines()[n - 1].strip().startswith("else")), 0)  # fmt: skip
            if texts == got and other:
                asked = (
                    f"condition of line {lines[0]} is"
                    if len(lines) == 1
                    else f"conditions of lines {', '.join(map(str, lines[:-1]))} and {lines[-1]} are"
                )
                gives = " and ".join(f'"{one}"' for one in got)
                wanted = " and ".join(f'"{one}"' for one in right) or "an empty list"
                yield Fact("answered-by-else", other,
                           f'The {asked} false for "{name}", so it comes to this `else`, which gives {gives} for all that is left.',
                           f'Ask for "{name}" in a condition of its own above the `else`; what is asked for is {wanted}.')  # fmt: skip


def _another_kind(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``return "main.cpp"`` for a list of one text."""
    said = str(finding.evidence.get("advice", "")).strip()
    if text.tree is None or not re.match(r"That is .*, and what is asked for is ", said):
        return
    for node in text.nodes:
        if isinstance(node, ast.Return) and node.lineno == finding.evidence.get("line") and node.value:
            if begun := _begun_as_text(text, node, said):
                yield begun
                return
            written = isinstance(node.value, ast.Constant) and "square brackets" in said
            fix = f"Write `return [{text.quoted(node.value)}]`." if written else ""
            yield Fact("another-kind", node.lineno, said, fix)
            return


def _begun_as_text(text: SubmissionText, returned: ast.Return, said: str) -> Fact | None:
    """``files = ""`` and ``files += "main.cpp"``, where ``files`` is to be a list."""
    name = returned.value.id if isinstance(returned.value, ast.Name) else ""
    functions = text.python_functions
    around = [f for f in functions if any(n is returned for n in ast.walk(f))]
    if not name or len(around) != 1 or not said.startswith("That is a text, and what is asked for is a list"):
        return None
    stored = [n for n in ast.walk(around[0]) if isinstance(n, ast.Name) and n.id == name]
    stored = [n for n in stored if isinstance(n.ctx, ast.Store)]
    made, added = list[tuple[int, str]](), list[ast.expr]()
    for node in ast.walk(around[0]):
        match node:
            case ast.Assign(targets=[ast.Name(id=to)], value=ast.Constant(value=str())) if to == name:
                made.append((node.lineno, text.quoted(node.value)))
            case ast.AugAssign(target=ast.Name(id=to), op=ast.Add(), value=value) if to == name:
                added.append(value)
    if len(made) != 1 or not added or len(stored) != 1 + len(added):
        return None
    ((line, first),) = made
    begin = "[]" if len(first) == 2 else f"[{first}]"  # the quotes alone
    return Fact(
        "begun-as-text", line,
        f"{name} begins as a text, `{first}`, and `+=` puts further texts behind it: it stays one text, and what is asked for is a list.",
        f"Begin with a list, `{name} = {begin}`, and add each entry by `{name}.append({text.quoted(added[0])})`.")  # fmt: skip


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = (
    (_no_entry, frozenset({Status.RAISED})),
    (_none_for_the_rest, frozenset({Status.WRONG_ANSWER})),
    (_another_order, frozenset({Status.WRONG_ANSWER})),
    (_the_rest, frozenset({Status.WRONG_ANSWER})),
    (_another_kind, frozenset({Status.WRONG_ANSWER})),
)
