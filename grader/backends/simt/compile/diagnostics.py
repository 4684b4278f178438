"""A compiler's output for the person who wrote the source."""

from __future__ import annotations

import re
from dataclasses import dataclass

from grader.backends.simt.compile import toolchain

LOG_LINES = 100
ERROR = re.compile(r"^(?P<file>[^\n:]+):(?P<line>\d+):(?:\d+:)? (?:fatal )?error: (?P<text>.*)$")
PLACE = re.compile(r"^(?:In file included from |\s+from )?(?P<file>[^\n:]+):(?P<line>\d+)[:,]")
LAUNCH = re.compile(
    r"no match for call to '\((?:const )?simt::TypedLauncher<(?P<want>.*)>\) \((?P<got>.*)\)'"
)
FROM = re.compile(r"\s+from ")
OURS = re.compile(
    rf"(?:In file included from |\s+from )?(?:{re.escape(str(toolchain.HERE))}/|[^\n:]*/\.making-)[^\n]*"
)
OUR_NAME = re.compile(r"[\s|]*simt::[\w:]+\s*")  # what the compiler takes for meant
STATIC = re.compile(r"static assertion failed(?: due to requirement '.*')?: ")
HIDDEN = (
    (
        re.compile(
            r"::simt::(?:launcher|child)\(SIMT_NAME\((?P<k>[^()]*)\), ::simt::Config\((?P<c>.*?)\), .*?\)\("
        ),
        r"\g<k><<<\g<c>>>>(",
    ),
    (re.compile(r"\bsimt::(?:Typed|Deducing)(?:Launcher|Child)<[^\n]*?>"), "kernel launch"),
    (re.compile(r"\(\(const simt::Builtins\*\)\(& ?simt_builtins\)\)->simt::Builtins::(\w+)"), r"\1"),
    (re.compile(r"\bsimt_syncthreads\([^()]*\)"), "__syncthreads()"),
    (re.compile(r"\bsimt_syncthreads_vote\([^()]*\)"), "__syncthreads_count/and/or(int)"),
    (re.compile(r"\bsimt_builtins\.thread\b"), "threadIdx"),
    (re.compile(r"\bsimt_builtins\.block\b"), "blockIdx"),
)


class CompileError(Exception):
    """The source did not compile.

    ``log`` is the compiler's output, shortened; ``first`` the first real error; ``file`` and ``line`` are
    where it is in the student's file (``""`` and 0 if that cannot be said).
    """

    def __init__(self, log: str, first: str, file: str = "", line: int = 0) -> None:
        super().__init__(first)
        self.log, self.first, self.file, self.line = log, first, file, line


@dataclass(frozen=True, slots=True)
class _Error:
    at: int
    file: str
    line: int
    text: str


def only_changes_meaning(log: str) -> bool:
    """Whether g++ refuses only what nvcc and clang allow: a class gives a name another meaning."""
    errors = [m["text"] for line in log.splitlines() if (m := ERROR.match(line))]
    return bool(errors) and all("changes meaning of" in text for text in errors)


def explain(log: str, own_files: set[str]) -> CompileError:
    """The error in ``log``. ``own_files``: names that ``#line`` gave to the student's sources."""
    lines = log.splitlines()
    errors = [
        _Error(i, m["file"], int(m["line"]), m["text"])
        for i, line in enumerate(lines)
        if (m := ERROR.match(line))
    ]
    if not errors:
        text = next((line for line in lines if "undefined reference" in line), lines[0] if lines else "")
        return CompileError(_shorten(lines, 0), _plain(text))
    first = next((e for e in errors if e.file in own_files), errors[0])
    file, line = (first.file, first.line) if first.file in own_files else _nearest(lines, first.at, own_files)
    start = max(0, first.at - 6)
    return CompileError(_shorten(lines, start), _plain(first.text), file, line)


def _nearest(lines: list[str], at: int, own_files: set[str]) -> tuple[str, int]:
    """The place in the student's source that led to an error in a header: just before it, or just after."""
    for i in [*range(at, max(-1, at - 40), -1), *range(at + 1, min(len(lines), at + 40))]:
        match = PLACE.match(lines[i])
        if match and match["file"] in own_files:
            return match["file"], int(match["line"])
    return "", 0


def _plain(text: str) -> str:
    if match := LAUNCH.search(text):
        return f"the kernel takes ({match['want']}) but is launched with ({match['got']})"
    for pattern, replacement in HIDDEN:
        text = pattern.sub(replacement, text)
    return STATIC.sub("", text).strip().removeprefix("#error ").strip('"')


def _shorten(lines: list[str], start: int) -> str:
    told = _without_our_notes(lines[start:])
    kept = [_plain_line(line) for line in told[:LOG_LINES]]
    left = len(told) - LOG_LINES
    if left > 0:
        kept.append(f"... {left} more lines")
    return "\n".join(kept)


def _without_our_notes(lines: list[str]) -> list[str]:
    """``lines`` without notes about our own headers and the ways to these, and without names from them."""
    kept, skips = list[str](), False
    for line in lines:
        if not line.startswith(" ") or FROM.match(line):
            note = OURS.match(line)
            skips = note is not None and not ERROR.match(line)
        if not skips and not OUR_NAME.fullmatch(line):
            kept.append(line)
    return kept


def _plain_line(line: str) -> str:
    for pattern, replacement in HIDDEN:
        line = pattern.sub(replacement, line)
    return line
