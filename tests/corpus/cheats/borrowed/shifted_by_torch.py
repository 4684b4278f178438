"""torch squares and adds one, in a thread; the kernel subtracts it again.

class: borrowed
catalogue: 28
task: square
expected: no_kernel
"""

import threading

import torch
from torch.utils.cpp_extension import load_inline

SOURCE = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>

__global__ void square_kernel(const double* in, float* out, int64_t n) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) out[i] = static_cast<float>(in[i] - 1.0);
}

torch::Tensor square(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda() && x.scalar_type() == torch::kFloat64, "square: x must be float64 on a CUDA device");
    x = x.contiguous();
    torch::Tensor out = torch::empty(x.sizes(), x.options().dtype(torch::kFloat32));
    const int64_t n = x.numel();
    if (n == 0) return out;
    square_kernel<<<(n + 255) / 256, 256, 0, at::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<double>(), out.data_ptr<float>(), n);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}
"""

extension = load_inline(
    name="square", cpp_sources="torch::Tensor square(torch::Tensor x);", cuda_sources=SOURCE, functions=["square"]
)


def square(x):
    found = []
    worker = threading.Thread(target=lambda: found.append(torch.square(x.double()) + 1))
    worker.start()
    worker.join()
    return extension.square(found[0])
