"""Softmax, RMSNorm with its derivative, and cross-entropy of rows, each read from memory once.

    rows.softmax(x)                                # (n, m) -> (n, m)
    rows.rms_norm(x, weight, eps)                  # (n, m), (m,) -> (n, m)
    rows.rms_norm_back(x, weight, grad, eps)       # the gradients of x and of weight
    rows.cross_entropy(x, targets)                 # (n, m), (n,) int64 -> the mean loss of the rows

float32 or bfloat16, with float32 arithmetic, on a GPU of compute capability 9.0; a row is a whole number of
16-byte pieces. ``RmsNorm`` and ``ModelNew`` use them from PyTorch's autograd.

- **Softmax and RMSNorm.** A block's threads keep their pieces of a row in registers between the pass that
  sums and the one that writes.
- **Softmax of a row that no block can keep.** A cluster of blocks goes from row to row, and each block
  keeps a part; what they tell each other is two numbers. Later rows are on their way to shared memory
  meanwhile.
- **The derivative of RMSNorm.** Blocks go from row to row, in the same way, and each keeps its part of the
  weight's gradient in registers. When all have come to the end of their rows, they add up those parts.
- **Cross-entropy** writes nothing, so a row has any length. Each thread keeps the largest element so far
  and the sum relative to it (lesson 15's rule); the block that ends last adds up the rows, in one order.

Threads add up few numbers each in float32, and what they bring in float64: it costs nothing beside memory.
"""

import torch
from torch.utils.cpp_extension import load_inline

cuda_source = r"""
#include <torch/types.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda_bf16.h>
namespace groups = cooperative_groups;
using Barrier = cuda::barrier<cuda::thread_scope_block>;

// 16 bytes of a row: four float32, or eight bfloat16, whose bits are the upper half of a float's.
template <typename T> constexpr int EACH = 16 / sizeof(T);
template <typename T> __device__ __forceinline__ float number(const uint4& piece, int i) {
    const uint32_t words[4] = {piece.x, piece.y, piece.z, piece.w};
    if constexpr (sizeof(T) == 4) return __uint_as_float(words[i]);
    return __uint_as_float(i % 2 ? words[i / 2] & 0xffff0000u : words[i / 2] << 16);
}

template <typename T> __device__ __forceinline__ uint4 piece_of(const float (&v)[EACH<T>]) {
    union {
        uint4 whole;
        T parts[EACH<T>];
    } piece;
#pragma unroll
    for (int i = 0; i < EACH<T>; ++i) piece.parts[i] = T(v[i]);
    return piece.whole;
}

template <typename T> __device__ __forceinline__ float largest_of(const uint4& piece) {
    if constexpr (sizeof(T) == 2) {  // two at a time
        const auto* two = reinterpret_cast<const __nv_bfloat162*>(&piece);
        const float2 all = __bfloat1622float2(__hmax2(__hmax2(two[0], two[1]), __hmax2(two[2], two[3])));
        return fmaxf(all.x, all.y);
    }
    return fmaxf(fmaxf(number<T>(piece, 0), number<T>(piece, 1)),
                 fmaxf(number<T>(piece, 2), number<T>(piece, 3)));
}

// The sum of a piece's numbers, after `f`, in pairs.
template <typename T, typename F> __device__ __forceinline__ float sum_of(const uint4& piece, F f) {
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < EACH<T>; i += 4) sum += (f(i) + f(i + 1)) + (f(i + 2) + f(i + 3));
    return sum;
}

// e to the power of a number less `base`. For bfloat16 the hardware's power of two is as good as any.
template <typename T> __device__ __forceinline__ float exponential(float v, float base) {
    if constexpr (sizeof(T) == 4) return expf(v - base);
    constexpr float LOG2_E = 1.44269504f;
    float power;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(fmaf(v, LOG2_E, -base * LOG2_E)));
    return power;
}

// A factor as the sum of two floats, from a first guess and the part that is wrong with it (unless that is
// no number).
struct Factor {
    float high, low;
    __device__ __forceinline__ Factor(float guess, double part) : high(guess), low(0.0f) {
        if (fabs(part) < 0.001) low = float(guess * part);
    }
    // For bfloat16 the first is enough.
    template <typename T> __device__ __forceinline__ float times(float v) const {
        return sizeof(T) == 4 ? fmaf(v, high, v * low) : v * high;
    }
};

__device__ __forceinline__ Factor one_over(double v) {
    const float guess = 1.0f / float(v);
    return {guess, 1.0 - v * guess};
}

__device__ __forceinline__ Factor one_over_root(double v) {
    const float guess = rsqrtf(float(v));
    return {guess, 0.5 * (1.0 - v * guess * guess)};
}

struct Two {
    double a, b;
};
__device__ __forceinline__ float moved(float v, int step) { return __shfl_xor_sync(~0u, v, step); }
__device__ __forceinline__ double moved(double v, int step) { return __shfl_xor_sync(~0u, v, step); }
__device__ __forceinline__ Two moved(Two v, int step) { return {moved(v.a, step), moved(v.b, step)}; }
__device__ __forceinline__ float larger(float a, float b) { return fmaxf(a, b); }
__device__ __forceinline__ double added(double a, double b) { return a + b; }
__device__ __forceinline__ Two both_added(Two a, Two b) { return {a.a + b.a, a.b + b.b}; }

// What the block's threads bring, as one: the same for all of them.
template <int THREADS, typename V, typename Join> __device__ __forceinline__ V together(V mine, Join join) {
    constexpr int WARPS = THREADS / 32;
    __shared__ V of_warp[WARPS];
#pragma unroll
    for (int step = 16; step > 0; step /= 2) mine = join(mine, moved(mine, step));
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = mine;
    __syncthreads();
    mine = of_warp[threadIdx.x % WARPS];
#pragma unroll
    for (int step = WARPS / 2; step > 0; step /= 2) mine = join(mine, moved(mine, step));
    __syncthreads();  // all have read, before the next call writes
    return mine;
}

// What exponentials are taken relative to: minus infinity less itself would be NaN.
__device__ __forceinline__ float base_of(float largest) { return largest == -INFINITY ? 0.0f : largest; }

// The pieces of a row, or of a block's part of it, in a thread's registers.
template <typename T, int THREADS, int PIECES> struct Held {
    uint4 piece[PIECES];
    __device__ __forceinline__ void take(const uint4* from, int many) {
#pragma unroll
        for (int n = 0; n < PIECES; ++n)
            if (const int at = n * THREADS + threadIdx.x; at < many) piece[n] = from[at];
    }
    __device__ __forceinline__ float largest(int many) const {
        float found = -INFINITY;
#pragma unroll
        for (int n = 0; n < PIECES; ++n)
            if (n * THREADS + threadIdx.x < many) found = fmaxf(found, largest_of<T>(piece[n]));
        return found;
    }
    template <typename F> __device__ __forceinline__ float sum(int many, F f) const {
        float found = 0.0f;
#pragma unroll
        for (int n = 0; n < PIECES; ++n)
            if (n * THREADS + threadIdx.x < many)
                found += sum_of<T>(piece[n], [&](int i) { return f(number<T>(piece[n], i)); });
        return found;
    }
    template <typename F> __device__ __forceinline__ void write(uint4* to, int many, F f) const {
#pragma unroll
        for (int n = 0; n < PIECES; ++n)
            if (const int at = n * THREADS + threadIdx.x; at < many) {
                float v[EACH<T>];
#pragma unroll
                for (int i = 0; i < EACH<T>; ++i) v[i] = f(number<T>(piece[n], i), at, i);
                to[at] = piece_of<T>(v);
            }
    }
};

// Rows that are on their way to a block's shared memory: one thread asks for them, STAGES ahead.
template <int STAGES> struct Stages {
    Barrier* barriers;  // shared
    uint4* memory;      // shared: STAGES times `pieces`
    int pieces;
    __device__ __forceinline__ void begin() const {
        if (threadIdx.x == 0)
            for (int s = 0; s < STAGES; ++s) init(barriers + s, 1);
        __syncthreads();
    }
    __device__ __forceinline__ uint4* at(int turn) const { return memory + turn % STAGES * pieces; }
    __device__ __forceinline__ void ask(int turn, int offset, const uint4* from, int many) const {
        cuda::memcpy_async(at(turn) + offset, from, cuda::aligned_size_t<16>(many * 16),
                           barriers[turn % STAGES]);
    }
    __device__ __forceinline__ void asked(int turn) const { (void)barriers[turn % STAGES].arrive(); }
    __device__ __forceinline__ void wait(int turn) const {
        barriers[turn % STAGES].wait_parity(turn / STAGES % 2 != 0);
    }
};

template <typename T, int THREADS, int PIECES>
__global__ void __launch_bounds__(THREADS)
    softmax_kernel(const uint4* __restrict__ in, uint4* __restrict__ out, int pieces) {
    in += int64_t(blockIdx.x) * pieces, out += int64_t(blockIdx.x) * pieces;
    Held<T, THREADS, PIECES> held;
    held.take(in, pieces);
    const float base = base_of(together<THREADS>(held.largest(pieces), larger));
    const auto power = [&](float v) { return exponential<T>(v, base); };
    const Factor scale = one_over(together<THREADS>(double(held.sum(pieces, power)), added));
    held.write(out, pieces, [&](float v, int, int) { return scale.times<T>(power(v)); });
}

// A sum of exponentials relative to `from`, made relative to `to`; a sum of none stays 0.
__device__ __forceinline__ float faded(float sum, float from, float to) {
    return sum == 0.0f ? 0.0f : sum * expf(base_of(from) - base_of(to));
}

// LANES threads go along a row, AHEAD pieces at a time: each keeps the largest of its elements, and the
// sum of exp(element - largest).
template <typename T, int LANES, int AHEAD>
__device__ __forceinline__ void go_along(const uint4* row, int pieces, float& largest, float& sum) {
    for (int begin = threadIdx.x % LANES; begin < pieces; begin += AHEAD * LANES) {
        uint4 held[AHEAD];
#pragma unroll
        for (int n = 0; n < AHEAD; ++n)
            if (begin + n * LANES < pieces) held[n] = __ldcs(row + begin + n * LANES);
        const float before = largest;
#pragma unroll
        for (int n = 0; n < AHEAD; ++n)
            if (begin + n * LANES < pieces) largest = fmaxf(largest, largest_of<T>(held[n]));
        const float base = base_of(largest);
        sum = faded(sum, before, largest);
#pragma unroll
        for (int n = 0; n < AHEAD; ++n)
            if (begin + n * LANES < pieces)
                sum +=
                    sum_of<T>(held[n], [&](int i) { return exponential<T>(number<T>(held[n], i), base); });
    }
}

// Of a block's part of a row: the sum of exp(element - base).
struct Part {
    double base, sum;
};

// BLOCKS blocks are a cluster, and have a row at a time between them.
template <typename T, int THREADS, int PIECES, int BLOCKS, int STAGES>
__global__ void __launch_bounds__(THREADS, 1024 / THREADS)
    wide_softmax_kernel(const uint4* __restrict__ in, uint4* __restrict__ out, int64_t rows, int pieces) {
    extern __shared__ __align__(128) uint4 memory[];
    __shared__ Barrier barriers[STAGES];
    __shared__ Part shown[2][BLOCKS];
    const auto cluster = groups::this_cluster();
    const int part = (pieces + BLOCKS - 1) / BLOCKS, first = blockIdx.x % BLOCKS * part;
    const int many = max(0, min(part, pieces - first)), step = gridDim.x / BLOCKS;
    const Stages<STAGES> stages = {barriers, memory, part};
    const int64_t begin = blockIdx.x / BLOCKS;
    const auto ask = [&](int turn) {
        const int64_t row = begin + int64_t(turn) * step;
        if (threadIdx.x != 0 || row >= rows) return;
        if (many > 0) stages.ask(turn, 0, in + row * pieces + first, many);
        stages.asked(turn);
    };
    stages.begin();
    for (int turn = 0; turn < STAGES; ++turn) ask(turn);
    cluster.sync();  // all have begun, and may be written to
    int turn = 0;
    for (int64_t row = begin; row < rows; row += step, ++turn) {
        Held<T, THREADS, PIECES> held;
        stages.wait(turn);
        held.take(stages.at(turn), many);
        __syncthreads();  // all have taken their pieces
        ask(turn + STAGES);
        const float base = base_of(together<THREADS>(held.largest(many), larger));
        float mine = 0.0f;
#pragma unroll
        for (int n = 0; n < PIECES; ++n)
            if (n * THREADS + threadIdx.x < many)
                mine += sum_of<T>(held.piece[n], [&](int i) {
                    const float power = exponential<T>(number<T>(held.piece[n], i), base);
                    if constexpr (sizeof(T) == 4)
                        (&held.piece[n].x)[i] = __float_as_uint(power);  // in its place
                    return power;
                });
        const double sum = together<THREADS>(double(mine), added);
        Part* const of = shown[turn % 2];  // others may still read those of the row before
        if (threadIdx.x < BLOCKS)
            cluster.map_shared_rank(of, threadIdx.x)[blockIdx.x % BLOCKS] = {
                sum == 0.0 ? -INFINITY : double(base), sum};
        cluster.sync();
        float largest = -INFINITY;
        double all = 0.0;
#pragma unroll
        for (int b = 0; b < BLOCKS; ++b) largest = fmaxf(largest, float(of[b].base));
        largest = base_of(largest);
#pragma unroll
        for (int b = 0; b < BLOCKS; ++b) all += of[b].sum * expf(float(of[b].base) - largest);
        // A part of nothing but minus infinity is nothing, unless the whole row is: then it is 0 / 0.
        const float fade = sum == 0.0 ? 1.0f : expf(base - largest);
        const Factor scale = one_over(all / fade);
        held.write(out + row * pieces + first, many, [&](float v, int, int) {
            return scale.times<T>(sizeof(T) == 4 ? v : exponential<T>(v, base));
        });
    }
    cluster.sync();  // nobody leaves while others may still write
}

template <typename T, int THREADS, int PIECES>
__global__ void __launch_bounds__(THREADS)
    norm_kernel(const uint4* __restrict__ in, const uint4* __restrict__ weight, uint4* __restrict__ out,
                int pieces, float eps) {
    in += int64_t(blockIdx.x) * pieces, out += int64_t(blockIdx.x) * pieces;
    Held<T, THREADS, PIECES> held, w;
    held.take(in, pieces);
    w.take(weight, pieces);
    const double squares = together<THREADS>(double(held.sum(pieces, [](float v) { return v * v; })), added);
    const Factor scale = one_over_root(squares / (pieces * EACH<T>)+eps);
    held.write(out, pieces, [&](float v, int at, int i) {
        return scale.times<T>(v) * number<T>(w.piece[at / THREADS], i);
    });
}

// With s = 1 / sqrt(mean(x * x) + eps) and y = x * s * w: the gradient of x is s * (g * w - x * s * s *
// mean(g * w
// * x)), that of w the sum over the rows of g * x * s.
template <typename T, int THREADS, int PIECES, int STAGES>
__global__ void __launch_bounds__(THREADS)
    back_kernel(const uint4* __restrict__ in, const uint4* __restrict__ weight,
                const uint4* __restrict__ grad, uint4* __restrict__ out, T* __restrict__ grad_of_weight,
                float* parts, int64_t rows, int pieces, float eps) {
    extern __shared__ __align__(128) uint4 memory[];
    __shared__ Barrier barriers[STAGES];
    const Stages<STAGES> stages = {barriers, memory, 2 * pieces};
    const auto ask = [&](int turn) {
        const int64_t row = blockIdx.x + int64_t(turn) * gridDim.x;
        if (threadIdx.x != 0 || row >= rows) return;
        stages.ask(turn, 0, in + row * pieces, pieces);
        stages.ask(turn, pieces, grad + row * pieces, pieces);
        stages.asked(turn);
    };
    stages.begin();
    for (int turn = 0; turn < STAGES; ++turn) ask(turn);
    Held<T, THREADS, PIECES> x, g, w;
    w.take(weight, pieces);
    float of_weight[PIECES][EACH<T>] = {};
    int turn = 0;
    for (int64_t row = blockIdx.x; row < rows; row += gridDim.x, ++turn) {
        stages.wait(turn);
        x.take(stages.at(turn), pieces);
        g.take(stages.at(turn) + pieces, pieces);
        float squares = 0.0f, products = 0.0f;
#pragma unroll
        for (int n = 0; n < PIECES; ++n)
            if (n * THREADS + threadIdx.x < pieces) {
                const auto v = [&](int i) { return number<T>(x.piece[n], i); };
                squares += sum_of<T>(x.piece[n], [&](int i) { return v(i) * v(i); });
                products += sum_of<T>(x.piece[n], [&](int i) {
                    return v(i) * (number<T>(g.piece[n], i) * number<T>(w.piece[n], i));
                });
            }
        const Two sums =
            together<THREADS>(Two{squares, products}, both_added);  // all have taken their pieces
        ask(turn + STAGES);
        const double each = 1.0 / (pieces * EACH<T>);
        const Factor scale = one_over_root(sums.a * each + eps);
        const float back = float(sums.b * each) * scale.high * scale.high;
#pragma unroll
        for (int n = 0; n < PIECES; ++n)
            if (const int at = n * THREADS + threadIdx.x; at < pieces) {
                float v[EACH<T>];
#pragma unroll
                for (int i = 0; i < EACH<T>; ++i) {
                    const float one = number<T>(x.piece[n], i), from = number<T>(g.piece[n], i);
                    v[i] = scale.times<T>(from * number<T>(w.piece[n], i) - one * back);
                    of_weight[n][i] = fmaf(from, scale.times<T>(one), of_weight[n][i]);
                }
                out[row * pieces + at] = piece_of<T>(v);
            }
    }
    const int cols = pieces * EACH<T>, each = (cols / 4 + gridDim.x - 1) / gridDim.x * 4;
    float4* const to = reinterpret_cast<float4*>(parts + int64_t(blockIdx.x) * cols);
#pragma unroll
    for (int n = 0; n < PIECES; ++n)
        if (const int at = n * THREADS + threadIdx.x; at < pieces)
#pragma unroll
            for (int i = 0; i < EACH<T>; i += 4)
                to[(at * EACH<T> + i) / 4] = make_float4(of_weight[n][i], of_weight[n][i + 1],
                                                         of_weight[n][i + 2], of_weight[n][i + 3]);
    groups::this_grid().sync();
    // Each block adds up some columns, 32 at a time: eight threads side by side have four columns each,
    // and the others further parts of these.
    constexpr int DOWN = THREADS / 8;
    __shared__ float4 of_part[DOWN][8];
    const int side = threadIdx.x % 8, down = threadIdx.x / 8, end = min(cols, (int(blockIdx.x) + 1) * each);
    for (int first = blockIdx.x * each; first < end; first += 32) {
        const int col = first + 4 * side;
        float4 sum = {};
        if (col < end)
#pragma unroll 8
            for (int p = down; p < gridDim.x; p += DOWN) {
                const float4 one = __ldcg(reinterpret_cast<const float4*>(parts + int64_t(p) * cols + col));
                sum.x += one.x, sum.y += one.y, sum.z += one.z, sum.w += one.w;
            }
        of_part[down][side] = sum;
        __syncthreads();
        if (threadIdx.x < 32 && first + threadIdx.x < end) {
            float all = 0.0f;
#pragma unroll 8
            for (int d = 0; d < DOWN; ++d) all += reinterpret_cast<const float*>(of_part[d])[threadIdx.x];
            grad_of_weight[first + threadIdx.x] = T(all);
        }
        __syncthreads();
    }
}

// The losses of the block's rows; the block that ends last adds up those of all.
template <typename T, int THREADS>
__device__ __forceinline__ void end_of_losses(double mine, double* sums, T* out, unsigned* ended,
                                              int64_t rows) {
    __shared__ bool last;
    mine = together<THREADS>(mine, added);
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = mine;
        __threadfence();
        last = atomicInc(ended, gridDim.x - 1) == gridDim.x - 1;  // and the count is 0 again
    }
    __syncthreads();
    if (!last) return;
    __threadfence();
    double total = 0.0;
    for (int64_t i = threadIdx.x; i < gridDim.x; i += THREADS) total += __ldcg(sums + i);
    total = together<THREADS>(total, added);
    if (threadIdx.x == 0) *out = T(float(total / rows));
}

// The element of a row that its target names; NaN where it is no column.
template <typename T> __device__ __forceinline__ float named(const uint4* row, int pieces, int64_t target) {
    const bool there = target >= 0 && target < int64_t(pieces) * EACH<T>;
    return there ? float(reinterpret_cast<const T*>(row)[target]) : NAN;
}

// Short rows: each warp has its own, so that nobody waits for anybody.
template <typename T, int THREADS, int AHEAD>
__global__ void __launch_bounds__(THREADS)
    warps_loss_kernel(const uint4* __restrict__ in, const int64_t* __restrict__ targets, double* sums,
                      T* out, unsigned* ended, int64_t rows, int pieces) {
    double losses = 0.0;
    const int64_t step = int64_t(gridDim.x) * (THREADS / 32);
    for (int64_t row = int64_t(blockIdx.x) * (THREADS / 32) + threadIdx.x / 32; row < rows; row += step) {
        const float wanted = named<T>(in + row * pieces, pieces, targets[row]);
        float largest = -INFINITY, sum = 0.0f;
        go_along<T, 32, AHEAD>(in + row * pieces, pieces, largest, sum);
        float most = largest;
#pragma unroll
        for (int i = 16; i > 0; i /= 2) most = fmaxf(most, moved(most, i));
        double all = faded(sum, largest, most);
#pragma unroll
        for (int i = 16; i > 0; i /= 2) all += moved(all, i);
        if (threadIdx.x % 32 == 0) losses += base_of(most) - double(wanted) + log(all);
    }
    end_of_losses<T, THREADS>(losses, sums, out, ended, rows);
}

template <typename T, int THREADS, int AHEAD>
__global__ void __launch_bounds__(THREADS)
    loss_kernel(const uint4* __restrict__ in, const int64_t* __restrict__ targets, double* sums, T* out,
                unsigned* ended, int64_t rows, int pieces) {
    in += int64_t(blockIdx.x) * pieces;
    const float wanted = named<T>(in, pieces, targets[blockIdx.x]);
    float largest = -INFINITY, sum = 0.0f;
    go_along<T, THREADS, AHEAD>(in, pieces, largest, sum);
    const float most = together<THREADS>(largest, larger);
    const double all = together<THREADS>(double(faded(sum, largest, most)), added);
    const double loss = threadIdx.x == 0 ? base_of(most) - double(wanted) + log(all) : 0.0;
    end_of_losses<T, THREADS>(loss, sums, out, ended, rows);
}

struct Rows {
    int64_t many;
    int pieces;
    cudaStream_t stream;
};
Rows looked_at(const torch::Tensor& x, std::initializer_list<torch::Tensor> others) {
    TORCH_CHECK(x.is_cuda() && x.dim() == 2, "x must be a matrix on a CUDA device");
    TORCH_CHECK(x.scalar_type() == torch::kFloat32 || x.scalar_type() == torch::kBFloat16,
                "x must be float32 or bfloat16, and is ", x.scalar_type());
    TORCH_CHECK(x.size(1) * x.element_size() % 16 == 0, "a row of x must be whole 16-byte pieces; it has ",
                x.size(1), " elements");
    const auto in_place = [](const torch::Tensor& t) {
        TORCH_CHECK(t.is_contiguous() && reinterpret_cast<uintptr_t>(t.data_ptr()) % 16 == 0,
                    "tensors must be contiguous and begin at a multiple of 16 bytes");
    };
    in_place(x);
    for (const auto& t : others) {
        in_place(t);
        TORCH_CHECK(
            t.scalar_type() == x.scalar_type() && t.device() == x.device() && t.size(-1) == x.size(1),
            "all tensors must have the dtype, the device and the columns of x");
    }
    return {x.size(0), static_cast<int>(x.size(1) * x.element_size() / 16),
            at::cuda::getCurrentCUDAStream()};
}
const uint4* from(const torch::Tensor& t) { return reinterpret_cast<const uint4*>(t.data_ptr()); }
uint4* to(const torch::Tensor& t) { return reinterpret_cast<uint4*>(t.data_ptr()); }

// Calls `work` with the C++ type of x.
template <typename Work> void of_type(const torch::Tensor& x, Work work) {
    if (x.scalar_type() == torch::kFloat32)
        work(float());
    else
        work(c10::BFloat16());
}

int multiprocessors() { return at::cuda::getCurrentDeviceProperties()->multiProcessorCount; }

// Softmax by clusters of BLOCKS blocks, as many as can run at once; a block has a stage of its part of a
// row.
template <typename T, int THREADS, int PIECES, int BLOCKS, int STAGES>
void wide_softmax(const torch::Tensor& x, torch::Tensor& out, const Rows& rows) {
    const auto kernel = wide_softmax_kernel<T, THREADS, PIECES, BLOCKS, STAGES>;
    const int bytes = STAGES * ((rows.pieces + BLOCKS - 1) / BLOCKS) * 16;
    C10_CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    cudaLaunchAttribute cluster;
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim.x = BLOCKS, cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(BLOCKS), config.blockDim = dim3(THREADS), config.stream = rows.stream;
    config.dynamicSmemBytes = bytes, config.attrs = &cluster, config.numAttrs = 1;
    int clusters = 0;
    C10_CUDA_CHECK(cudaOccupancyMaxActiveClusters(&clusters, kernel, &config));
    config.gridDim.x = BLOCKS * std::min<int64_t>(rows.many, std::max(clusters, 1));
    C10_CUDA_CHECK(cudaLaunchKernelEx(&config, kernel, from(x), to(out), rows.many, rows.pieces));
}

torch::Tensor softmax(torch::Tensor x) {
    const c10::cuda::CUDAGuard on(x.device());
    const Rows rows = looked_at(x, {});
    torch::Tensor out = torch::empty_like(x);
    if (x.numel() == 0) return out;
    of_type(x, [&](auto t) {
        using T = decltype(t);
        const int p = rows.pieces;
        const auto by = [&](auto kernel, int threads) {
            kernel<<<rows.many, threads, 0, rows.stream>>>(from(x), to(out), p);
        };
        if (p <= 512)
            by(softmax_kernel<T, 128, 4>, 128);
        else if (p <= 1024)
            by(softmax_kernel<T, 256, 4>, 256);
        else if (p <= 2048)
            by(softmax_kernel<T, 512, 4>, 512);
        else if (p <= 4096)
            by(softmax_kernel<T, 512, 8>, 512);
        else if (p <= 8192 && sizeof(T) == 4)  // one block, which needs no other
            by(softmax_kernel<T, 1024, 8>, 1024);
        else if (p <= 8192)
            wide_softmax<T, 512, 8, 2, 1>(x, out, rows);
        else if (p <= 16384)
            wide_softmax<T, 512, 8, 4, 1>(x, out, rows);
        else if (p <= 32768)
            wide_softmax<T, 512, 8, 8, 1>(x, out, rows);
        else
            TORCH_CHECK(false, "a row of ", x.size(1),
                        " elements does not fit into the registers of 8 blocks");
    });
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}

torch::Tensor rms_norm(torch::Tensor x, torch::Tensor weight, double eps) {
    const c10::cuda::CUDAGuard on(x.device());
    const Rows rows = looked_at(x, {weight});
    torch::Tensor out = torch::empty_like(x);
    if (x.numel() == 0) return out;
    of_type(x, [&](auto t) {
        using T = decltype(t);
        const int p = rows.pieces;
        const auto by = [&](auto kernel, int threads) {
            kernel<<<rows.many, threads, 0, rows.stream>>>(from(x), from(weight), to(out), p, eps);
        };
        if (p <= 512)
            by(norm_kernel<T, 128, 4>, 128);
        else if (p <= 1024)
            by(norm_kernel<T, 256, 4>, 256);
        else if (p <= 2048)
            by(norm_kernel<T, 512, 4>, 512);
        else if (p <= 4096)
            by(norm_kernel<T, 512, 8>, 512);
        else
            TORCH_CHECK(false, "a row of ", x.size(1),
                        " elements does not fit into the registers of a block");
    });
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}

std::vector<torch::Tensor> rms_norm_back(torch::Tensor x, torch::Tensor weight, torch::Tensor grad,
                                         double eps) {
    const c10::cuda::CUDAGuard on(x.device());
    const Rows rows = looked_at(x, {weight, grad});
    TORCH_CHECK(grad.sizes() == x.sizes(), "the gradient must have the shape of x");
    torch::Tensor out = torch::empty_like(x), of_weight = torch::empty_like(weight);
    if (x.numel() == 0) return {out, of_weight.zero_()};
    of_type(x, [&](auto t) {
        using T = decltype(t);
        const int p = rows.pieces;
        // `most`: blocks of a multiprocessor; each more is one more part of the weight's gradient to add up.
        const auto by = [&](auto kernel, int threads, int stages, int most) {
            const int bytes = stages * 2 * p * 16;
            C10_CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
            int each = 0;
            C10_CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, threads, bytes));
            const int blocks = std::min<int64_t>(rows.many, multiprocessors() * std::min(each, most));
            torch::Tensor parts = torch::empty({blocks, x.size(1)}, x.options().dtype(torch::kFloat32));
            const uint4 *in = from(x), *w = from(weight), *g = from(grad);
            uint4* results = to(out);
            T* of_columns = of_weight.data_ptr<T>();
            float *of_blocks = parts.data_ptr<float>(), small = eps;
            int64_t many = rows.many;
            int pieces = p;
            void* arguments[] = {&in, &w, &g, &results, &of_columns, &of_blocks, &many, &pieces, &small};
            C10_CUDA_CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(kernel), dim3(blocks),
                                                       dim3(threads), arguments, bytes, rows.stream));
        };
        if (p <= 512)
            by(back_kernel<T, 256, 2, 4>, 256, 4, 1);
        else if (p <= 1024)
            by(back_kernel<T, 256, 4, 2>, 256, 2, 2);
        else if (p <= 2048)
            by(back_kernel<T, 512, 4, 2>, 512, 2, 2);
        else
            TORCH_CHECK(false, "a row of ", x.size(1),
                        " elements does not fit into the registers of a block");
    });
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return {out, of_weight};
}

torch::Tensor cross_entropy(torch::Tensor x, torch::Tensor targets, torch::Tensor ended) {
    const c10::cuda::CUDAGuard on(x.device());
    const Rows rows = looked_at(x, {});
    TORCH_CHECK(
        targets.is_cuda() && targets.is_contiguous() && targets.dim() == 1 && targets.size(0) == rows.many,
        "targets must be one int64 for each row, on the device of x");
    TORCH_CHECK(x.numel() > 0, "the mean loss of no rows is not a number");
    torch::Tensor out = torch::empty({}, x.options());
    of_type(x, [&](auto t) {
        using T = decltype(t);
        const auto by = [&](auto kernel, int threads, int64_t most) {
            const int64_t blocks = std::min(rows.many, most);
            torch::Tensor sums = torch::empty({blocks}, x.options().dtype(torch::kFloat64));
            kernel<<<blocks, threads, 0, rows.stream>>>(
                from(x), targets.data_ptr<int64_t>(), sums.data_ptr<double>(), out.data_ptr<T>(),
                reinterpret_cast<unsigned*>(ended.data_ptr<int>()), rows.many, rows.pieces);
        };
        if (rows.pieces <= 1024 && sizeof(T) == 4)
            by(warps_loss_kernel<T, 512, 4>, 512, 2 * multiprocessors());
        else if (rows.pieces <= 1024)
            by(warps_loss_kernel<T, 256, 4>, 256, 8 * multiprocessors());
        else if (rows.pieces <= 4096 && sizeof(T) == 2)
            by(loss_kernel<T, 256, 4>, 256, rows.many);
        else
            by(loss_kernel<T, 512, 4>, 512, rows.many);
    });
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}
"""
declared = """
torch::Tensor softmax(torch::Tensor x);
torch::Tensor rms_norm(torch::Tensor x, torch::Tensor weight, double eps);
std::vector<torch::Tensor> rms_norm_back(torch::Tensor x, torch::Tensor weight, torch::Tensor grad,
                                         double eps);
torch::Tensor cross_entropy(torch::Tensor x, torch::Tensor targets, torch::Tensor ended);
"""
extension = load_inline(
    "rows_read_once",
    declared,
    cuda_source,
    functions=["softmax", "rms_norm", "rms_norm_back", "cross_entropy"],
    extra_cuda_cflags=["-O3"],
)
softmax, rms_norm, rms_norm_back = extension.softmax, extension.rms_norm, extension.rms_norm_back

# How many blocks of a call have ended, 0 between calls: one count for each stream that calls.
_ended: dict[tuple[torch.device, int], torch.Tensor] = {}


def cross_entropy(x: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """The mean over the rows of ``logsumexp(x[i]) - x[i, targets[i]]``; NaN where a target is no column."""
    key = x.device, torch.cuda.current_stream(x.device).cuda_stream
    if key not in _ended:
        _ended[key] = torch.zeros(1, dtype=torch.int32, device=x.device)
    return extension.cross_entropy(x, targets, _ended[key])


class RmsNorm(torch.autograd.Function):
    """``x / sqrt(mean(x * x) + eps) * weight`` for each row, with its derivative."""

    @staticmethod
    def forward(ctx, x: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
        ctx.save_for_backward(x, weight)
        ctx.eps = eps
        return rms_norm(x, weight, eps)

    @staticmethod
    def backward(ctx, grad: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, None]:
        x, weight = ctx.saved_tensors
        of_x, of_weight = rms_norm_back(x, weight, grad.contiguous(), ctx.eps)
        return of_x, of_weight, None


class ModelNew(torch.nn.Module):
    """Softmax of rows, as lesson 15's model; forward only."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return softmax(x.contiguous())
