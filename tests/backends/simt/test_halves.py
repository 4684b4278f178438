"""Operators and conversions that PyTorch's flags take from the 16-bit types. nvcc 13.0 said the same of each."""

from __future__ import annotations

import pytest

from grader.backends.simt.compile import halves
from grader.backends.simt.compile.rewrite import rewrite

KERNEL = (
    "__global__ void k(__half a, half b, __half2 p, __half2 q, __nv_bfloat16 u, __nv_bfloat16 v) {{ {} }}"
)
REFUSED = {
    "__half c = a + b;": 'no operator "+"',
    "bool t = a < b;": 'no operator "<"',
    "a += b;": 'no operator "+="',
    "float f = 1.0f; __half c = a * f;": 'no operator "*"',
    "__half c = -a;": 'no operator "-"',
    "__half2 c = p * q;": 'no operator "*"',
    "float f = float(a);": 'no suitable conversion function from "__half" to "float"',
    "float f = (float)a;": 'no suitable conversion function from "__half" to "float"',
    "float f = static_cast<float>(b);": 'no suitable conversion function from "__half" to "float"',
    "float f = float(u);": 'no suitable conversion function from "__nv_bfloat16" to "float"',
    "__half c = __half(1.0f);": 'no instance of constructor "__half::__half"',
    "__half c = __float2half(1.0f), d = c; d = d + a;": 'no operator "+"',
}
TAKEN = (
    "__half c = __hadd(a, b);",
    "__nv_bfloat16 c = u + v;",
    "__half c(a); c = a;",
    "float f = __half2float(a) + __half2float(b);",
    "const __half* r = &a; float f = __half2float(*(r + 1));",
    "struct { float a; } s; s.a = s.a + 1;",
    "float c = 2; { float a = 3; c = a + c; }",
    "size_t n = sizeof(float) * 2; (void)(a);",
)


def refusals(body: str, flags: frozenset[str] = halves.ALL) -> str:
    return rewrite(KERNEL.format(body), halves=flags)


@pytest.mark.parametrize(("body", "words"), REFUSED.items())
def test_what_nvcc_does_not_find_is_refused_in_its_words(body: str, words: str) -> None:
    said = refusals(body)
    assert (
        said.count("GCC error") == 1
        and words.replace('"', "'") in said
        and "PyTorch compiles with -D" in said
    )


@pytest.mark.parametrize("body", TAKEN)
def test_what_nvcc_takes_is_taken(body: str) -> None:
    assert "GCC error" not in refusals(body)


def test_flags_of_the_program_bring_them_back() -> None:
    left = halves.without(["-O3", "-U__CUDA_NO_HALF_OPERATORS__"], [""])
    assert left == halves.ALL - {"__CUDA_NO_HALF_OPERATORS__"}
    assert "GCC error" not in refusals("__half c = a + b;", left)
    assert "GCC error" in refusals("float f = float(a);", left)
    assert not halves.without([], ["using half = c10::Half;"])
    assert not halves.without([], ["typedef at::Half half;"])
    assert halves.without([], ["half a; typedef __half other;"]) == halves.ALL
    assert not halves.without([], ["".join(f"#undef {name}\n" for name in halves.ALL)])
