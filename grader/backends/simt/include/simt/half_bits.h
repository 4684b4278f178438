// Conversions between float and the 16-bit formats, in the four directions of rounding of the hardware.
#pragma once
#include "launch.h"

namespace simt {

enum Rounding { NEAREST, TO_ZERO, UP, DOWN };

// The nearest float whose last bit remembers that something was cut off ("round to odd"): rounding it once
// more, to fewer bits, then gives what rounding the double directly would.
inline float sticky_float(double value) {
  float f = (float)value;
  if ((double)f == value || f != f || f - f != 0) return f;
  uint32_t bits = (uint32_t)to_bits(f);
  if (__builtin_fabs((double)f) > __builtin_fabs(value)) --bits;
  return from_bits<float>(bits | 1);
}

inline float toward_zero(double value) {
  float f = (float)value;
  bool away = __builtin_fabs((double)f) > __builtin_fabs(value) && f - f == 0;
  return away ? from_bits<float>((uint32_t)to_bits(f) - 1) : f;
}

// Whether the magnitude grows by a unit when `rest` of 2 * `half` units is cut off.
inline bool rounds_away(uint32_t sign, uint32_t rounded, uint32_t rest, uint32_t half, Rounding r) {
  switch (r) {
    case NEAREST: return rest > half || (rest == half && (rounded & 1));
    case TO_ZERO: return false;
    case UP: return rest && !sign;
    default: return rest && sign;
  }
}

inline uint16_t float_to_half(float value, Rounding r = NEAREST) {
  uint32_t x = (uint32_t)to_bits(value), sign = x >> 16 & 0x8000;
  x &= 0x7fffffff;
  if (x > 0x7f800000) return 0x7fff;
  if (x == 0x7f800000) return uint16_t(sign | 0x7c00);
  if (x >= 0x47800000) {  // beyond the largest half's binade
    bool infinite = r == NEAREST || (r == UP && !sign) || (r == DOWN && sign);
    return uint16_t(sign | (infinite ? 0x7c00 : 0x7bff));
  }
  uint32_t rounded = 0, rest = x, half = ~0u;
  if (x >= 0x38800000) {
    rounded = (x - 0x38000000) >> 13;
    rest = x & 0x1fff;
    half = 0x1000;
  } else if (x >= 0x33000000) {  // subnormal as half
    int shift = 126 - int(x >> 23);
    uint32_t mantissa = (x & 0x7fffff) | 0x800000;
    rounded = mantissa >> shift;
    rest = mantissa & ((1u << shift) - 1);
    half = 1u << (shift - 1);
  }
  return uint16_t(sign | (rounded + rounds_away(sign, rounded, rest, half, r)));
}

SIMT_UNCOUNTED inline float half_to_float(uint16_t h) {
  uint32_t sign = (h & 0x8000u) << 16, exponent = h >> 10 & 31, mantissa = h & 0x3ff;
  if (exponent == 31) return from_bits<float>(sign | 0x7f800000 | mantissa << 13);
  if (exponent) return from_bits<float>(sign | (exponent + 112) << 23 | mantissa << 13);
  float value = (float)mantissa * 5.9604644775390625e-8f;
  return sign ? -value : value;
}

inline uint16_t float_to_bfloat(float value, Rounding r = NEAREST) {
  uint32_t x = (uint32_t)to_bits(value), sign = x >> 31;
  if ((x & 0x7fffffff) > 0x7f800000) return 0x7fff;
  return uint16_t((x >> 16) + rounds_away(sign, x >> 16, x & 0xffff, 0x8000, r));
}

inline float bfloat_to_float(uint16_t h) { return from_bits<float>((uint32_t)h << 16); }

}  // namespace simt
