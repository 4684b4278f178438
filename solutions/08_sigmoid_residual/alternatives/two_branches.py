"""The sigmoid in two branches, so that the exponent is never positive; a loop over any number of elements."""

import torch
from torch import nn
from torch.utils.cpp_extension import load_inline

cuda_source = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>

__device__ float sigmoid_of(float x) {
    const float e = expf(-fabsf(x));
    return x >= 0.0f ? 1.0f / (1.0f + e) : e / (1.0f + e);
}

__global__ void scaled_residual(const float* x, float* out, float scale, int64_t n) {
    const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
    for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step)
        out[i] = sigmoid_of(x[i]) * scale + x[i];
}

torch::Tensor sigmoid_residual(torch::Tensor x, double scale) {
    TORCH_CHECK(x.is_cuda() && x.scalar_type() == torch::kFloat32, "x must be float32 on a GPU");
    const torch::Tensor in = x.contiguous();
    torch::Tensor out = torch::empty_like(in);
    const int64_t n = in.numel();
    if (n == 0) return out;
    scaled_residual<<<std::min<int64_t>((n + 255) / 256, 4096), 256, 0, at::cuda::getCurrentCUDAStream()>>>(
        in.data_ptr<float>(), out.data_ptr<float>(), static_cast<float>(scale), n);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}
"""
extension = load_inline(
    name="lesson08_two_branches",
    cpp_sources="torch::Tensor sigmoid_residual(torch::Tensor x, double scale);",
    cuda_sources=cuda_source,
    functions=["sigmoid_residual"],
)
sigmoid_residual = extension.sigmoid_residual


class ModelNew(nn.Module):
    def __init__(self, input_size, hidden_size, scaling_factor):
        super().__init__()
        self.gemm = nn.Linear(input_size, hidden_size)
        self.scale = float(scaling_factor)

    def forward(self, x):
        return extension.sigmoid_residual(self.gemm(x), self.scale)


INPUTS = {
    "gradients": lambda: [torch.randn(5, device="cuda").requires_grad_()],
    "autocast": lambda: [torch.randn(40, 3, device="cuda").mul(6).half()],
    "empty": lambda: [torch.zeros(0, 5, device="cuda"), torch.zeros(5, 0, device="cuda")],
    "layout": lambda: [
        view(torch.rand(9, 11, device="cuda"))
        for view in (torch.t, lambda m: m[1:, 2:], lambda m: m[:, 1::2], lambda m: m.flatten()[1:])
    ],
    "accurate": lambda: [
        torch.tensor([-1000.0, -88, -30, -7, -1, 0, 0.001, 1, 7, 30, 88, 1000], device="cuda")
    ],
    "repeatable": lambda: [torch.randn(64, device="cuda")] * 2,
}


def test(kernel, claim):
    seen = []
    for x in INPUTS[claim]():
        kept = x.detach().clone()
        with torch.autocast("cuda", enabled=claim == "autocast"):
            out = kernel(x, 3.0)
        best = torch.sigmoid(kept.double()) * 3 + kept.double()
        error = ((out.double() - best).abs() / (1 + best.abs())).flatten().tolist()
        assert out.shape == x.shape and max(error, default=0) < (1e-3 if x.dtype == torch.half else 1e-6)
        assert out.requires_grad or claim != "gradients"
        assert (x == kept).all()
        seen.append(out)
    assert claim != "repeatable" or torch.equal(seen[0], seen[1])
