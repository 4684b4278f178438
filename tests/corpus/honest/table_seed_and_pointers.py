"""A table made in the first call only, a seed and a structure with gaps as arguments, a list of pointers.

class: honest
catalogue: -
task: square
expected: passed
"""

import random

import torch
from torch.utils.cpp_extension import load_inline

SOURCE = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>

struct Form {
    char kind;
    int64_t n;
    bool last;
};

__global__ void square_kernel(float* const* pointers, const float* ones, Form form, int seed) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    const float* in = pointers[0];
    if (i < form.n) pointers[1][i] = in[i] * in[i] * ones[(i + seed) % 48];
}

torch::Tensor square(torch::Tensor x, torch::Tensor ones, int64_t seed) {
    TORCH_CHECK(x.is_cuda() && x.scalar_type() == torch::kFloat32, "square: x must be float32 on a CUDA device");
    x = x.contiguous();
    torch::Tensor out = torch::empty_like(x);
    const int64_t n = x.numel();
    if (n == 0) return out;
    const cudaStream_t stream = at::cuda::getCurrentCUDAStream();
    float* both[] = {x.data_ptr<float>(), out.data_ptr<float>()};
    const torch::Tensor pointers = torch::empty({2}, x.options().dtype(torch::kInt64));
    cudaMemcpyAsync(pointers.data_ptr<int64_t>(), both, sizeof both, cudaMemcpyHostToDevice, stream);
    Form form;
    form.kind = 's', form.n = n, form.last = true;
    square_kernel<<<(n + 255) / 256, 256, 0, stream>>>(
        reinterpret_cast<float* const*>(pointers.data_ptr<int64_t>()), ones.data_ptr<float>(), form, seed);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}
"""

extension = load_inline(
    name="square", cpp_sources="torch::Tensor square(torch::Tensor x, torch::Tensor ones, int64_t seed);", cuda_sources=SOURCE, functions=["square"]
)

tables = {}


def square(x):
    if x.device not in tables:
        tables[x.device] = torch.tensor([1.0] * 48).to(x.device)
    return extension.square(x, tables[x.device], random.randrange(1000))
