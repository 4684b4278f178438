"""Beside lesson 10: the square as an operator, for several dtypes, with a fake function and a derivative."""

import torch
from torch.utils.cpp_extension import load_inline

source = r"""
#include <torch/extension.h>
#include <ATen/OpMathType.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>

// region: template
template <typename Stored>
__global__ void square_kernel(const Stored* from, Stored* to, int64_t count) {
    using Wide = at::opmath_type<Stored>;  // float for half precision
    const int64_t place = threadIdx.x + blockIdx.x * int64_t(blockDim.x);
    if (place < count) to[place] = Stored(Wide(from[place]) * Wide(from[place]));
}
// endregion

// region: dispatch
torch::Tensor square(const torch::Tensor& given) {
    const torch::Tensor from = given.contiguous();
    torch::Tensor to = torch::empty_like(from);
    const int64_t count = from.numel(), blocks = (count + 127) / 128;
    if (blocks > 0)
        AT_DISPATCH_FLOATING_TYPES_AND_HALF(from.scalar_type(), "square", [&] {
            square_kernel<scalar_t><<<blocks, 128, 0, at::cuda::getCurrentCUDAStream()>>>(
                from.data_ptr<scalar_t>(), to.data_ptr<scalar_t>(), count);
        });
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return to;
}
// endregion
"""
extension = load_inline(
    "sibling10_square", "torch::Tensor square(const torch::Tensor& given);", source, functions=["square"]
)


# region: register
@torch.library.custom_op("sibling10::square", mutates_args=())
def square(given: torch.Tensor) -> torch.Tensor:
    return extension.square(given)


@square.register_fake
def shape_of_square(given):
    return torch.empty(given.shape, dtype=given.dtype, device=given.device)


def remember(ctx, inputs, output):
    ctx.save_for_backward(*inputs)


def derivative(ctx, incoming):
    (given,) = ctx.saved_tensors
    return 2 * given * incoming


square.register_autograd(derivative, setup_context=remember)
# endregion

stable_source = r"""
#define TORCH_TARGET_VERSION 0x020a000000000000  // PyTorch 2.10
#define USE_CUDA
#include <cuda_runtime.h>
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/macros.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

__global__ void square_of_floats(const float* from, float* to, int64_t count) {
    const int64_t place = threadIdx.x + blockIdx.x * int64_t(blockDim.x);
    if (place < count) to[place] = from[place] * from[place];
}

// region: stable
using torch::stable::Tensor;

Tensor square(Tensor given) {
    const Tensor from = torch::stable::contiguous(given), to = torch::stable::empty_like(from);
    void* current;
    TORCH_ERROR_CODE_CHECK(aoti_torch_get_current_cuda_stream(from.get_device_index(), &current));
    const int64_t count = from.numel(), blocks = (count + 127) / 128;
    if (blocks > 0)
        square_of_floats<<<blocks, 128, 0, cudaStream_t(current)>>>(
            from.const_data_ptr<float>(), to.mutable_data_ptr<float>(), count);
    STD_CUDA_KERNEL_LAUNCH_CHECK();
    return to;
}

STABLE_TORCH_LIBRARY(sibling10_stable, library) { library.def("square(Tensor given) -> Tensor"); }
STABLE_TORCH_LIBRARY_IMPL(sibling10_stable, CUDA, library) { library.impl("square", TORCH_BOX(&square)); }
// endregion
"""
# region: load
load_inline("sibling10_stable", "", stable_source, no_implicit_headers=True, is_python_module=False)
stable_square = torch.ops.sibling10_stable.square
# endregion

for dtype in (torch.float16, torch.float32, torch.float64):
    x = torch.randn(6, 9, device="cuda").to(dtype).t().requires_grad_()
    y = square(x)
    y.sum().backward()
    assert torch.equal(y, (x.double() ** 2).to(dtype)) and torch.equal(x.grad, 2 * x)
assert torch.compile(square, fullgraph=True, backend="aot_eager")(x).shape == x.shape
torch.library.opcheck(square, (x,))
z = torch.randn(6, 9, device="cuda").t()
assert torch.equal(stable_square(z), z * z)
print("right in three dtypes, with a derivative and a fake function")
