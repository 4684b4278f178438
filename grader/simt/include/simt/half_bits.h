// Conversions between float and the 16-bit formats, rounding to nearest even as the hardware does.
#pragma once
#include "launch.h"

namespace simt {

inline uint16_t float_to_half(float value) {
  uint32_t x = from_bits<uint32_t>(to_bits(value)), sign = x >> 16 & 0x8000;
  x &= 0x7fffffff;
  if (x >= 0x7f800000) return uint16_t(sign | 0x7c00 | (x > 0x7f800000 ? 0x200 : 0));
  if (x >= 0x477ff000) return uint16_t(sign | 0x7c00);
  if (x < 0x33000001) return uint16_t(sign);
  uint32_t rounded, rest, half;
  if (x < 0x38800000) {  // subnormal as half
    int shift = 126 - int(x >> 23);
    uint32_t mantissa = (x & 0x7fffff) | 0x800000;
    rounded = mantissa >> shift;
    rest = mantissa & ((1u << shift) - 1);
    half = 1u << (shift - 1);
  } else {
    rounded = (x - 0x38000000) >> 13;
    rest = x & 0x1fff;
    half = 0x1000;
  }
  return uint16_t(sign | (rounded + (rest > half || (rest == half && (rounded & 1)))));
}

inline float half_to_float(uint16_t h) {
  uint32_t sign = (h & 0x8000u) << 16, exponent = h >> 10 & 31, mantissa = h & 0x3ff;
  if (exponent == 31) return from_bits<float>(sign | 0x7f800000 | mantissa << 13);
  if (exponent) return from_bits<float>(sign | (exponent + 112) << 23 | mantissa << 13);
  float value = (float)mantissa * 5.9604644775390625e-8f;
  return sign ? -value : value;
}

inline uint16_t float_to_bfloat(float value) {
  uint32_t x = from_bits<uint32_t>(to_bits(value));
  if ((x & 0x7fffffff) > 0x7f800000) return 0x7fff;
  return uint16_t((x + 0x7fff + (x >> 16 & 1)) >> 16);
}

inline float bfloat_to_float(uint16_t h) { return from_bits<float>((uint32_t)h << 16); }

}  // namespace simt
