"""Inline PTX: instructions against models in Python, and by name what is refused."""

from __future__ import annotations

import math
import re
import struct
from typing import TYPE_CHECKING, Any

import pytest

from grader.backends.simt.compile.rewrite import rewrite

from .conftest import Play, line_of

if TYPE_CHECKING:
    from collections.abc import Callable

U32, U64 = (1 << 32) - 1, (1 << 64) - 1


def signed(x: int, bits: int = 32) -> int:
    x &= (1 << bits) - 1
    return x - (1 << bits) if x >> (bits - 1) else x


def f32(x: float) -> float:
    try:
        return struct.unpack("f", struct.pack("f", x))[0]
    except OverflowError:
        return math.copysign(math.inf, x)


def divided(a: float, b: float) -> float:
    if b == 0:
        return math.nan if a == 0 or math.isnan(a) else math.copysign(math.inf, a) * math.copysign(1, b)
    return a / b


def quotient(a: int, b: int) -> int:
    return -1 if b == 0 else int(math.copysign(abs(a) // abs(b), a * b)) if a else 0


def permuted(a: int, b: int, selector: int) -> int:
    raw, out = (b & U32) << 32 | a & U32, 0
    for i in range(4):
        pick = selector >> 4 * i & 15
        byte = raw >> 8 * (pick & 7) & 255
        out |= (255 * (byte >> 7) if pick & 8 else byte) << 8 * i
    return out


def extracted(a: int, at: int, count: int, *, sign: bool) -> int:
    at, count = at & 255, count & 255
    last = a >> min(at + count - 1, 31) & 1 if sign and count else 0
    bits = [(a >> (at + i) & 1) if i < count and at + i <= 31 else last for i in range(32)]
    return sum(bit << i for i, bit in enumerate(bits))


def dotted(a: int, b: int, c: int, *, sign: bool) -> int:
    bytes_of = lambda x: [signed(x >> 8 * i, 8) if sign else x >> 8 * i & 255 for i in range(4)]  # noqa: E731
    return c + sum(x * y for x, y in zip(bytes_of(a), bytes_of(b), strict=True))


def shifted_left(a: int, by: int, bits: int = 32) -> int:
    by &= U32
    return 0 if by >= bits else a << by


MODELS: dict[str, Callable[..., Any]] = {
    "add.s32": lambda a, b: a + b,
    "sub.u32": lambda a, b: a - b,
    "mul.lo.s32": lambda a, b: a * b,
    "mul.hi.u32": lambda a, b: (a & U32) * (b & U32) >> 32,
    "mul.hi.s32": lambda a, b: a * b >> 32,
    "min.s32": min,
    "max.u32": lambda a, b: max(a & U32, b & U32),
    "div.s32": quotient,
    "rem.u32": lambda a, b: (a & U32) % (b & U32) if b else a,
    "and.b32": lambda a, b: a & b,
    "or.b32": lambda a, b: a | b,
    "xor.b32": lambda a, b: a ^ b,
    "shl.b32": shifted_left,
    "shr.u32": lambda a, b: (a & U32) >> (b & U32) if b & U32 < 32 else 0,
    "shr.s32": lambda a, b: a >> min(b & U32, 31),
    "add.s64": lambda a, b: a + b,
    "mul.lo.u64": lambda a, b: a * b,
    "mul.hi.u64": lambda a, b: (a & U64) * (b & U64) >> 64,
    "shr.s64": lambda a, b: a >> min(b & U32, 63),
    "mul.wide.u32": lambda a, b: (a & U32) * (b & U32),
    "mul.wide.s32": lambda a, b: a * b,
    "add.f32": lambda a, b: f32(a + b),
    "sub.rn.f32": lambda a, b: f32(a - b),
    "mul.f32": lambda a, b: f32(a * b),
    "div.rn.f32": lambda a, b: f32(divided(a, b)),
    "min.f32": min,
    "max.f32": max,
    "add.sat.f32": lambda a, b: min(max(f32(a + b), 0.0), 1.0),
    "add.f64": lambda a, b: a + b,
    "mul.rn.f64": lambda a, b: a * b,
    "not.b32": lambda a: ~a,
    "abs.s32": abs,
    "neg.s32": lambda a: -a,
    "popc.b32": lambda a: (a & U32).bit_count(),
    "clz.b32": lambda a: 32 - (a & U32).bit_length(),
    "brev.b32": lambda a: int(f"{a & U32:032b}"[::-1], 2),
    "bfind.u32": lambda a: (a & U32).bit_length() - 1,
    "bfind.s32": lambda a: (~a if a < 0 else a).bit_length() - 1,
    "abs.f32": abs,
    "neg.f32": lambda a: -a,
    "sqrt.rn.f32": lambda a: f32(math.sqrt(a)) if a >= 0 else math.nan,
    "rcp.rn.f32": lambda a: f32(divided(1.0, a)),
    "ex2.approx.f32": lambda a: f32(2.0**a) if a < 128 else math.inf,
    "lg2.approx.f32": lambda a: math.nan if a < 0 else f32(math.log2(a)) if a else -math.inf,
    "sin.approx.f32": lambda a: f32(math.sin(a)),
    "cos.approx.f32": lambda a: f32(math.cos(a)),
    "rsqrt.approx.f32": lambda a: math.nan if a < 0 else f32(divided(1.0, math.copysign(math.sqrt(a), a))),
    "tanh.approx.f32": lambda a: f32(math.tanh(a)),
    "mad.lo.s32": lambda a, b, c: a * b + c,
    "prmt.b32": permuted,
    "shf.l.wrap.b32": lambda a, b, c: ((b & U32) << 32 | a & U32) << (c & 31) >> 32,
    "shf.r.wrap.b32": lambda a, b, c: ((b & U32) << 32 | a & U32) >> (c & 31),
    "shf.l.clamp.b32": lambda a, b, c: ((b & U32) << 32 | a & U32) << min(c & U32, 32) >> 32,
    "bfe.u32": lambda a, b, c: extracted(a, b, c, sign=False),
    "bfe.s32": lambda a, b, c: extracted(a, b, c, sign=True),
    "sad.s32": lambda a, b, c: c + abs(a - b),
    "dp4a.s32.s32": lambda a, b, c: dotted(a, b, c, sign=True),
    "dp4a.u32.u32": lambda a, b, c: dotted(a, b, c, sign=False),
}


def same(a: float, b: float) -> bool:
    return a == b or (math.isnan(a) and math.isnan(b))


@pytest.mark.slow
def test_each_instruction_gives_what_the_isa_says(play: Play) -> None:
    answer = play("ptx")["scalars"]
    assert (answer["error"], answer["findings"]) == ("", [])
    looked_at = 0
    for name, model in MODELS.items():
        told = answer["result"][name]
        real = name[-3:] in ("f32", "f64")
        bits = 64 if "wide" in name or name[-2:] == "64" else 32
        for given, got in zip(zip(*told["in"], strict=True), told["out"], strict=True):
            wanted = model(*given) if real else signed(model(*given), bits)
            assert same(got, wanted), (name, given, got, wanted)
            looked_at += 1
    assert looked_at == 64 * len(MODELS)


@pytest.mark.slow
def test_memory_predicates_lanes_and_vectors(play: Play) -> None:
    answer = play("ptx")["moves"]
    assert (answer["error"], answer["findings"]) == ("", [])
    assert answer["result"] == [[], 32, 16.0]


@pytest.mark.slow
def test_matrices_are_loaded_and_multiplied(play: Play) -> None:
    answers = play("ptx")
    for name in ("product", "tf32_and_bytes", "transposed"):
        assert (answers[name]["error"], answers[name]["findings"]) == ("", []), name
    assert answers["product"]["result"] < 1e-5
    tf32, whole = answers["tf32_and_bytes"]["result"]
    assert tf32 < 1e-5 and whole == 0
    assert answers["transposed"]["result"] is True


@pytest.mark.slow
def test_an_access_is_checked_at_its_line(play: Play) -> None:
    answer = play("ptx")["too_far"]
    near, far = answer["findings"]
    assert (near["kind"], near["line"]) == ("shared-out-of-bounds", line_of("ptx", "beyond the tile"))
    assert (far["kind"], far["line"]) == ("global-out-of-bounds", line_of("ptx", "beyond the tensor"))


K = "__global__ void k(int* x, float* f) { %s }\n"
REFUSED = {
    'asm volatile("cp.async.mbarrier.arrive.shared.b64 [%0];" :: "r"(1));': "cp.async.mbarrier.arrive.shared.b64",
    'asm("add.rz.f32 %0, %1, %1;" : "=f"(f[0]) : "f"(f[1]));': "add.rz.f32",
    'asm("L1: bra L2;");': "bra",
    'asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");': "setmaxnreg.inc.sync.aligned.u32",  # may wait for ever
    'asm("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" :: "r"(1));': "mbarrier.arrive.release.cluster.shared::cluster.b64",
    'asm("@p mov.u32 %0, 1;" : "=r"(x[0]));': "@p",
    'asm("mov.u32 %0, %%no_such;" : "=r"(x[0]));': "%no_such",
    'asm("bar.arrive 1;");': "bar.arrive",
    'asm("bar.red.popc.u32 %0, 0, p;" : "=r"(x[0]));': "bar.red.popc.u32",
    'asm("ld.param.u32 %0, [%1];" : "=r"(x[0]) : "l"(x));': "ld.param.u32",
    'asm("add.s32 %0, %1;" : "=r"(x[0]) : "r"(1));': "add.s32",
    'asm("wgmma.fence.sync.aligned;");': "wgmma.fence.sync.aligned",
    'asm("mov.u32 %0, %3;" : "=r"(x[0]) : "r"(1));': "%3 without an operand",
    'asm("mov.u32 %0, %1;" : "=r"(x[0]) : "C"(1));': "an operand 'C'",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_cannot_be_run_is_refused_by_name(text: str) -> None:
    out = rewrite(K % text)
    assert f"inline PTX (`{REFUSED[text]}`) cannot run on the CPU" in out


def test_lines_stay_where_they_are_in_macros_too() -> None:
    text = '#define ADD(d, a) \\\n    asm volatile("add.s32 %0, %1, 1;" \\\n    : "=r"(d) : "r"(a)); \\\n    f()\nint x;\n'
    out = rewrite(text)
    assert "asm" not in out
    assert out.count("\\\n") == text.count("\\\n") and out.endswith("f()\nint x;\n")
    text = 'void f(int d) {\n    asm("add.s32 %0,"\n        " %0, 1;"\n        : "+r"(d));\n}\nint last;\n'
    assert rewrite(text).count("\n") == text.count("\n")


@pytest.mark.parametrize("label", ["DONE", "DONE%="])
def test_a_jump_forwards_keeps_the_warp_together_and_one_back_lets_others_run(label: str) -> None:
    text = f'asm("{{ .reg .pred p; setp.lt.s32 p, %0, 0; @p bra {label}; add.s32 %0, %0, 1; {label}: }}" : "+r"(n));'
    assert "simt_let_others_run" not in rewrite(text) and rewrite(text).count("simt_l_DONE") == 3
    text = f'asm("{{ .reg .pred p; {label}: setp.lt.s32 p, %0, 0; @p bra {label}; }}" : "+r"(n));'
    assert "simt_let_others_run(); goto simt_l_DONE" in rewrite(text)


def test_operands_may_be_any_expressions() -> None:
    out = rewrite(K % 'asm("mov.u32 %0, %1;" : "=r"(x[(1, 2)]) : "r"(f ? (int)f[0] : 2));')
    assert "pack<'r'>((f ? (int)f[0] : 2))" in out and "unpack<'r'>((x[(1, 2)])" in out


@pytest.mark.parametrize("first", ["i < n ? 1 : 2", "i > n", "i >> 3", "P<3>::v", "f<int, 2>(i)"])
@pytest.mark.parametrize("second", ['"r"(1)', '"n"(1)', '"r"(n)', '"n"(P<3>::v)'])
def test_an_operand_ends_at_its_bracket(first: str, second: str) -> None:
    """It may compare or shift, which opens no bracket; and what follows it may be a number."""
    out = rewrite(K % f'asm("add.u32 %0, %1, %2;" : "=r"(x[0]) : "r"({first}), {second});')
    kind, value = second[1], second[3:]
    assert "cannot run" not in out and f"pack<'r'>(({first}))" in out and f"pack<'{kind}'>({value})" in out


def test_a_thousand_registers_that_nothing_names_cost_nothing() -> None:
    one = 'asm("{ .reg .u32 r<999>, q<12>; add.u32 r998, %0, q11; mov.u32 r1, q11; }" :: "r"(1));'
    made = rewrite(one)
    assert re.findall(r"reg (simt_r_\w+) = 0", made) == ["simt_r_q11", "simt_r_r1", "simt_r_r998"]
    declared = ",".join(f"r{n}_<999>" for n in range(1000))
    text = f'void f() {{ asm("{{ .reg .u32 {declared}; }}"); }}' * 4
    assert len(rewrite(text)) < 3 * len(text)
