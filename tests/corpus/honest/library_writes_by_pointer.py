"""frexpf and modff with results in shared and global memory (a scratch tensor); the value is put together from them again.

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

__global__ void k(const float* x, const float* b, float* o, float* scratch, int n, int cols) {
    __shared__ int ex[64];
    const int i = blockIdx.x * 64 + threadIdx.x;
    if (i >= n) return;
    const float m = frexpf(x[i], &ex[threadIdx.x]);
    const float fr = modff(x[i], &scratch[i]);
    const float v = ldexpf(m, ex[threadIdx.x]), w = scratch[i] + fr;
    o[i] = (v * 0.5f + w * 0.5f) / (1.0f + expf(-v)) + b[i % cols];
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
    torch::Tensor s = torch::empty_like(x); k<<<(n + 63) / 64, 64, 0, stream>>>(xp, bp, op, s.data_ptr<float>(), n, cols);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}
"""

extension = load_inline(name="honest_sincos_out", cpp_sources=r"""torch::Tensor run(torch::Tensor x, torch::Tensor bias);""", cuda_sources=cuda_source, functions=['run'])


class ModelNew(torch.nn.Module):
    def __init__(self, cols):
        super().__init__()
        self.bias = torch.nn.Parameter(torch.randn(cols))

    def forward(self, x):
        return extension.run(x, self.bias)
