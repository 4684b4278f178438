"""What files of others bring along: headers of their own, macros of nvcc's, torch's 16-bit types and names."""

import tempfile
from pathlib import Path

import torch
from torch.utils.cpp_extension import load, load_inline

KERNELS = r"""
#pragma once
#include "deep/value.h"
extern __shared__ float buffer[];
template <typename T> __global__ void fill(T* y, T v) {
    buffer[threadIdx.x] = v;
    y[threadIdx.x] = buffer[threadIdx.x];
}
inline void launched_in_a_header(float* y) { fill<float><<<1, 32, 128>>>(y, VALUE); }
"""
VALUE = "#ifndef VALUE_H\n#define VALUE_H\n#define VALUE 1.0f\n#endif\n"
CUDA = r"""
#include <kernels.cuh>
torch::Tensor run() {
    auto y = torch::zeros({32}, torch::device(torch::kCUDA));
    launched_in_a_header(y.data_ptr<float>());
    return y;
}
"""
PASSES = r"""
#if !defined(__CUDACC__) || __CUDACC_VER_MAJOR__ < 11 || CUDA_VERSION < 11000
#error "no nvcc"
#endif
__host__ __device__ inline int side() {
#ifdef __CUDA_ARCH__
    return __CUDA_ARCH__;
#else
    return -1;
#endif
}
struct Side {
    int value, line;
    __host__ __device__ Side() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700
        value = 7;
#else
        value = 3;
#endif
        line = __LINE__;
    }
};
int here = __LINE__;
__global__ void kernel(int* y) {
#if __CUDA_ARCH__ >= 700
    y[0] = side();
    y[1] = Side().value;
#endif
}
torch::Tensor run() {
    auto y = torch::zeros({6}, torch::dtype(torch::kInt32).device(torch::kCUDA));
    dim3 gridDim(1), blockDim(1, 1);
    kernel<<<gridDim, blockDim>>>(y.data_ptr<int>());
    y[2] = side();
    y[3] = Side().value;
    y[4] = here - Side().line;
    y[5] = int(gridDim.x * blockDim.y);
    return y;
}
"""
HALVES = r"""
#include <THC/THCAtomics.cuh>
// #include <torch/all.h>
template <typename T> __global__ void add(T* y) {
    atomicAdd(y, (T)1);
    gpuAtomicAdd(y, (T)2);
}
__global__ void convert(at::Half* y, at::BFloat16* z) {
    __half a = y[0], b(y[0]), c = static_cast<__half>(y[0]);
    y[1] = __hadd(__hadd(a, b), c);
    __nv_bfloat16 d = static_cast<__nv_bfloat16>(z[0]);
    z[1] = d;
}
void run(torch::Tensor y) {
    AT_DISPATCH_ALL_TYPES_AND2(at::kHalf, at::kBFloat16, y.scalar_type(), "add", [&] {
        add<scalar_t><<<1, 32>>>(y.data_ptr<scalar_t>());
    });
    if (y.scalar_type() != at::kHalf) return;
    auto z = y.to(at::kBFloat16);
    convert<<<1, 1>>>(y.data_ptr<at::Half>(), z.data_ptr<at::BFloat16>());
    y[2] = z[1];
}
"""
TYPES = "float16 bfloat16 float32 float64 uint8 int8 int16 int32 int64".split()  # noqa: SIM905 (a list of words)
BOUND = '#include <torch/extension.h>\n#if 0\n#include "kernels.cuh"\n#endif\n#include "kernels.cuh"\n'
MODULE = 'PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("run", &run); }\n'


def built(text, folder=None):
    return load_inline(
        "outside", ["torch::Tensor run();"], [text], functions=["run"],
        extra_include_paths=[str(folder)] if folder else None,
    )  # fmt: skip


def written(folder, value=VALUE):
    (folder / "deep").mkdir(exist_ok=True)
    (folder / "kernels.cuh").write_text(KERNELS)
    (folder / "deep" / "value.h").write_text(value)
    return folder


def changed_header(_):
    with tempfile.TemporaryDirectory() as name:
        folder = written(Path(name))
        first = built(CUDA, folder).run()[0].item()
        written(folder, VALUE.replace("1.0f", "2.0f"))
        return [first, built(CUDA, folder).run()[0].item()]


def mended_header(_):
    with tempfile.TemporaryDirectory() as name:
        folder, said = written(Path(name), VALUE.replace("1.0f", "wrong")), ""
        try:
            built(CUDA, folder)
        except Exception as error:
            said = f"{error.file}: {error}"
        written(folder)
        return [said, built(CUDA, folder).run()[0].item()]


def header_beside_a_file(_):
    with tempfile.TemporaryDirectory() as name:
        folder = written(Path(name))
        (folder / "main.cu").write_text(BOUND + CUDA.replace("<kernels.cuh>", '"kernels.cuh"') + MODULE)
        return load("beside", [str(folder / "main.cu")]).run()[0].item()


def halves(_):
    module = load_inline("halves", ["void run(torch::Tensor y);"], [HALVES], functions=["run"])
    found = {}
    for name in TYPES:
        y = torch.zeros(3, dtype=getattr(torch, name), device="cuda")
        module.run(y)
        found[name] = y.tolist()
    return found


def cases():
    return {
        "changed_header": changed_header,
        "mended_header": mended_header,
        "header_beside_a_file": header_beside_a_file,
        "passes": lambda _: built(PASSES).run().tolist(),
        "halves": halves,
    }
