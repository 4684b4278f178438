// __half and __nv_bfloat16: 16 bits of storage, float arithmetic rounded after every operation.
#pragma once
#include "device.h"
#include "half_bits.h"

#define SIMT_SMALL_FLOAT(T, ENCODE, DECODE)                                                              \
  struct T {                                                                                             \
    unsigned short __x;                                                                                  \
    T() = default;                                                                                       \
    T(float f) : __x(ENCODE(f)) {}                                                                       \
    T(double f) : __x(ENCODE((float)f)) {}                                                               \
    T(int f) : __x(ENCODE((float)f)) {}                                                                  \
    operator float() const { return DECODE(__x); }                                                       \
    T& operator+=(T o) { return *this = T(float(*this) + float(o)); }                                    \
    T& operator-=(T o) { return *this = T(float(*this) - float(o)); }                                    \
    T& operator*=(T o) { return *this = T(float(*this) * float(o)); }                                    \
    T& operator/=(T o) { return *this = T(float(*this) / float(o)); }                                    \
  };                                                                                                     \
  inline T operator+(T a, T b) { return T(float(a) + float(b)); }                                        \
  inline T operator-(T a, T b) { return T(float(a) - float(b)); }                                        \
  inline T operator*(T a, T b) { return T(float(a) * float(b)); }                                        \
  inline T operator/(T a, T b) { return T(float(a) / float(b)); }                                        \
  inline T operator-(T a) { return T(-float(a)); }                                                       \
  inline bool operator<(T a, T b) { return float(a) < float(b); }                                        \
  inline bool operator>(T a, T b) { return float(a) > float(b); }                                        \
  inline bool operator<=(T a, T b) { return float(a) <= float(b); }                                      \
  inline bool operator>=(T a, T b) { return float(a) >= float(b); }                                      \
  inline bool operator==(T a, T b) { return float(a) == float(b); }                                      \
  inline bool operator!=(T a, T b) { return float(a) != float(b); }                                      \
  struct alignas(4) T##2 {                                                                               \
    T x, y;                                                                                              \
    typedef uint32_t wide __attribute__((may_alias));                                                    \
    T##2 & operator=(const T##2 & o) {                                                                   \
      *(wide*)this = *(const wide*)&o;                                                                   \
      return *this;                                                                                      \
    }                                                                                                    \
  };                                                                                                     \
  inline T __hadd(T a, T b) { return a + b; }                                                            \
  inline T __hsub(T a, T b) { return a - b; }                                                            \
  inline T __hmul(T a, T b) { return a * b; }                                                            \
  inline T __hdiv(T a, T b) { return a / b; }                                                            \
  inline T __hfma(T a, T b, T c) { return T(::fmaf(a, b, c)); }                                          \
  inline T __hneg(T a) { return -a; }                                                                    \
  inline T __habs(T a) { return T(::fabsf(a)); }                                                         \
  inline T __hmax(T a, T b) { return a > b ? a : b; }                                                    \
  inline T __hmin(T a, T b) { return a < b ? a : b; }                                                    \
  inline bool __hgt(T a, T b) { return a > b; }                                                          \
  inline bool __hge(T a, T b) { return a >= b; }                                                         \
  inline bool __hlt(T a, T b) { return a < b; }                                                          \
  inline bool __hle(T a, T b) { return a <= b; }                                                         \
  inline bool __heq(T a, T b) { return a == b; }                                                         \
  inline bool __hisnan(T a) { return float(a) != float(a); }                                             \
  inline T hexp(T a) { return T(::expf(a)); }                                                            \
  inline T hlog(T a) { return T(::logf(a)); }                                                            \
  inline T hsqrt(T a) { return T(::sqrtf(a)); }                                                          \
  inline T hrsqrt(T a) { return T(1.0f / ::sqrtf(a)); }                                                  \
  inline T htanh(T a) { return T(::tanhf(a)); }                                                          \
  inline T##2 __hadd2(T##2 a, T##2 b) { return {a.x + b.x, a.y + b.y}; }                                 \
  inline T##2 __hsub2(T##2 a, T##2 b) { return {a.x - b.x, a.y - b.y}; }                                 \
  inline T##2 __hmul2(T##2 a, T##2 b) { return {a.x * b.x, a.y * b.y}; }                                 \
  inline T##2 __hfma2(T##2 a, T##2 b, T##2 c) { return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)}; } \
  inline T##2 __hmax2(T##2 a, T##2 b) { return {__hmax(a.x, b.x), __hmax(a.y, b.y)}; }                   \
  inline T##2 __hmin2(T##2 a, T##2 b) { return {__hmin(a.x, b.x), __hmin(a.y, b.y)}; }                   \
  inline float __low2float(T##2 a) { return a.x; }                                                       \
  inline float __high2float(T##2 a) { return a.y; }

SIMT_SMALL_FLOAT(__half, simt::float_to_half, simt::half_to_float)
SIMT_SMALL_FLOAT(__nv_bfloat16, simt::float_to_bfloat, simt::bfloat_to_float)
typedef __half half;
typedef __half2 half2;
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

inline __half __float2half(float f) { return __half(f); }
inline __half __float2half_rn(float f) { return __half(f); }
inline float __half2float(__half h) { return h; }
inline __half2 __float2half2_rn(float f) { return {__half(f), __half(f)}; }
inline __half2 __floats2half2_rn(float a, float b) { return {__half(a), __half(b)}; }
inline __half2 __halves2half2(__half a, __half b) { return {a, b}; }
inline __half2 __half2half2(__half a) { return {a, a}; }
inline __half2 make_half2(__half a, __half b) { return {a, b}; }
inline float2 __half22float2(__half2 a) { return {a.x, a.y}; }
inline __half2 __float22half2_rn(float2 a) { return {__half(a.x), __half(a.y)}; }
inline __half __low2half(__half2 a) { return a.x; }
inline __half __high2half(__half2 a) { return a.y; }
inline __half __int2half_rn(int i) { return __half(i); }
inline __half __ushort_as_half(unsigned short x) {
  __half h;
  h.__x = x;
  return h;
}
inline unsigned short __half_as_ushort(__half h) { return h.__x; }
inline __nv_bfloat16 __float2bfloat16(float f) { return __nv_bfloat16(f); }
inline __nv_bfloat16 __float2bfloat16_rn(float f) { return __nv_bfloat16(f); }
inline float __bfloat162float(__nv_bfloat16 h) { return h; }
inline float2 __bfloat1622float2(__nv_bfloat162 a) { return {a.x, a.y}; }
inline __nv_bfloat162 __floats2bfloat162_rn(float a, float b) { return {__nv_bfloat16(a), __nv_bfloat16(b)}; }
inline __nv_bfloat162 __float2bfloat162_rn(float a) { return {__nv_bfloat16(a), __nv_bfloat16(a)}; }
inline __nv_bfloat16 __low2bfloat16(__nv_bfloat162 a) { return a.x; }
inline __nv_bfloat16 __high2bfloat16(__nv_bfloat162 a) { return a.y; }
