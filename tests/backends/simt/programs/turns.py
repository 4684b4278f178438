"""Blocks whose turns end now and then, also in the middle of an instruction of a warp.

A thread that works alone for two turns may be waiting for another one, so from then on turns are short.
"""

from torch.utils.cpp_extension import load_inline

ROUNDS, BLOCKS = 230, 40
CUDA = r"""
#include <torch/extension.h>
__global__ void products(float* out, int rounds, int alone) {
    const float mine = blockIdx.x + 1;
    const uint32_t ones = 0x3f803f80, half = __float_as_uint(mine) >> 16, both = half << 16 | half;
    float sum[4] = {};
    if (blockIdx.x + threadIdx.x == 0) for (int n = 0; n < alone; ++n) out[0] = n;
    __syncwarp();
    for (int n = 0; n < rounds; ++n)
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
                     "{%0, %1, %2, %3}, {%4, %4, %4, %4}, {%5, %5}, {%0, %1, %2, %3};"
                     : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3]) : "r"(ones), "r"(both));
    for (int i = 0; i < 4; ++i) out[(blockIdx.x * 32 + threadIdx.x) * 4 + i] = sum[i];
}
torch::Tensor run(int64_t blocks, int64_t rounds) {
    auto out = torch::empty({blocks, 32, 4}, torch::TensorOptions().device(torch::kCUDA));
    products<<<blocks, 32>>>(out.data_ptr<float>(), rounds, 300000);
    return out;
}
"""


def cases():
    module = load_inline(
        "turns", "torch::Tensor run(int64_t blocks, int64_t rounds);", CUDA, functions=["run"]
    )

    def products(runtime):
        found = module.run(BLOCKS, ROUNDS).cpu()
        return [[float(block.min()), float(block.max())] for block in found]

    return {"products": products}
