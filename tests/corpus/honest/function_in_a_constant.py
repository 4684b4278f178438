"""Reads the address of a function from a variable of the device, and puts it into a constant.

class: honest
catalogue: -
task: square
expected: passed
"""

from torch.utils.cpp_extension import load_inline

SOURCE = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>

typedef float (*Function)(float);
__device__ float squared(float v) { return v * v; }
__device__ Function of_device = squared;
__constant__ Function chosen;
__global__ void each(const float* x, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = chosen(x[i]);
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
    Function f;
    cudaMemcpyFromSymbol(&f, of_device, sizeof f);
    cudaMemcpyToSymbol(chosen, &f, sizeof f);
    each<<<blocks, 256, 0, stream>>>(in, to, n);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}
"""

extension = load_inline(
    name="square", cpp_sources="torch::Tensor square(torch::Tensor x);", cuda_sources=SOURCE, functions=["square"]
)


def square(x):
    return extension.square(x)
