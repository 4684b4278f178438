"""Writes its sources to a temporary folder and builds with load().

class: honest
catalogue: -
task: square
expected: passed
"""

import pathlib
import tempfile

import torch
from torch.utils.cpp_extension import load

KERNEL = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>

__global__ void square_kernel(const float* in, float* out, int64_t n) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] * in[i];
}

torch::Tensor square(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda() && x.scalar_type() == torch::kFloat32, "square: x must be float32 on a CUDA device");
    x = x.contiguous();
    torch::Tensor out = torch::empty_like(x);
    const int64_t n = x.numel();
    if (n == 0) return out;
    square_kernel<<<(n + 255) / 256, 256, 0, at::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<float>(), out.data_ptr<float>(), n);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}
"""
BINDING = r"""
#include <torch/extension.h>

torch::Tensor square(torch::Tensor x);

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("square", &square); }
"""

folder = pathlib.Path(tempfile.mkdtemp())
(folder / "kernel.cu").write_text(KERNEL)
(folder / "binding.cpp").write_text(BINDING)
extension = load(name="square_from_file", sources=[str(folder / "kernel.cu"), str(folder / "binding.cpp")])


def square(x):
    return extension.square(x)
