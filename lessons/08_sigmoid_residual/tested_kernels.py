"""Kernels that the students' claims are tried on: careful ones, and ones of which a claim is not true."""

import torch
from torch.utils.cpp_extension import load_inline

HEAD = """
#include <cuda_fp16.h>
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>

__device__ float one(float x, float scale) { return scale / (1.0f + expf(-x)) + x; }
__device__ float other_form(float x, float scale) { return scale * expf(x) / (1.0f + expf(x)) + x; }
__device__ float clamped(float x, float scale) { return scale / (1.0f + expf(-fmaxf(fminf(x, 6), -6))) + x; }
__device__ float three_digits(float x, float scale) {
    return __half2float(__float2half(scale / (1.0f + expf(-x)))) + x;
}
__device__ float five_digits(float x, float scale) { return one(x, scale) * (1 + 5e-6f); }

template <float (*F)(float, float)>
__global__ void kernel(const float* x, float* out, float scale, int64_t n) {
    const int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) out[i] = F(x[i], scale);
}
__global__ void kernel4(const float4* x, float4* out, float scale, int64_t n) {
    const int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float4 v = x[i];
    out[i] = make_float4(one(v.x, scale), one(v.y, scale), one(v.z, scale), one(v.w, scale));
}
"""
HOST = """
torch::Tensor {name}(torch::Tensor x, double scale) {{
    TORCH_CHECK(x.is_cuda() && x.scalar_type() == torch::kFloat32, "expected a float32 tensor on a GPU");
    {contiguous}
    {out}
    const int64_t n = x.numel();
    {empty}
    kernel<{one}><<<(n + 255) / 256, 256, 0, at::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<float>(), out.data_ptr<float>(), scale, n);
    {launched}
    return out;
}}
"""
GOOD = {
    "contiguous": "x = x.contiguous();",
    "out": "torch::Tensor out = torch::empty_like(x);",
    "empty": "if (n == 0) return out;",
    "one": "one",
    "launched": "C10_CUDA_KERNEL_LAUNCH_CHECK();",
}
WRONG: dict[str, dict[str, str]] = {
    "plain": {},
    "empty_launched": {"empty": ""},
    "empty_refused": {"empty": 'TORCH_CHECK(n > 0, "no elements");'},
    "empty_flat": {"empty": "if (n == 0) return out.flatten();"},
    "as_it_lies": {"contiguous": ""},
    "rows_assumed": {
        "contiguous": "",
        "out": "torch::Tensor out = torch::empty(x.sizes(), x.options());",
    },
    "other_form": {"one": "other_form"},
    "clamped": {"one": "clamped"},
    "three_digits": {"one": "three_digits"},
    "five_digits": {"one": "five_digits"},
    "in_place": {"out": "torch::Tensor out = x;"},
}
VECTOR = """
torch::Tensor no_tail(torch::Tensor x, double scale) {
    x = x.view({-1, x.size(-1)});
    torch::Tensor out = torch::empty_like(x);
    const int64_t n = x.numel() / 4;
    if (n) kernel4<<<(n + 255) / 256, 256>>>((float4*)x.data_ptr(), (float4*)out.data_ptr(), scale, n);
    return out;
}
torch::Tensor aligned(torch::Tensor x, double scale) {
    x = x.contiguous();
    torch::Tensor out = torch::empty_like(x);
    const int64_t n = x.numel(), vectors = n / 4;
    float4* in = (float4*)(reinterpret_cast<uintptr_t>(x.data_ptr()) / 16 * 16);
    if (vectors) kernel4<<<(vectors + 255) / 256, 256>>>(in, (float4*)out.data_ptr(), scale, vectors);
    const int64_t done = vectors * 4;
    const float* rest = x.data_ptr<float>() + done;
    if (n > done) kernel<one><<<1, 4>>>(rest, out.data_ptr<float>() + done, scale, n - done);
    return out;
}
"""
sources = HEAD + "".join(HOST.format(name=k, **(GOOD | w)) for k, w in WRONG.items()) + VECTOR
names = [*WRONG, "no_tail", "aligned"]
declared = "\n".join(f"torch::Tensor {k}(torch::Tensor x, double scale);" for k in names)
own = load_inline("lesson08_kernels", declared, sources, functions=names)


class Careful(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale):
        ctx.scale = scale
        ctx.save_for_backward(x)
        return own.plain(x, scale)

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        s = torch.sigmoid(x)
        return grad * (ctx.scale * s * (1 - s) + 1), None


def careful(x, scale):
    return Careful.apply(x.float() if torch.is_autocast_enabled("cuda") else x, scale)


def keeps_half(x, scale):
    return Careful.apply(x.float(), scale).to(x.dtype)


def by_torch(x, scale):
    return torch.sigmoid(x) * scale + x


def in_its_bits(x, scale):
    """What half-precision numbers are when taken for float32."""
    if x.dtype == torch.float16:
        flat = x.contiguous().flatten()
        pairs = torch.cat([flat, flat[: len(flat) % 2]]).view(torch.float32)
        return own.plain(torch.cat([pairs, pairs])[: x.numel()].view(x.shape), scale)
    return own.plain(x, scale)


def rounded_twice(x, scale):
    """Three digits where half precision has four."""
    return own.plain(x.float(), scale).bfloat16().half()


def last_bit(x, scale):
    """Every second result differs from the one before in the last bit."""
    last_bit.calls = getattr(last_bit, "calls", 0) + 1
    return own.plain(x, scale) * (1 + last_bit.calls % 2 * 2**-23)


def spoils_later(x, scale):
    """The first result is right, and so is the second, but then the input is gone."""
    spoils_later.calls = getattr(spoils_later, "calls", 0) + 1
    out = own.plain(x, scale)
    if spoils_later.calls % 2 == 0:
        x.zero_()
    return out


def growing(x, scale):
    growing.calls = getattr(growing, "calls", 0) + 1
    return own.plain(x, scale) + growing.calls * 1e-3


def one_place(x, scale):
    """Off where x is nearest to 0, and too little for a mean of all errors to show it."""
    out = own.plain(x, scale).flatten()
    sizes = x.flatten().abs()
    if len(sizes) and sizes.min() < 1:
        out[sizes.argmin()] += 1e-5
    return out.view(x.shape)


def in_order_of_memory(x, scale):
    """Right for views with gaps and wherever a view begins; a transposed one is read as it lies."""
    used = [d for d in range(x.dim()) if x.size(d) > 1 and x.stride(d)]
    lies = sorted(used, key=x.stride, reverse=True)
    order = list(range(x.dim()))
    for d, to in zip(used, lies, strict=True):
        order[d] = to
    return own.plain(x.permute(order), scale).view(x.shape)


def rows_apart(x, scale):
    """Right for gaps between rows and for views without gaps; neighbours in a row are taken for adjacent."""
    if x.dim() == 2 and 1 < x.stride(1) < x.stride(0):
        return own.plain(x.as_strided(x.shape, (x.stride(0), 1)), scale)
    return own.plain(x, scale)


def of_size(x, scale):
    return own.plain(x, scale) + scale * (torch.sigmoid(x.abs()) - torch.sigmoid(x))


def flat_at_zero(x, scale):
    return torch.where(x.abs() < 0.003, 0.5 * scale + x, own.plain(x, scale))


def too_small(x, scale):
    """Wrong downwards only: a difference without abs() is negative, and so below every bound."""
    return own.plain(x.float(), scale) - 1


def too_large(x, scale):
    return own.plain(x.float(), scale) + 1


plain, no_tail, aligned, in_place = own.plain, own.no_tail, own.aligned, own.in_place
empty_launched, empty_refused, empty_flat = own.empty_launched, own.empty_refused, own.empty_flat
as_it_lies, rows_assumed = own.as_it_lies, own.rows_assumed
other_form, clamped = own.other_form, own.clamped
three_digits, five_digits = own.three_digits, own.five_digits
