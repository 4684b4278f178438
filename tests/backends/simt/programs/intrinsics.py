"""Integer intrinsics and conversions: as CUDA C++ of a, b and c, and what they must give by a formula."""

import math
import struct
from fractions import Fraction

PAIRS = [
    (0x80017FFF, 0x7FFF8001, 5),
    (0x01FE80FF, 0x7F0180FE, 0x80008000),
    (0xFFFF0000, 0x0001FFFF, 31),
    (0x12345678, 0x9ABCDEF0, 45),
    (0x80008000, 0x7FFF8000, 0),
    (0xFFFDFFFE, 0x00000001, 0x7FFF0001),
]


def signed(value, width):
    value &= (1 << width) - 1
    return value - (value >> (width - 1) << width)


def lanes(word, width, is_signed):
    parts = [word >> at & ((1 << width) - 1) for at in range(0, 32, width)]
    return [signed(p, width) for p in parts] if is_signed else parts


def joined(values, width):
    return sum((v & ((1 << width) - 1)) << (i * width) for i, v in enumerate(values))


def fits(value, width, is_signed):
    least, most = (-(1 << (width - 1)), (1 << (width - 1)) - 1) if is_signed else (0, (1 << width) - 1)
    return min(max(value, least), most)


ONE = {
    "abs": lambda a, w: abs(a),
    "absss": lambda a, w: fits(abs(a), w, True),
    "neg": lambda a, w: -a,
    "negss": lambda a, w: fits(-a, w, True),
}
ORDER = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "ge": lambda a, b: a >= b,
    "gt": lambda a, b: a > b,
    "le": lambda a, b: a <= b,
    "lt": lambda a, b: a < b,
}
TWO = {
    "add": (False, lambda a, b, w: a + b),
    "sub": (False, lambda a, b, w: a - b),
    "addss": (True, lambda a, b, w: fits(a + b, w, True)),
    "addus": (False, lambda a, b, w: fits(a + b, w, False)),
    "subss": (True, lambda a, b, w: fits(a - b, w, True)),
    "subus": (False, lambda a, b, w: fits(a - b, w, False)),
    "absdiffs": (True, lambda a, b, w: abs(a - b)),
    "absdiffu": (False, lambda a, b, w: abs(a - b)),
    # A half is rounded away from zero; both as nvcc's own text computes them.
    "avgs": (True, lambda a, b, w: (a + b + (a + b >= 0)) >> 1),
    "avgu": (False, lambda a, b, w: (a + b + 1) >> 1),
    "haddu": (False, lambda a, b, w: (a + b) >> 1),
    "maxs": (True, lambda a, b, w: max(a, b)),
    "maxu": (False, lambda a, b, w: max(a, b)),
    "mins": (True, lambda a, b, w: min(a, b)),
    "minu": (False, lambda a, b, w: min(a, b)),
}
for name, order in ORDER.items():
    for sign in ("",) if name in ("eq", "ne") else ("s", "u"):
        TWO[f"cmp{name}{sign}"] = (sign == "s", lambda a, b, w, order=order: -order(a, b))
        TWO[f"set{name}{sign}"] = (sign == "s", lambda a, b, w, order=order: int(order(a, b)))


def _words():
    found = {}
    for count, width in ((2, 16), (4, 8)):
        for name, f in ONE.items():
            found[f"__v{name}{count}(a)"] = lambda a, b, c, f=f, width=width: joined(
                [f(x, width) for x in lanes(a, width, True)], width
            )
        for name, (is_signed, f) in TWO.items():
            found[f"__v{name}{count}(a, b)"] = lambda a, b, c, f=f, s=is_signed, width=width: joined(
                [f(x, y, width) for x, y in zip(lanes(a, width, s), lanes(b, width, s), strict=True)], width
            )
        for sign in "su":
            found[f"__vsad{sign}{count}(a, b)"] = lambda a, b, c, s=sign == "s", width=width: sum(
                abs(x - y) for x, y in zip(lanes(a, width, s), lanes(b, width, s), strict=True)
            )
    return found


def whole(value, is_signed, width=32):
    return signed(value, width) if is_signed else value & ((1 << width) - 1)


def in_halves(f, is_signed):
    def of(a, b, c):
        return joined(
            [f(*each) for each in zip(*(lanes(v, 16, is_signed) for v in (a, b, c)), strict=True)], 16
        )

    return of


def _threes():
    found = {}
    for name, pick in (("max", max), ("min", min)):
        for sign in "su":
            s = sign == "s"
            cast = "(int)" if s else ""
            arguments = f"{cast}a, {cast}b, {cast}c"
            forms = {
                f"__vi{name}3_{sign}32({arguments})": lambda a, b, c, p=pick, s=s: p(
                    whole(a, s), whole(b, s), whole(c, s)
                ),
                f"__viadd{name}_{sign}32({arguments})": lambda a, b, c, p=pick, s=s: p(
                    whole(a + b, s), whole(c, s)
                ),
            }
            halves = {
                f"__vi{name}3_{sign}16x2": lambda x, y, z, p=pick: p(x, y, z),
                f"__viadd{name}_{sign}16x2": lambda x, y, z, p=pick, s=s: p(whole(x + y, s, 16), z),
            }
            found |= forms | {f"{key}(a, b, c)": in_halves(f, s) for key, f in halves.items()}
            if s:
                found |= {
                    key.replace("32(", "32_relu("): lambda a, b, c, f=f: max(f(a, b, c), 0)
                    for key, f in forms.items()
                }
                found |= {
                    f"{key}_relu(a, b, c)": in_halves(lambda x, y, z, f=f: max(f(x, y, z), 0), s)
                    for key, f in halves.items()
                }
            is_first = (lambda x, y: x >= y) if name == "max" else (lambda x, y: x <= y)
            found[f"__vib{name}_{sign}32({cast}a, {cast}b, &low) * 0 + low"] = (
                lambda a, b, c, s=s, f=is_first: int(f(whole(a, s), whole(b, s)))
            )
            found[f"__vib{name}_{sign}16x2(a, b, &high, &low) * 0 + high * 2 + low"] = (
                lambda a, b, c, s=s, f=is_first: sum(
                    f(x, y) << i
                    for i, (x, y) in enumerate(zip(lanes(a, 16, s), lanes(b, 16, s), strict=True))
                )
            )
    for half, at in (("lo", 0), ("hi", 2)):
        for s in (True, False):
            cast = "(int)" if s else ""
            found[f"__dp2a_{half}({cast}a, {cast}b, {cast}c)"] = lambda a, b, c, s=s, at=at: (
                c + sum(x * y for x, y in zip(lanes(a, 16, s), lanes(b, 8, s)[at : at + 2], strict=True))
            )
    found["__funnelshift_lc(a, b, c)"] = lambda a, b, c: ((b << 32 | a) << min(c, 32)) >> 32
    found["__funnelshift_rc(a, b, c)"] = lambda a, b, c: (b << 32 | a) >> min(c, 32)
    found["__urhadd(a, b)"] = lambda a, b, c: (a + b + 1) >> 1
    found["__fns(a, c & 31, 2)"] = lambda a, b, c: ([i for i in range(c & 31, 32) if a >> i & 1] + [-1, -1])[
        1
    ]
    found["__fns(a, c & 31, -1)"] = lambda a, b, c: ([i for i in range(c & 31, -1, -1) if a >> i & 1] + [-1])[
        0
    ]
    return found


def bits(value, form):
    return struct.unpack({"f": "<i", "d": "<q"}[form], struct.pack(f"<{form}", value))[0]


def rounded(exact, form, how):
    """The float or double that is `exact`, rounded: "d" down, "u" up, "z" towards zero, "n" to the nearest one."""
    digits, least = (24, -149) if form == "f" else (53, -1074)
    if exact == 0:
        return bits(0.0, form)
    size = abs(exact)
    exponent = math.floor(math.log2(size))
    exponent += (size >= Fraction(2) ** (exponent + 1)) - (size < Fraction(2) ** exponent)
    unit = Fraction(2) ** max(exponent - digits + 1, least)
    down = math.floor(exact / unit)
    up = math.ceil(exact / unit)
    whole = {"d": down, "u": up, "z": down if exact > 0 else up, "n": round(exact / unit)}[how]
    if whole == 0 and exact < 0:
        return bits(-0.0, form)
    return bits(float(whole * unit), form)


def _directed():
    found = {}
    for how in "duzn":
        for name, of, width in (("int", "(int)a", 32), ("uint", "a", 0), ("ll", "(int)a * 4294967297ll", 64)):
            exact = {
                32: lambda a: signed(a, 32),
                0: lambda a: a,
                64: lambda a: signed(a, 32) * 4294967297,
            }[width]
            found[f"__float_as_int(__{name}2float_r{how}({of}))"] = lambda a, b, e=exact, h=how: rounded(
                Fraction(e(a)), "f", h
            )
        unsigned = "(a * 4294967297ull)"
        for to, form, cast in (("float", "f", "__float_as_int"), ("double", "d", "__double_as_longlong")):
            for name, of, exact in (
                ("ull", unsigned, lambda a: a * 4294967297),
                ("ll", f"(long long){unsigned}", lambda a: signed(a * 4294967297, 64)),
            ):
                found[f"{cast}(__{name}2{to}_r{how}({of}))"] = lambda a, b, e=exact, h=how, f=form: rounded(
                    Fraction(e(a)), f, h
                )
        found[f"__float_as_int(__double2float_r{how}((int)a / 1e9))"] = lambda a, b, h=how: rounded(
            Fraction(signed(a, 32) / 1e9), "f", h
        )
        for name, f in (
            ("dadd", lambda x, y: x + y),
            ("dsub", lambda x, y: x - y),
            ("dmul", lambda x, y: x * y),
            ("ddiv", lambda x, y: x / y),
        ):
            found[f"__double_as_longlong(__{name}_r{how}((int)a / 1e9, b / 3e9))"] = lambda a, b, h=how, f=f: (
                rounded(f(Fraction(signed(a, 32) / 1e9), Fraction(b / 3e9)), "d", h)
            )
        found[f"__double_as_longlong(__drcp_r{how}(b / 3e9))"] = lambda a, b, h=how: rounded(
            1 / Fraction(b / 3e9), "d", h
        )
        found[f"__double_as_longlong(__fma_r{how}((int)a / 1e9, b / 3e9, -0.1))"] = lambda a, b, h=how: (
            rounded(Fraction(signed(a, 32) / 1e9) * Fraction(b / 3e9) - Fraction(0.1), "d", h)
        )
    found["llrint(1e6 * cyl_bessel_i0(1.5)) + 0 * a"] = lambda a, b: 1646723
    found["llrint(1e6 * cyl_bessel_i1f(-2.5f))"] = lambda a, b: -2516716
    found["llrint(1e6 * norm(3, w)) + llrint(normf(3, v))"] = lambda a, b: 13000013
    found["llrint(1e6 * rnorm(3, w)) + llrint(1e3 * rnormf(3, v))"] = lambda a, b: 77000
    return found


WORDS = _words()
THREES = _threes()
DIRECTED = _directed()
