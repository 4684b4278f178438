// Integer intrinsics, casts of bits, conversions between numbers, clocks.
#pragma once
#include "launch.h"

#include <climits>
#include <limits>
#include <math.h>  // not cmath: isnan and its relatives are global in CUDA
#include <ctime>

SIMT_INLINE int __popc(unsigned x) { return __builtin_popcount(x); }
SIMT_INLINE int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
SIMT_INLINE int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
SIMT_INLINE int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
SIMT_INLINE int __ffs(int x) { return __builtin_ffs(x); }
SIMT_INLINE int __ffsll(long long x) { return __builtin_ffsll(x); }
SIMT_INLINE unsigned long long __brevll(unsigned long long x) {
  unsigned long long reversed = 0;
  for (int i = 0; i < 64; ++i) reversed |= (x >> i & 1) << (63 - i);
  return reversed;
}
SIMT_INLINE unsigned __brev(unsigned x) { return (unsigned)(__brevll(x) >> 32); }
SIMT_INLINE unsigned __byte_perm(unsigned low, unsigned high, unsigned selector) {
  unsigned long long bytes = (unsigned long long)high << 32 | low;
  unsigned picked = 0;
  for (int i = 0; i < 4; ++i) {
    unsigned s = selector >> 4 * i & 15, byte = unsigned(bytes >> 8 * (s & 7)) & 255;
    picked |= (s & 8 ? (byte & 128 ? 255u : 0u) : byte) << 8 * i;
  }
  return picked;
}
SIMT_INLINE unsigned __funnelshift_l(unsigned low, unsigned high, unsigned by) {
  return unsigned(((unsigned long long)high << 32 | low) << (by & 31) >> 32);
}
SIMT_INLINE unsigned __funnelshift_r(unsigned low, unsigned high, unsigned by) {
  return unsigned(((unsigned long long)high << 32 | low) >> (by & 31));
}
SIMT_INLINE int __mul24(int a, int b) { return (int)(((long long)(a << 8) >> 8) * ((b << 8) >> 8)); }
SIMT_INLINE unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffff) * (b & 0xffffff); }
SIMT_INLINE int __mulhi(int a, int b) { return (int)((long long)a * b >> 32); }
SIMT_INLINE unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((unsigned long long)a * b >> 32); }
SIMT_INLINE long long __mul64hi(long long a, long long b) { return (long long)((__int128)a * b >> 64); }
SIMT_INLINE unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return (unsigned long long)((unsigned __int128)a * b >> 64);
}
SIMT_INLINE unsigned __sad(int a, int b, unsigned c) {
  return c + (a > b ? (unsigned)a - (unsigned)b : (unsigned)b - (unsigned)a);
}
SIMT_INLINE unsigned __usad(unsigned a, unsigned b, unsigned c) { return c + (a > b ? a - b : b - a); }
SIMT_INLINE int __hadd(int a, int b) { return (int)(((long long)a + b) >> 1); }
SIMT_INLINE int __rhadd(int a, int b) { return (int)(((long long)a + b + 1) >> 1); }
SIMT_INLINE unsigned __uhadd(unsigned a, unsigned b) { return unsigned(((unsigned long long)a + b) >> 1); }
SIMT_INLINE int __dp4a(int a, int b, int c) {
  for (int i = 0; i < 4; ++i) c += (signed char)(a >> 8 * i) * (signed char)(b >> 8 * i);
  return c;
}
SIMT_INLINE unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
  for (int i = 0; i < 4; ++i) c += (a >> 8 * i & 255) * (b >> 8 * i & 255);
  return c;
}

// ---- the same bits as another type
#define SIMT_CAST(NAME, TO, FROM) \
  SIMT_INLINE TO NAME(FROM x) { return simt::from_bits<TO>(simt::to_bits(x)); }
SIMT_CAST(__float_as_int, int, float)
SIMT_CAST(__int_as_float, float, int)
SIMT_CAST(__float_as_uint, unsigned, float)
SIMT_CAST(__uint_as_float, float, unsigned)
SIMT_CAST(__double_as_longlong, long long, double)
SIMT_CAST(__longlong_as_double, double, long long)
SIMT_INLINE int __double2hiint(double x) { return int(__double_as_longlong(x) >> 32); }
SIMT_INLINE int __double2loint(double x) { return int(__double_as_longlong(x)); }
SIMT_INLINE double __hiloint2double(int high, int low) {
  return __longlong_as_double((long long)high << 32 | (unsigned)low);
}

// ---- conversions. A value that the type cannot hold is clamped, as the hardware does it; NaN becomes 0.
namespace simt {
template <class I>
inline I clamped(double x) {
  constexpr double LEAST = (double)std::numeric_limits<I>::min(),
                   MOST = (double)std::numeric_limits<I>::max();
  if (x != x) return 0;
  if (x <= LEAST) return std::numeric_limits<I>::min();
  if (x >= MOST) return std::numeric_limits<I>::max();
  return (I)x;
}
}  // namespace simt
#define SIMT_TO_INTEGER(FROM, TO, I)                                                            \
  SIMT_INLINE I __##FROM##2##TO##_rn(FROM x) { return simt::clamped<I>(::nearbyint((double)x)); } \
  SIMT_INLINE I __##FROM##2##TO##_rd(FROM x) { return simt::clamped<I>(::floor((double)x)); }     \
  SIMT_INLINE I __##FROM##2##TO##_ru(FROM x) { return simt::clamped<I>(::ceil((double)x)); }      \
  SIMT_INLINE I __##FROM##2##TO##_rz(FROM x) { return simt::clamped<I>(::trunc((double)x)); }
SIMT_TO_INTEGER(float, int, int)
SIMT_TO_INTEGER(float, uint, unsigned)
SIMT_TO_INTEGER(float, ll, long long)
SIMT_TO_INTEGER(float, ull, unsigned long long)
SIMT_TO_INTEGER(double, int, int)
SIMT_TO_INTEGER(double, uint, unsigned)
SIMT_TO_INTEGER(double, ll, long long)
SIMT_TO_INTEGER(double, ull, unsigned long long)
SIMT_INLINE float __int2float_rn(int x) { return (float)x; }
SIMT_INLINE float __uint2float_rn(unsigned x) { return (float)x; }
SIMT_INLINE float __ll2float_rn(long long x) { return (float)x; }
SIMT_INLINE float __ull2float_rn(unsigned long long x) { return (float)x; }
SIMT_INLINE double __int2double_rn(int x) { return x; }
SIMT_INLINE double __uint2double_rn(unsigned x) { return x; }
SIMT_INLINE double __ll2double_rn(long long x) { return (double)x; }
SIMT_INLINE float __double2float_rn(double x) { return (float)x; }

// ---- clocks: they move forward, and mean nothing else here
SIMT_INLINE long long clock64() {
#if defined(__x86_64__)
  return (long long)__builtin_ia32_rdtsc();
#else
  long long ticks;
  asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#endif
}
