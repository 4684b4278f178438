"""The headers of a program that lie in its own folders: their text is a part of what is to be compiled.

A back end that knows them can rewrite them like the sources, and compiles again when one of them changes.
"""

from __future__ import annotations

import importlib.util
import os
import re
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING

from grader.backends.extension.request import MOST_HEADERS, MOST_IN_HEADERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include(?:_next)?[ \t]*(?P<open>["<])(?P<name>[^">\n]+)[">]', re.M)
COMPUTED = re.compile(r"^[ \t]*#[ \t]*include[ \t]+[A-Za-z_]", re.M)  # #include NAME_OF_A_MACRO
SUFFIXES = {".h", ".hh", ".hpp", ".hxx", ".cuh", ".cu", ".inl", ".inc", ".def", ".ipp", ".tpp"}
FLAG = re.compile(r"-I(.+)")


def collected(sources: Sequence[tuple[Path | None, str]], folders: Sequence[str]) -> list[tuple[str, str]]:
    """(path, text) of each header that the sources or their headers include, compiled or not.

    Args:
        sources: The file that each source is, None for a text that is in none, and its text.
        folders: Where headers are looked for, in this order, as ``-I`` has them. Those of Python, PyTorch,
            CUDA and the system are left to the compiler.

    Raises:
        ValueError: They are more than :data:`MOST_HEADERS`, or :data:`MOST_IN_HEADERS` characters.
    """
    own = [folder for folder in map(os.path.abspath, folders) if is_own(folder)]
    found: dict[str, str] = {}
    waiting = [(path.parent if path else None, text) for path, text in sources]
    while waiting:
        beside, text = waiting.pop()
        names = [(Path(m["name"]), m["open"] == '"') for m in INCLUDE.finditer(text)]
        if COMPUTED.search(text):
            names += [(path, False) for folder in own for path in _headers_below(Path(folder))]
        for name, quoted in names:
            places = [beside, *map(Path, own)] if quoted and beside else map(Path, own)
            path = next(
                (p for place in places if (p := Path(os.path.normpath(place / name))).is_file()), None
            )
            if path is None or str(path) in found:
                continue
            found[str(path)] = inside = path.read_text("utf-8", errors="replace")
            if len(found) > MOST_HEADERS or sum(map(len, found.values())) > MOST_IN_HEADERS:
                raise ValueError(
                    f"the sources include over {MOST_HEADERS:,} headers or {MOST_IN_HEADERS:,} characters "
                    f"of headers from {', '.join(own)}; that is more than can be compiled here"
                )
            waiting.append((path.parent, inside))
    return sorted(found.items())


def folders_of(flags: Iterable[str]) -> list[str]:
    """Those that ``-I`` names."""
    return [match[1] for flag in flags if (match := FLAG.fullmatch(flag))]


def is_own(folder: str) -> bool:
    """Whether headers there are a program's own, and not those of the system, CUDA, Python or PyTorch."""
    torch = importlib.util.find_spec("torch")
    theirs = ["/usr", "/opt", sysconfig.get_paths()["include"], sysconfig.get_paths()["platlib"]]
    theirs += [
        os.environ[name] for name in ("CUDA_HOME", "CUDA_PATH", "CUTLASS_PATH") if os.environ.get(name)
    ]
    theirs += list(torch.submodule_search_locations or ()) if torch else []
    path = Path(folder).resolve()
    return not any(path.is_relative_to(Path(place).resolve()) for place in theirs)


def _headers_below(folder: Path) -> list[Path]:
    """All of them, where an include names a macro; their number is bounded by the reader."""
    found = (path.relative_to(folder) for path in folder.rglob("*") if path.suffix in SUFFIXES)
    return [path for path, _ in zip(found, range(MOST_HEADERS + 1), strict=False)]
