"""Two barriers of the source are two, on whatever lines they stand; one of which a compiler makes two is one."""

from __future__ import annotations

import pytest

from grader.backends.extension.request import BuildRequest
from grader.backends.simt.compile import compiler

from .conftest import Play, line_of
from .programs import barriers


@pytest.mark.slow(cases=1000)
@pytest.mark.parametrize("name", barriers.TWO)
def test_two_barriers_on_one_line_are_two(play: Play, name: str) -> None:
    found = play("barriers")[name]["findings"]
    assert {f["kind"] for f in found} == {"barrier-divergence"}, found
    if name != "ternary_calls":  # their lines are those of the functions
        line = line_of("barriers", name)
        assert {(f["line"], f["other"]["line"]) for f in found} == {(line, line)}
    assert all(f["thread"] != f["other"]["thread"] for f in found)


@pytest.mark.parametrize("name", barriers.ONE)
def test_one_barrier_of_which_the_compiler_makes_several_is_one(play: Play, name: str) -> None:
    assert play("barriers")[name]["findings"] == []
    assert play("barriers")[name]["error"] == ""


ROUND = {
    "by undefining it": ("#undef __syncthreads", "if (t) __syncthreads(); else __syncthreads();"),
    "by brackets": ("#define S (__syncthreads)()", "if (t) S; else S;"),
    "by more brackets": ("#define S ((__syncthreads))()", "if (t) S; else S;"),
    "by votes in brackets": ("#define S (__syncthreads_or)(1)", "if (t) S; else S;"),
    "by a counter that stands still": (
        "#undef __COUNTER__\n#define __COUNTER__ 7", "if (t) __syncthreads(); else __syncthreads();",
    ),
    "by a counter that is no number": (
        "#undef __COUNTER__\n#define __COUNTER__ t*0", "if (t) __syncthreads(); else __syncthreads();",
    ),
    "by pasting the runtime's name": (
        "#define P(a, b) a##b\n#define S P(simt_sync, threads)(5)", "if (t) S; else S;",
    ),
    "by a pointer to the runtime's": ("#define P(a, b) a##b", "auto f = P(simt_sync, threads); if (t) f(1); else f(1);"),
    "by a pointer": ("", "auto f = __syncthreads; if (t) f(); else f();"),
    "by a number for a group": (
        "#include <cooperative_groups.h>",
        "auto b = cooperative_groups::this_thread_block(); if (t) b.sync({7}); else b.sync({7});",
    ),
    "by a deduced number for a group": (
        "#include <cooperative_groups.h>\ntemplate <class S> __device__ void call(void (*f)(S)) { f(S(7)); }",
        "using B = cooperative_groups::thread_block; if (t) call(&B::sync); else call(&B::sync);",
    ),
}  # fmt: skip


@pytest.mark.slow(cases=1000)
@pytest.mark.parametrize("way", ROUND)
def test_no_way_leads_round_the_number_of_a_barrier(way: str) -> None:
    head, body = ROUND[way]
    text = f"{head}\n__global__ void k(float* y) {{ int t = threadIdx.x; {body} y[t] = t; }}\n"
    text += "void run(torch::Tensor y) { k<<<1, 64>>>(y.data_ptr<float>()); }\n"
    with pytest.raises(compiler.CompileError) as caught:
        compiler.build(BuildRequest("round", ("void run(torch::Tensor y);",), (text,), {"run": ""}))
    assert caught.value.first


def test_an_argument_that_a_barrier_does_not_take_is_told_in_its_own_name() -> None:
    text = "__global__ void k(float* y) { __syncthreads(1); y[0] = 1; }\nvoid run(torch::Tensor y) {}\n"
    with pytest.raises(
        compiler.CompileError, match=r"^too many arguments to function 'void __syncthreads\(\)'$"
    ):
        compiler.build(BuildRequest("given", ("void run(torch::Tensor y);",), (text,), {"run": ""}))
