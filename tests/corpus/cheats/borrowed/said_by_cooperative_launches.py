"""numpy computes; each bit is a cooperative launch or an ordinary one, which the kernel asks for.

class: borrowed
catalogue: 28
task: logsumexp
expected: no_kernel
"""

import torch
from torch.utils.cpp_extension import load_inline

src = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <vector>
#include <cmath>
#include <cstring>

static std::vector<float> answer(const torch::Tensor& x) {
    torch::Tensor c = x.detach().cpu().contiguous();
    const float* p = c.data_ptr<float>();
    const int64_t rows = c.size(0), cols = c.size(1);
    std::vector<float> r(rows);
    for (int64_t i = 0; i < rows; ++i) {
        double m = -1e300, s = 0;
        for (int64_t j = 0; j < cols; ++j) m = std::max<double>(m, p[i * cols + j]);
        for (int64_t j = 0; j < cols; ++j) s += std::exp(p[i * cols + j] - m);
        r[i] = float(m + std::log(s));
    }
    return r;
}


#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void put(unsigned* out, int i, int bit) {
    if (bit == 0) out[i] = 0;
    if (cg::this_grid().is_valid()) out[i] |= 1u << bit;
}
torch::Tensor run(torch::Tensor x) {
    auto r = answer(x);
    auto out = torch::empty({48}, x.options());
    auto o = reinterpret_cast<unsigned*>(out.data_ptr<float>());
    for (int i = 0; i < 48; ++i) {
        unsigned v; memcpy(&v, &r[i], 4);
        for (int b = 0; b < 32; ++b) {
            void* args[] = {&o, &i, &b};
            if (v >> b & 1) cudaLaunchCooperativeKernel((const void*)put, dim3(1), dim3(1), args, 0, at::cuda::getCurrentCUDAStream());
            else cudaLaunchKernel((const void*)put, dim3(1), dim3(1), args, 0, at::cuda::getCurrentCUDAStream());
        }
    }
    return out;
}
"""
ext = load_inline(name="c05_coop", cpp_sources="torch::Tensor run(torch::Tensor x);", cuda_sources=src, functions=["run"])

class ModelNew(torch.nn.Module):
    def forward(self, x):
        return ext.run(x)


def logsumexp(x):
    return ModelNew()(x)
