"""The kernels that ``pages.py`` times: of lessons 07, 08 and 09, and lesson 13's product in Triton."""

# ruff: noqa: ANN001, N803

from __future__ import annotations

from typing import TYPE_CHECKING

import triton
import triton.language as tl

if TYPE_CHECKING:
    import torch

NAMES = ("bias_relu", "bias_relu4", "sigmoid_residual", "sigmoid_residual4", "lesson_nine")
DECLARED = """
torch::Tensor bias_relu(torch::Tensor x, torch::Tensor bias, torch::Tensor out);
torch::Tensor bias_relu4(torch::Tensor x, torch::Tensor bias, torch::Tensor out);
torch::Tensor sigmoid_residual(torch::Tensor x, torch::Tensor out, double scale);
torch::Tensor sigmoid_residual4(torch::Tensor x, torch::Tensor out, double scale);
void lesson_nine(torch::Tensor in, torch::Tensor out);
"""
SOURCE = r"""
#include <torch/types.h>
#include <ATen/cuda/CUDAContext.h>
#define STREAM at::cuda::getCurrentCUDAStream()
__device__ float relu1(float v, float b) { const float s = v + b; return s < 0.0f ? 0.0f : s; }
__device__ float gate1(float v, float scale) { return scale / (1.0f + expf(-v)) + v; }
__global__ void bias_relu_kernel(const float* x, const float* bias, float* out, int64_t n, int64_t cols) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) out[i] = relu1(x[i], bias[i % cols]);
}
__global__ void bias_relu_kernel4(const float4* x, const float4* bias, float4* out, int64_t n, int64_t cols) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float4 v = x[i], b = bias[i % cols];
    out[i] = make_float4(relu1(v.x, b.x), relu1(v.y, b.y), relu1(v.z, b.z), relu1(v.w, b.w));
}
__global__ void gate_kernel(const float* x, float* out, float scale, int64_t n) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) out[i] = gate1(x[i], scale);
}
__global__ void gate_kernel4(const float4* x, float4* out, float scale, int64_t n) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float4 v = x[i];
    out[i] = make_float4(gate1(v.x, scale), gate1(v.y, scale), gate1(v.z, scale), gate1(v.w, scale));
}
torch::Tensor bias_relu(torch::Tensor x, torch::Tensor bias, torch::Tensor out) {
    const int64_t n = x.numel();
    bias_relu_kernel<<<(n + 255) / 256, 256, 0, STREAM>>>(
        x.data_ptr<float>(), bias.data_ptr<float>(), out.data_ptr<float>(), n, bias.numel());
    return out;
}
torch::Tensor bias_relu4(torch::Tensor x, torch::Tensor bias, torch::Tensor out) {
    const int64_t n = x.numel() / 4;
    bias_relu_kernel4<<<(n + 255) / 256, 256, 0, STREAM>>>((const float4*)x.data_ptr<float>(),
        (const float4*)bias.data_ptr<float>(), (float4*)out.data_ptr<float>(), n, bias.numel() / 4);
    return out;
}
torch::Tensor sigmoid_residual(torch::Tensor x, torch::Tensor out, double scale) {
    const int64_t n = x.numel();
    gate_kernel<<<(n + 255) / 256, 256, 0, STREAM>>>(x.data_ptr<float>(), out.data_ptr<float>(), scale, n);
    return out;
}
torch::Tensor sigmoid_residual4(torch::Tensor x, torch::Tensor out, double scale) {
    const int64_t n = x.numel() / 4;
    gate_kernel4<<<(n + 255) / 256, 256, 0, STREAM>>>(
        (const float4*)x.data_ptr<float>(), (float4*)out.data_ptr<float>(), scale, n);
    return out;
}
__global__ void nine_along(const float* in, float* out, int n) {
    const int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    if (row < n && col < n) out[row * n + col] = in[row * n + col] * in[row * n + col];
}
__global__ void nine_down(const float* in, float* out, int n) {
    const int row = blockIdx.x * 16 + threadIdx.x, col = blockIdx.y * 16 + threadIdx.y;
    if (row < n && col < n) out[row * n + col] = in[row * n + col] * in[row * n + col];
}
__global__ void nine_float4(const float4* in, float4* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float4 v = in[i];
    out[i] = make_float4(v.x * v.x, v.y * v.y, v.z * v.z, v.w * v.w);
}
template <int WIDE>
__device__ void transpose(const float* in, float* out, int n) {
    __shared__ float tile[32][WIDE];
    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (x < n && y + j < n) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
    __syncthreads();
    const int u = blockIdx.y * 32 + threadIdx.x, v = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (u < n && v + j < n) out[(v + j) * n + u] = tile[threadIdx.x][threadIdx.y + j];
}
__global__ void nine_tile32(const float* in, float* out, int n) { transpose<32>(in, out, n); }
__global__ void nine_tile33(const float* in, float* out, int n) { transpose<33>(in, out, n); }
void lesson_nine(torch::Tensor in, torch::Tensor out) {
    const int n = in.size(0);
    const float* a = in.data_ptr<float>();
    float* b = out.data_ptr<float>();
    const dim3 small((n + 15) / 16, (n + 15) / 16), tiles((n + 31) / 32, (n + 31) / 32);
    for (int k = 0; k < 3; ++k) {  // the last one is kept: code and address translation are warm
        nine_along<<<small, dim3(16, 16), 0, STREAM>>>(a, b, n);
        nine_down<<<small, dim3(16, 16), 0, STREAM>>>(a, b, n);
        nine_float4<<<(n * n / 4 + 255) / 256, 256, 0, STREAM>>>((const float4*)a, (float4*)b, n * n / 4);
        nine_tile32<<<tiles, dim3(32, 8), 0, STREAM>>>(a, b, n);
        nine_tile33<<<tiles, dim3(32, 8), 0, STREAM>>>(a, b, n);
    }
}
"""


@triton.jit
def product_kernel(
    x, w, bias, out, rows, cols, inner,
    SPLIT: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
) -> None:  # fmt: skip
    m, n = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    sums = tl.zeros((BM, BN), tl.float32)
    for start in range(0, inner, BK):
        k = start + tl.arange(0, BK)
        inside = k < inner
        a = tl.load(x + m[:, None] * inner + k[None, :], (m < rows)[:, None] & inside[None, :], 0.0)
        b = tl.load(w + n[None, :] * inner + k[:, None], (n < cols)[None, :] & inside[:, None], 0.0)
        if SPLIT:
            ah, bh = a.to(tl.float16), b.to(tl.float16)
            al = ((a - ah.to(tl.float32)) * 2048).to(tl.float16)
            bl = ((b - bh.to(tl.float32)) * 2048).to(tl.float16)
            cross = tl.dot(al, bh, tl.dot(ah, bl))
            sums += tl.dot(ah, bh) + cross * (1 / 2048)
        else:
            sums += tl.dot(a, b, input_precision="tf32x3")
    v = sums + tl.load(bias + n, n < cols, 0.0)[None, :]
    y = tl.where(v < 0, 0.0, v)
    tl.store(out + m[:, None] * cols + n[None, :], y, (m < rows)[:, None] & (n < cols)[None, :])


def triton_product(
    x: torch.Tensor, w: torch.Tensor, bias: torch.Tensor, how: str, tile: tuple[int, int, int, int, int]
) -> torch.Tensor:
    """relu(x w^T + bias) with ``how`` "split" or "tf32x3" and a tile of (m, n, k, stages, warps)."""
    (rows, inner), cols = x.shape, w.shape[0]
    out = x.new_empty(rows, cols)
    bm, bn, bk, stages, warps = tile
    product_kernel[triton.cdiv(rows, bm), triton.cdiv(cols, bn)](
        x, w, bias, out, rows, cols, inner, how == "split", bm, bn, bk, num_stages=stages, num_warps=warps
    )
    return out
