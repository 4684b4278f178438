"""Copies and fills of no bytes, a node of a graph that fills with words, complex products, and an assumption.

class: honest
catalogue: -
task: square
expected: passed
"""

import torch
from torch.utils.cpp_extension import load_inline

SOURCE = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <cuda/std/complex>

__global__ void square_kernel(const float* in, float* out, int64_t n) {
    __builtin_assume(n > 0);
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const cuda::std::complex<float> one(out[i], 0), value(in[i], 0);
    out[i] = (one * value * value).real();
}

torch::Tensor square(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda() && x.scalar_type() == torch::kFloat32, "square: x must be float32 on a CUDA device");
    x = x.contiguous();
    torch::Tensor out = torch::empty_like(x);
    const int64_t n = x.numel();
    const cudaStream_t stream = at::cuda::getCurrentCUDAStream();
    const float* in = x.data_ptr<float>();
    float* to = out.data_ptr<float>();
    C10_CUDA_CHECK(cudaMemcpyAsync(to, in, x.nbytes(), cudaMemcpyDeviceToDevice, stream));
    C10_CUDA_CHECK(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyHostToDevice));
    C10_CUDA_CHECK(cudaMemsetAsync(to, 0, x.nbytes(), stream));
    if (n == 0) return out;
    cudaMemsetParams ones{};
    ones.dst = to, ones.value = 0x3f800000u, ones.elementSize = 4, ones.width = n, ones.height = 1;
    cudaGraph_t graph;
    cudaGraphNode_t node;
    cudaGraphExec_t exec;
    C10_CUDA_CHECK(cudaGraphCreate(&graph, 0));
    C10_CUDA_CHECK(cudaGraphAddMemsetNode(&node, graph, nullptr, 0, &ones));
    C10_CUDA_CHECK(cudaGraphInstantiate(&exec, graph, 0));
    C10_CUDA_CHECK(cudaGraphLaunch(exec, stream));
    square_kernel<<<(n + 255) / 256, 256, 0, stream>>>(in, to, n);
    C10_CUDA_CHECK(cudaStreamSynchronize(stream));
    cudaGraphExecDestroy(exec);
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
