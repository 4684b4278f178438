"""Blocks whose turns end now and then, also in the middle of an instruction of a warp.

A thread that works alone for two turns may be waiting for another one, so from then on turns are short.
"""

from torch.utils.cpp_extension import load_inline

ROUNDS, BLOCKS, PRODUCTS = 230, 40, 30
# By the shape of a product, how many terms it adds up.
FRAGMENTS = {"16x16x16": 16, "32x8x16": 16, "8x32x16": 16, "16x16x8": 8}
CUDA = r"""
#include <torch/extension.h>
#include <mma.h>
using namespace nvcuda;
using wmma::row_major, wmma::col_major;
// With fragments: a block is put aside at an atomic access (csrc/scheduler.cpp), while other lanes wait in the product.
template <class T, int M, int N, int K, class Left, class Right>
__global__ void fragments(float* out, int rounds) {
    __shared__ alignas(32) float own[M * N];
    wmma::fragment<wmma::matrix_a, M, N, K, T, Left> a;
    wmma::fragment<wmma::matrix_b, M, N, K, T, Right> b;
    wmma::fragment<wmma::accumulator, M, N, K, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    wmma::fill_fragment(a, 1.0f);
    wmma::fill_fragment(b, float(blockIdx.x + 1));
    for (int n = 0; n < rounds; ++n) {
        if (threadIdx.x == 31) atomicAdd(out + gridDim.x * 256, 1.0f);
        wmma::mma_sync(sum, a, b, sum);
    }
    wmma::store_matrix_sync(own, sum, N, wmma::mem_row_major);
    __syncwarp();
    for (int i = threadIdx.x; i < M * N; i += 32) out[blockIdx.x * M * N + i] = own[i];
}
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
torch::Tensor of_fragments(int64_t which, int64_t blocks, int64_t rounds) {
    auto out = torch::zeros({blocks + 1, 256}, torch::TensorOptions().device(torch::kCUDA));
    void (*kernels[])(float*, int) = {
        fragments<half, 16, 16, 16, row_major, col_major>, fragments<half, 32, 8, 16, col_major, row_major>,
        fragments<__nv_bfloat16, 8, 32, 16, row_major, row_major>,
        fragments<wmma::precision::tf32, 16, 16, 8, row_major, col_major>};
    kernels[which]<<<blocks, 32>>>(out.data_ptr<float>(), rounds);
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
        "torch::Tensor run(int64_t blocks, int64_t rounds); torch::Tensor doubted();"
        "torch::Tensor of_fragments(int64_t which, int64_t blocks, int64_t rounds);",
        CUDA,
        functions=["run", "doubted", "of_fragments"],
    )

    def products(runtime):
        found = module.run(BLOCKS, ROUNDS).cpu()
        return [[float(block.min()), float(block.max())] for block in found]

    def of_fragments(which):
        def call(runtime):
            found = module.of_fragments(which, BLOCKS, PRODUCTS).cpu()[:-1]
            return [[float(block.min()), float(block.max())] for block in found]

        return call

    return {
        "products": products,
        "doubt": lambda runtime: module.doubted().tolist(),
        **{name: of_fragments(which) for which, name in enumerate(FRAGMENTS)},
    }
