"""What a submission asks to have compiled: plain data from an untrusted process."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

MOST_TEXT = 4_000_000
MOST_ITEMS = 200
MOST_PIECES = 5_000
IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,199}")
QUALIFIED = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}(?:::[A-Za-z_][A-Za-z0-9_]{0,99}){0,9}")
ENDS_A_NAME = re.compile(r'["\\\x00-\x1f]')  # in a #line of C++
# Where a run of a source's lines begins in it, and the file and line that this is; "" for a file unknown.
Piece = tuple[int, str, int]
# What no file of the student's holds: the names that stand for one, and what each is.
GENERATED = {
    "CUDA source": "the CUDA source",
    "C++ source": "the C++ source",
    "bindings": "the bindings that functions=[...] makes",
}
SHARED_FLAG = re.compile(r"-(?:D[A-Za-z_]\w*(?:=.*)?|U[A-Za-z_]\w*|I.+)")


@dataclass(frozen=True)
class BuildRequest:
    """One ``load_inline`` call.

    ``functions`` maps the C++ functions to bind to their docstrings; None means that the source binds itself.
    The origins are where the lines of each source stand in the student's files, run by run; a source without
    any is unknown.
    """

    name: str
    cpp_sources: tuple[str, ...]
    cuda_sources: tuple[str, ...]
    functions: dict[str, str] | None
    cflags: tuple[str, ...] = ()
    cuda_cflags: tuple[str, ...] = ()
    cpp_origins: tuple[tuple[Piece, ...], ...] = ()
    cuda_origins: tuple[tuple[Piece, ...], ...] = ()

    @staticmethod
    def from_json(obj: Mapping[str, object]) -> BuildRequest:
        """The request in ``obj``; ``ValueError`` with one sentence if it is none."""
        if not isinstance(obj, dict):
            raise ValueError("a build request must be an object")
        unknown = set(obj) - set(BuildRequest.__dataclass_fields__)
        if unknown:
            raise ValueError(f"a build request has no field {min(map(str, unknown))!r:.60}")
        name = obj.get("name")
        if not isinstance(name, str) or not IDENTIFIER.fullmatch(name):
            raise ValueError(
                f"the extension's name {name!r:.60} is not an identifier; use letters, digits and _"
            )
        cpp, cuda = _texts(obj, "cpp_sources"), _texts(obj, "cuda_sources")
        if not cpp and not cuda:
            raise ValueError("there is nothing to compile: both cpp_sources and cuda_sources are empty")
        return BuildRequest(
            name, cpp, cuda, _functions(obj.get("functions")), _texts(obj, "cflags"),
            _texts(obj, "cuda_cflags"),
            _origins(obj, "cpp_origins", len(cpp)), _origins(obj, "cuda_origins", len(cuda)),
        )  # fmt: skip


def _texts(obj: Mapping[str, object], key: str) -> tuple[str, ...]:
    value = obj.get(key, ())
    if not isinstance(value, list | tuple) or len(value) > MOST_ITEMS:
        raise ValueError(f"{key} must be a list of strings")
    texts = [item for item in value if isinstance(item, str)]
    if len(texts) != len(value):
        raise ValueError(f"{key} must be a list of strings")
    if sum(map(len, texts)) > MOST_TEXT:
        raise ValueError(f"{key} is longer than {MOST_TEXT} characters")
    if any("\0" in text for text in texts):
        raise ValueError(f"{key} contains a null character")
    return tuple(texts)


def _functions(value: object) -> dict[str, str] | None:
    if value is None:
        return None
    if not isinstance(value, dict) or len(value) > MOST_ITEMS:
        raise ValueError("functions must map names to docstrings")
    for name, doc in value.items():
        if not isinstance(name, str) or not QUALIFIED.fullmatch(name):
            raise ValueError(
                f"the function name {name!r:.60} is not a C++ name; write it without brackets and types"
            )
        if not isinstance(doc, str) or len(doc) > 10_000:
            raise ValueError(f"the docstring of {name} must be a string")
    return dict(value)


def _origins(obj: Mapping[str, object], key: str, count: int) -> tuple[tuple[Piece, ...], ...]:
    value = obj.get(key, ())
    if not isinstance(value, list | tuple) or len(value) > count:
        raise ValueError(f"{key} must be a list of lists of pieces, at most one for each source")
    return tuple(_pieces(item, key) for item in value)


def _pieces(value: object, key: str) -> tuple[Piece, ...]:
    if not isinstance(value, list | tuple) or len(value) > MOST_PIECES:
        raise ValueError(f"{key} must be a list of lists of pieces, at most one for each source")
    pieces: list[Piece] = []
    for item in value:
        if not isinstance(item, list | tuple) or len(item) != 3:
            raise ValueError(f"a piece in {key} must be (line in the source, file, line in the file)")
        at, file, line = item
        if not isinstance(file, str) or len(file) > 4096:
            raise ValueError(f"a file in {key} is not a path")
        if not all(isinstance(n, int) and not isinstance(n, bool) and 0 < n < 10_000_000 for n in (at, line)):
            raise ValueError(f"a line in {key} is not a line number")
        if pieces and at <= pieces[-1][0]:
            raise ValueError(f"the pieces in {key} are not in order")
        pieces.append((at, ENDS_A_NAME.sub("_", file), line))  # any file may have such a name
    return tuple(pieces)


def placed(text: str, pieces: tuple[Piece, ...], fallback: str) -> list[tuple[str, int, str]]:
    """The parts of ``text``, each with its file and first line, for a ``#line`` before each.

    ``fallback`` is the name of what is in no file; its lines are those of the whole text. No part begins
    within a statement of the preprocessor that goes on in the next line.
    """
    lines = text.split("\n")
    begins = list(pieces) if pieces and pieces[0][0] == 1 else [(1, "", 1), *pieces]
    parts: list[tuple[str, int, str]] = []
    for number, (at, file, line) in enumerate(begins):
        end = begins[number + 1][0] if number + 1 < len(begins) else len(lines) + 1
        first, last = _complete(lines, at), _complete(lines, end)
        if first < last:
            part = "\n".join(lines[first - 1 : last - 1])
            parts.append((file or fallback, (line if file else at) + first - at, part))
    return parts


def _complete(lines: list[str], at: int) -> int:
    """The first line from ``at`` on (1-based) before which no line is continued."""
    while 1 < at <= len(lines) and lines[at - 2].endswith("\\"):
        at += 1
    return at


def named(file: str, line: int) -> str:
    """A place in a student's source in words, "" where it is not known.

    What is in no file of theirs is called by its line of the source as it was compiled.
    """
    name = file.rsplit("/", 1)[-1]
    if not line or not name:
        return ""
    if name in GENERATED:
        return f"line {line} of {GENERATED[name]}"
    return f"{name}, line {line}"


def usable_flags(flags: tuple[str, ...]) -> list[str]:
    """Of the flags for nvcc or the host compiler, the ones that mean the same to any C++ compiler."""
    joined: list[str] = []
    waiting = ""
    for flag in flags:  # "-D", "X" is "-DX"
        if waiting:
            joined.append(waiting + flag)
            waiting = ""
        elif flag in ("-D", "-U", "-I"):
            waiting = flag
        else:
            joined.append(flag)
    return [flag for flag in joined if SHARED_FLAG.fullmatch(flag)]
