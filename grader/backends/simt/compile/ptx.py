"""Inline PTX as plain C++: each instruction becomes a call of what include/simt/ptx.h has for it.

``asm volatile("add.s32 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b));`` becomes a statement expression with a
variable for each operand and register. What an instruction means is in the PTX ISA, below its name; one that
is not known here, or a modifier that would change its result, is refused by name.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from grader.backends.simt.compile.tokens import Token, Tokens, closing, following, joined
from grader.domain import python_text

ASM = frozenset(("asm", "__asm", "__asm__"))
TYPES = {
    "u8": "uint8_t", "u16": "uint16_t", "u32": "uint32_t", "u64": "uint64_t",
    "s8": "int8_t", "s16": "int16_t",
    "s32": "int32_t", "s64": "int64_t",
    "b8": "uint8_t", "b16": "uint16_t", "b32": "uint32_t", "b64": "uint64_t", "f32": "float", "f64": "double",
    "f16": "::simt::ptx::f16", "bf16": "::simt::ptx::bf16", "f16x2": "::simt::ptx::f16x2",
    "bf16x2": "::simt::ptx::bf16x2", "pred": "bool",
}  # fmt: skip
BYTES = {"8": 1, "16": 2, "32": 4, "64": 8}
SPECIAL = {
    "laneid": "simt_lane()", "warpid": "(::simt::ptx::thread_number() / 32)", "clock": "(unsigned)clock64()",
    "clock64": "clock64()", "globaltimer": "clock64()", "smid": "0u", "nsmid": "132u",
    "lanemask_lt": "((1u << simt_lane()) - 1)", "lanemask_eq": "(1u << simt_lane())",
    "lanemask_le": "(~0u >> (31 - simt_lane()))", "lanemask_gt": "(~1u << simt_lane())",
    "lanemask_ge": "(~0u << simt_lane())",
}  # fmt: skip
BUILT_IN = {"tid": "threadIdx", "ntid": "blockDim", "ctaid": "blockIdx", "nctaid": "gridDim"}
BUILT_IN |= {
    "cluster_ctaid": "__clusterRelativeBlockIdx()", "cluster_nctaid": "__clusterDim()",
    "clusterid": "__clusterIdx()", "nclusterid": "__clusterGridDimInClusters()",
}  # fmt: skip
SPECIAL |= {"cluster_ctarank": "__clusterRelativeBlockRank()", "cluster_nctarank": "__clusterSizeInBlocks()"}
SPECIAL |= {f"{name}.{axis}": f"{of}.{axis}" for name, of in BUILT_IN.items() for axis in "xyz"}
LABEL = re.compile(r"[A-Za-z_$%][\w$]*")
REGISTERS = "/* .reg "  # begins a statement that declares some for all of its function
DECLARED = re.compile(r"\.reg\s*\.(\w+)\s+(.+)", re.S)
COMPARISONS = "eq ne lt le gt ge equ neu ltu leu gtu geu num nan".split()  # noqa: SIM905
UNSIGNED = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}
# Modifiers that change nothing where blocks run one after another: orders and scopes of memory, and caches.
ORDERS = frozenset(
    "relaxed acquire release acq_rel sc weak volatile cta gpu sys cluster ca cg cs lu cv wb wt nc".split()  # noqa: SIM905
)
ATOMS = {
    "add": "atomicAdd", "min": "atomicMin", "max": "atomicMax", "and": "atomicAnd", "or": "atomicOr",
    "xor": "atomicXor", "exch": "atomicExch", "inc": "atomicInc", "dec": "atomicDec", "cas": "atomicCAS",
}  # fmt: skip
ATOMIC_TYPES = {
    "u32": "unsigned", "b32": "unsigned", "s32": "int", "u64": "unsigned long long",
    "b64": "unsigned long long", "s64": "long long", "f32": "float", "f64": "double",
}  # fmt: skip
PAIRS = {(4, 2): "uint2", (4, 4): "uint4", (8, 2): "ulonglong2", (2, 2): "ushort2", (2, 4): "ushort4"}
PAIRS |= {(1, 2): "uchar2", (1, 4): "uchar4"}


LONGEST, MOST_TOKENS = 20_000, 1500  # characters and tokens of one statement


class UnknownError(Exception):
    """An instruction, or a form of one, that cannot be run here; its text is its name."""


@dataclass(slots=True)
class Assembly:
    """An ``asm`` statement: its text, and its operands as (constraint, C++ expression), outputs first."""

    text: str
    outputs: list[tuple[str, str]]
    inputs: list[tuple[str, str]]
    names: set[str] = field(default_factory=set)  # of registers that it declares
    predicates: set[str] = field(default_factory=set)
    labels: set[str] = field(default_factory=set)
    jumps: set[str] = field(default_factory=set)
    _numbered: dict[str, list[int]] | None = None  # words of the text that end in digits

    def cpp(self) -> str:
        """The statement as C++, in one line."""
        operands = [*self.outputs, *self.inputs]
        body = [self._statement(s) for s in _statements(self.text)]
        head = []
        for number, (constraint, value) in enumerate(operands):
            taken = number >= len(self.outputs) or constraint.startswith("+")
            kind = constraint.lstrip("=+")
            start = f"::simt::ptx::pack<'{kind}'>({value})" if taken else "0"
            head.append(f"::simt::ptx::reg simt_o{number} = {start};")
        head += [f"::simt::ptx::reg simt_r_{name} = 0;" for name in sorted(self.names)]
        head += [f"bool simt_p_{name} = false;" for name in sorted(self.predicates)]
        tail = [
            f"::simt::ptx::unpack<'{constraint.lstrip('=+')}'>({value}, simt_o{n});"
            for n, (constraint, value) in enumerate(self.outputs)
        ]
        if self.jumps - self.labels:
            raise UnknownError("bra")
        if self.labels:
            head.insert(0, f"__label__ {', '.join(sorted(self.labels))};")
        return f"({{ {' '.join([*head, *filter(None, body), *tail])} }})"

    def _used(self, prefix: str, count: int) -> list[str]:
        """Of the registers prefix0, prefix1 and so on those that the text names."""
        if self._numbered is None:
            self._numbered = {}
            for word in set(re.findall(r"[A-Za-z_]\w*\d", self.text)):
                for digits in range(1, min(4, len(word))):
                    if re.fullmatch(r"0|[1-9]\d*", number := word[-digits:]):
                        self._numbered.setdefault(word[:-digits], []).append(int(number))
        return [f"{prefix}{k}" for k in self._numbered.get(prefix, ()) if k < count]

    def _statement(self, text: str) -> str:
        labels = ""
        while found := re.match(rf"({LABEL.pattern})\s*:(?!:)\s*", text):
            self.labels.add(_label(found[1]))
            labels += f"{_label(found[1])}: "
            text = text[found.end() :]
        return f"{labels}; {self._instruction(text) if text else ''}" if labels else self._instruction(text)

    def _instruction(self, text: str) -> str:
        if found := DECLARED.fullmatch(text):
            names: list[str] = []
            for name in found[2].replace("%", "").split(","):
                several = re.fullmatch(r"\s*([A-Za-z_]\w*)<(\d{1,3})>\s*", name)
                names += self._used(several[1], int(several[2])) if several else [name.strip()]
            if not all(re.fullmatch(r"[A-Za-z_]\w*", n) for n in names):
                raise UnknownError(f".reg {found[2].strip()}")
            (self.predicates if found[1] == "pred" else self.names).update(names)
            return ""
        guard = re.match(r"@(!?)%?(\w+)\s+", text)
        condition = ""
        if guard:
            text = text[guard.end() :]
            condition = f"if ({guard[1]}{self._predicate(guard[2])}) "
        word, _, rest = text.partition(" ") if " " in text else (text, "", "")
        base, *modifiers = word.split(".")
        handler = HANDLERS.get(base)
        if handler is None or text.startswith("."):
            raise UnknownError(word)
        try:
            line = handler(self, modifiers, _arguments(rest))
        except UnknownError as why:
            if not str(why).startswith("."):
                raise
            raise UnknownError(word) from None  # a modifier alone does not say of which instruction it is
        except (
            ValueError,
            KeyError,
            IndexError,
        ):  # another number of operands, or a type it is not known for
            raise UnknownError(word) from None
        return f"{condition}{{ {line} }}"

    def _predicate(self, name: str) -> str:
        negated, name = name.startswith("!"), name.lstrip("!").replace("%", "").strip()
        if name not in self.predicates:
            raise UnknownError(f"@{name}")
        return f"{'!' if negated else ''}simt_p_{name}"

    def target(self, text: str) -> str:
        """A register that is written."""
        if text in ("_", "%_"):
            return "[[maybe_unused]] ::simt::ptx::reg simt_nowhere"
        found = self._register(text)
        if not found:
            raise UnknownError(text)
        return found

    def _register(self, text: str) -> str:
        if number := re.fullmatch(r"%(\d+)", text):
            if int(number[1]) >= len(self.outputs) + len(self.inputs):
                raise UnknownError(f"{text} without an operand")
            return f"simt_o{number[1]}"
        name = text.replace("%", "")
        return f"simt_r_{name}" if name in self.names else f"simt_p_{name}" if name in self.predicates else ""

    def value(self, text: str, kind: str = "b32") -> str:
        """What is read: a register, a special one, or a number, as the bits of a register."""
        if text.startswith("!"):
            return f"!{self._predicate(text[1:])}" if text[1:].replace("%", "") in self.predicates else ""
        if register := self._register(text):
            return register
        if text.startswith("%") and text[1:] in SPECIAL:
            return f"(::simt::ptx::reg){SPECIAL[text[1:]]}"
        if text == "WARP_SZ":
            return "32ull"
        if found := re.fullmatch(r"0[fF]([0-9a-fA-F]{8})|0[dD]([0-9a-fA-F]{16})", text):
            return f"0x{found[1] or found[2]}ull"
        if re.fullmatch(r"-?(?:0[xX][0-9a-fA-F]+|\d+)[uU]?", text):
            number = int(text.rstrip("uU"), 0) if not re.fullmatch(r"-?0\d+", text) else int(text, 8)
            if kind in ("f32", "f64"):
                return f"::simt::ptx::As<{TYPES[kind]}>::to({number})"
            return f"0x{number % (1 << 64):x}ull"
        if kind in ("f32", "f64") and re.fullmatch(r"-?\d*\.\d*(?:[eE][+-]?\d+)?", text):
            return f"::simt::ptx::As<{TYPES[kind]}>::to({text})"
        raise UnknownError(text)

    def address(self, text: str, modifiers: list[str]) -> str:
        """``[register + offset]`` in the space that the modifiers name, as a pointer."""
        found = re.fullmatch(r"\[\s*([%\w]+)\s*(?:\+\s*(-?\w+)\s*)?\]", text)
        if not found or {"local", "param", "const"} & set(modifiers):
            raise UnknownError(f"address {text}")
        at = f"{self.value(found[1])} + {self.value(found[2])}" if found[2] else self.value(found[1])
        space = "shared" if "shared" in _spaces(modifiers) else "generic"
        return f"::simt::ptx::{space}({at})"


def _spaces(modifiers: list[str]) -> set[str]:
    return {m.split("::")[0] for m in modifiers}


def _statements(text: str) -> list[str]:
    """The instructions and declarations, with the labels before them."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.S)
    found = []
    for piece in re.split(r";", text):
        # Braces around several instructions are a scope, and no operand: those follow another word.
        clean = " ".join(piece.split())
        while clean.startswith("{") or clean.endswith("}"):
            if clean.startswith("{"):
                clean = clean[1:].strip()
            elif clean.count("{") < clean.count("}"):
                clean = clean[:-1].strip()
            else:
                break
        if clean.startswith("}"):
            clean = clean[1:].strip()
        if clean:
            found.append(clean)
    return found


def _arguments(text: str) -> list[str]:
    """Operands between commas, those in braces as one."""
    found, depth = [""], 0
    for char in text:
        depth += {"{": 1, "}": -1}.get(char, 0)
        if char == "," and depth == 0:
            found.append("")
        else:
            found[-1] += char
    return [part.strip() for part in found if part.strip()]


def _members(text: str) -> list[str]:
    """The registers of ``{a, b}``."""
    return [part.strip() for part in text[1:-1].split(",")] if text.startswith("{") else []


def _plain(modifiers: list[str], *allowed: str) -> list[str]:
    """The types among the modifiers; any other must be allowed."""
    types = [m for m in modifiers if m in TYPES]
    other = [m for m in modifiers if m not in TYPES and m not in allowed]
    if other:
        raise UnknownError("." + ".".join(other))
    return types


Handler: TypeAlias = Callable[[Assembly, list[str], list[str]], str]


def _flags(modifiers: list[str]) -> str:
    return f"{str('ftz' in modifiers).lower()}, {str('sat' in modifiers).lower()}"


def _arithmetic(name: str, operands: int) -> Handler:
    """Of numbers of one type, rounded to nearest."""

    def handle(a: Assembly, modifiers: list[str], given: list[str]) -> str:
        (kind,) = _plain(modifiers, "rn", "ftz", "sat", "approx", "full", "NaN")
        to, *values = given
        called = f"{name}_nan" if "NaN" in modifiers else name
        if len(values) != operands or ("sat" in modifiers and kind not in ("f32", "f64", "f16", "f16x2")):
            raise ValueError
        read = ", ".join(a.value(v, kind) for v in values)
        return f"{a.target(to)} = ::simt::ptx::{called}<{TYPES[kind]}, {_flags(modifiers)}>({read});"

    return handle


def _whole(name: str, operands: int) -> Handler:
    """Of whole numbers of one type."""

    def handle(a: Assembly, modifiers: list[str], given: list[str]) -> str:
        kind = _plain(modifiers)[-1]
        to, *values = given
        if len(values) != operands:
            raise ValueError
        return f"{a.target(to)} = ::simt::ptx::{name}<{TYPES[kind]}>({', '.join(map(a.value, values))});"

    return handle


def _bitwise(expression: str) -> Handler:
    def handle(a: Assembly, modifiers: list[str], given: list[str]) -> str:
        (kind,) = _plain(modifiers)
        to, *values = given
        read = [a.value(v) for v in values]
        if kind == "pred":
            expression_of = expression.replace("~", "!")
            return f"{a.target(to)} = ({expression_of.format(*read)}) != 0;"
        return f"{a.target(to)} = (::simt::ptx::reg)({TYPES[kind]})({expression.format(*read)});"

    return handle


def _multiplied(a: Assembly, modifiers: list[str], given: list[str]) -> str:
    (kind,) = _plain(modifiers, "lo", "hi", "wide", "rn", "ftz", "sat")
    to, x, y = given
    name = "mul_hi" if "hi" in modifiers else "mul_wide" if "wide" in modifiers else ""
    if not name:
        return _arithmetic("mul", 2)(a, [m for m in modifiers if m != "lo"], given)
    return f"{a.target(to)} = ::simt::ptx::{name}<{TYPES[kind]}>({a.value(x)}, {a.value(y)});"


def _multiplied_and_added(a: Assembly, modifiers: list[str], given: list[str]) -> str:
    (kind,) = _plain(modifiers, "lo", "hi", "wide", "rn", "ftz", "sat")
    to, x, y, z = given
    if kind in ("f32", "f64"):
        return _arithmetic("fma", 3)(a, modifiers, given)
    name = "mul_hi" if "hi" in modifiers else "mul_wide" if "wide" in modifiers else "mul"
    wide = {"u16": "u32", "s16": "s32", "u32": "u64", "s32": "s64"}[kind] if "wide" in modifiers else kind
    product = f"::simt::ptx::{name}<{TYPES[kind]}>({a.value(x)}, {a.value(y)})"
    return f"{a.target(to)} = ::simt::ptx::add<{TYPES[wide]}>({product}, {a.value(z)});"


def _moved(a: Assembly, modifiers: list[str], given: list[str]) -> str:
    (kind,) = _plain(modifiers)
    to, value = given
    bits = 8 * BYTES[re.sub(r"\D", "", kind.replace("x2", "")) or "8"] * (2 if kind.endswith("x2") else 1)
    if parts := _members(to):
        each = bits // len(parts)
        lines = [f"::simt::ptx::reg simt_all = {a.value(value)};"]
        mask = (1 << each) - 1
        lines += [f"{a.target(p)} = simt_all >> {i * each} & 0x{mask:x}ull;" for i, p in enumerate(parts)]
        return " ".join(lines)
    if parts := _members(value):
        each = bits // len(parts)
        mask = (1 << each) - 1
        joined_up = (f"({a.value(p)} & 0x{mask:x}ull) << {i * each}" for i, p in enumerate(parts))
        return f"{a.target(to)} = {' | '.join(joined_up)};"
    if kind == "pred":
        return f"{a.target(to)} = {a.value(value)} != 0;"
    return f"{a.target(to)} = {a.value(value, kind)};"


def _compared(a: Assembly, modifiers: list[str], given: list[str]) -> str:
    """``setp``: into one predicate or, after a bar, its opposite as well."""
    how, *more = modifiers
    combine = next((m for m in more if m in ("and", "or", "xor")), "")
    (kind,) = _plain(more, "ftz", combine)
    to, x, y, *z = given
    if how in UNSIGNED:
        how = UNSIGNED[how]
    if how not in COMPARISONS or bool(combine) != bool(z):
        raise ValueError
    call = f"::simt::ptx::{how}<{TYPES[kind]}, {str('ftz' in more).lower()}>"
    said = f"{call}({a.value(x, kind)}, {a.value(y, kind)})"
    yes, _, no = to.partition("|")
    sign = {"and": "&&", "or": "||", "xor": "!="}.get(combine, "")
    right = f" {sign} {a.value(z[0])}" if combine else ""
    lines = [f"bool simt_said = {said};"]
    if yes.strip() != "_":
        lines.append(f"{a.target(yes.strip())} = simt_said{right};")
    if no.strip() not in ("", "_"):
        lines.append(f"{a.target(no.strip())} = !simt_said{right};")
    return " ".join(lines)


def _selected(a: Assembly, modifiers: list[str], given: list[str]) -> str:
    (kind,) = _plain(modifiers)
    to, x, y, which = given
    return f"{a.target(to)} = {a.value(which)} ? {a.value(x, kind)} : {a.value(y, kind)};"


def _converted(a: Assembly, modifiers: list[str], given: list[str]) -> str:
    how = next((m for m in modifiers if re.fullmatch(r"r[nzmp]i?|rna", m)), "")
    if "tf32" in modifiers and how == "rna":
        return f"{a.target(given[0])} = ::simt::ptx::to_tf32({a.value(given[1])});"
    to_kind, from_kind = _plain(modifiers, how, "ftz", "sat")
    to, *values = given
    letter = {"": "-", "n": "r"}.get(how[1:2], how[1:2])
    options = f"'{letter}', {str(how.endswith('i')).lower()}, {_flags(modifiers)}"
    if to_kind.endswith("x2"):
        high, low = (
            f"::simt::ptx::cvt<{TYPES[to_kind[:-2]]}, {TYPES[from_kind]}, {options}>({a.value(v)})"
            for v in values
        )
        return f"{a.target(to)} = {low} | {high} << 16;"
    if (from_kind, to_kind) in (
        ("f64", "f32"),
        ("s64", "f32"),
        ("u64", "f32"),
        ("s64", "f64"),
    ) and how not in ("rn", ""):
        raise ValueError
    (value,) = values
    call = f"::simt::ptx::cvt<{TYPES[to_kind]}, {TYPES[from_kind]}, {options}>"
    return f"{a.target(to)} = {call}({a.value(value)});"


def _address_converted(a: Assembly, modifiers: list[str], given: list[str]) -> str:
    _plain(modifiers, "to", "global", "shared", "const", "param", "local")
    to, value = given
    if "shared" in modifiers:
        name = "to_shared" if "to" in modifiers else "(::simt::ptx::reg)::simt::ptx::shared"
        return f"{a.target(to)} = {name if name[0] == '(' else '::simt::ptx::' + name}({a.value(value)});"
    return f"{a.target(to)} = {a.value(value)};"


def _access(modifiers: list[str]) -> tuple[str, int]:
    """The type of an access to memory, and how many of them."""
    known = [m for m in modifiers if m not in ORDERS and "::" not in m]
    number = next((int(m[1:]) for m in known if m in ("v2", "v4")), 1)
    (kind,) = _plain(known, "global", "shared", f"v{number}")
    if kind in ("f16x2", "bf16x2", "pred"):
        raise ValueError
    return kind, number


def _strong(modifiers: list[str]) -> str:
    """Of an access that is ordered with others of its scope, "1" if that is one block; "" of a weak one.

    A ``volatile`` one is a relaxed one of the whole system.
    """
    if not {"relaxed", "acquire", "release", "volatile"} & set(modifiers):
        return ""
    return "1" if "cta" in modifiers else "0"


def _fence(modifiers: list[str]) -> str:
    """Acquire and release order the other accesses of their thread, too."""
    if not {"acquire", "release", "acq_rel"} & set(modifiers):
        return ""
    return f"__threadfence{'_block' if 'cta' in modifiers else '_system'}();"


def _vector(kind: str, number: int) -> str:
    return PAIRS[BYTES[re.sub(r"\D", "", kind)], number]


def _loaded(a: Assembly, modifiers: list[str], given: list[str]) -> str:
    kind, number = _access(modifiers)
    to, place, *hint = given
    if hint and "cache_hint" not in "".join(modifiers):
        raise ValueError
    at, strong = a.address(place, modifiers), _strong(modifiers)
    if number == 1 and strong:
        call = f"::simt::ptx::load_strong<{TYPES[_bits(kind)]}>({at}, {strong})"
        return f"{a.target(to)} = {call}; {_fence(modifiers)}".rstrip()
    if number == 1:
        return f"{a.target(to)} = ::simt::ptx::load<{TYPES[_bits(kind)]}>({at});"
    if strong:  # one access for each of them, as the ISA has it
        each, registers = TYPES[_bits(kind)], _members(to)
        if len(registers) != number:
            raise ValueError
        lines = [f"auto* simt_v = (const {each}*){at};"]
        lines += [
            f"{a.target(m)} = ::simt::ptx::load_strong<{each}>(simt_v + {k}, {strong});"
            for k, m in enumerate(registers)
        ]
        return " ".join([*lines, _fence(modifiers)]).rstrip()
    members = zip(_members(to), "xyzw"[:number], strict=True)
    sign = {"s8": "(int8_t)", "s16": "(int16_t)"}.get(kind, "")
    lines = [f"{_vector(kind, number)} simt_v = *(const {_vector(kind, number)}*){at};"]
    lines += [f"{a.target(m)} = (::simt::ptx::reg){sign}simt_v.{axis};" for m, axis in members]
    return " ".join(lines)


def _stored(a: Assembly, modifiers: list[str], given: list[str]) -> str:
    kind, number = _access(modifiers)
    place, value, *hint = given
    if hint and "cache_hint" not in "".join(modifiers):
        raise ValueError
    at, strong, fence = a.address(place, modifiers), _strong(modifiers), _fence(modifiers)
    if number == 1 and strong:
        call = f"::simt::ptx::store_strong<{TYPES[_bits(kind)]}>({at}, {a.value(value, kind)}, {strong});"
        return f"{fence} {call}".lstrip()
    if number == 1:
        return f"::simt::ptx::store<{TYPES[_bits(kind)]}>({at}, {a.value(value, kind)});"
    vector, members = _vector(kind, number), _members(value)
    if len(members) != number:
        raise ValueError
    if strong:
        of = TYPES[_bits(kind)]
        lines = [fence, f"auto* simt_v = ({of}*){at};"]
        lines += [
            f"::simt::ptx::store_strong<{of}>(simt_v + {k}, {a.value(m, kind)}, {strong});"
            for k, m in enumerate(members)
        ]
        return " ".join(lines).lstrip()
    each = f"decltype({vector}::x)"
    made = ", ".join(f"({each}){a.value(m, kind)}" for m in members)
    return f"*({vector}*){at} = make_{vector}({made});"


def _bits(kind: str) -> str:
    """A type of the same width whose numbers are read as they are."""
    return {"f16": "u16", "bf16": "u16"}.get(kind, kind)


def _atomic(*, answers: bool) -> Handler:
    def handle(a: Assembly, modifiers: list[str], given: list[str]) -> str:
        known = [m for m in modifiers if m not in ORDERS and "::" not in m and m not in ("noftz",)]
        what = next(m for m in known if m in ATOMS)
        (kind,) = _plain(known, "global", "shared", what)
        to, place, *values = given if answers else ["_", *given]
        if len(values) != (2 if what == "cas" else 1):
            raise ValueError
        name = ATOMIC_TYPES[kind]
        scope = "_block" if "cta" in modifiers else ""
        read = ", ".join(f"::simt::ptx::As<{name}>::from({a.value(v, kind)})" for v in values)
        call = f"{ATOMS[what]}{scope}(({name}*){a.address(place, modifiers)}, {read})"
        return f"{_fence(modifiers)} {a.target(to)} = ::simt::ptx::As<{name}>::to({call});".lstrip()

    return handle


def _shuffled(a: Assembly, modifiers: list[str], given: list[str]) -> str:
    _plain(modifiers, "sync", "up", "down", "bfly", "idx")
    kind = next(m for m in modifiers if m in ("up", "down", "bfly", "idx"))
    to, *values = given
    if "sync" not in modifiers or len(values) != 4:
        raise ValueError
    register, _, inside = to.partition("|")
    read = ", ".join(map(a.value, values))
    call = f"::simt::ptx::shfl<'{kind[0]}'>(simt_inside, {read})"
    line = f"bool simt_inside; {a.target(register.strip())} = {call};"
    return line + (f" {a.target(inside.strip())} = simt_inside;" if inside else "")


def _voted(a: Assembly, modifiers: list[str], given: list[str]) -> str:
    _plain(modifiers, "sync", "any", "all", "ballot")
    to, value, mask = given
    (kind,) = (m for m in modifiers if m in ("any", "all", "ballot"))
    if "sync" not in modifiers:
        raise ValueError
    return f"{a.target(to)} = __{kind}_sync((unsigned){a.value(mask)}, {a.value(value)});"


def _matched(a: Assembly, modifiers: list[str], given: list[str]) -> str:
    kind = _plain(modifiers, "any", "sync")[-1]
    to, value, mask = given
    return f"{a.target(to)} = __match_any_sync((unsigned){a.value(mask)}, ({TYPES[kind]}){a.value(value)});"


def _reduced(a: Assembly, modifiers: list[str], given: list[str]) -> str:
    (kind,) = _plain(modifiers, "sync", "add", "min", "max", "and", "or", "xor")
    what = next(m for m in modifiers if m in ("add", "min", "max", "and", "or", "xor"))
    to, value, mask = given
    name = {"u32": "unsigned", "s32": "int", "b32": "unsigned"}[kind]
    call = f"__reduce_{what}_sync((unsigned){a.value(mask)}, ({name}){a.value(value)})"
    return f"{a.target(to)} = (uint32_t){call};"


def _barrier(a: Assembly, modifiers: list[str], given: list[str]) -> str:
    if modifiers == ["warp", "sync"]:
        return f"__syncwarp((unsigned){a.value(given[0])});"
    if modifiers[:1] == ["cluster"] and not given:
        how = [m for m in modifiers[1:] if m not in ("aligned", "release", "acquire")]
        if how in (["arrive"], ["wait"]):
            return f"__cluster_barrier_{how[0]}();"
        raise ValueError
    (kind,) = (m for m in modifiers if m not in ("cta", "aligned"))
    number, *count = given
    if kind == "sync" and given == ["0"]:
        return "__syncthreads();"
    if kind not in ("sync", "arrive") or len(count) > 1 or (kind == "arrive" and not count):
        raise ValueError
    threads = a.value(count[0]) if count else "0"
    return f"::simt::ptx::meet({a.value(number)}, {threads}, {str(kind == 'sync').lower()});"


def _barrier_in_memory(a: Assembly, modifiers: list[str], given: list[str]) -> str:
    """``mbarrier`` of the block's own shared memory: set up, arrived at, waited for."""
    how, *more = modifiers
    _plain(more, "shared", "shared::cta", "release", "acquire", "relaxed", "cta", "expect_tx", "parity")
    places = [g for g in given if g.startswith("[")]
    (barrier,) = (a.address(place, ["shared"]) for place in places)
    before, after = given[: given.index(places[0])], given[given.index(places[0]) + 1 :]
    if how == "init" and not before and len(after) == 1:
        return f"::simt::ptx::set_up({barrier}, {a.value(after[0])});"
    if how == "inval" and not before and not after:
        return ""
    expected = how == "expect_tx" or "expect_tx" in more
    expect = f"::simt::ptx::expect({barrier}, {a.value(after[0])});" if expected else ""
    if how == "expect_tx" and len(after) == 1:
        return expect
    if how == "arrive" and len(after) <= 1:
        count = a.value(after[0]) if after and not expect else "1"
        phase = f"::simt::ptx::arrive({barrier}, {count})"
        return f"{expect} {a.target(before[0])} = {phase};" if before else f"{expect} {phase};"
    if how in ("try_wait", "test_wait") and len(before) == 1 and len(after) in (1, 2):
        kind = "parity" if "parity" in more else "phase"
        return f"{a.target(before[0])} = ::simt::ptx::{kind}_is_over({barrier}, {a.value(after[0])});"
    raise ValueError


def _elected(a: Assembly, modifiers: list[str], given: list[str]) -> str:
    """``elect.sync``: the first lane of those that the mask names."""
    (to, mask), (lane, _, chosen) = given, given[0].partition("|")
    if modifiers != ["sync"] or not to:
        raise ValueError
    first = f"(__ffs((int){a.value(mask)}) - 1)"
    line = f"__syncwarp((unsigned){a.value(mask)});"
    line += "" if lane.strip() == "_" else f" {a.target(lane.strip())} = (unsigned){first};"
    return line + (f" {a.target(chosen.strip())} = (int)simt_lane() == {first};" if chosen else "")


def _jump(a: Assembly, modifiers: list[str], given: list[str]) -> str:
    """To a label of the same text; where that comes before, others run meanwhile: it may wait for them."""
    (label,) = given
    if modifiers not in ([], ["uni"]) or not LABEL.fullmatch(label):
        raise ValueError
    a.jumps.add(_label(label))
    waits = "simt_let_others_run(); " if _label(label) in a.labels else ""
    return f"{waits}goto {_label(label)};"


def _label(name: str) -> str:
    return "simt_l_" + re.sub(r"[$%]", "_", name)


def _fenced(_: Assembly, modifiers: list[str], __: list[str]) -> str:
    if modifiers[:1] in (["proxy"], ["mbarrier_init"]):  # all paths to memory keep one order here
        return "__threadfence_block();"
    _plain(modifiers, "cta", "gl", "sys", "gpu", "acq_rel", "sc")
    scope = "_block" if "cta" in modifiers else "_system" if "sys" in modifiers else ""
    return f"__threadfence{scope}();"


def _copied(a: Assembly, modifiers: list[str], given: list[str]) -> str:
    """``cp.async`` from global to shared memory: begun, committed or waited for."""
    how, *more = modifiers
    if how != "async":
        raise ValueError
    if more == ["commit_group"] and not given:
        return "simt_commit_copies();"
    if more == ["wait_all"] and not given:
        return "simt_wait_copies(0, 1);"
    if more[:1] == ["bulk"]:
        return _copied_in_bulk(a, more[1:], given)
    if more == ["wait_group"]:
        return f"simt_wait_copies((unsigned){a.value(given[0])}, 0);"
    spaces = [m for m in more if m not in ("ca", "cg") and not m.startswith("L2::")]
    if spaces not in (["shared", "global"], ["shared::cta", "global"]):
        raise ValueError
    to, source, size, *read = given
    if len(read) > 1:
        raise ValueError
    bytes_ = f"(unsigned){a.value(size)}"
    zeros = f"{bytes_} - (unsigned){a.value(read[0])}" if read else "0"
    places = f"{a.address(to, ['shared'])}, {a.address(source, ['global'])}"
    return f"simt_copy_async({places}, {bytes_}, {zeros});"


def _copied_in_bulk(a: Assembly, modifiers: list[str], given: list[str]) -> str:
    """From global to the block's own shared memory, with a barrier there."""
    to, source, size, barrier = given
    spaces = [m for m in modifiers if not m.startswith("mbarrier::")]
    if spaces not in (["shared::cluster", "global"], ["shared::cta", "global"]) or len(modifiers) != 3:
        raise ValueError
    places = f"{a.address(to, ['shared'])}, {a.address(source, ['global'])}"
    return f"::simt::ptx::copy_in_bulk({places}, {a.value(size)}, {a.address(barrier, ['shared'])});"


def _matrix_loaded(a: Assembly, modifiers: list[str], given: list[str]) -> str:
    number = next(int(m[1:]) for m in modifiers if re.fullmatch(r"x[124]", m))
    _plain(
        [m for m in modifiers if "::" not in m],
        "sync",
        "aligned",
        "m8n8",
        f"x{number}",
        "trans",
        "shared",
        "b16",
    )
    to, place = given
    members = _members(to) or [to]
    if len(members) != number or "m8n8" not in modifiers:
        raise ValueError
    lines = [f"::simt::ptx::reg simt_m[{number}];"]
    flag = str("trans" in modifiers).lower()
    lines.append(f"::simt::ptx::ldmatrix<{flag}>({a.address(place, modifiers)}, simt_m);")
    return " ".join([*lines, *(f"{a.target(m)} = simt_m[{i}];" for i, m in enumerate(members))])


def _tensor_core(a: Assembly, modifiers: list[str], given: list[str]) -> str:
    """``mma`` of a tile of 16 x 8: D, A, B and C as registers in braces."""
    shape, *rest = [m for m in modifiers if m not in ("sync", "aligned", "satfinite")]
    depth = re.fullmatch(r"m16n8k(\d+)", shape)
    if depth is None or rest[:2] != ["row", "col"] or "satfinite" in modifiers:
        raise ValueError
    sum_kind, left, right, added = rest[2:]
    to, *read = map(_members, given)
    if left != right or sum_kind != added or left not in ("f16", "bf16", "tf32", "s8", "u8"):
        raise ValueError
    kind = "float" if left == "tf32" else TYPES[left]
    if sum_kind not in (("s32",) if left in ("s8", "u8") else ("f32", "f16") if left == "f16" else ("f32",)):
        raise ValueError
    lines = [f"::simt::ptx::reg simt_d[{len(to)}];"]
    for name, members in zip("abc", read, strict=True):
        values = ", ".join(a.value(m, "f32") for m in members)
        lines.append(f"::simt::ptx::reg simt_{name}[{len(members)}] = {{{values}}};")
    lines.append(f"::simt::ptx::mma<{kind}, {TYPES[sum_kind]}, {depth[1]}>(simt_d, simt_a, simt_b, simt_c);")
    return " ".join([*lines, *(f"{a.target(m)} = simt_d[{i}];" for i, m in enumerate(to))])


def _lop3(a: Assembly, modifiers: list[str], given: list[str]) -> str:
    if modifiers != ["b32"] or len(given) != 5:
        raise ValueError
    return f"{a.target(given[0])} = ::simt::ptx::lop3({', '.join(map(a.value, given[1:]))});"


def _permuted(a: Assembly, modifiers: list[str], given: list[str]) -> str:
    if modifiers != ["b32"] or len(given) != 4:
        raise ValueError
    return f"{a.target(given[0])} = ::simt::ptx::prmt({', '.join(map(a.value, given[1:]))});"


def _funnelled(a: Assembly, modifiers: list[str], given: list[str]) -> str:
    side, how, _ = modifiers
    read = ", ".join(map(a.value, given[1:]))
    if len(given) != 4 or side not in "lr" or how not in ("wrap", "clamp"):
        raise ValueError
    return f"{a.target(given[0])} = ::simt::ptx::shf_{side}({read}, {str(how == 'clamp').lower()});"


UNARY = ("abs", "neg", "sqrt", "rsqrt", "rcp", "ex2", "lg2", "sin", "cos", "tanh")
HANDLERS: dict[str, Handler] = {
    **{name: _arithmetic(name, 2) for name in ("add", "sub", "min", "max", "div", "rem")},
    **{name: _arithmetic(name, 1) for name in UNARY},
    **{name: _whole(name, 1) for name in ("popc", "clz", "brev", "bfind")},
    **{name: _whole(name, 2) for name in ("shl", "shr")},
    **{name: _whole(name, 3) for name in ("bfe", "sad", "dp4a")},
    "bfi": _whole("bfi", 4),
    "fma": _arithmetic("fma", 3),
    "mul": _multiplied,
    "mad": _multiplied_and_added,
    "and": _bitwise("{0} & {1}"),
    "or": _bitwise("{0} | {1}"),
    "xor": _bitwise("{0} ^ {1}"),
    "not": _bitwise("~{0}"),
    "lop3": _lop3,
    "prmt": _permuted,
    "shf": _funnelled,
    "mov": _moved,
    "setp": _compared,
    "selp": _selected,
    "cvt": _converted,
    "cvta": _address_converted,
    "ld": _loaded,
    "ldu": _loaded,
    "st": _stored,
    "atom": _atomic(answers=True),
    "red": _atomic(answers=False),
    "shfl": _shuffled,
    "vote": _voted,
    "match": _matched,
    "redux": _reduced,
    "activemask": lambda a, _, given: f"{a.target(given[0])} = __activemask();",
    "bar": _barrier,
    "barrier": _barrier,
    "mbarrier": _barrier_in_memory,
    "elect": _elected,
    "bra": _jump,
    "membar": _fenced,
    "fence": _fenced,
    "cp": _copied,
    "ldmatrix": _matrix_loaded,
    "mma": _tensor_core,
    "trap": lambda *_: "__trap();",
    "nanosleep": lambda *_: "simt_let_others_run();",
    "prefetch": lambda *_: "",
    "prefetchu": lambda *_: "",
}


def translate(tokens: Tokens) -> Tokens:
    """``tokens`` with each ``asm`` statement as C++; one that cannot be run stays, and is refused later."""
    out = Tokens(tokens)
    i = 0
    while i < len(tokens):
        if tokens[i].text in ASM:
            begin, end = i, _end(tokens, i)
            if end > 0 and (code := _translated(tokens, end)):
                lines = joined(tokens[begin : end + 1])
                ends = ("\\\n" if "\\\n" in lines else "\n") * lines.count("\n")
                out[begin] = Token("id", _registers(tokens, end) + code + ends)
                for k in range(begin + 1, end + 1):
                    out[k] = Token("space", "")
                i = end
        i += 1
    return out


def _registers(tokens: Tokens, end: int) -> str:
    """A comment with the registers that the statement declares outside of brackets { }."""
    found = _read(tokens, end)
    names, depth = list[str](), 0
    for piece in re.split(r"([{};])", found.text if found else ""):
        depth += {"{": 1, "}": -1}.get(piece, 0)
        declared = None if depth else DECLARED.fullmatch(piece.strip())
        names += re.findall(r"[A-Za-z_]\w*", declared[2]) if declared else []
    return f"{REGISTERS}{' '.join(names)} */" if names else ""


def unknown(tokens: Tokens, i: int) -> str:
    """Why the ``asm`` statement at ``i`` cannot be run: the instruction; "" if its text is not to be had."""
    try:
        found = _read(tokens, _end(tokens, i))
        if found:
            found.cpp()
    except UnknownError as why:
        return str(why)
    return ""


def _end(tokens: Tokens, i: int) -> int:
    """The closing bracket of the statement at ``i``, or -1."""
    open_ = following(tokens, i)
    while tokens.at(open_) in ("volatile", "__volatile__", "__volatile"):
        open_ = following(tokens, open_)
    return closing(tokens, open_) if tokens.at(open_) == "(" else -1


def _translated(tokens: Tokens, end: int) -> str:
    try:
        found = _read(tokens, end)
        return found.cpp() if found and found.text.strip() else ""
    except UnknownError:
        return ""


def _read(tokens: Tokens, end: int) -> Assembly | None:
    """The statement between these tokens; None where its text is not written out."""
    begin = tokens.partners[end] if end >= 0 else -1
    if begin < 0 or end - begin > MOST_TOKENS or tokens[following(tokens, begin)].kind not in ("str", "raw"):
        return None
    inside = tokens[begin + 1 : end]
    parts: list[list[Token]] = [[]]
    depth = 0
    for token in inside:
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(token.text, 0)
        if depth == 0 and token.text in (":", "::"):
            parts += [[] for _ in token.text]
        else:
            parts[-1].append(token)
    text = _text(parts[0])
    if text is None or len(text) > LONGEST:
        return None
    outputs, inputs = (_operands(part) for part in [*parts[1:], [], []][:2])
    return None if outputs is None or inputs is None else Assembly(_as_written(text), outputs, inputs)


def _as_written(text: str) -> str:
    """``%%`` is a percent sign; ``%=`` a number of this statement, whose labels are its own here anyway."""
    return re.sub(r"%([%=])", lambda found: "%" if found[1] == "%" else "_0", text)


def _text(tokens: list[Token]) -> str | None:
    """What strings next to each other say; None if there is anything else."""
    said = ""
    for token in tokens:
        if token.kind == "space":
            continue
        if token.kind == "raw":
            found = re.fullmatch(r'R"(\w*)\((.*)\)\1"', token.text, re.S)
            said += found[2] if found else ""
        elif token.kind == "str" and token.text.startswith('"'):
            said += python_text.literal(token.text.replace("\\\n", ""))
        else:
            return None
    return said


def _between_commas(tokens: list[Token]) -> list[list[Token]]:
    """The operands: each has its brackets, so that ``<`` and ``>`` in them may as well compare or shift."""
    parts, depth = [list[Token]()], 0
    for token in tokens:
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(token.text, 0)
        if token.text == "," and depth == 0:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts if any(t.kind != "space" for t in tokens) else []


def _operands(tokens: list[Token]) -> list[tuple[str, str]] | None:
    """``"=r"(x), "f"(y)`` as constraints and expressions."""
    found = []
    for part in _between_commas(tokens):
        words = [t for t in part if t.kind != "space"]
        if len(words) < 3 or words[1].text != "(":
            return None
        # The macro of cooperative_groups.h for a pointer, which others use as well.
        constraint = "l" if words[0].text == "_CG_ASM_PTR_CONSTRAINT" else words[0].text.strip('"')
        if not re.fullmatch(r"[=+]?[hrlfdn]", constraint):
            raise UnknownError(f'an operand "{constraint}"')
        expression = " ".join(joined(part).replace("\\\n", " ").split())
        found.append((constraint, expression[expression.index("(") :]))
    return found
