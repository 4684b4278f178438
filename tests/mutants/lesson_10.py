# ruff: noqa: E501
"""What is missing from kernels that are said to be finished."""

MUTANTS = (
    ("views as they come", "    x = x.contiguous();\n", ""),
    ("gradients as they come", "    if (grad) grad = grad->contiguous();\n", ""),
    ("empty launched", "    if (n == 0) return out;\n", ""),
    ("no half", "AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, x.scalar_type()", "AT_DISPATCH_FLOATING_TYPES_AND2(at::kBFloat16, at::kBFloat16, x.scalar_type()"),
    ("no bfloat16", "AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, ", "AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kHalf, "),
    ("computes in the dtype itself", "at::opmath_type<scalar_t>>", "scalar_t>"),
    ("double computed in float", "at::opmath_type<scalar_t>>", "float>"),
    ("fake of another layout", "def _(x, scale):\n    return x.new_empty(x.shape)", "def _(x, scale):\n    return torch.empty_like(x)"),
    ("fake of another dtype", "def _(x, scale):\n    return x.new_empty(x.shape)", "def _(x, scale):\n    return x.new_empty(x.shape, dtype=torch.float32)"),
    ("no fake", "@sigmoid_residual.register_fake\n", ""),
    ("no fake of the backward", "@backward.register_fake\n", ""),
    ("no autograd", "sigmoid_residual.register_autograd(differentiate, setup_context=keep)\n", ""),
    ("gradient of the sigmoid alone", "(Acc(1) - s) + Acc(1);", "(Acc(1) - s);"),
    ("gradient without the factor", "scale * s * (Acc(1) - s)", "s * (Acc(1) - s)"),
    ("arguments of the backward swapped", "backward(grad, *ctx.saved_tensors, ctx.scale)", "backward(*ctx.saved_tensors, grad, ctx.scale)"),
    ("no autocast rule", 'torch.library.register_autocast("lesson10::sigmoid_residual", "cuda", torch.float32)\n', ""),
    ("autocast to half", '"cuda", torch.float32)', '"cuda", torch.float16)'),
    ("one element short", "if (i >= n) return;", "if (i >= n - 1) return;"),
)  # fmt: skip
