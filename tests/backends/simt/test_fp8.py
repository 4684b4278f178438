"""8-bit floats: codes against torch's, rounding against a rule that tries all numbers, arrays in kernels."""

from __future__ import annotations

import ctypes
import math
import struct
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import pytest
import torch

from .conftest import Play, line_of

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Format:
    """``values``: of the codes from 0 up to the first that is not finite, which counts as the next number."""

    dtype: torch.dtype
    values: tuple[Fraction, ...]
    infinity: int

    @cache  # noqa: B019 -- there are two of them
    def nearest(self, x: float) -> int:
        """By distance to every number there is, of two equally near the even code."""
        exact = Fraction(abs(x))
        return min(range(len(self.values)), key=lambda c: (abs(self.values[c] - exact), c % 2))

    def encode(self, x: float, *, saturate: bool) -> int:
        """Without the sign of NaN, which is not specified."""
        if math.isnan(x):
            return 0x7F
        largest = len(self.values) - 2
        code = largest + 1 if math.isinf(x) else self.nearest(x)
        if code > largest:
            code = largest if saturate else self.infinity
        return code | (0x80 if math.copysign(1, x) < 0 else 0)

    def decode(self) -> list[float]:
        return torch.arange(256, dtype=torch.uint8).view(self.dtype).double().tolist()


def codes(mantissa: int, bias: int, count: int) -> tuple[Fraction, ...]:
    """The formula of IEEE 754 for positive numbers."""
    one = 1 << mantissa
    return tuple(
        Fraction(c % one + (one if c >= one else 0), one) * Fraction(2) ** (max(c // one, 1) - bias)
        for c in range(count)
    )


FORMATS = {
    "e4m3": Format(torch.float8_e4m3fn, codes(3, 7, 128), 0x7F),
    "e5m2": Format(torch.float8_e5m2, codes(2, 15, 125), 0x7C),
}
both = pytest.mark.parametrize("kind", FORMATS)


def asked(play: Play, name: str) -> dict[str, list[list[float]]]:
    """What a case gave, which finds nothing."""
    answer = play("fp8")[name]
    assert (answer["error"], answer["findings"]) == ("", [])
    result: dict[str, list[list[float]]] = answer["result"]
    return result


def f32(x: float) -> float:
    try:
        return float(struct.unpack("f", struct.pack("f", x))[0])
    except OverflowError:
        return math.copysign(math.inf, x)


def unpacked(form: str, bits: float) -> float:
    """The number of some bits; a bfloat16's are the upper half of a float's."""
    integer = int(bits)
    if form == "bfloat":
        form, integer = "f", integer << 16
    return float(struct.unpack(form, integer.to_bytes(struct.calcsize(form), "little"))[0])


def same(got: float, wanted: float) -> bool:
    if math.isnan(wanted):
        return math.isnan(got)
    return got == wanted and math.copysign(1, got) == math.copysign(1, wanted)


def same_code(got: float, wanted: int) -> bool:
    return got == wanted or (wanted == 0x7F and got == 0xFF)


@both
def test_every_code_is_torchs_number(play: Play, kind: str) -> None:
    rows = asked(play, f"decode_{kind}")["out"]
    for row, form in zip(rows, ["f", "e", "e", "bfloat", "f", "f"], strict=False):
        for bits, wanted in zip(row, FORMATS[kind].decode(), strict=True):
            assert same(unpacked(form, bits), wanted), (form, bits, wanted)


@both
def test_codes_become_integers_towards_zero_within_the_types_range(play: Play, kind: str) -> None:
    """NaN: zero, but the highest bit alone in 64 bits. ``bool``: everything but a zero."""
    rows = asked(play, f"decode_{kind}")["out"]
    for row, signed, bits in zip(rows[6:14], [1, 0] * 4, [8, 8, 16, 16, 32, 32, 64, 64], strict=True):
        least, most = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
        for got, x in zip(row, FORMATS[kind].decode(), strict=True):
            if math.isnan(x):
                wanted = 1 << 63 if bits == 64 else 0
            else:
                wanted = (most if x > 0 else least) if math.isinf(x) else max(least, min(most, int(x)))
            assert got == ctypes.c_int64(wanted).value, (bits, signed, x)
    assert rows[14] == [0 if x == 0 else 1 for x in FORMATS[kind].decode()]
    assert rows[15] == rows[6]


@both
def test_numbers_are_rounded_once(play: Play, kind: str) -> None:
    told = asked(play, f"encode_{kind}")
    seen = set()
    for x, *got in zip(told["in"], *told["out"][:6], strict=True):
        assert isinstance(x, float)
        for number, three in ((f32(x), got[:3]), (x, got[3:])):
            free = FORMATS[kind].encode(number, saturate=False)
            kept = FORMATS[kind].encode(number, saturate=True)
            assert same_code(three[0], free), (x, three, free)
            assert same_code(three[1], kept) and same_code(three[2], kept), (x, three, kept)
            seen |= {free, kept}
    assert len(seen) == 2 * len(FORMATS[kind].values) + (kind == "e5m2")  # every number, infinities and NaN


@both
def test_halves_bfloats_and_integers_are_rounded_the_same_way(play: Play, kind: str) -> None:
    told = asked(play, f"encode_small_{kind}")
    for bits, *got in zip(told["in"], *told["out"][:4], strict=True):
        assert isinstance(bits, int)
        for form, free, kept in (("e", *got[:2]), ("bfloat", *got[2:])):
            x = unpacked(form, bits)
            assert same_code(free, FORMATS[kind].encode(x, saturate=False)), (form, x)
            assert same_code(kept, FORMATS[kind].encode(x, saturate=True)), (form, x)
    told = asked(play, f"encode_integers_{kind}")
    types = [ctypes.c_int16, ctypes.c_uint16, ctypes.c_int32, ctypes.c_uint32,
             *[ctypes.c_int64, ctypes.c_uint64] * 2, ctypes.c_int8]  # fmt: skip
    for x, *got in zip(told["in"], *told["out"][: len(types)], strict=True):
        assert isinstance(x, int)
        assert got == [FORMATS[kind].encode(float(t(x).value), saturate=True) for t in types], x


@both
def test_vectors_hold_the_first_number_in_the_lowest_byte(play: Play, kind: str) -> None:
    answer = play("fp8")[f"vectors_{kind}"]
    assert (answer["error"], answer["findings"]) == ("", [])
    told, numbers = answer["result"], FORMATS[kind].decode()
    for i, rows in enumerate(told["back"]):
        each = [FORMATS[kind].encode(x, saturate=True) for x in told["in"][4 * i : 4 * i + 4]]
        word = sum(code << 8 * k for k, code in enumerate(each))
        assert [row[i] for row in told["codes"]] == [word] * 12
        assert rows == [[numbers[code] for code in each]] * 3


def exponent_above(x: float) -> int:
    """Of the least power of two that is not smaller."""
    fraction, exponent = math.frexp(x)
    return exponent - (fraction == 0.5)


def test_scales_are_the_powers_of_two_beside_a_number(play: Play) -> None:
    told = asked(play, "scales")
    exact = torch.arange(256, dtype=torch.uint8).view(torch.float8_e8m0fnu).double().tolist()
    assert all(same(unpacked("f", bits), x) for bits, x in zip(told["out"][0], exact, strict=True))
    assert all(same(unpacked("bfloat", bits), x) for bits, x in zip(told["out"][1], exact, strict=True))
    for x, *got in zip(told["in"], *told["out"][2:7], strict=True):
        assert isinstance(x, float)
        below, above, direct = math.frexp(f32(x))[1] - 1, exponent_above(f32(x)), exponent_above(x)
        whole = (int(x) - 1).bit_length() if x >= 1 else -127
        assert [code - 127 for code in got] == [below, above, direct, whole, above], x


@pytest.mark.parametrize("name", ["mirrored", "by_four"])
def test_kernels_read_and_write_arrays_of_them(play: Play, name: str) -> None:
    answer = play("fp8")[name]
    assert (answer["error"], answer["findings"]) == ("", [])
    numbers, other = FORMATS["e4m3"].decode(), FORMATS["e5m2"]
    for got, x in zip(answer["result"], reversed(numbers), strict=True):
        assert same_code(got, other.encode(2 * x, saturate=True)), x
    (launch,) = answer["launches"]
    counts = launch["counts"]
    assert (counts["read_bytes"], counts["written_bytes"]) == (256, 256)
    warps = {"mirrored": 8, "by_four": 2}[name]  # a warp's 32 codes are a sector, 32 words of four are four
    for way in ("global_load", "global_store"):
        assert (counts[way]["requests"], counts[way]["sectors"]) == (warps, 8)


def test_a_code_beyond_the_array_is_found(play: Play) -> None:
    (found,) = play("fp8")["beyond"]["findings"]
    assert (found["kind"], found["line"]) == ("global-out-of-bounds", line_of("fp8", "beyond"))
