"""Fragments that nvcc has no type or no function for are refused by a sentence at the student's line."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.backends.simt.compile import compiler as builder
from grader.backends.simt.compile.compiler import CompileError

from .test_build import request

A = "fragment<matrix_a, 16, 16, 16, half, row_major> a;"
B = "fragment<matrix_b, 16, 16, 16, half, col_major> b;"
C = "fragment<accumulator, 16, 16, 16, float> c;"
HALVES = "fragment<accumulator, 16, 16, 16, half> c;"
M = "mma_sync(c, a, b, c);"


def bfloat16(text: str) -> str:
    return text.replace("half", "__nv_bfloat16")


def tf32(text: str) -> str:
    return text.replace("16, half", "16, precision::tf32").replace("16, 16, 16", "16, 16, 8")


def kernel(*bodies: str) -> str:
    blocks = "".join(f"{{ {body} }}\n" for body in bodies)
    head = "#include <torch/extension.h>\n#include <cuda_bf16.h>\n#include <mma.h>\nusing namespace nvcuda::wmma;\n"
    end = "torch::Tensor run(torch::Tensor x) { return x; }\n"
    return f"{head}__global__ void k(half* p, float* q) {{\n{blocks}}}\n{end}"


# nvcc 13.0 refuses each of these as well: an incomplete type, or no function of that name with these arguments.
REFUSED = {
    "no layout": ("fragment<matrix_b, 16, 16, 16, half> b;", "row_major or col_major"),
    "no layout to": ("fragment<matrix_a, 16, 16, 16, half, float> a;", "row_major or col_major"),
    "sums with a layout": (
        "fragment<accumulator, 16, 16, 16, float, row_major> c;",
        "has no layout in its type",
    ),
    "shape": ("fragment<matrix_a, 8, 8, 8, half, row_major> a;", "no fragment of this type or shape"),
    "shape of sums": ("fragment<accumulator, 16, 16, 32, float> c;", "no fragment of this type or shape"),
    "type": ("fragment<matrix_a, 16, 16, 16, float, row_major> a;", "no fragment of this type or shape"),
    "type of sums": (bfloat16(HALVES), "no fragment of this type or shape"),
    "use": ("fragment<float, 16, 16, 16, half, row_major> a;", "matrix_a, matrix_b or accumulator"),
    "load of another type": (C + "load_matrix_sync(c, p, 16, mem_row_major);", "the pointer's differ"),
    "load of sums": (C + "load_matrix_sync(c, q, 16);", "is loaded with its layout"),
    "load of factors": (A + "load_matrix_sync(a, p, 16, mem_row_major);", "has its layout in its type"),
    "store of another type": (C + "store_matrix_sync(p, c, 16, mem_row_major);", "the pointer's differ"),
    "store of factors": (A + "store_matrix_sync(p, a, 16, mem_row_major);", "only a fragment of sums"),
    "order": (A + B + C + "mma_sync(c, b, a, c);", "in this order"),
    "two types": (A + bfloat16(B) + C + M, "have different types"),
    "two sizes": (A + B + C.replace("16, 16, 16", "32, 8, 16") + M, "have different sizes"),
    "sums too narrow": (bfloat16(A + B) + HALVES + M, "added up in float"),
}
TAKEN = (
    A + B + C + M,
    A + B + HALVES + M,
    A + B + C + HALVES.replace(" c;", " d;") + "mma_sync(c, a, b, d); mma_sync(d, a, b, c);",
    bfloat16(A + B) + C + M,
    tf32(A + B) + C.replace("16, 16, 16", "16, 16, 8") + M,
    (A + B + C).replace("16, 16, 16", "32, 8, 16") + M,
    "__shared__ half s[16][16];" + A + "load_matrix_sync(a, s[0], 16); load_matrix_sync(a, p, 16LL);",
    "__shared__ float s[256];" + C + "load_matrix_sync(c, s, 16, mem_row_major);"
    "store_matrix_sync(s, c, 16, mem_row_major);",
    C + "load_matrix_sync(c, q, 16, mem_col_major); store_matrix_sync(q, c, 16, mem_row_major);",
    tf32(A) + "load_matrix_sync(a, q, 16); a.x[0] = __float_to_tf32(a.x[0]);",
    C + "fill_fragment(c, 0); decltype(c)::storage_element_type first = c.x[0]; q[0] = first;",
    HALVES + "fill_fragment(c, __float2half(0.0f)); store_matrix_sync(p, c, 16, mem_row_major);",
)


@pytest.mark.parametrize("name", REFUSED)
def test_what_nvcc_refuses_is_refused_by_a_sentence(name: str) -> None:
    body, says = REFUSED[name]
    with pytest.raises(CompileError) as caught:
        builder.build(request(kernel(body), cuda_origins=[[[1, "/home/me/exercise.py", 1]]]))
    assert says in caught.value.first and "static" not in caught.value.first
    assert (caught.value.file, caught.value.line) == ("/home/me/exercise.py", 6)


def test_what_nvcc_takes_is_taken() -> None:
    assert Path(builder.build(request(kernel(*TAKEN))).path).stat().st_size
