// dim3, float4 and their relatives. Assignment of a vector is ONE store of its full width, so that
// `p[i] = make_float4(...)` is one request, as on a GPU; loads stay whole because the build turns the
// splitting of structs off. (Clang cannot: there the copy constructor is wide as well.)
#pragma once
#include "keywords.h"

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return {x, y, z}; }
};

namespace simt {
typedef unsigned bits128 __attribute__((vector_size(16)));
typedef unsigned char byte;
typedef unsigned short word;
typedef unsigned long ulong;
typedef unsigned long long ulonglong;
}  // namespace simt

#ifdef __clang__
#define SIMT_WIDE_COPY(NAME) \
  NAME() = default;          \
  NAME(const NAME& o) { *(wide*)this = *(const wide*)&o; }
#define SIMT_FROM_2(T, NAME) \
  constexpr NAME(T a, T b) : x(a), y(b) {}
#define SIMT_FROM_4(T, NAME) \
  constexpr NAME(T a, T b, T c, T d) : x(a), y(b), z(c), w(d) {}
#else
#define SIMT_WIDE_COPY(NAME)
#define SIMT_FROM_2(T, NAME)
#define SIMT_FROM_4(T, NAME)
#endif

#define SIMT_WIDE(NAME, WIDE)                   \
  typedef WIDE wide __attribute__((may_alias)); \
  SIMT_WIDE_COPY(NAME)                          \
  NAME& operator=(const NAME& o) {              \
    *(wide*)this = *(const wide*)&o;            \
    return *this;                               \
  }

#define SIMT_VECTOR_1(T, NAME) \
  struct NAME {                \
    T x;                       \
  };                           \
  inline NAME make_##NAME(T a) { return NAME{a}; }

#define SIMT_VECTOR_2(T, NAME, WIDE)   \
  struct alignas(2 * sizeof(T)) NAME { \
    T x, y;                            \
    SIMT_WIDE(NAME, WIDE)              \
    SIMT_FROM_2(T, NAME)               \
  };                                   \
  inline NAME make_##NAME(T a, T b) { return NAME{a, b}; }

#define SIMT_VECTOR_3(T, NAME) \
  struct NAME {                \
    T x, y, z;                 \
  };                           \
  inline NAME make_##NAME(T a, T b, T c) { return NAME{a, b, c}; }

#define SIMT_VECTOR_4(T, NAME, WIDE)                             \
  struct alignas(4 * sizeof(T) < 16 ? 4 * sizeof(T) : 16) NAME { \
    T x, y, z, w;                                                \
    SIMT_WIDE(NAME, WIDE)                                        \
    SIMT_FROM_4(T, NAME)                                         \
  };                                                             \
  inline NAME make_##NAME(T a, T b, T c, T d) { return NAME{a, b, c, d}; }

// Wider than 16 bytes: a GPU moves these in two requests, the compiler does the same here.
#define SIMT_VECTOR_4_LONG(T, NAME) \
  struct alignas(16) NAME {         \
    T x, y, z, w;                   \
  };                                \
  inline NAME make_##NAME(T a, T b, T c, T d) { return NAME{a, b, c, d}; }

#define SIMT_SMALL_VECTORS(T, STEM, TWO, FOUR) \
  SIMT_VECTOR_1(T, STEM##1)                    \
  SIMT_VECTOR_2(T, STEM##2, TWO)               \
  SIMT_VECTOR_3(T, STEM##3)                    \
  SIMT_VECTOR_4(T, STEM##4, FOUR)

SIMT_SMALL_VECTORS(signed char, char, uint16_t, uint32_t)
SIMT_SMALL_VECTORS(simt::byte, uchar, uint16_t, uint32_t)
SIMT_SMALL_VECTORS(short, short, uint32_t, uint64_t)
SIMT_SMALL_VECTORS(simt::word, ushort, uint32_t, uint64_t)
SIMT_SMALL_VECTORS(int, int, uint64_t, simt::bits128)
SIMT_SMALL_VECTORS(float, float, uint64_t, simt::bits128)
SIMT_VECTOR_1(unsigned, uint1)
SIMT_VECTOR_2(unsigned, uint2, uint64_t)
SIMT_VECTOR_4(unsigned, uint4, simt::bits128)
inline uint3 make_uint3(unsigned a, unsigned b, unsigned c) { return {a, b, c}; }

#define SIMT_LONG_VECTORS(T, STEM)         \
  SIMT_VECTOR_1(T, STEM##1)                \
  SIMT_VECTOR_2(T, STEM##2, simt::bits128) \
  SIMT_VECTOR_3(T, STEM##3)                \
  SIMT_VECTOR_4_LONG(T, STEM##4)

SIMT_LONG_VECTORS(double, double)
SIMT_LONG_VECTORS(long, long)
SIMT_LONG_VECTORS(simt::ulong, ulong)
SIMT_LONG_VECTORS(long long, longlong)
SIMT_LONG_VECTORS(simt::ulonglong, ulonglong)
