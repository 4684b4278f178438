"""What was compiled shows that it is instrumented: read from the assembler's listing of an object file.

From each kernel on, along its calls: no function reads or writes memory by a pointer without having told the
runtime of an access, and what is called outside of the object is a function of the runtime, of arithmetic, or
one that prints or stops.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

LISTED = re.compile(r"^ *\d+(?: [0-9a-f]{4,})?(?: [0-9A-F]+)?[ \t]+(?P<text>\S.*)$")
LABEL = re.compile(r"^([A-Za-z_.$][\w.$]*):")
TYPE = re.compile(r"^\.type\s+([\w.$]+),\s*[@%](?:gnu_indirect_)?function")
VARIABLE = re.compile(r"^\.type\s+([\w.$]+),\s*[@%](?:gnu_unique_)?object")
LOC = re.compile(r"^\.loc\s+(\d+)\s+(\d+)")
FILE = re.compile(r'^\.file\s+(\d+)\s+"((?:[^"\\]|\\.)*)"')
NAMED = re.compile(r"([A-Za-z_][\w.$]*)(?:\+\d+)?(@GOTPCREL)?\(%rip\)")
OPERAND = re.compile(r"(?<![\w%])(%fs:)?([\w.$+*-]*)\((%\w+)?(?:,(%\w+)(?:,\d)?)?\)")
SAFE_BASES = {"%rsp", "%rip"}
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

    calls: set[str] = field(default_factory=set)
    names: set[str] = field(default_factory=set)  # of what its address is taken
    loads: set[str] = field(default_factory=set)  # the same, of what may lie in another object
    heard: bool = False
    touched: int = 0  # the line, in the listing's numbers of files, of the first access by a pointer
    file: str = ""
    again: tuple[str, int] | None = None
    wider: tuple[str, int] | None = None  # where it computes in a type that a GPU does not have
    home: str = ""  # the file of its first line


def unheard(listing: Path, kernels: list[str]) -> tuple[str, str, int] | None:
    """(sentence, file, line) of the first function that a kernel reaches and that is not instrumented."""
    functions, variables = _functions(listing.read_text("utf-8", errors="replace"))
    roots = set(kernels)
    waiting = [
        n
        for n, f in functions.items()
        if roots & set(_parts(n)) and not OURS.match(n) and not _is_torchs(n, f)
    ]
    waiting = [n for n in waiting if not _is_launcher(n, functions, waiting)]
    seen = set(waiting)
    while waiting:
        name = waiting.pop()
        one = functions[name]
        if one.wider:
            return WIDER, *one.wider
        if one.touched or one.again:
            return UNHEARD, *((one.file, one.touched) if one.touched else one.again or ("", 0))
        for called in sorted(one.calls | (one.names & functions.keys()) | (one.loads - variables)):
            if called in functions:
                if called not in seen and not OURS.match(called):
                    seen.add(called)
                    waiting.append(called)
            elif not any(p.fullmatch(called) for p in (RUNTIME, STOPS, ARITHMETIC)):
                return f"a kernel calls {_plain(called)}, which is no device code", one.file, one.touched
    return None


def _is_launcher(name: str, functions: dict[str, Function], alike: list[str]) -> bool:
    """Whether this is the host's, by a kernel's name: it launches, and another of the name does not."""
    launching = {n for n in alike if any(map(LAUNCHES.match, functions[n].calls))}
    return name in launching and any(_plain(n) == _plain(name) for n in alike if n not in launching)


def _is_torchs(name: str, function: Function) -> bool:
    """Whether this only has a kernel's name: torch has functions called ``call`` and ``run``, too."""
    return bool(TORCHS.match(name)) and "/include/" in function.home


def _plain(name: str) -> str:
    """A mangled name as it is written, without what stands in angle and round brackets."""
    return "::".join(_parts(name)) or name


def _parts(name: str) -> list[str]:
    """The names that a mangled one begins with, from the outermost on: of namespaces, and its own."""
    head = re.match(r"_ZN?[rVKRO]*(St)?", name)
    parts, rest = (["std"] if head and head[1] else []), name[head.end() :] if head else ""
    while size := re.match(r"L?(\d+)", rest):  # L: of this object alone
        end = size.end() + int(size[1])
        parts.append(rest[size.end() : end])
        rest = rest[end:]
    return parts


def _functions(text: str) -> tuple[dict[str, Function], set[str]]:
    """The functions of a listing, and the names of its variables."""
    found: dict[str, Function] = {}
    kinds: set[str] = set()
    variables: set[str] = set()
    files: dict[str, str] = {}
    now: Function | None = None
    safe: set[str] = set()
    place = ("", 0)
    for raw in text.split("\n"):
        listed = LISTED.match(raw)
        line = (listed["text"] if listed else raw).strip()
        if kind := TYPE.match(line):
            kinds.add(kind[1])
        elif variable := VARIABLE.match(line):
            variables.add(variable[1])
        elif named := FILE.match(line):
            files[named[1]] = named[2]
        elif loc := LOC.match(line):
            place = (files.get(loc[1], ""), int(loc[2]))
            if now:
                now.home = now.home or place[0]
        elif label := LABEL.match(line):
            if label[1] in kinds:
                now, safe = found.setdefault(label[1], Function()), set()
        elif now and line and line[0] not in ".#":
            if X87.fullmatch(line.split(None, 1)[0]):
                now.wider = now.wider or place
            _instruction(now, line, safe, place)
    return found, variables


def _instruction(now: Function, line: str, safe: set[str], place: tuple[str, int]) -> None:
    word, _, operands = line.partition(" ")
    if word in ("rep", "repz", "repnz", "lock", "notrack"):
        word, _, operands = operands.partition(" ")
    if word in ("call", "ret") or word[0] == "j":
        through_a_variable = operands.startswith("*") and "@GOT" not in operands
        name = "" if through_a_variable else operands.lstrip("*").split("@")[0].split("(")[0].split("+")[0]
        if now.again and not name.startswith("__ubsan_handle_") and not now.touched:
            now.file, now.touched = now.again
        now.again = None
        now.heard |= name.startswith("__tsan_")
        if name and name[0] not in ".%0123456789":
            now.calls.add(STD_TAKES if name.startswith("_Zn") and STD_HEADER in place[0] else name)
        return
    if word.startswith(("nop", "prefetch")):
        return
    if word.startswith("lea"):
        source, _, target = operands.rpartition(",")
        if address := NAMED.match(source.strip()):
            now.names.add(address[1])
        base = OPERAND.search(source)
        good = bool(base) and (base[3] in SAFE_BASES or base[3] in safe)  # type: ignore[index]
        (safe.add if good else safe.discard)(target.strip())
        return
    if (outer := NAMED.match(operands)) and outer[2]:
        now.loads.add(outer[1])
    for fs, _, base, other in OPERAND.findall(operands):
        outside = bool(base) and base not in SAFE_BASES and base not in safe and other not in SAFE_BASES
        if not fs and outside and not now.heard and not now.touched:
            now.again = now.again or place
    target = operands.rsplit(",", 1)[-1].strip()
    if target.startswith("%"):
        source = operands.split(",")[0].strip()
        kept = word.startswith(("add", "sub", "cmp", "test")) or (
            word.startswith("mov") and (source in safe or source in SAFE_BASES)
        )
        (safe.add if kept and (target in safe or word.startswith("mov")) else safe.discard)(target)
