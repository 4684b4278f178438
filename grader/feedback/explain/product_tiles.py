"""Facts about the tiles of a matrix product, two of them in shared memory; see ``facts.py``."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.domain.verdict import Finding, Status
from grader.feedback.explain.source_text import OUTSIDE, WRONG, CppFunction, Fact, Finder, SubmissionText
from grader.feedback.explain.together import PADDED, around

if TYPE_CHECKING:
    from collections.abc import Iterator

INDICES = r"\s*\[(?P<first>[^][]+)\]\s*\[(?P<second>[^][]+)\]"
READ = r"\b(?P<x>\w+)\s*\[(?P<row>[^][]*)\*\s*(?P<n>[A-Za-z_]\w*)\s*\+(?P<k>[^][*]+)\]"
ATOM = re.compile(r"[A-Za-z_]\w*(?:\.[xyz]\b)?")


@dataclass(frozen=True, slots=True)
class Tile:
    """``name[first][second] = x[row * n + k]`` at ``at`` of the kernel's body; ``asked``: all that it stands under."""

    name: str
    first: str
    second: str
    x: str
    row: str
    n: str
    k: str
    at: int
    asked: str

    @property
    def read(self) -> str:
        """The element that is copied."""
        row = self.row if self.row.isidentifier() else f"({self.row})"
        return f"{self.x}[{row} * {self.n} + {self.k.strip()}]"


def _made(kernel: CppFunction) -> dict[str, str]:
    """What each variable is made of, where it is set once."""
    made: dict[str, str] = {}
    twice = set()
    for match in re.finditer(r"(?<![\w.*\]])(?P<v>[A-Za-z_]\w*)\s*=(?!=)\s*(?P<e>[^;,]*)", kernel.body):
        twice |= {match["v"]} & made.keys()
        made.setdefault(match["v"], match["e"])
    return {v: e for v, e in made.items() if v not in twice}


def _atoms(expression: str, made: dict[str, str], stop: frozenset[str] = frozenset()) -> set[str]:
    """The names that an expression comes from in the end, ``threadIdx.x`` among them; those of ``stop`` as they are."""
    found, seen, todo = set[str](), set[str](), [expression]
    while todo:
        for name in set(ATOM.findall(todo.pop())) - seen:
            seen.add(name)
            own = made.get(name, "")
            if name in stop or not own:
                found.add(name)
            else:
                todo.append(own)
    return found


def _tiles(kernel: CppFunction) -> list[Tile]:
    """Shared arrays of two dimensions that are filled with elements of a matrix."""
    tiles = []
    for declared in re.finditer(r"__shared__\s+\w+\s+([^;]*);", kernel.body):
        for name in re.findall(r"(\w+)\s*\[[^][]*\]\s*\[", declared[1]):
            for fill in re.finditer(rf"\b{name}{INDICES}\s*=(?!=)\s*(?P<v>[^;]*);", kernel.body):
                read = re.search(READ, re.sub(r"\bmin\s*\((.*?),[^],]*\)\s*\]", r"\1]", fill["v"]))
                if read:
                    start = max(kernel.body.rfind(sign, 0, fill.start()) for sign in ";{}") + 1
                    heads = " ".join(head[1] for head in around(kernel.body, fill.start()) if head[0] == "if")
                    asked = f"{kernel.body[start : fill.start()]} {fill['v'].partition('?')[0] if '?' in fill['v'] else ''} {heads}"
                    first, second = fill["first"].strip(), fill["second"].strip()
                    tiles.append(Tile(name, first, second, read["x"], read["row"].strip(" ()"), read["n"], read["k"], fill.start(), asked))  # fmt: skip
    return tiles


def _uses(kernel: CppFunction, tile: Tile) -> list[re.Match[str]]:
    form = re.compile(rf"\b{tile.name}{INDICES}(?!\s*=(?!=))")
    return list(form.finditer(kernel.body))


def _row_of_another(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``tile[threadIdx.y][threadIdx.x] = weight[row * n + k]`` where the row is made of ``threadIdx.x``."""
    for kernel in text.kernels:
        made = _made(kernel)
        for tile in _tiles(kernel):
            own, other = _atoms(tile.first, made), _atoms(tile.second, made)
            row = _atoms(tile.row, made)
            (y, x) = (own & {"threadIdx.x", "threadIdx.y"}), (other & {"threadIdx.x", "threadIdx.y"})
            if len(y) == len(x) == 1 and y != x and x <= row & _atoms(tile.k, made) and not y & row:
                (right,), (wrong,) = y, x
                cause = (
                    f"Row {tile.first} of {tile.name} is filled from row `{tile.row}` of {tile.x}, which is made of {wrong}, "
                    f"not of {right}: all rows of the tile get the same numbers, and each number is of another row of {tile.x}."
                )
                yield Fact("row-of-another", text.line(kernel.start + tile.at), cause,
                           f"Row {right} of the tile is row {right} of the block's rows of {tile.x}: the thread that copies a "
                           "number need not be the one that uses it.")  # fmt: skip


def _turned_use(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """``tile_w[k][threadIdx.x]`` where k runs along the sum, of a tile that has the sum's index second."""
    for kernel in text.kernels:
        made = _made(kernel)
        along = []
        for tile in _tiles(kernel):
            names = frozenset(ATOM.findall(f"{tile.first} {tile.second}"))
            rows, columns = (_atoms(one, made, names) for one in (tile.row, tile.k))
            first, second = set(ATOM.findall(tile.first)), set(ATOM.findall(tile.second))
            if first <= rows and second <= columns and not first & columns:
                along.append(tile)
        if len(along) != 2:
            continue
        for tile, other in (along, along[::-1]):
            sums = {use["second"].strip() for use in _uses(kernel, other)}
            for use in _uses(kernel, tile):
                k = use["first"].strip()
                if k in sums and k.isidentifier() and use["second"].strip() != k:
                    line = text.line(kernel.start + tile.at)
                    cause = (
                        f"`{use[0]}` takes {k} for the row of {tile.name}. Line {line} puts a row of {tile.x} into a row of {tile.name}: "
                        "the sum's index comes second."
                    )
                    yield Fact("tile-turned", text.line(kernel.start + use.start()), cause,
                               f"Swap the two: `{tile.name}[{use['second'].strip()}][{k}]`.")  # fmt: skip


def _other_axis(text: SubmissionText, _finding: Finding) -> Iterator[Fact]:
    """Both factors of a product chosen by the same number of the thread."""
    for kernel in text.kernels:
        made, tiles = _made(kernel), _tiles(kernel)
        used: dict[str, tuple[str, str, re.Match[str]]] = {}
        for tile in tiles:
            block = {a[-1] for a in _atoms(tile.row, made) if a.startswith("blockIdx.")}
            for use in _uses(kernel, tile):
                thread = {a[-1] for a in _atoms(use["first"], made) if a.startswith("threadIdx.")}
                if len(block) == len(thread) == 1:
                    used[tile.name] = (block.pop(), thread.pop(), use)
                    break
        if len(used) != 2 or len(tiles) != 2:
            continue
        (a, one, _), (b, two, _) = used.values()
        if a == b or one != two:
            continue
        for name, (block_axis, axis, use) in used.items():
            if block_axis != axis:
                line = text.line(kernel.start + next(t.at for t in tiles if t.name == name))
                cause = (
                    f"`{use[0]}` chooses its row by threadIdx.{axis}, as the other factor does. The rows of {name} (line {line}) are "
                    f"those that blockIdx.{block_axis} chooses."
                )
                yield Fact("other-axis", text.line(kernel.start + use.start()), cause,
                           f"Within the block threadIdx.{block_axis} chooses among them.")  # fmt: skip


def _beyond_the_sum(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """A copy into a tile that does not ask whether the sum has ended."""
    if PADDED.search(text.source):
        return
    lines = [one.get("line") for one in finding.evidence.get("seen") or [] if isinstance(one, dict)][:1]
    for kernel in text.kernels:
        made = _made(kernel)
        tiles = _tiles(kernel)
        asks = [_asks(tile, kernel, made) for tile in tiles]
        for tile, asked in zip(tiles, asks, strict=True):
            line = text.line(kernel.start + tile.at)
            if asked is not False or (finding.status in OUTSIDE and line not in lines):
                continue
            k, end = tile.k.strip(), tile.n
            if finding.status in OUTSIDE:
                cause = (
                    f"`{tile.read}` is copied without asking for `{k} < {end}`. Where {end} is no multiple of the tile's depth, "
                    f"the last step goes beyond the sum: into the next row, and in the last row past the end of {tile.x}."
                )
                others = [
                    text.line(kernel.start + t.at) for t, a in zip(tiles, asks, strict=True) if a is False
                ]
                cause += "".join(f" Line {other} does the same." for other in others if other != line)
            elif any(asks):
                cause = (
                    f"Beyond the end of the sum {tile.name} is not 0 here: nothing asks for `{k} < {end}`. The other tile is 0 there, "
                    "and 0 times infinity, or NaN, is NaN."
                )
            else:
                continue
            yield Fact("beyond-the-sum", line, cause, f"Write 0 into the tile unless `{k} < {end}`, in both tiles.")  # fmt: skip


def _asks(tile: Tile, kernel: CppFunction, made: dict[str, str]) -> bool | None:
    """Whether the copy asks for the end of the sum; None where that hangs on a value that the text does not show."""
    asked = tile.asked
    for name in re.findall(r"\bbool\s+(\w+)", kernel.body):
        if re.search(rf"\b{name}\b", asked):
            asked += " " + made.get(name, "")
            if not re.search(r"[<>]", made.get(name, "")):
                return None
    compared = re.compile(rf"[<>]=?\s*{tile.n}\b(?!\s*[*])|(?<![*\w])\s{tile.n}\s*[<>]")
    if compared.search(asked):
        return True
    rest = re.sub(rf"\bfor\s*\([^;]*;[^;]*;|\b\w+{INDICES}\s*=(?!=)[^;]*;", "", kernel.body)
    for flag in re.findall(r"\bbool\s+\w+\s*=[^;]*;", rest):
        name = re.findall(r"\w+", flag)[1]
        if len(re.findall(rf"\b{name}\b", rest)) == 1:  # asked for by another copy, or by none
            rest = rest.replace(flag, "")
    return None if compared.search(rest) else False


def _constants(code: str) -> dict[str, str]:
    """Whole numbers with a name, and products of them: ``constexpr int SIDE = 16, TILE = 4 * SIDE;``."""
    known: dict[str, str] = {}
    for declared in re.finditer(r"\b(?:constexpr|const)\s+\w+\s+([^;()]*);", code):
        for name, value in re.findall(r"(\w+)\s*=\s*([^,=]+)", declared[1]):
            factors = [known.get(one.strip(), one.strip()) for one in value.split("*")]
            if all(one.isdigit() for one in factors):
                known[name] = str(math.prod(map(int, factors)))
    return known


def _grid_of_another_tile(text: SubmissionText, finding: Finding) -> Iterator[Fact]:
    """``blockIdx.x * 64`` in the kernel, and a grid with a block for each 16."""
    if finding.status is Status.FAILED and "sectors" not in str(finding.evidence.get("metric")):
        return
    known = _constants(text.code)
    grid = re.compile(r"\bgrid\w*\s*[({][^;]*?/\s*(?P<x>\w+)\s*,[^;]*?/\s*(?P<y>\w+)\s*[)}]+\s*;")
    for kernel in text.kernels:
        edges = {m[1]: m for m in re.finditer(r"\bblockIdx\.([xy])\)?\s*\*\s*(\w+)(?=\s*[,;])", kernel.body)}
        for function in text.host:
            match = grid.search(function.body) if kernel.name in function.body and len(edges) == 2 else None
            if match is None:
                continue
            for axis, edge in edges.items():
                of, by = (known.get(str(one), str(one)) for one in (edge[2], match[axis]))
                if of.isdigit() and by.isdigit() and of != by:
                    line = text.line(kernel.start + edge.start())
                    what = "columns" if axis == "x" else "rows"
                    cause = f"A block makes {of} {what} of the result (line {line}), and this grid has a block for each {by}."
                    yield Fact("grid-of-another-tile", text.line(function.start + match.start()), cause,
                               f"Let the grid count the tiles: divide by {edge[2]}, rounded up, in both directions.")  # fmt: skip
                    return


FACTS: tuple[tuple[Finder, frozenset[Status]], ...] = (
    (_grid_of_another_tile, WRONG | {Status.FAILED}),
    (_beyond_the_sum, OUTSIDE | {Status.NOT_FINITE}),
    (_row_of_another, WRONG),
    (_turned_use, WRONG),
    (_other_axis, WRONG),
)
