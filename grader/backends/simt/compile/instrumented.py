"""What was compiled shows that it is instrumented: read from the assembler's listing of an object file.

From each kernel on, along its calls: no function reads or writes memory by a pointer without having told the
runtime of an access, none refers to a variable that the host alone has, and what is called outside of the
object is a function of the runtime, of arithmetic, or one that prints or stops.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from grader.backends.simt.compile import own_memory

if TYPE_CHECKING:
    from collections.abc import KeysView
    from pathlib import Path

Line = tuple[str, tuple[str, int]]  # an instruction, and the file and the line that it comes from

LISTED = re.compile(r"^ *\d+(?: [0-9a-f]{4,})?(?: [0-9A-F]+)?[ \t]+(?P<text>\S.*)$")
LABEL = re.compile(r"^([A-Za-z_.$][\w.$]*):")
TYPE = re.compile(r"^\.type\s+([\w.$]+),\s*[@%](?:gnu_indirect_)?function")
VARIABLE = re.compile(
    r"^\.(?:type\s+(?=[\w.$]+,\s*[@%](?:gnu_unique_)?object)|comm\s+|lcomm\s+)(?P<name>[\w.$]+),"
)
LOC = re.compile(r"^\.loc\s+(\d+)\s+(\d+)")
FILE = re.compile(r'^\.file\s+(\d+)\s+"((?:[^"\\]|\\.)*)"')
NAMED = re.compile(r"([A-Za-z_][\w.$]*)(?:\+\d+)?(@GOTPCREL)?\(%rip\)")
# Of our headers, which the preprocessed text cannot add to.
OURS = re.compile(r"_ZZ?N?K?(?:4simt|6nvcuda)|_Z1[1-9]gpuAtomic|_ZZ?1[1-9]gpuAtomic|simt_")
TORCHS = re.compile(r"_ZNK?(?:2at|3c10|5torch|8pybind11|St)\d*")
RUNTIME = re.compile(
    r"simt_\w+|__tsan_\w+|__sanitizer_cov_\w+|__ubsan_\w+|_GLOBAL_OFFSET_TABLE_|__tls_get_addr"
)
LAUNCHES = re.compile(r"simt_launch$|_ZNK?4simt\d+(?:launch|TypedLauncher|DeducingLauncher)")
STD_HEADER, STD_TAKES = "/c++/", "_ZSt9allocator"  # what the standard library takes is no device code's
X87 = re.compile(
    r"f(?:ld|i?st|ild|i?add|i?sub|i?mul|i?div|u?com|xch|chs|abs|sqrt|prem|rndint|scale|2xm1|yl2x|ptan|patan|sin|cos)\w*"
)
# g++ 13 and later write fmod() out with these, between loads and stores of numbers that a GPU has.
REMAINDER = re.compile(r"fprem1?\b")
WITH_REMAINDERS = re.compile(r"fprem1?|f(?:ld|stp)[sl]?|fxch")
WIDER = "a kernel computes with long double here, which a GPU does not have: write double"
UNHEARD = "memory is read or written here without the checks, in code that a kernel calls"
STOPS = re.compile(
    r"memcpy|memmove|memset|memcmp|printf|puts|putchar|vprintf|__printf_chk|__vprintf_chk|abort|__assert_fail|"
    r"__stack_chk_fail|_Unwind_Resume|__gxx_personality_v0|__cxa_\w+|_ZSt\d+__throw_\w+|_ZSt9terminatev|malloc|free|_Zn[wa]m(?:St11align_val_t)?|"
    r"_Zd[la]Pvm?(?:St11align_val_t)?|"
    r"_ZTVN?10__cxxabi\w*|_ZN3c106detail14torchCheckFail\w*|_ZN3c106detail23torchInternalAssertFail\w*|"
    r"__\w+(?:ti|hf|sf|df|di)\d?|__popcountdi2"
)
ARITHMETIC = re.compile(
    r"(?:a?(?:sin|cos|tan)h?(?:pi)?|atan2|exp(?:2|10|m1)?|log(?:2|10|1p|b)?|pow|sqrt|cbrt|hypot|erfc?|[tl]gamma|"
    r"lgamma_r|ceil|floor|trunc|l?l?round|roundeven|l?l?rint|nearbyint|fmod|remainder|remquo|fm?(?:a|in|ax|dim)|ldexp|"
    r"frexp|clock|clock_gettime|modf|scalbl?n|ilogb|copysign|nextafter|nan|sincos|j[01n]|y[01n]|fabs)[fl]?(?:_finite)?|"
    r"__(?:mul|div)[sd]c3"  # products and quotients of complex numbers
)


@dataclass(slots=True)
class Function:
    """A function of the object: what it names, and how it touches memory.

    ``heard``: the runtime was told of an access, before this one in the text. ``again``: the access seems to
    be none of the program's: a number that did not fit is read once more, to be told.
    """

    calls: dict[str, tuple[str, int]] = field(default_factory=dict)  # and from where, first
    names: set[str] = field(default_factory=set)  # of what its address is taken
    loads: set[str] = field(default_factory=set)  # the same, of what may lie in another object
    heard: bool = False
    touched: int = 0  # the line, in the listing's numbers of files, of the first access by a pointer
    file: str = ""
    again: tuple[str, int] | None = None
    refers: dict[str, tuple[str, int]] = field(default_factory=dict)  # to what lies in the object, and where
    wider: tuple[str, int] | None = None  # where it computes in a type that a GPU does not have


class Listing:
    """The functions of a listing, which are read when they are asked for, and the names of its variables."""

    def __init__(self, text: str) -> None:
        self.variables: set[str] = set()
        self.homes: dict[str, str] = {}  # by the functions' names, the files of their first lines
        self._lines: dict[str, list[Line]] = {}
        self._read: dict[str, Function] = {}
        self._split(text)

    @property
    def names(self) -> KeysView[str]:
        """Those of all functions."""
        return self._lines.keys()

    def function(self, name: str) -> Function:
        """What stands in one of them."""
        if name not in self._read:
            self._read[name] = _function(self._lines[name])
        return self._read[name]

    def _split(self, text: str) -> None:
        functions: set[str] = set()
        files: dict[str, str] = {}
        now = ""
        place = ("", 0)
        for raw in text.split("\n"):
            listed = LISTED.match(raw)
            line = (listed["text"] if listed else raw).strip()
            if kind := TYPE.match(line):
                functions.add(kind[1])
            elif variable := VARIABLE.match(line):
                self.variables.add(variable[1])
            elif named := FILE.match(line):
                files[named[1]] = named[2]
            elif loc := LOC.match(line):
                place = (files.get(loc[1], ""), int(loc[2]))
                if now:
                    self.homes[now] = self.homes.get(now) or place[0]
            elif label := LABEL.match(line):
                if label[1] in functions:
                    now = label[1]
                    self._lines.setdefault(now, [])
                elif now:
                    self._lines[now].append((label[0], place))
            elif now and line and line[0] not in ".#":
                self._lines[now].append((line, place))


HEADER = re.compile(r"^/usr/|/include/")
UNNAMED = "_GLOBAL__N_1"
AT_RUN_TIME = re.compile(r"_ZT[IS]|__cxa_(?!guard|atexit|pure)|__dynamic_cast|_Unwind_")
EXCEPTION = "a kernel throws an exception or asks for a type at run time (throw, typeid, dynamic_cast)"


@dataclass(frozen=True, slots=True)
class DeviceCode:
    """What the sources say: names of kernels, and of variables that the host alone has."""

    kernels: tuple[str, ...] = ()
    host_variables: frozenset[str] = frozenset()


def unheard(listing: Path, code: DeviceCode) -> tuple[str, str, int] | None:
    """(sentence, file, line) of the first function that a kernel reaches and that is not instrumented.

    Or that refers to a variable of the host: a constant whose value alone is used leaves no reference.
    """
    text = Listing(listing.read_text("utf-8", errors="replace"))
    roots = set(code.kernels)
    waiting = [
        n for n in text.names if roots & set(_parts(n)) and not OURS.match(n) and not _is_torchs(n, text)
    ]
    waiting = [n for n in waiting if not _is_launcher(n, text, waiting)]
    seen = set(waiting)
    while waiting:
        name = waiting.pop()
        one = text.function(name)
        if one.wider:
            return WIDER, *one.wider
        if one.touched or one.again:
            return UNHEARD, *((one.file, one.touched) if one.touched else one.again or ("", 0))
        for variable, place in one.refers.items():
            parts = [part for part in _parts(variable) if part != UNNAMED]
            if variable in text.variables and parts[-1:] and parts[-1] in code.host_variables:
                return f'identifier "{"::".join(parts)}" is undefined in device code', *place
        for called in sorted({*one.calls, *(one.names & text.names), *(one.loads - text.variables)}):
            if called in text.names:
                if called not in seen and not OURS.match(called):
                    seen.add(called)
                    waiting.append(called)
            elif not any(p.fullmatch(called) for p in (RUNTIME, STOPS, ARITHMETIC)):
                what = EXCEPTION if AT_RUN_TIME.match(called) else f"a kernel calls {_plain(called)}"
                place = one.calls.get(called) or one.refers.get(called) or ("", 0)
                return f"{what}, which is no device code", *(("", 0) if HEADER.search(place[0]) else place)
    return None


def _is_launcher(name: str, text: Listing, alike: list[str]) -> bool:
    """Whether this is the host's, by a kernel's name: it launches, and another of the name does not."""
    alike = [n for n in alike if _plain(n) == _plain(name)]
    launching = {n for n in alike if any(map(LAUNCHES.match, text.function(n).calls))}
    return name in launching and len(launching) < len(alike)


def _is_torchs(name: str, text: Listing) -> bool:
    """Whether this only has a kernel's name: torch has functions called ``call`` and ``run``, too."""
    return bool(TORCHS.match(name)) and "/include/" in text.homes.get(name, "")


def _plain(name: str) -> str:
    """A mangled name as it is written, without what stands in angle and round brackets."""
    return "::".join(_parts(name)) or name


def _parts(name: str) -> list[str]:
    """The names that a mangled one begins with, from the outermost on: of namespaces, and its own.

    One that is not mangled is a name of C; what stands behind a dot is the compiler's, of a copy.
    """
    head = re.match(r"_ZN?[rVKRO]*(St)?", name)
    if not head:
        return [name.split(".")[0]]
    parts, rest = ["std"] if head[1] else [], name[head.end() :]
    while size := re.match(r"L?(\d+)", rest):  # L: of this object alone
        end = size.end() + int(size[1])
        parts.append(rest[size.end() : end])
        rest = rest[end:]
    return parts


def _function(lines: list[Line]) -> Function:
    """What stands in a function's lines."""
    now = Function()
    remainders = any(REMAINDER.match(text) for text, _ in lines)
    beyond: set[int] | None = None  # where addresses come from is looked at only if it matters
    for k, (line, place) in enumerate(lines):
        if LABEL.match(line):
            continue
        word, operands = _parted(line)
        for named in NAMED.finditer(operands) if "(%rip)" in operands else ():
            now.refers.setdefault(named[1], place)
        if X87.fullmatch(word):
            now.wider = now.wider or (
                place if not remainders or not WITH_REMAINDERS.fullmatch(word) else None
            )
        if word in ("call", "ret") or word[0] == "j":
            _leaves(now, operands, place)
        elif word.startswith("lea"):
            if address := NAMED.match(operands.rpartition(",")[0].strip()):
                now.names.add(address[1])
        elif not word.startswith(("nop", "prefetch")):
            if (outer := NAMED.match(operands)) and outer[2]:
                now.loads.add(outer[1])
            if (now.heard or now.touched or now.again) or not own_memory.beyond(operands, frozenset()):
                continue
            if beyond is None:
                beyond = own_memory.accesses_beyond([text for text, _ in lines])
            now.again = place if k in beyond else None
    return now


def _parted(line: str) -> tuple[str, str]:
    """An instruction without its prefix, and its operands."""
    word, _, operands = line.partition(" ")
    if word in ("rep", "repz", "repnz", "lock", "notrack"):
        word, _, operands = operands.partition(" ")
    return word, operands


def _leaves(now: Function, operands: str, place: tuple[str, int]) -> None:
    """A call, a jump or a return."""
    through_a_variable = operands.startswith("*") and "@GOT" not in operands
    name = "" if through_a_variable else operands.lstrip("*").split("@")[0].split("(")[0].split("+")[0]
    if now.again and not name.startswith("__ubsan_handle_") and not now.touched:
        now.file, now.touched = now.again
    now.again = None
    now.heard |= name.startswith("__tsan_")
    if name and name[0] not in ".%0123456789":
        takes = name.startswith("_Zn") and STD_HEADER in place[0]
        now.calls.setdefault(STD_TAKES if takes else name, place)
