"""Products on tensor cores: how many operations they are, and to which side their sums are rounded."""

import torch
from torch.utils.cpp_extension import load_inline

from grader.backends.simt.compile.halves import GIVE_BACK

COUNT = True
CUDA = r"""
#include <torch/extension.h>
#include <mma.h>
using namespace nvcuda::wmma;
using Sums = fragment<accumulator, 16, 16, 16, float>;

// Each of a block's warps: x[0] + three times 16 products of x[1] and x[2].
__global__ void fragments(const float* x, float* y, int times) {
    __shared__ alignas(32) half a[256], b[256];
    __shared__ alignas(32) float c[2][256];
    for (int i = threadIdx.x; i < 256; i += 64) a[i] = i % 16 ? half(0.0f) : half(x[1]), b[i] = half(x[2]);
    __syncthreads();
    fragment<matrix_a, 16, 16, 16, half, row_major> left;
    fragment<matrix_b, 16, 16, 16, half, col_major> right;
    Sums sum;
    load_matrix_sync(left, a, 16);
    load_matrix_sync(right, b, 16);
    fill_fragment(sum, x[0]);
    for (int i = 0; i < times; ++i) mma_sync(sum, left, right, sum);
    float* own = c[threadIdx.x / 32];
    store_matrix_sync(own, sum, 16, mem_row_major);
    __syncwarp();
    for (int i = threadIdx.x % 32; i < 256; i += 32) y[blockIdx.x * 512 + threadIdx.x / 32 * 256 + i] = own[i];
}
// One column of a sum is worked out by each warp with an instruction.
__global__ void instruction(const float* x, float* y) {
    unsigned a = __half_as_ushort(half(x[1])), b = __half_as_ushort(half(x[2]));
    unsigned first = threadIdx.x % 4 ? 0 : a;  // the first of 16 products alone is not 0
    float c[4] = {x[0], x[0], x[0], x[0]};
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(first), "r"(first), "r"(0u), "r"(0u), "r"(b), "r"(0u));
    for (int e = 0; e < 4; ++e) y[threadIdx.x * 4 + e] = c[e];
}
torch::Tensor run(torch::Tensor x, std::string which, int blocks, int times) {
    auto y = torch::zeros({which == "fragments" ? blocks * 512 : 128}, x.options());
    if (which == "fragments") fragments<<<blocks, 64>>>(x.data_ptr<float>(), y.data_ptr<float>(), times);
    else instruction<<<1, 32>>>(x.data_ptr<float>(), y.data_ptr<float>());
    return y;
}
"""
ULP = 2.0**-23


def cases():
    binding = "torch::Tensor run(torch::Tensor x, std::string which, int blocks, int times);"
    module = load_inline("simt_fragments", binding, CUDA, functions=["run"], extra_cuda_cflags=GIVE_BACK)

    def case(numbers, which, blocks=1, times=1):
        def call(_runtime):
            y = module.run(torch.tensor(numbers, device="cuda"), which, blocks, times).cpu()
            return sorted(set(y.tolist()))

        return call

    above = [1.0, 1.75 * 2.0**-11, 2.0**-12]  # 1 and 1.75 of its last bit
    below = [-1.0, 1.75 * 2.0**-11, -(2.0**-12)]
    return {
        "counted": case([0.5, 1.0, 2.0], "fragments", blocks=5, times=3),
        "above": case(above, "fragments"),
        "below": case(below, "fragments"),
        "instruction": case([0.5, 1.0, 2.0], "instruction"),
        "instruction_above": case(above, "instruction"),
        "instruction_below": case(below, "instruction"),
    }
