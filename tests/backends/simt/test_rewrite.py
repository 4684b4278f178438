"""The tokeniser, the kernels it finds, and launches in every shape that people write."""

from __future__ import annotations

import pytest

from grader.backends.simt.compile import passes
from grader.backends.simt.compile.kernels import find_kernels, kernels_of
from grader.backends.simt.compile.rewrite import registration, rewrite
from grader.backends.simt.compile.tokens import joined, tokenize

DECLARED = "__global__ void k(float* x, int n);\ntemplate <typename T, int N> __global__ void t(T* x);\n"


def launch(text: str) -> str:
    return rewrite(DECLARED + text)[len(DECLARED) :]


SHAPES = [
    ("k<<<g, b>>>(x, 0);", "::simt::launcher(SIMT_NAME(k), ::simt::Config(g, b), k)(x, 0);"),
    (
        "t<float, 4><<<g, b>>>(x);",
        "::simt::launcher(SIMT_NAME(t<float, 4>), ::simt::Config(g, b), t<float, 4>)(x);",
    ),
    ("ns::k<<<1, 2>>>(x, n);", "::simt::launcher(SIMT_NAME(ns::k), ::simt::Config(1, 2), ns::k)(x, n);"),
    ("if (a) k<<<g,b>>>(x);", "if (a) ::simt::launcher(SIMT_NAME(k), ::simt::Config(g,b), k)(x);"),
]


@pytest.mark.parametrize(("text", "expected"), SHAPES)
def test_a_launch_of_a_known_kernel_passes_its_address(text: str, expected: str) -> None:
    assert launch(text) == expected


def test_a_mark_of_the_byte_order_is_no_word() -> None:
    assert rewrite("\ufeffint i;\n") == "int i;\n"


def test_only_a_kernel_whose_types_are_known_can_take_a_reference() -> None:
    texts = ["__global__ void k(A& a);\n", "template <class T> __global__ void t(T& a);\n"]
    kernels = kernels_of(texts)
    assert rewrite("k<<<1, 2>>>(a);", kernels).endswith("Config(1, 2), k)(a);")
    assert "a reference among its parameters cannot run" in rewrite("t<<<1, 2>>>(a);", kernels)


@pytest.mark.parametrize(
    "callee",
    [
        "t<float>",
        "other",
        "f<A<B<int>>>",
        "f<(N>4)>",
        "(*pointer)",
        "table[i]",
        "self->table[i + 1][g(j)]",
        "all.of<3>",
        "::f",
        "K",
        "f<T, sizeof(T) == 4 ? 8 : 16>",
    ],
)
def test_a_launch_of_anything_else_deduces_its_arguments(callee: str) -> None:
    out = launch(f"{callee}<<<dim3(1, 2), n >> 8, 0, s>>>(x, n);")
    assert out == (
        f"::simt::launcher(SIMT_NAME({callee}), ::simt::Config(dim3(1, 2), n >> 8, 0, s), "
        f"[=](auto&... simt_a) {{ {callee}(simt_a...); }})(x, n);"
    )


UNTOUCHED = [
    '// k<<<1,2>>>(x)\nauto s = "k<<<1,2>>>(x)"; /* k<<<1>>>() */',
    "std::vector<std::vector<std::vector<int>>> v; x = 1'000 >> 2; std::cout << 1 << 2;",
    'auto r = R"x(k<<<1,2>>>(x))x";',
]


@pytest.mark.parametrize("text", UNTOUCHED)
def test_what_is_no_launch_stays(text: str) -> None:
    assert rewrite(text) == text


@pytest.mark.parametrize(
    "text", [*(s for s, _ in SHAPES), *UNTOUCHED, DECLARED, "a\\\nb", "'\\''", "1e-3f + .5"]
)
def test_tokens_are_the_whole_text(text: str) -> None:
    assert joined(tokenize(text)) == text


def test_lines_do_not_move() -> None:
    text = "k<float,\n  4><<<\n  dim3(1), // blocks\n  2>>>(\n  x,\n  y);\nextern __shared__\n  float s[];"
    assert rewrite(text).count("\n") == text.count("\n")


@pytest.mark.parametrize(
    "text",
    [
        "extern __shared__ float s[];",
        "extern __shared__ __align__(16) unsigned char s[];",
        "extern __shared__\n alignas(alignof(T)) char s[];",
        "__shared__ extern float s[];",
    ],
)
def test_dynamic_shared_memory_gets_its_name(text: str) -> None:
    out = rewrite(text)
    assert "__shared__" not in out
    assert out.count("extern __thread") == 1
    assert out.endswith('s[] __asm__("simt_dynamic_shared");')


def test_static_shared_memory_is_left_to_the_macro() -> None:
    assert rewrite("__shared__ float s[32];") == "__shared__ float s[32];"
    assert rewrite("static __shared__ float s[32];").strip() == "__shared__ float s[32];"


def test_kernels_are_found_with_their_parameters() -> None:
    text = """
    __global__ void plain(const float* __restrict__ x, float (&tile)[4], int n) {}
    template <typename T = float, int N> static __global__ void __launch_bounds__(256) bound(T* y, dim3 d) {}
    template <typename T> C10_LAUNCH_BOUNDS_1(128) __global__ void torchs(T* y) {}
    template <class... A> __global__ void pack(A... a) {}
    __global__ void defaults(float* x, int n = 4) {}
    __global__ void twice(float* x); __global__ void twice(float* again) {}
    __global__ void over(float* x); __global__ void over(int* x) {}
    __global__ void none() {}
    """
    found = find_kernels(text)
    assert found["plain"].parameters[0] == "x" and found["plain"].parameters[2] == "n"
    assert found["bound"].parameters == ("y", "d") and found["bound"].template_parameters == 2
    assert {name for name, kernel in found.items() if kernel.typed} == {
        "plain",
        "bound",
        "torchs",
        "twice",
        "none",
    }
    assert '"plain:1024 x ? n,bound:256 y d,torchs:128 y,' in registration([text])


def test_a_kernels_address_in_a_macro_of_several_lines_is_told_and_lines_stay() -> None:
    text = (
        "template <int A, int B> __global__ void k(float* x) {}\n"
        "#define CHOOSE(A) \\\n  p = (void *) \\\n    k<A, \\\n      2>; \\\n  q = 1;\n"
    )
    out = rewrite(text)
    assert "::simt::kernel_address(::simt::named(SIMT_NAME(k<A, 2>), k<A, 2>))" in out
    assert out.count("\n") == text.count("\n")
    assert all(line.endswith("\\") for line in out.splitlines()[1:-1])


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("#ifndef __CUDACC__\na\n#endif\nb", "#ifndef __CUDACC__\n\n#endif\nb"),
        ("#if !defined(__NVCC__)\na\n#else\nb\n#endif", "#if !defined(__NVCC__)\n\n#else\nb\n#endif"),
        ("#ifdef __CUDACC__\na\n#else // host\nb\n#endif", "#ifdef __CUDACC__\na\n#else // host\n\n#endif"),
        (
            "#ifndef __CUDACC__\n#if X\na\n#else\nb\n#endif\nc\n#endif\nd",
            "#ifndef __CUDACC__\n\n\n\n\n\n\n#endif\nd",
        ),
        ("#if X && defined(__CUDACC__)\na\n#else\nb\n#endif", None),
        ("#ifdef __CUDACC__\na\n#elif X\nb\n#else\nc\n#endif", None),
        ("#if X\n#ifdef __CUDACC__\na\n#endif\n#else\nb\n#endif", None),
    ],
)
def test_what_is_there_for_other_compilers_is_not_looked_at(text: str, left: str | None) -> None:
    assert passes.for_nvcc(text) == (text if left is None else left)


def test_a_header_may_define_for_the_host_what_cuda_has_for_the_device() -> None:
    host = "#ifndef __CUDACC__\ninline float rsqrtf(float x) { return 1 / x; }\n#endif\n"
    kernel = "__device__ float f(float x) { return rsqrtf(x); }\n"
    assert "error" not in rewrite(host + kernel)
    assert "error" in rewrite(host.split("\n")[1] + "\n" + kernel)


def test_a_kernel_and_a_host_function_may_have_one_name() -> None:
    """Which of them is meant the arguments decide."""
    host = "void k(float* x, int n, int size) { k<<<n, size>>>(x, n); }\n"
    out = launch(host)
    assert "::simt::Config(n, size), [=](auto&... simt_a) { k(simt_a...); })(x, n);" in out
    assert "::simt::Config(n, size), k)(x, n);" in launch(host.replace("void k(", "void other("))


def test_a_member_may_be_called_like_a_variable_of_cuda() -> None:
    text = "void f(S* s, P p) { s->gridDim = dim3(4); p.blockDim.x = 3; int i = threadIdx.x; }"
    assert rewrite(text) == text.replace("s->gridDim", "s->gridDim_").replace("p.blockDim", "p.blockDim_")


@pytest.mark.parametrize(
    ("head", "address"), [("__global__ ", "k"), ("", "(const void*)k"), ("auto k = ", "")]
)
def test_a_function_of_the_host_is_no_kernel_for_the_runtime(head: str, address: str) -> None:
    declared = f"{head}pick();\n" if "=" in head else f"{head}void k(float* x);\n"
    out = rewrite(declared + "void f(void** a) { cudaLaunchKernel((void*)k, 1, 32, a); }")
    assert f"::simt::named(SIMT_NAME(k), {address or 'k'})" in out


def test_a_name_that_a_header_declares_with_other_parameters_is_two_functions() -> None:
    header, source = "__global__ void k(float* x);", "__global__ void k(float* x, int n) {}"
    assert find_kernels(header)["k"].typed and find_kernels(source)["k"].typed
    assert not kernels_of([header, source])["k"].typed
    assert kernels_of([header, "__global__ void k(float* y) {}"])["k"].typed


def test_a_launch_in_device_code_is_one_by_a_kernel() -> None:
    text = "__global__ void k(int* x) { k<<<1, 1>>>(x); } void f(int* x) { k<<<1, 1>>>(x); }"
    assert rewrite(text).count("::simt::child(") == rewrite(text).count("::simt::launcher(") == 1
    assert "<<<" in registration([text]) and "<<<" not in registration(["__global__ void k(int* x) {}"])
