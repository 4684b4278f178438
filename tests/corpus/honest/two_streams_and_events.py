"""A first kernel on a stream of its own, ordered by events on both sides.

class: honest
catalogue: -
task: square
expected: passed
"""

from torch.utils.cpp_extension import load_inline

SOURCE = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>

__global__ void squared(const float* x, float* t, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) t[i] = x[i] * x[i];
}
__global__ void copied(const float* t, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = t[i];
}

torch::Tensor square(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda() && x.scalar_type() == torch::kFloat32, "square: x must be float32 on a CUDA device");
    x = x.contiguous();
    torch::Tensor out = torch::empty_like(x);
    const int n = x.numel(), blocks = (n + 255) / 256;
    if (n == 0) return out;
    const float* in = x.data_ptr<float>();
    float* to = out.data_ptr<float>();
    cudaStream_t stream = at::cuda::getCurrentCUDAStream();
    static cudaStream_t side = nullptr;
    static cudaEvent_t given, done;
    if (!side) {
        cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
        cudaEventCreateWithFlags(&given, cudaEventDisableTiming);
        cudaEventCreateWithFlags(&done, cudaEventDisableTiming);
    }
    torch::Tensor kept = torch::empty_like(x);
    float* t = kept.data_ptr<float>();
    cudaEventRecord(given, stream);
    cudaStreamWaitEvent(side, given, 0);
    squared<<<blocks, 256, 0, side>>>(in, t, n);
    cudaEventRecord(done, side);
    cudaStreamWaitEvent(stream, done, 0);
    copied<<<blocks, 256, 0, stream>>>(t, to, n);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}
"""

extension = load_inline(
    name="square", cpp_sources="torch::Tensor square(torch::Tensor x);", cuda_sources=SOURCE, functions=["square"]
)


def square(x):
    return extension.square(x)
