"""The last of two blocks adds what both have written, behind a fence for one block.

class: luck
catalogue: -
task: square
expected: race
"""

from torch.utils.cpp_extension import load_inline

SOURCE = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>

__device__ float parts[2][1 << 20];
__device__ unsigned tickets[1 << 12];
__global__ void halves(const float* x, float* out, int n) {  // grid (blocks, 2): the last of two blocks adds both halves
    __shared__ bool last;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) parts[blockIdx.y][i] = 0.5f * x[i] * x[i];
    __threadfence_block();
    __syncthreads();
    if (threadIdx.x == 0) last = atomicAdd(&tickets[blockIdx.x], 1) == 1;
    __syncthreads();
    if (!last) return;
    if (i < n) out[i] = ((volatile float*)parts[0])[i] + ((volatile float*)parts[1])[i];
    if (threadIdx.x == 0) tickets[blockIdx.x] = 0;
}

torch::Tensor square(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda() && x.scalar_type() == torch::kFloat32, "square: x must be float32 on a CUDA device");
    x = x.contiguous();
    torch::Tensor out = torch::empty_like(x);
    const int n = x.numel(), blocks = (n + 255) / 256;
    if (n == 0) return out;
    const float* in = x.data_ptr<float>();
    float* to = out.data_ptr<float>();
    cudaStream_t stream = at::cuda::getCurrentCUDAStream();
    halves<<<dim3(blocks, 2), 256, 0, stream>>>(in, to, n);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}
"""

extension = load_inline(
    name="square", cpp_sources="torch::Tensor square(torch::Tensor x);", cuda_sources=SOURCE, functions=["square"]
)


def square(x):
    return extension.square(x)
