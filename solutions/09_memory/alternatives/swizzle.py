"""A tile of 32 x 32 without an odd column: element (j, x) lies at x ^ j. The square walks in grid strides."""

from torch.utils.cpp_extension import load_inline

cuda_source = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>

__global__ void square_kernel(const float4* in, float4* out, const float* rest, float* rest_out, int n4, int left) {
    const int step = gridDim.x * blockDim.x, first = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = first; i < n4; i += step) {
        float4 v = in[i];
        v.x *= v.x;
        v.y *= v.y;
        v.z *= v.z;
        v.w *= v.w;
        out[i] = v;
    }
    if (first < left) rest_out[first] = rest[first] * rest[first];
}

__global__ void transpose_kernel(const float* in, float* out, int rows, int cols) {
    __shared__ float tile[32][32];
    const int x = threadIdx.x;
    int col = blockIdx.x * 32 + x;
    for (int y = threadIdx.y; y < 32; y += blockDim.y) {
        const int row = blockIdx.y * 32 + y;
        if (row < rows && col < cols) tile[y][x ^ y] = in[row * cols + col];
    }
    __syncthreads();
    col = blockIdx.y * 32 + x;
    for (int y = threadIdx.y; y < 32; y += blockDim.y) {
        const int row = blockIdx.x * 32 + y;
        if (row < cols && col < rows) out[row * rows + col] = tile[x][y ^ x];
    }
}

torch::Tensor square(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda() && x.scalar_type() == torch::kFloat32, "square: float32 on CUDA");
    x = x.contiguous();
    auto out = torch::empty_like(x);
    const int n = x.numel(), n4 = n / 4;
    const float* in = x.data_ptr<float>();
    float* to = out.data_ptr<float>();
    square_kernel<<<16, 128, 0, at::cuda::getCurrentCUDAStream()>>>(
        reinterpret_cast<const float4*>(in), reinterpret_cast<float4*>(to), in + 4 * n4, to + 4 * n4, n4, n % 4);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}

torch::Tensor transpose(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda() && x.scalar_type() == torch::kFloat32 && x.dim() == 2, "transpose: a float32 matrix");
    x = x.contiguous();
    const int rows = x.size(0), cols = x.size(1);
    auto out = torch::empty({cols, rows}, x.options());
    if (out.numel() == 0) return out;
    transpose_kernel<<<dim3((cols + 31) / 32, (rows + 31) / 32), dim3(32, 4), 0, at::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<float>(), out.data_ptr<float>(), rows, cols);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}
"""
declared = "torch::Tensor square(torch::Tensor x); torch::Tensor transpose(torch::Tensor x);"
extension = load_inline("lesson09_swizzle", declared, cuda_source, functions=["square", "transpose"])


def square(x):
    return extension.square(x)


def transpose(x):
    return extension.transpose(x)


def resident_blocks(threads, registers, shared_bytes):
    warps = (threads + 31) // 32
    per_warp = (registers * 32 + 255) // 256 * 256
    per_block = 1024 + (shared_bytes + 127) // 128 * 128
    in_quarter = 16384 // per_warp
    limits = [32, 64 // warps, (4 * in_quarter) // warps, 233472 // per_block]
    return sorted(limits)[0]


def floor_ns(nbytes, flops):
    return max((nbytes + 4239) // 4240, (flops + 66899) // 66900)
