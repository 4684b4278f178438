// Complex numbers in C's way, as pairs: make_cuFloatComplex, cuCmulf and their relatives.
#pragma once
#include "cuda_runtime.h"

// NUMBER of double is called as written, that of float with an f behind it.
#define SIMT_COMPLEX(COMPLEX, REAL, PAIR, F)                                                        \
  typedef PAIR COMPLEX;                                                                             \
  inline REAL cuCreal##F(COMPLEX a) { return a.x; }                                                 \
  inline REAL cuCimag##F(COMPLEX a) { return a.y; }                                                 \
  inline COMPLEX make_##COMPLEX(REAL re, REAL im) { return make_##PAIR(re, im); }                   \
  inline COMPLEX cuConj##F(COMPLEX a) { return make_##PAIR(a.x, -a.y); }                            \
  inline COMPLEX cuCadd##F(COMPLEX a, COMPLEX b) { return make_##PAIR(a.x + b.x, a.y + b.y); }      \
  inline COMPLEX cuCsub##F(COMPLEX a, COMPLEX b) { return make_##PAIR(a.x - b.x, a.y - b.y); }      \
  inline COMPLEX cuCmul##F(COMPLEX a, COMPLEX b) {                                                  \
    return make_##PAIR(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);                               \
  }                                                                                                 \
  /* Scaled, so that the squares of large numbers do not overflow. */                               \
  inline COMPLEX cuCdiv##F(COMPLEX a, COMPLEX b) {                                                  \
    REAL scale = REAL(1) / (fabs(b.x) + fabs(b.y));                                                 \
    REAL ar = a.x * scale, ai = a.y * scale, br = b.x * scale, bi = b.y * scale;                    \
    REAL inverse = REAL(1) / (br * br + bi * bi);                                                   \
    return make_##PAIR((ar * br + ai * bi) * inverse, (ai * br - ar * bi) * inverse);               \
  }                                                                                                 \
  inline REAL cuCabs##F(COMPLEX a) { return hypot(a.x, a.y); }                                      \
  inline COMPLEX cuCfma##F(COMPLEX a, COMPLEX b, COMPLEX c) { return cuCadd##F(cuCmul##F(a, b), c); }
SIMT_COMPLEX(cuFloatComplex, float, float2, f)
SIMT_COMPLEX(cuDoubleComplex, double, double2, )
#undef SIMT_COMPLEX

typedef cuFloatComplex cuComplex;
inline cuComplex make_cuComplex(float re, float im) { return make_cuFloatComplex(re, im); }
inline cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex a) { return make_cuDoubleComplex(a.x, a.y); }
inline cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex a) { return make_cuFloatComplex(float(a.x), float(a.y)); }
