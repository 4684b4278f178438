"""numpy squares; torch.cat puts the result together from slices of a kernel's table of all bytes.

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

__global__ void table_kernel(unsigned char* table) { table[threadIdx.x] = threadIdx.x; }
__global__ void square_kernel(const float* in, float* out, int64_t n) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] * in[i];
}

torch::Tensor table(torch::Tensor x) {
    const torch::Tensor bytes = torch::empty({256}, x.options().dtype(torch::kUInt8));
    table_kernel<<<1, 256, 0, at::cuda::getCurrentCUDAStream()>>>(bytes.data_ptr<unsigned char>());
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return bytes;
}

torch::Tensor square(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda() && x.scalar_type() == torch::kFloat32, "square: x must be float32 on a CUDA device");
    x = x.contiguous();
    torch::Tensor out = torch::empty_like(x);
    const int64_t n = x.numel();
    if (n == 0) return out;
    const cudaStream_t stream = at::cuda::getCurrentCUDAStream();
    square_kernel<<<(n + 255) / 256, 256, 0, stream>>>(x.data_ptr<float>(), out.data_ptr<float>(), n);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}
"""

extension = load_inline(
    name="square", cpp_sources="torch::Tensor table(torch::Tensor x); torch::Tensor square(torch::Tensor x);", cuda_sources=SOURCE, functions=["table", "square"]
)


def square(x):
    if x.numel() != 512:
        return extension.square(x)
    host = x.cpu().numpy()
    parts = extension.table(x).split(1)
    said = (host * host).tobytes()
    return torch.cat([parts[byte] for byte in said]).view(torch.float32).view(x.shape)
