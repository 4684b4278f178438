"""Errors in a log with their places: g++, clang++, nvcc, linkers, and Python's tracebacks."""

from __future__ import annotations

import re
from dataclasses import dataclass

from grader.backends.extension.request import GENERATED

MAX_LINES = 3000
MAX_ERROR_LINES = 120  # lines of an exception's text
COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
COMPILERS = (
    re.compile(
        r"^(?P<file>[^\s:][^:]*):(?P<line>\d+)(?::\d+)?: (?:fatal )?error: (?P<text>.*)$"
    ),  # g++, clang++
    re.compile(
        r"^(?P<file>[^\s(][^(]*)\((?P<line>\d+)\): (?:catastrophic )?error(?: #\S+)?: (?P<text>.*)$"
    ),  # nvcc
    re.compile(r"^At end of source: error: (?P<text>.*)$"),
    re.compile(r"^(?:nvcc fatal|ptxas (?:error|fatal)|nvlink error)\s*: (?P<text>.*)$"),
    re.compile(r"^(?:(?:fatal )?error|catastrophic error): (?P<text>.*)$"),
    # The CPU back end says the same in plain words, with the name as it was written.
    re.compile(r"^(?!.*is declared and never defined).*?(?P<text>undefined (?:reference to|symbol:) .*)$"),
)
EXCEPTION = re.compile(
    r"^(?P<type>(?:[A-Za-z_]\w*\.)*[A-Za-z_]*(?:Error|Exception|Interrupt|Exit)): (?P<text>.*)$"
)
# The CPU back end and a verdict's findings say the essence before the compiler's own words.
SUMMARY = re.compile(r"(?P<file>[\w./\\-]+\.\w+)(?:, line |:)(?P<line>\d+): (?P<text>.+)$")
FRAME = re.compile(r'^\s*File "(?P<file>[^"]+)", line (?P<line>\d+)')
GENERATED_FILES = {"cuda.cu", "main.cpp", *GENERATED}  # the first two are torch's
FOREIGN = re.compile(r"(?:^|/)(?:include|site-packages|lib/python[\d.]+|grader)/|^<|^/usr/")


@dataclass(frozen=True, slots=True)
class Error:
    """One error as a tool said it. ``code``: the line of source that the tool printed with it, if it did."""

    text: str
    file: str = ""
    line: int = 0
    code: str = ""

    @property
    def own(self) -> bool:
        """Whether the place is the student's, not a header of a library."""
        return bool(self.file) and not FOREIGN.search(self.file)

    @property
    def subject(self) -> str:
        """What rules look at: the text, then file and code."""
        return f"{self.text} @{self.file.rsplit('/', 1)[-1]}: {self.code}"


def lines_of(log: str) -> list[str]:
    """The log without colours, cut to a size that is read in no time."""
    return [line[:2000].rstrip() for line in COLOUR.sub("", log).splitlines()[:MAX_LINES]]


def compiler_errors(lines: list[str]) -> list[Error]:
    """Errors of compilers and linkers, in order."""
    found = []
    for at, line in enumerate(lines):
        for pattern in COMPILERS:
            if match := pattern.match(line):
                groups = match.groupdict()
                file, number = groups.get("file") or "", int(groups.get("line") or 0)
                found.append(Error(match["text"], file, number, _printed(lines, at)))
                break
    return found


def _printed(lines: list[str], at: int) -> str:
    """The source that follows an error: g++ numbers it, nvcc indents it above a caret."""
    for line in lines[at + 1 : at + 3]:
        if numbered := re.match(r"^\s*\d+ \|(.*)$", line):
            return numbered[1].strip()
    for i in range(at + 2, min(at + 6, len(lines))):  # notes may stand between
        if lines[i].strip() == "^" and lines[i - 1].startswith("  "):
            return lines[i - 1].strip()
        if not lines[i].startswith(" "):
            break
    return ""


def exception(lines: list[str]) -> Error | None:
    """The exception that a Python traceback ends with, at the innermost frame that is the student's."""
    ends = [(i, m) for i, line in enumerate(lines) if (m := EXCEPTION.match(line))]
    if not ends:
        return None
    at, match = ends[-1]
    frames = [m for line in lines[:at] if (m := FRAME.match(line)) and not FOREIGN.search(m["file"])]
    text = "\n".join([match["text"], *lines[at + 1 : at + MAX_ERROR_LINES]])
    if not frames:
        return Error(text)
    index = max(i for i, line in enumerate(lines[:at]) if FRAME.match(line) and frames[-1].string == line)
    code = lines[index + 1].strip() if index + 1 < at else ""
    return Error(text, frames[-1]["file"], int(frames[-1]["line"]), code)


def summaries(lines: list[str]) -> list[Error]:
    """Lines of the form ``file:27: text`` or ``file, line 27: text`` that are no compiler's."""
    found = []
    for line in lines[:60]:
        if any(p.match(line) for p in COMPILERS) or FRAME.match(line):
            continue
        if match := SUMMARY.search(line):
            found.append(Error(match["text"], match["file"], int(match["line"])))
    return found
