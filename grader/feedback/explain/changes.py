"""The differences between a wrong file and a right one, each as a change of its own that can be tried.

A file that is nearly right differs from a right one in names, in layout, and in what makes it wrong. Both are
taken apart into statements, of Python and of the C++ in its strings; statements are aligned, names that the
student chose are matched with the right file's, and what then still differs is a list of changes. Which of them
matters, this module cannot tell: whoever asks tries them. The method is that of Gulwani et al., Automated
Clustering and Program Repair for Introductory Programming Assignments (PLDI 2018), on the text instead of on
traces: there, too, a wrong program is fixed with parts of right ones.
"""

from __future__ import annotations

import keyword
import re
from collections import Counter
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from itertools import groupby, pairwise, zip_longest
from typing import TYPE_CHECKING

from grader.domain import python_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ALIKE = 0.45  # of two statements: below it they have nothing to do with each other
LONGEST = 60  # tokens of a change that one would call a slip
MODULE = re.compile(r"""\bname\s*=\s*("[^"\n]*"|'[^'\n]*')""")
IDENTIFIER = re.compile(r"[A-Za-z_]\w*$")
CPP = re.compile(r"#include|__global__|torch::|at::|std::")
PYTHON = re.compile(
    r"""(?P<triple>(?:[rRbBfFuU]{0,2})(?P<q>\"{3}|'{3}))
  | (?P<string>[rRbBfFuU]{0,2}(?:"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'))
  | (?P<comment>\#[^\n]*) | (?P<newline>\n) | (?P<space>[^\S\n]+|\\\n)
  | (?P<number>\.?\d(?:[eE][+-]|[\w.])*) | (?P<name>[^\W\d]\w*)
  | (?P<op>\*\*=?|//=?|->|:=|[-+*/%&|^<>=!]=|<<|>>|.)""",
    re.X | re.S,
)
CPLUS = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/) | (?P<space>\s+|\\\n)
  | (?P<directive>\#[^\n]*)
  | (?P<string>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+')
  | (?P<number>\.?\d(?:[eEpP][+-]|'?[\w.])*) | (?P<name>[A-Za-z_]\w*)
  | (?P<op><<<|>>>|::|->|\+\+|--|&&|\|\||[-+*/%&|^<>=!]=|<<|.)""",
    re.X | re.S,
)
PYTHON_WORDS = frozenset(keyword.kwlist)
CPP_WORDS = frozenset(
    re.findall(
        r"\w+",
        "break class continue else for if return while auto bool char const constexpr double float int long short "
        "signed unsigned void static struct template typename using namespace sizeof true false nullptr do switch "
        "case default new delete public private",
    )
)


BLOCKS = frozenset(["for", "while", "if", "elif", "else", "with", "def", "class", "try", "except", "finally"])


@dataclass(frozen=True, slots=True)
class Unit:
    """A statement, or what stands up to a brace: its tokens, where they are, and the function it is in.

    ``names`` are the tokens after the student's names were exchanged for the right file's.
    """

    tokens: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]
    line: int
    indent: int
    cpp: bool
    scope: int
    names: tuple[str, ...] = ()

    @property
    def start(self) -> int:
        """Where it begins in the file."""
        return self.spans[0][0]

    @property
    def end(self) -> int:
        """Where it ends in the file."""
        return self.spans[-1][1]


@dataclass(frozen=True, slots=True)
class Change:
    """One change: ``edits`` are (start, end, new text) in the file; ``was`` and ``now`` its words.

    ``line``: the first line that it touches; ``scope``: the function of the student's file that it is in; ``other``: of a move, the line that it goes below. ``kind``: "replace",
    "insert", "delete", "add line", "drop line", "move" or "several". ``size``: tokens that it touches.
    ``pieces``: how many places ``was`` and ``now`` are put together from, places with the same words counted once.
    """

    edits: tuple[tuple[int, int, str], ...]
    line: int
    kind: str
    was: str
    now: str
    size: int
    other: int = 0
    scope: int = 0
    pieces: int = 1

    def apply(self, source: str) -> str:
        """The file with the change."""
        for start, end, text in sorted(self.edits, reverse=True):
            source = source[:start] + text + source[end:]
        return _filled(source) if any(not text for _, _, text in self.edits) else source


def _filled(source: str) -> str:
    """The file with ``pass`` in blocks of Python that have lost their last statement."""
    for _ in range(8):
        try:
            python_text.parse(source)
        except IndentationError as error:
            header = re.search(r"expected an indented block after .* on line (\d+)", error.msg)
            if header is None or not error.lineno:
                return source
            lines = source.split("\n")
            line = lines[int(header[1]) - 1]
            lines.insert(error.lineno - 1, f"{' ' * (len(line) - len(line.lstrip()) + 4)}pass")
            source = "\n".join(lines)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return source
    return source


@dataclass(slots=True)
class _Reader:
    """Collects statements from left to right."""

    source: str
    units: list[Unit] = field(default_factory=list)
    tokens: list[str] = field(default_factory=list)
    spans: list[tuple[int, int]] = field(default_factory=list)
    scope: int = 0
    cpp: bool = False

    def take(self, text: str, start: int, end: int) -> None:
        self.tokens.append(text)
        self.spans.append((start, end))

    def close(self) -> None:
        if self.tokens:
            start = self.spans[0][0]
            line = self.source.count("\n", 0, start) + 1
            indent = start - (self.source.rfind("\n", 0, start) + 1)
            self.units.append(Unit(tuple(self.tokens), tuple(self.spans), line, indent, self.cpp, self.scope))
        self.tokens, self.spans = [], []


def units(source: str) -> list[Unit]:
    """The file's statements, those of Python and those of the C++ in its strings, in the order of the file.

    Made for files that do not parse, too: a bracket that is never closed ends at the next function.
    """
    reader, at, depth = _Reader(source), 0, 0
    while at < len(source):
        match = PYTHON.match(source, at)
        assert match is not None
        kind, text = match.lastgroup or "op", match[0]
        if match["triple"]:
            close = source.find(match["q"], match.end())
            end = close if close >= 0 else len(source)
            body = source[match.end() : end]
            last = min(len(source), end + 3)
            if CPP.search(body) and "{" in body:
                reader.take(match["triple"], at, match.end())
                reader.close()
                _cplus(reader, match.end(), end)
                reader.take(match["q"], end, last)
            elif reader.tokens:
                reader.take(source[at:last], at, last)
            at = last
            continue
        if kind == "newline":
            following = source[match.end() : match.end() + 8]
            if not depth or re.match(r"(?:def|class|@\w|if __na)", following):
                reader.close()
                depth = 0
        elif kind not in ("space", "comment"):
            if not reader.tokens and at - (source.rfind("\n", 0, at) + 1) == 0:
                reader.scope += 1  # a statement at the left edge: a function or class of its own, or none
            if kind == "op":
                depth = max(0, depth + (text in "([{") - (text in ")]}"))
            reader.take(text, at, match.end())
            if text == ":" and not depth and reader.tokens[0] in BLOCKS and "lambda" not in reader.tokens:
                reader.close()  # what follows in the same line is a statement of its own
        at = match.end()
    reader.close()
    return reader.units


def _cplus(reader: _Reader, at: int, end: int) -> None:
    """The C++ between two places of the file."""
    reader.cpp, braces, brackets = True, 0, 0
    outer = reader.scope
    while at < end:
        match = CPLUS.match(reader.source, at, end)
        assert match is not None
        text, kind = match[0], match.lastgroup
        at = match.end()
        if kind in ("space", "comment"):
            continue
        if not reader.tokens and not braces:
            reader.scope += 1
        if kind == "directive":
            reader.close()
            reader.take(text.strip(), match.start(), match.start() + len(text.rstrip()))
            reader.close()
            continue
        reader.take(text, match.start(), match.end())
        if text in ("(", "["):
            brackets += 1
        elif text in (")", "]"):
            brackets = max(0, brackets - 1)
        if text == "{" or text == "}" or (text == ";" and not brackets):
            braces = max(0, braces + (text == "{") - (text == "}"))
            brackets = 0
            reader.close()
    reader.close()
    reader.cpp, reader.scope = False, max(outer, reader.scope) + 1


@dataclass(frozen=True, slots=True)
class Difference:
    """One place where the files differ: ``whole`` takes it away, each of ``parts`` a piece of it.

    ``cpp``: it is in the C++, not in the Python around it.
    """

    whole: Change
    parts: tuple[Change, ...] = ()
    cpp: bool = False


def differences(wrong: str, right: str) -> list[Difference]:
    """Where the files differ, from top to bottom; no two overlap. Empty if they are not alike at all."""
    if (mine := MODULE.search(wrong)) and (other := MODULE.search(right)):  # a module may be called anything
        right = right[: other.start(1)] + mine[1] + right[other.end(1) :]
    ours, theirs = units(wrong), units(right)
    pairs = _aligned(ours, theirs)
    if sum(_alike(ours[i].tokens, theirs[j].tokens) for i, j in pairs) < 0.4 * min(len(ours), len(theirs)):
        return []
    for _ in range(2):  # names are matched better once statements are, and the other way round
        names = _renamed(ours, theirs, pairs)
        ours = [_with_names(unit, names.get(unit.scope, {})) for unit in ours]
        pairs = _aligned(ours, theirs)
    back = {scope: {d: s for s, d in known.items()} for scope, known in names.items()}
    found = [
        *_within(wrong, right, ours, theirs, pairs, back),
        *_around(wrong, right, ours, theirs, pairs, back),
    ]
    local = {name for unit in (*ours, *theirs) for name in _declared(unit)}
    return _grouped(sorted(found, key=lambda d: d.whole.edits), local)


def _grouped(every: list[Difference], local: set[str]) -> list[Difference]:
    """Differences of one function that the same variable binds together, one of which alone does not compile."""
    words = [
        (set(re.findall(r"[A-Za-z_]\w*", d.whole.was)) ^ set(re.findall(r"[A-Za-z_]\w*", d.whole.now)))
        & local
        for d in every
    ]
    group = list(range(len(every)))
    for i in range(len(every)):
        for j in range(i):
            if every[i].whole.scope == every[j].whole.scope and words[i] & words[j]:
                old, new = group[i], group[j]
                group = [new if g == old else g for g in group]
    found = []
    for number in dict.fromkeys(group):
        several = [d for d, g in zip(every, group, strict=True) if g == number]
        if len(several) == 1:
            found += several
            continue
        parts = [part for d in several for part in (d.whole, *d.parts)]
        whole = replace(together([d.whole for d in several]), scope=several[0].whole.scope)
        found.append(Difference(whole, tuple(sorted(parts, key=lambda c: c.size)), several[0].cpp))
    return found


def together(several: Sequence[Change]) -> Change:
    """Several changes as one."""
    first = min((c for c in several if c.kind != "add line"), key=lambda c: c.line, default=several[0])
    edits = tuple(sorted(edit for change in several for edit in change.edits))
    taken = dict.fromkeys(c.was for c in several if c.was and c.kind != "add line")
    put_there = dict.fromkeys(c.now for c in several if c.now)
    was, now, pieces = " ".join(taken), " ".join(put_there), max(len(taken), len(put_there))
    gone = [c for c in several if c.kind == "drop line"]
    put = [c for c in several if c.kind == "add line"]
    if len(several) == 2 and gone and put and _bare(gone[0].was) == _bare(put[0].now):
        return Change(edits, gone[0].line, "move", gone[0].was, put[0].was, 2, put[0].line)
    return Change(edits, first.line, "several", was, now, sum(c.size for c in several), pieces=pieces)


def _bare(text: str) -> str:
    return re.sub(r"\s", "", text)


def _with_names(unit: Unit, known: dict[str, str]) -> Unit:
    names = tuple(known.get(token, token) for token in unit.tokens)
    return Unit(unit.tokens, unit.spans, unit.line, unit.indent, unit.cpp, unit.scope, names)


def _alike(a: Sequence[str], b: Sequence[str]) -> float:
    if a == b:
        return 1.0
    if not a or not b:
        return 0.0
    common = sum((Counter(a) & Counter(b)).values())
    return 2 * common / (len(a) + len(b))


def _aligned(ours: list[Unit], theirs: list[Unit]) -> list[tuple[int, int]]:
    """Pairs of statements that belong together, in both orders; by dynamic programming over all of them."""
    rows, columns = len(ours), len(theirs)
    best = [[0.0] * (columns + 1) for _ in range(rows + 1)]
    worth = [[0.0] * columns for _ in range(rows)]
    for i, one in enumerate(ours):
        mine = one.names or one.tokens
        for j, other in enumerate(theirs):
            same = _alike(mine, other.tokens) if one.cpp == other.cpp else 0.0
            worth[i][j] = same * min(len(mine), 12) if same >= ALIKE else 0.0
    for i in range(rows - 1, -1, -1):
        for j in range(columns - 1, -1, -1):
            take = worth[i][j] + best[i + 1][j + 1] if worth[i][j] else 0.0
            best[i][j] = max(take, best[i + 1][j], best[i][j + 1])
    i = j = 0
    pairs = []
    while i < rows and j < columns:
        if worth[i][j] and best[i][j] == worth[i][j] + best[i + 1][j + 1]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            i += 1
        else:
            j += 1
    return pairs


def _declared(unit: Unit) -> set[str]:
    """The names that a statement gives to something."""
    found = set()
    tokens = ("", *unit.tokens, "")
    words = CPP_WORDS if unit.cpp else PYTHON_WORDS
    for before, token, after in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if not IDENTIFIER.match(token) or token in words or before in (".", "->", "::"):
            continue
        typed = bool(IDENTIFIER.match(before)) and before not in ("return", "in", "if", "else", "not", "and")
        if unit.cpp:
            if (typed or before in ("*", "&", ">", ",")) and after in (
                "=",
                ";",
                ",",
                ")",
                "(",
                "[",
                "{",
                ":",
            ):
                found.add(token)
        elif (
            after in ("=", ":=")
            or before in ("def", "class", "as", "for", "lambda")
            or unit.tokens[:1] == ("def",)
            or (
                unit.tokens[:1] == ("for",) and token in unit.tokens[: unit.tokens.index("in")]
                if "in" in unit.tokens
                else False
            )
            or ("=" in unit.tokens and after == "," and token in unit.tokens[: unit.tokens.index("=")])
        ):
            found.add(token)
    return found


def _renamed(  # noqa: C901 - one vote after another, which share what they count
    ours: list[Unit], theirs: list[Unit], pairs: list[tuple[int, int]]
) -> dict[int, dict[str, str]]:
    """By function: which of the student's own names stands for which of the right file's."""
    votes: dict[int, Counter[tuple[str, str]]] = {}
    mine: dict[int, set[str]] = {}
    vocabulary: dict[int, set[str]] = {}
    scopes: dict[int, set[int]] = {}
    for i, j in pairs:
        one, other = ours[i], theirs[j]
        scopes.setdefault(one.scope, set()).add(other.scope)
        words = CPP_WORDS if one.cpp else PYTHON_WORDS
        matcher = SequenceMatcher(None, one.tokens, other.tokens, autojunk=False)
        for tag, i1, i2, j1, j2 in matcher.get_opcodes():
            if tag == "replace" and i2 - i1 == j2 - j1:
                for a, b in zip(one.tokens[i1:i2], other.tokens[j1:j2], strict=True):
                    if IDENTIFIER.match(a) and IDENTIFIER.match(b) and not {a, b} & words:
                        votes.setdefault(one.scope, Counter())[a, b] += 1
    for unit in ours:
        mine.setdefault(unit.scope, set()).update(_declared(unit))
    declared = set().union(*mine.values()) if mine else set()
    for unit in theirs:
        vocabulary.setdefault(unit.scope, set()).update(unit.tokens)
    own = {scope: {t for u in ours if u.scope == scope for t in u.tokens} for scope in mine}
    known: dict[int, dict[str, str]] = {}
    everywhere: dict[str, str] = {}
    for scope, counted in votes.items():
        known_words = set().union(*(vocabulary.get(s, set()) for s in scopes.get(scope, ())))
        chosen = known.setdefault(scope, {})
        for (a, b), _ in counted.most_common():
            if a in chosen or b in chosen.values() or a in known_words or b in own.get(scope, ()):
                continue
            if a in declared:
                chosen[a] = b
                if a not in mine.get(scope, ()):
                    everywhere[a] = b
                else:
                    everywhere.setdefault(a, b)
    for scope in own:  # functions and constants keep their names from function to function
        chosen = known.setdefault(scope, {})
        for a, b in everywhere.items():
            if a in own[scope] and a not in chosen and b not in chosen.values() and b not in own[scope]:
                chosen[a] = b
    return known


def _text(right: str, unit: Unit, first: int, last: int, back: dict[str, str]) -> str:
    """Tokens of the right file as they stand there, with the student's names."""
    parts, at = [], unit.spans[first][0]
    for token, (start, end) in zip(unit.tokens[first:last], unit.spans[first:last], strict=True):
        gap = right[at:start]
        parts.append(re.sub(r"(?:#|//)[^\n]*", "", gap) if gap.strip() else gap)
        parts.append(back.get(token, token))
        at = end
    return "".join(parts)


def _within(
    wrong: str, right: str, ours: list[Unit], theirs: list[Unit], pairs: list[tuple[int, int]],
    back: dict[int, dict[str, str]],
) -> Iterator[Difference]:  # fmt: skip
    """Statements that differ, and what differs in them."""
    for i, j in pairs:
        one, other = ours[i], theirs[j]
        line = wrong.rfind("\n", 0, one.start) + 1
        moved = not one.cpp and one.indent != other.indent and not wrong[line : one.start].strip()
        if one.names == other.tokens and not moved:
            continue
        known = back.get(one.scope, {})
        if moved:
            was = " ".join(wrong[one.start : one.end].split())
            text = wrong[one.start : one.end]
            if one.names != other.tokens:
                text = _text(right, other, 0, len(other.tokens), known)
            kind = "indent" if one.names == other.tokens else "replace"
            edit = (line, one.end, " " * other.indent + text)
            yield Difference(
                Change((edit,), one.line, kind, was, " ".join(text.split()), 1, other.indent, one.scope)
            )
            continue
        parts = [
            _part(wrong, right, one, other, code, known)
            for code in SequenceMatcher(None, one.names, other.tokens, autojunk=False).get_opcodes()
            if code[0] != "equal"
        ]
        now = _text(right, other, 0, len(other.tokens), known)
        was = " ".join(wrong[one.start : one.end].split())
        size = sum(part.size for part in parts) + 1
        whole = Change(
            ((one.start, one.end, now),),
            parts[0].line,
            "replace",
            was,
            " ".join(now.split()),
            size,
            0,
            one.scope,
        )
        yield (
            Difference(whole, tuple(parts), one.cpp) if len(parts) > 1 else Difference(parts[0], (), one.cpp)
        )


def _behind(token: str) -> str:
    """The form of what stands right behind a token: a sign that ends it, and the brackets of a call."""
    return r"[,;)\]}]+|\([^()]*\)" if IDENTIFIER.fullmatch(token) else r"[,;)\]}]+"


def _part(
    wrong: str,
    right: str,
    one: Unit,
    other: Unit,
    code: tuple[str, int, int, int, int],
    known: dict[str, str],
) -> Change:
    """One difference inside a statement."""
    tag, i1, i2, j1, j2 = code
    owner = one.names[max(0, i1 - 2) : i1]
    if (
        tag == "replace"
        and len(owner) == 2
        and owner[1] in (".", "->")
        and other.tokens[max(0, j1 - 2) : j1] == owner
    ):
        i1, j1 = i1 - 2, j1 - 2  # a member is told with what it belongs to
    now = _text(right, other, j1, j2, known) if j2 > j1 else ""
    if i2 > i1:
        start, end = one.spans[i1][0], one.spans[i2 - 1][1]
        new = now
    elif i1 and re.fullmatch(_behind(one.tokens[i1 - 1]), now):
        start = end = one.spans[i1 - 1][1]
        new = now
    elif 0 < i1 < len(one.spans) and re.match(
        r"[-+*/%&|<>=]+\s", now
    ):  # an operator, spaced as in the right file
        start = end = one.spans[i1 - 1][1]
        new = f" {now}" if one.tokens[i1][0] in ",;)]}" else f" {now} "
    elif i1 < len(one.spans):
        start = end = one.spans[i1][0]
        tight = start == one.spans[i1 - 1][1] if i1 else False
        new = (
            now
            if (tight or now.endswith((".", "->")))
            and not (IDENTIFIER.match(now[-1:]) and IDENTIFIER.match(one.tokens[i1][:1]))
            else f"{now} "
        )
    else:
        start = end = one.end
        new = now if now[:1] in ")]}([.;:," else f" {now}"
    was = " ".join(wrong[start:end].split())
    line = wrong.count("\n", 0, start) + 1
    size = max(i2 - i1, j2 - j1)
    return Change(((start, end, new),), line, tag, was, " ".join(now.split()), size, 0, one.scope)


def _around(
    wrong: str, right: str, ours: list[Unit], theirs: list[Unit], pairs: list[tuple[int, int]],
    back: dict[int, dict[str, str]],
) -> Iterator[Difference]:  # fmt: skip
    """Statements that one of the files has alone."""
    ends = [(-1, -1), *pairs, (len(ours), len(theirs))]
    for (i, j), (i2, j2) in pairwise(ends):
        mine = _runs(ours, range(i + 1, i2))
        their = _runs(theirs, range(j + 1, j2))
        nothing: list[int] = []
        for gone_run, put_run in zip_longest(mine, their, fillvalue=nothing):
            yield from _gap(wrong, right, ours, theirs, gone_run, put_run, i, back)


def _runs(units_: list[Unit], numbers: range) -> list[list[int]]:
    """The numbers, those of each function by themselves."""
    return [list(run) for _, run in groupby(numbers, key=lambda k: (units_[k].scope, units_[k].cpp))]


def _gap(  # noqa: PLR0913 - both files, and where in each
    wrong: str, right: str, ours: list[Unit], theirs: list[Unit], mine: list[int], their: list[int], before: int,
    back: dict[int, dict[str, str]],
) -> Iterator[Difference]:  # fmt: skip
    """What stands between two statements that both files have: ``mine`` in the one, ``their`` in the other."""
    gone = _dropped(wrong, ours, mine) if mine else None
    parts = tuple(_dropped(wrong, ours, [k]) for k in mine) if 1 < len(mine) <= 4 else ()
    if gone and their:
        put = _text_of(right, theirs, their, back.get(ours[mine[0]].scope, {}))
        start, end, _ = gone.edits[0]
        line = wrong.rfind("\n", 0, start) + 1
        if not theirs[their[0]].cpp and not wrong[line:start].strip():
            start, put = line, f"{' ' * theirs[their[0]].indent}{put}"
        size = gone.size + sum(len(theirs[k].tokens) for k in their)
        now = " ".join(put.split())
        whole = Change(((start, end, put),), gone.line, "replace", gone.was, now, size, 0, gone.scope)
        yield Difference(whole, (gone, *parts), ours[mine[0]].cpp)
    elif gone:
        yield Difference(gone, parts, ours[mine[0]].cpp)
    elif their and before >= 0:
        known = back.get(ours[before].scope, {})
        whole = _added(wrong, right, ours[before], theirs, their, known)
        less = (
            tuple(_added(wrong, right, ours[before], theirs, [k], known) for k in their)
            if 1 < len(their) <= 4
            else ()
        )
        yield Difference(whole, less, theirs[their[0]].cpp)


def _dropped(wrong: str, ours: list[Unit], run: list[int]) -> Change:
    first, last = ours[run[0]], ours[run[-1]]
    size = sum(len(ours[k].tokens) for k in run)
    was = " ".join(wrong[first.start : last.end].split())
    return Change(((first.start, last.end, ""),), first.line, "drop line", was, "", size, 0, first.scope)


def _text_of(right: str, theirs: list[Unit], run: list[int], known: dict[str, str]) -> str:
    parts: list[str] = []
    for k in run:
        unit = theirs[k]
        gap = right[theirs[k - 1].end : unit.start] if parts else ""
        parts.append(
            gap if not re.search(r"#|//|/\*", gap) else "\n" + " " * unit.indent if not unit.cpp else " "
        )
        parts.append(_text(right, unit, 0, len(unit.tokens), known))
    return "".join(parts)


def _added(
    wrong: str, right: str, before: Unit, theirs: list[Unit], run: list[int], known: dict[str, str]
) -> Change:
    """The right file's statements ``run``, put below the student's statement ``before``."""
    text = _text_of(right, theirs, run, known)
    size = sum(len(theirs[k].tokens) for k in run)
    unit = theirs[run[0]]
    if unit.cpp:
        at, new = before.end, f" {text}"
    else:
        at = wrong.find("\n", before.end)
        at = at if at >= 0 else len(wrong)
        new = f"\n{' ' * unit.indent}{text}"
    return Change(((at, at, new),), before.line, "add line", " ".join(wrong[before.start : before.end].split()),
                  " ".join(text.split()), size, 0, before.scope)  # fmt: skip
