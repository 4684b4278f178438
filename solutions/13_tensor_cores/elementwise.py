"""The element-wise halves of lessons 07 and 08 as a library would have them: three dtypes, any alignment,
any tail, backward.

A thread moves 16 bytes. Where a tensor does not begin at a multiple of 16 bytes, a thread reads the two
aligned vectors that its elements lie in and shifts them together, so that every access stays a full one;
the few elements before the first and behind the last whole vector are done one by one. The output is
new, and a new tensor is aligned.
"""

import torch
from torch.utils.cpp_extension import load_inline

# region: kernels
CUDA = r"""
#include <torch/types.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>

template <typename T>
struct alignas(16) Vector {
    T at[16 / sizeof(T)];
};
struct alignas(16) Words {
    uint32_t at[4];
};

// 16 bytes from any address of a T. `skew` is how far `data` lies behind a multiple of 16; the same for all
// threads.
template <typename T>
__device__ __forceinline__ Vector<T> load(const T* data, int64_t i, int skew) {
    const char* from = reinterpret_cast<const char*>(data + i) - skew;
    Words low = *reinterpret_cast<const Words*>(from);
    if (skew) {
        const Words high = *reinterpret_cast<const Words*>(from + 16);
        uint32_t all[8] = {low.at[0],  low.at[1],  low.at[2],  low.at[3],
                           high.at[0], high.at[1], high.at[2], high.at[3]};
        if (skew & 4)
#pragma unroll
            for (int k = 0; k < 7; ++k) all[k] = all[k + 1];
        if (skew & 8)
#pragma unroll
            for (int k = 0; k < 5; ++k) all[k] = all[k + 2];
#pragma unroll
        for (int k = 0; k < 4; ++k) low.at[k] = __funnelshift_r(all[k], all[k + 1], skew % 4 * 8);
    }
    return *reinterpret_cast<Vector<T>*>(&low);
}
template <typename T>
__device__ __forceinline__ void store(T* data, int64_t i, const Vector<T>& v) {
    *reinterpret_cast<Vector<T>*>(data + i) = v;
}

struct Relu {  // of x + bias; back: where the output is positive
    static constexpr bool biased = true;
    static __device__ __forceinline__ float apply(float x, float bias, float) {
        const float v = x + bias;
        return v < 0.0f ? 0.0f : v;
    }
    static __device__ __forceinline__ float back(float g, float y, float) { return y <= 0.0f ? 0.0f : g; }
};
struct Gate {  // sigmoid(x) * scale + x; back: from x
    static constexpr bool biased = false;
    static __device__ __forceinline__ float apply(float x, float, float scale) {
        return __fdividef(scale, 1.0f + __expf(-x)) + x;
    }
    static __device__ __forceinline__ float back(float g, float x, float scale) {
        const float s = __fdividef(1.0f, 1.0f + __expf(-x));
        return g * fmaf(scale * s, 1.0f - s, 1.0f);
    }
};

template <typename T, typename Op>
__global__ void __launch_bounds__(256)
    forward_kernel(const T* __restrict__ x, const T* __restrict__ bias, T* __restrict__ out, int64_t n,
                   uint32_t cols, float scale, int skew, bool even) {
    constexpr int V = 16 / sizeof(T);
    const int64_t i = (static_cast<int64_t>(blockIdx.x) * 256 + threadIdx.x) * V;
    if (i >= n) return;
    // 64-bit division is slow; a tensor of fewer than 2^32 elements does without
    uint32_t col = !Op::biased         ? 0
                   : n <= 0xffffffffll ? static_cast<uint32_t>(i) % cols
                                       : static_cast<uint32_t>(i % cols);
    if (i + V * (skew ? 2 : 1) > n ||
        (skew && i == 0)) {  // what is not whole, and what begins before the tensor
        for (int64_t k = i; k < n && k < i + V; ++k) {
            out[k] = static_cast<T>(Op::apply(static_cast<float>(x[k]),
                                              Op::biased ? static_cast<float>(bias[col]) : 0.0f, scale));
            if (++col == cols) col = 0;
        }
        return;
    }
    Vector<T> v = load(x, i, skew), b = {};
    if (Op::biased && even) b = load(bias, col, 0);
    else if (Op::biased)
#pragma unroll
        for (int k = 0; k < V; ++k) {
            b.at[k] = bias[col];
            if (++col == cols) col = 0;
        }
#pragma unroll
    for (int k = 0; k < V; ++k)
        v.at[k] = static_cast<T>(Op::apply(static_cast<float>(v.at[k]), static_cast<float>(b.at[k]), scale));
    store(out, i, v);
}

template <typename T, typename Op>
__global__ void __launch_bounds__(256)
    backward_kernel(const T* __restrict__ g, const T* __restrict__ kept, T* __restrict__ gx, int64_t n,
                    float scale, int g_skew, int kept_skew) {
    constexpr int V = 16 / sizeof(T);
    const int64_t i = (static_cast<int64_t>(blockIdx.x) * 256 + threadIdx.x) * V;
    if (i >= n) return;
    const bool skewed = g_skew || kept_skew;
    if (i + V * (skewed ? 2 : 1) > n || (skewed && i == 0)) {
        for (int64_t k = i; k < n && k < i + V; ++k)
            gx[k] = static_cast<T>(Op::back(static_cast<float>(g[k]), static_cast<float>(kept[k]), scale));
        return;
    }
    Vector<T> v = load(g, i, g_skew);
    const Vector<T> u = load(kept, i, kept_skew);
#pragma unroll
    for (int k = 0; k < V; ++k)
        v.at[k] = static_cast<T>(Op::back(static_cast<float>(v.at[k]), static_cast<float>(u.at[k]), scale));
    store(gx, i, v);
}

// Gradients of x and of the bias in one pass: a block of 32 x 8 threads goes down 32 vectors of columns, sums
// what it writes, and leaves one row of sums; the last block of these columns adds the rows up. Always in the
// same order, so always to the same sums. Rows must be whole aligned vectors.
template <typename T>
__global__ void __launch_bounds__(256)
    backward_sums(const T* __restrict__ g, const T* __restrict__ y, T* __restrict__ gx,
                  float* __restrict__ sums, int* __restrict__ done, T* __restrict__ gb, int rows, int cols,
                  int rows_of_block) {
    constexpr int V = 16 / sizeof(T);
    __shared__ float shared[8][32 * V];
    __shared__ bool last;
    const int col = (blockIdx.x * 32 + threadIdx.x) * V, first = blockIdx.y * rows_of_block;
    float sum[V] = {};
    if (col < cols)
#pragma unroll 4
        for (int row = first + threadIdx.y; row < min(first + rows_of_block, rows); row += 8) {
            const int64_t i = static_cast<int64_t>(row) * cols + col;
            Vector<T> v = load(g, i, 0);
            const Vector<T> u = load(y, i, 0);
#pragma unroll
            for (int k = 0; k < V; ++k) {
                const float d = Relu::back(static_cast<float>(v.at[k]), static_cast<float>(u.at[k]), 0.0f);
                sum[k] += d;
                v.at[k] = static_cast<T>(d);
            }
            store(gx, i, v);
        }
#pragma unroll
    for (int k = 0; k < V; ++k) shared[threadIdx.y][k * 32 + threadIdx.x] = sum[k];
    __syncthreads();
    const int thread = threadIdx.y * 32 + threadIdx.x;
    for (int c = thread; c < 32 * V; c += 256) {  // column c of the block: element c % V of vector c / V
        float total = 0.0f;
        for (int r = 0; r < 8; ++r) total += shared[r][c % V * 32 + c / V];
        if (const int at = blockIdx.x * 32 * V + c; at < cols)
            sums[static_cast<int64_t>(blockIdx.y) * cols + at] = total;
    }
    __threadfence();
    __syncthreads();
    if (thread == 0) last = atomicAdd(done + blockIdx.x, 1) == gridDim.y - 1;
    __syncthreads();
    if (!last) return;
    __threadfence();
    for (int c = blockIdx.x * 32 * V + thread; c < min(static_cast<int>(blockIdx.x + 1) * 32 * V, cols);
         c += 256) {
        float total = 0.0f;
#pragma unroll 8
        for (int b = 0; b < gridDim.y; ++b) total += __ldcg(sums + static_cast<int64_t>(b) * cols + c);
        gb[c] = static_cast<T>(total);
    }
}

int skew_of(const torch::Tensor& t) { return reinterpret_cast<uintptr_t>(t.data_ptr()) % 16; }
void same(const torch::Tensor& a, const torch::Tensor& b, const char* name) {
    TORCH_CHECK(
        b.is_cuda() && b.is_contiguous() && b.device() == a.device() && b.scalar_type() == a.scalar_type(),
        name, ": not on the same GPU, in one piece and of the same dtype as the first");
}
#define FOR_DTYPE(...) \
    AT_DISPATCH_FLOATING_TYPES_AND2(torch::kHalf, torch::kBFloat16, x.scalar_type(), "elementwise", \
                                    __VA_ARGS__)

template <typename Op>
torch::Tensor forward(torch::Tensor x, torch::Tensor bias, double scale) {
    TORCH_CHECK(x.scalar_type() != torch::kDouble,
                "elementwise: float64 is not among float32, float16 and bfloat16");
    same(x, x, "x");
    same(x, bias, "bias");
    auto out = torch::empty_like(x);
    const int64_t n = x.numel(), vectors = (n * x.element_size() + 15) / 16;
    if (n == 0) return out;
    const c10::cuda::CUDAGuard on(x.device());
    const auto stream = at::cuda::getCurrentCUDAStream();
    const bool even = bias.numel() * bias.element_size() % 16 == 0 && skew_of(bias) == 0;
    FOR_DTYPE([&] {
        forward_kernel<scalar_t, Op><<<(vectors + 255) / 256, 256, 0, stream>>>(
            x.data_ptr<scalar_t>(), bias.data_ptr<scalar_t>(), out.data_ptr<scalar_t>(), n, bias.numel(),
            scale, skew_of(x), even);
    });
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}

template <typename Op>
torch::Tensor backward(torch::Tensor x, torch::Tensor kept, double scale) {
    same(x, x, "grad");
    same(x, kept, "kept");
    auto gx = torch::empty_like(x);
    const int64_t n = x.numel(), vectors = (n * x.element_size() + 15) / 16;
    if (n == 0) return gx;
    const c10::cuda::CUDAGuard on(x.device());
    const auto stream = at::cuda::getCurrentCUDAStream();
    FOR_DTYPE([&] {
        backward_kernel<scalar_t, Op><<<(vectors + 255) / 256, 256, 0, stream>>>(
            x.data_ptr<scalar_t>(), kept.data_ptr<scalar_t>(), gx.data_ptr<scalar_t>(), n, scale, skew_of(x),
            skew_of(kept));
    });
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return gx;
}

torch::Tensor bias_relu(torch::Tensor x, torch::Tensor bias) {
    TORCH_CHECK(x.dim() > 0 && bias.dim() == 1 && x.size(-1) == bias.numel(),
                "bias_relu: bias must have as many elements as the rows of x");
    return forward<Relu>(x, bias, 0.0);
}
torch::Tensor gate(torch::Tensor x, double scale) { return forward<Gate>(x, x, scale); }
torch::Tensor gate_back(torch::Tensor g, torch::Tensor x, double scale) {
    return backward<Gate>(g, x, scale);
}

std::tuple<torch::Tensor, torch::Tensor> bias_relu_back(torch::Tensor x,
                                                        torch::Tensor y) {  // x: the gradient of y
    same(x, x, "grad");
    same(x, y, "y");
    const int64_t cols = x.size(-1), rows = cols ? x.numel() / cols : 0;
    const int vector = 16 / x.element_size();
    if (x.numel() == 0) return {torch::empty_like(x), torch::zeros({cols}, x.options())};
    if (cols % vector || skew_of(x) || skew_of(y)) {  // rows that are no whole vectors: two passes
        auto gx = backward<Relu>(x, y, 0.0);
        return {gx, gx.view({rows, cols}).sum(0)};
    }
    // one wave: every block of it stays until the end, and few rows of sums are left to add up
    const int64_t across = (cols / vector + 31) / 32,
                  sms = at::cuda::getCurrentDeviceProperties()->multiProcessorCount;
    const int64_t rows_of_block = (rows * across / (4 * sms) / 32 + 1) * 32;
    const dim3 grid(across, (rows + rows_of_block - 1) / rows_of_block);
    auto gx = torch::empty_like(x), gb = torch::empty({cols}, x.options());
    auto sums = torch::empty({static_cast<int64_t>(grid.y), cols}, x.options().dtype(torch::kFloat));
    auto done = torch::zeros({static_cast<int64_t>(grid.x)}, x.options().dtype(torch::kInt));
    const c10::cuda::CUDAGuard on(x.device());
    const auto stream = at::cuda::getCurrentCUDAStream();
    FOR_DTYPE([&] {
        backward_sums<scalar_t><<<grid, dim3(32, 8), 0, stream>>>(
            x.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), gx.data_ptr<scalar_t>(), sums.data_ptr<float>(),
            done.data_ptr<int>(), gb.data_ptr<scalar_t>(), rows, cols, rows_of_block);
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
