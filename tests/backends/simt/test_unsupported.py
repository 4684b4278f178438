"""Constructs that cannot run are refused by name at their line; words that only look like them are not."""

from __future__ import annotations

import pytest

from grader.backends.simt.compile import compiler as builder
from grader.backends.simt.compile import layouts
from grader.backends.simt.compile.compiler import CompileError
from grader.backends.simt.compile.rewrite import rewrite
from grader.backends.simt.compile.tokens import joined, tokenize

from .test_build import request

K = "__global__ void k(float* x) { %s }"
REFUSED = {
    "ptx": (K % 'asm volatile("cp.async.bulk.commit_group;");', "inline PTX (`cp.async.bulk.commit_group`)"),
    "ptx_of_macros": (K % "asm volatile(MOVE(4));", "inline PTX (asm)"),
    "mapped": ("void f(float* p) { cudaHostRegister(p, 4, cudaHostRegisterMapped); }", "memory of malloc"),
    "texture": ("texture<float, 2> image;", "a texture reference"),
    "texture_fetch": (K % "x[0] = tex2DLod<float>(0, 0.5f, 0.5f, 1.0f);", "this texture fetch"),
    "mipmaps": ("void f(cudaMipmappedArray_t a) {}", "a mipmapped array"),
    "processes": ("cudaIpcMemHandle_t handle;", "memory of two processes"),
    "driver_api": (K % "CUtexObject t;", "CUDA's driver API"),
    "nccl": ("#include <nccl.h>", "a library for several GPUs <nccl.h>"),
    "egl": ("#include <cudaEGL.h>", "a graphics library <cudaEGL.h>"),
    "graphics": ("void f(cudaGraphicsResource* r) {}", "memory of a graphics library"),
    "wait_in_a_kernel": (K % "cudaDeviceSynchronize();", "a wait for other grids in a kernel"),
    "tma": ("__global__ void k(const CUtensorMap map) {}", "a TMA copy"),
    "bulk_copy": (K % "cuda::device::memcpy_async_tx(x, x, 16, b);", "a bulk copy (cuda::device)"),
    "cluster": (
        "__global__ void __cluster_dims__(N, 1, 1) k() {}",
        "__cluster_dims__ with anything but numbers",
    ),
    "cluster_attribute": (
        "int a = cudaFuncAttributeRequiredClusterWidth;",
        "this attribute of a kernel",
    ),
    "relaxed_arrival": (K % "__cluster_barrier_arrive_relaxed();", "an arrival at a cluster's barrier"),
    "early_launch": (K % "cudaGridDependencySynchronize();", "a kernel that begins before the one before it"),
    "libcu": ("#include <cuda/mdspan>", "this part of the libcu++ library <cuda/mdspan>"),
    "mma": (K % "__hmma_m16n16k16_mma_f32f32(x, x, x, x, 0, 0);", "a tensor core instruction"),
    "cub": (K % "cub::DeviceMergeSort::SortKeys(x, x, x, 1, l);", "cub::DeviceMergeSort"),
    "thrust": ("#include <thrust/mr/memory_resource.h>", "this part of the Thrust library <thrust/mr/"),
    "cub_header": (
        "#include <cub/grid/grid_barrier.cuh>",
        "this part of the CUB library <cub/grid/grid_",
    ),
    "loops_header": (
        "#include <ATen/native/cuda/Loops.cuh>",
        "what PyTorch's own kernels are made with (ATen/native/cuda) <ATen/native/cuda/Loops.cuh>",
    ),
    "mma_header": ("#include <crt/mma.hpp>", "the tensor core header <crt/mma.hpp>"),
    "cudnn": ("#include <cudnn.h>", "a GPU library <cudnn.h>"),
    "curand": ("# include <curand_mtgp32.h>", "a GPU library for random numbers"),
    "sobol": (K % "curandStateSobol32 s;", "quasi-random numbers of cuRAND"),
    "poisson": (K % "curand_poisson(x, 1.0);", "this part of cuRAND"),
    "graph": ("void f() { cudaGraphConditionalHandle g; }", "this node of a CUDA graph"),
    "latch": (K % "__shared__ cuda::latch<4> b;", "cuda::latch"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_it_is_refused_by_name(name: str) -> None:
    text, what = REFUSED[name]
    out = rewrite(text)
    assert "error" in out and what in out and "cannot run on the CPU: " in out
    assert out.count("\n") == text.count("\n")


LOOK_ALIKES = {
    "comment": "// asm, texture<float>, wmma::fragment, cub::\n/* k<<<1, 2>>> __managed__ */",
    "string": 'const char* s = "asm volatile (cudaGraph_t) <cub/cub.cuh>";',
    "names": "int asm_count, texture, cubes, thrust, wmma_like, mma; float surface = 2;",
    "barrier_to_the_compiler": K % 'asm volatile("" ::: "memory");',
    "torch_cuda": "auto s = at::cuda::getCurrentCUDAStream(); c10::cuda::CUDAGuard g(0);",
    "host_heap": "void f() { float* p = (float*)malloc(4); free(p); int* q = new int; delete q; }",
    "heap": K % "float* p = (float*)malloc(64); free(p); delete[] new float[4];",
    "placement": "struct S { S() = delete; };\n" + K % "new (x) float(1); pool.free(x);",
    "cub": K % "using R = cub::BlockReduce<float, 128>; __shared__ R::TempStorage s; cub::Sum sum;",
    "cub_header": "#include <cub/cub.cuh>\n#include <mma.h>",
    "clusters": "__global__ void __cluster_dims__(2, 1, 1) k() { cooperative_groups::this_cluster().sync(); }",
    "own_header": '#include "my/cuboid.h"',
    "directive": "#ifdef __CUDA_ARCH_asm\n#pragma unroll asm\n#endif",
}


@pytest.mark.parametrize("name", LOOK_ALIKES)
def test_a_look_alike_is_left_alone(name: str) -> None:
    told = layouts.tell(tokenize(LOOK_ALIKES[name]))  # all that is added: what types it has
    assert rewrite(LOOK_ALIKES[name]) == joined(told)


@pytest.mark.parametrize(
    ("name", "line"),
    [("ptx", 4), ("wait_in_a_kernel", 4), ("cub_header", 4), ("texture_fetch", 4), ("graph", 4)],
)
def test_the_compiler_says_it_at_the_line(name: str, line: int) -> None:
    text, what = REFUSED[name]
    with pytest.raises(CompileError) as caught:
        builder.build(request("\n\n\n" + text, cuda_origins=[[[1, "/home/me/exercise.py", 1]]]))
    assert caught.value.first.startswith(what), caught.value.log
    assert (caught.value.file, caught.value.line) == ("/home/me/exercise.py", line)


def test_a_clusters_barrier_in_ptx_is_its_function() -> None:
    text = (
        'asm volatile("barrier.cluster.arrive.release.aligned;" ::); asm volatile("barrier.cluster.wait;");'
    )
    out = rewrite(K % text)
    assert "__cluster_barrier_arrive();" in out and "__cluster_barrier_wait();" in out
    assert "barrier.cluster.arrive.relaxed" in rewrite(K % 'asm("barrier.cluster.arrive.relaxed;");')


def test_what_is_not_compiled_is_not_refused() -> None:
    text = '#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= {}\nvoid f() {{ asm("cp.async.bulk.commit_group;"); }}\n#endif\n'
    cpp = "#include <torch/extension.h>\nint run() { return 1; }"
    assert builder.build(request(text.format(1000), cpp)).path.exists()
    with pytest.raises(CompileError, match="inline PTX"):  # the device says that it is 9.0
        builder.build(request(text.format(900), cpp))


def test_a_programs_own_header_is_no_librarys_whatever_it_is_called() -> None:
    text = '#include "cuda/barrier.h"\n#include <cub/grid/mine.cuh>\n#include "../nccl.h"\n'
    own = ["/me/include/cuda/barrier.h", "/me/cub/grid/mine.cuh", "/me/nccl.h"]
    assert rewrite(text, own=own) == text
    assert rewrite(text).count("#error") == 2


def test_any_part_of_a_library_is_the_whole_of_it() -> None:
    text = "#include <cub/block/block_scan.cuh>\n  #include <cub/util_type.cuh> // both\n"
    assert rewrite(text) == "#include <cub/cub.cuh>\n  #include <cub/cub.cuh>\n"
    assert rewrite("#include <thrust/iterator/zip_iterator.h>") == "#include <thrust/thrust.h>"
    assert rewrite("#include <cuda/std/span>\n#include <cuda/barrier>") == (
        "#include <cuda/libcu_std.h>\n#include <cuda/libcu_async.h>"
    )


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('unsigned r; asm("add.cc.u32 %0, %1, %1;" : "=r"(r) : "r"(1));', "inline PTX (`add.cc.u32`)"),
        (
            'unsigned r; asm("vabsdiff4.u32.u32.u32.add %0, %1, %1, %1;" : "=r"(r) : "r"(1));',
            "inline PTX (`vabsdiff4.u32.u32.u32.add`)",
        ),
        (
            'unsigned r; asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(r));',
            "(`%dynamic_smem_size`) cannot run on the CPU: hand the number of bytes to the kernel",
        ),
        ("tex2Dgather<float4>(t, 0, 0);", "tex2Dgather cannot run on the CPU: fetch the four elements"),
    ],
)
def test_a_refusal_names_the_whole_of_it(text: str, says: str) -> None:
    assert says in rewrite(K % text)
