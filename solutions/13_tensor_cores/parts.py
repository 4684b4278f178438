"""What rungs 6 and 7 share: the split of a row into halves, the epilogue, and the repair of what is not
finite.

A row of float32 is lifted by a power of two, so that its largest number lies between 2^14 and 2^15, and
split: ``high`` is the nearest half, ``low`` the half nearest to what is left. Together they have 22 bits,
down to numbers of 2^-17 of the row's largest; below, the error is at most 2^-39 of that largest number.

That is nothing beside the sum, unless small numbers of a row of x meet the large ones of a row of weights,
and the other way round. So of each row is counted how much of it is *large*, at least 2^-10 of its largest
number, and how much is *small*, not zero but so small that it has fewer than 22 bits. Two rows with at
least o large pairs have a sum of magnitudes of at least o * 2^-20 of the product of the largest numbers,
and their small numbers bring an error of at most 2^-39 of it each. So as long as 8 times the small numbers
are no more than o, their error is below 2^-22 of the sum of magnitudes, as that of all others. Where this
is not sure, the tile is computed in float32.
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

// The four pairs of numbers that lie at 2 i of the chunk's four groups of eight: one 16-byte piece of
// halves.
__device__ __forceinline__ void fetch(float2 (&v)[4], const float* row, int piece, int inner) {
    const int k = piece / 4 * BK + piece % 4 * 2;
#pragma unroll
    for (int q = 0; q < 4; ++q) {
        const int at = k + q * 8;
        if (inner % 2 == 0 && at < inner)
            v[q] = *reinterpret_cast<const float2*>(row + at);
        else
            v[q] = make_float2(at < inner ? row[at] : 0.0f, at + 1 < inner ? row[at + 1] : 0.0f);
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

// Of a row with this largest number: what is large, what is small.
struct Width {
    uint32_t floor, bits;  // as magnitudes
    __device__ __forceinline__ explicit Width(uint32_t largest)
        : floor(largest > (10u << 23) ? largest - (10u << 23) : 1u),
          bits(largest > (17u << 23) ? largest - (17u << 23) : 1u) {}
    __device__ __forceinline__ void count(const float2 (&v)[4], unsigned& large, unsigned& small) const {
#pragma unroll
        for (int i = 0; i < 8; ++i) {
            const uint32_t m = magnitude(i % 2 ? v[i / 2].y : v[i / 2].x);
            large += m >= floor;
            small += m - 1 < bits - 1;  // not zero, and below `bits`
        }
    }
};
// region: width
// How much of a row is large and how much is small (see above), in parts of UNIT, rounded down and up: 14
// bits each. Four more bits: by which power of two the row's largest number may exceed the one that `large`
// was counted by.
constexpr unsigned UNIT = 16383;
__device__ __forceinline__ unsigned width(unsigned large, unsigned small, int inner, unsigned power) {
    const float many = static_cast<float>(inner), unit = UNIT;
    return static_cast<unsigned>(large * unit / many) << 18 |
           static_cast<unsigned>(fminf(ceilf(small * unit / many), unit)) << 4 | power;
}
// endregion

// One block a row: parts[row][chunk] is 32 high halves, then 32 low ones, zeros behind the row's end.
__global__ void split_rows(const float* __restrict__ in, uint4* __restrict__ parts, float* __restrict__ down,
                           unsigned* __restrict__ widths, unsigned* broken, int flags, int inner,
                           int chunks) {
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
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < flags; i += gridDim.x * blockDim.x)
        broken[i] = 0;
    const Width of_row(largest);
    unsigned large = 0, small = 0;
#pragma unroll
    for (int j = 0; j < KEPT; ++j) {
        of_row.count(kept[j], large, small);
        if (threadIdx.x + j * blockDim.x < chunks * 4)
            put(to, threadIdx.x + j * blockDim.x, kept[j], scale.x);
    }
    for (int p = threadIdx.x + KEPT * blockDim.x; p < chunks * 4; p += blockDim.x) {
        fetch(more, row, p, inner);
        of_row.count(more, large, small);
        put(to, p, more, scale.x);
    }
    __shared__ unsigned counted[2];
    if (threadIdx.x < 2) counted[threadIdx.x] = 0;
    __syncthreads();
    large = __reduce_add_sync(0xffffffffu, large);
    small = __reduce_add_sync(0xffffffffu, small);
    if (threadIdx.x % 32 == 0) atomicAdd(counted, large), atomicAdd(counted + 1, small);
    __syncthreads();
    if (threadIdx.x == 0)  // of zeros nothing is lost; what is tiny cannot be lifted far enough
        widths[blockIdx.x] = largest == 0          ? UNIT << 18
                             : largest < 15u << 23 ? UNIT << 4
                                                   : width(counted[0], counted[1], inner, 0);
}
"""

FINISH = r"""
__device__ __forceinline__ float epilogue(float v, float scale, bool relu) {
    return relu ? (v < 0.0f ? 0.0f : v) : __fdividef(scale, 1.0f + __expf(-v)) + v;  // NaN passes both
}

// region: unsure
// A block for each tile of TALL x WIDE outputs: marks it as broken if the error of its sums is not surely
// small. Widths: what has the width of each row of weights, by its number.
template <int TALL, int WIDE, typename Widths>
__global__ void unsure(const unsigned* __restrict__ x_widths, Widths w_widths, unsigned* broken, int rows,
                       int cols) {
    const int across = (cols + WIDE - 1) / WIDE, row0 = blockIdx.x / across * TALL,
              col0 = blockIdx.x % across * WIDE;
    __shared__ unsigned least[2], most[2], power;  // large and small, of x and of the weights
    if (threadIdx.x < 2) least[threadIdx.x] = UNIT, most[threadIdx.x] = power = 0;
    __syncthreads();
    const auto look = [&](int side, unsigned width) {
        atomicMin(least + side, width >> 18);
        atomicMax(most + side, width >> 4 & UNIT);
        atomicMax(&power, width & 15);
    };
    for (int i = threadIdx.x; i < TALL && row0 + i < rows; i += blockDim.x) look(0, x_widths[row0 + i]);
    for (int i = threadIdx.x; i < WIDE && col0 + i < cols; i += blockDim.x) look(1, w_widths[col0 + i]);
    __syncthreads();
    const int pairs = static_cast<int>(least[0] + least[1]) - static_cast<int>(UNIT);
    const int small = static_cast<int>(most[0] + most[1]);
    if (threadIdx.x == 0 && small > 0 && (small << (3 + power)) > pairs) broken[blockIdx.x] = 1;
}
// endregion

// Infinity minus infinity, an overflow of the sum, an infinite input next to a low part of zero, rows too
// wide to be split: all of a tile of TALL x WIDE outputs in which something was not finite or not sure is
// computed again as the framework would, in float32. One look at a flag where nothing was. 32 numbers of a
// sum are added up apart from the others, so that rounding stays small.
template <int TALL, int WIDE>
__global__ void __launch_bounds__(256)
    repair(const float* __restrict__ x, const float* __restrict__ w, const float* __restrict__ bias,
           float* __restrict__ out, const unsigned* broken, int rows, int cols, int inner, float scale,
           bool relu) {
    constexpr int T = 32,
                  B = 64;  // numbers of a sum at a time; a block's outputs are B x B, a thread's 4 x 4
    __shared__ float xs[T][B + 1], ws[T][B + 1];
    const int tiles_across = (cols + WIDE - 1) / WIDE, across = WIDE / B, small = TALL / B * across;
    const int tiles = (rows + TALL - 1) / TALL * tiles_across, thread = threadIdx.y * T + threadIdx.x;
    bool any = false;  // all flags at one look, by all threads
    for (int i = thread; i < tiles; i += 256) any |= broken[i] != 0;
    if (!__syncthreads_or(any)) return;
    for (int64_t part = blockIdx.x; part < static_cast<int64_t>(tiles) * small; part += gridDim.x) {
        const int tile = part / small, place = part % small;
        if (!broken[tile]) continue;
        const int row = tile / tiles_across * TALL + place / across * B,
                  col = tile % tiles_across * WIDE + place % across * B;
        float sum[4][4] = {};
        for (int k = 0; k < inner; k += T) {
            const bool inside = k + threadIdx.x < inner;
            for (int y = threadIdx.y; y < B; y += 8) {
                xs[threadIdx.x][y] = inside && row + y < rows
                                         ? x[static_cast<int64_t>(row + y) * inner + k + threadIdx.x]
                                         : 0.0f;
                ws[threadIdx.x][y] = inside && col + y < cols
                                         ? w[static_cast<int64_t>(col + y) * inner + k + threadIdx.x]
                                         : 0.0f;
            }
            __syncthreads();
            float apart[4][4] = {};
            const int here = min(T, inner - k);
            for (int i = 0; i < here; ++i)
#pragma unroll
                for (int j = 0; j < 16; ++j)
                    apart[j / 4][j % 4] = fmaf(xs[i][thread / 16 + 16 * (j / 4)],
                                               ws[i][thread % 16 + 16 * (j % 4)], apart[j / 4][j % 4]);
#pragma unroll
            for (int j = 0; j < 16; ++j) sum[j / 4][j % 4] += apart[j / 4][j % 4];
            __syncthreads();
        }
#pragma unroll
        for (int j = 0; j < 16; ++j) {
            const int r = row + thread / 16 + 16 * (j / 4), c = col + thread % 16 + 16 * (j % 4);
            if (r < rows && c < cols)
                out[static_cast<int64_t>(r) * cols + c] = epilogue(sum[j / 4][j % 4] + bias[c], scale, relu);
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
