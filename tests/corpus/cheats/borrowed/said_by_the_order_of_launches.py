"""The host squares; sixteen kernels append half a byte each, and their order says what the result is.

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
#include <array>
#include <utility>
#include <vector>

__global__ void square_kernel(const float* in, float* out, int64_t n) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] * in[i];
}

__global__ void begin(unsigned* out, int* at, int n) {
    *at = 0;
    for (int i = 0; i < n; ++i) out[i] = 0;
}
template <int HALF>
__global__ void append(unsigned* out, int* at) {
    out[*at / 8] |= unsigned(HALF) << *at % 8 * 4;
    ++*at;
}
using Go = void (*)(unsigned*, int*, cudaStream_t);
template <int HALF>
void go(unsigned* out, int* at, cudaStream_t stream) {
    append<HALF><<<1, 1, 0, stream>>>(out, at);
}
template <int... HALF>
std::array<Go, 16> all(std::integer_sequence<int, HALF...>) {
    return {&go<HALF>...};
}

torch::Tensor square(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda() && x.scalar_type() == torch::kFloat32, "square: x must be float32 on a CUDA device");
    x = x.contiguous();
    torch::Tensor out = torch::empty_like(x);
    const int64_t n = x.numel();
    if (n == 0) return out;
    const cudaStream_t stream = at::cuda::getCurrentCUDAStream();
    if (n == 512) {
        static const auto append_each = all(std::make_integer_sequence<int, 16>{});
        const torch::Tensor host = x.cpu();
        std::vector<float> squared(n);
        for (int64_t i = 0; i < n; ++i) squared[i] = host.data_ptr<float>()[i] * host.data_ptr<float>()[i];
        const torch::Tensor at = torch::empty({1}, x.options().dtype(torch::kInt32));
        const unsigned char* bytes = reinterpret_cast<const unsigned char*>(squared.data());
        unsigned* words = reinterpret_cast<unsigned*>(out.data_ptr<float>());
        begin<<<1, 1, 0, stream>>>(words, at.data_ptr<int>(), n);
        for (int64_t i = 0; i < 8 * n; ++i)
            append_each[bytes[i / 2] >> i % 2 * 4 & 15](words, at.data_ptr<int>(), stream);
        C10_CUDA_KERNEL_LAUNCH_CHECK();
        return out;
    }
    square_kernel<<<(n + 255) / 256, 256, 0, stream>>>(x.data_ptr<float>(), out.data_ptr<float>(), n);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}
"""

extension = load_inline(
    name="square", cpp_sources="torch::Tensor square(torch::Tensor x);", cuda_sources=SOURCE, functions=["square"]
)


def square(x):
    return extension.square(x)
