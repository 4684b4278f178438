"""The 8-bit formats: every conversion as codes and bits, and kernels whose arrays hold them."""

import math
import random

import torch
from torch.utils.cpp_extension import load_inline

COUNT = True
CUDA = r"""
#include <torch/extension.h>
#include <cuda_fp8.h>
#define N 256
#define ROW(K, E) out[(K) * n + i] = (long)(E)

template <class T> struct Format;
template <> struct Format<__nv_fp8_e4m3> {
    static constexpr auto kind = __NV_E4M3;
    using Two = __nv_fp8x2_e4m3;
    using Four = __nv_fp8x4_e4m3;
};
template <> struct Format<__nv_fp8_e5m2> {
    static constexpr auto kind = __NV_E5M2;
    using Two = __nv_fp8x2_e5m2;
    using Four = __nv_fp8x4_e5m2;
};
static_assert(sizeof(__nv_fp8_e4m3) == 1 && sizeof(__nv_fp8x2_e5m2) == 2 && alignof(__nv_fp8x4_e4m3) == 4);
// As nvcc has it: nothing is converted that is not asked for.
static_assert(!std::is_convertible_v<float, __nv_fp8_e4m3> && !std::is_convertible_v<__nv_fp8_e4m3, float>);
static_assert(!std::is_convertible_v<__nv_fp8_e4m3, __half>);
static_assert(!std::is_convertible_v<__nv_fp8_e5m2, __nv_bfloat16>);
static_assert(std::is_trivial_v<__nv_fp8_e5m2> && std::is_trivial_v<__nv_fp8x4_e5m2>);

// Codes to what they convert to.
template <class T> __global__ void decode(long* out, const T* codes, int n) {
    int i = threadIdx.x;
    T a = codes[i];
    __half_raw raw = __nv_cvt_fp8_to_halfraw(a.__x, Format<T>::kind);
    ROW(0, __float_as_uint(float(a)));
    ROW(1, __half_as_ushort(__half(a)));
    ROW(2, raw.x);
    ROW(3, __bfloat16_as_ushort(static_cast<__nv_bfloat16>(a)));
    ROW(4, __float_as_uint((float)double(a)));
    ROW(5, __float_as_uint(__half2float(raw)));
    ROW(6, (signed char)a);
    ROW(7, (unsigned char)a);
    ROW(8, (short)a);
    ROW(9, (unsigned short)a);
    ROW(10, int(a));
    ROW(11, unsigned(a));
    ROW(12, (long long)a);
    ROW(13, (unsigned long long)a);
    ROW(14, a ? 1 : 0);
    ROW(15, char(a));
}
// Numbers to codes: as floats and as doubles, with and without saturation.
template <class T> __global__ void encode(long* out, const double* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    constexpr auto kind = Format<T>::kind;
    ROW(0, __nv_cvt_float_to_fp8((float)x[i], __NV_NOSAT, kind));
    ROW(1, __nv_cvt_float_to_fp8((float)x[i], __NV_SATFINITE, kind));
    ROW(2, T((float)x[i]).__x);
    ROW(3, __nv_cvt_double_to_fp8(x[i], __NV_NOSAT, kind));
    ROW(4, __nv_cvt_double_to_fp8(x[i], __NV_SATFINITE, kind));
    ROW(5, T(x[i]).__x);
}
// The bits of a half and of a bfloat16 to codes.
template <class T> __global__ void encode_small(long* out, const int* bits, int n) {
    int i = threadIdx.x;
    constexpr auto kind = Format<T>::kind;
    __half h = __ushort_as_half((unsigned short)bits[i]);
    __nv_bfloat16 b = __ushort_as_bfloat16((unsigned short)bits[i]);
    ROW(0, __nv_cvt_halfraw_to_fp8(h, __NV_NOSAT, kind));
    ROW(1, T(h).__x);
    ROW(2, __nv_cvt_bfloat16raw_to_fp8(static_cast<__nv_bfloat16_raw>(b), __NV_NOSAT, kind));
    ROW(3, T(b).__x);
}
template <class T> __global__ void encode_integers(long* out, const long* x, int n) {
    int i = threadIdx.x;
    ROW(0, T((short)x[i]).__x);
    ROW(1, T((unsigned short)x[i]).__x);
    ROW(2, T((int)x[i]).__x);
    ROW(3, T((unsigned)x[i]).__x);
    ROW(4, T((long)x[i]).__x);
    ROW(5, T((unsigned long)x[i]).__x);
    ROW(6, T((long long)x[i]).__x);
    ROW(7, T((unsigned long long)x[i]).__x);
    ROW(8, T((signed char)x[i]).__x);
}
// Four numbers to four codes in one word, in each way there is, and from there to four numbers.
template <class T> __global__ void vectors(long* out, float* back, const float4* x, int n) {
    using Two = typename Format<T>::Two;
    using Four = typename Format<T>::Four;
    constexpr auto kind = Format<T>::kind;
    int i = threadIdx.x;
    float4 v = x[i];
    float2 low = make_float2(v.x, v.y), high = make_float2(v.z, v.w);
    __half2 low_half = __float22half2_rn(low), high_half = __float22half2_rn(high);
    __nv_bfloat162 low_bfloat = __float22bfloat162_rn(low), high_bfloat = __float22bfloat162_rn(high);
    auto word = [](unsigned a, unsigned b) { return a | b << 16; };
    Four four(v);
    ROW(0, four.__x);
    ROW(1, Four(low_half, high_half).__x);
    ROW(2, Four(low_bfloat, high_bfloat).__x);
    ROW(3, Four(make_double4(v.x, v.y, v.z, v.w)).__x);
    ROW(4, word(Two(low).__x, Two(high).__x));
    ROW(5, word(Two(low_half).__x, Two(high_half).__x));
    ROW(6, word(Two(low_bfloat).__x, Two(high_bfloat).__x));
    ROW(7, word(Two(make_double2(v.x, v.y)).__x, Two(make_double2(v.z, v.w)).__x));
    ROW(8, word(__nv_cvt_float2_to_fp8x2(low, __NV_SATFINITE, kind),
                __nv_cvt_float2_to_fp8x2(high, __NV_SATFINITE, kind)));
    ROW(9, word(__nv_cvt_double2_to_fp8x2(make_double2(v.x, v.y), __NV_SATFINITE, kind),
                __nv_cvt_double2_to_fp8x2(make_double2(v.z, v.w), __NV_SATFINITE, kind)));
    ROW(10, word(__nv_cvt_halfraw2_to_fp8x2(low_half, __NV_SATFINITE, kind),
                 __nv_cvt_halfraw2_to_fp8x2(static_cast<__half2_raw>(high_half), __NV_SATFINITE, kind)));
    ROW(11, word(__nv_cvt_bfloat16raw2_to_fp8x2(low_bfloat, __NV_SATFINITE, kind),
                 __nv_cvt_bfloat16raw2_to_fp8x2(__nv_bfloat162_raw(high_bfloat), __NV_SATFINITE, kind)));
    float4* to = reinterpret_cast<float4*>(back) + 3 * i;
    to[0] = float4(four);
    Two first, second;
    first.__x = (__nv_fp8x2_storage_t)four.__x;
    second.__x = (__nv_fp8x2_storage_t)(four.__x >> 16);
    float2 a = float2(first), b = __half22float2(__half2(second));
    to[1] = make_float4(a.x, a.y, b.x, b.y);
    a = __half22float2(__half2(__nv_cvt_fp8x2_to_halfraw2(first.__x, kind)));
    b = float2(second);
    to[2] = make_float4(a.x, a.y, b.x, b.y);
}
// Powers of two for scales: every code, and the power at or below and at or above a number.
__global__ void scales(long* out, const double* x, int n) {
    int i = threadIdx.x;
    __nv_fp8_e8m0 scale;
    scale.__x = i;
    ROW(0, __float_as_uint(float(scale)));
    ROW(1, __nv_cvt_e8m0_to_bf16raw(i).x);
    ROW(2, __nv_cvt_float_to_e8m0((float)x[i], __NV_SATFINITE, cudaRoundZero));
    ROW(3, __nv_cvt_float_to_e8m0((float)x[i], __NV_SATFINITE, cudaRoundPosInf));
    ROW(4, __nv_fp8_e8m0(x[i]).__x);
    ROW(5, __nv_fp8_e8m0((long)x[i]).__x);
    ROW(6, __nv_fp8x2_e8m0(make_float2(1, (float)x[i])).__x >> 8);
}
// The other format of the number that mirrors i, doubled, by way of shared memory.
__global__ void mirrored(__nv_fp8_e5m2* y, const __nv_fp8_e4m3* __restrict__ x) {
    __shared__ __nv_fp8_e4m3 tile[N];
    int i = threadIdx.x;
    tile[i] = x[i];
    __syncthreads();
    y[i] = __nv_fp8_e5m2(2 * float(tile[N - 1 - i]));
}
__global__ void mirrored_by_four(__nv_fp8x4_e5m2* y, const __nv_fp8x4_e4m3* x) {
    float4 v = float4(x[blockDim.x - 1 - threadIdx.x]);
    y[threadIdx.x] = __nv_fp8x4_e5m2(make_float4(2 * v.w, 2 * v.z, 2 * v.y, 2 * v.x));
}
__global__ void beyond(__nv_fp8_e4m3* y, const __nv_fp8_e4m3* x) {
    y[threadIdx.x] = x[threadIdx.x + 1];  // beyond
}
template <class T> torch::Tensor convert(torch::Tensor x, std::string what) {
    int n = x.numel();
    auto out = torch::full({16, n}, -1000, x.options().dtype(torch::kInt64));
    long* to = (long*)out.data_ptr<int64_t>();
    if (what == "scales") scales<<<1, n>>>(to, x.data_ptr<double>(), n);
    if (what == "decode") decode<T><<<1, n>>>(to, (const T*)x.data_ptr(), n);
    if (what == "encode") encode<T><<<(n + 255) / 256, 256>>>(to, x.data_ptr<double>(), n);
    if (what == "encode_small") encode_small<T><<<1, n>>>(to, x.data_ptr<int>(), n);
    if (what == "encode_integers") encode_integers<T><<<1, n>>>(to, (const long*)x.data_ptr(), n);
    return out;
}
torch::Tensor converted(torch::Tensor x, std::string what, bool e4m3) {
    return e4m3 ? convert<__nv_fp8_e4m3>(x, what) : convert<__nv_fp8_e5m2>(x, what);
}
std::vector<torch::Tensor> fours(torch::Tensor x, bool e4m3) {
    int n = x.numel() / 4;
    auto out = torch::zeros({12, n}, x.options().dtype(torch::kInt64));
    auto back = torch::zeros({n, 3, 4}, x.options());
    auto kernel = e4m3 ? vectors<__nv_fp8_e4m3> : vectors<__nv_fp8_e5m2>;
    kernel<<<1, n>>>((long*)out.data_ptr(), back.data_ptr<float>(), (const float4*)x.data_ptr(), n);
    return {out, back};
}
torch::Tensor mirror(torch::Tensor x, std::string which) {
    auto y = torch::empty_like(x);
    void *to = y.data_ptr(), *from = x.data_ptr();
    if (which == "mirrored") mirrored<<<1, N>>>((__nv_fp8_e5m2*)to, (const __nv_fp8_e4m3*)from);
    if (which == "by_four")
        mirrored_by_four<<<1, N / 4>>>((__nv_fp8x4_e5m2*)to, (const __nv_fp8x4_e4m3*)from);
    if (which == "beyond") beyond<<<1, N>>>((__nv_fp8_e4m3*)to, (const __nv_fp8_e4m3*)from);
    return y;
}
"""
HEADS = [
    "torch::Tensor converted(torch::Tensor x, std::string what, bool e4m3);",
    "std::vector<torch::Tensor> fours(torch::Tensor x, bool e4m3);",
    "torch::Tensor mirror(torch::Tensor x, std::string which);",
]
CODES = torch.arange(256, dtype=torch.uint8)
SMALL = [*range(0, 65536, 71), 0x7C00, 0xFC00, 0x7F80, 0xFF80, 0x7C01, 0x7F81, 0x8000]
INTEGERS = [0, 1, -1, 3, 15, 17, 27, 100, 104, 232, -300, 448, 464, 465, 1000, 40000, 57344, 61439, 61440,
            70000, -70000, 2**31 - 1, -(2**31), 2**40 + 5, -(2**62)]  # fmt: skip


def numbers():
    """Everything near a code or half-way between two, of both formats, and some at random; as doubles."""
    made = [0.0, math.inf, math.nan, 1e300, 1e-300, 3.4e38, 1e-40, 480.0, 61440.0, 65536.0, 2**-10, 2**-17]
    for dtype in (torch.float8_e4m3fn, torch.float8_e5m2):
        exact = CODES[:128].view(dtype).double().nan_to_num(0, 0).unique()
        middle = (exact[1:] + exact[:-1]) / 2
        for x in (exact, middle):
            # A float away, and less than a float away.
            made += [*x.tolist(), *(x * (1 + 2**-22)).tolist(), *(x * (1 - 2**-23)).tolist()]
            made += [*(x * (1 + 2**-45)).tolist(), *(x * (1 - 2**-45)).tolist()]
    made += [464 * (1 + 2**-22), 61440 * (1 - 2**-23), 464 * (1 + 2**-45), 61440 * (1 - 2**-45), 464.0, 448.5]
    drawn = random.Random(8)
    made += [drawn.uniform(0.5, 1) * 2.0 ** drawn.randrange(-20, 18) for _ in range(500)]
    return torch.tensor([*made, *(-x for x in made)], dtype=torch.float64)


def vectors(module, *, e4m3):
    """Numbers that a half and a bfloat16 have exactly, so that only the last rounding shows."""
    drawn = random.Random(4)
    x = [drawn.randrange(-255, 256) * 2.0 ** drawn.randrange(-12, 7) for _ in range(4 * 64)]
    codes, back = module.fours(torch.tensor(x).cuda(), e4m3)
    return {"in": x, "codes": codes.tolist(), "back": back.tolist()}


def cases():
    module = load_inline("fp8", HEADS, [CUDA], functions=["converted", "fours", "mirror"])
    given = {
        "decode": CODES,
        "encode": numbers(),
        "encode_small": torch.tensor(SMALL, dtype=torch.int32),
        "encode_integers": torch.tensor(INTEGERS),
    }

    def convert(what, e4m3):
        return {"in": given[what].tolist(), "out": module.converted(given[what].cuda(), what, e4m3).tolist()}

    drawn = random.Random(3)
    scales = [2.0 ** (k - 64) * (1, 1 + 2**-20, 1 - 2**-20, 1.5)[k % 4] for k in range(124)]
    given["scales"] = torch.tensor(
        [*scales, *(drawn.randrange(1, 2**62) for _ in range(132))], dtype=torch.float64
    )
    both = {
        f"{what}_{kind}": (what, kind == "e4m3")
        for what in given
        if what != "scales"
        for kind in ("e4m3", "e5m2")
    }
    return (
        {name: lambda _, two=two: convert(*two) for name, two in both.items()}
        | {"scales": lambda _: convert("scales", False)}
        | {
            f"vectors_{kind}": lambda _, kind=kind: vectors(module, e4m3=kind == "e4m3")
            for kind in ("e4m3", "e5m2")
        }
        | {
            name: lambda _, name=name: module.mirror(CODES.cuda(), name).tolist()
            for name in ("mirrored", "by_four", "beyond")
        }
    )
