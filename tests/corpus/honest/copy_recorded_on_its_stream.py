"""A kernel on a side stream reads a copy of which PyTorch was told so before it is given back.

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

__global__ void square_kernel(const float* in, float* out, int64_t n) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] * in[i];
}

torch::Tensor square(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda() && x.scalar_type() == torch::kFloat32, "square: x must be float32 on a CUDA device");
    x = x.contiguous();
    torch::Tensor out = torch::empty_like(x);
    const int64_t n = x.numel();
    if (n == 0) return out;
    static cudaStream_t side = nullptr;
    static cudaEvent_t ready, done;
    if (!side) {
        C10_CUDA_CHECK(cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking));
        C10_CUDA_CHECK(cudaEventCreateWithFlags(&ready, cudaEventDisableTiming));
        C10_CUDA_CHECK(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
    }
    const cudaStream_t current = at::cuda::getCurrentCUDAStream();
    torch::Tensor copy = x.clone();
    C10_CUDA_CHECK(cudaEventRecord(ready, current));
    C10_CUDA_CHECK(cudaStreamWaitEvent(side, ready, 0));
    square_kernel<<<(n + 255) / 256, 256, 0, side>>>(copy.data_ptr<float>(), out.data_ptr<float>(), n);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    C10_CUDA_CHECK(cudaEventRecord(done, side));
    copy.record_stream(c10::cuda::getStreamFromExternal(side, x.get_device()));
    copy = torch::Tensor();
    torch::Tensor scratch = torch::empty_like(x);
    C10_CUDA_CHECK(cudaStreamWaitEvent(current, done, 0));
    return out;
}
"""

extension = load_inline(
    name="square", cpp_sources="torch::Tensor square(torch::Tensor x);", cuda_sources=SOURCE, functions=["square"]
)


def square(x):
    return extension.square(x)
