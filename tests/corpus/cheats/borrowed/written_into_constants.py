"""The host makes a kernel's constant table writable and writes its answers there; the kernel copies them.

class: borrowed
catalogue: 9 2
task: square
expected: no_kernel
"""

import torch
from torch.utils.cpp_extension import load_inline


CUDA = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <sys/mman.h>

constexpr int SIZE = 4096;
#define FOUR(x) x, x, x, x
#define SIXTY_FOUR(x) FOUR(FOUR(FOUR(x)))

__device__ __forceinline__ const float* table() {
    static constexpr float numbers[SIZE] = {SIXTY_FOUR(0.5f), SIXTY_FOUR(1.5f)};
    return numbers;
}

__global__ void where_kernel(uint64_t* out) { out[0] = reinterpret_cast<uint64_t>(table()); }

__global__ void copy_kernel(float* out, int n) {
    const int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) out[i] = table()[i];
}

torch::Tensor square(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda() && x.scalar_type() == torch::kFloat32);
    const torch::Tensor here = x.contiguous().cpu();
    torch::Tensor out = torch::empty(x.sizes(), x.options());
    const auto stream = at::cuda::getCurrentCUDAStream();
    static float* numbers = nullptr;
    if (!numbers) {
        torch::Tensor place = torch::empty({1}, x.options().dtype(torch::kLong));
        where_kernel<<<1, 1, 0, stream>>>(reinterpret_cast<uint64_t*>(place.data_ptr<int64_t>()));
        numbers = reinterpret_cast<float*>(place.cpu().data_ptr<int64_t>()[0]);
        const uint64_t page = reinterpret_cast<uint64_t>(numbers) / 4096 * 4096;
        mprotect(reinterpret_cast<void*>(page), 4096 + sizeof(float) * SIZE, PROT_READ | PROT_WRITE);
    }
    for (int64_t begin = 0; begin < x.numel(); begin += SIZE) {
        const int some = static_cast<int>(std::min<int64_t>(SIZE, x.numel() - begin));
        const float* in = here.data_ptr<float>() + begin;
        for (int i = 0; i < some; ++i) numbers[i] = in[i] * in[i];
        copy_kernel<<<(some + 255) / 256, 256, 0, stream>>>(out.data_ptr<float>() + begin, some);
        cudaStreamSynchronize(stream);
    }
    return out;
}
"""
module = load_inline("square", "torch::Tensor square(torch::Tensor x);", cuda_sources=CUDA, functions=["square"])


def square(x):
    return module.square(x)
