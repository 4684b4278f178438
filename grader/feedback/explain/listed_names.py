"""Facts about a name that stands in the wrong one of several lists, or in none: ``if word in ("a", "b"): ...``; see ``facts.py``."""

from __future__ import annotations

import ast
import difflib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.domain.verdict import Finding, Status
from grader.feedback.explain.source_text import Fact, Finder, SubmissionText

if TYPE_CHECKING:
    from collections.abc import Iterator

LIST = r"\[(?:'[^'\]]*'(?:, )?)*\]"
SAID = re.compile(rf"(?P<f>\w+)\([^()]*\) is (?P<got>{LIST}), expected (?P<right>{LIST})\.")
MISSPELT = 0.9  # extra_cflags and extra_ldflags, two names, are alike to 0.88


@dataclass(frozen=True, slots=True)
class Place:
    """A list of names in a function, with their lines, its own line, and the texts that it is given for."""

    line: int
    names: dict[str, int]
    gives: frozenset[str]


def _texts(*nodes: ast.AST) -> frozenset[str]:
    every = (n for node in nodes for n in ast.walk(node) if isinstance(n, ast.Constant))
    return frozenset(n.value for n in every if isinstance(n.value, str))


def _names(node: ast.expr, lists: dict[str, ast.expr]) -> tuple[int, dict[str, int]] | None:
    """The line and the entries of a tuple, list or set of texts, or of one that has this name."""
    node = lists.get(node.id, node) if isinstance(node, ast.Name) else node
    entries = node.elts if isinstance(node, ast.Tuple | ast.List | ast.Set) else [node]
    texts = {e.value: e.lineno for e in entries if isinstance(e, ast.Constant) and isinstance(e.value, str)}
    return (node.lineno, texts) if len(texts) == len(entries) > 0 else None


def _asked(test: ast.expr, word: str, lists: dict[str, ast.expr]) -> tuple[int, dict[str, int]] | None:
    """The same of a condition that is true for some values of ``word``, and asks for nothing else."""
    several = test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or) else [test]
    found: dict[str, int] = {}
    for one in several:
        match one:
            case ast.Compare(ast.Name(id=name), [ast.In() | ast.Eq()], [among]) if name == word:
                if (listed := _names(among, lists)) is None:
                    return None
                found |= listed[1]
                line = listed[0]
            case _:
                return None
    return (line if len(several) == 1 else test.lineno, found)


def _places(function: ast.FunctionDef, word: str, lists: dict[str, ast.expr]) -> Iterator[Place]:
    for node in ast.walk(function):
        if isinstance(node, ast.If | ast.IfExp) and (asked := _asked(node.test, word, lists)):
            body = node.body if isinstance(node.body, list) else [node.body]
            yield Place(*asked, _texts(*body))
        if isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                listed = _names(value, lists) if isinstance(value, ast.Tuple | ast.List | ast.Set) else None
                if key is not None and listed:
                    yield Place(*listed, _texts(key))


def _the_one(places: list[Place], text: str, right: set[str]) -> Place | None:
    """The place that gives a text: of several the one that gives what is expected and nothing else."""
    giving = [p for p in places if text in p.gives]
    giving = [p for p in giving if p.gives == right] or giving
    return giving[0] if len(giving) == 1 else None


def _listed(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """Which lists lack a name that a function was called with, and which one has it that should not."""
    said, args = SAID.search(finding.message), finding.evidence.get("args")
    if said is None or text.tree is None or not isinstance(args, list):
        return
    got, right = (set(re.findall(r"'([^']*)'", said[k])) for k in ("got", "right"))
    lists = {t.id: n.value for n in text.nodes if isinstance(n, ast.Assign)
             for t in n.targets if isinstance(t, ast.Name)}  # fmt: skip
    for function in [f for f in text.top_functions if f.name == said["f"]]:
        for parameter, name in zip(function.args.args, args, strict=False):
            places = [*_places(function, parameter.arg, lists)] if isinstance(name, str) else []
            given = {t for p in places if name in p.names for t in p.gives}
            if places and given == got:  # else something else decides
                yield from _fact(places, name, got, right)


def _fact(places: list[Place], name: str, got: set[str], right: set[str]) -> Iterator[Fact]:
    lacking = {t: _the_one(places, t, right) for t in sorted(right - got)}
    # A place that gives all at once is one to move to.
    out = got if any(p.gives & got for p in lacking.values() if p) else got - right
    having = {t: _the_one([p for p in places if name in p.names], t, got) for t in sorted(out)}
    known = [p for p in (*lacking.values(), *having.values()) if p is not None]
    if not known or len(known) < len(lacking) + len(having):
        return

    def told(which: dict[str, Place | None]) -> dict[int, str]:
        lines: dict[int, list[str]] = {}
        for given, place in which.items():
            if place:
                lines.setdefault(place.names.get(name, place.line), []).append(f'"{given}"')
        return {n: f"line {n}, which gives {' and '.join(lines[n])}" for n in sorted(lines)}

    causes, fixes = [], []
    if within := told(having):
        causes.append(f'"{name}" is among the names of {" and of ".join(within.values())}.')
        fixes.append(f"Take it out of line {' and '.join(map(str, within))}.")
    if lost := told(lacking):
        among = "neither among" if len(lost) > 1 else "not among"
        causes.append(f'"{name}" is {among} the names of {", nor among those of ".join(lost.values())}.')
        fixes.append(
            f'Add "{name}" to {"line" if len(lost) == 1 else "lines"} {" and ".join(map(str, lost))}.'
        )
    alike = {n: place.names[n] for place in known for n in difflib.get_close_matches(name, [*place.names], 1, MISSPELT)}  # fmt: skip
    causes += [f'Line {line} has "{n}": is that misspelt?' for n, line in alike.items() if n != name]
    yield Fact("listed-elsewhere", min([*within, *lost]), " ".join(causes), " ".join(fixes))


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = ((_listed, frozenset({Status.WRONG_ANSWER})),)
