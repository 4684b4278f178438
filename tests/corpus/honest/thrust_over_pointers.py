"""Thrust's own algorithm over the tensors' pointers; the functor is the file's.

class: honest
catalogue: -
task: square
expected: passed
"""

import torch
from torch.utils.cpp_extension import load_inline

CUDA = r"""
#include <ATen/cuda/CUDAContext.h>
#include <thrust/device_ptr.h>
#include <thrust/execution_policy.h>
#include <thrust/transform.h>

struct Square {
    __host__ __device__ float operator()(float x) const { return x * x; }
};

torch::Tensor square(torch::Tensor given) {
    TORCH_CHECK(given.is_cuda() && given.scalar_type() == torch::kFloat32);
    auto x = given.contiguous();
    auto out = torch::empty_like(x);
    thrust::device_ptr<const float> first(x.data_ptr<float>());
    thrust::device_ptr<float> to(out.data_ptr<float>());
    auto on = thrust::cuda::par.on(at::cuda::getCurrentCUDAStream());
    thrust::transform(on, first, first + x.numel(), to, Square());
    return out;
}
"""
module = load_inline("thrust_over_pointers", "torch::Tensor square(torch::Tensor x);", cuda_sources=CUDA, functions=["square"])


def square(x):
    return module.square(x)
