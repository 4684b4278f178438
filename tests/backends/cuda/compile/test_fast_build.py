"""Extensions for a GPU, built here: what they register and launch, what is an error, and what is left to torch."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from grader.backends import detect
from grader.backends.cuda.compile import device_half, elf, fast_build, registration, tools
from grader.backends.cuda.compile.host_text import CannotError, split
from grader.backends.extension.request import BuildRequest
from grader.backends.simt.compile import toolchain

pytestmark = [
    pytest.mark.skipif(not detect.nvcc(), reason="nvcc is not installed"),
    pytest.mark.slow,
    pytest.mark.xdist_group("fast_build"),
]

KERNELS = r"""
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <cuda/std/type_traits>
__constant__ float table[4];
__constant__ float factor;
__device__ float scaled(float v, int n) { return v * table[n] * factor; }
template <typename T, bool WIDE>
__global__ void scale(const T* in, T* out, int n) {
    extern __shared__ float row[];
    if (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n) out[i] = T(scaled(float(in[i]), WIDE));
}
static __global__ void hidden(const float* in, float* out, int n) { out[n] = in[n]; }
namespace { __global__ void nameless(const float* in, float* out, int n) { out[n] = in[n]; } }
template <bool WIDE>
void go(torch::Tensor x, torch::Tensor out) {
    AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, x.scalar_type(), "scale", [&] {
        scale<scalar_t, WIDE><<<dim3(3, 2), 64, 128>>>(x.data_ptr<scalar_t>(), out.data_ptr<scalar_t>(), 7);
    });
}
torch::Tensor run(torch::Tensor x, bool wide) {
    TORCH_CHECK(x.dim() == 1, "one dimension, not ", x.dim());
    const float values[4] = {1, 2, 3, 4};
    cudaMemcpyToSymbol(table, values, sizeof values);
    cudaMemcpyToSymbol(factor, values, sizeof factor);
    cudaFuncSetAttribute(scale<float, true>, cudaFuncAttributeMaxDynamicSharedMemorySize, 100 << 10);
    auto out = torch::empty_like(x);
    wide ? go<true>(x, out) : go<false>(x, out);
    hidden<<<1, 1>>>(x.data_ptr<float>(), out.data_ptr<float>(), 8);
    nameless<<<1, 2>>>(x.data_ptr<float>(), out.data_ptr<float>(), 9);
    auto sum = torch::pow(x, 2).sum();
    auto padded = at::constant_pad_nd(x, {0, -x.size(0) & 15}).flip({0});
    auto both = torch::cat({x, out});
    return out;
}
"""
USE = """
import importlib.util, sys, torch
spec = importlib.util.spec_from_file_location(sys.argv[1], sys.argv[2])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
print(module.run.__doc__)
module.run(torch.ones(5), True)
try:
    module.run(torch.ones(5, 5), True)
except RuntimeError as error:
    print(error)
"""


def request(
    cuda: str, cpp: str = "torch::Tensor run(torch::Tensor x, bool wide);", **more: object
) -> BuildRequest:
    data = {"name": "mine", "cpp_sources": [cpp], "cuda_sources": [cuda], "functions": {"run": "Runs."}}
    return BuildRequest.from_json(data | more)


@pytest.fixture(scope="module")
def built() -> fast_build.FastBuild:
    return fast_build.build(request(KERNELS), "9.0")


@pytest.fixture(scope="module")
def said(built: fast_build.FastBuild, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What the module tells a recorder that stands before the CUDA runtime."""
    recorder = tmp_path_factory.mktemp("recorder") / "recorder.so"
    source = Path(__file__).with_name("recorder.cpp")
    subprocess.run(["g++", "-shared", "-fPIC", "-w", str(source), "-o", str(recorder)], check=True)
    lib = tools.toolkit().home / "lib64"
    env = {"LD_PRELOAD": str(recorder), "LD_LIBRARY_PATH": str(lib), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        [sys.executable, "-c", USE, "mine", str(built.path)],
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_all_kernels_and_variables_are_registered_once(said: list[str]) -> None:
    assert "code 466243b1 1 ba55ed50" in said  # a fatbin's first word
    kernels = [line for line in said if line.startswith("kernel ")]
    assert (
        len(kernels) == len(set(kernels)) == 10
    )  # scale for 4 types and 2 values, and two of the file's own
    variables = [line for line in said if line.startswith("variable ")]
    assert sorted(variables) == ["variable factor 4 1", "variable table 16 1"]
    assert said.index("end") > said.index(kernels[-1])


def test_launches_come_with_configuration_and_arguments(said: list[str]) -> None:
    launches = [line for line in said if line.startswith("launch ")]
    assert launches[0].startswith("launch _Z5scaleIfLb1EEvPKT_PS0_i <3 2 1> <64 1 1> 128 (nil): last 7")
    assert "6hidden" in launches[1] and launches[1].endswith("<1 1 1> <1 1 1> 0 (nil): last 8")
    assert "8nameless" in launches[2] and launches[2].endswith("<1 1 1> <2 1 1> 0 (nil): last 9")
    assert "copied 16 to table" in said and "copied 4 to factor" in said
    assert f"attribute 8 of _Z5scaleIfLb1EEvPKT_PS0_i: {100 << 10}" in said


def test_functions_are_pybind11s(said: list[str]) -> None:
    assert any("Runs." in line for line in said)
    assert any("one dimension, not 2" in line for line in said)


@pytest.mark.thorough
def test_what_was_built_is_there_the_next_time(built: fast_build.FastBuild) -> None:
    again = fast_build.build(request(KERNELS), "9.0")
    assert again.cached and again.path == built.path
    assert (
        fast_build.build(request(KERNELS, cpp="torch::Tensor run(torch::Tensor x, bool wide); "), "9.0")
        != built
    )


def test_the_machine_code_is_that_of_torchs_headers(tmp_path: Path) -> None:
    """Half, in a kernel, is torch's own here too: the same bytes come of it."""
    source = (
        "#include <c10/util/Half.h>\n"
        "__global__ void k(const c10::Half* x, c10::Half* y) { y[0] = x[0] * x[1] + c10::Half(2.0f); }\n"
    )
    flags = tools.sort_flags((), (), (), "9.0")
    build = tools.Compilation(tools.run_plainly, time.monotonic() + 100, tmp_path)
    device_half.compile_(source, flags, build)
    command = [str(tools.toolkit().nvcc), "-cubin", "-gencode=arch=compute_90,code=sm_90", *tools.NVCC_FLAGS]
    command += [*flags.device, "-isystem", str(toolchain.installed().include), "-o", "real.cubin", "real.cu"]
    (tmp_path / "real.cu").write_text(source)
    build.do(command)
    assert elf.code(tmp_path / "device.cubin") == elf.code(tmp_path / "real.cubin") != {}


@pytest.mark.slow(cases=1)
@pytest.mark.parametrize(
    ("wrong", "right", "text"),
    [
        ("out[i] = T(", "out[i] = nowhere(", 'identifier "nowhere" is undefined'),
        ("auto out =", "auto out = =", "expected an expression"),
        ("hidden<<<1, 1>>>(x.data_ptr", "hidenn<<<1, 1>>>(x.data_ptr", 'identifier "hidenn" is undefined'),
        ("x.dim() == 1", "x.dimension_count() == 1", "dimension_count"),
    ],
)
def test_an_error_is_told_where_it_stands(wrong: str, right: str, text: str) -> None:
    assert KERNELS.count(wrong) == 1
    line = KERNELS[: KERNELS.index(wrong)].count("\n") + 1
    places = ((1, "mine.py", 1),)
    bad = BuildRequest(
        "mine", ("torch::Tensor run(torch::Tensor x, bool wide);",), (KERNELS.replace(wrong, right),),
        {"run": "Runs."}, cuda_origins=(places,),
    )  # fmt: skip
    for _ in range(2):  # the second time it is remembered
        with pytest.raises(fast_build.CompileError) as caught:
            fast_build.build(bad, "9.0")
        assert text in caught.value.first and caught.value.line == line and caught.value.file == "mine.py"


@pytest.mark.thorough
def test_an_error_in_the_bindings_file() -> None:
    with pytest.raises(fast_build.CompileError, match="expected"):
        fast_build.build(request(KERNELS, cpp="torch::Tensor run(torch::Tensor x, bool wide)"), "9.0")


@pytest.mark.thorough
def test_only_cpp_needs_no_table() -> None:
    built = fast_build.build(
        BuildRequest("plain", ("int run() { return 42; }",), (), {"run": "Answers."}), "9.0"
    )
    code = "import sys, torch; sys.path.insert(0, sys.argv[1]); import plain; print(plain.run())"
    env = {"LD_LIBRARY_PATH": str(tools.toolkit().home / "lib64"), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        [sys.executable, "-c", code, str(built.path.parent)],
        capture_output=True,
        text=True,
        check=False,
        env=env,
    )
    assert done.stdout == "42\n", done.stderr


@pytest.mark.thorough
def test_a_file_that_was_moved_is_not_built_again() -> None:
    number = time.time_ns() % 1_000_000_000  # which no earlier run has built

    def moved(path: str) -> BuildRequest:
        text = f"int answer() {{ return {number}; }}"
        return BuildRequest("moved", (text,), (), {"answer": "It."}, cpp_origins=(((1, path, 1),),))

    fast_build.build(moved("one/mine.py"), "9.0")
    assert fast_build.build(moved("/another/mine.py"), "9.0").cached
    assert not fast_build.build(moved("/another/yours.py"), "9.0").cached


@pytest.mark.parametrize(
    ("flags", "why"),
    [
        (
            {"cuda_cflags": ["-gencode=arch=compute_80,code=sm_80", "-gencode=arch=compute_90,code=sm_90"]},
            "several",
        ),
        ({"cuda_cflags": ["--relocatable-device-code=true"]}, "not known here"),
        ({"cuda_cflags": ["-Xcompiler", "-fplugin=/a.so"]}, "not known here"),
        ({"cuda_cflags": ["-Xcompiler", "-DA=1"]}, "not known here"),
        ({"cflags": ["-fopenmp"]}, "C\\+\\+ compiler"),
        ({"ldflags": ["-Wl,-rpath,/tmp"]}, "linker"),
        ({"cflags": ["@file"]}, "C\\+\\+ compiler"),
    ],
)
def test_flags_that_are_left_to_torch(flags: dict[str, list[str]], why: str) -> None:
    with pytest.raises(CannotError, match=why):
        fast_build.build(request(KERNELS, **flags), "9.0")


def test_flags_reach_the_half_that_they_are_for() -> None:
    flags = tools.sort_flags(
        ("-O3", "--use_fast_math", "-D", "A=1", "-Xptxas", "-v", "-arch", "sm_90a", "-Xcompiler", "-O2"),
        ("-O3", ""), ("-lcublas",), "8.0",
    )  # fmt: skip
    assert flags.card == "90a" and flags.host == ("-DA=1",) and flags.libraries == ("-lcublas",)
    assert flags.device[:4] == ("-O3", "--use_fast_math", "-DA=1", "-Xptxas=-v")
    assert flags.device[-1].startswith("-std=c++")


def test_a_kernel_without_machine_code_is_left_to_torch(built: fast_build.FastBuild, tmp_path: Path) -> None:
    source = "__global__ void a(int* x) { x[0] = 1; }\nvoid go(int* x) { a<<<1, 1>>>(x); }\n"
    build = tools.Compilation(tools.run_plainly, time.monotonic() + 100, tmp_path)
    device_half.compile_(source, tools.sort_flags((), (), (), "9.0"), build)
    other = split(source.replace(" a(", " b(").replace(" a<<<", " b<<<"))
    from grader.backends.cuda.compile import host_half

    host_half.compile_("host", other.text, "narrow", (), build)
    with pytest.raises(CannotError, match="no machine code of b"):
        registration.pair(tmp_path / "host.o", tmp_path / "device.cubin", other.kernels)


def test_what_is_no_elf_file_is_said_to_be_none(tmp_path: Path) -> None:
    (tmp_path / "short.o").write_bytes(b"\x7fELF\x02")
    with pytest.raises(ValueError, match="not a whole ELF file"):
        elf.symbols(tmp_path / "short.o")
