"""What the CPU back end found, and how a script ended, for the person who wrote it."""

from __future__ import annotations

import linecache
import re
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from grader.backends.extension.request import GENERATED, named
from grader.feedback.explain import explain

if TYPE_CHECKING:
    from grader.protocol.messages import MemoryFinding

Namer = Callable[[str], str]
MAX_FINDINGS = 20
LONGEST_LINE = 160  # characters of code that are shown


def place(file: str, line: int, namer: Namer) -> str:
    """ "mine.py, line 12: the code", as far as it is known."""
    if not file or not line:
        return "a line that the debug information does not name"
    if Path(file).name in GENERATED:
        return named(file, line)
    code = linecache.getline(file, line).strip()
    code = code if len(code) <= LONGEST_LINE else f"{code[:LONGEST_LINE]} ..."
    return f"{namer(file)}, line {line}" + (f": {code}" if code else "")


def is_wrong(found: MemoryFinding) -> bool:
    """Whether it is more than a note: alone, a note makes no program fail."""
    return found.severity != "warning"


def finding(found: MemoryFinding, namer: Namer) -> str:
    """A finding of the memory checks in two or three lines: where, who and what, and how often."""
    who = ""
    kind = found.kind.replace("-", " ")
    if found.block:
        who = f"block {found.block}, thread {found.thread} "
    if found.kernel:
        lines = [f"{kind} at {place(*found.place, namer)}", f"  kernel {found.kernel}: {who}{found.what}"]
        if found.kind == "step-budget":
            lines.append("  SIMT_STEPS=N in the environment changes how many steps a block may take")
    elif found.line:  # of host code
        lines = [f"{kind} at {place(*found.place, namer)}", f"  {found.what}"]
    else:  # of a tensor, not of a launch
        lines = [f"{kind}: {found.what}"]
    if other := found.other:
        lines.append(
            f"  the other: {other.access} by block {other.block}, thread {other.thread}, "
            f"at {place(other.file, other.line, namer)}"
        )
    if (found.count or 1) > 1:
        lines.append(f"  {found.count} times in all; this is the first")
    return "\n".join(lines)


def error_left(error: str | None, detail: str) -> str:
    """What is said of a launch that failed while nobody asked for its error; "" if none did.

    ``detail``: why, which a failed launch alone has: other calls have returned their error.
    """
    if not error or not detail:
        return ""
    return f"CUDA error that nobody asked for: {error}. {detail}"


def findings(found: list[MemoryFinding], launches: int, namer: Namer) -> str:
    """The summary at exit."""
    if not found:
        return f"memory checks: {_launches(launches)}, nothing found" if launches else ""
    troubles = sum(is_wrong(f) for f in found)
    parts = [_number(troubles, "kind"), _number(len(found) - troubles, "note")]
    parts[0] += " of trouble"
    counted = " and ".join(p for p, n in zip(parts, (troubles, len(found) - troubles), strict=True) if n)
    head = f"memory checks: {counted} in {_launches(launches)}"
    first = sorted(found, key=is_wrong, reverse=True)  # what is wrong before the notes
    shown = [finding(f, namer) for f in first[:MAX_FINDINGS]]
    more = [f"... and {len(found) - MAX_FINDINGS} more"] if len(found) > MAX_FINDINGS else []
    return "\n".join([head, *shown, *more])


def trouble(error: BaseException, own: tuple[Path, ...], namer: Namer, *, alone: bool = True) -> str:
    """An exception: the frames in the student's folders (``own``), the error, and what it means if known.

    ``alone``: the memory checks found nothing; what they found says more than any rule.
    """
    ours = (f"{Path(__file__).parents[2]}/", f"{sys.prefix}/")  # they may lie below the student's folder
    frames = [
        f
        for f in traceback.extract_tb(error.__traceback__)
        if any(Path(f.filename).is_relative_to(o) for o in own) and not f.filename.startswith(ours)
    ]
    lines = [f"  {namer(f.filename)}, line {f.lineno}: {f.line}" for f in frames]
    if isinstance(error, SyntaxError):
        code = (error.text or "").strip()
        lines.append(f"  {namer(str(error.filename))}, line {error.lineno}: {code}")
    text = f"{type(error).__name__}: {error}"
    # Of the file that the error names by its lines, if that is one of them; else of the last that was run.
    named = [
        f.filename
        for f in frames
        if re.search(rf"\b{re.escape(Path(f.filename).name)}(?::\d|, line \d)", text)
    ]
    source = _text((named or [f.filename for f in frames])[-1]) if frames else ""
    text = re.sub(r"; did you mean '(?!\w+'\?)[^']*'\?", "", text)  # a name that is not the student's
    plain = explain(text, source) if alone else None
    if plain is None:
        return "\n".join([*lines, text])
    said = re.sub(r"\s*\n.*", "", text, flags=re.S) if len(text) > 400 else text
    where = [f"Where: {plain.where}"] if plain.line else []
    return "\n".join([*lines, said, "", plain.cause, *where, f"What to do: {plain.fix}"])


def _text(file: str) -> str:
    try:
        return Path(file).read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return ""


def _launches(number: int) -> str:
    return f"{number} kernel launch{'' if number == 1 else 'es'}"


def _number(number: int, of: str) -> str:
    return f"{number} {of}{'' if number == 1 else 's'}"
