// What a kernel can call without an include, beyond C's own mathematics: cache hints, CUDA's mathematical
// functions, min and max.
#pragma once
#include "bits.h"
#include "rounding.h"
#include "directed.h"
#include "words.h"

#include <cassert>
#include <cfloat>
#include <cstdio>
#include <cstdlib>
#include <cstring>

// assert() in a kernel is a finding, not the end of the process.
#define __assert_fail simt_assert_fail
SIMT_INLINE void __trap() { simt_assert_fail("__trap()", "", 0, ""); }
SIMT_INLINE void __brkpt() {}
SIMT_INLINE void __nanosleep(unsigned) { simt_let_others_run(); }

#define SIMT_LOAD(NAME)            \
  template <class T>               \
  SIMT_INLINE T NAME(const T* p) { \
    return *p;                     \
  }
template <class T>
SIMT_INLINE T __ldg(const T* p) {
  simt_read_only(p, sizeof(T));
  return *p;
}
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

// For float and double: double does the work, so float's results are right to the last bit or nearly.
#define SIMT_BOTH_1(NAME, EXPRESSION)                                \
  SIMT_UNCOUNTED inline double NAME(double x) { return EXPRESSION; } \
  SIMT_UNCOUNTED inline float NAME##f(float x_) {                    \
    double x = x_;                                                   \
    return (float)(EXPRESSION);                                      \
  }
#define SIMT_BOTH_2(NAME, EXPRESSION)                                          \
  SIMT_UNCOUNTED inline double NAME(double x, double y) { return EXPRESSION; } \
  SIMT_UNCOUNTED inline float NAME##f(float x_, float y_) {                    \
    double x = x_, y = y_;                                                     \
    return (float)(EXPRESSION);                                                \
  }
#define SIMT_BOTH_3(NAME, EXPRESSION)                                                    \
  SIMT_UNCOUNTED inline double NAME(double x, double y, double z) { return EXPRESSION; } \
  SIMT_UNCOUNTED inline float NAME##f(float x_, float y_, float z_) {                    \
    double x = x_, y = y_, z = z_;                                                       \
    return (float)(EXPRESSION);                                                          \
  }
#define SIMT_BOTH_4(NAME, EXPRESSION)                                                              \
  SIMT_UNCOUNTED inline double NAME(double x, double y, double z, double w) { return EXPRESSION; } \
  SIMT_UNCOUNTED inline float NAME##f(float x_, float y_, float z_, float w_) {                    \
    double x = x_, y = y_, z = z_, w = w_;                                                         \
    return (float)(EXPRESSION);                                                                    \
  }

namespace simt {
constexpr double PI = 3.14159265358979323846;
// Newton's method on erfc, from a start that is right to two digits (Winitzki, 2008).
inline double erf_inverse(double y) {
  if (!(y > -1 && y < 1)) return y == 1 ? __builtin_inf() : y == -1 ? -__builtin_inf() : __builtin_nan("");
  double l = ::log((1 - y) * (1 + y)), a = 0.147, b = 2 / (PI * a) + l / 2;
  double x = ::copysign(::sqrt(::sqrt(b * b - l / a) - b), y);
  for (int i = 0; i < 4; ++i) x -= (::erf(x) - y) / (2 / ::sqrt(PI) * ::exp(-x * x));
  return x;
}
inline double normal_quantile(double p) { return ::sqrt(2.0) * erf_inverse(2 * p - 1); }
// exp(x*x) * erfc(x); for large x by its continued fraction.
inline double scaled_erfc(double x) {
  if (x < 10) return ::exp(x * x) * ::erfc(x);
  return 1 / (::sqrt(PI) * (x + 0.5 / (x + 1 / (x + 1.5 / (x + 2 / x)))));
}
inline double sine_of_pi(double x) {
  x = ::remainder(x, 2);
  return x == ::rint(x) ? ::copysign(0.0, x) : ::sin(PI * x);
}
inline double cosine_of_pi(double x) {
  x = ::fabs(::remainder(x, 2));
  return x == 0.5 ? 0 : ::cos(PI * x);
}
// The modified functions of Bessel, by their series: all its terms are positive.
inline double bessel_i(int order, double x) {
  double quarter = x * x / 4, term = order ? x / 2 : 1, sum = term;
  for (int k = 1; k < 2000 && ::fabs(term) > 1e-18 * ::fabs(sum); ++k) sum += term *= quarter / (double(k) * (k + order));
  return sum;
}
}  // namespace simt

SIMT_BOTH_1(cyl_bessel_i0, simt::bessel_i(0, x))
SIMT_BOTH_1(cyl_bessel_i1, simt::bessel_i(1, x))
SIMT_BOTH_1(rsqrt, 1 / ::sqrt(x))
SIMT_BOTH_1(rcbrt, 1 / ::cbrt(x))
#ifndef __USE_GNU
SIMT_INLINE double exp10(double x) { return simt::exp10(x); }
SIMT_INLINE float exp10f(float x) { return (float)simt::exp10(x); }
#endif
SIMT_BOTH_1(sinpi, simt::sine_of_pi(x))
SIMT_BOTH_1(cospi, simt::cosine_of_pi(x))
SIMT_BOTH_1(erfinv, simt::erf_inverse(x))
SIMT_BOTH_1(erfcinv, simt::erf_inverse(1 - x))
SIMT_BOTH_1(erfcx, simt::scaled_erfc(x))
SIMT_BOTH_1(normcdf, 0.5 * ::erfc(-x * 0.70710678118654752440))
SIMT_BOTH_1(normcdfinv, simt::normal_quantile(x))
SIMT_BOTH_2(rhypot, 1 / ::hypot(x, y))
SIMT_BOTH_3(norm3d, ::sqrt(x* x + y * y + z * z))
SIMT_BOTH_3(rnorm3d, 1 / ::sqrt(x * x + y * y + z * z))
SIMT_BOTH_4(norm4d, ::sqrt(x* x + y * y + z * z + w * w))
SIMT_BOTH_4(rnorm4d, 1 / ::sqrt(x * x + y * y + z * z + w * w))
// Of a vector: its elements are read as the caller's own accesses.
#define SIMT_NORM(NAME, T, EXPRESSION)                           \
  SIMT_INLINE T NAME(int n, const T* p) {                        \
    double squares = 0;                                          \
    for (int i = 0; i < n; ++i) squares += (double)p[i] * p[i];  \
    return T(EXPRESSION);                                        \
  }
SIMT_NORM(norm, double, ::sqrt(squares))
SIMT_NORM(normf, float, ::sqrt(squares))
SIMT_NORM(rnorm, double, 1 / ::sqrt(squares))
SIMT_NORM(rnormf, float, 1 / ::sqrt(squares))
#undef SIMT_NORM
SIMT_INLINE double fdivide(double x, double y) { return x / y; }
SIMT_INLINE void sincospi(double x, double* s, double* c) {
  *s = sinpi(x);
  *c = cospi(x);
}
SIMT_INLINE void sincospif(float x, float* s, float* c) {
  *s = sinpif(x);
  *c = cospif(x);
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
// Of a number and NaN these give the number, as on a GPU.
#define SIMT_MIN_MAX_FLOAT(T)                                               \
  SIMT_INLINE constexpr T min(T a, T b) { return b < a || a != a ? b : a; } \
  SIMT_INLINE constexpr T max(T a, T b) { return a < b || a != a ? b : a; }
SIMT_MIN_MAX_FLOAT(float)
SIMT_MIN_MAX_FLOAT(double)
namespace simt {
template <class A, class B>
using Mixed = std::enable_if_t<std::is_arithmetic_v<A> && std::is_arithmetic_v<B> && !std::is_same_v<A, B>,
                               std::common_type_t<A, B>>;
}
template <class A, class B>
SIMT_INLINE constexpr simt::Mixed<A, B> min(A a, B b) {
  using C = simt::Mixed<A, B>;
  return min(C(a), C(b));
}
template <class A, class B>
SIMT_INLINE constexpr simt::Mixed<A, B> max(A a, B b) {
  using C = simt::Mixed<A, B>;
  return max(C(a), C(b));
}
SIMT_INLINE unsigned umin(unsigned a, unsigned b) { return min(a, b); }
SIMT_INLINE unsigned umax(unsigned a, unsigned b) { return max(a, b); }
SIMT_INLINE long long llmin(long long a, long long b) { return min(a, b); }
SIMT_INLINE long long llmax(long long a, long long b) { return max(a, b); }
SIMT_INLINE unsigned long long ullmin(unsigned long long a, unsigned long long b) { return min(a, b); }
SIMT_INLINE unsigned long long ullmax(unsigned long long a, unsigned long long b) { return max(a, b); }

#define CUDART_INF_F __builtin_inff()
#define CUDART_NAN_F __builtin_nanf("")
#define CUDART_MIN_DENORM_F 1.401298464e-45f
#define CUDART_MAX_NORMAL_F 3.402823466e38f
#define CUDART_PI_F 3.141592654f
#define CUDART_PIO2_F 1.570796327f
#define CUDART_SQRT_TWO_F 1.414213562f
#define CUDART_L2E_F 1.442695041f
#define CUDART_LN2_F 0.693147181f
#define CUDART_INF __builtin_inf()
#define CUDART_NAN __builtin_nan("")
#define CUDART_PI 3.1415926535897931
