// Intrinsics and mathematics. Every host function: x has n floats, y is written.
#include <cuda_runtime.h>
#include <math_constants.h>
#include <cassert>
#include <cmath>
#include <cstdio>
#define ROW(K, E) y[(K) * n + t] = float(E)

__global__ void bits_kernel(const float* x, float* y, int n) {
    int t = threadIdx.x, v = int(x[t] * 100000);
    unsigned u = unsigned(v);
    long long w = (long long)v << 20;
    ROW(0, __popc(u) + __popcll(w));
    ROW(1, __clz(v) + __clzll(w));
    ROW(2, __ffs(v) + __ffsll(w));
    ROW(3, __brev(u) >> 8);
    ROW(4, __brevll((unsigned long long)u) >> 40);
    ROW(5, __byte_perm(u, 0x12345678, 0x5410) & 0xffffff);
    ROW(6, __funnelshift_l(u, 0xabcdef, 5) & 0xffffff);
    ROW(7, __funnelshift_r(u, 0xabcdef, 9) & 0xffffff);
    ROW(8, __mul24(v, 3) + __umul24(5, 6));
    ROW(9, __mulhi(v, 1 << 20) + __umulhi(u, 77));
    ROW(10, __mul64hi(w, 1ll << 40) + __umul64hi(5ull << 60, 16));
    ROW(11, __sad(v, 100, 5u) % 1000);
    ROW(12, __hadd(v, 7) + __rhadd(v, 8));
    ROW(13, __dp4a(v, 0x01020304, 10));
    ROW(14, __float_as_int(x[t]) >> 9);
    ROW(15, __int_as_float(__float_as_int(x[t]) ^ 1));
    ROW(16, __uint_as_float(__float_as_uint(x[t])));
    ROW(17, __longlong_as_double(__double_as_longlong(x[t])));
    ROW(18, __double2hiint(1.0 + x[t]) >> 8);
    ROW(19, __hiloint2double(__double2hiint(3.5), __double2loint(3.5)));
}
void bits(const float* x, float* y, int n) { bits_kernel<<<1, n>>>(x, y, n); }

__global__ void conversions_kernel(const float* x, float* y, int n) {
    int t = threadIdx.x;
    float v = x[t] * 10;
    ROW(0, __float2int_rn(v) + 1000 * __float2int_rd(v));
    ROW(1, __float2int_ru(v) + 1000 * __float2int_rz(v));
    ROW(2, __float2uint_rn(fabsf(v)) + __float2uint_rz(fabsf(v)));
    ROW(3, __int2float_rn(t) + __uint2float_rn(7u) + __ll2float_rn(5ll) + __ull2float_rn(9ull));
    ROW(4, __double2float_rn(0.1 * v) + __double2int_rn(v) + __double2int_rz(v));
    ROW(5, __float2ll_rn(v) + (long long)__float2ull_rz(3.9f));
    ROW(6, (int)v + (unsigned char)(int)fabsf(v) + (long)(v * 2));
    ROW(7, lrintf(v) + lroundf(v) + llrintf(v) + __double2ll_rz(v));
    ROW(8, rintf(v) + roundf(v) + truncf(v) + floorf(v) + ceilf(v) + nearbyintf(v));
}
void conversions(const float* x, float* y, int n) { conversions_kernel<<<1, n>>>(x, y, n); }

__global__ void functions_kernel(const float* x, float* y, int n) {
    int t = threadIdx.x, e;
    float v = x[t], a = fabsf(v) + 0.1f, s, c;
    ROW(0, expf(v) + exp2f(v) + exp10f(v * 0.1f) + expm1f(v));
    ROW(1, logf(a) + log2f(a) + log10f(a) + log1pf(a));
    ROW(2, sinf(v) + cosf(v) + tanf(v * 0.3f));
    ROW(3, asinf(v / 10) + acosf(v / 10) + atanf(v) + atan2f(v, a));
    ROW(4, sinhf(v) + coshf(v) + tanhf(v) + asinhf(v) + acoshf(a + 1) + atanhf(v / 10));
    ROW(5, sqrtf(a) + rsqrtf(a) + cbrtf(v) + rcbrtf(a) + hypotf(v, a) + rhypotf(v, a));
    ROW(6, powf(a, 1.5f) + fmodf(v, 0.7f) + remainderf(v, 0.7f) + fdimf(v, 0.5f));
    ROW(7, erff(v) + erfcf(v) + erfinvf(v / 10) + normcdff(v) + erfcxf(a));
    ROW(8, tgammaf(a) + lgammaf(a) + j0f(a) + j1f(a) + y0f(a));
    ROW(9, fmaxf(v, 0.2f) + fminf(v, -0.2f) + fmaf(v, a, 1.0f) + copysignf(a, v) + nextafterf(a, 2.0f));
    sincosf(v, &s, &c);
    ROW(10, s + 2 * c + sinpif(v) + cospif(v));
    sincospif(v, &s, &c);
    ROW(11, s + c + ldexpf(v, 3) + scalbnf(v, 2) + frexpf(a, &e) + e + ilogbf(a) + logbf(a));
    ROW(12, isnan(v) + 2 * isinf(CUDART_INF_F) + 4 * isfinite(v) + 8 * signbit(v) + isnan(CUDART_NAN_F));
    ROW(13, max(v, a) + min(v, a) + max(t, 3) + min(7u, 3u) + max(2.0, 3.0) + min((long long)t, 5ll) + abs(-3));
    ROW(14, norm3df(v, a, 1) + rnorm3df(v, a, 1) + norm4df(v, a, 1, 2));
    ROW(15, exp(v) + log(a) + sqrt(a) + pow(a, 2) + sin(v) + floor(v) + fabs(v) + std::exp(v) + std::sqrt(a));
    ROW(16, exp((double)v) + sin((double)v) + pow((double)a, 0.3) + erf((double)v) + rsqrt((double)a) + fmod((double)v, 0.3));
    ROW(17, umin(3u, 4u) + llmax(3ll, 4ll) + fmax(1.0, 2.0) + fma(2.0, 3.0, 1.0) + CUDART_PI_F + normcdfinvf(0.3f));
}
void functions(const float* x, float* y, int n) { functions_kernel<<<1, n>>>(x, y, n); }

// Rounded as asked for: bit for bit what a GPU gives.
__global__ void rounded_kernel(const float* x, float* y, int n) {
    int t = threadIdx.x;
    float v = x[t], a = fabsf(v) + 0.1f;
    ROW(0, __fadd_rn(v, a));
    ROW(1, __fmul_rn(v, 1.1f));
    ROW(2, __fsub_rn(v, 0.3f));
    ROW(3, __fdiv_rn(v, 3.0f));
    ROW(4, __fmaf_rn(v, a, 0.1f));
    ROW(5, __fsqrt_rn(a));
    ROW(6, __frcp_rn(a));
    ROW(7, __fadd_rd(v, 1e-5f));
    ROW(8, __fadd_ru(v, 1e-5f));
    ROW(9, __fadd_rz(v, 1e-5f));
    ROW(10, __fmul_ru(v, 1.1f));
    ROW(11, __fmul_rz(v, 1.1f));
    ROW(12, __fdiv_rz(v, 3.0f));
    ROW(13, __fmaf_rz(v, a, 0.1f));
    ROW(14, __saturatef(v));
    ROW(15, __dadd_rn(v, 0.1) + __dmul_rn(v, 0.1) + __fma_rn((double)v, 0.1, 0.2) + __dsqrt_rn(a) + __ddiv_rn(v, 3.0));
}
void rounded(const float* x, float* y, int n) { rounded_kernel<<<1, n>>>(x, y, n); }

// The fast ones: documented errors, not exact values.
__global__ void fast_kernel(const float* x, float* y, int n) {
    int t = threadIdx.x;
    float v = x[t], a = fabsf(v) + 0.1f, s, c;
    ROW(0, __expf(v));
    ROW(1, __logf(a));
    ROW(2, __sinf(v));
    ROW(3, __cosf(v));
    ROW(4, __tanf(v * 0.3f));
    ROW(5, __powf(a, 1.7f));
    ROW(6, __fdividef(v, a));
    ROW(7, __log2f(a));
    ROW(8, __log10f(a));
    ROW(9, __exp10f(v));
    __sincosf(v, &s, &c);
    ROW(10, s + 2 * c);
    ROW(11, __frsqrt_rn(a));
    ROW(12, rsqrtf(a));
    ROW(13, fdividef(v, a));
    ROW(14, __fdividef(v, 2.5e38f));
}
void fast_math(const float* x, float* y, int n) { fast_kernel<<<1, n>>>(x, y, n); }

__global__ void clocks_kernel(const float* x, float* y) {
    long long begin = clock64();
    clock_t small = clock();
    float v = x[threadIdx.x];
    for (int k = 0; k < 100; ++k) v = v * 0.5f + 1;
    __nanosleep(20);
    y[threadIdx.x] = (clock64() >= begin) + (v > 0) + (small == small);
}
void clocks(const float* x, float* y, int n) { clocks_kernel<<<1, n>>>(x, y); }

__global__ void prints_kernel(const float* x, float* y, int n) {
    int t = threadIdx.x;
    assert(t < n);
    if (t == 3) printf("thread %d of block %u says %.1f %s\n", t, blockIdx.x, 2.5, "hello");
    y[t] = x[t];
}
void prints_and_asserts(const float* x, float* y, int n) { prints_kernel<<<1, n>>>(x, y, n); cudaDeviceSynchronize(); }

// Local arrays, loops that end differently, early returns, switch, integer arithmetic that wraps.
__global__ void control_kernel(const float* x, float* y, int n) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= n) return;
    float local[8];
    for (int k = 0; k < 8; ++k) local[k] = x[(t + k) % n];
    for (int i = 1; i < 8; ++i)
        for (int j = i; j > 0 && local[j - 1] > local[j]; --j) { float s = local[j]; local[j] = local[j - 1]; local[j - 1] = s; }
    float v = local[t % 8];
    switch (t % 4) {
        case 0: v += 1; break;
        case 1: v *= 2;
        case 2: v -= 3; break;
        default: while (v < 4) v += 1.5f;
    }
    unsigned h = 2166136261u;
    for (int k = 0; k < 5; ++k) h = (h ^ unsigned(t + k)) * 16777619u;
    y[t] = v + float(h >> 16);
}
void control_flow(const float* x, float* y, int n) { control_kernel<<<(n + 31) / 32, 32>>>(x, y, n); }
