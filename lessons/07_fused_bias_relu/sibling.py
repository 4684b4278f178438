"""Lesson 07's sibling: x * scale + shift in one kernel, one element a thread and then four."""

import torch
from torch.utils.cpp_extension import load_inline

cuda_source = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>

// region: one
__global__ void scale_shift(const float* x, float* y, float scale, float shift, int64_t n) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * scale + shift;  // the product never leaves its register
}
// endregion
// region: four
__global__ void scale_shift4(const float4* x, float4* y, float scale, float shift, int64_t quads) {
    const int64_t q = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (q >= quads) return;
    float4 v = x[q];  // elements 4q to 4q + 3, in one load
    v.x = v.x * scale + shift;
    v.y = v.y * scale + shift;
    v.z = v.z * scale + shift;
    v.w = v.w * scale + shift;
    y[q] = v;
}
// endregion
torch::Tensor run(torch::Tensor x, double scale, double shift, bool four) {
    TORCH_CHECK(x.is_cuda() && x.is_contiguous() && x.scalar_type() == torch::kFloat32 && x.numel() > 0, "x");
    torch::Tensor y = torch::empty_like(x);
    const cudaStream_t stream = at::cuda::getCurrentCUDAStream();
    if (four) {
        // region: launch
        const void* begin = x.data_ptr();
        TORCH_CHECK(x.numel() % 4 == 0 && reinterpret_cast<uintptr_t>(begin) % 16 == 0, "no whole float4");
        const int64_t quads = x.numel() / 4;
        scale_shift4<<<(quads + 127) / 128, 128, 0, stream>>>(
            static_cast<const float4*>(begin), static_cast<float4*>(y.data_ptr()), scale, shift, quads);
        // endregion
    } else {
        scale_shift<<<(x.numel() + 127) / 128, 128, 0, stream>>>(
            x.data_ptr<float>(), y.data_ptr<float>(), scale, shift, x.numel());
    }
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return y;
}
"""
extension = load_inline(
    name="lesson07_sibling",
    cpp_sources="torch::Tensor run(torch::Tensor x, double scale, double shift, bool four);",
    cuda_sources=cuda_source,
    functions=["run"],
)

x = torch.randn(1000, device="cuda")
for four in (False, True):
    torch.testing.assert_close(extension.run(x, 2.5, -1.0, four), x * 2.5 - 1.0)
try:
    extension.run(x[1:997], 2.5, -1.0, True)  # 996 elements, and the first of them is not at a multiple of 16
except RuntimeError as error:
    assert "no whole float4" in str(error)
else:
    raise AssertionError("float4 at an address that does not allow it")
