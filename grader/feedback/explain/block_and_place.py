"""``//`` where ``%`` is meant, and the other way round, in a list of blocks and places in them; see ``facts.py``."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from grader.domain.verdict import Finding, Status
from grader.feedback.explain.source_text import Fact, Finder, SubmissionText, operation
from grader.feedback.how_far import ORDINALS

if TYPE_CHECKING:
    from collections.abc import Iterator

NUMBERS = r"-?\d+(?:, -?\d+)*"
ASKED = re.compile(
    rf"(?P<f>\w+)\((?P<x>{NUMBERS})\) is \[(?P<said>{NUMBERS})\], expected \[(?P<want>{NUMBERS})\]"
)


def _exchanged(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``[col % 16, col // 16]``, where the number of the block comes first and then the place in it."""
    asked = ASKED.search(finding.message)
    if asked is None or text.tree is None or "block" not in finding.message.lower():
        return
    given, said, want = ([int(n) for n in asked[g].split(", ")] for g in ("x", "said", "want"))
    own = [f for f in text.top_functions if f.name == asked["f"]]
    returns = [n for f in own for n in ast.walk(f) if isinstance(n, ast.Return)]
    if len(own) != 1 or len(returns) != 1 or not isinstance(returns[0].value, ast.List | ast.Tuple):
        return
    made = _made(own[0])
    entries = [made.get(e.id, e) if isinstance(e, ast.Name) else e for e in returns[0].value.elts]
    values = dict(zip([a.arg for a in own[0].args.args], given, strict=False))
    if not len(entries) == len(said) == len(want) <= len(ORDINALS):
        return
    wrong: list[tuple[str, str, str]] = []  # the place, what stands there, what belongs there
    line, block, place = 0, "", ""
    for k, node in enumerate(entries):
        if said[k] == want[k]:
            continue
        match node:
            case ast.BinOp(
                left=ast.Name(id=x), op=ast.FloorDiv() | ast.Mod() as op, right=ast.Constant(value=int(s))
            ):
                if x not in values or s <= 0:
                    return
                both = values[x] // s, values[x] % s
                here, other = both if isinstance(op, ast.FloorDiv) else both[::-1]
                if (said[k], want[k]) != (here, other):
                    return
                block, place = (operation(node.left, o, node.right) for o in (ast.FloorDiv(), ast.Mod()))
                pair = (block, place) if isinstance(op, ast.FloorDiv) else (place, block)
                wrong.append((ORDINALS[k], *pair))
                line = line or node.lineno
            case _:
                return
    if not wrong:
        return
    cause = f"`{block}` is the number of the block, and `{place}` the place in that block. " + "; ".join(
        f"`{here}` stands in the {nth} place, where `{other}` belongs" if not n else
        f"in the {nth}, `{here}` stands for `{other}`" for n, (nth, here, other) in enumerate(wrong)
    )  # fmt: skip
    fix = "Write " + " and ".join(f"`{other}` in the {nth} place" for nth, _, other in wrong) + "."
    if len(entries) > len(wrong):
        fix += " Ask of the other entries as well whether a block or a place in it is wanted: `//` is for the one, `%` for the other."
    yield Fact("block-and-place", line, f"{cause}.", fix)


def _of_the_whole(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``[col // 16, row // 16, col, row]``, where the place in the block is asked for and not in the whole matrix."""
    asked = ASKED.search(finding.message)
    if asked is None or text.tree is None or "block" not in finding.message.lower():
        return
    given, said, want = ([int(n) for n in asked[g].split(", ")] for g in ("x", "said", "want"))
    own = [f for f in text.top_functions if f.name == asked["f"]]
    returns = [n for f in own for n in ast.walk(f) if isinstance(n, ast.Return)]
    size = re.search(r"\bblocks? of (\d+)(?: x \1)? threads", finding.message, re.I)
    if len(own) != 1 or len(returns) != 1 or not isinstance(returns[0].value, ast.List | ast.Tuple):
        return
    made = _made(own[0])
    entries = [made.get(e.id, e) if isinstance(e, ast.Name) else e for e in returns[0].value.elts]
    values = dict(zip([a.arg for a in own[0].args.args], given, strict=False))
    if size is None or not len(entries) == len(said) == len(want) <= len(ORDINALS):
        return
    s, wrong = int(size[1]), list[tuple[str, str, str]]()
    written = {ast.unparse(e) for e in entries}
    used = [{n.id for n in ast.walk(e) if isinstance(n, ast.Name)} for e in entries]
    if len(entries) == 4 and (used[0], used[1]) != (used[2], used[3]):
        return  # rows and columns are exchanged as well
    for k, node in enumerate(entries):
        if not isinstance(node, ast.Name) or node.id not in values:
            if said[k] != want[k]:
                return  # something else is wrong as well
            continue
        value, x = values[node.id], node.id
        signs = [sign for sign, right in (("//", value // s), ("%", value % s)) if right == want[k]]
        if len(signs) == 2:  # both are 0: the entry beside it tells which one this is
            signs = [a for a, b in (("//", "%"), ("%", "//")) if f"{x} {b} {s}" in written]
        elif not signs:
            return
        wrong += [(ORDINALS[k], x, signs[0])] if len(signs) == 1 else []
    if said == want or not wrong:
        return
    means = {
        "//": "the number of the block, which is one more every {s} elements: `{x} // {s}`",
        "%": "the place in the block, which goes from 0 to {t} and begins again at 0 in the next block: `{x} % {s}`",
    }
    told = [
        f"`{x}` in the {nth} place is a place in the whole matrix, and what belongs there is "
        + means[sign].format(x=x, s=s, t=s - 1)
        if not n
        else f"in the {nth}, `{x}` stands for `{x} {sign} {s}`"
        for n, (nth, x, sign) in enumerate(wrong)
    ]
    fix = "Write " + " and ".join(f"`{x} {sign} {s}` in the {nth} place" for nth, x, sign in wrong) + "."
    yield Fact("place-in-the-whole", returns[0].lineno, "; ".join(told) + ".", fix)


def _made(function: ast.FunctionDef) -> dict[str, ast.expr]:
    """What the names that are given a value once get, ``divmod`` taken apart."""
    found: dict[str, list[ast.expr]] = {}
    for node in (n for n in ast.walk(function) if isinstance(n, ast.Assign)):
        for target in node.targets:
            match target, node.value:
                case ast.Tuple(elts=[ast.Name(id=a), ast.Name(id=b)]), ast.Call(
                    func=ast.Name(id="divmod"), args=[x, s]
                ):
                    for name, sign in ((a, ast.FloorDiv()), (b, ast.Mod())):
                        made = ast.copy_location(ast.BinOp(x, sign, s), node)
                        found.setdefault(name, []).append(made)
                case ast.Tuple(elts=names), ast.Tuple(elts=values):
                    for one, part in zip(names, values, strict=False):
                        found.setdefault(ast.unparse(one), []).append(part)
                case ast.Name(id=name), value:
                    found.setdefault(name, []).append(value)
    return {name: values[0] for name, values in found.items() if len(values) == 1}


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = (
    (_exchanged, frozenset({Status.WRONG_ANSWER})),
    (_of_the_whole, frozenset({Status.WRONG_ANSWER})),
)
