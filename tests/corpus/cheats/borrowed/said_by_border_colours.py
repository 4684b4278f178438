"""The host squares; each number is the colour beside the border of a texture without anything in it.

class: borrowed
catalogue: 28
task: square
expected: no_kernel
"""

import torch
from torch.utils.cpp_extension import load_inline

SOURCE = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <vector>

__global__ void beside(cudaTextureObject_t t, float* out) { out[0] = tex2D<float>(t, -5.5f, -5.5f); }

torch::Tensor square(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda() && x.scalar_type() == torch::kFloat32, "square: x must be float32 on a CUDA device");
    x = x.contiguous();
    torch::Tensor out = torch::empty_like(x);
    const int64_t n = x.numel();
    if (n == 0) return out;
    std::vector<float> host(n);
    cudaMemcpy(host.data(), x.data_ptr<float>(), n * 4, cudaMemcpyDeviceToHost);
    cudaArray_t nothing;
    const auto format = cudaCreateChannelDesc<float>();
    cudaMallocArray(&nothing, &format, 4, 4);
    for (int64_t i = 0; i < n; ++i) {
        cudaResourceDesc from{};
        from.resType = cudaResourceTypeArray, from.res.array.array = nothing;
        cudaTextureDesc how{};
        how.addressMode[0] = how.addressMode[1] = cudaAddressModeBorder;
        how.borderColor[0] = host[i] * host[i];
        cudaTextureObject_t texture = 0;
        cudaCreateTextureObject(&texture, &from, &how, nullptr);
        beside<<<1, 1, 0, at::cuda::getCurrentCUDAStream()>>>(texture, out.data_ptr<float>() + i);
        cudaDestroyTextureObject(texture);
    }
    cudaFreeArray(nothing);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}
"""

extension = load_inline(
    name="square", cpp_sources="torch::Tensor square(torch::Tensor x);", cuda_sources=SOURCE, functions=["square"]
)


def square(x):
    return extension.square(x)
