"""PyTorch's headers with their inline functions declared only; each is compiled once, into a library.

g++ writes into a precompiled header which templates the functions there use, and makes all of these again in
every file that is compiled against it: half of the time that a small file takes. clang makes them when it
writes the header, and needs none of this.

What is left as it is: templates, what can be called in a kernel (constexpr, C10_HOST_DEVICE), what has no
symbol (static, without a name), and whatever is not certain to be a function.
"""

from __future__ import annotations

import bisect
import functools
import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from grader.backends.simt.compile import build_cache, toolchain
from grader.backends.simt.compile.tokens import CLOSER, OPENER, PATTERN, Token, ends_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# Behind the parameters of a function.
QUALIFIERS = frozenset(("const", "volatile", "&", "&&", "noexcept", "override", "final", "mutable"))
KEPT = re.compile(
    r"\b(?:constexpr|consteval|friend|auto|decltype|requires|extern|asm|typedef|using|return|if|for|while|switch"
    r"|catch|do|else|try)\b|CONSTEXPR|HOST|DEVICE|__host__|__device__|INLINE|ATTRIBUTE"
)
CLASSES = frozenset(("class", "struct", "union"))
NO_NAMES = frozenset(("noexcept", "__attribute__", "alignas", "decltype", "__declspec"))
DIRECTIVE = re.compile(r"#(?:\\\n|/\*.*?\*/|[^\n])*", re.S)
LOCAL_MACRO = re.compile(r"#\s*define\s+(\w+)\([^)]*\)((?:\\\n|[^\n])*)")
FORGOTTEN = re.compile(r"^\s*#\s*undef\s+(\w+)", re.M)
MACRO_CALL = re.compile(r"[A-Z][A-Z0-9_]+")
LINE_END = re.compile(r"\\?\n")

NARROW = "torch_narrow.h"
LISTED = "inline_functions.cpp"
INCLUDED = re.compile(r"^\.+ (.+/((?:ATen|c10)/.+))$", re.M)  # where Debian keeps them, too


@functools.cache
def rules() -> str:
    """Changes with what is made of torch's headers."""
    return build_cache.digest(Path(__file__).read_bytes(), (toolchain.LEAN / NARROW).read_bytes())


def place() -> Path:
    """The folder of the headers, which come before torch's own."""
    found, compiler = toolchain.installed(), toolchain.compiler()
    key = build_cache.digest(found.version, found.folder, compiler.command, compiler.version, rules())
    return build_cache.root() / f"declarations-{key}"


def flags() -> list[str]:
    """What lets the compiler find them; nothing for clang."""
    return [] if toolchain.compiler().is_clang else ["-isystem", str(place())]


def headers() -> Path:
    """The folder, with the headers that the narrow ones come to; made if it is not there."""
    return build_cache.once(place(), _make)


def do_without() -> None:
    """Empty the folder, where the compiler refuses what is in it: then torch's own headers are found."""
    for path in sorted(place().rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()


def compile_functions(out: Path) -> None:
    """An object file with all functions that are declared only, and everything that these need."""
    arguments = [*toolchain.common_flags(), "-g0", "-fvisibility=default", "-fkeep-inline-functions", "-w"]
    toolchain.compile_([*_lean(), *arguments, "-c", str(headers() / LISTED), "-o", str(out)])


def are_used() -> bool:
    """Whether any function is declared only here."""
    return not toolchain.compiler().is_clang and (headers() / LISTED).exists()


def _lean() -> list[str]:
    return ["-DAT_PER_OPERATOR_HEADERS", f"-I{toolchain.LEAN}"]


def _make(folder: Path) -> None:
    folder.mkdir()
    asked = ["-x", "c++", "-H", "-E", str(toolchain.LEAN / NARROW), "-o", "/dev/null"]
    told = toolchain.compile_([*_lean(), *toolchain.common_flags(), *asked])
    changed = list[str]()
    for path, name in sorted(set(INCLUDED.findall(told))):
        if path.startswith(f"{toolchain.HERE.parent}/"):
            continue
        text = Path(path).read_text("utf-8")
        if "#pragma once" in text and (only := declared(text)) != text:
            changed.append(f"#include <{name}>\n")
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(only, "utf-8")
    (folder / LISTED).write_text(f"#include <{NARROW}>\n" + "".join(changed), "utf-8")


class OddText(ValueError):  # noqa: N818 - is always caught here
    """The text cannot be followed."""


class Word(NamedTuple):
    """A token that is neither space nor a line of the preprocessor, and where it stands."""

    kind: str
    text: str
    begin: int
    end: int


class Edit(NamedTuple):
    """A part of the text and what takes its place."""

    begin: int
    end: int
    text: str


def declared(text: str) -> str:
    """A header with declarations in place of its inline functions; ``text`` itself if there are none.

    Lines keep their numbers. The same functions defined outside of their class are left out, for they are
    declared in it. A macro is treated alike if the header forgets it and calls it in no template.
    """
    try:
        edits = _Header(text).edits()
    except OddText:
        return text
    return _edited(text, edits)


def _edited(text: str, edits: Iterable[Edit]) -> str:
    out, done = list[str](), 0
    for edit in sorted(edits):
        out += [text[done : edit.begin], edit.text]
        done = edit.end
    return "".join([*out, text[done:]])


def _words(text: str) -> tuple[list[Word], list[int]]:
    """The words of the text, and where lines of the preprocessor begin."""
    words, directives, at, fresh = list[Word](), list[int](), 0, True
    while at < len(text):
        match = PATTERN.match(text, at)
        assert match is not None  # its last alternative takes any character
        if fresh and match[0] == "#":
            match = DIRECTIVE.match(text, at)
            assert match is not None
            directives.append(at)
        elif match.lastgroup == "space":
            fresh = ends_line(Token("space", match[0]))
        else:
            fresh = False
            for part in [">"] * len(match[0]) if set(match[0]) == {">"} else [match[0]]:
                begin = match.start() + (len(part) if words and part == ">" == words[-1].text else 0)
                words.append(Word(match.lastgroup or "op", part, begin, match.end()))
        at = match.end()
    return words, directives


class _Header:
    """One header, or the replacement of one macro."""

    def __init__(self, text: str, *, macros: bool = True) -> None:
        self.text, self.macros = text, macros
        self.words, self.directives = _words(text)
        self.partners = self._paired()
        self.found = list[Edit]()
        self.templates = list[tuple[int, int]]()  # bodies that are left as they are

    def _paired(self) -> list[int]:
        partners, opened = [-1] * len(self.words), list[int]()
        for i, word in enumerate(self.words):
            if word.text in CLOSER:
                opened.append(i)
            elif word.text in OPENER:
                if not opened or self.words[opened[-1]].text != OPENER[word.text]:
                    raise OddText
                partners[i] = opened.pop()
                partners[partners[i]] = i
        if opened:
            raise OddText
        return partners

    def edits(self) -> list[Edit]:
        """What makes declarations of the functions. Raises OddText."""
        self._scope(0, len(self.words))
        if self.macros:
            self._local_macros()
        return self.found

    def at(self, i: int) -> str:
        """The text of a word, "" where there is none."""
        return self.words[i].text if 0 <= i < len(self.words) else ""

    def _scope(self, i: int, end: int, *, of_class: bool = False) -> None:
        """The declarations of a namespace or a class, from ``i`` to ``end``."""
        while i < end:
            if self.at(i) == ";":
                i += 1
            elif of_class and self.at(i) in ("public", "private", "protected") and self.at(i + 1) == ":":
                i += 2
            else:
                i = self._declaration(i, end, of_class=of_class)

    def _declaration(self, begin: int, end: int, *, of_class: bool) -> int:
        """Where the declaration that begins there ends; what it holds is edited."""
        k, colon, head = self._head(begin, end)
        if k >= end or self.at(k) != "{":
            return k + 1
        close = self.partners[k]
        kinds = CLASSES.intersection(head)
        last = self._parameters(begin, colon if colon >= 0 else k)
        if "template" in head or ("=" in head and "operator" not in head):
            self.templates.append((k, close))
        elif "namespace" in head:
            if head[-1] != "namespace":  # one without a name gives no symbols
                self._scope(k + 1, close)
        elif not head:
            raise OddText
        elif head[0] == "extern" and len(head) == 2:
            self._scope(k + 1, close)
        elif "enum" in head:
            pass
        elif last < 0 or head[0] in kinds:
            if kinds:
                self._scope(k + 1, close, of_class=True)
        elif not self._is_kept(head, begin, last, close, of_class=of_class):
            self._declare(begin, last, colon if colon >= 0 else k, close)
        else:
            self.templates.append((k, close))
        return close + 1

    def _head(self, begin: int, end: int) -> tuple[int, int, list[str]]:
        """Where the ``{`` or ``;`` of a declaration stands, the ``:`` of a constructor's list, or -1, and its
        words outside of brackets."""
        k, head = begin, list[str]()
        while k < end and self.at(k) not in (";", "{"):
            of_constructor = self.at(k) == ":" and self.at(k - 1) in QUALIFIERS | {")"}
            if of_constructor and not CLASSES.intersection(head):
                return self._behind_initialisers(k + 1, end), k, head
            head.append(self.at(k))
            if self.at(k) in ("(", "["):
                k = self.partners[k] + 1
            elif self.at(k) == "template" and self.at(k + 1) == "<":
                k = self._behind_angles(k + 1, end)
            else:
                k += 1
        return k, -1, head

    def _behind_angles(self, i: int, end: int) -> int:
        depth = 0
        while i < end and self.at(i) != ";":
            text = self.at(i)
            depth += (text == "<") + 2 * (text == "<<") - (text == ">")
            if depth == 0:
                return i + 1
            i = self.partners[i] + 1 if text in CLOSER else i + 1
        raise OddText

    def _behind_initialisers(self, i: int, end: int) -> int:
        while True:
            while self.at(i) not in ("(", "{"):
                if i >= end or self.at(i) == ";":
                    raise OddText
                i = self._behind_angles(i, end) if self.at(i) == "<" else i + 1
            i = self.partners[i] + 1
            if self.at(i) == "...":
                i += 1
            if self.at(i) != ",":
                return i
            i += 1

    def _parameters(self, begin: int, stop: int) -> int:
        """The ``(`` of a function's parameters, whose head ends at ``stop``; -1 if it is no function."""
        i = stop - 1
        while i > begin:
            if self.at(i) == ")" and self.at(self.partners[i] - 1) == "noexcept":
                i = self.partners[i] - 1
            elif self.at(i) not in QUALIFIERS:
                break
            i -= 1
        opened = self.partners[i] if self.at(i) == ")" else -1
        return opened if opened > begin and self.at(opened - 1) not in NO_NAMES else -1

    def _is_kept(self, head: list[str], begin: int, opened: int, close: int, *, of_class: bool) -> bool:
        """Whether the function has to stay where it is."""
        if any(KEPT.search(text) for text in head) or (not of_class and "static" in head):
            return True
        calls = (i for i in range(begin, opened - 1) if self.at(i + 1) == "(")
        if any(MACRO_CALL.fullmatch(self.at(i)) for i in calls):
            return True
        first, last = self.words[begin].begin, self.words[close].end
        return bisect.bisect(self.directives, first) != bisect.bisect(self.directives, last)

    def _declare(self, begin: int, opened: int, body: int, close: int) -> None:
        name = next(
            (i for i in range(opened, max(begin, opened - 4) - 1, -1) if self.at(i) == "operator"), -1
        )
        name = name if name >= 0 else opened - 1
        name -= self.at(name - 1) == "~"
        first, last = self.words[begin].begin, self.words[close].end
        if self.at(name - 1) == "::":
            self._replace(first, last, "")
            return
        for i in range(begin, name):
            if self.at(i) == "inline":
                self._replace(self.words[i].begin, self.words[i].end, "")
        self._replace(self.words[body].begin, last, ";")

    def _replace(self, begin: int, end: int, text: str) -> None:
        self.found.append(Edit(begin, end, text + "".join(LINE_END.findall(self.text, begin, end))))

    def _local_macros(self) -> None:
        forgotten = set(FORGOTTEN.findall(self.text))
        in_templates = {self.at(i) for begin, end in self.templates for i in range(begin, end)}
        for match in self._definitions():
            if match[1] not in forgotten - in_templates:
                continue
            try:
                inner = _Header(match[2], macros=False).edits()
            except OddText:
                continue
            at = match.start(2)
            self.found += [Edit(at + edit.begin, at + edit.end, edit.text) for edit in inner]

    def _definitions(self) -> Iterator[re.Match[str]]:
        for at in self.directives:
            if match := LOCAL_MACRO.match(self.text, at):
                yield match
