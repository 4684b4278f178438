"""In place, in the memory of the product, with one fused multiply-add."""

from torch import nn
from torch.utils.cpp_extension import load_inline

cuda_source = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>

__global__ void in_place(float* x, float scale, int64_t n) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float v = x[i];
    x[i] = fmaf(scale, 1.0f / (1.0f + expf(-v)), v);
}

torch::Tensor sigmoid_residual(torch::Tensor x, double scale) {
    TORCH_CHECK(x.is_cuda() && x.scalar_type() == torch::kFloat32 && x.is_contiguous(), "x: float32 on a GPU, rows in order");
    const int64_t n = x.numel();
    if (n) {
        in_place<<<(n + 127) / 128, 128, 0, at::cuda::getCurrentCUDAStream()>>>(x.data_ptr<float>(), scale, n);
        C10_CUDA_KERNEL_LAUNCH_CHECK();
    }
    return x;
}
"""
extension = load_inline(
    name="lesson08_in_place",
    cpp_sources="torch::Tensor sigmoid_residual(torch::Tensor x, double scale);",
    cuda_sources=cuda_source,
    functions=["sigmoid_residual"],
)


class ModelNew(nn.Module):
    def __init__(self, input_size, hidden_size, scaling_factor):
        super().__init__()
        self.gemm = nn.Linear(input_size, hidden_size)
        self.scale = float(scaling_factor)

    def forward(self, x):
        return extension.sigmoid_residual(self.gemm(x), self.scale)
