// __half and __nv_bfloat16. Every host function: x has n floats, y is written.
#include <cuda_runtime.h>
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#define ROW(K, E) y[(K) * n + t] = float(E)

// Exact formats: rounding, comparison and arithmetic are bit for bit a GPU's.
__global__ void half_kernel(const float* x, float* y, int n) {
    int t = threadIdx.x;
    __half a = __float2half(x[t]), b = __float2half_rn(1.25f), c = half(0.1f);
    ROW(0, __half2float(__hadd(a, b)));
    ROW(1, __half2float(__hmul(a, c)));
    ROW(2, __half2float(__hsub(a, c)) + __half2float(__hdiv(a, b)));
    ROW(3, __half2float(__hfma(a, b, c)));
    ROW(4, __half2float(a + b) + __half2float(a * c) + __half2float(-a));
    ROW(5, __hgt(a, b) + 2 * __hlt(a, b) + 4 * __heq(a, a) + 8 * __hge(a, c) + 16 * __hne(a, b) + 32 * __hle(a, b));
    ROW(6, __half2float(__hmax(a, b)) + __half2float(__hmin(a, b)) + __half2float(__habs(a)) + __half2float(__hneg(a)));
    ROW(7, __half_as_ushort(a));
    ROW(8, __half2float(__ushort_as_half((unsigned short)(__half_as_ushort(a) ^ 1))));
    ROW(9, __half2int_rn(__float2half(x[t] * 10)) + __half2int_rz(b) + __half2float(__int2half_rn(t)));
    ROW(10, __half2float(__hadd_sat(a, c)) + __hisnan(a) + __hisinf(a));
    ROW(11, __half2float(__short_as_half(__half_as_short(a))) + __half2float(__ushort2half_rn(7)));
    ROW(12, __half2float(__float2half_rz(x[t])) + __half2float(__float2half_ru(x[t])) + __half2float(__float2half_rd(x[t])));
    ROW(13, __half2float(hfloor(a)) + __half2float(hceil(a)) + __half2float(hrint(a)) + __half2float(htrunc(a)));
    a += c; a *= b; a -= c; a /= b;
    ROW(14, __half2float(a) + (a > b) + (a == a) + float(__shfl_xor_sync(0xffffffffu, a, 1)));
    ROW(15, __half2float(__double2half(0.3)) + float(half(3)) + static_cast<float>(c));
}
void halves(const float* x, float* y, int n) { half_kernel<<<1, n>>>(x, y, n); }

__global__ void half2_kernel(const float* x, float* y, int n) {
    int t = threadIdx.x;
    __half2 a = __floats2half2_rn(x[t], x[(t + 1) % n]), b = __float2half2_rn(0.75f);
    __half2 c = __halves2half2(__low2half(a), __high2half(b)), r;
    auto sum = [](__half2 v) { return __low2float(v) + 2 * __high2float(v); };
    ROW(0, sum(__hadd2(a, b)));
    ROW(1, sum(__hmul2(a, b)));
    ROW(2, sum(__hfma2(a, b, c)));
    ROW(3, sum(__hsub2(a, b)) + sum(__h2div(a, b)) + sum(__hneg2(a)) + sum(__habs2(a)));
    ROW(4, sum(__hmax2(a, b)) + sum(__hmin2(a, b)) + sum(a + b) + sum(a * b));
    ROW(5, sum(__hgt2(a, b)) + sum(__hle2(a, b)) + __hbgt2(a, b) + __hbeq2(a, a));
    ROW(6, sum(__lowhigh2highlow(a)) + sum(__low2half2(a)) + sum(__high2half2(a)) + sum(__half2half2(a.x)));
    float2 f = __half22float2(a);
    r = __float22half2_rn(make_float2(f.y, f.x));
    ROW(7, sum(r) + sum(__lows2half2(a, b)) + sum(__highs2half2(a, b)) + sum(make_half2(a.x, b.y)));
    __half2* p = reinterpret_cast<__half2*>(y + 8 * n) + t;
    *p = a;
    ROW(9, sum(*p) * 0 + 1);
}
void half_pairs(const float* x, float* y, int n) { half2_kernel<<<1, n>>>(x, y, n); }

__global__ void bfloat_kernel(const float* x, float* y, int n) {
    int t = threadIdx.x;
    __nv_bfloat16 a = __float2bfloat16(x[t]), b = __float2bfloat16_rn(1.25f), c = __nv_bfloat16(0.1f);
    __nv_bfloat162 p = __floats2bfloat162_rn(x[t], 0.5f), q = __float2bfloat162_rn(0.75f);
    ROW(0, __bfloat162float(__hadd(a, b)) + __bfloat162float(__hmul(a, c)));
    ROW(1, __bfloat162float(__hfma(a, b, c)));
    ROW(2, __bfloat162float(a + b) + __bfloat162float(a / b) + __bfloat162float(__hmax(a, b)));
    ROW(3, __bfloat16_as_ushort(a));
    ROW(4, __low2float(__hadd2(p, q)) + __high2float(__hmul2(p, q)) + __low2float(__hfma2(p, q, q)));
    ROW(5, __bfloat162float(__ushort_as_bfloat16((unsigned short)(__bfloat16_as_ushort(a) | 1))));
    float2 f = __bfloat1622float2(p);
    ROW(6, f.x + f.y + __bfloat162float(__low2bfloat16(p)) + __bfloat162float(__high2bfloat16(q)));
    ROW(7, __hgt(a, b) + 2 * __heq(a, a) + 4 * __hlt(a, c) + (a < b) + __hisnan(a));
    ROW(8, __bfloat162float(__int2bfloat16_rn(t)) + float(__bfloat162int_rn(b)) + __bfloat162float(__float2bfloat16_rz(x[t])));
    nv_bfloat162 h = __halves2bfloat162(a, b);
    ROW(9, __low2float(h) + 2 * __high2float(h) + float(__shfl_down_sync(0xffffffffu, a, 1)));
}
void bfloats(const float* x, float* y, int n) { bfloat_kernel<<<1, n>>>(x, y, n); }

// Functions whose last bit may differ.
__global__ void small_functions_kernel(const float* x, float* y, int n) {
    int t = threadIdx.x;
    __half a = __float2half(fabsf(x[t]) + 0.2f);
    __nv_bfloat16 b = __float2bfloat16(fabsf(x[t]) + 0.2f);
    ROW(0, __half2float(hexp(a)) + __half2float(hlog(a)));
    ROW(1, __half2float(hsqrt(a)) + __half2float(hrsqrt(a)) + __half2float(hrcp(a)));
    ROW(2, __half2float(hsin(a)) + __half2float(hcos(a)));
    ROW(3, __half2float(hexp2(a)) + __half2float(hlog2(a)) + __half2float(hlog10(a)));
    ROW(4, __bfloat162float(hexp(b)) + __bfloat162float(hlog(b)));
    ROW(5, __bfloat162float(hsqrt(b)) + __bfloat162float(hrsqrt(b)));
    __half2 p = h2exp(__half2half2(a));
    ROW(6, __low2float(p) + __high2float(h2sqrt(__half2half2(a))) + __low2float(h2rcp(p)));
}
void small_functions(const float* x, float* y, int n) { small_functions_kernel<<<1, n>>>(x, y, n); }
