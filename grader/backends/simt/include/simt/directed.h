// Conversions, and arithmetic of doubles, rounded in a named direction: the processor itself is asked to round so.
#pragma once
#include "launch.h"

#include <cfenv>
#include <cmath>

namespace simt {
// The compiler may neither compute with it before the direction is set nor know what it holds.
#define SIMT_OPAQUE(X) __asm__ volatile("" : "+m"(X))
}  // namespace simt

#define SIMT_IN_DIRECTION(SUFFIX, MODE, OUT, NAME, PARAMETERS, OPAQUE, EXPRESSION) \
  SIMT_UNCOUNTED inline OUT NAME##SUFFIX PARAMETERS {                              \
    simt_round_towards(MODE);                                                      \
    OPAQUE;                                                                        \
    OUT result = EXPRESSION;                                                       \
    SIMT_OPAQUE(result);                                                           \
    simt_round_towards(FE_TONEAREST);                                              \
    return result;                                                                 \
  }
#define SIMT_DIRECTIONS(OUT, NAME, PARAMETERS, OPAQUE, EXPRESSION)                     \
  SIMT_IN_DIRECTION(_rd, FE_DOWNWARD, OUT, NAME, PARAMETERS, OPAQUE, EXPRESSION)       \
  SIMT_IN_DIRECTION(_ru, FE_UPWARD, OUT, NAME, PARAMETERS, OPAQUE, EXPRESSION)         \
  SIMT_IN_DIRECTION(_rz, FE_TOWARDZERO, OUT, NAME, PARAMETERS, OPAQUE, EXPRESSION)
#define SIMT_DIRECTED_CAST(NAME, TO, FROM) SIMT_DIRECTIONS(TO, NAME, (FROM x), SIMT_OPAQUE(x), (TO)x)
SIMT_DIRECTED_CAST(__int2float, float, int)
SIMT_DIRECTED_CAST(__uint2float, float, unsigned)
SIMT_DIRECTED_CAST(__ll2float, float, long long)
SIMT_DIRECTED_CAST(__ull2float, float, unsigned long long)
SIMT_DIRECTED_CAST(__ll2double, double, long long)
SIMT_DIRECTED_CAST(__ull2double, double, unsigned long long)
SIMT_DIRECTED_CAST(__double2float, float, double)
SIMT_INLINE double __ull2double_rn(unsigned long long x) { return (double)x; }
#define SIMT_DIRECTED_DOUBLE_2(NAME, EXPRESSION) \
  SIMT_DIRECTIONS(double, NAME, (double a, double b), SIMT_OPAQUE(a); SIMT_OPAQUE(b), EXPRESSION)
SIMT_DIRECTED_DOUBLE_2(__dadd, a + b)
SIMT_DIRECTED_DOUBLE_2(__dsub, a - b)
SIMT_DIRECTED_DOUBLE_2(__dmul, a* b)
SIMT_DIRECTED_DOUBLE_2(__ddiv, a / b)
SIMT_DIRECTIONS(double, __drcp, (double a), SIMT_OPAQUE(a), 1.0 / a)
SIMT_DIRECTIONS(double, __dsqrt, (double a), SIMT_OPAQUE(a), ::sqrt(a))
SIMT_DIRECTIONS(double, __fma, (double a, double b, double c), SIMT_OPAQUE(a); SIMT_OPAQUE(b); SIMT_OPAQUE(c),
                ::fma(a, b, c))
#undef SIMT_DIRECTED_DOUBLE_2
#undef SIMT_DIRECTED_CAST
#undef SIMT_DIRECTIONS
#undef SIMT_IN_DIRECTION
#undef SIMT_OPAQUE
SIMT_INLINE float __fmaf_ieee_rn(float a, float b, float c) { return __fmaf_rn(a, b, c); }
SIMT_INLINE float __fmaf_ieee_rz(float a, float b, float c) { return __fmaf_rz(a, b, c); }
SIMT_INLINE float __fmaf_ieee_ru(float a, float b, float c) { return __fmaf_ru(a, b, c); }
SIMT_INLINE float __fmaf_ieee_rd(float a, float b, float c) { return __fmaf_rd(a, b, c); }
