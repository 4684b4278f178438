"""What nvcc refuses and a C++ compiler would take is refused here too, in nvcc's words, at its line."""

from __future__ import annotations

import pytest

from grader.backends.simt.compile import compiler as builder
from grader.backends.simt.compile import spaces
from grader.backends.simt.compile.compiler import CompileError
from grader.backends.simt.compile.kernels import kernels_of
from grader.backends.simt.compile.rewrite import rewrite
from grader.feedback.explain import explain

from .test_build import request

FORGOTTEN = "float twice(float v) { return 2 * v; }\n"
REFUSED = {
    "forgotten_device": (
        FORGOTTEN + "__global__ void k(float* x) {\n    x[0] = twice(x[0]);\n}",
        'calling a __host__ function("twice") from a __global__ function("k") is not allowed',
        3,
    ),
    "from_a_device_function": (
        FORGOTTEN + "__device__ float four(float v) { return twice(twice(v)); }",
        'calling a __host__ function("twice") from a __device__ function("four") is not allowed',
        2,
    ),
    "a_vector": (
        "#include <vector>\n__global__ void k(float* x) {\n    std::vector<float> v(4);\n    x[0] = v[0];\n}",
        'calling a __host__ function("std::vector")',
        3,
    ),
    "a_type_of_the_hosts": (
        "_Float16 on_the_host(_Float16 v) { return v; }\n__global__ void k(float* x) {\n    _Float16 v = 1; x[0] = v;\n}",
        "_Float16 is a type of the host's compiler that nvcc has no device code for: use __half",
        3,
    ),
    "another_type_of_the_hosts": (
        "__device__ float f(float* x) {\n    return *(__bf16*)x;\n}",
        "__bf16 is a type of the host's compiler that nvcc has no device code for: use __nv_bfloat16",
        2,
    ),
    "no_kernel": (
        "void k(float* x) { x[0] = 1; }\nvoid run(float* x) {\n    k<<<1, 32>>>(x);\n}",
        "a host function call cannot be configured",
        3,
    ),
    "no_kernel_of_another_file": (
        "void k(float* x);\nvoid run(float* x) {\n    k<<<1, 32>>>(x);\n}",
        "a host function call cannot be configured",
        3,
    ),
    "a_device_function_launched": (
        "__device__ void k(float* x) { x[0] = 1; }\nvoid run(float* x) {\n    k<<<1, 32>>>(x);\n}",
        "a __device__ function call cannot be configured",
        3,
    ),
    "a_device_function_on_the_host": (
        "__device__ float twice(float v) { return 2 * v; }\nfloat run(float x) {\n    return twice(x);\n}",
        'calling a __device__ function("twice") from a __host__ function("run") is not allowed',
        3,
    ),
    "a_check_of_torch": (
        '__global__ void k(float* x, int n) {\n    TORCH_CHECK(n > 0, "n");\n    x[0] = 1;\n}',
        'calling a __host__ function("TORCH_CHECK") from a __global__ function("k") is not allowed',
        2,
    ),
    "an_atomic_of_the_compiler": (
        "__global__ void k(unsigned* x) {\n    __atomic_fetch_add(x, 1u, __ATOMIC_RELAXED);\n}",
        'calling a __host__ function("__atomic_fetch_add") from a __global__ function("k") is not allowed',
        2,
    ),
    "an_older_atomic_of_the_compiler": (
        "__device__ void add(unsigned* x) {\n    __sync_fetch_and_add(x, 1u);\n}",
        'calling a __host__ function("__sync_fetch_and_add") from a __device__ function("add") is not allowed',
        2,
    ),
    "an_array_of_a_size_that_varies": (
        "__global__ void k(float* x, int n) {\n    float a[n];\n    a[0] = x[0];\n}",
        "expression must have a constant value",
        2,
    ),
    "an_array_of_a_size_computed": (
        "__global__ void k(float* x) {\n    int m = 1 + threadIdx.x % 3;\n    float a[2 * m];\n    a[0] = x[0];\n}",
        "expression must have a constant value",
        3,
    ),
    "a_constant_array_of_the_host": (
        "constexpr float ONES[4] = {1, 1, 1, 1};\n__global__ void k(float* x) {\n    int i = threadIdx.x;\n"
        "    x[i] = ONES[i % 4];\n}",
        'identifier "ONES" is undefined in device code',
        4,
    ),
    "more_constants_than_there_is_room_for": (
        "__constant__ float few[4] = {1, 2, 3, 4};\n__constant__ float many[25000];\n"
        "__global__ void k(float* x, int i) { x[0] = many[i] + few[i]; }",
        "File uses too much global constant data",
        2,
    ),
    "an_operand_of_another_type": (
        '__global__ void k(float* x) {\n    int bits;\n    asm("mov.b32 %0, %1;" : "=r"(bits) : "r"(x[0]));\n'
        "    x[0] = bits;\n}",
        "asm operand type does not match type/size implied by constraint",
        3,
    ),
    "a_constant_of_the_host_by_reference": (
        "#include <algorithm>\nconstexpr float zero = 0.0f;\n__device__ float relu(float v) {\n"
        "    return std::max(v + 1, zero);\n}",
        'identifier "zero" is undefined in device code',
        4,
    ),
    "dynamic_shared_memory_of_two_types": (
        "__global__ void a(float* x) {\n    extern __shared__ float pool[];\n    x[0] = pool[0];\n}\n"
        "__global__ void b(double* x) {\n    extern __shared__ double pool[];\n    x[0] = pool[0];\n}",
        'declaration is incompatible with previous "pool"',
        6,
    ),
    "dynamic_shared_memory_of_a_type_for_each_instance": (
        "namespace n {\ntemplate <class T>\n__global__ void k(T* x) {\n    extern __shared__ T room[];\n"
        "    room[threadIdx.x] = x[0]; x[1] = room[0];\n}\n}\n"
        "void run(float* x, double* y) { n::k<<<1, 32, 128>>>(x); n::k<<<1, 32, 256>>>(y); }",
        'declaration is incompatible with previous "room"',
        4,
    ),
    "a_kernel_in_a_class": (
        "struct Ops {\n    int n;\n    static __global__ void k(float* x) { x[0] = 1; }\n};",
        "A __global__ function or function template cannot be a member function",
        3,
    ),
    "a_lambda_for_the_device": (
        "template <class F> __global__ void k(float* x, F f) { x[0] = f(x[1]); }\nvoid run(float* x) {\n"
        "    k<<<1, 1>>>(x, [] __device__(float v) { return v; });\n}",
        "__host__ or __device__ annotation on lambda requires --extended-lambda nvcc flag",
        3,
    ),
    "a_lambda_of_the_host": (
        "template <class F> __global__ void k(float* x, F f) { x[0] = f(x[1]); }\nvoid run(float* x) {\n"
        "    auto same = [](float v) { return v; };\n    k<<<1, 1>>>(x, same);\n}",
        "The closure type for a lambda cannot be used in the template argument type of a __global__ function",
        4,
    ),
    "a_type_of_a_function": (
        "template <class F> __global__ void k(float* x, F f) { x[0] = f(x[1]); }\nvoid run(float* x) {\n"
        "    struct Same { __device__ float operator()(float v) const { return v; } };\n    k<<<1, 1>>>(x, Same{});\n}",
        "A type defined inside a __host__ function cannot be used in the template argument type of a __global__",
        4,
    ),
    "more_parameters_than_there_is_room_for": (
        "struct Big { float a[9000]; };\n__global__ void k(Big b, float* x) { x[0] = b.a[0]; }\n"
        "void run(float* x) {\n    k<<<1, 1>>>(Big{}, x);\n}",
        "Formal parameter space overflowed",
        4,
    ),
    "a_variable_of_the_host": (
        "float one = 1.0f;\n__device__ float f(float v) {\n    return v / (one + v);\n}",
        'identifier "one" is undefined in device code',
        3,
    ),
    "a_constant_array_of_a_class": (
        "struct Config { static constexpr float one[2] = {1, 1}; };\n__global__ void k(float* x, int i) {\n"
        "    x[i] = x[i] * Config::one[i % 2];\n}",
        'identifier "Config::one" is undefined in device code',
        3,
    ),
    "an_array_of_the_standard_library": (
        "#include <array>\nconstexpr std::array<float, 2> ONES{1, 1};\n__global__ void k(float* x, int i) {\n"
        "    x[i] = x[i] * ONES[i % 2];\n}",
        'identifier "ONES" is undefined in device code',
        4,
    ),
    "a_constant_of_the_host_that_is_computed": (
        '#include <cmath>\nnamespace mine {\nnamespace {\nconst float ONE = std::sqrt(getenv("A") ? 1.0f : 2.0f);\n}\n'
        "__device__ float scaled(float v) {\n    return v * ONE;\n}\n}\n"
        "__global__ void k(float* x, int i) { x[i] = mine::scaled(x[i]); }",
        'identifier "mine::ONE" is undefined in device code',
        7,
    ),
    "a_table_of_another_type_of_the_hosts": (
        "struct Two { float a, b; };\nstatic Two both = {1, 2};\nvoid set(float a) { both.a = a; }\n"
        "__global__ void k(float* x, int i) {\n    x[i] = both.a;\n}",
        'identifier "both" is undefined in device code',
        5,
    ),
    "a_vector_of_the_hosts_compiler": (
        "typedef float v4 __attribute__((vector_size(16)));\n__global__ void k(float* x, int i) {\n"
        "    v4 a = {x[i]};\n    x[i] = (a * a)[0];\n}",
        '"v4" is a vector, which is not supported in device code',
        3,
    ),
    "a_kernel_that_is_called": (
        "__global__ void k(float* x) { x[0] = 1; }\nvoid run(float* x) {\n    k<<<1, 32>>>(x);\n    k(x);\n}",
        "a __global__ function call must be configured",
        4,
    ),
    "a_kernel_that_is_called_with_its_types": (
        "template <class T, int N> __global__ void k(T* x) { x[0] = N; }\nvoid run(float* x) {\n"
        "    k<float, (1 > 0)><<<1, 32>>>(x);\n    if (x) k<float, 2>(x);\n}",
        "a __global__ function call must be configured",
        4,
    ),
    "a_variable_of_the_hosts_thread": (
        "__global__ void k(float* x) {\n    static thread_local int n;\n    x[0] = n++;\n}",
        "cannot use thread_local specifier for variable declarations in __device__ code",
        2,
    ),
    "shared_memory_with_a_value": (
        "__global__ void k(float* x) {\n    __shared__ float tile[32] = {0};\n    x[0] = tile[0];\n}",
        "initializer not allowed for __shared__ variable",
        2,
    ),
    "device_and_global": (
        "__device__ __global__ void k(float* x) { x[0] = 1; }",
        "illegal combination of memory qualifiers",
        1,
    ),
    "a_kernel_that_returns": (
        "__global__ float k(float* x) { return x[0]; }",
        "a __global__ function must have a void return type",
        1,
    ),
}
FINE = {
    "device": "__device__ float twice(float v) { return 2 * v; }\n__global__ void k(float* x) { x[0] = twice(x[0]); }",
    "both": "__host__ __device__ float twice(float v) { return 2 * v; }\n__device__ float f(float v) { return twice(v); }",
    "kernels_of_a_name": "template <class T> __global__ void k(T* x) {}\nvoid k(float* x) { k<float><<<1, 1>>>(x); }\n"
    "void run(float* x) { k(x); void* f = (void*)k<float>; auto g = &k<float>; (void)f; (void)g; }",
    "constexpr": "constexpr int twice(int v) { return 2 * v; }\n__global__ void k(int* x) { x[0] = twice(x[0]); }",
    "macro of the head": "#define KERNEL(NAME) __global__ void NAME(float* x)\n"
    "__device__ float twice(float v) { return 2 * v; }\nKERNEL(k) { x[0] = twice(x[0]); }",
    "macro": "HOST_DEVICE float twice(float v) { return 2 * v; }\n__global__ void k(float* x) { x[0] = twice(x[0]); }",
    "template": "template <class T> T twice(T v) { return 2 * v; }\n__global__ void k(float* x) { x[0] = twice(x[0]); }",
    "member": FORGOTTEN + "struct S { __device__ float twice(float v); };\n__global__ void k(S s) { s.twice(1); }",
    "variable": FORGOTTEN + "__global__ void k(float* x) { float twice(x[0]); x[1] = twice; }",
    "host": FORGOTTEN + "float four(float v) { return twice(twice(v)); }",
    "constexpr_of_std": "__global__ void k(int* x) { x[0] = std::min(x[0], std::max(x[1], 3)); }",
    "attributes": 'extern "C" __global__ __launch_bounds__(64) void k(float* x) {}',
    "before": "static void __global__ k(float* x) {}\nvoid run(float* x) { k<<<1, 1>>>(x); }",
    "template_kernel": "template <int N> __global__ void k(float* x) {}\nvoid run(float* x) { k<4><<<1, 1>>>(x); }",
    "both_on_the_host": "__host__ __device__ float twice(float v) { return 2 * v; }\nfloat f(float v) { return twice(v); }",
    "a_name_of_its_own": "float one = 1.0f;\n__global__ void k(float* x, float one) { float two = one; x[0] = two; }",
    "a_constant_of_the_host": "constexpr float one = 1.0f;\n__global__ void k(float* x) { x[0] = one; }",
    "a_constant_by_value": "constexpr float zero = 0.0f;\n__device__ float f(float v) { return std::max(v, zero + 1) + fmaxf(v, zero); }",
    "a_constant_of_its_own": "constexpr float zero = 0.0f;\n__device__ float f(float v) { const float zero = 1; return std::max(v, zero); }",
    "dynamic_shared_memory_again": "__global__ void a(float* x) { extern __shared__ __align__(16) float pool[]; x[0] = pool[0]; }\n"
    "__global__ void b(float* x) { extern __shared__ float pool[]; x[0] = pool[0]; }",
    "dynamic_shared_memory_of_another_namespace": "namespace a { __global__ void k(float* x) { extern __shared__ float pool[]; x[0] = pool[0]; } }\n"
    "namespace b { __global__ void k(double* x) { extern __shared__ double pool[]; x[0] = pool[0]; } }",
    "an_array_of_a_constant_size": "constexpr int N = 4;\ntemplate <int M> __device__ float f(int n) { const int m = 2; float a[N], b[M], c[m]; "
    "for (int i = 0; i < 2; ++i) a[i] = b[i] = c[i]; float* d = new float[n]; float e = d[n - 1]; delete[] d; return e; }",
    "a_constant_array_at_a_constant_index": "constexpr float ONES[4] = {1, 1, 1, 1};\n__global__ void k(float* x) { x[threadIdx.x] = ONES[2]; }",
    "a_constant_array_of_the_device": "__device__ const float ONES[4] = {1, 1, 1, 1};\n__constant__ const int TWO[2] = {1, 2};\n"
    "__global__ void k(float* x, int i) { x[i] = ONES[i % 4] + TWO[i % 2]; }",
    "a_constant_array_of_its_own": "constexpr float ONES[4] = {1, 1, 1, 1};\n__global__ void k(float* x, int i) { float ONES[2] = {1, 2}; "
    "x[i] = ONES[i % 2]; }",
    "a_constant_array_on_the_host": "constexpr float ONES[4] = {1, 1, 1, 1};\nfloat f(int i) { float a[i]; a[0] = ONES[i]; return a[0]; }",
    "shared_without": "__global__ void k(float* x) { __shared__ float t[4]; t[0] = 1; float v = t[0]; x[0] = v; }",
    "declared_first": "__device__ float twice(float v);\nfloat twice(float v);\n__global__ void k(float* x) { x[0] = twice(1); }",
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_it_is_refused_in_nvccs_words_and_explained(name: str) -> None:
    text, words, line = REFUSED[name]
    with pytest.raises(CompileError) as error:
        builder.build(request(cuda_sources=[text]))
    assert words.replace('"', "'") in error.value.first.replace('"', "'") and error.value.line == line
    assert explain(error.value.first) is not None
    out = rewrite(text)
    assert out.count("\n") == text.count("\n")


def test_values_of_constants_and_variables_of_the_device_are_taken() -> None:
    text = """
        #include <array>
        #define TABLE(name) __constant__ float name[2] = {1, 2}
        #define INLINED __device__ __forceinline__
        TABLE(table);
        namespace n { __device__ const float more[2] = {1, 2}; __managed__ float all[2]; }
        template <class T> struct Limits { static constexpr T eps = T(0.5), big = T(2); enum { many = 4 }; };
        constexpr std::array<float, 2> ONES{1, 1};
        template <class T> constexpr T pi = T(3.14);
        struct Params { float table[2]; float scale = 2; static constexpr int rows = 3; };
        static const char* said = "only the host";
        INLINED float entry(const float* t, int i) { static const float own[2] = {1, 2}; return t[i % 2] + own[i % 2]; }
        __global__ void k(float* x, int i, Params p) {
            const float local[3] = {1, 2, 3};
            x[i] = entry(table, i) + entry(n::more, i) + n::all[i % 2] + Limits<float>::eps + ONES[1] + pi<float>;
            x[i] += local[i % 3] + p.table[i % 2] + p.scale * Params::rows + fmaxf(x[i], Limits<float>::big);
            if (x[i] > Limits<float>::many) printf("%s %f\\n", "large", x[i]);
        }
        const char* what() { return said; }
    """
    assert builder.build(request(cuda_sources=[text])).path.exists()


def test_a_function_of_the_host_may_have_the_name_of_a_kernel_elsewhere() -> None:
    texts = ["template <int N> __global__ void k(float* x);\n", "void k(float* x) { k<4><<<1, 2>>>(x); }\n"]
    assert "GCC error" not in rewrite(texts[1], kernels_of(texts))
    assert "GCC error" in rewrite(texts[1])


@pytest.mark.parametrize("name", FINE)
def test_what_may_be_right_is_left_alone(name: str) -> None:
    assert "GCC error" not in rewrite(FINE[name])


STREAM = "k<<<1, 1, 0, at::cuda::getCurrentCUDAStream()>>>(x);"
CHECK = "k<<<1, 1>>>(x);\n    C10_CUDA_KERNEL_LAUNCH_CHECK();"
GUARD = "c10::cuda::CUDAGuard guard(0);"
USES = "#include <torch/extension.h>\n{}\n__global__ void k(float* x) {{}}\nvoid run(float* x) {{\n    {}\n}}"


@pytest.mark.parametrize(
    ("header", "used", "lacking"),
    [
        ("", STREAM, "ATen/cuda/CUDAContext.h"),
        ("#include <c10/cuda/CUDAException.h>", STREAM, "ATen/cuda/CUDAContext.h"),
        ("#include <c10/cuda/CUDAStream.h>", STREAM, ""),
        ("", CHECK, "c10/cuda/CUDAException.h"),
        ("#include <torch/cuda.h>", CHECK, "c10/cuda/CUDAException.h"),
        ("#include <ATen/cuda/CUDAContext.h>", CHECK, ""),
        ("#define C10_CUDA_KERNEL_LAUNCH_CHECK()", CHECK, ""),
        ('#include "mine.h"', CHECK, ""),
        ("#include <ATen/cuda/CUDAContext.h>", GUARD, "c10/cuda/CUDAGuard.h"),
        ("#include <ATen/cuda/CUDAEvent.h>", GUARD, ""),
        ("#include <c10/cuda/CUDAGuard.h>", GUARD, ""),
        ("#include <c10/cuda/CUDAGuard.h>", "AT_CUDA_CHECK(cudaGetLastError());", "ATen/cuda/CUDAContext.h"),
        ("", "mine::CUDAGuard guard(0); auto s = getCurrentCUDAStream(); // C10_CUDA_CHECK", ""),
    ],
)
def test_a_header_of_torch_s_cuda_side_that_is_not_included_is_named(
    header: str, used: str, lacking: str
) -> None:
    text = USES.format(header, used)
    out = rewrite(text, included=spaces.cuda_side([text]))
    assert ("GCC error" in out) == bool(lacking)
    assert not lacking or f"add #include <{lacking}>" in out
    assert "GCC error" not in rewrite(text)  # as it is where nobody knows what comes before


def test_a_header_that_is_missing_is_told_with_its_line() -> None:
    with pytest.raises(CompileError, match="CUDAException") as error:
        builder.build(request(cuda_sources=[USES.format("", CHECK)]))
    assert error.value.line == 6
