"""Calls a virtual function of an object that the host has made in managed memory.

class: luck
catalogue: -
task: square
expected: illegal_access
"""

from torch.utils.cpp_extension import load_inline

SOURCE = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>

#include <new>

struct Shape {
    __host__ __device__ virtual float at(float v) const { return v; }
};
struct Square : Shape {
    __host__ __device__ float at(float v) const override { return v * v; }
};

__global__ void each(const Shape* shape, const float* x, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = shape->at(x[i]);
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
    static Shape* shape = nullptr;
    if (!shape) {
        void* place;
        cudaMallocManaged(&place, sizeof(Square));
        shape = new (place) Square;
    }
    each<<<blocks, 256, 0, stream>>>(shape, in, to, n);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}
"""

extension = load_inline(
    name="square", cpp_sources="torch::Tensor square(torch::Tensor x);", cuda_sources=SOURCE, functions=["square"]
)


def square(x):
    return extension.square(x)
