"""The host half of a CUDA source: what becomes of kernels, launches and functions for the device."""

import re

import pytest

from grader.backends.cuda.compile.host_text import CannotError, split

SQUARE = """
__device__ float squared(float v) { return v * v; }
__global__ void square(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = squared(in[i]);
}
void run(const float* in, float* out, int n) {
    square<<<(n + 255) / 256, 256>>>(in, out, n);
}
"""


def host(source: str) -> str:
    """The host half, blanks made one."""
    text = split(source).text
    assert text.count("\n") == source.count("\n")  # no line moves
    return re.sub(r"\s+", " ", text)


def test_a_launch_is_a_call_and_the_kernel_launches() -> None:
    text = host(SQUARE)
    assert "__cudaPushCallConfiguration((n + 255) / 256, 256) ? (void)0 : square(in, out, n);" in text
    assert "void (*itf_self)(const float*in, float*out, int n) = &square;" in text
    assert "itf::launch((const void*)itf_self, {(void*)&in, (void*)&out, (void*)&n});" in text
    assert "blockIdx" not in text and "squared" not in text


def test_what_only_the_device_compiles_is_known_by_line() -> None:
    parts = split(SQUARE)
    assert parts.kernels == {"square"} and parts.left_out == {"squared"}
    assert [line for line in range(1, 10) if parts.is_device_code(line)] == [2, 3, 4, 5, 6]


def test_a_function_that_the_host_names_is_declared() -> None:
    text = re.sub(r"\s+", " ", split(SQUARE, frozenset({"squared"})).text)
    assert "__device__ float squared(float v) ;" in text


@pytest.mark.parametrize(
    ("kernel", "wanted"),
    [
        ("template <typename T, int N> __global__ void k(T* x) { x[0] = N; }", "= &k<T, N>;"),
        (
            "template <typename T, int = 4> __global__ void k(T* x) { }",
            "template <typename T, int itf_t1 =4>",
        ),
        ("template <typename T, int = 4> __global__ void k(T* x) { }", "= &k<T, itf_t1>;"),
        ("template <typename... Ts> __global__ void k(Ts... xs) { }", "{(void*)&xs...}"),
        ("template <> __global__ void k<float>(float* x) { }", "= &k<float>;"),
        ("template <template <class> class F, class T> __global__ void k(F<T> f) { }", "= &k<F, T>;"),
        ("__global__ void k(float*, int) { }", "k(float*itf_a0, int itf_a1)"),
        ("__global__ void k(float* x, int n = 3) { }", "void (*itf_self)(float*x, int n) = &k;"),
        ("__global__ void k(float* x, int n = 3) { }", "k(float* x, int n = 3)"),
        ("__global__ void k(const float (*x)[4]) { }", "(void*)&x"),
        ("__global__ void k(float x[], const unsigned) { }", "(void*)&x, (void*)&itf_a1"),
        ("__global__ void k(void) { }", "void (*itf_self)() = &k; itf::launch((const void*)itf_self, {});"),
        ("__global__ void __launch_bounds__(256, 2) k(int n) { }", "void k(int n)"),
        ("template <int B> __launch_bounds__(B) __global__ void k(int n) { }", "= &k<B>;"),
        ("__launch_bounds__(256) static __global__ void k(int n) { }", "void k(int n) {"),
        ('extern "C" __global__ void k(int n) { }', 'extern "C" __global__ void k(int n) {'),
        ("namespace { __global__ void k(int n) { } }", "= &k;"),
        ("__global__ void k(const __grid_constant__ int n) { }", "k(const int n)"),
        ("__global__ void k(const at::Half& a, T&& b) { }", "(const at::Half&a, T&&b)"),
    ],
)
def test_forms_of_kernels(kernel: str, wanted: str) -> None:
    assert wanted in host(kernel)


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        (
            "__host__ __device__ int up(int a) { return a; }",
            "__host__ __device__ int up(int a) { return a; }",
        ),
        (
            "__device__ constexpr int up(int a) { return a; }",
            "__device__ constexpr int up(int a) { return a; }",
        ),
        ("struct S { int n; __device__ S(int a) : n{a} { go(); } int m; };", "struct S { int n; int m; };"),
        ("struct S { __device__ bool operator()(int a) const { return a; } };", "struct S { };"),
        ("struct S {\npublic:\n__device__ void f() { } int n; };", "struct S { public: int n; };"),
        ("__constant__ float table[4] = {1, 2, 3, 4}; int n;", "float table[4] = {1, 2, 3, 4}; int n;"),
        ("static __device__ int calls = 0; int n;", "static int calls = 0; int n;"),
        ("extern __shared__ float buffer[]; int n;", "int n;"),
        ("__device__ int later(int a); int n;", "int n;"),
        ("template <class T> __device__ T up(T a) { return a; } int n;", "int n;"),
    ],
)
def test_what_is_not_a_kernel(source: str, wanted: str) -> None:
    assert host(source).strip() == wanted


def test_conditions_of_the_preprocessor_stay() -> None:
    text = split("__global__ void k(int* x) {\n#ifdef A\n  x[0] = 1;\n#else\n  x[0] = 2;\n#endif\n}\n").text
    assert re.findall(r"#\w+", text) == ["#ifdef", "#else", "#endif"] and "x[0]" not in text


def test_a_launch_in_a_macro() -> None:
    text = host("#define GO(T) \\\n  k<T><<<1, 2, 0, stream>>>(x)\nvoid f() { GO(float); }\n")
    assert "__cudaPushCallConfiguration(1, 2, 0, stream) ? (void)0 : k<T>(x)" in text


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("#ifdef __CUDACC__\nint n;\n#endif", "whether nvcc compiles it"),
        ("#include <torch/csrc/stable/library.h>\nint n;", "a library of the stable ABI"),
        ("#define K(n) __global__ void n() { }\nK(a)", "a macro holds kernels"),
        ("void f() { each([=] __device__ (int i) { return i; }); }", "a lambda for the device"),
        ("__managed__ int n;", "managed variables"),
        ("void f() { C10_CUDA_CHECK(cudaGetLastError()); }", "add #include <c10/cuda/CUDAException.h>"),
        ("__global__ void k(int n) { if (n) {", "do not close"),
        ("f() {} f(__shared__ ) {}\n", "does not end"),
        ("__device__ bool operator", "does not end"),
        ("__global__ void k(float* x,, int n) { }", "a parameter has a form"),
        ("void f() { (*kernels[0] + 1)<<<1, 1>>>(); <<<2>>> }", "a launch has a form"),
    ],
)
def test_what_is_left_to_the_ordinary_build(source: str, why: str) -> None:
    with pytest.raises(CannotError, match=why):
        split(source)
