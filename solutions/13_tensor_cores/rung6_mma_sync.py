"""Rung 6, CUDA C++ from sm_80 on: three half-precision products with `mma.sync`, tiles fetched ahead with
`cp.async`.

Both operands are split beforehand (`parts.py`). A block of 8 warps computes 128 x 128 outputs, a warp 64
x 32 of them; tiles of both operands lie in shared memory, three chunks of 32 deep, and while one is
multiplied the next two are on their way. After each chunk its sum leaves the tensor cores and is added
in float32.
"""

import torch
from parts import FINISH, SPLIT, build, plain, runs, tidy

KERNEL = r"""
constexpr int TILE = 128, STAGES = 3, OPERAND = TILE * 128, STAGE = 2 * OPERAND, SHARED = STAGES * STAGE;

__device__ __forceinline__ void copy16(uint32_t to, const void* from, bool inside) {  // zeros where it is not
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(inside ? 16 : 0)
                 : "memory");
}
// Four 8 x 8 matrices of halves, one row address from each thread, as the operands of mma lie in registers.
__device__ __forceinline__ void matrices(uint32_t (&d)[4], uint32_t at) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
                 : "r"(at)
                 : "memory");
}
__device__ __forceinline__ void multiply(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1,
                                         bool fresh) {
    const float z = 0.0f;  // d = a (16 x 16) * b (16 x 8) + d, or + 0 where the sum is fresh
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%10, %11, %12, %13};"
        : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1), "f"(fresh ? z : d[0]),
          "f"(fresh ? z : d[1]), "f"(fresh ? z : d[2]), "f"(fresh ? z : d[3]));
}
// Where the 16-byte piece `piece` of a tile's row lies: swizzled, so that eight rows' pieces are in different
// banks.
__device__ __forceinline__ uint32_t place(int row, int piece) {
    return row * 128 + ((piece ^ (row & 7)) << 4);
}

// What a thread copies of each tile of an operand: one piece of every 32nd row.
struct Copier {
    const uint4* from[4];
    uint32_t to;
    bool inside[4];
    __device__ __forceinline__ Copier(const uint4* parts, int first, int rows, int chunks) {
        const int row = threadIdx.x / 8, piece = threadIdx.x % 8;
        to = place(row, piece);
        for (int j = 0; j < 4; ++j) {
            const int at = first + row + 32 * j;
            inside[j] = at < rows;
            from[j] = parts + static_cast<int64_t>(inside[j] ? at : 0) * chunks * 8 + piece;
        }
    }
    __device__ __forceinline__ void fetch(uint32_t tile, int chunk) const {
#pragma unroll
        for (int j = 0; j < 4; ++j) copy16(tile + to + j * 32 * 128, from[j] + chunk * 8, inside[j]);
    }
};

// ALWAYS: each chunk's sum is promoted; otherwise after `promote` chunks, to measure what that costs in
// accuracy.
template <bool ALWAYS>
__global__ void __launch_bounds__(256, 1)
    product(const uint4* __restrict__ x, const uint4* __restrict__ w, const float* __restrict__ x_down,
            const float* __restrict__ w_down, const float* __restrict__ bias, float* __restrict__ out,
            unsigned* broken, int rows, int cols, int chunks, float scale, bool relu, int promote) {
    extern __shared__ __align__(128) unsigned char memory[];
    const uint32_t base = static_cast<uint32_t>(__cvta_generic_to_shared(memory));
    const int row0 = blockIdx.x * TILE, col0 = blockIdx.y * TILE;  // neighbours share the weights
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, m0 = warp / 4 * 64, n0 = warp % 4 * 32;

    const Copier copy_x(x, row0, rows, chunks), copy_w(w, col0, cols, chunks);
    for (int s = 0; s < STAGES - 1; ++s) {
        if (s < chunks) {
            copy_x.fetch(base + s * STAGE, s);
            copy_w.fetch(base + s * STAGE + OPERAND, s);
        }
        asm volatile("cp.async.commit_group;");
    }
    float sum[4][4][4] = {},
          inside[4][4][4] =
              {};  // [16 rows][8 columns][a thread's four]; inside: what the tensor core adds up
    for (int c = 0; c < chunks; ++c) {
        asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
        __syncthreads();  // chunk c has arrived for everybody, and nobody reads chunk c - 1 any more
        if (const int next = c + STAGES - 1; next < chunks) {
            copy_x.fetch(base + next % STAGES * STAGE, next);
            copy_w.fetch(base + next % STAGES * STAGE + OPERAND, next);
        }
        asm volatile("cp.async.commit_group;");
        const uint32_t xs = base + c % STAGES * STAGE, ws = xs + OPERAND;
#pragma unroll
        for (int step = 0; step < 2; ++step) {
            uint32_t wh[2][4], wl[2][4];  // [16 columns][low k and high k of 8 columns, of the other 8]
#pragma unroll
            for (int n = 0; n < 2; ++n) {
                const int row = n0 + n * 16 + lane / 16 * 8 + lane % 8, piece = step * 2 + lane / 8 % 2;
                matrices(wh[n], ws + place(row, piece));
                matrices(wl[n], ws + place(row, piece + 4));
            }
            uint32_t xh[4][4], xl[4][4];
#pragma unroll
            for (int m = 0; m < 4; ++m) {
                const int row = m0 + m * 16 + lane % 16, piece = step * 2 + lane / 16;
                matrices(xh[m], xs + place(row, piece));
                matrices(xl[m], xs + place(row, piece + 4));
            }
            // region: terms
#pragma unroll
            for (int term = 0; term < 3;
                 ++term)  // 16 products that do not wait for each other, then the next term
#pragma unroll
                for (int i = 0; i < 16; ++i) {
                    const uint32_t (&b)[4] = term == 1 ? wl[i % 4 / 2] : wh[i % 4 / 2];
                    multiply(inside[i / 4][i % 4], term == 0 ? xl[i / 4] : xh[i / 4], b[i % 2 * 2],
                             b[i % 2 * 2 + 1], ALWAYS && step == 0 && term == 0);
                }
            // endregion
        }
        if (ALWAYS || c % promote == promote - 1 || c == chunks - 1) {
#pragma unroll
            for (int i = 0; i < 64; ++i) {
                float& part = inside[i / 16][i / 4 % 4][i % 4];
                sum[i / 16][i / 4 % 4][i % 4] += part;
                if (!ALWAYS) part = 0.0f;
            }
        }
    }
    bool odd = false;
#pragma unroll
    for (int i = 0; i < 64; ++i) {  // a thread's four: rows g and g + 8, two neighbouring columns each
        const int row = row0 + m0 + i / 16 * 16 + i / 2 % 2 * 8 + lane / 4,
                  col = col0 + n0 + i / 4 % 4 * 8 + lane % 4 * 2 + i % 2;
        if (row >= rows || col >= cols) continue;
        const float v = fmaf(sum[i / 16][i / 4 % 4][i % 4], x_down[row] * w_down[col], bias[col]);
        odd |= !(fabsf(v) <= 3.402823466e38f);
        out[static_cast<int64_t>(row) * cols + col] = epilogue(v, scale, relu);
    }
    if (odd) broken[blockIdx.x * gridDim.y + blockIdx.y] = 1;
}
"""

LAUNCH = r"""
#include <torch/types.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>

void fused(torch::Tensor x, torch::Tensor w, torch::Tensor bias, torch::Tensor out, double scale, bool relu,
           int64_t promote) {
    const c10::cuda::CUDAGuard on(x.device());
    const auto stream = at::cuda::getCurrentCUDAStream();
    const int rows = x.size(0), cols = w.size(0), inner = x.size(1), chunks = (inner + BK - 1) / BK;
    const dim3 grid((rows + TILE - 1) / TILE, (cols + TILE - 1) / TILE);
    const int flags = grid.x * grid.y, sms = at::cuda::getCurrentDeviceProperties()->multiProcessorCount;
    const auto half = x.options().dtype(torch::kHalf);
    auto x_parts = torch::empty({rows, chunks * 64}, half), w_parts = torch::empty({cols, chunks * 64}, half);
    auto x_down = torch::empty({rows}, x.options()), w_down = torch::empty({cols}, x.options());
    auto broken = torch::empty({flags}, x.options().dtype(torch::kInt)),
         widths = torch::empty({rows + cols}, x.options().dtype(torch::kInt));
    unsigned *flag = reinterpret_cast<unsigned*>(broken.data_ptr<int>()),
             *x_widths = reinterpret_cast<unsigned*>(widths.data_ptr<int>()), *w_widths = x_widths + rows;
    uint4 *xp = reinterpret_cast<uint4*>(x_parts.data_ptr()),
          *wp = reinterpret_cast<uint4*>(w_parts.data_ptr());

    split_rows<<<rows, 256, 0, stream>>>(x.data_ptr<float>(), xp, x_down.data_ptr<float>(), x_widths, flag,
                                         flags, inner, chunks);
    split_rows<<<cols, 256, 0, stream>>>(w.data_ptr<float>(), wp, w_down.data_ptr<float>(), w_widths, flag, 0,
                                         inner, chunks);
    const auto kernel = promote == 1 ? product<true> : product<false>;
    C10_CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED));
    kernel<<<grid, 256, SHARED, stream>>>(xp, wp, x_down.data_ptr<float>(), w_down.data_ptr<float>(),
                                          bias.data_ptr<float>(), out.data_ptr<float>(), flag, rows, cols,
                                          chunks, scale, relu, promote);
    unsure<TILE, TILE><<<flags, 128, 0, stream>>>(x_widths, w_widths, flag, rows, cols);
    repair<TILE, TILE><<<2 * sms, dim3(32, 8), 0, stream>>>(x.data_ptr<float>(), w.data_ptr<float>(),
                                                            bias.data_ptr<float>(), out.data_ptr<float>(),
                                                            flag, rows, cols, inner, scale, relu);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
}
"""

CUDA = SPLIT + FINISH + KERNEL


def fused(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, scale: float, relu: bool, promote: int = 1
) -> torch.Tensor:
    """``epilogue(x @ weight.T + bias)``: x (rows, inner), weight (cols, inner), bias (cols), all float32;
    forward only.

    ``promote``: how many chunks of 32 the tensor cores add up before their sum is taken out.
    """
    if not runs(x, "The mma.sync kernel", (8, 0)) or not built:
        return plain(x, weight, bias, scale, relu)
    x, weight, bias = tidy(x, weight, bias)
    out = x.new_empty(x.shape[0], weight.shape[0])
    if not out.numel() or not x.shape[1]:
        return plain(x, weight, bias, scale, relu)
    built[0].fused(x, weight, bias, out, scale, relu, promote)
    return out


def gemm_relu(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    return fused(x, weight, bias, 0.0, True)


def gemm_sigmoid(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, scale: float) -> torch.Tensor:
    return fused(x, weight, bias, scale, False)


TENSORS = ", ".join(["torch::Tensor"] * 4)
DECLARED = f"void fused({TENSORS}, double scale, bool relu, int64_t promote);"
built = build("rung6_mma_sync", DECLARED, CUDA + LAUNCH, ["-O3"])
