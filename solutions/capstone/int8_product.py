"""Capstone: a product with int8 weights, a warp a column of the result."""

import torch
from torch.utils.cpp_extension import load_inline

cuda_source = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
constexpr int THREADS = 256, WARPS = THREADS / 32, ROWS = 8;
__global__ void product_kernel(const float* x, const int8_t* weight, const float* scale, float* out,
                               int64_t features, int64_t outputs) {
    // starter: // TODO 1: ROWS sums over the features for one output; each byte of weight is read once.
    // solution: begin
    const int lane = threadIdx.x % 32;
    const int64_t output = int64_t(blockIdx.x) * WARPS + threadIdx.x / 32;
    if (output >= outputs) return;
    const char4* bytes = reinterpret_cast<const char4*>(weight + output * features);
    float sum[ROWS] = {};
    for (int64_t k = lane; k < features / 4; k += 32) {
        const char4 w = bytes[k];
        for (int r = 0; r < ROWS; ++r) {
            const float* v = x + r * features + 4 * k;
            sum[r] += w.x * v[0] + w.y * v[1] + w.z * v[2] + w.w * v[3];
        }
    }
    for (int r = 0; r < ROWS; ++r)
        for (int step = 16; step > 0; step /= 2) sum[r] += __shfl_down_sync(~0u, sum[r], step);
    if (lane > 0) return;
    for (int r = 0; r < ROWS; ++r) out[r * outputs + output] = sum[r] * scale[output];
    // solution: end
}
torch::Tensor product(torch::Tensor x, torch::Tensor weight, torch::Tensor scale) {
    TORCH_CHECK(x.size(0) == ROWS && x.size(1) % 4 == 0, "eight rows, and features in fours");
    const torch::Tensor given = x.contiguous();
    const int64_t features = given.size(1), outputs = weight.size(0);
    const torch::Tensor out = torch::empty({ROWS, outputs}, given.options());
    if (outputs == 0) return out;
    const cudaStream_t stream = at::cuda::getCurrentCUDAStream();
    product_kernel<<<(outputs + WARPS - 1) / WARPS, THREADS, 0, stream>>>(
        given.data_ptr<float>(), weight.data_ptr<int8_t>(), scale.data_ptr<float>(), out.data_ptr<float>(),
        features, outputs);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}
"""
declared = "torch::Tensor product(torch::Tensor x, torch::Tensor weight, torch::Tensor scale);"
extension = load_inline("capstone_int8_product", declared, cuda_source, functions=["product"])


class ModelNew(torch.nn.Module):
    def __init__(self, features, outputs):
        super().__init__()
        self.register_buffer("weight", torch.zeros(outputs, features, dtype=torch.int8))
        self.scale = torch.nn.Parameter(torch.zeros(outputs))

    def forward(self, x):
        return extension.product(x, self.weight, self.scale)
