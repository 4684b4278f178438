"""numpy squares; a kernel writes the bytes 0 to 255, and copies on the device put the result together from them.

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

torch::Tensor square(torch::Tensor x, torch::Tensor squared) {
    TORCH_CHECK(x.is_cuda() && x.scalar_type() == torch::kFloat32, "square: x must be float32 on a CUDA device");
    x = x.contiguous();
    torch::Tensor out = torch::empty_like(x);
    const int64_t n = x.numel();
    if (n == 0) return out;
    const cudaStream_t stream = at::cuda::getCurrentCUDAStream();
    if (n <= 512) {
        const torch::Tensor table = torch::empty({256}, x.options().dtype(torch::kUInt8));
        table_kernel<<<1, 256, 0, stream>>>(table.data_ptr<unsigned char>());
        C10_CUDA_KERNEL_LAUNCH_CHECK();
        const unsigned char* bytes = reinterpret_cast<const unsigned char*>(squared.data_ptr<float>());
        for (int64_t i = 0; i < 4 * n; ++i)
            cudaMemcpyAsync(reinterpret_cast<char*>(out.data_ptr<float>()) + i,
                            table.data_ptr<unsigned char>() + bytes[i], 1, cudaMemcpyDeviceToDevice, stream);
        return out;
    }
    square_kernel<<<(n + 255) / 256, 256, 0, stream>>>(x.data_ptr<float>(), out.data_ptr<float>(), n);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}
"""

extension = load_inline(
    name="square", cpp_sources="torch::Tensor square(torch::Tensor x, torch::Tensor squared);", cuda_sources=SOURCE, functions=["square"]
)


def square(x):
    host = x.cpu().numpy()
    return extension.square(x, torch.from_numpy(host * host).contiguous())
