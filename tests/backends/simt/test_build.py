"""What is compiled, what is remembered, and how errors reach the student."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import pytest

from grader.backends.extension.request import usable_flags
from grader.backends.simt.compile import compiler as builder
from grader.backends.simt.compile import headers, library, toolchain
from grader.backends.simt.compile.compiler import BuildRequest, CompileError

if TYPE_CHECKING:
    from collections.abc import Iterator

KERNEL = """#include <torch/extension.h>
#include <ATen/ATen.h>
#include <c10/cuda/CUDAException.h>
#include <ATen/cuda/CUDAContext.h>
#include <cuda_runtime.h>
#include <cuda_fp16.h>
__global__ void scale(const float* x, float* y, int n) {
    if (threadIdx.x < n) y[threadIdx.x] = FACTOR * x[threadIdx.x];
}
torch::Tensor run(torch::Tensor x) {
    auto y = torch::softmax(x, 0) + torch::sigmoid(x) + at::arange(3, x.options());
    y = y + torch::zeros({3}, x.options());
    auto stream = at::cuda::getCurrentCUDAStream();
    scale<<<1, 32, 0, stream>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return y;
}
"""
BINDING = "#include <torch/extension.h>\n#include <pybind11/pybind11.h>\ntorch::Tensor run(torch::Tensor x);"


def request(cuda: str = KERNEL, cpp: str = BINDING, **more: Any) -> BuildRequest:
    return BuildRequest.from_json(
        {
            "name": "simt_test",
            "cpp_sources": [cpp],
            "cuda_sources": [cuda] if cuda else [],
            "functions": {"run": "run"},
        }
        | more
    )


@pytest.fixture()
def no_full_headers(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The full headers take a minute to precompile: no test of a plain error may ask for them."""
    real = headers.precompiled

    def precompiled(kind: headers.Kind) -> Any:
        assert kind != "full", "fell back to the full headers"
        return real(kind)

    monkeypatch.setattr(headers, "precompiled", precompiled)
    yield


@pytest.mark.thorough
@pytest.mark.usefixtures("no_full_headers")
def test_usual_includes_need_no_full_headers() -> None:
    made = builder.build(request(cuda_cflags=["-DFACTOR=2.0f", "-arch=sm_80", "-O2", "--use_fast_math"]))
    assert made.headers == "lean" and made.path.name == "simt_test.so"


@pytest.mark.usefixtures("no_full_headers")
def test_an_unchanged_request_is_answered_at_once() -> None:
    builder.build(request(cuda_cflags=["-DFACTOR=2.0f"]))
    again = builder.build(request(cuda_cflags=["-DFACTOR=2.0f"]))
    assert again.cached and again.seconds < 0.1 and again.path.exists()
    assert builder.build(request(cuda_cflags=["-DFACTOR=3.0f"])).path != again.path


@pytest.mark.usefixtures("no_full_headers")
def test_cpp_alone() -> None:
    made = builder.build(request("", 'std::string run() { return "hello"; }'))
    assert made.headers == "lean"


ERRORS = {
    "undeclared": ("__global__ void k(float* x) { x[0] = yy; }\n", "'yy' was not declared in this scope", 1),
    "misspelt": ("\nvoid f() { torch::emtpy_like(1); }", "'emtpy_like' is not a member of 'torch'", 2),
    "syntax": ("\n\n__global__ void k(float* x) { x[0] = 1 }\n", "expected ';' before '}' token", 3),
    "launch": (
        "__global__ void k(float* x, int n) {}\nvoid f(float* x) {\n  k<<<1, 1>>>(x);\n}",
        "the kernel takes (float*, int) but is launched with (float*&)",
        3,
    ),
}


@pytest.mark.usefixtures("no_full_headers")
@pytest.mark.parametrize("name", ERRORS)
def test_a_plain_error_is_at_the_students_line(name: str) -> None:
    cuda, first, line = ERRORS[name]
    with pytest.raises(CompileError) as caught:
        builder.build(request(cuda, cuda_origins=[[[1, "/home/me/exercise.py", 11]]]))
    assert caught.value.first.startswith(first)
    assert (caught.value.file, caught.value.line) == ("/home/me/exercise.py", 10 + line)
    assert len(caught.value.log.splitlines()) <= 101


@pytest.mark.usefixtures("no_full_headers")
def test_a_failure_is_remembered() -> None:
    broken = request("int broken = ;")
    with pytest.raises(CompileError) as first:
        builder.build(broken)
    start = time.perf_counter()
    with pytest.raises(CompileError) as second:
        builder.build(broken)
    assert time.perf_counter() - start < 0.1
    assert (first.value.first, first.value.log) == (second.value.first, second.value.log)


@pytest.mark.usefixtures("no_full_headers")
def test_a_function_that_is_not_declared() -> None:
    with pytest.raises(CompileError, match="'missing' was not declared in this scope"):
        builder.build(request("", "int run();", functions={"run": "", "missing": ""}))


def test_a_declaration_of_torchs_may_need_the_full_headers() -> None:
    assert headers.needs_full("torch::nn::Linear l(3, 4);")
    assert headers.needs_full("auto t = torch::tensor({1, 2});")
    slip = "x.cu:3:1: error: 'tensor' in namespace 'torch' does not name a type"
    assert not headers.needs_full("torch::tensor f(torch::tensor x);") and not headers.full_may_help(slip)
    assert headers.full_may_help("x.cu:3:1: error: 'manual_seed' is not a member of 'torch'")
    assert not headers.full_may_help("x.cu:3:1: error: 'emtpy_like' is not a member of 'torch'")
    assert not headers.full_may_help("x.cu:3:1: error: 'yy' was not declared in this scope")
    assert headers.extra_includes("at::softmax(x, 0); torch::nonsense(x);") == ["ATen/ops/softmax.h"]
    assert headers.extra_includes('#line 3 "pybind11.py"\nint x;  // as in mine.py') == []
    assert headers.extra_includes("py::object x;") == ["torch/csrc/utils/pybind.h"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": "../x"}, "not an identifier"),
        ({"name": 3}, r"Expected `str`.*\$\.name"),
        ({"cpp_sources": "text"}, "cpp_sources must be a list"),
        ({"cuda_sources": [1]}, "cuda_sources must be a list"),
        ({"cpp_sources": [], "cuda_sources": []}, "nothing to compile"),
        ({"functions": ["run"]}, r"Expected `object \| null`.*\$\.functions"),
        ({"functions": {"run); system(1": ""}}, r"not a C\+\+ name"),
        ({"cpp_origins": [[[1, 3, 1]]]}, r"Expected `str`.*\$\.cpp_origins"),
        ({"cpp_origins": [[[1, "a", -1]]]}, r"Expected `int` >= 1.*\$\.cpp_origins"),
        ({"cpp_origins": [[[2, "a", 1], [1, "a", 1]]]}, "not in order"),
        ({"cpp_sources": ["x" * 5_000_000]}, "longer than"),
        ({"cpp_origins": [[], []]}, "more entries than there are sources"),
        ({"cflags": ["a\0b"]}, "null character"),
        ({"more": 1}, "unknown field `more`"),
    ],
)
def test_a_bad_request_is_refused(change: dict[str, object], message: str) -> None:
    good = {"name": "m", "cpp_sources": ["int f();"], "cuda_sources": [], "functions": None}
    BuildRequest.from_json(json.loads(json.dumps(good)))
    with pytest.raises(ValueError, match=message):
        BuildRequest.from_json(good | change)


def test_no_name_of_a_file_ends_its_line() -> None:
    """It is no crime either: Ann "A" Lee.py is a name that a file may have."""
    data = {"name": "m", "cpp_sources": ["int f();"], "cuda_sources": [], "functions": None}
    asked = BuildRequest.from_json(data | {"cpp_origins": [[[1, 'a"\n#include "/etc/passwd\\', 3]]]})
    assert asked.cpp_origins == (((1, "a__#include _/etc/passwd_", 3),),)


def test_flags_for_nvcc_alone_are_left_out() -> None:
    flags = (
        "-O2",
        "--use_fast_math",
        "-DA=1",
        "-D",
        "B",
        "-gencode=arch=compute_80",
        "-Iinclude",
        "-UA",
        "-std=c++14",
    )
    assert usable_flags(flags) == ["-DA=1", "-DB", "-Iinclude", "-UA"]


def test_a_player_needs_nothing_but_the_folder_it_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """In its cage it sees the libraries beside the headers, not where they were compiled."""
    builder.prepare()

    def compiled(*_: object) -> None:
        raise AssertionError("the runtime is compiled again")

    folder = builder.runtime_library().parent
    monkeypatch.setattr(toolchain, "compiler", compiled)  # which says where it was compiled
    assert library.runtime(folder).exists() and library.buffer(folder).exists()


@pytest.mark.parametrize(
    "said",
    [
        "pybind11/pybind11.h: No such file or directory",
        "'torch/extension.h' file not found",
        "ATen/cuda/CUDAContext.h: No such file or directory",
    ],
)
def test_headers_of_torch_that_are_not_there_are_told_with_their_packages(said: str) -> None:
    told = builder.not_prepared("bindings", said)
    assert said in told and told.endswith("sudo apt-get install libtorch-dev pybind11-dev")
    assert "apt" not in builder.not_prepared("bindings", "vector: No such file or directory")
