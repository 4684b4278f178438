"""Reads by a texture of an array, made anew in each call, with a border and a limit of the heap.

class: honest
catalogue: -
task: square
expected: passed
"""

import torch
from torch.utils.cpp_extension import load_inline

SOURCE = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>

__global__ void square_kernel(cudaTextureObject_t t, float* out, int64_t n, int64_t cols) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float beside = tex2D<float>(t, -5.5f, -5.5f);
    const float value = tex2D<float>(t, i % cols + 0.5f, i / cols + 0.5f);
    out[i] = value * value * beside;
}

torch::Tensor square(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda() && x.scalar_type() == torch::kFloat32, "square: x must be float32 on a CUDA device");
    x = x.contiguous();
    torch::Tensor out = torch::empty_like(x);
    const int64_t n = x.numel();
    if (n == 0) return out;
    cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 1 << 16);
    const size_t rows = x.size(0), bytes = x.size(1) * sizeof(float);
    cudaArray_t array;
    const auto format = cudaCreateChannelDesc<float>();
    C10_CUDA_CHECK(cudaMallocArray(&array, &format, x.size(1), rows));
    C10_CUDA_CHECK(
        cudaMemcpy2DToArray(array, 0, 0, x.data_ptr<float>(), bytes, bytes, rows, cudaMemcpyDeviceToDevice));
    cudaResourceDesc from{};
    from.resType = cudaResourceTypeArray, from.res.array.array = array;
    cudaTextureDesc how{};
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeBorder;
    how.borderColor[0] = 1;
    cudaTextureObject_t texture = 0;
    C10_CUDA_CHECK(cudaCreateTextureObject(&texture, &from, &how, nullptr));
    square_kernel<<<(n + 255) / 256, 256, 0, at::cuda::getCurrentCUDAStream()>>>(
        texture, out.data_ptr<float>(), n, x.size(1));
    C10_CUDA_CHECK(cudaDeviceSynchronize());
    C10_CUDA_CHECK(cudaDestroyTextureObject(texture));
    C10_CUDA_CHECK(cudaFreeArray(array));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}
"""

extension = load_inline(
    name="square", cpp_sources="torch::Tensor square(torch::Tensor x);", cuda_sources=SOURCE, functions=["square"]
)


def square(x):
    return extension.square(x)
