"""A tensor without elements, whose pointer is null, in a kernel that reads from it all the same; see ``facts.py``."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from grader.feedback.explain.source_text import OUTSIDE, CppFunction, Fact, Finder, SubmissionText

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.domain.verdict import Finding, Status

MAKERS = {"empty", "zeros", "ones", "new_empty", "new_zeros", "new_ones"}


def _empty(node: ast.expr, names: dict[str, ast.expr]) -> bool:
    """Whether it makes a tensor without elements: ``x.new_empty(0)``, ``torch.empty(0)``, or a name for one."""
    if isinstance(node, ast.Name) and node.id in names:
        node = names[node.id]
    call = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in MAKERS
    return call and bool(node.args) and ast.unparse(node.args[0]) in ("0", "(0,)", "[0]")  # type: ignore[attr-defined]


def _launched(function: CppFunction, kernel: CppFunction) -> list[str]:
    """The arguments of the kernel's launch."""
    launch = re.search(rf"\b{kernel.name}\s*<<<[^;]*?>>>\s*\((?P<all>[^;]*)\)\s*;", function.body)
    return [one.strip() for one in launch["all"].split(",")] if launch else []


def _null(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    seen = next((one for one in finding.evidence.get("seen") or [] if isinstance(one, dict)), {})
    if "null pointer" not in str(seen.get("what", finding.message)) or text.tree is None:
        return
    line = seen.get("line")
    lines = text.code.splitlines()
    code = lines[line - 1] if isinstance(line, int) and 0 < line <= len(lines) else ""
    for python in text.top_functions:
        names = {
            target.id: node.value
            for node in ast.walk(python) if isinstance(node, ast.Assign)
            for target in node.targets if isinstance(target, ast.Name)
        }  # fmt: skip
        for call in (n for n in ast.walk(python) if isinstance(n, ast.Call)):
            name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
            function = text.function(name)
            given = {n for n, arg in zip(function.names, call.args, strict=False) if _empty(arg, names)} if function else set()  # fmt: skip
            for kernel in text.kernels if function and given else ():
                for own, handed in zip(kernel.names, _launched(function, kernel), strict=False):  # type: ignore[arg-type]
                    whose = re.match(r"(\w+)\s*\.\s*(?:const_|mutable_)?data_ptr", handed)
                    if whose and whose[1] in given and re.search(rf"\b{own}\s*\[", code):
                        cause = (
                            f"{own} is a null pointer when {python.name} is called: it hands over a tensor without elements "
                            f"(line {call.lineno}), and this line reads {own} all the same."
                        )
                        yield Fact("null-pointer", int(line), cause,  # type: ignore[arg-type]
                                   f"Read {own} only where there is one: `if ({own}) ...`.")  # fmt: skip
                        return


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = ((_null, OUTSIDE),)
