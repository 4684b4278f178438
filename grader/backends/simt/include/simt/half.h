// __half and __nv_bfloat16: 16 bits of storage; every operation is done in float and rounded once.
#pragma once
#include "math.h"
#include "half_bits.h"

#define SIMT_FROM_INTEGER(T, ENCODE, I) \
  T(I v) : __x(ENCODE((float)v)) {}

// The bits alone, for functions of C. Programs read them as halves by a pointer, so the compiler is told.
struct __attribute__((may_alias)) __half_raw {
  unsigned short x;
};
struct __attribute__((may_alias)) __nv_bfloat16_raw {
  unsigned short x;
};
#define SIMT_RAW_PAIR(NAME)                              \
  struct __attribute__((may_alias, aligned(4))) NAME {   \
    unsigned short x, y;                                 \
    SIMT_WIDE(NAME, uint32_t)                            \
    SIMT_FROM_2(unsigned short, NAME)                    \
  };
SIMT_RAW_PAIR(__half2_raw)
SIMT_RAW_PAIR(__nv_bfloat162_raw)

// Operators are friends: found for these types alone, not for what converts to them, as torch's do.
// clang-format off
#define SIMT_SMALL_FLOAT(T, ENCODE, DECODE)                                             \
  struct T {                                                                            \
    unsigned short __x;                                                                 \
    T() = default;                                                                      \
    T(float f) : __x(ENCODE(f)) {}                                                      \
    template <class U, class = decltype(std::declval<const U&>().operator T())>         \
    T(const U& other) : __x(other.operator T().__x) {}                                  \
    T(double f) : __x(ENCODE(simt::sticky_float(f))) {}                                 \
    SIMT_FROM_INTEGER(T, ENCODE, short) SIMT_FROM_INTEGER(T, ENCODE, unsigned short)    \
    SIMT_FROM_INTEGER(T, ENCODE, int) SIMT_FROM_INTEGER(T, ENCODE, unsigned)            \
    SIMT_FROM_INTEGER(T, ENCODE, long) SIMT_FROM_INTEGER(T, ENCODE, unsigned long)      \
    SIMT_FROM_INTEGER(T, ENCODE, long long)                                             \
    SIMT_FROM_INTEGER(T, ENCODE, unsigned long long)                                    \
    T(T##_raw raw) : __x(raw.x) {}                                                      \
    operator float() const { return DECODE(__x); }                                      \
    operator T##_raw() const { return {__x}; }                                          \
    T& operator+=(T o) { return *this = T(float(*this) + float(o)); }                   \
    T& operator-=(T o) { return *this = T(float(*this) - float(o)); }                   \
    T& operator*=(T o) { return *this = T(float(*this) * float(o)); }                   \
    T& operator/=(T o) { return *this = T(float(*this) / float(o)); }                   \
    T& operator++() { return *this += T(1.0f); }                                        \
    T& operator--() { return *this -= T(1.0f); }                                        \
    friend T operator+(T a, T b) { return T(float(a) + float(b)); }                       \
    friend T operator-(T a, T b) { return T(float(a) - float(b)); }                       \
    friend T operator*(T a, T b) { return T(float(a) * float(b)); }                       \
    friend T operator/(T a, T b) { return T(float(a) / float(b)); }                       \
    friend T operator+(T a) { return a; }                                                 \
    friend T operator-(T a) { T r; r.__x = a.__x ^ 0x8000; return r; }                    \
    friend bool operator<(T a, T b) { return float(a) < float(b); }                       \
    friend bool operator>(T a, T b) { return float(a) > float(b); }                       \
    friend bool operator<=(T a, T b) { return float(a) <= float(b); }                     \
    friend bool operator>=(T a, T b) { return float(a) >= float(b); }                     \
    friend bool operator==(T a, T b) { return float(a) == float(b); }                     \
    friend bool operator!=(T a, T b) { return float(a) != float(b); }                     \
  };                                                                                    \
  inline T __hadd(T a, T b) { return a + b; }                                           \
  inline T __hsub(T a, T b) { return a - b; }                                           \
  inline T __hmul(T a, T b) { return a * b; }                                           \
  inline T __hdiv(T a, T b) { return a / b; }                                           \
  inline T __hadd_rn(T a, T b) { return a + b; }                                        \
  inline T __hsub_rn(T a, T b) { return a - b; }                                        \
  inline T __hmul_rn(T a, T b) { return a * b; }                                        \
  inline T __hadd_sat(T a, T b) { return T(__saturatef(float(a) + float(b))); }         \
  inline T __hsub_sat(T a, T b) { return T(__saturatef(float(a) - float(b))); }         \
  inline T __hmul_sat(T a, T b) { return T(__saturatef(float(a) * float(b))); }         \
  inline T __hfma(T a, T b, T c) { return T(double(a) * double(b) + double(c)); }       \
  inline T __hfma_sat(T a, T b, T c) { return T(__saturatef(float(__hfma(a, b, c)))); } \
  inline T __hfma_relu(T a, T b, T c) { T r = __hfma(a, b, c); return float(r) > 0 ? r : T(0.0f); } \
  inline T __hneg(T a) { return -a; }                                                   \
  inline T __habs(T a) { T r; r.__x = a.__x & 0x7fff; return r; }                       \
  inline bool __hisnan(T a) { return float(a) != float(a); }                            \
  inline int __hisinf(T a) { float f = a; return f - f == 0 || f != f ? 0 : f > 0 ? 1 : -1; } \
  inline T __hmax(T a, T b) { return T(::fmaxf(a, b)); }                                \
  inline T __hmin(T a, T b) { return T(::fminf(a, b)); }                                \
  inline T __hmax_nan(T a, T b) { return __hisnan(a) ? a : __hisnan(b) ? b : __hmax(a, b); } \
  inline T __hmin_nan(T a, T b) { return __hisnan(a) ? a : __hisnan(b) ? b : __hmin(a, b); } \
  inline bool __hgt(T a, T b) { return a > b; }                                         \
  inline bool __hge(T a, T b) { return a >= b; }                                        \
  inline bool __hlt(T a, T b) { return a < b; }                                         \
  inline bool __hle(T a, T b) { return a <= b; }                                        \
  inline bool __heq(T a, T b) { return a == b; }                                        \
  inline bool __hne(T a, T b) { return a != b && !__hisnan(a) && !__hisnan(b); }        \
  SIMT_SMALL_F1(T, hexp, ::exp) SIMT_SMALL_F1(T, hexp2, ::exp2) SIMT_SMALL_F1(T, hexp10, simt::exp10) \
  SIMT_SMALL_F1(T, hlog, ::log) SIMT_SMALL_F1(T, hlog2, ::log2) SIMT_SMALL_F1(T, hlog10, ::log10)     \
  SIMT_SMALL_F1(T, hsqrt, ::sqrt) SIMT_SMALL_F1(T, hrsqrt, 1.0 / ::sqrt) SIMT_SMALL_F1(T, hrcp, 1.0 / ) \
  SIMT_SMALL_F1(T, hsin, ::sin) SIMT_SMALL_F1(T, hcos, ::cos) SIMT_SMALL_F1(T, htanh, ::tanh)         \
  SIMT_SMALL_F1(T, htanh_approx, ::tanh)                                                \
  SIMT_SMALL_F1(T, hfloor, ::floor) SIMT_SMALL_F1(T, hceil, ::ceil)                     \
  SIMT_SMALL_F1(T, hrint, ::rint) SIMT_SMALL_F1(T, htrunc, ::trunc)

#define SIMT_SMALL_F1(T, NAME, FUNCTION) \
  inline T NAME(T a) { return T(FUNCTION((double)float(a))); }

#define SIMT_SMALL_PAIR(T, PREFIX)                                                      \
  struct alignas(4) T##2 {                                                              \
    T x, y;                                                                             \
    T##2() = default;                                                                   \
    T##2(T a, T b) : x(a), y(b) {}                                                      \
    T##2(T##2_raw raw) { x.__x = raw.x; y.__x = raw.y; }                                \
    T##2(const T##2 & o) = default;                                                     \
    operator T##2_raw() const { return {x.__x, y.__x}; }                                \
    typedef uint32_t wide __attribute__((may_alias));                                   \
    T##2 & operator=(const T##2 & o) {                                                  \
      *(wide*)this = *(const wide*)&o;                                                  \
      return *this;                                                                     \
    }                                                                                   \
  };                                                                                    \
  SIMT_PAIR_2(T, __hadd2, __hadd) SIMT_PAIR_2(T, __hsub2, __hsub)                       \
  SIMT_PAIR_2(T, __hmul2, __hmul) SIMT_PAIR_2(T, __h2div, __hdiv)                       \
  SIMT_PAIR_2(T, __hadd2_rn, __hadd) SIMT_PAIR_2(T, __hmul2_rn, __hmul)                 \
  SIMT_PAIR_2(T, __hadd2_sat, __hadd_sat) SIMT_PAIR_2(T, __hmul2_sat, __hmul_sat)       \
  SIMT_PAIR_2(T, __hmax2, __hmax) SIMT_PAIR_2(T, __hmin2, __hmin)                       \
  SIMT_PAIR_2(T, __hgt2, __hgt) SIMT_PAIR_2(T, __hge2, __hge) SIMT_PAIR_2(T, __hlt2, __hlt) \
  SIMT_PAIR_2(T, __hle2, __hle) SIMT_PAIR_2(T, __heq2, __heq) SIMT_PAIR_2(T, __hne2, __hne) \
  SIMT_PAIR_ALL(T, gt) SIMT_PAIR_ALL(T, ge) SIMT_PAIR_ALL(T, lt)                        \
  SIMT_PAIR_ALL(T, le) SIMT_PAIR_ALL(T, eq) SIMT_PAIR_ALL(T, ne)                        \
  SIMT_PAIR_1(T, __hneg2, __hneg) SIMT_PAIR_1(T, __habs2, __habs)                       \
  SIMT_PAIR_1(T, h2exp, hexp) SIMT_PAIR_1(T, h2exp2, hexp2) SIMT_PAIR_1(T, h2log, hlog) \
  SIMT_PAIR_1(T, h2log2, hlog2) SIMT_PAIR_1(T, h2sqrt, hsqrt) SIMT_PAIR_1(T, h2rsqrt, hrsqrt) \
  SIMT_PAIR_1(T, h2rcp, hrcp) SIMT_PAIR_1(T, h2sin, hsin) SIMT_PAIR_1(T, h2cos, hcos)   \
  SIMT_PAIR_1(T, h2floor, hfloor) SIMT_PAIR_1(T, h2ceil, hceil)                         \
  SIMT_PAIR_1(T, h2rint, hrint) SIMT_PAIR_1(T, h2trunc, htrunc)                         \
  SIMT_PAIR_1(T, h2tanh, htanh) SIMT_PAIR_1(T, h2tanh_approx, htanh_approx)             \
  SIMT_PAIR_1(T, h2log10, hlog10) SIMT_PAIR_1(T, h2exp10, hexp10)                       \
  inline T##2 __hfma2(T##2 a, T##2 b, T##2 c) { return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)}; } \
  inline T##2 __hfma2_relu(T##2 a, T##2 b, T##2 c) { return {__hfma_relu(a.x, b.x, c.x), __hfma_relu(a.y, b.y, c.y)}; } \
  inline T##2 operator+(T##2 a, T##2 b) { return __hadd2(a, b); }                       \
  inline T##2 operator-(T##2 a, T##2 b) { return __hsub2(a, b); }                       \
  inline T##2 operator*(T##2 a, T##2 b) { return __hmul2(a, b); }                       \
  inline T##2 operator/(T##2 a, T##2 b) { return __h2div(a, b); }                       \
  inline T##2 operator-(T##2 a) { return __hneg2(a); }                                  \
  inline T##2& operator+=(T##2& a, T##2 b) { return a = a + b; }                        \
  inline T##2& operator-=(T##2& a, T##2 b) { return a = a - b; }                        \
  inline T##2& operator*=(T##2& a, T##2 b) { return a = a * b; }                        \
  inline bool operator==(T##2 a, T##2 b) { return a.x == b.x && a.y == b.y; }           \
  inline float __low2float(T##2 a) { return a.x; }                                      \
  inline float __high2float(T##2 a) { return a.y; }                                     \
  inline T __low2##PREFIX(T##2 a) { return a.x; }                                       \
  inline T __high2##PREFIX(T##2 a) { return a.y; }                                      \
  inline T##2 __lowhigh2highlow(T##2 a) { return {a.y, a.x}; }                          \
  inline T##2 __low2##PREFIX##2(T##2 a) { return {a.x, a.x}; }                          \
  inline T##2 __high2##PREFIX##2(T##2 a) { return {a.y, a.y}; }                         \
  inline T##2 __lows2##PREFIX##2(T##2 a, T##2 b) { return {a.x, b.x}; }                 \
  inline T##2 __highs2##PREFIX##2(T##2 a, T##2 b) { return {a.y, b.y}; }                \
  inline T##2 __halves2##PREFIX##2(T a, T b) { return {a, b}; }                         \
  inline T##2 __##PREFIX##2##PREFIX##2(T a) { return {a, a}; }                          \
  inline T##2 __float2##PREFIX##2_rn(float a) { return {T(a), T(a)}; }                  \
  inline T##2 __floats2##PREFIX##2_rn(float a, float b) { return {T(a), T(b)}; }        \
  inline T##2 __float22##PREFIX##2_rn(float2 a) { return {T(a.x), T(a.y)}; }            \
  inline float2 __##PREFIX##22float2(T##2 a) { return {(float)a.x, (float)a.y}; }

#define SIMT_PAIR_1(T, NAME, ONE) \
  inline T##2 NAME(T##2 a) { return {T(ONE(a.x)), T(ONE(a.y))}; }
#define SIMT_PAIR_2(T, NAME, ONE) \
  inline T##2 NAME(T##2 a, T##2 b) { return {T((float)ONE(a.x, b.x)), T((float)ONE(a.y, b.y))}; }
#define SIMT_PAIR_ALL(T, NAME) \
  inline bool __hb##NAME##2(T##2 a, T##2 b) { return __h##NAME(a.x, b.x) && __h##NAME(a.y, b.y); }

#define SIMT_SMALL_CONVERSIONS(T, PREFIX, ENCODE)                                               \
  inline T __float2##PREFIX(float f) { return T(f); }                                           \
  inline T __float2##PREFIX##_rn(float f) { return T(f); }                                      \
  inline T __float2##PREFIX##_rz(float f) { T r; r.__x = ENCODE(f, simt::TO_ZERO); return r; }  \
  inline T __float2##PREFIX##_ru(float f) { T r; r.__x = ENCODE(f, simt::UP); return r; }       \
  inline T __float2##PREFIX##_rd(float f) { T r; r.__x = ENCODE(f, simt::DOWN); return r; }     \
  inline T __double2##PREFIX(double f) { return T(f); }                                         \
  inline float __##PREFIX##2float(T h) { return h; }                                            \
  inline T __int2##PREFIX##_rn(int i) { return T((double)i); }                                  \
  inline T __uint2##PREFIX##_rn(unsigned i) { return T((double)i); }                            \
  inline T __short2##PREFIX##_rn(short i) { return T((double)i); }                              \
  inline T __ushort2##PREFIX##_rn(unsigned short i) { return T((double)i); }                    \
  inline T __ll2##PREFIX##_rn(long long i) { return T((double)i); }                             \
  inline int __##PREFIX##2int_rn(T h) { return (int)::nearbyintf(h); }                          \
  inline int __##PREFIX##2int_rz(T h) { return (int)(float)h; }                                 \
  inline int __##PREFIX##2int_rd(T h) { return (int)::floorf(h); }                              \
  inline int __##PREFIX##2int_ru(T h) { return (int)::ceilf(h); }                               \
  inline unsigned __##PREFIX##2uint_rn(T h) { return (unsigned)::nearbyintf(h); }               \
  inline unsigned __##PREFIX##2uint_rz(T h) { return (unsigned)(float)h; }                      \
  inline T __ushort_as_##PREFIX(unsigned short x) { T h; h.__x = x; return h; }                 \
  inline T __short_as_##PREFIX(short x) { T h; h.__x = (unsigned short)x; return h; }           \
  inline unsigned short __##PREFIX##_as_ushort(T h) { return h.__x; }                           \
  inline short __##PREFIX##_as_short(T h) { return (short)h.__x; }

SIMT_SMALL_FLOAT(__half, simt::float_to_half, simt::half_to_float)
SIMT_SMALL_PAIR(__half, half)
SIMT_SMALL_CONVERSIONS(__half, half, simt::float_to_half)
typedef __half half;
typedef __half2 half2;
typedef __half __nv_half;
typedef __half2 __nv_half2;
typedef __half nv_half;
typedef __half2 nv_half2;
inline __half2 make_half2(__half a, __half b) { return {a, b}; }

SIMT_SMALL_FLOAT(__nv_bfloat16, simt::float_to_bfloat, simt::bfloat_to_float)
SIMT_SMALL_PAIR(__nv_bfloat16, bfloat16)
SIMT_SMALL_CONVERSIONS(__nv_bfloat16, bfloat16, simt::float_to_bfloat)
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;
inline __nv_bfloat162 make_bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return {a, b}; }
// clang-format on
