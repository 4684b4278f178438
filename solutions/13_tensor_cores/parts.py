"""What rungs 6 and 7 share: the split of a row into halves, the epilogue, and the repair of what is not
finite.

A row of float32 is lifted by a power of two, so that its largest number lies between 2^14 and 2^15, and
split: ``high`` is the nearest half, ``low`` the half nearest to what is left. High numbers leave 11 bits
to the low ones, and a low number stays normal down to 2^-18 of the row's largest; below, its error is at
most 2^-39 of that. So nothing is assumed about the range.
"""

import warnings
from types import ModuleType

import torch
from torch.utils.cpp_extension import load_inline

SPLIT = r"""
#include <cuda_fp16.h>
#include <stdint.h>

constexpr int BK = 32;  // a chunk: 32 numbers of a row, as 32 high and 32 low halves in 128 bytes

__device__ __forceinline__ uint32_t pack(float a, float b) {
    const __half2 both = __floats2half2_rn(a, b);
    return *reinterpret_cast<const uint32_t*>(&both);
}
__device__ __forceinline__ float2 unpack(uint32_t both) {
    return __half22float2(*reinterpret_cast<const __half2*>(&both));
}
__device__ __forceinline__ uint32_t magnitude(float x) {
    return __float_as_uint(x) & 0x7fffffffu;
}  // NaN is the largest

// region: lift
// The power of two that lifts the largest number of a group to [2^14, 2^15), and the one that takes it back.
__device__ __forceinline__ float2 lift(uint32_t largest) {
    const int up = min(268 - static_cast<int>(largest >> 23), 253);
    return make_float2(__uint_as_float(up << 23), __uint_as_float((254 - up) << 23));
}
// endregion

// The four pairs of numbers that lie at 2 i of the chunk's four groups of eight: one 16-byte piece of halves.
__device__ __forceinline__ void fetch(float2 (&v)[4], const float* row, int piece, int inner) {
    const int k = piece / 4 * BK + piece % 4 * 2;
#pragma unroll
    for (int q = 0; q < 4; ++q) {
        const int at = k + q * 8;
        if (inner % 2 == 0 && at < inner) v[q] = *reinterpret_cast<const float2*>(row + at);
        else v[q] = make_float2(at < inner ? row[at] : 0.0f, at + 1 < inner ? row[at + 1] : 0.0f);
    }
}
__device__ __forceinline__ uint32_t largest_of(const float2 (&v)[4], uint32_t before) {
#pragma unroll
    for (int q = 0; q < 4; ++q) before = max(before, max(magnitude(v[q].x), magnitude(v[q].y)));
    return before;
}
// region: put
__device__ __forceinline__ void put(uint4* to, int piece, const float2 (&v)[4], float up) {
    uint32_t high[4], low[4];
#pragma unroll
    for (int q = 0; q < 4; ++q) {
        const float a = v[q].x * up, b = v[q].y * up;
        high[q] = pack(a, b);
        const float2 taken = unpack(high[q]);
        low[q] = pack(a - taken.x, b - taken.y);
    }
    to[piece / 4 * 8 + piece % 4] = make_uint4(high[0], high[1], high[2], high[3]);
    to[piece / 4 * 8 + piece % 4 + 4] = make_uint4(low[0], low[1], low[2], low[3]);
}
// endregion

// One block a row: parts[row][chunk] is 32 high halves, then 32 low ones, zeros behind the row's end.
__global__ void split_rows(const float* __restrict__ in, uint4* __restrict__ parts, float* __restrict__ down,
                           unsigned* broken, int flags, int inner, int chunks) {
    constexpr int KEPT = 4;  // pieces that a thread keeps in registers between the two looks at its row
    const float* row = in + static_cast<int64_t>(blockIdx.x) * inner;
    uint4* to = parts + static_cast<int64_t>(blockIdx.x) * chunks * 8;
    float2 kept[KEPT][4], more[4];
    uint32_t largest = 0;
#pragma unroll
    for (int j = 0; j < KEPT; ++j) fetch(kept[j], row, threadIdx.x + j * blockDim.x, inner);
#pragma unroll
    for (int j = 0; j < KEPT; ++j) largest = largest_of(kept[j], largest);
    for (int p = threadIdx.x + KEPT * blockDim.x; p < chunks * 4; p += blockDim.x) {
        fetch(more, row, p, inner);
        largest = largest_of(more, largest);
    }
    __shared__ uint32_t of_warp[32];
    largest = __reduce_max_sync(0xffffffffu, largest);
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = largest;
    __syncthreads();
    for (int w = 0; w < blockDim.x / 32; ++w) largest = max(largest, of_warp[w]);
    const float2 scale = lift(largest);
    if (threadIdx.x == 0) down[blockIdx.x] = scale.y;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < flags; i += gridDim.x * blockDim.x) broken[i] = 0;
#pragma unroll
    for (int j = 0; j < KEPT; ++j)
        if (threadIdx.x + j * blockDim.x < chunks * 4)
            put(to, threadIdx.x + j * blockDim.x, kept[j], scale.x);
    for (int p = threadIdx.x + KEPT * blockDim.x; p < chunks * 4; p += blockDim.x) {
        fetch(more, row, p, inner);
        put(to, p, more, scale.x);
    }
}
"""

FINISH = r"""
__device__ __forceinline__ float epilogue(float v, float scale, bool relu) {
    return relu ? (v < 0.0f ? 0.0f : v) : __fdividef(scale, 1.0f + __expf(-v)) + v;  // NaN passes both
}

// Infinity minus infinity, an overflow of the sum, an infinite input next to a low part of zero: whatever was
// not finite in a tile of TALL x WIDE outputs is computed again as the framework would, in float32. One look
// at a flag where nothing was.
template <int TALL, int WIDE>
__global__ void repair(const float* __restrict__ x, const float* __restrict__ w,
                       const float* __restrict__ bias, float* __restrict__ out, const unsigned* broken,
                       int rows, int cols, int inner, float scale, bool relu) {
    constexpr int T = 32;
    __shared__ float xs[T][T + 1], ws[T][T + 1];
    const int tiles_across = (cols + WIDE - 1) / WIDE, across = WIDE / T, small = TALL / T * across;
    const int tiles = (rows + TALL - 1) / TALL * tiles_across;
    bool any = false;  // all flags at one look, by all threads
    for (int i = threadIdx.y * T + threadIdx.x; i < tiles; i += 8 * T) any |= broken[i] != 0;
    if (!__syncthreads_or(any)) return;
    for (int64_t part = blockIdx.x; part < static_cast<int64_t>(tiles) * small; part += gridDim.x) {
        const int tile = part / small, place = part % small;
        if (!broken[tile]) continue;
        const int row = tile / tiles_across * TALL + place / across * T,
                  col = tile % tiles_across * WIDE + place % across * T;
        float sum[4] = {};
        for (int k = 0; k < inner; k += T) {
            for (int y = threadIdx.y; y < T; y += 8) {
                const bool inside = k + threadIdx.x < inner;
                xs[y][threadIdx.x] = inside && row + y < rows
                                         ? x[static_cast<int64_t>(row + y) * inner + k + threadIdx.x]
                                         : 0.0f;
                ws[y][threadIdx.x] = inside && col + y < cols
                                         ? w[static_cast<int64_t>(col + y) * inner + k + threadIdx.x]
                                         : 0.0f;
            }
            __syncthreads();
            for (int i = 0; i < min(T, inner - k); ++i)
                for (int j = 0; j < 4; ++j)
                    sum[j] = fmaf(xs[threadIdx.y + 8 * j][i], ws[threadIdx.x][i], sum[j]);
            __syncthreads();
        }
        for (int j = 0; j < 4; ++j) {
            const int r = row + threadIdx.y + 8 * j, c = col + threadIdx.x;
            if (r < rows && c < cols)
                out[static_cast<int64_t>(r) * cols + c] = epilogue(sum[j] + bias[c], scale, relu);
        }
    }
}
"""


def plain(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, scale: float, relu: bool
) -> torch.Tensor:
    """The framework's own answer: rung 1, and where a rung cannot run."""
    v = torch.nn.functional.linear(x, weight, bias)
    return torch.relu_(v) if relu else torch.sigmoid(v) * scale + v


def build(name: str, declared: str, source: str, flags: list[str]) -> list[ModuleType]:
    """The extension; none without a GPU, or, with one sentence, where its compiler cannot build it."""
    if not torch.cuda.is_available():
        return []
    try:
        return [load_inline(name, declared, source, functions=["fused"], extra_cuda_cflags=flags)]
    except Exception as problem:
        why = (str(problem).strip().splitlines() or [type(problem).__name__])[0]
        warnings.warn(f"{name} cannot be built here ({why}): the framework computes instead.", stacklevel=2)
        return []


def runs(x: torch.Tensor, rung: str, least: tuple[int, int], most: tuple[int, int] = (99, 0)) -> bool:
    """Whether this card can run a rung; says so in one sentence where it cannot."""
    have = torch.cuda.get_device_capability(x.device) if x.is_cuda else None
    if have is None or not least <= have <= most:
        here = "a CPU" if have is None else f"compute capability {have[0]}.{have[1]}"
        warnings.warn(
            f"{rung} needs compute capability {least[0]}.{least[1]}, this is {here}: "
            "the framework computes instead.",
            stacklevel=3,
        )
        return False
    return True


def tidy(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The operands of a rung: float32, on one device, in one piece, rows of a multiple of 16 bytes."""
    for name, t in (("x", x), ("weight", weight), ("bias", bias)):
        if t.dtype != torch.float32:
            raise TypeError(f"{name} is {t.dtype}; these kernels are for torch.float32")
        if t.device != x.device:
            raise ValueError(f"{name} is on {t.device}, x on {x.device}")
    if x.dim() != 2 or weight.dim() != 2 or x.shape[1] != weight.shape[1] or bias.shape != weight.shape[:1]:
        raise ValueError(
            f"x {tuple(x.shape)}, weight {tuple(weight.shape)}, bias {tuple(bias.shape)} do not go together"
        )
    if short := -x.shape[1] % 4:
        x, weight = (torch.nn.functional.pad(t, (0, short)) for t in (x, weight))
    x, weight = (t if t.data_ptr() % 16 == 0 else t.clone() for t in (x.contiguous(), weight.contiguous()))
    return x, weight, bias.contiguous()
