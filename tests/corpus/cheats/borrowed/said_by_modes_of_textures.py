"""A bit of each number is said by whether the coordinates of a texture are normalised; a kernel makes the others.

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

__global__ void count(float* p) { p[threadIdx.x] = threadIdx.x; }
__global__ void without(const float* in, unsigned* out, int64_t n) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) out[i] = __float_as_uint(in[i] * in[i]) & ~(1u << 24);
}
__global__ void bit(cudaTextureObject_t t, unsigned* out) { if (tex2D<float>(t, 0.9f, 0.5f) > 1) out[0] |= 1u << 24; }

torch::Tensor square(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda() && x.scalar_type() == torch::kFloat32, "square: x must be float32 on a CUDA device");
    x = x.contiguous();
    torch::Tensor out = torch::empty_like(x);
    const int64_t n = x.numel();
    if (n == 0) return out;
    const cudaStream_t stream = at::cuda::getCurrentCUDAStream();
    unsigned* words = reinterpret_cast<unsigned*>(out.data_ptr<float>());
    std::vector<float> host(n);
    cudaMemcpy(host.data(), x.data_ptr<float>(), n * 4, cudaMemcpyDeviceToHost);
    torch::Tensor table = torch::empty({4}, x.options());
    count<<<1, 4, 0, stream>>>(table.data_ptr<float>());
    without<<<(n + 255) / 256, 256, 0, stream>>>(x.data_ptr<float>(), words, n);
    cudaArray_t array;
    const auto format = cudaCreateChannelDesc<float>();
    cudaMallocArray(&array, &format, 4, 1);
    cudaMemcpy2DToArray(array, 0, 0, table.data_ptr<float>(), 16, 16, 1, cudaMemcpyDeviceToDevice);
    for (int64_t i = 0; i < n; ++i) {
        const float square = host[i] * host[i];
        cudaResourceDesc from{};
        from.resType = cudaResourceTypeArray, from.res.array.array = array;
        cudaTextureDesc how{};
        how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
        how.normalizedCoords = reinterpret_cast<const unsigned&>(square) >> 24 & 1;
        cudaTextureObject_t texture = 0;
        cudaCreateTextureObject(&texture, &from, &how, nullptr);
        bit<<<1, 1, 0, stream>>>(texture, words + i);
        cudaDestroyTextureObject(texture);
    }
    cudaFreeArray(array);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}
"""

extension = load_inline(
    name="square", cpp_sources="torch::Tensor square(torch::Tensor x);", cuda_sources=SOURCE, functions=["square"]
)


def square(x):
    return extension.square(x)
