"""``course run program.cu``: what nvcc and a GPU would compile and run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from grader.domain.errors import BadInputError
from grader.student.run import cuda_program, run_verb

from .test_run import started

if TYPE_CHECKING:
    from pathlib import Path

ADD = """#include <cstdio>
#include <cstdlib>
#include <cuda_fp16.h>
#include "own/factor.h"

struct Scale { float by; int main(int a) { return a; } };
__global__ void add(int n, const float* x, float* y) {
    for (int i = threadIdx.x; i <= n; i += blockDim.x) y[i] += FACTOR * x[i];
}
#ifdef WORDS
int main(int count, char** words) {
    printf("%d %s\\n", count, words[1]);
    if (count > 2) exit(atoi(words[2]));
#else
int main() {
#endif
    float *x, *y;
    cudaMallocManaged(&x, 100 * sizeof(float));
    cudaMallocManaged(&y, 101 * sizeof(float));
    for (int i = 0; i < 100; i++) x[i] = y[i] = 1;
    __half two = __half(1.0f) + __half(1.0f);
    add<<<1, 32>>>(WITHIN, x, y);
    cudaDeviceSynchronize();
    printf("%g %g\\n", y[99], __half2float(two));
}
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "factor.h").write_text("#pragma once\n#define FACTOR 2\n")
    path = tmp_path / "add it.cu"
    path.write_text(ADD)
    return path


def run(program: Path, flags: str, *words: str, monkeypatch: pytest.MonkeyPatch) -> tuple[int, str, str]:
    monkeypatch.setenv("NVCC_APPEND_FLAGS", flags)
    process = started(str(program), *words)
    out, err = process.communicate(timeout=300)
    return process.returncode, out, err


@pytest.mark.slow
def test_a_program_runs_with_its_header_and_its_checks(program, monkeypatch) -> None:
    code, out, err = run(program, "-DWITHIN=99", monkeypatch=monkeypatch)
    assert (code, out) == (0, "3 2\n") and "1 kernel launch, nothing found" in err
    code, out, err = run(program, "-DWITHIN=100", monkeypatch=monkeypatch)
    assert (code, out) == (1, "3 2\n")
    assert (
        "add it.cu, line 8: for (int i = threadIdx.x; i <= n; i += blockDim.x) y[i] += FACTOR * x[i];" in err
    )
    assert (
        "thread (4, 0, 0) reads element 100 of x (an allocation of 400 bytes), 1 element past the end" in err
    )


@pytest.mark.slow
def test_its_words_and_its_exit_code_are_its_own(program, monkeypatch) -> None:
    flags = "-DWITHIN=99 -DWORDS"
    assert run(program, flags, "--loud", monkeypatch=monkeypatch)[:2] == (0, "2 --loud\n3 2\n")
    assert run(program, flags, "--loud", "7", monkeypatch=monkeypatch)[:2] == (7, "3 --loud\n")


@pytest.mark.slow
def test_what_does_not_compile_is_said_at_its_line(program, monkeypatch) -> None:
    program.write_text(ADD.replace("float *x, *y;", "float *x, *y"))
    code, out, err = run(program, "-DWITHIN=99", monkeypatch=monkeypatch)
    assert (code, out) == (1, "")
    assert err.startswith("RuntimeError: add it.cu does not compile: line 18:")
    assert "course_main" not in err and "simt" not in err and "/grader/" not in err


@pytest.mark.slow
def test_a_library_of_cuda_s_is_there(tmp_path, monkeypatch) -> None:
    """Which is made of functions of torch."""
    path = tmp_path / "product.cu"
    path.write_text("""#include <cublas_v2.h>
#include <cstdio>
int main(void) {
    float *a, one = 3, zero = 0;
    cudaMallocManaged(&a, 3 * sizeof(float));
    a[0] = a[1] = 2;
    cublasHandle_t handle;
    cublasCreate(&handle);
    cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &one, a, 1, a + 1, 1, &zero, a + 2, 1);
    cudaDeviceSynchronize();
    printf("%g\\n", a[2]);
    return cublasDestroy(handle);
}
""")
    assert run(path, "-lcublas", monkeypatch=monkeypatch)[:2] == (0, "12\n")


def test_what_is_no_program_is_refused(tmp_path, monkeypatch) -> None:
    path = tmp_path / "a.cu"
    with pytest.raises(BadInputError, match="There is no file"):
        run_verb.run(path, [], "simt")
    path.write_text("__global__ void k() {}\n")
    with pytest.raises(BadInputError, match="has no main"):
        run_verb.run(path, [], "simt")
    path.write_bytes(b"int main() {} \xff")
    with pytest.raises(BadInputError, match="cannot be read as text"):
        run_verb.run(path, [], "simt")
    monkeypatch.setenv("NVCC_APPEND_FLAGS", "'open")
    with pytest.raises(BadInputError, match="NVCC_APPEND_FLAGS cannot be read"):
        cuda_program.flags()


def test_for_a_gpu_nvcc_compiles_it(tmp_path, monkeypatch) -> None:
    """By a stand-in for nvcc, which compiles what needs no GPU."""
    path = tmp_path / "words.cu"
    path.write_text("#include <cstdio>\nint main(int count, char** words) { puts(words[1]); return 3; }\n")
    folder = tmp_path / "bin"
    folder.mkdir()
    nvcc = folder / "nvcc"
    nvcc.write_text('#!/bin/sh\n[ "$1" = -arch=native ] && exec g++ -x c++ -o "$4" "$5"\n')
    nvcc.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=":")
    called = "import sys, pathlib; from grader.student.run.cuda_program import run_on_gpu; "
    called += "sys.exit(run_on_gpu(pathlib.Path(sys.argv[1]), sys.argv[2:]))"
    done = subprocess.run([sys.executable, "-c", called, path, "a b"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (3, "a b\n")
    path.write_text("int main( {")
    done = subprocess.run([sys.executable, "-c", called, path], capture_output=True, text=True)
    assert done.returncode == 1 and "error" in done.stderr
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(BadInputError, match="nvcc is needed"):
        cuda_program.run_on_gpu(path, [])


FAULTY = """#include <cassert>
#include <cstdio>
#include <stdexcept>
#include <unistd.h>
__global__ void k(int* x, int n) {
    if (threadIdx.x <= n) x[threadIdx.x] = 1;
}
int main(int count, char** words) {
    int* x;
    cudaMalloc(&x, 256);
    char how = words[1][0];
    k<<<1, how == 'l' ? 2048 : 128>>>(x, 64);
    cudaError_t error = how == 'l' ? cudaSuccess : cudaDeviceSynchronize();
    if (how == 't') throw std::runtime_error(cudaGetErrorString(error));
    if (how == 'a') assert(error == cudaSuccess);
    if (how == 's') *(volatile int*)8 = 1;
    if (how == 'w') puts("waits"), fflush(stdout);
    while (how == 'w') usleep(1000);
}
"""


@pytest.mark.slow
@pytest.mark.parametrize(("how", "said"), [("t", "SIGABRT"), ("a", "SIGABRT"), ("s", "SIGSEGV")])
def test_what_was_found_is_said_before_the_crash_that_came_of_it(tmp_path, monkeypatch, how, said) -> None:
    path = tmp_path / "faulty.cu"
    path.write_text(FAULTY)
    code, _, err = run(path, "", how, monkeypatch=monkeypatch)
    found = err.find("global out of bounds at faulty.cu, line 6: if (threadIdx.x <= n) x[threadIdx.x] = 1;")
    assert code == 1 and 0 <= found < err.find(f"faulty.cu: The process crashed with {said}")


@pytest.mark.slow
def test_ctrl_c_ends_a_program_and_says_what_was_found(tmp_path) -> None:
    path = tmp_path / "faulty.cu"
    path.write_text(FAULTY)
    process = started(str(path), "w")
    assert process.stdout is not None
    assert process.stdout.readline() == "waits\n"
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130 and "global out of bounds at faulty.cu, line 6" in err


@pytest.mark.slow
def test_a_launch_that_failed_unseen_is_said(tmp_path, monkeypatch) -> None:
    path = tmp_path / "faulty.cu"
    path.write_text(FAULTY)
    code, _, err = run(path, "", "l", monkeypatch=monkeypatch)
    assert code == 1 and "CUDA error that nobody asked for: " in err
    assert "k<<<(1, 1, 1), (2048, 1, 1), 0>>>: a block has at most 1024 threads" in err


NAMES = """#include <cstdio>
namespace py { int x = 1; }
namespace c10 { struct Half { int a; }; }
namespace geo { namespace detail { __device__ int twice(int a) { return 2 * a; } } }
using namespace geo;
namespace at { struct Tensor { int a; }; }
namespace torch = at;
__global__ void k(int* out) { *out = detail::twice(4); }
int main() {
    int* out;
    cudaMallocManaged(&out, 4);
    k<<<1, 1>>>(out);
    cudaDeviceSynchronize();
    c10::Half half{py::x};
    torch::Tensor tensor{half.a};
    printf("%d %d\\n", *out, tensor.a);
}
"""


@pytest.mark.slow
def test_a_program_may_have_names_of_torch(tmp_path, monkeypatch) -> None:
    path = tmp_path / "names.cu"
    path.write_text(NAMES)
    assert run(path, "", monkeypatch=monkeypatch)[:2] == (0, "8 1\n")
