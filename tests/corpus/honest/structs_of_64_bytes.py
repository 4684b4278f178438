"""Each thread moves 16 numbers as one struct: from global memory to shared, to a local, and back to global (plain struct assignment).

class: honest
catalogue: -
task: swish
expected: passed
"""

import torch
from torch.utils.cpp_extension import load_inline

cuda_source = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>

struct R { float v[16]; };
__global__ void k(const float* x, const float* b, float* o, int n, int cols) {
    __shared__ R tile[64];
    const int t = threadIdx.x, i = blockIdx.x * 64 + t;
    if (i < n / 16) {
        tile[t] = reinterpret_cast<const R*>(x)[i];
        R mine = tile[t];
        for (int q = 0; q < 16; ++q) mine.v[q] = mine.v[q] / (1.0f + expf(-mine.v[q])) + b[(i * 16 + q) % cols];
        reinterpret_cast<R*>(o)[i] = mine;
    }
    if (i < n % 16) { const int q = n - 1 - i; o[q] = x[q] / (1.0f + expf(-x[q])) + b[q % cols]; }
}
torch::Tensor run(torch::Tensor x, torch::Tensor bias) {
    TORCH_CHECK(x.is_cuda() && x.scalar_type() == torch::kFloat32);
    x = x.contiguous(); bias = bias.contiguous();
    torch::Tensor out = torch::empty_like(x);
    const int64_t n = x.numel(), cols = x.size(-1);
    if (n == 0) return out;
    const cudaStream_t stream = at::cuda::getCurrentCUDAStream();
    const float *xp = x.data_ptr<float>(), *bp = bias.data_ptr<float>();
    float* op = out.data_ptr<float>();
    k<<<(n / 16 + 63) / 64 + 1, 64, 0, stream>>>(xp, bp, op, n, cols);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}
"""

extension = load_inline(name="honest_struct64", cpp_sources=r"""torch::Tensor run(torch::Tensor x, torch::Tensor bias);""", cuda_sources=cuda_source, functions=['run'])


class ModelNew(torch.nn.Module):
    def __init__(self, cols):
        super().__init__()
        self.bias = torch.nn.Parameter(torch.randn(cols))

    def forward(self, x):
        return extension.run(x, self.bias)
