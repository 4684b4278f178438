// The 8-bit formats E4M3, E5M2 and E8M0: a byte of storage and conversions, no arithmetic.
#pragma once
#include "simt/fp8_bits.h"
#include "simt/half.h"

#define __CUDA_FP8_TYPES_EXIST__

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;
enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE };
enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 };
enum cudaRoundMode { cudaRoundNearest, cudaRoundZero, cudaRoundPosInf, cudaRoundMinInf };

namespace simt {
inline uint8_t fp8(float x, __nv_saturation_t s, __nv_fp8_interpretation_t kind) {
  bool saturate = s == __NV_SATFINITE;
  return kind == __NV_E4M3 ? float_to_fp8<E4M3>(x, saturate) : float_to_fp8<E5M2>(x, saturate);
}
inline uint8_t e8m0(float x, __nv_saturation_t s, cudaRoundMode rounding) {
  return float_to_e8m0(x, s == __NV_SATFINITE, rounding == cudaRoundPosInf);
}
}  // namespace simt

// clang-format off
// One number and two of them. VALUE: the float that a member or the number itself stands for.
#define SIMT_FP8_ENCODE(ONE, TWO, FROM, FROM_2, HOW, CODE, VALUE)                                         \
  inline __nv_fp8_storage_t ONE(FROM x, __nv_saturation_t s, HOW how) { return CODE(VALUE(x), s, how); }  \
  inline __nv_fp8x2_storage_t TWO(FROM_2 x, __nv_saturation_t s, HOW how) {                               \
    return __nv_fp8x2_storage_t(ONE({x.x}, s, how) | ONE({x.y}, s, how) << 8);                            \
  }
#define SIMT_BY_HALF(RAW) simt::half_to_float((RAW).x)
#define SIMT_BY_BFLOAT(RAW) simt::bfloat_to_float((RAW).x)
#define SIMT_FP8_KIND(ONE, TWO, FROM, FROM_2, VALUE)                                          \
  SIMT_FP8_ENCODE(__nv_cvt_##ONE##_to_fp8, __nv_cvt_##TWO##_to_fp8x2, FROM, FROM_2,           \
                  __nv_fp8_interpretation_t, simt::fp8, VALUE)
SIMT_FP8_KIND(float, float2, float, float2, )
SIMT_FP8_KIND(double, double2, double, double2, simt::sticky_float)
SIMT_FP8_KIND(halfraw, halfraw2, __half_raw, __half2_raw, SIMT_BY_HALF)
SIMT_FP8_KIND(bfloat16raw, bfloat16raw2, __nv_bfloat16_raw, __nv_bfloat162_raw, SIMT_BY_BFLOAT)
#define SIMT_E8M0(ONE, TWO, FROM, FROM_2, VALUE)                                              \
  SIMT_FP8_ENCODE(__nv_cvt_##ONE##_to_e8m0, __nv_cvt_##TWO##_to_e8m0x2, FROM, FROM_2,         \
                  cudaRoundMode, simt::e8m0, VALUE)
SIMT_E8M0(float, float2, float, float2, )
SIMT_E8M0(double, double2, double, double2, simt::sticky_float)
SIMT_E8M0(bfloat16raw, bfloat162raw, __nv_bfloat16_raw, __nv_bfloat162_raw, SIMT_BY_BFLOAT)

inline __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t x, __nv_fp8_interpretation_t kind) {
  return {kind == __NV_E4M3 ? simt::E4M3::to_half(x) : simt::E5M2::to_half(x)};
}
inline __half2_raw __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t x, __nv_fp8_interpretation_t kind) {
  return {__nv_cvt_fp8_to_halfraw((uint8_t)x, kind).x, __nv_cvt_fp8_to_halfraw(uint8_t(x >> 8), kind).x};
}
inline __nv_bfloat16_raw __nv_cvt_e8m0_to_bf16raw(__nv_fp8_storage_t x) {
  return {simt::float_to_bfloat(simt::e8m0_to_float(x))};
}
inline __nv_bfloat162_raw __nv_cvt_e8m0x2_to_bf162raw(__nv_fp8x2_storage_t x) {
  return {__nv_cvt_e8m0_to_bf16raw((uint8_t)x).x, __nv_cvt_e8m0_to_bf16raw(uint8_t(x >> 8)).x};
}

#define SIMT_FP8_INTEGER(T, F, I)                                        \
  explicit T(I v) : __x(simt::integer_to_fp8<F>(v)) {}                   \
  explicit operator I() const { return simt::fp8_to_integer<F, I>(__x); }
#define SIMT_FP8_CHARACTER(F, I) \
  explicit operator I() const { return simt::fp8_to_integer<F, I>(__x); }

// `const`: a half takes whatever has an `operator __half`, explicit or not; by one to `const __half` only
// casts convert.
#define SIMT_FP8(T, F)                                                                                    \
  struct T {                                                                                              \
    __nv_fp8_storage_t __x;                                                                               \
    T() = default;                                                                                        \
    explicit T(__half v) : __x(F::encode(v)) {}                                                           \
    explicit T(__nv_bfloat16 v) : __x(F::encode(v)) {}                                                    \
    explicit T(float v) : __x(F::encode(v)) {}                                                            \
    explicit T(double v) : __x(F::encode(simt::sticky_float(v))) {}                                       \
    explicit operator float() const { return F::decode(__x); }                                            \
    explicit operator double() const { return F::decode(__x); }                                           \
    explicit operator const __half() const { return __ushort_as_half(F::to_half(__x)); }                  \
    explicit operator const __nv_bfloat16() const { return F::decode(__x); }                              \
    explicit operator bool() const { return !F::is_zero(__x); }                                           \
    SIMT_FP8_CHARACTER(F, char) SIMT_FP8_CHARACTER(F, signed char) SIMT_FP8_CHARACTER(F, unsigned char)   \
    SIMT_FP8_INTEGER(T, F, short) SIMT_FP8_INTEGER(T, F, unsigned short)                                  \
    SIMT_FP8_INTEGER(T, F, int) SIMT_FP8_INTEGER(T, F, unsigned)                                          \
    SIMT_FP8_INTEGER(T, F, long) SIMT_FP8_INTEGER(T, F, unsigned long)                                    \
    SIMT_FP8_INTEGER(T, F, long long) SIMT_FP8_INTEGER(T, F, unsigned long long)                          \
  };

// Programs read these as other types of their size by a pointer, so the compiler is told.
#define SIMT_FP8_2(T, F, ...)                                                                             \
  struct __attribute__((may_alias, aligned(2))) T {                                                     \
    __nv_fp8x2_storage_t __x;                                                                             \
    T() = default;                                                                                        \
    explicit T(__half2 v) : __x(simt::pair_to_fp8<F>(v.x, v.y)) {}                                        \
    explicit T(__nv_bfloat162 v) : __x(simt::pair_to_fp8<F>(v.x, v.y)) {}                                 \
    explicit T(float2 v) : __x(simt::pair_to_fp8<F>(v.x, v.y)) {}                                         \
    explicit T(double2 v)                                                                                 \
        : __x(simt::pair_to_fp8<F>(simt::sticky_float(v.x), simt::sticky_float(v.y))) {}                  \
    explicit operator float2() const { return {F::decode((uint8_t)__x), F::decode(uint8_t(__x >> 8))}; }  \
    explicit operator __half2() const {                                                                   \
      return __half2_raw{F::to_half((uint8_t)__x), F::to_half(uint8_t(__x >> 8))};                        \
    }                                                                                                     \
    __VA_ARGS__                                                                                           \
  };

#define SIMT_FP8_4(T, F)                                                                                  \
  struct __attribute__((may_alias, aligned(4))) T {                                                     \
    __nv_fp8x4_storage_t __x;                                                                             \
    T() = default;                                                                                        \
    explicit T(__half2 a, __half2 b) : __x(simt::four_to_fp8<F>(a.x, a.y, b.x, b.y)) {}                   \
    explicit T(__nv_bfloat162 a, __nv_bfloat162 b) : __x(simt::four_to_fp8<F>(a.x, a.y, b.x, b.y)) {}     \
    explicit T(float4 v) : __x(simt::four_to_fp8<F>(v.x, v.y, v.z, v.w)) {}                               \
    explicit T(double4 v)                                                                                 \
        : __x(simt::four_to_fp8<F>(simt::sticky_float(v.x), simt::sticky_float(v.y),                      \
                                   simt::sticky_float(v.z), simt::sticky_float(v.w))) {}                  \
    explicit operator float4() const {                                                                    \
      return {F::decode((uint8_t)__x), F::decode(uint8_t(__x >> 8)), F::decode(uint8_t(__x >> 16)),       \
              F::decode(uint8_t(__x >> 24))};                                                             \
    }                                                                                                     \
  };

SIMT_FP8(__nv_fp8_e4m3, simt::E4M3)
SIMT_FP8(__nv_fp8_e5m2, simt::E5M2)
SIMT_FP8(__nv_fp8_e8m0, simt::E8M0)
SIMT_FP8_2(__nv_fp8x2_e4m3, simt::E4M3)
SIMT_FP8_2(__nv_fp8x2_e5m2, simt::E5M2)
SIMT_FP8_2(__nv_fp8x2_e8m0, simt::E8M0,
           explicit operator __nv_bfloat162() const { return __nv_cvt_e8m0x2_to_bf162raw(__x); })
SIMT_FP8_4(__nv_fp8x4_e4m3, simt::E4M3)
SIMT_FP8_4(__nv_fp8x4_e5m2, simt::E5M2)
SIMT_FP8_4(__nv_fp8x4_e8m0, simt::E8M0)
// clang-format on
