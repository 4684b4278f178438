"""What a submission asks to have compiled: plain data from an untrusted process."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Annotated

from msgspec import Meta, Struct, ValidationError, to_builtins
from msgspec.structs import force_setattr

from grader.domain import typed_data

MOST_TEXT = 1_000_000
MOST_ITEMS = 200
MOST_PIECES = 5_000
MOST_HEADERS, MOST_IN_HEADERS = 2_000, 4_000_000  # files; characters in all of them
IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,199}")
QUALIFIED = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}(?:::[A-Za-z_][A-Za-z0-9_]{0,99}){0,9}")
ENDS_A_NAME = re.compile(r'["\\\x00-\x1f]')  # in a #line of C++
# Where a run of a source's lines begins in it, and the file and line that this is; "" for a file unknown.
LineNumber = Annotated[int, Meta(gt=0, lt=10_000_000)]
Piece = tuple[LineNumber, Annotated[str, Meta(max_length=4096)], LineNumber]
Texts = Annotated[tuple[str, ...], Meta(max_length=MOST_ITEMS)]
Functions = Annotated[dict[str, Annotated[str, Meta(max_length=10_000)]], Meta(max_length=MOST_ITEMS)]
Header = tuple[Annotated[str, Meta(max_length=4096)], Annotated[str, Meta(max_length=MOST_IN_HEADERS)]]
Headers = Annotated[tuple[Header, ...], Meta(max_length=MOST_HEADERS)]
Origins = tuple[Annotated[tuple[Piece, ...], Meta(max_length=MOST_PIECES)], ...]
# What no file of the student's holds: the names that stand for one, and what each is.
GENERATED = {
    "CUDA source": "the CUDA source",
    "C++ source": "the C++ source",
    "bindings": "the bindings that functions=[...] makes",
}
SHARED_FLAG = re.compile(r"-(?:D[A-Za-z_]\w*(?:=.*)?|U[A-Za-z_]\w*|I.+)")


class BuildRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """One ``load_inline`` call.

    ``functions`` maps the C++ functions to bind to their docstrings; None means that the source binds itself.
    The origins are where the lines of each source stand in the student's files, run by run; a source without
    any is unknown. ``headers``: path and text of those that the sources include from folders of their own.
    """

    name: str
    cpp_sources: Texts = ()
    cuda_sources: Texts = ()
    functions: Functions | None = None
    cflags: Texts = ()
    cuda_cflags: Texts = ()
    ldflags: Texts = ()
    cpp_origins: Origins = ()
    cuda_origins: Origins = ()
    headers: Headers = ()

    def __post_init__(self) -> None:
        """ValueError with one sentence, for what a student can get wrong or what no compiler may be given."""
        if not IDENTIFIER.fullmatch(self.name):
            raise ValueError(
                f"the extension's name {self.name!r:.60} is not an identifier; use letters, digits and _"
            )
        if not self.cpp_sources and not self.cuda_sources:
            raise ValueError("there is nothing to compile: both cpp_sources and cuda_sources are empty")
        for name in self.functions or ():
            if not QUALIFIED.fullmatch(name):
                signature = "; write it without brackets and types" if re.search(r"\w\s*\(", name) else ""
                raise ValueError(f"the function name {name!r:.60} is not a C++ name{signature}")
        for key in ("cpp_sources", "cuda_sources", "cflags", "cuda_cflags", "ldflags"):
            texts: tuple[str, ...] = getattr(self, key)
            if sum(map(len, texts)) > MOST_TEXT:
                raise ValueError(f"{key} is longer than {MOST_TEXT} characters")
            if any("\0" in text for text in texts):
                raise ValueError(f"{key} contains a null character")
        if sum(len(text) for _, text in self.headers) > MOST_IN_HEADERS:
            raise ValueError(f"the headers are longer than {MOST_IN_HEADERS:,} characters")
        for path, text in self.headers:
            if (
                not path.startswith("/")
                or ".." in path.split("/")
                or ENDS_A_NAME.search(path)
                or "\0" in text
            ):
                raise ValueError(f"a header cannot be called {path!r:.80}, or contains a null character")
        for key, sources in (("cpp_origins", self.cpp_sources), ("cuda_origins", self.cuda_sources)):
            force_setattr(self, key, _in_order(getattr(self, key), key, len(sources)))

    @staticmethod
    def from_json(obj: object) -> BuildRequest:
        """The request in ``obj``, which is plain data; ``ValueError`` if it has another form."""
        try:
            return typed_data.convert(obj, BuildRequest)
        except ValidationError as error:
            # Which of the lists it is, as a student knows it; sentences of __post_init__ stay as they are.
            wrong = re.match(
                r"Expected .* - at `\$\.(cpp_sources|cuda_sources|cflags|cuda_cflags|ldflags)\b", str(error)
            )
            if wrong:
                raise ValueError(f"{wrong[1]} must be a list of at most {MOST_ITEMS} texts") from error
            raise

    def as_json(self) -> dict[str, object]:
        """What :meth:`from_json` reads. A path may hold bytes that are not UTF-8, which the wire replaces."""
        data: dict[str, object] = to_builtins(self)
        return data


@dataclass(frozen=True, slots=True)
class Built:
    """What building one request took; ``cached`` if it was there, ``headers`` those that it needed.

    ``ordinary``: why the player built it, as torch does. ``steps``: seconds of each tool of a fast build.
    """

    name: str
    seconds: float
    cached: bool
    headers: str
    ordinary: str = ""
    steps: dict[str, float] = field(default_factory=dict)


def _in_order(origins: Origins, key: str, count: int) -> Origins:
    """The same, with names that no ``#line`` can be ended by; ValueError if the pieces are not in order."""
    if len(origins) > count:
        raise ValueError(f"{key} has more entries than there are sources")
    for pieces in origins:
        if any(after[0] <= before[0] for before, after in pairwise(pieces)):
            raise ValueError(f"the pieces in {key} are not in order")
    return tuple(tuple((at, ENDS_A_NAME.sub("_", f), line) for at, f, line in pieces) for pieces in origins)


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


def with_lines(text: str, pieces: tuple[Piece, ...], fallback: str) -> str:
    """The text with a ``#line`` wherever another run of the student's lines begins."""
    parts = placed(text, pieces, fallback)
    return "".join(f'#line {line} "{file}"\n{part}\n' for file, line, part in parts)


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
