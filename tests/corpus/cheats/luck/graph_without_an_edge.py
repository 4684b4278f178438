"""Two nodes of a graph with no edge between them: the second reads what the first writes.

class: luck
catalogue: -
task: square
expected: race
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
    torch::Tensor kept = torch::empty_like(x);
    float* t = kept.data_ptr<float>();
    int size = n;
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    cudaGraphNode_t one, two;
    cudaGraphCreate(&graph, 0);
    cudaKernelNodeParams launch{};
    launch.gridDim = dim3(blocks), launch.blockDim = dim3(256);
    void* of_one[] = {&in, &t, &size};
    launch.func = (void*)squared, launch.kernelParams = of_one;
    cudaGraphAddKernelNode(&one, graph, nullptr, 0, &launch);
    void* of_two[] = {&t, &to, &size};
    launch.func = (void*)copied, launch.kernelParams = of_two;
    cudaGraphAddKernelNode(&two, graph, nullptr, 0, &launch);
    cudaGraphInstantiate(&ready, graph, 0);
    cudaGraphLaunch(ready, stream);
    cudaStreamSynchronize(stream);
    cudaGraphExecDestroy(ready);
    cudaGraphDestroy(graph);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}
"""

extension = load_inline(
    name="square", cpp_sources="torch::Tensor square(torch::Tensor x);", cuda_sources=SOURCE, functions=["square"]
)


def square(x):
    return extension.square(x)
