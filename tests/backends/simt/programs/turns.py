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
__device__ void say(int* flag) { atomicExch(flag, 1); }
__device__ void wait(int* flag) { while (atomicAdd(flag, 0) == 0) {} }
// Block 0 reads what block 1 has added to, waits for it once more, and only then updates it itself.
__global__ void doubt(int* total, int* flags) {
    if (blockIdx.x == 0) {
        wait(flags);
        int seen = *total, before;
        say(flags + 1);
        wait(flags + 2);
        do before = seen, seen = atomicCAS(total, before, before + 5); while (seen != before);
    } else {
        atomicAdd(total, 2);
        say(flags);
        wait(flags + 1);
        say(flags + 2);
    }
}
torch::Tensor doubted() {
    auto out = torch::zeros({4}, torch::TensorOptions().device(torch::kCUDA).dtype(torch::kInt));
    doubt<<<2, 1>>>(out.data_ptr<int>(), out.data_ptr<int>() + 1);
    return out;
}
torch::Tensor run(int64_t blocks, int64_t rounds) {
    auto out = torch::empty({blocks, 32, 4}, torch::TensorOptions().device(torch::kCUDA));
    products<<<blocks, 32>>>(out.data_ptr<float>(), rounds, 300000);
    return out;
}
"""


def cases():
    module = load_inline(
        "turns",
        "torch::Tensor run(int64_t blocks, int64_t rounds); torch::Tensor doubted();",
        CUDA,
        functions=["run", "doubted"],
    )

    def products(runtime):
        found = module.run(BLOCKS, ROUNDS).cpu()
        return [[float(block.min()), float(block.max())] for block in found]

    return {"products": products, "doubt": lambda runtime: module.doubted().tolist()}
