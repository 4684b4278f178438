"""Tiles of 32 x 32 with 2 x 2 outputs a thread; the tiles lie transposed, k first."""

from torch.utils.cpp_extension import load_inline

cuda_source = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>

__global__ void product(const float* a, const float* b, const float* bias, const float* residual, float* out,
                        int m, int n, int inner) {
    __shared__ float at[8][33], bt[8][33];
    const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    const int row0 = blockIdx.y * 32, col0 = blockIdx.x * 32;
    float s00 = 0, s01 = 0, s10 = 0, s11 = 0;
    for (int k0 = 0; k0 < inner; k0 += 8) {
        const int r = threadIdx.x / 8, k = threadIdx.x % 8;  // 256 threads, 32 x 8 elements
        at[k][r] = k0 + k < inner && row0 + r < m ? a[int64_t(row0 + r) * inner + k0 + k] : 0.0f;
        bt[k][r] = k0 + k < inner && col0 + r < n ? b[int64_t(col0 + r) * inner + k0 + k] : 0.0f;
        __syncthreads();
        for (int d = 0; d < 8; ++d) {
            const float a0 = at[d][ty], a1 = at[d][ty + 16], b0 = bt[d][tx], b1 = bt[d][tx + 16];
            s00 += a0 * b0;
            s01 += a0 * b1;
            s10 += a1 * b0;
            s11 += a1 * b1;
        }
        __syncthreads();
    }
    const float sums[4] = {s00, s01, s10, s11};
    for (int i = 0; i < 4; ++i) {
        const int row = row0 + ty + 16 * (i / 2), col = col0 + tx + 16 * (i % 2);
        if (row < m && col < n) {
            float v = sums[i] + (bias ? bias[col] : 0.0f);
            if (bias && v < 0.0f) v = 0.0f;
            out[int64_t(row) * n + col] = bias ? v + residual[int64_t(row) * n + col] : v;
        }
    }
}

torch::Tensor run(torch::Tensor a, torch::Tensor b, torch::Tensor bias, torch::Tensor residual) {
    TORCH_CHECK(a.is_cuda() && a.scalar_type() == torch::kFloat32, "a must be float32 on CUDA");
    a = a.contiguous();
    b = b.contiguous();
    residual = residual.contiguous();
    const int m = a.size(0), n = b.size(0);
    auto out = torch::empty({m, n}, a.options());
    if (out.numel() == 0) return out;
    product<<<dim3((n + 31) / 32, (m + 31) / 32), 256, 0, at::cuda::getCurrentCUDAStream()>>>(
        a.data_ptr<float>(), b.data_ptr<float>(), bias.data_ptr<float>(), residual.data_ptr<float>(),
        out.data_ptr<float>(), m, n, int(a.size(1)));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}
"""

extension = load_inline(
    name="lesson12_small_tiles",
    cpp_sources="torch::Tensor run(torch::Tensor, torch::Tensor, torch::Tensor, torch::Tensor);",
    cuda_sources=cuda_source,
    functions=["run"],
)


def product(x, weight):
    return extension.run(x, weight, x.new_empty(0), x.new_empty(0))


def gemm_epilogue(x, weight, bias, residual):
    return extension.run(x, weight, bias, residual)
