"""Lesson 13: an fp32-accurate product from products of half-precision numbers, with its epilogue."""

import torch
from torch.utils.cpp_extension import load_inline

# solution: begin
try:  # where there is a GPU, torch brings Triton along
    import triton
    import triton.language as tl
except ImportError:
    triton = None


# solution: end


# region: split
def split(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    high = x.half()
    # starter: return high, torch.zeros_like(high)  # TODO 1: what high leaves of x, times 2048, as half.
    # solution: begin
    return high, ((x - high) * 2048).half()
    # solution: end


# endregion

cuda_source = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>

// region: kernel
__global__ void product_kernel(const at::Half* xh, const at::Half* xl, const at::Half* wh, const at::Half* wl,
                       const float* bias, float* out, int rows, int cols, int inner, float scale, bool relu) {
    const int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    if (row >= rows || col >= cols) return;
    float sum = 0.0f;
    for (int k0 = 0; k0 < inner; k0 += 64) {  // a tensor core would add up one such chunk
        float high = 0.0f, cross = 0.0f;
        for (int k = k0; k < min(k0 + 64, inner); ++k) {
            const float a = xh[row * inner + k], b = wh[col * inner + k];
            // starter: high += a * b;  // TODO 2: add the two cross terms, of xl and wl, to cross.
            // solution: begin
            high += a * b;
            cross += a * float(wl[col * inner + k]) + float(xl[row * inner + k]) * b;
            // solution: end
        }
        // starter: sum += high;  // TODO 3: and cross, which is 2048 times too large.
        // solution: begin
        sum += high + cross / 2048.0f;
        // solution: end
    }
    // starter: out[row * cols + col] = sum;  // TODO 4: bias of the column; ReLU, or else lesson 08's.
    // solution: begin
    const float v = sum + bias[col];
    out[row * cols + col] = relu ? (v < 0.0f ? 0.0f : v) : scale / (1.0f + expf(-v)) + v;
    // solution: end
}
// endregion

void product(torch::Tensor xh, torch::Tensor xl, torch::Tensor wh, torch::Tensor wl, torch::Tensor b,
             torch::Tensor out, double scale, bool relu) {
    // starter: // TODO 5: refuse what is not on a CUDA device, and make the rest contiguous.
    // solution: begin
    for (auto* t : {&xh, &xl, &wh, &wl, &b}) {
        TORCH_CHECK(t->is_cuda(), "product: not all on a CUDA device");
        *t = t->contiguous();
    }
    // solution: end
    const int rows = xh.size(0), inner = xh.size(1), cols = wh.size(0);
    const dim3 block(16, 16), grid((cols + 15) / 16, (rows + 15) / 16);
    product_kernel<<<grid, block, 0, at::cuda::getCurrentCUDAStream()>>>(
        xh.data_ptr<at::Half>(), xl.data_ptr<at::Half>(), wh.data_ptr<at::Half>(), wl.data_ptr<at::Half>(),
        b.data_ptr<float>(), out.data_ptr<float>(), rows, cols, inner, scale, relu);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
}
"""
declared = "void product(" + ", ".join(["torch::Tensor"] * 6) + ", double scale, bool relu);"
extension = load_inline("lesson13_product", declared, cuda_source, functions=["product"])


# solution: begin
# region: triton
if triton is not None:

    @triton.jit
    def tensor_core_kernel(
        x, w, bias, out, rows, cols, inner, scale, RELU: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
        BK: tl.constexpr
    ):  # fmt: skip
        m = tl.program_id(0) * BM + tl.arange(0, BM)
        n = tl.program_id(1) * BN + tl.arange(0, BN)
        sums = tl.zeros((BM, BN), tl.float32)
        for start in range(0, inner, BK):
            k = start + tl.arange(0, BK)
            inside = k < inner
            a = tl.load(x + m[:, None] * inner + k[None, :], (m < rows)[:, None] & inside[None, :], 0.0)
            b = tl.load(w + n[None, :] * inner + k[:, None], (n < cols)[None, :] & inside[:, None], 0.0)
            ah, bh = a.to(tl.float16), b.to(tl.float16)
            al = ((a - ah.to(tl.float32)) * 2048).to(tl.float16)
            bl = ((b - bh.to(tl.float32)) * 2048).to(tl.float16)
            cross = tl.dot(al, bh, tl.dot(ah, bl))
            sums += tl.dot(ah, bh) + cross * (1 / 2048)  # one chunk, then promoted
        v = sums + tl.load(bias + n, n < cols, 0.0)[None, :]
        y = tl.where(v < 0, 0.0, v) if RELU else scale / (1 + tl.exp(-v)) + v
        tl.store(out + m[:, None] * cols + n[None, :], y, (m < rows)[:, None] & (n < cols)[None, :])


# endregion
# solution: end
def fused(x, weight, bias, scale: float, relu: bool) -> torch.Tensor:
    out = x.new_empty(x.shape[0], weight.shape[0])
    # starter: # TODO 6: open end. With a GPU, go on to tensor cores here; the page has the way.
    # solution: begin
    if triton is not None and x.is_cuda and out.numel() >= 1 << 14:
        x, weight, bias = x.contiguous(), weight.contiguous(), bias.contiguous()
        grid = triton.cdiv(out.shape[0], 128), triton.cdiv(out.shape[1], 128)
        tensor_core_kernel[grid](
            x, weight, bias, out, *out.shape, x.shape[1], scale, relu, 128, 128, 64,
            num_warps=8, num_stages=3,
        )  # fmt: skip
        return out
    # solution: end
    extension.product(*split(x), *split(weight), bias, out, scale, relu)
    return out


def gemm_relu(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    return fused(x, weight, bias, 0.0, True)  # the model of lesson 07


def gemm_sigmoid(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, scale: float) -> torch.Tensor:
    return fused(x, weight, bias, scale, False)  # the model of lesson 08
