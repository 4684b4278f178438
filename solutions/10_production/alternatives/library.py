"""The operator defined through torch.library.Library, autograd as an autograd.Function, grid strides."""

import torch
from torch.utils.cpp_extension import load_inline

cuda_source = r"""
#include <torch/extension.h>
#include <ATen/OpMathType.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>

template <typename T>
__global__ void forward_kernel(const T* x, T* out, double scale, int64_t n) {
    using Acc = at::opmath_type<T>;
    const int64_t step = int64_t(gridDim.x) * blockDim.x;
    for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
        const Acc v = x[i];
        out[i] = T(Acc(scale) / (Acc(1) + exp(-v)) + v);
    }
}

template <typename T>
__global__ void backward_kernel(const T* x, const T* grad, T* out, double scale, int64_t n) {
    using Acc = at::opmath_type<T>;
    const int64_t step = int64_t(gridDim.x) * blockDim.x;
    for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
        const Acc e = exp(-fabs(Acc(x[i]))), d = Acc(1) + e;
        out[i] = T(Acc(grad[i]) * (Acc(scale) * e / (d * d) + Acc(1)));
    }
}

torch::Tensor forward(const torch::Tensor& given, double scale) {
    TORCH_CHECK(given.is_cuda(), "forward: not on a CUDA device");
    c10::cuda::CUDAGuard guard(given.device());
    auto x = given.contiguous();
    auto out = torch::empty_like(x);
    const int64_t n = x.numel(), blocks = std::min<int64_t>((n + 255) / 256, 1024);
    if (n) AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, x.scalar_type(), "forward", [&] {
        forward_kernel<scalar_t><<<blocks, 256, 0, at::cuda::getCurrentCUDAStream()>>>(
            x.data_ptr<scalar_t>(), out.data_ptr<scalar_t>(), scale, n);
    });
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}

torch::Tensor backward(const torch::Tensor& given, const torch::Tensor& upstream, double scale) {
    c10::cuda::CUDAGuard guard(given.device());
    auto x = given.contiguous(), grad = upstream.contiguous();
    auto out = torch::empty_like(x);
    const int64_t n = x.numel(), blocks = std::min<int64_t>((n + 255) / 256, 1024);
    if (n) AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, x.scalar_type(), "backward", [&] {
        backward_kernel<scalar_t><<<blocks, 256, 0, at::cuda::getCurrentCUDAStream()>>>(
            x.data_ptr<scalar_t>(), grad.data_ptr<scalar_t>(), out.data_ptr<scalar_t>(), scale, n);
    });
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}
"""
declared = """
torch::Tensor forward(const torch::Tensor& given, double scale);
torch::Tensor backward(const torch::Tensor& given, const torch::Tensor& upstream, double scale);
"""
extension = load_inline("lesson10_library", declared, cuda_source, functions=["forward", "backward"])

library = torch.library.Library("lesson10_alternative", "DEF")
library.define("forward(Tensor x, float scale) -> Tensor")
library.define("backward(Tensor x, Tensor grad, float scale) -> Tensor")
library.impl("forward", extension.forward, "CUDA")
library.impl("backward", extension.backward, "CUDA")


def like(x, *rest):
    return torch.empty_like(x, memory_format=torch.contiguous_format)


torch.library.register_fake("lesson10_alternative::forward", like)
torch.library.register_fake("lesson10_alternative::backward", like)


def keep(ctx, inputs, output):
    ctx.save_for_backward(inputs[0])
    ctx.scale = inputs[1]


def differentiate(ctx, grad):
    (x,) = ctx.saved_tensors
    return torch.ops.lesson10_alternative.backward(x, grad, ctx.scale), None


torch.library.register_autograd("lesson10_alternative::forward", differentiate, setup_context=keep)
torch.library.register_autocast("lesson10_alternative::forward", "cuda", torch.float32)
sigmoid_residual = torch.ops.lesson10_alternative.forward.default

stable_source = r"""
#define TORCH_TARGET_VERSION 0x020a000000000000  // 2.10
#define USE_CUDA
#include <cuda_runtime.h>
#include <torch/csrc/stable/accelerator.h>
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/macros.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

__global__ void stride_loop(const float* x, float* out, float scale, int64_t n) {
    const int64_t threads = int64_t(gridDim.x) * blockDim.x;
    for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += threads)
        out[i] = x[i] + scale / (1.0f + expf(-x[i]));
}

torch::stable::Tensor sigmoid_residual(torch::stable::Tensor given, double scale) {
    STD_TORCH_CHECK(given.is_cuda(), "x must be on a CUDA device, not on the CPU");
    STD_TORCH_CHECK(given.scalar_type() == torch::headeronly::ScalarType::Float, "x must be float32");
    const torch::stable::accelerator::DeviceGuard guard(given.get_device_index());
    const torch::stable::Tensor x = torch::stable::contiguous(given);
    torch::stable::Tensor out = torch::stable::empty_like(x);
    void* stream = nullptr;
    TORCH_ERROR_CODE_CHECK(aoti_torch_get_current_cuda_stream(given.get_device_index(), &stream));
    stride_loop<<<256, 256, 0, static_cast<cudaStream_t>(stream)>>>(
        x.const_data_ptr<float>(), out.mutable_data_ptr<float>(), scale, x.numel());
    STD_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}

STABLE_TORCH_LIBRARY(lesson10_alternative_stable, m) { m.def("sigmoid_residual(Tensor x, float scale) -> Tensor"); }
STABLE_TORCH_LIBRARY_IMPL(lesson10_alternative_stable, CUDA, m) { m.impl("sigmoid_residual", TORCH_BOX(&sigmoid_residual)); }
"""
load_inline(
    "lesson10_alternative_stable", "", stable_source, no_implicit_headers=True, is_python_module=False
)
stable = torch.ops.lesson10_alternative_stable.sigmoid_residual.default
