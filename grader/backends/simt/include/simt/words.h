// Two 16-bit or four 8-bit numbers in a word, and integers of which several are compared at once. A GPU may need
// several instructions for one of these; they are not counted.
#pragma once
#include "launch.h"

// `EXPRESSION` of the lanes a and b, as wide as LANE; `least` and `most` are what a lane can hold.
#define SIMT_WORD(NAME, LANE, PARAMETERS, OTHER, EXPRESSION)                           \
  SIMT_UNCOUNTED inline unsigned NAME PARAMETERS {                                     \
    constexpr int WIDTH = 8 * sizeof(LANE);                                            \
    [[maybe_unused]] constexpr int least = std::numeric_limits<LANE>::min();           \
    [[maybe_unused]] constexpr int most = std::numeric_limits<LANE>::max();            \
    unsigned all = 0;                                                                  \
    for (int at = 0; at < 32; at += WIDTH) {                                           \
      [[maybe_unused]] const int a = (LANE)(x >> at), b = (LANE)(OTHER >> at);         \
      all |= ((unsigned)(EXPRESSION) & ((1u << WIDTH) - 1)) << at;                     \
    }                                                                                  \
    return all;                                                                        \
  }
#define SIMT_WORD_1(NAME, EXPRESSION)                          \
  SIMT_WORD(NAME##2, short, (unsigned x), x, EXPRESSION)       \
  SIMT_WORD(NAME##4, signed char, (unsigned x), x, EXPRESSION)
#define SIMT_WORD_S(NAME, EXPRESSION)                                      \
  SIMT_WORD(NAME##2, short, (unsigned x, unsigned y), y, EXPRESSION)       \
  SIMT_WORD(NAME##4, signed char, (unsigned x, unsigned y), y, EXPRESSION)
#define SIMT_WORD_U(NAME, EXPRESSION)                                        \
  SIMT_WORD(NAME##2, unsigned short, (unsigned x, unsigned y), y, EXPRESSION) \
  SIMT_WORD(NAME##4, unsigned char, (unsigned x, unsigned y), y, EXPRESSION)
#define SIMT_WORD_FITS(VALUE) ((VALUE) < least ? least : (VALUE) > most ? most : (VALUE))
#define SIMT_WORD_FAR(A, B) ((A) > (B) ? (A) - (B) : (B) - (A))

SIMT_WORD_1(__vabs, a < 0 ? -a : a)
SIMT_WORD_1(__vabsss, a < 0 ? SIMT_WORD_FITS(-a) : a)
SIMT_WORD_1(__vneg, -a)
SIMT_WORD_1(__vnegss, SIMT_WORD_FITS(-a))
SIMT_WORD_U(__vadd, a + b)
SIMT_WORD_U(__vsub, a - b)
SIMT_WORD_S(__vaddss, SIMT_WORD_FITS(a + b))
SIMT_WORD_U(__vaddus, SIMT_WORD_FITS(a + b))
SIMT_WORD_S(__vsubss, SIMT_WORD_FITS(a - b))
SIMT_WORD_U(__vsubus, SIMT_WORD_FITS(a - b))
SIMT_WORD_S(__vabsdiffs, SIMT_WORD_FAR(a, b))
SIMT_WORD_U(__vabsdiffu, SIMT_WORD_FAR(a, b))
SIMT_WORD_S(__vavgs, (a + b + (a + b >= 0)) >> 1)  // a half is rounded away from zero
SIMT_WORD_U(__vavgu, (a + b + 1) >> 1)
SIMT_WORD_U(__vhaddu, (a + b) >> 1)
SIMT_WORD_S(__vmaxs, a > b ? a : b)
SIMT_WORD_U(__vmaxu, a > b ? a : b)
SIMT_WORD_S(__vmins, a < b ? a : b)
SIMT_WORD_U(__vminu, a < b ? a : b)
// All bits of a lane where it holds, and a 1.
#define SIMT_WORD_COMPARE(SIGN, SUFFIX, OPERATOR)                  \
  SIMT_WORD_##SIGN(__vcmp##SUFFIX, a OPERATOR b ? -1 : 0)          \
  SIMT_WORD_##SIGN(__vset##SUFFIX, a OPERATOR b ? 1 : 0)
SIMT_WORD_COMPARE(U, eq, ==)
SIMT_WORD_COMPARE(U, ne, !=)
SIMT_WORD_COMPARE(S, ges, >=)
SIMT_WORD_COMPARE(U, geu, >=)
SIMT_WORD_COMPARE(S, gts, >)
SIMT_WORD_COMPARE(U, gtu, >)
SIMT_WORD_COMPARE(S, les, <=)
SIMT_WORD_COMPARE(U, leu, <=)
SIMT_WORD_COMPARE(S, lts, <)
SIMT_WORD_COMPARE(U, ltu, <)
// The sum of the lanes' distances.
#define SIMT_WORD_SUM(NAME, LANE)                                      \
  SIMT_UNCOUNTED inline unsigned NAME(unsigned x, unsigned y) {        \
    unsigned sum = 0;                                                  \
    for (unsigned at = 0; at < 32; at += 8 * sizeof(LANE)) {           \
      const int a = (LANE)(x >> at), b = (LANE)(y >> at);              \
      sum += unsigned(SIMT_WORD_FAR(a, b));                            \
    }                                                                  \
    return sum;                                                        \
  }
SIMT_WORD_SUM(__vsads2, short)
SIMT_WORD_SUM(__vsads4, signed char)
SIMT_WORD_SUM(__vsadu2, unsigned short)
SIMT_WORD_SUM(__vsadu4, unsigned char)

// ---- the larger and the smaller one of two or three, of a sum and a third; relu: and of 0
#define SIMT_PICK(A, OPERATOR, B) ((A)OPERATOR(B) ? (A) : (B))
#define SIMT_RELU(A) ((A) > 0 ? (A) : 0)
#define SIMT_THREE(NAME, T, LANE, SUFFIX, OPERATOR)                                                              \
  SIMT_UNCOUNTED inline T __vi##NAME##3_##SUFFIX##32(T a, T b, T c) {                                            \
    T one = SIMT_PICK(a, OPERATOR, b);                                                                           \
    return SIMT_PICK(one, OPERATOR, c);                                                                          \
  }                                                                                                              \
  SIMT_UNCOUNTED inline T __viadd##NAME##_##SUFFIX##32(T a, T b, T c) {                                          \
    T one = T((unsigned)a + (unsigned)b);                                                                        \
    return SIMT_PICK(one, OPERATOR, c);                                                                          \
  }                                                                                                              \
  SIMT_WORD(__vi##NAME##2_##SUFFIX##16x2_of, LANE, (unsigned x, unsigned y), y, SIMT_PICK(a, OPERATOR, b))       \
  SIMT_UNCOUNTED inline unsigned __vi##NAME##3_##SUFFIX##16x2(unsigned a, unsigned b, unsigned c) {              \
    return __vi##NAME##2_##SUFFIX##16x2_of(__vi##NAME##2_##SUFFIX##16x2_of(a, b), c);                            \
  }                                                                                                              \
  SIMT_UNCOUNTED inline unsigned __viadd##NAME##_##SUFFIX##16x2(unsigned a, unsigned b, unsigned c) {            \
    return __vi##NAME##2_##SUFFIX##16x2_of(__vadd2(a, b), c);                                                    \
  }                                                                                                              \
  SIMT_INLINE T __vib##NAME##_##SUFFIX##32(T a, T b, bool* first) { /* what it writes is the caller's access */  \
    *first = a OPERATOR b;                                                                                       \
    return SIMT_PICK(a, OPERATOR, b);                                                                            \
  }                                                                                                              \
  SIMT_INLINE unsigned __vib##NAME##_##SUFFIX##16x2(unsigned a, unsigned b, bool* high, bool* low) {             \
    *high = (LANE)(a >> 16) OPERATOR(LANE)(b >> 16);                                                             \
    *low = (LANE)a OPERATOR(LANE) b;                                                                             \
    return __vi##NAME##2_##SUFFIX##16x2_of(a, b);                                                                \
  }
SIMT_THREE(max, int, short, s, >=)
SIMT_THREE(max, unsigned, unsigned short, u, >=)
SIMT_THREE(min, int, short, s, <=)
SIMT_THREE(min, unsigned, unsigned short, u, <=)
#define SIMT_THREE_RELU(NAME, OPERATOR)                                                                              \
  SIMT_UNCOUNTED inline int __vi##NAME##_s32_relu(int a, int b) { return SIMT_RELU(SIMT_PICK(a, OPERATOR, b)); }     \
  SIMT_UNCOUNTED inline int __vi##NAME##3_s32_relu(int a, int b, int c) {                                            \
    return SIMT_RELU(__vi##NAME##3_s32(a, b, c));                                                                    \
  }                                                                                                                  \
  SIMT_UNCOUNTED inline int __viadd##NAME##_s32_relu(int a, int b, int c) {                                          \
    return SIMT_RELU(__viadd##NAME##_s32(a, b, c));                                                                  \
  }                                                                                                                  \
  SIMT_UNCOUNTED inline unsigned __vi##NAME##_s16x2_relu(unsigned a, unsigned b) {                                   \
    return __vmaxs2(__vi##NAME##2_s16x2_of(a, b), 0);                                                                \
  }                                                                                                                  \
  SIMT_UNCOUNTED inline unsigned __vi##NAME##3_s16x2_relu(unsigned a, unsigned b, unsigned c) {                      \
    return __vmaxs2(__vi##NAME##3_s16x2(a, b, c), 0);                                                                \
  }                                                                                                                  \
  SIMT_UNCOUNTED inline unsigned __viadd##NAME##_s16x2_relu(unsigned a, unsigned b, unsigned c) {                    \
    return __vmaxs2(__viadd##NAME##_s16x2(a, b, c), 0);                                                              \
  }
SIMT_THREE_RELU(max, >)
SIMT_THREE_RELU(min, <)
#undef SIMT_WORD
#undef SIMT_WORD_1
#undef SIMT_WORD_S
#undef SIMT_WORD_U
#undef SIMT_WORD_FITS
#undef SIMT_WORD_FAR
#undef SIMT_WORD_COMPARE
#undef SIMT_WORD_SUM
#undef SIMT_PICK
#undef SIMT_RELU
#undef SIMT_THREE
#undef SIMT_THREE_RELU

// ---- sums of products: two of 16 by 8 bits, of the lower or the upper half of b
#define SIMT_DP2A(NAME, T, WIDE, NARROW, FIRST, WIDE_2, NARROW_4, X, Y)                                   \
  SIMT_UNCOUNTED inline T NAME(T a, T b, T c) {                                                           \
    for (int i = 0; i < 2; ++i)                                                                           \
      c = T((unsigned)c + unsigned(int((WIDE)(a >> 16 * i)) * int((NARROW)(b >> 8 * (i + FIRST)))));      \
    return c;                                                                                             \
  }                                                                                                       \
  SIMT_UNCOUNTED inline T NAME(WIDE_2 a, NARROW_4 b, T c) {                                               \
    return T((unsigned)c + unsigned(int(a.x) * int(b.X)) + unsigned(int(a.y) * int(b.Y)));                \
  }
SIMT_DP2A(__dp2a_lo, int, short, signed char, 0, short2, char4, x, y)
SIMT_DP2A(__dp2a_hi, int, short, signed char, 2, short2, char4, z, w)
SIMT_DP2A(__dp2a_lo, unsigned, unsigned short, unsigned char, 0, ushort2, uchar4, x, y)
SIMT_DP2A(__dp2a_hi, unsigned, unsigned short, unsigned char, 2, ushort2, uchar4, z, w)
#undef SIMT_DP2A
SIMT_UNCOUNTED inline int __dp4a(char4 a, char4 b, int c) {
  return c + a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}
SIMT_UNCOUNTED inline unsigned __dp4a(uchar4 a, uchar4 b, unsigned c) {
  return c + unsigned(a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w);
}

// ---- others of whole words
SIMT_INLINE unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned by) {
  return unsigned((((unsigned long long)high << 32 | low) << (by < 32 ? by : 32)) >> 32);
}
SIMT_INLINE unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned by) {
  return unsigned(((unsigned long long)high << 32 | low) >> (by < 32 ? by : 32));
}
SIMT_INLINE unsigned __urhadd(unsigned a, unsigned b) { return unsigned(((unsigned long long)a + b + 1) >> 1); }
// Where the offset-th bit of the mask lies that is 1, counted from `base` on, down if offset is negative.
SIMT_UNCOUNTED inline unsigned __fns(unsigned mask, unsigned base, int offset) {
  int step = offset < 0 ? -1 : 1, left = offset < 0 ? -offset : offset;
  if (!left) return mask >> (base & 31) & 1 ? base : ~0u;
  for (int at = int(base); at >= 0 && at < 32; at += step)
    if (mask >> at & 1 && !--left) return unsigned(at);
  return ~0u;
}
