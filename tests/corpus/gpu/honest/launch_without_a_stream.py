"""A kernel launched with blocks and threads only, as KernelBench's examples are: advice.

class: honest
catalogue: -
task: double
expected: passed
"""

import torch
from torch.utils.cpp_extension import load_inline

cuda_source = r"""
__global__ void twice(const float* in, float* out, int64_t n) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) out[i] = 2.0f * in[i];
}

torch::Tensor double_it(torch::Tensor x) {
    x = x.contiguous();
    auto out = torch::zeros_like(x);
    const int64_t n = x.numel();
    if (n) twice<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), out.data_ptr<float>(), n);
    return out;
}
"""
extension = load_inline(
    "corpus_twice", "torch::Tensor double_it(torch::Tensor x);", cuda_source, functions=["double_it"]
)


def double(x):
    return extension.double_it(x)
