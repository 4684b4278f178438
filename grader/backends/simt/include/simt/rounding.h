// Arithmetic rounded in a named direction, and the fast functions with about the hardware's error.
#pragma once
#include "launch.h"

#include <cmath>

namespace simt {
// `nearest` moved to the neighbour that the direction asks for. `error`: the exact value minus `nearest`, or
// anything of its sign.
inline float toward_zero(float nearest, double error) {
  return nearest != 0 && error != 0 && (nearest > 0) == (error < 0) ? ::nextafterf(nearest, 0) : nearest;
}
inline float upward(float nearest, double error) {
  return error > 0 ? ::nextafterf(nearest, __builtin_inff()) : nearest;
}
inline float downward(float nearest, double error) {
  return error < 0 ? ::nextafterf(nearest, -__builtin_inff()) : nearest;
}

// The part of a + b that a sum rounded to nearest leaves out (Knuth's two-sum).
template <class F>
inline F sum_error(F a, F b, F sum) {
  F virtual_b = sum - a;
  return (a - (sum - virtual_b)) + (b - virtual_b);
}
inline double fma_error(float a, float b, float c, float nearest) {
  double product = (double)a * b, sum = product + c;  // the product of two floats is exact
  return (sum - nearest) + sum_error(product, (double)c, sum);
}

SIMT_UNCOUNTED inline float fast_divide(float x, float y) {  // its name is known to arithmetic.py
  float size = ::fabsf(y);
  if (size > 0x1p126f && size < __builtin_inff()) return __builtin_isinf(x) ? __builtin_nanf("") : 0.0f;
  return x / y;
}
SIMT_UNCOUNTED inline float fast_log2(float x) { return ::log2f(x); }
// The special function unit works in fixed point between -pi and pi.
inline float fixed_point(double x) { return (float)(::nearbyint(x * 0x1p22) * 0x1p-22); }
inline double exp10(double x) { return ::pow(10.0, x); }
}  // namespace simt

#define SIMT_DIRECTED_1(NAME, NEAREST, ERROR)                                                               \
  SIMT_INLINE float NAME##_rn(float a) { return NEAREST; }                                                  \
  SIMT_INLINE float NAME##_rz(float a) { float r = NEAREST; return simt::toward_zero(r, ERROR); }           \
  SIMT_INLINE float NAME##_ru(float a) { float r = NEAREST; return simt::upward(r, ERROR); }                \
  SIMT_INLINE float NAME##_rd(float a) { float r = NEAREST; return simt::downward(r, ERROR); }
#define SIMT_DIRECTED_2(NAME, NEAREST, ERROR)                                                               \
  SIMT_INLINE float NAME##_rn(float a, float b) { return NEAREST; }                                         \
  SIMT_INLINE float NAME##_rz(float a, float b) { float r = NEAREST; return simt::toward_zero(r, ERROR); }  \
  SIMT_INLINE float NAME##_ru(float a, float b) { float r = NEAREST; return simt::upward(r, ERROR); }       \
  SIMT_INLINE float NAME##_rd(float a, float b) { float r = NEAREST; return simt::downward(r, ERROR); }
SIMT_DIRECTED_2(__fadd, a + b, simt::sum_error(a, b, r))
SIMT_DIRECTED_2(__fsub, a - b, simt::sum_error(a, -b, r))
SIMT_DIRECTED_2(__fmul, a* b, (double)a* b - r)
SIMT_DIRECTED_2(__fdiv, a / b, ::fma(-(double)r, (double)b, (double)a) * (b > 0 ? 1 : -1))
SIMT_DIRECTED_1(__frcp, 1.0f / a, ::fma(-(double)r, (double)a, 1.0) * (a > 0 ? 1 : -1))
SIMT_DIRECTED_1(__fsqrt, ::sqrtf(a), (double)a - (double)r * r)
SIMT_INLINE float __fmaf_rn(float a, float b, float c) { return ::fmaf(a, b, c); }
SIMT_INLINE float __fmaf_rz(float a, float b, float c) {
  float r = ::fmaf(a, b, c);
  return simt::toward_zero(r, simt::fma_error(a, b, c, r));
}
SIMT_INLINE float __fmaf_ru(float a, float b, float c) {
  float r = ::fmaf(a, b, c);
  return simt::upward(r, simt::fma_error(a, b, c, r));
}
SIMT_INLINE float __fmaf_rd(float a, float b, float c) {
  float r = ::fmaf(a, b, c);
  return simt::downward(r, simt::fma_error(a, b, c, r));
}
SIMT_INLINE double __dadd_rn(double a, double b) { return a + b; }
SIMT_INLINE double __dsub_rn(double a, double b) { return a - b; }
SIMT_INLINE double __dmul_rn(double a, double b) { return a * b; }
SIMT_INLINE double __ddiv_rn(double a, double b) { return a / b; }
SIMT_INLINE double __dsqrt_rn(double a) { return ::sqrt(a); }
SIMT_INLINE double __drcp_rn(double a) { return 1.0 / a; }
SIMT_INLINE double __fma_rn(double a, double b, double c) { return ::fma(a, b, c); }

// ---- fast: the errors of the CUDA C++ Programming Guide's table of intrinsic functions
SIMT_INLINE float __log2f(float x) { return simt::fast_log2(x); }
SIMT_INLINE float __logf(float x) { return simt::fast_log2(x) * 0.693147182f; }
SIMT_INLINE float __log10f(float x) { return simt::fast_log2(x) * 0.301029996f; }
SIMT_INLINE float __expf(float x) { return ::exp2f(x * 1.44269502f); }
SIMT_INLINE float __exp10f(float x) { return ::exp2f(x * 3.32192802f); }
SIMT_INLINE float __powf(float x, float y) { return ::exp2f(y * simt::fast_log2(x)); }
SIMT_INLINE float __sinf(float x) { return simt::fixed_point(::sin((double)x)); }
SIMT_INLINE float __cosf(float x) { return simt::fixed_point(::cos((double)x)); }
SIMT_INLINE float __tanf(float x) { return simt::fast_divide(__sinf(x), __cosf(x)); }
SIMT_INLINE float __tanhf(float x) { return (float)::tanh((double)x); }
SIMT_INLINE void __sincosf(float x, float* s, float* c) {
  *s = __sinf(x);
  *c = __cosf(x);
}
SIMT_INLINE float __fdividef(float x, float y) { return simt::fast_divide(x, y); }
SIMT_INLINE float fdividef(float x, float y) { return x / y; }
SIMT_INLINE float __frsqrt_rn(float x) { return (float)(1.0 / ::sqrt((double)x)); }
SIMT_INLINE float __saturatef(float x) { return x > 0 ? (x > 1 ? 1.0f : x) : 0.0f; }
