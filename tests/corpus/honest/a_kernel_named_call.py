"""C++ classes: a matrix view with operator(), inheritance, a functor object, all passed by value.

class: honest
catalogue: -
task: swish
expected: passed
"""

import torch
from torch.utils.cpp_extension import load_inline

cuda_source = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>

template <typename T> struct View {
    T* data; int64_t rows, cols;
    __device__ T& operator()(int64_t r, int64_t c) const { return data[r * cols + c]; }
};
struct Base { float one; __device__ float sigmoid(float v) const { return one / (one + expf(-v)); } };
struct Swish final : Base {
    explicit __host__ __device__ Swish(float o) : Base{o} {}
    __device__ float operator()(float v) const { return v * sigmoid(v); }
};
template <class Op> class Kernel {
    View<const float> x; View<const float> b; View<float> out; Op op;
public:
    __host__ Kernel(View<const float> x, View<const float> b, View<float> o, Op op) : x(x), b(b), out(o), op(op) {}
    __device__ void operator()(int64_t r, int64_t c) const { if (r < x.rows && c < x.cols) out(r, c) = op(x(r, c)) + b(0, c); }
};
template <class K> __global__ void call(const K k) { k(blockIdx.y * int64_t(blockDim.y) + threadIdx.y, blockIdx.x * int64_t(blockDim.x) + threadIdx.x); }

torch::Tensor run(torch::Tensor x, torch::Tensor bias) {
    TORCH_CHECK(x.is_cuda() && x.scalar_type() == torch::kFloat32);
    x = x.contiguous(); bias = bias.contiguous();
    torch::Tensor out = torch::empty_like(x);
    const int64_t n = x.numel(), cols = x.size(-1);
    if (n == 0) return out;
    const cudaStream_t stream = at::cuda::getCurrentCUDAStream();
    const float *xp = x.data_ptr<float>(), *bp = bias.data_ptr<float>();
    float* op = out.data_ptr<float>();
    const int64_t rows = n / cols; Kernel<Swish> k({xp, rows, cols}, {bp, 1, cols}, {op, rows, cols}, Swish(1.0f)); call<<<dim3((cols + 7) / 8, (rows + 31) / 32), dim3(8, 32), 0, stream>>>(k);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}
"""

extension = load_inline(name="honest_classes", cpp_sources=r"""torch::Tensor run(torch::Tensor x, torch::Tensor bias);""", cuda_sources=cuda_source, functions=['run'])


class ModelNew(torch.nn.Module):
    def __init__(self, cols):
        super().__init__()
        self.bias = torch.nn.Parameter(torch.randn(cols))

    def forward(self, x):
        return extension.run(x, self.bias)
