"""Attention on tensor cores, by ``mma.sync``: what lesson 16 computes, for bfloat16 heads of 64 or 128.

    out = mma_sync.attention(q, k, v, causal)     # (..., n, d), (..., m, d), (..., m, d) -> (..., n, d)

Needs a GPU of compute capability 8.0 or later; on the CPU back end it runs slowly, and is checked.

A block of four warps has ROWS queries, a warp MT times 16 of them. Keys and values come in tiles of KEYS,
each copied while the tensor cores work on the other kind (``cp.async``). Scores stay in registers: what a
thread holds of a tile of scores is, as bfloat16, just what it must hold of the left factor of the second
product, so they never go through shared memory. Rows of shared memory keep their 16-byte pieces in an order
that differs from row to row, so that ``ldmatrix`` meets no bank twice. Exponentials are powers of two, by
the rule of the lesson's page but for one thing: what they are taken relative to changes only when a score
is more than 2 ** ENOUGH times as large, since sums have room for that much.

The scheme is that of Dao, *FlashAttention-2* (2023), https://arxiv.org/abs/2307.08691; layouts of fragments
are those of the PTX manual, *Matrix multiply-accumulate*.
"""

import torch
from torch.utils.cpp_extension import load_inline

# Keys in a tile, and how many times 16 queries a warp has: those that were fastest on an H200.
KEYS = {64: 64, 128: 64}
TIMES = {64: 2, 128: 2}

cuda_source = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <cuda_bf16.h>

using bf16 = __nv_bfloat16;
constexpr int WARPS = 4, THREADS = 32 * WARPS;
constexpr float ENOUGH = 8, LEAST = -3.4e38f;  // powers of two

__device__ uint32_t shared_address(const void* pointer) { return __cvta_generic_to_shared(pointer); }

__device__ void copy16(bf16* to, const bf16* from, bool there) {  // zeros where there is nothing
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;\n"
                 :: "r"(shared_address(to)), "l"(from), "r"(there ? 16 : 0));
}
__device__ void copies_end_here() { asm volatile("cp.async.commit_group;\n" ::); }
__device__ void wait_for_copies() { asm volatile("cp.async.wait_group 0;\n" ::: "memory"); }

__device__ void load4(uint32_t (&to)[4], const bf16* from) {  // four 8 x 8 pieces, by rows' addresses
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\n"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(shared_address(from)));
}
__device__ void load4_turned(uint32_t (&to)[4], const bf16* from) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];\n"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(shared_address(from)));
}
__device__ void multiply(float (&sum)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\n"
                 : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
__device__ float power_of_two(float x) {
    float y;
    asm volatile("ex2.approx.ftz.f32 %0, %1;\n" : "=f"(y) : "f"(x));
    return y;
}
__device__ uint32_t packed(float low, float high) {
    const __nv_bfloat162 both = __floats2bfloat162_rn(low, high);
    return reinterpret_cast<const uint32_t&>(both);
}

// Where a tile of rows of D numbers keeps piece ``piece`` (of 8 numbers) of a row.
template <int D>
__device__ int place(int row, int piece) { return row * D + ((piece ^ (row & 7)) << 3); }

template <int D, int ROWS>
__device__ void copy_tile(bf16* tile, const bf16* rows, int64_t first, int64_t many) {
    constexpr int PIECES = D / 8;
#pragma unroll
    for (int i = threadIdx.x; i < ROWS * PIECES; i += THREADS) {
        const int row = i / PIECES, piece = i % PIECES;
        const bool there = first + row < many;
        copy16(tile + place<D>(row, piece), rows + (there ? first + row : 0) * D + piece * 8, there);
    }
}

template <int D, int KEYS, int MT>
__global__ void __launch_bounds__(THREADS)
attention_kernel(const bf16* q, const bf16* k, const bf16* v, bf16* out, int64_t n, int64_t m, float scale,
                 bool causal) {
    constexpr int ROWS = 16 * MT * WARPS, STEPS = D / 16, NT = KEYS / 8, DT = D / 8;
    constexpr bool KEPT = D <= 64;  // the queries stay in registers
    extern __shared__ __align__(16) char memory[];
    bf16* const qs = reinterpret_cast<bf16*>(memory);
    bf16* const ks = qs + ROWS * D;
    bf16* const vs = ks + KEYS * D;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    // With a causal mask the last queries have most to do, so they begin.
    const int64_t first = int64_t(gridDim.x - 1 - blockIdx.x) * ROWS;
    q += blockIdx.y * n * D, out += blockIdx.y * n * D, k += blockIdx.y * m * D, v += blockIdx.y * m * D;
    const int64_t end = causal ? min(m, first + ROWS) : m;
    const float power = scale * 1.44269504f;  // exp(x) = 2 ** (x * log2(e))

    copy_tile<D, ROWS>(qs, q, first, n);
    copy_tile<D, KEYS>(ks, k, 0, m);
    copies_end_here();

    float total[MT][DT][4] = {}, base[MT][2], sum[MT][2] = {};
#pragma unroll
    for (int t = 0; t < MT; ++t) base[t][0] = base[t][1] = LEAST;
    uint32_t query[MT][KEPT ? STEPS : 1][4];
    const bf16* const own = qs + warp * 16 * MT * D;  // the rows below keep their last three bits
    for (int64_t j0 = 0; j0 < end; j0 += KEYS) {
        wait_for_copies();
        __syncthreads();  // the keys are there, and nobody reads the values any more
        copy_tile<D, KEYS>(vs, v, j0, m);
        copies_end_here();
        if (KEPT && j0 == 0) {
#pragma unroll
            for (int t = 0; t < MT; ++t)
#pragma unroll
                for (int s = 0; s < (KEPT ? STEPS : 1); ++s)
                    load4(query[t][s], own + place<D>(t * 16 + lane % 16, 2 * s + lane / 16));
        }
        float score[MT][NT][4] = {};
#pragma unroll
        for (int s = 0; s < STEPS; ++s) {
            uint32_t a[MT][4];
#pragma unroll
            for (int t = 0; t < MT; ++t) {
                if (!KEPT) load4(a[t], own + place<D>(t * 16 + lane % 16, 2 * s + lane / 16));
            }
#pragma unroll
            for (int c = 0; c < NT; c += 2) {
                uint32_t b[4];
                load4(b, ks + place<D>(c * 8 + lane / 16 * 8 + lane % 8, 2 * s + lane / 8 % 2));
#pragma unroll
                for (int t = 0; t < MT; ++t) {
                    multiply(score[t][c], KEPT ? query[t][KEPT ? s : 0] : a[t], b[0], b[1]);
                    multiply(score[t][c + 1], KEPT ? query[t][KEPT ? s : 0] : a[t], b[2], b[3]);
                }
            }
        }
        wait_for_copies();
        __syncthreads();  // the values are there, and nobody reads the keys any more
        if (j0 + KEYS < end) {
            copy_tile<D, KEYS>(ks, k, j0 + KEYS, m);
            copies_end_here();
        }
        const bool masked = j0 + KEYS > m || (causal && j0 + KEYS > first + warp * 16 * MT + 1);
#pragma unroll
        for (int t = 0; t < MT; ++t) {
            const int64_t row = first + (warp * MT + t) * 16 + lane / 4;
            if (masked) {
#pragma unroll
                for (int c = 0; c < NT; ++c)
#pragma unroll
                    for (int e = 0; e < 4; ++e) {
                        const int64_t key = j0 + c * 8 + lane % 4 * 2 + e % 2;
                        if (key >= m || (causal && key > row + e / 2 * 8)) score[t][c][e] = -INFINITY;
                    }
            }
#pragma unroll
            for (int half = 0; half < 2; ++half) {  // rows lane / 4 and 8 below it
                float most = -INFINITY;
#pragma unroll
                for (int c = 0; c < NT; ++c)
                    most = fmaxf(most, fmaxf(score[t][c][2 * half], score[t][c][2 * half + 1]));
                most = fmaxf(most, __shfl_xor_sync(~0u, most, 1));
                most = fmaxf(most, __shfl_xor_sync(~0u, most, 2)) * power;
                if (__any_sync(~0u, most > base[t][half] + ENOUGH)) {
                    const float fade = power_of_two(base[t][half] - fmaxf(most, base[t][half]));
                    base[t][half] = fmaxf(most, base[t][half]);
                    sum[t][half] *= fade;
#pragma unroll
                    for (int c = 0; c < DT; ++c)
                        total[t][c][2 * half] *= fade, total[t][c][2 * half + 1] *= fade;
                }
#pragma unroll
                for (int c = 0; c < NT; ++c)
#pragma unroll
                    for (int e = 2 * half; e < 2 * half + 2; ++e) {
                        score[t][c][e] = power_of_two(score[t][c][e] * power - base[t][half]);
                        sum[t][half] += score[t][c][e];
                    }
            }
        }
#pragma unroll
        for (int s = 0; s < KEYS / 16; ++s) {
            uint32_t share[MT][4];
#pragma unroll
            for (int t = 0; t < MT; ++t) {
                const float(&left)[4] = score[t][2 * s], (&right)[4] = score[t][2 * s + 1];
                share[t][0] = packed(left[0], left[1]), share[t][1] = packed(left[2], left[3]);
                share[t][2] = packed(right[0], right[1]), share[t][3] = packed(right[2], right[3]);
            }
#pragma unroll
            for (int c = 0; c < DT; c += 2) {
                uint32_t b[4];
                load4_turned(b, vs + place<D>(s * 16 + lane % 16, c + lane / 16));
#pragma unroll
                for (int t = 0; t < MT; ++t) {
                    multiply(total[t][c], share[t], b[0], b[1]);
                    multiply(total[t][c + 1], share[t], b[2], b[3]);
                }
            }
        }
    }
#pragma unroll
    for (int t = 0; t < MT; ++t)
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            float all = sum[t][half];
            all += __shfl_xor_sync(~0u, all, 1);
            all += __shfl_xor_sync(~0u, all, 2);
            const float part = all == 0.0f ? 0.0f : 1.0f / all;
            const int64_t row = first + (warp * MT + t) * 16 + half * 8 + lane / 4;
            if (row >= n) continue;
#pragma unroll
            for (int c = 0; c < DT; ++c)
                *reinterpret_cast<uint32_t*>(out + row * D + c * 8 + lane % 4 * 2) =
                    packed(total[t][c][2 * half] * part, total[t][c][2 * half + 1] * part);
        }
}

template <int D, int KEYS, int MT>
void launch(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v, torch::Tensor& out,
            bool causal) {
    constexpr int ROWS = 16 * MT * WARPS, BYTES = (ROWS + 2 * KEYS) * D * 2;
    auto kernel = attention_kernel<D, KEYS, MT>;
    C10_CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, BYTES));
    const int64_t n = q.size(-2), m = k.size(-2), heads = q.numel() / (n * D);
    auto of = [](const torch::Tensor& t) { return reinterpret_cast<bf16*>(t.data_ptr<at::BFloat16>()); };
    const dim3 grid((n + ROWS - 1) / ROWS, heads);
    kernel<<<grid, THREADS, BYTES, at::cuda::getCurrentCUDAStream()>>>(of(q), of(k), of(v), of(out), n, m,
                                                                       1.0f / sqrtf(D), causal);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
}

torch::Tensor attention(torch::Tensor q, torch::Tensor k, torch::Tensor v, bool causal) {
    const int64_t d = q.size(-1);
    for (const auto& t : {q, k, v})
        TORCH_CHECK(t.is_cuda() && t.scalar_type() == torch::kBFloat16, "attention takes bfloat16 on a GPU");
    TORCH_CHECK(k.sizes() == v.sizes() && k.size(-1) == d && q.dim() == k.dim(),
                "attention takes keys and values of one shape, and queries with as many features");
    TORCH_CHECK(d == 64 || d == 128, "attention takes heads of 64 or 128 features; these have ", d);
    TORCH_CHECK(!causal || q.size(-2) == k.size(-2), "with a causal mask there are as many queries as keys");
    q = q.contiguous(), k = k.contiguous(), v = v.contiguous();
    torch::Tensor out = torch::empty_like(q);
    if (q.numel() == 0) return out;
    if (d == 64) launch<64, KEYS_64, TIMES_64>(q, k, v, out, causal);
    else launch<128, KEYS_128, TIMES_128>(q, k, v, out, causal);
    return out;
}
"""
for d in (64, 128):
    cuda_source = cuda_source.replace(f"KEYS_{d}", str(KEYS[d])).replace(f"TIMES_{d}", str(TIMES[d]))
extension = load_inline(
    "attention_mma_sync",
    "torch::Tensor attention(torch::Tensor q, torch::Tensor k, torch::Tensor v, bool causal);",
    cuda_source,
    functions=["attention"],
    extra_cuda_cflags=["-O3"],
)
attention = extension.attention


class ModelNew(torch.nn.Module):
    """Causal attention, as lesson 16's model."""

    def forward(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        return attention(q, k, v, True)
