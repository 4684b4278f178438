"""In the model in place, in the memory of the product, with one fused multiply-add."""

import torch
from torch import nn
from torch.utils.cpp_extension import load_inline

cuda_source = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>

__global__ void in_place(const float* x, float* out, float scale, int64_t n) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float v = x[i];
    out[i] = fmaf(scale, 1.0f / (1.0f + expf(-v)), v);
}

torch::Tensor launch(torch::Tensor x, torch::Tensor out, double scale) {
    TORCH_CHECK(x.is_cuda() && x.scalar_type() == torch::kFloat32 && x.is_contiguous(), "x: float32 on a GPU, rows in order");
    const int64_t n = x.numel();
    if (n) {
        in_place<<<(n + 127) / 128, 128, 0, at::cuda::getCurrentCUDAStream()>>>(
            x.data_ptr<float>(), out.data_ptr<float>(), scale, n);
        C10_CUDA_KERNEL_LAUNCH_CHECK();
    }
    return out;
}
torch::Tensor sigmoid_residual(torch::Tensor x, double scale) {
    x = x.contiguous();
    return launch(x, torch::empty_like(x), scale);
}
torch::Tensor sigmoid_residual_(torch::Tensor x, double scale) { return launch(x, x, scale); }
"""
extension = load_inline(
    name="lesson08_in_place",
    cpp_sources="torch::Tensor sigmoid_residual(torch::Tensor x, double scale);"
    "torch::Tensor sigmoid_residual_(torch::Tensor x, double scale);",
    cuda_sources=cuda_source,
    functions=["sigmoid_residual", "sigmoid_residual_"],
)
sigmoid_residual = extension.sigmoid_residual


class ModelNew(nn.Module):
    def __init__(self, input_size, hidden_size, scaling_factor):
        super().__init__()
        self.gemm = nn.Linear(input_size, hidden_size)
        self.scale = float(scaling_factor)

    def forward(self, x):
        return extension.sigmoid_residual_(self.gemm(x), self.scale)


def check_gradients(kernel):
    x = torch.ones(4, 4, device="cuda", requires_grad=True)
    assert kernel(x, 1.5).grad_fn is not None or kernel(x, 1.5).requires_grad


def check_autocast(kernel):
    x = torch.linspace(-20, 20, 101, device="cuda").half()
    with torch.autocast("cuda", dtype=torch.float16):
        torch.testing.assert_close(kernel(x, 1.5).float(), want(x.float(), 1.5), rtol=1e-3, atol=1e-3)


def check_empty(kernel):
    out = kernel(torch.empty(3, 0, 2, device="cuda"), 1.5)
    assert list(out.shape) == [3, 0, 2]


def check_layout(kernel):
    x = torch.randn(12, 13, device="cuda")
    for view in [x.T, x[::3], x[:, 1:-1], x[:, ::3], x.reshape(-1)[3:].reshape(17, 9)]:
        torch.testing.assert_close(kernel(view, 1.5), want(view, 1.5))


def check_accurate(kernel):
    x = torch.cat(
        [torch.linspace(-1200, 1200, 301), torch.linspace(-12, 12, 301), torch.linspace(-0.01, 0.01, 30)]
    ).cuda()
    torch.testing.assert_close(kernel(x, 1.5), want(x, 1.5), rtol=1e-6, atol=1e-6)


def check_repeatable(kernel):
    x = torch.randn(50, device="cuda")
    before = x.tolist()
    assert kernel(x, 1.5).tolist() == kernel(x, 1.5).tolist() and x.tolist() == before


def want(x, scale):
    return (x.double() + scale / (1 + (-x.double()).exp())).float()


def test(kernel, claim):
    globals()["check_" + claim](kernel)
