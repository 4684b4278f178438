"""64 threads for 64 x 64 outputs, 8 x 8 a thread, tiles in dynamic shared memory, the epilogue a functor."""

from torch.utils.cpp_extension import load_inline

cuda_source = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>

struct ReluResidual {
    const float *bias, *residual;
    int64_t cols;
    __device__ float operator()(float sum, int64_t row, int64_t col) const {
        if (bias == nullptr) return sum;
        const float v = sum + bias[col];
        return (v < 0.0f ? 0.0f : v) + residual[row * cols + col];
    }
};

__global__ void gemm(const float* x, const float* w, float* out, int64_t rows, int64_t cols, int64_t inner,
                     ReluResidual epilogue) {
    extern __shared__ float tiles[];
    constexpr int EDGE = 64, DEEP = 8, PITCH = EDGE + 1;
    float *xs = tiles, *ws = tiles + DEEP * PITCH;
    const int64_t row0 = int64_t(blockIdx.y) * EDGE, col0 = int64_t(blockIdx.x) * EDGE;
    const int tx = threadIdx.x, ty = threadIdx.y;
    float sum[8][8];
    for (auto& line : sum)
        for (float& s : line) s = 0.0f;
    for (int64_t k0 = 0; k0 < inner; k0 += DEEP) {
        for (int r = ty; r < EDGE; r += 8) {
            const int64_t k = k0 + tx;
            xs[tx * PITCH + r] = k < inner && row0 + r < rows ? x[(row0 + r) * inner + k] : 0.0f;
            ws[tx * PITCH + r] = k < inner && col0 + r < cols ? w[(col0 + r) * inner + k] : 0.0f;
        }
        __syncthreads();
        const int steps = inner - k0 < DEEP ? int(inner - k0) : DEEP;
        for (int d = 0; d < steps; ++d) {
            float b[8];
            for (int j = 0; j < 8; ++j) b[j] = ws[d * PITCH + tx + 8 * j];
            for (int i = 0; i < 8; ++i) {
                const float a = xs[d * PITCH + ty + 8 * i];
                for (int j = 0; j < 8; ++j) sum[i][j] = fmaf(a, b[j], sum[i][j]);
            }
        }
        __syncthreads();
    }
    for (int i = 0; i < 8; ++i)
        for (int j = 0; j < 8; ++j) {
            const int64_t row = row0 + ty + 8 * i, col = col0 + tx + 8 * j;
            if (row < rows && col < cols) out[row * cols + col] = epilogue(sum[i][j], row, col);
        }
}

torch::Tensor gemm_run(torch::Tensor x, torch::Tensor w, torch::Tensor bias, torch::Tensor residual) {
    TORCH_CHECK(x.is_cuda() && x.scalar_type() == torch::kFloat32, "x must be float32 on CUDA");
    x = x.contiguous(), w = w.contiguous(), bias = bias.contiguous(), residual = residual.contiguous();
    const int64_t rows = x.size(0), cols = w.size(0);
    auto out = torch::empty({rows, cols}, x.options());
    if (out.numel() == 0) return out;
    const ReluResidual epilogue{bias.data_ptr<float>(), residual.data_ptr<float>(), cols};
    const dim3 grid((cols + 63) / 64, (rows + 63) / 64);
    gemm<<<grid, dim3(8, 8), 2 * 8 * 65 * sizeof(float), at::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<float>(), w.data_ptr<float>(), out.data_ptr<float>(), rows, cols, x.size(1), epilogue);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}
"""

extension = load_inline(
    name="lesson12_wide_blocks",
    cpp_sources="torch::Tensor gemm_run(torch::Tensor, torch::Tensor, torch::Tensor, torch::Tensor);",
    cuda_sources=cuda_source,
    functions=["gemm_run"],
)


def product(x, weight):
    return extension.gemm_run(x, weight, x.new_empty(0), x.new_empty(0))


def gemm_epilogue(x, weight, bias, residual):
    return extension.gemm_run(x, weight, bias, residual)
