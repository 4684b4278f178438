// Conversions between float and the 8-bit formats. Integers alone: arithmetic would count as the program's.
#pragma once
#include "half_bits.h"

#include <limits>

namespace simt {

// Rounded to the nearest, of two to the even one.
template <class F>
inline uint8_t float_to_fp8(float value, bool saturate) {
  constexpr int CUT = 23 - F::MANTISSA, LEAST = 128 - F::BIAS;  // float's exponent of the least normal number
  uint32_t x = (uint32_t)to_bits(value), sign = x >> 24 & 0x80;
  x &= 0x7fffffff;
  if (x > 0x7f800000) return 0x7f;
  uint32_t rounded = 0, rest = x, half = ~0u;
  int exponent = int(x >> 23), shift = CUT + LEAST - exponent;
  if (exponent >= LEAST) {
    rounded = (x - (LEAST - 1) * 0x800000u) >> CUT;
    rest = x & ((1u << CUT) - 1);
    half = 1u << (CUT - 1);
  } else if (shift <= 24) {  // subnormal here; what is smaller is nearer to zero
    uint32_t mantissa = (x & 0x7fffff) | 0x800000;
    rounded = mantissa >> shift;
    rest = mantissa & ((1u << shift) - 1);
    half = 1u << (shift - 1);
  }
  rounded += rounds_away(sign, rounded, rest, half, NEAREST);
  if (rounded > (uint32_t)F::LARGEST) rounded = saturate ? F::LARGEST : F::BEYOND;
  return uint8_t(sign | rounded);
}

// Exact: a half has more bits of both kinds.
template <class F>
inline uint16_t fp8_to_half(uint8_t code) {
  uint32_t sign = (code & 0x80u) << 8, x = code & 0x7f;
  if (x > (uint32_t)F::LARGEST && (F::BEYOND == 0x7f || x > (uint32_t)F::BEYOND)) return 0x7fff;
  constexpr int WIDER = 10 - F::MANTISSA;
  if (x == 0 || F::BIAS == 15) return uint16_t(sign | x << WIDER);
  if (x >> F::MANTISSA) return uint16_t(sign | ((x << WIDER) + ((15 - F::BIAS) << 10)));
  int top = 31 - __builtin_clz(x);  // the first bit of a subnormal number, which a half has as a normal one
  return uint16_t(sign | (16 - F::BIAS - F::MANTISSA + top) << 10 | (x << (10 - top) & 0x3ff));
}

// The power of two at or below the magnitude, or `up` at or above it.
inline uint8_t float_to_e8m0(float value, bool saturate, bool up) {
  uint32_t x = (uint32_t)to_bits(value) & 0x7fffffff, code = x >> 23, rest = x & 0x7fffff;
  if (x > 0x7f800000) return 0xff;
  code += up && rest > (code ? 0 : 0x400000);  // code 0 is 2^-127, half of float's least normal number
  return uint8_t(code == 0xff && saturate ? 0xfe : code);
}

inline float e8m0_to_float(uint8_t code) {
  return from_bits<float>(code == 0xff ? 0x7fff0000u : code ? (uint32_t)code << 23 : 0x400000u);
}

// Bits of the mantissa, bias of the exponent, and the codes of the largest number and of what is beyond it,
// which is NaN where there is no infinity. Constructors of the types saturate.
template <class F>
struct SignedFp8 {
  static uint8_t encode(float value) { return float_to_fp8<F>(value, true); }
  static uint16_t to_half(uint8_t code) { return fp8_to_half<F>(code); }
  static float decode(uint8_t code) { return half_to_float(to_half(code)); }
  static bool is_zero(uint8_t code) { return !(code & 0x7f); }
};
struct E4M3 : SignedFp8<E4M3> {
  static constexpr int MANTISSA = 3, BIAS = 7, LARGEST = 0x7e, BEYOND = 0x7f;
};
struct E5M2 : SignedFp8<E5M2> {
  static constexpr int MANTISSA = 2, BIAS = 15, LARGEST = 0x7b, BEYOND = 0x7c;
};
// The powers of two from 2^-127 to 2^127 and NaN: neither sign nor zero.
struct E8M0 {
  static uint8_t encode(float value) { return float_to_e8m0(value, true, true); }
  static uint16_t to_half(uint8_t code) { return float_to_half(decode(code)); }
  static float decode(uint8_t code) { return e8m0_to_float(code); }
  static bool is_zero(uint8_t) { return false; }
};

// Integers of 64 bits may lie between two doubles as well; their last bits only say that there is something.
template <class F, class I>
inline uint8_t integer_to_fp8(I value) {
  if (sizeof(I) < 8) return F::encode(sticky_float(value));
  uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
  if (size >> 53) size = (size >> 11 | ((size & 0x7ff) != 0)) << 11;
  float magnitude = sticky_float((double)size);
  return F::encode(value < 0 ? -magnitude : magnitude);
}

// Towards zero and kept in the type's range. NaN is 0, and the highest bit alone in 64 bits, as on a GPU.
template <class F, class I>
inline I fp8_to_integer(uint8_t code) {
  constexpr I LEAST = std::numeric_limits<I>::min(), MOST = std::numeric_limits<I>::max();
  float value = F::decode(code);
  if (value != value) return sizeof(I) == 8 ? I(1ull << 63) : I(0);
  return value >= (float)MOST ? MOST : value <= (float)LEAST ? LEAST : (I)value;
}

// Of several numbers the first is in the lowest byte.
template <class F>
inline uint16_t pair_to_fp8(float x, float y) {
  return uint16_t(F::encode(x) | F::encode(y) << 8);
}
template <class F>
inline uint32_t four_to_fp8(float x, float y, float z, float w) {
  return pair_to_fp8<F>(x, y) | (uint32_t)pair_to_fp8<F>(z, w) << 16;
}

}  // namespace simt
