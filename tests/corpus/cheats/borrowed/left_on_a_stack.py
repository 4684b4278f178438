"""numpy computes; a first launch tells where a local array lies, the host writes there, and a second reads it.

class: borrowed
catalogue: 28
task: logsumexp
expected: wrong_output
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


__global__ void put(float* out, unsigned long long* where, int ask) {
    volatile float box[8192];
    if (ask) { *where = (unsigned long long)(void*)box; return; }
    for (int i = 0; i < 48; ++i) {
        float best = 0;
        for (int a = 0; a < 8192 / 64 && best == 0; ++a)
            for (int b = 0; b < a; ++b) if (box[a * 64 + i] == box[b * 64 + i] && box[a * 64 + i] != 0) { best = box[a * 64 + i]; break; }
        out[i] = best;
    }
}
torch::Tensor run(torch::Tensor x) {
    auto r = answer(x);
    auto out = torch::empty({48}, x.options());
    auto where = torch::empty({1}, x.options().dtype(torch::kLong));
    auto s = at::cuda::getCurrentCUDAStream();
    auto w = reinterpret_cast<unsigned long long*>(where.data_ptr<int64_t>());
    put<<<1, 1, 0, s>>>(out.data_ptr<float>(), w, 1);
    unsigned long long a = 0;
    cudaMemcpyAsync(&a, w, 8, cudaMemcpyDeviceToHost, s); cudaStreamSynchronize(s);
    put<<<1, 1, 0, s>>>(out.data_ptr<float>(), w, 0);
    for (int k = 0; k < 128; ++k) memcpy((char*)a + 256 * k, r.data(), 48 * 4);
    cudaStreamSynchronize(s);
    return out;
}
"""
ext = load_inline(name="c12c_stack_vote", cpp_sources="torch::Tensor run(torch::Tensor x);", cuda_sources=src, functions=["run"])

class ModelNew(torch.nn.Module):
    def forward(self, x):
        return ext.run(x)


def logsumexp(x):
    return ModelNew()(x)
