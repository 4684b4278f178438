"""A program's own headers, rewritten like its sources, in a folder of the compilation.

The compiler reads nothing of the folders that they came from: what is compiled is what the request says.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from grader.backends.extension.local_headers import folders_of, is_own

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.backends.extension.request import Header

FOLDER = "own_headers"


@dataclass(frozen=True, slots=True)
class OwnHeaders:
    """Each with its path and its text for the compiler."""

    files: tuple[Header, ...] = ()

    @staticmethod
    def rewritten(headers: tuple[Header, ...], rewrite: Callable[[str], str]) -> OwnHeaders:
        """``headers`` by that function, which keeps the number of lines."""
        return OwnHeaders(tuple((path, rewrite(text)) for path, text in headers))

    def put(self, folder: Path, flags: list[str]) -> list[str]:
        """Write them below ``folder``; ``flags`` with each ``-I`` of theirs turned to the copy."""
        below = folder / FOLDER
        for path, text in self.files:
            copy = Path(f"{below}{path}")
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text(f'#line 1 "{path}"\n{text}\n', "utf-8")
        own = {named for named in folders_of(flags) if is_own(named)}
        there = [
            f"-I{below}{flag[2:]}" if flag[2:] in own else flag for flag in flags if flag.startswith("-I")
        ]
        return [*(f for f in flags if not f.startswith("-I")), *there]
