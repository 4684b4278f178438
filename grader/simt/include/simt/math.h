// Intrinsics: cache hints, fast mathematics, bits.
#pragma once
#include "launch.h"

#include <cassert>
#include <cfloat>
#include <climits>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

// assert() in a kernel is a finding, not the end of the process.
#define __assert_fail simt_assert_fail
SIMT_INLINE void __trap() { simt_assert_fail("__trap()", "", 0, ""); }
SIMT_INLINE void __brkpt() {}
SIMT_INLINE void __nanosleep(unsigned) {}

#define SIMT_LOAD(NAME)            \
  template <class T>               \
  SIMT_INLINE T NAME(const T* p) { \
    return *p;                     \
  }
SIMT_LOAD(__ldg)
SIMT_LOAD(__ldcs)
SIMT_LOAD(__ldca)
SIMT_LOAD(__ldcg)
SIMT_LOAD(__ldlu)
SIMT_LOAD(__ldcv)
#define SIMT_STORE(NAME)                                              \
  template <class T>                                                  \
  SIMT_INLINE void NAME(T* p, typename std::common_type<T>::type v) { \
    *p = v;                                                           \
  }
SIMT_STORE(__stcs)
SIMT_STORE(__stcg)
SIMT_STORE(__stwt)
SIMT_STORE(__stwb)

#define SIMT_F1(NAME, EXPRESSION) \
  SIMT_INLINE float NAME(float x) { return EXPRESSION; }
#define SIMT_F2(NAME, EXPRESSION) \
  SIMT_INLINE float NAME(float x, float y) { return EXPRESSION; }
SIMT_F1(__expf, ::expf(x))
SIMT_F1(__exp10f, ::powf(10.0f, x))
SIMT_F1(exp10f, ::powf(10.0f, x))
SIMT_F1(__logf, ::logf(x))
SIMT_F1(__log2f, ::log2f(x))
SIMT_F1(__log10f, ::log10f(x))
SIMT_F1(__sinf, ::sinf(x))
SIMT_F1(__cosf, ::cosf(x))
SIMT_F1(__tanf, ::tanf(x))
SIMT_F1(__tanhf, ::tanhf(x))
SIMT_F1(__saturatef, x > 0 ? (x > 1 ? 1.0f : x) : 0.0f)
SIMT_F1(rsqrtf, 1.0f / ::sqrtf(x))
SIMT_F1(__frsqrt_rn, 1.0f / ::sqrtf(x))
SIMT_F1(__frcp_rn, 1.0f / x)
SIMT_F1(__fsqrt_rn, ::sqrtf(x))
SIMT_F1(rcbrtf, 1.0f / ::cbrtf(x))
SIMT_F1(normcdff, 0.5f * ::erfcf(-x * 0.707106781186547524f))
SIMT_F1(sinpif, ::sinf(3.14159265358979324f * x))
SIMT_F1(cospif, ::cosf(3.14159265358979324f * x))
SIMT_F2(__fdividef, x / y)
SIMT_F2(fdividef, x / y)
SIMT_F2(__fadd_rn, x + y)
SIMT_F2(__fsub_rn, x - y)
SIMT_F2(__fmul_rn, x* y)
SIMT_F2(__fdiv_rn, x / y)
SIMT_F2(__powf, ::powf(x, y))
SIMT_INLINE float __fmaf_rn(float a, float b, float c) { return ::fmaf(a, b, c); }
SIMT_INLINE double rsqrt(double x) { return 1.0 / ::sqrt(x); }
SIMT_INLINE void __sincosf(float x, float* s, float* c) {
  *s = ::sinf(x);
  *c = ::cosf(x);
}

// Plain functions for equal types, so that `using namespace std` stays unambiguous; a template for mixed
// ones.
#define SIMT_MIN_MAX(T)                                           \
  SIMT_INLINE constexpr T min(T a, T b) { return b < a ? b : a; } \
  SIMT_INLINE constexpr T max(T a, T b) { return a < b ? b : a; }
SIMT_MIN_MAX(int)
SIMT_MIN_MAX(unsigned)
SIMT_MIN_MAX(long)
SIMT_MIN_MAX(unsigned long)
SIMT_MIN_MAX(long long)
SIMT_MIN_MAX(unsigned long long)
SIMT_MIN_MAX(float)
SIMT_MIN_MAX(double)
namespace simt {
template <class A, class B>
using Mixed = std::enable_if_t<std::is_arithmetic_v<A> && std::is_arithmetic_v<B> && !std::is_same_v<A, B>,
                               std::common_type_t<A, B>>;
}
template <class A, class B>
SIMT_INLINE constexpr simt::Mixed<A, B> min(A a, B b) {
  using C = simt::Mixed<A, B>;
  return C(b) < C(a) ? C(b) : C(a);
}
template <class A, class B>
SIMT_INLINE constexpr simt::Mixed<A, B> max(A a, B b) {
  using C = simt::Mixed<A, B>;
  return C(a) < C(b) ? C(b) : C(a);
}

SIMT_INLINE int __popc(unsigned x) { return __builtin_popcount(x); }
SIMT_INLINE int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
SIMT_INLINE int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
SIMT_INLINE int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
SIMT_INLINE int __ffs(int x) { return __builtin_ffs(x); }
SIMT_INLINE int __ffsll(long long x) { return __builtin_ffsll(x); }
SIMT_INLINE unsigned __brev(unsigned x) {
  unsigned reversed = 0;
  for (int i = 0; i < 32; ++i) reversed |= (x >> i & 1) << (31 - i);
  return reversed;
}
SIMT_INLINE int __float_as_int(float x) { return simt::from_bits<int>(simt::to_bits(x)); }
SIMT_INLINE float __int_as_float(int x) { return simt::from_bits<float>(simt::to_bits(x)); }
SIMT_INLINE unsigned __float_as_uint(float x) { return simt::from_bits<unsigned>(simt::to_bits(x)); }
SIMT_INLINE float __uint_as_float(unsigned x) { return simt::from_bits<float>(simt::to_bits(x)); }
SIMT_INLINE long long __double_as_longlong(double x) { return simt::from_bits<long long>(simt::to_bits(x)); }
SIMT_INLINE double __longlong_as_double(long long x) { return simt::from_bits<double>(simt::to_bits(x)); }
SIMT_INLINE int __float2int_rn(float x) { return (int)::nearbyintf(x); }
SIMT_INLINE int __float2int_rd(float x) { return (int)::floorf(x); }
SIMT_INLINE int __float2int_ru(float x) { return (int)::ceilf(x); }
SIMT_INLINE int __float2int_rz(float x) { return (int)x; }
SIMT_INLINE unsigned __float2uint_rn(float x) { return (unsigned)::nearbyintf(x); }
SIMT_INLINE float __int2float_rn(int x) { return (float)x; }
SIMT_INLINE float __uint2float_rn(unsigned x) { return (float)x; }
SIMT_INLINE int __mul24(int a, int b) { return a * b; }
SIMT_INLINE int __mulhi(int a, int b) { return (int)((long long)a * b >> 32); }
SIMT_INLINE unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((unsigned long long)a * b >> 32); }

SIMT_INLINE long long clock64() {
#if defined(__x86_64__)
  return (long long)__builtin_ia32_rdtsc();
#else
  long long ticks;
  asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#endif
}

#define CUDART_INF_F __builtin_inff()
#define CUDART_NAN_F __builtin_nanf("")
#define CUDART_PI_F 3.141592654f
#define CUDART_INF __builtin_inf()
#define CUDART_NAN __builtin_nan("")
#define CUDART_PI 3.1415926535897931
