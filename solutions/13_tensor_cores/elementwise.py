"""The element-wise halves of lessons 07 and 08 as a library would have them: three dtypes, any alignment,
any tail, backward.

A thread moves vectors of 16 bytes. Where a tensor does not begin at a multiple of 16 bytes, it reads the two
aligned vectors that its elements lie in and shifts them together, so that every access stays a full one; of
vectors that reach beyond the tensor, only the tensor's own elements are read. The output is new, and a new
tensor is aligned. Measured on an H200 beside many others: blocks of 128 threads with one vector each are the
fastest or near it everywhere, and blocks that stay to walk over the tensor are slower than new ones.
"""

import torch
from torch.utils.cpp_extension import load_inline

# region: kernels
CUDA = r"""
#include <torch/types.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <cstring>
#include <type_traits>

// N elements on their way: 16-bit ones stay packed, two a word, until something is computed from them. To
// take a word apart is to wait for it, and a read that waits leaves no two of them to travel together.
template <typename T, int N>
struct alignas(N * sizeof(T)) Vector {
    static constexpr int PER = N == 1 ? 1 : 4 / sizeof(T);
    std::conditional_t<PER == 1, T, uint32_t> at[N / PER];
    // Element k alone, which is 0 before.
    __device__ __forceinline__ void take(int k, const T* from) {
        if constexpr (PER == 1) at[k] = *from;
        else at[k / PER] |= static_cast<uint32_t>(*reinterpret_cast<const uint16_t*>(from)) << k % PER * 16;
    }
};
template <typename T, int N>
struct Elements {
    T at[N];
};
template <typename To, typename From>
__device__ __forceinline__ To as(const From& from) {
    To to;
    memcpy(&to, &from, sizeof(to));
    return to;
}
// What is read for N elements: one vector, or the two that they lie in, `skew` bytes behind the begin.
template <typename T, int N, bool SKEWED>
struct Read {
    Vector<T, N> part[SKEWED ? 2 : 1];
    int skew;
};

// Reads elements i to i + N; `data` lies `skew` bytes behind a multiple of 16. Nothing waits for what is read
// yet, so that several of these travel together.
template <int N, bool SKEWED, typename T>
__device__ __forceinline__ Read<T, N, SKEWED> read(const T* data, int64_t i, int skew) {
    const auto* from =
        reinterpret_cast<const Vector<T, N>*>(data + i - (SKEWED ? skew / static_cast<int>(sizeof(T)) : 0));
    if constexpr (SKEWED) return {{from[0], from[1]}, skew};
    else return {{from[0]}, 0};
}
// Whether all that `read` touches belongs to the tensor of n elements.
template <int N, bool SKEWED>
__device__ __forceinline__ bool inside(int64_t i, int64_t n) {
    return SKEWED ? i > 0 && i + 2 * N <= n : i + N <= n;
}
// The N elements among those read.
template <typename T, int N, bool SKEWED>
__device__ __forceinline__ Vector<T, N> shifted(const Read<T, N, SKEWED>& v) {
    if constexpr (!SKEWED) return v.part[0];
    else {
        uint32_t all[8];
        memcpy(all, v.part, sizeof(all));
        // The compiler must not begin with this where the vectors are read: that would be to wait for them.
        for (int k = 0; k < 8; ++k) asm volatile("" : "+r"(all[k]));
        for (int k = 0; k < 7; ++k) all[k] = v.skew & 4 ? all[k + 1] : all[k];
        for (int k = 0; k < 5; ++k) all[k] = v.skew & 8 ? all[k + 2] : all[k];
        for (int k = 0; k < 4; ++k) all[k] = __funnelshift_r(all[k], all[k + 1], v.skew % 4 * 8);
        return as<Vector<T, N>>(all);
    }
}

// What there is beside the first operand: nothing, one value a column, or one an element.
enum Second { NOTHING, COLUMN, ELEMENT };
struct BiasRelu {
    static constexpr Second second = COLUMN;
    static __device__ __forceinline__ float apply(float x, float bias, float) {
        const float v = x + bias;
        return v < 0.0f ? 0.0f : v;
    }
};
struct Gate {
    static constexpr Second second = NOTHING;
    static __device__ __forceinline__ float apply(float x, float, float scale) {
        return __fdividef(scale, 1.0f + __expf(-x)) + x;
    }
};
struct GateBack {
    static constexpr Second second = ELEMENT;
    static __device__ __forceinline__ float apply(float g, float x, float scale) {
        const float s = __fdividef(1.0f, 1.0f + __expf(-x));
        return g * fmaf(scale * s, 1.0f - s, 1.0f);
    }
};

constexpr int THREADS = 128;
template <typename T, typename Op, bool SKEWED>
__global__ void __launch_bounds__(THREADS)
    elementwise(const T* __restrict__ x, const T* __restrict__ other, T* __restrict__ out, int64_t n,
                uint32_t cols, float scale, int skew, int other_skew) {
    constexpr int N = 16 / sizeof(T);
    const int64_t i = (static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x) * N;
    if (inside<N, SKEWED>(i, n)) {
        const auto in = read<N, SKEWED>(x, i, skew);
        Vector<T, N> two = {};
        if (Op::second == ELEMENT) two = shifted(read<N, SKEWED>(other, i, other_skew));
        if (Op::second == COLUMN) {  // 64-bit division is slow; fewer than 2^32 elements do without
            uint32_t col = n >> 32 ? static_cast<uint32_t>(i % cols) : static_cast<uint32_t>(i) % cols;
            if (cols % N == 0 && other_skew == 0) two = *reinterpret_cast<const Vector<T, N>*>(other + col);
            else
                for (int k = 0; k < N; ++k) {
                    two.take(k, other + col);
                    if (++col == cols) col = 0;
                }
        }
        auto v = as<Elements<T, N>>(shifted(in)), u = as<Elements<T, N>>(two);
        for (int k = 0; k < N; ++k)
            v.at[k] = Op::apply(static_cast<float>(v.at[k]), static_cast<float>(u.at[k]), scale);
        *reinterpret_cast<Vector<T, N>*>(out + i) = as<Vector<T, N>>(v);
    } else
#pragma unroll 1
        for (int64_t k = i; k < min(i + N, n); ++k) {  // at the ends, element by element
            const int64_t beside = Op::second == COLUMN ? k % cols : k;
            out[k] = Op::apply(static_cast<float>(x[k]),
                               Op::second == NOTHING ? 0.0f : static_cast<float>(other[beside]), scale);
        }
}

// Gradients of x and of the bias in one pass: a block goes down ACROSS vectors of N columns, a few steps at a
// time, and sums what it writes. The only block of its columns writes the gradient of the bias itself; of
// several, each leaves a row of sums to `add_up`. Always in the same order, so always to the same sums. y is
// aligned: where it is not, and where rows are no whole vectors, N is 1.
constexpr int TALL = 512;
template <typename T, int N, int ACROSS, bool SKEWED>
__global__ void __launch_bounds__(TALL, ACROSS < 32 ? 1 : SKEWED ? 3 : 2)
    backward_sums(const T* __restrict__ g, const T* __restrict__ y, T* __restrict__ gx,
                  float* __restrict__ sums, T* __restrict__ gb, int64_t rows, int cols, int rows_of_block,
                  int skew) {
    constexpr int DOWN = TALL / ACROSS, STEPS = SKEWED && ACROSS == 32 ? 1 : 4;
    __shared__ float shared[TALL / 32][ACROSS * N];
    const int across = threadIdx.x % ACROSS, col = (blockIdx.x * ACROSS + across) * N;
    const int64_t first = static_cast<int64_t>(blockIdx.y) * rows_of_block,
                  end = min(first + rows_of_block, rows);
    float sum[N] = {};
    if (col < cols)
        for (int64_t row = first + threadIdx.x / ACROSS; row < end; row += STEPS * DOWN) {
            Read<T, N, SKEWED> in[STEPS] = {};
            Read<T, N, false> from[STEPS];
#pragma unroll
            for (int s = 0; s < STEPS; ++s) {
                const int64_t i = min(row + s * DOWN, end - 1) * cols + col;
                if (!SKEWED || inside<N, SKEWED>(i, rows * cols)) in[s] = read<N, SKEWED>(g, i, skew);
                else  // an end of the tensor: its own elements alone
                    for (int k = 0; k < N; ++k) in[s].part[0].take(k, g + i + k);
                from[s] = read<N, false>(y, i, 0);
            }
#pragma unroll
            for (int s = 0; s < STEPS; ++s) {
                const bool mine = row + s * DOWN < end;
                auto v = as<Elements<T, N>>(shifted(in[s])), u = as<Elements<T, N>>(shifted(from[s]));
                for (int k = 0; k < N; ++k) {
                    const float d = static_cast<float>(v.at[k]), y = static_cast<float>(u.at[k]);
                    v.at[k] = y <= 0.0f ? 0.0f : d;
                    sum[k] += !mine || y <= 0.0f ? 0.0f : d;
                }
                if (mine)
                    *reinterpret_cast<Vector<T, N>*>(gx + (row + s * DOWN) * cols + col) =
                        as<Vector<T, N>>(v);
            }
        }
    for (int k = 0; k < N; ++k) {  // over the rows of a warp, then over the warps
        for (int by = ACROSS; by < 32; by *= 2) sum[k] += __shfl_xor_sync(~0u, sum[k], by);
        if (threadIdx.x % 32 < ACROSS) shared[threadIdx.x / 32][across * N + k] = sum[k];
    }
    __syncthreads();
    for (int c = threadIdx.x; c < ACROSS * N; c += TALL) {
        float total = 0.0f;
        for (int w = 0; w < TALL / 32; ++w) total += shared[w][c];
        if (const int64_t at = static_cast<int64_t>(blockIdx.x) * ACROSS * N + c; at < cols) {
            if (gridDim.y == 1) gb[at] = static_cast<T>(total);
            else sums[blockIdx.y * static_cast<int64_t>(cols) + at] = total;
        }
    }
}
template <typename T>
__global__ void __launch_bounds__(1024)
    add_up(const float* __restrict__ sums, T* __restrict__ gb, int parts, int cols) {
    __shared__ float shared[32][33];
    const int64_t col = static_cast<int64_t>(blockIdx.x) * 32 + threadIdx.x;
    float sum = 0.0f;
    if (col < cols)
#pragma unroll 8
        for (int p = threadIdx.y; p < parts; p += 32) sum += sums[static_cast<int64_t>(p) * cols + col];
    shared[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    sum = shared[threadIdx.x][threadIdx.y];  // a warp now has one column
    for (int by = 16; by > 0; by /= 2) sum += __shfl_xor_sync(~0u, sum, by);
    const int64_t mine = static_cast<int64_t>(blockIdx.x) * 32 + threadIdx.y;
    if (threadIdx.x == 0 && mine < cols) gb[mine] = static_cast<T>(sum);
}

int skew_of(const torch::Tensor& t) { return reinterpret_cast<uintptr_t>(t.data_ptr()) % 16; }
void same(const torch::Tensor& a, const torch::Tensor& b, const char* name) {
    TORCH_CHECK(
        b.is_cuda() && b.is_contiguous() && b.device() == a.device() && b.scalar_type() == a.scalar_type(),
        name, ": not on the same GPU, in one piece and of the same dtype as the first");
}
#define FOR_DTYPE(...) \
    AT_DISPATCH_SWITCH(x.scalar_type(), "elementwise (float32, float16 and bfloat16)", \
                       AT_DISPATCH_CASE(torch::kFloat, __VA_ARGS__) \
                       AT_DISPATCH_CASE(torch::kHalf, __VA_ARGS__) \
                       AT_DISPATCH_CASE(torch::kBFloat16, __VA_ARGS__))

template <typename T, typename Op, bool SKEWED>
void launch(const torch::Tensor& x, const torch::Tensor& other, torch::Tensor& out, float scale) {
    constexpr int64_t bytes = 16 * THREADS;
    const int64_t blocks = (x.nbytes() + bytes - 1) / bytes;
    elementwise<T, Op, SKEWED><<<blocks, THREADS, 0, at::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<T>(), other.data_ptr<T>(), out.data_ptr<T>(), x.numel(), other.numel(), scale, skew_of(x),
        skew_of(other));
}
template <typename Op>
torch::Tensor each(const torch::Tensor& x, const torch::Tensor& other, double scale) {
    same(x, x, "the first");
    same(x, other, "the second");
    auto out = torch::empty_like(x);
    if (x.numel() == 0) return out;
    const c10::cuda::CUDAGuard on(x.device());
    const bool skewed = skew_of(x) || (Op::second == ELEMENT && skew_of(other));
    FOR_DTYPE([&] {
        if (skewed) launch<scalar_t, Op, true>(x, other, out, scale);
        else launch<scalar_t, Op, false>(x, other, out, scale);
    });
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}
torch::Tensor bias_relu(torch::Tensor x, torch::Tensor bias) {
    TORCH_CHECK(x.dim() > 0 && bias.dim() == 1 && x.size(-1) == bias.numel(),
                "bias_relu: bias must have as many elements as the rows of x");
    return each<BiasRelu>(x, bias, 0.0);
}
torch::Tensor gate(torch::Tensor x, double scale) { return each<Gate>(x, x, scale); }
torch::Tensor gate_back(torch::Tensor g, torch::Tensor x, double scale) {
    return each<GateBack>(g, x, scale);
}

struct Back {  // what backward_sums is launched with
    torch::Tensor g, y, gx, gb, sums;
    int64_t rows, cols, rows_of_block, parts;
    template <typename T, int N, int ACROSS, bool SKEWED>
    void launch() {
        const dim3 grid((cols + ACROSS * N - 1) / (ACROSS * N), parts);
        backward_sums<T, N, ACROSS, SKEWED><<<grid, TALL, 0, at::cuda::getCurrentCUDAStream()>>>(
            g.data_ptr<T>(), y.data_ptr<T>(), gx.data_ptr<T>(), sums.data_ptr<float>(), gb.data_ptr<T>(),
            rows, cols, rows_of_block, skew_of(g));
    }
};
std::tuple<torch::Tensor, torch::Tensor> bias_relu_back(torch::Tensor x,
                                                        torch::Tensor y) {  // x: the gradient of y
    same(x, x, "grad");
    same(x, y, "y");
    if (x.numel() == 0) return {torch::empty_like(x), torch::zeros({x.size(-1)}, x.options())};
    const c10::cuda::CUDAGuard on(x.device());
    // Wide and not large: a block for each strip of 64 columns, if three in four multiprocessors get one.
    // Otherwise blocks of 64 rows that soon make room for others, and at most 512 rows of sums to add up.
    const int64_t cols = x.size(-1), rows = x.numel() / cols, strips = (cols + 63) / 64;
    const bool in_strips = x.nbytes() <= 96 << 20 &&
                           strips * 4 >= at::cuda::getCurrentDeviceProperties()->multiProcessorCount * 3;
    const int64_t rows_of_block = in_strips ? rows : std::max<int64_t>(64, (rows + 511) / 512);
    const int64_t parts = (rows + rows_of_block - 1) / rows_of_block;
    const auto gx = torch::empty_like(x), gb = torch::empty({cols}, x.options());
    const auto sums = torch::empty({parts > 1 ? parts : 0, cols}, x.options().dtype(torch::kFloat));
    Back b = {x, y, gx, gb, sums, rows, cols, rows_of_block, parts};
    FOR_DTYPE([&] {
        constexpr int N = 16 / sizeof(scalar_t);
        if (cols % N || skew_of(y)) b.launch<scalar_t, 1, 32, false>();  // element by element
        else if (in_strips && skew_of(x)) b.launch<scalar_t, N, 64 / N, true>();
        else if (in_strips) b.launch<scalar_t, N, 64 / N, false>();
        else if (skew_of(x)) b.launch<scalar_t, N, 32, true>();
        else b.launch<scalar_t, N, 32, false>();
        if (parts > 1)
            add_up<scalar_t><<<(cols + 31) / 32, dim3(32, 32), 0, at::cuda::getCurrentCUDAStream()>>>(
                sums.data_ptr<float>(), gb.data_ptr<scalar_t>(), parts, cols);
    });
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return {gx, gb};
}
"""
# endregion

DECLARED = """
torch::Tensor bias_relu(torch::Tensor x, torch::Tensor bias);
torch::Tensor gate(torch::Tensor x, double scale);
torch::Tensor gate_back(torch::Tensor g, torch::Tensor x, double scale);
std::tuple<torch::Tensor, torch::Tensor> bias_relu_back(torch::Tensor g, torch::Tensor y);
"""
extension = load_inline(
    "elementwise_kernels", DECLARED, CUDA, functions=["bias_relu", "gate", "gate_back", "bias_relu_back"]
)


class BiasRelu(torch.autograd.Function):
    """``relu(x + bias)`` over the last dimension; keeps the output only."""

    @staticmethod
    def forward(ctx, x, bias):
        y = extension.bias_relu(x.contiguous(), bias.contiguous())
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, grad):
        (y,) = ctx.saved_tensors
        return extension.bias_relu_back(grad.contiguous(), y)


class SigmoidResidual(torch.autograd.Function):
    """``sigmoid(x) * scale + x``; keeps x."""

    @staticmethod
    def forward(ctx, x, scale):
        x = x.contiguous()
        ctx.save_for_backward(x)
        ctx.scale = scale
        return extension.gate(x, scale)

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return extension.gate_back(grad.contiguous(), x, ctx.scale), None


def bias_relu(x: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """``relu(x + bias)``: x (..., columns), bias (columns), float32, float16 or bfloat16; differentiable."""
    return BiasRelu.apply(x, bias)


def sigmoid_residual(x: torch.Tensor, scale: float) -> torch.Tensor:
    """``sigmoid(x) * scale + x``: any shape, float32, float16 or bfloat16; differentiable in x."""
    return SigmoidResidual.apply(x, scale)
