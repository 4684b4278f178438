"""Two blocks add to an element by an atomic function that is one for a block alone.

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

__global__ void halves(const float* x, float* out, int n) {  // grid (blocks, 2): each block brings a half
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd_block(&out[i], 0.5f * x[i] * x[i]);
}

torch::Tensor square(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda() && x.scalar_type() == torch::kFloat32, "square: x must be float32 on a CUDA device");
    x = x.contiguous();
    torch::Tensor out = torch::zeros_like(x);
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
