"""Headers that lie beside a source file, put in their places: the compiler does not see that folder."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"[^\n]*$', re.M)
ONCE = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+once[^\n]*$", re.M)
MOST = 4 << 20  # characters in all


def inlined(path: Path, seen: set[Path] | None = None) -> str:
    """The text of a source file with each ``#include "..."`` of a file beside it replaced by that file, once.

    Lines keep their files and numbers. What is not there is left for the compiler to find, or to report.
    """
    seen = set() if seen is None else seen
    text = path.read_text("utf-8", errors="replace")

    def put(found: re.Match[str]) -> str:
        header = (path.parent / found[1]).resolve()
        try:
            if header in seen:
                return ""
            if not header.is_file() or sum(p.stat().st_size for p in {*seen, header}) > MOST:
                return found[0]
            seen.add(header)
            inside = ONCE.sub("", inlined(header, seen))
        except OSError:
            return found[0]
        line = text.count("\n", 0, found.start()) + 2
        return f'#line 1 "{header}"\n{inside}\n#line {line} "{path}"'

    return INCLUDE.sub(put, text)
