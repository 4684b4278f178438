"""What the compiler warned of in the student's own lines, of those warnings that explain a wrong result."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

# Nothing is refused for them: right programs have some of these too.
KINDS = (
    "return-type", "comma-subscript", "parentheses", "empty-body", "uninitialized", "div-by-zero",
    "shift-count-overflow", "unused-value", "unused-but-set-variable",
)  # fmt: skip
# clang++'s own names for the same, and more that it has.
CLANG = {
    "deprecated-comma-subscript": "comma-subscript",
    "sometimes-uninitialized": "uninitialized",
    "division-by-zero": "div-by-zero",
    "unused-comparison": "unused-value",
}
MOST = 20
FUNCTION = re.compile(r"^(?P<file>[^\n:]+): In (?:member )?function '(?P<function>.*)':$")
WARNING = re.compile(
    r"^(?P<file>[^\n:]+):(?P<line>\d+):(?:\d+:)? warning: (?P<text>.*) \[-W(?:error=)?(?P<kind>[\w-]+)=?\]$"
)


@dataclass(frozen=True, slots=True)
class Warned:
    """One warning: its kind by g++'s name, its text, the place in the student's file.

    ``function`` is the signature that g++ said it was in, "" if none.
    """

    kind: str
    text: str
    file: str
    line: int
    function: str = ""


def flags(*, clang: bool) -> list[str]:
    """The compiler's flags."""
    if not clang:
        return [f"-W{kind}" for kind in KINDS]
    return ["-Wno-everything", *(f"-W{kind}" for kind in (*KINDS, *CLANG) if kind != "comma-subscript")]


def found(log: str, own_files: set[str]) -> list[Warned]:
    """The warnings of chosen kinds in a compiler's output, each once, in files that are the student's."""
    out: dict[tuple[str, str, int], Warned] = {}
    function = ("", "")
    for line in log.splitlines():
        if match := FUNCTION.match(line):
            function = match["file"], match["function"]
        elif (match := WARNING.match(line)) and match["file"] in own_files:
            kind = CLANG.get(match["kind"], match["kind"])
            if kind not in KINDS:
                continue
            within = function[1] if function[0] == match["file"] else ""
            one = Warned(kind, match["text"], match["file"], int(match["line"]), within)
            out.setdefault((one.kind, one.file, one.line), one)
    return list(out.values())[:MOST]


def keep(every: Iterable[Warned], path: Path) -> None:
    """Write them beside what was compiled."""
    path.write_text(json.dumps([asdict(one) for one in every]), "utf-8")


def kept(path: Path) -> list[Warned]:
    """What :func:`keep` wrote; none where nothing was."""
    return [Warned(**one) for one in json.loads(path.read_text("utf-8"))] if path.exists() else []
