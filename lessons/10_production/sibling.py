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

for dtype in (torch.float16, torch.float32, torch.float64):
    x = torch.randn(6, 9, device="cuda").to(dtype).t().requires_grad_()
    y = square(x)
    y.sum().backward()
    assert torch.equal(y, (x.double() ** 2).to(dtype)) and torch.equal(x.grad, 2 * x)
assert torch.compile(square, fullgraph=True, backend="aot_eager")(x).shape == x.shape
torch.library.opcheck(square, (x,))
print("right in three dtypes, with a derivative and a fake function")
