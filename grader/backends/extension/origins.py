"""Where each line of a C++ or CUDA source stands in the files that it was put together from.

A source that reaches ``load_inline`` is seldom one literal of one file. A host wraps a student's text, lists
are joined, parts are replaced, files beside are read. So literals are aligned with the text line by line,
and what then lies between two lines of one literal belongs to it, too.
"""

from __future__ import annotations

import difflib
import io
import linecache
import re
import sys
import tokenize
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from grader.backends.extension.request import Piece

ENDINGS = (".cu", ".cuh", ".cpp", ".cc", ".h", ".hpp")
MOST_FILES, MOST_BYTES, MOST_ROUNDS = 1000, 2_000_000, 40
MOST_PAIRS = 1_000_000  # of equal lines, one of the text and one of a literal
LONG_LINE = 2000
TELLING = 6  # characters without spaces of a line that says where it is from
ALIKE = 0.6  # of a line's characters, for one in which something was replaced
STRING = re.compile(r"(?P<prefix>[A-Za-z]*)(?P<quote>'''|\"\"\"|'|\")", re.S)
ESCAPE = {"n": "\n", "t": "\t", "\\": "\\", "'": "'", '"': '"'}
Place = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Literal:
    """Lines that stand together in a file: their texts, and the number of each in the file."""

    file: str
    texts: list[str]
    numbers: list[int]


def pieces(text: str, files: Iterable[str]) -> list[Piece]:
    """The runs of ``text`` (line in it, file, line in that file), in order; ("", n) where it is unknown.

    ``files``: the Python files that may hold literals of it, the likeliest first; text files beside them and
    Python files beside them that are imported are looked through as well.
    """
    lines = text.split("\n")
    places: list[Place | None] = [None] * len(lines)
    named = list(dict.fromkeys(files))
    for literals in (_literals(named), _literals(_imported_beside(named)), _texts_beside(named)):
        for literal in _best_first(lines, places, literals):
            for _ in range(MOST_ROUNDS):  # one literal may be in the text several times
                if not _align(lines, places, literal):
                    break
    _between(lines, places)
    out: list[Piece] = []
    for at, place in enumerate(places, 1):
        file, line = place or ("", at)
        if not out or out[-1][1] != file or out[-1][2] + at - out[-1][0] != line:
            out.append((at, file, line))
    return out


def _literals(files: Iterable[str]) -> Iterator[Literal]:
    for file in files:
        source = "".join(linecache.getlines(file))  # a notebook's cell is in no file, but is known there
        name = str(Path(file).resolve())
        yield from list(_strings(name, source)) or [_whole(name, source)]


def _folders(files: Sequence[str]) -> list[Path]:
    return list(dict.fromkeys(p.parent for file in files if (p := Path(file)).is_absolute() and p.is_file()))


def _imported_beside(files: Sequence[str]) -> Iterator[str]:
    folders = {str(folder) for folder in _folders(files)}
    for module in list(sys.modules.values()):  # over a thousand, of which few pass
        path = getattr(module, "__file__", None)
        if isinstance(path, str) and path.rpartition("/")[0] in folders and path not in files:
            yield path


def _texts_beside(files: Sequence[str]) -> Iterator[Literal]:
    for folder in _folders(files):
        for where in (folder, *_inside(folder)):
            for path in _inside(where):
                if path.suffix in ENDINGS and path.is_file() and path.stat().st_size <= MOST_BYTES:
                    yield _whole(str(path.resolve()), path.read_text("utf-8", errors="replace"))


def _inside(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())[:MOST_FILES]
    except OSError:  # no folder, or one that is hidden from a player
        return []


def _whole(file: str, source: str) -> Literal:
    texts = source.split("\n")
    return Literal(file, texts, list(range(1, len(texts) + 1)))


def _strings(file: str, source: str) -> Iterator[Literal]:
    """The string literals of a Python file, with their lines."""
    lines = source.splitlines(keepends=True)
    start: tuple[int, int] | None = None
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            name = tokenize.tok_name[token.type]
            if name == "STRING":
                yield from _string(file, token.string, token.start[0])
            elif name == "FSTRING_START" and start is None:
                start = token.start
            elif name == "FSTRING_END" and start is not None:
                (row, column), (last, end) = start, token.end
                text = "".join(lines[row - 1 : last])
                yield from _string(file, text[column : len(text) - len(lines[last - 1]) + end], row)
                start = None
    except (tokenize.TokenError, SyntaxError, ValueError):
        return  # what follows is no Python


def _string(file: str, literal: str, line: int) -> Iterator[Literal]:
    """One literal as it is in memory, line by line; an f-string's expressions stay as they are written."""
    match = STRING.match(literal)
    if match is None or "b" in match["prefix"].lower():
        return
    body = literal[match.end() : len(literal) - len(match["quote"])]
    raw = "r" in match["prefix"].lower()
    parts, numbers = [list[str]()], [line]  # of each line; put together at the end
    at = 0
    while at < len(body):
        char, after = body[at], body[at + 1 : at + 2]
        at += 1
        if char == "\\" and not raw and after:
            at += 1
            if after == "\n":  # goes on in the next line of the file
                line += 1
                if not parts[-1]:
                    numbers[-1] = line
                continue
            char = ESCAPE.get(after, char + after)
        elif char == "\n":
            line += 1
        if char == "\n":
            parts.append([])
            numbers.append(line)
        else:
            parts[-1].append(char)
    yield Literal(file, ["".join(part) for part in parts], numbers)


def _key(line: str) -> str:
    """What is compared of a line: templates write each brace twice."""
    return line.strip().replace("{{", "{").replace("}}", "}")


def _tells(key: str) -> bool:
    return len(re.sub(r"\s", "", key)) >= TELLING


def _best_first(lines: list[str], places: list[Place | None], literals: Iterable[Literal]) -> list[Literal]:
    """Those with lines of the text that have no place yet, by how many; of equals the earlier."""
    free = (_key(line) for line, place in zip(lines, places, strict=True) if not place)
    if not (wanted := {key for key in free if _tells(key)}):
        return []
    ranked = [(len(wanted & {_key(text) for text in one.texts}), one) for one in literals]
    return [one for count, one in sorted(ranked, key=lambda r: -r[0]) if count]


def _align(lines: list[str], places: list[Place | None], literal: Literal) -> bool:
    """Find lines of the literal among those that have no place yet; whether there were any."""
    free: list[str | None] = [None if p else _key(t) for t, p in zip(lines, places, strict=True)]
    own = [_key(text) for text in literal.texts]
    common = _common(free, own)
    free = [None if key in common else key for key in free]
    matcher = difflib.SequenceMatcher(None, free, own, autojunk=False)
    blocks = [
        (a, b, n) for a, b, n in matcher.get_matching_blocks() if any(_tells(k) for k in own[b : b + n])
    ]
    if not blocks:
        return False

    def put(a: int, b: int) -> None:
        places[a] = literal.file, literal.numbers[b]

    for number, (a, b, n) in enumerate(blocks):
        for k in range(n):
            put(a + k, b + k)
        if number + 1 < len(blocks):
            next_a, next_b, _ = blocks[number + 1]
            gap = next_a - a - n
            if gap == next_b - b - n and not any(places[a + n : next_a]):
                for k in range(gap):  # lines in which something was replaced
                    put(a + n + k, b + n + k)
    for a, b, step in ((blocks[0][0] - 1, blocks[0][1] - 1, -1), (_end(blocks, 0), _end(blocks, 1), 1)):
        while 0 <= a < len(lines) and 0 <= b < len(own) and not places[a] and _alike(lines[a], own[b]):
            put(a, b)
            a, b = a + step, b + step
    return True


def _common(free: list[str | None], own: list[str]) -> set[str]:
    """Lines that stand in a literal so often that to try them all takes too long; their neighbours tell."""
    counts = Counter(own)
    for most in (len(own), 500, 50, 5, 1):
        if sum(counts[key] for key in free if key is not None and counts[key] <= most) <= MOST_PAIRS:
            return {key for key, count in counts.items() if count > most}
    return set(counts)


def _end(blocks: list[tuple[int, int, int]], side: int) -> int:
    return blocks[-1][side] + blocks[-1][2]


def _alike(line: str, own: str) -> bool:
    """Whether the line may be the literal's, with something replaced or with other text joined to it."""
    key = _key(line)
    if _tells(own) and own in key:
        return True
    if max(len(key), len(own)) > LONG_LINE:
        return False
    return difflib.SequenceMatcher(None, key, own, autojunk=False).ratio() >= ALIKE


def _between(lines: list[str], places: list[Place | None]) -> None:
    """Short lines, as closing braces, between neighbours whose lines in one file leave just that room."""
    at = 0
    while at < len(places):
        if places[at] or not at or not (before := places[at - 1]):
            at += 1
            continue
        end = next((i for i in range(at, len(places)) if places[i]), len(places))
        after = places[end] if end < len(places) else None
        fits = after and after[0] == before[0] and after[1] - before[1] == end - at + 1
        for k in range(at, end):
            number = before[1] + k - at + 1
            written = linecache.getline(before[0], number)
            if not fits and (_tells(_key(lines[k])) or not _key(lines[k]) or _key(lines[k]) not in written):
                break
            places[k] = before[0], number
        at = end
