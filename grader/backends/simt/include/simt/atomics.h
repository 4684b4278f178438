// Atomic functions, for the types that a GPU has them for. The operation itself is not instrumented; the
// checks hear of it as one atomic access.
#pragma once
#include "half.h"
#include "launch.h"

namespace simt {

template <size_t BYTES>
struct Unsigned;
template <>
struct Unsigned<1> {
  using type = uint8_t;
};
template <>
struct Unsigned<2> {
  using type = uint16_t;
};
template <>
struct Unsigned<4> {
  using type = uint32_t;
};
template <>
struct Unsigned<8> {
  using type = uint64_t;
};

template <class T, class Update>
SIMT_UNCOUNTED __attribute__((noinline)) T read_modify_write(T* p, Update update) {
  using U = typename Unsigned<sizeof(T)>::type;
  U* bits = (U*)p;
  U old = __atomic_load_n(bits, __ATOMIC_RELAXED);
  for (;;) {
    T before = from_bits<T>(old);
    U after = (U)to_bits<T>(update(before));
    if (__atomic_compare_exchange_n(bits, &old, after, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
      return before;
  }
}

// Keeps the value's type out of the deduction: atomicAdd(float*, 1) adds a float.
template <class T>
struct Same {
  using type = T;
};
template <class T>
using Exactly = typename Same<T>::type;

typedef unsigned long long ull;

// Two words of 8 bytes at once, as capability 9.0 has it. Not every processor of ours does, and no atomic function
// of other sizes can be used on such a word in between: one flag is enough for all.
template <class T>
constexpr bool is_of_16_bytes = sizeof(T) == 16 && alignof(T) >= 16 && std::is_trivially_copyable_v<T>;
inline bool g_16_bytes_are_busy = false;
template <class T>
SIMT_UNCOUNTED __attribute__((noinline)) void exchange_16_bytes(T* p, const T* expected, const T* v, T* before) {
  while (__atomic_test_and_set(&g_16_bytes_are_busy, __ATOMIC_ACQUIRE)) {
  }
  typedef ull __attribute__((may_alias)) Word;  // memcpy would be an access that the checks see
  Word *at = (Word*)p, *old = (Word*)before;
  const Word *wanted = (const Word*)expected, *next = (const Word*)v;
  old[0] = at[0], old[1] = at[1];
  if (!wanted || (old[0] == wanted[0] && old[1] == wanted[1])) at[0] = next[0], at[1] = next[1];
  __atomic_clear(&g_16_bytes_are_busy, __ATOMIC_RELEASE);
}

template <class T, class... U>
constexpr bool is_one_of = (std::is_same_v<T, U> || ...);

}  // namespace simt

// Each exists in three scopes. Blocks run one after another, so they do the same; that of a block is told.
#define SIMT_ATOMIC(NAME, EXPRESSION, ...) SIMT_ATOMIC_AS(simt_atomic, NAME, EXPRESSION, __VA_ARGS__)
#define SIMT_ATOMIC_AS(TELL, NAME, EXPRESSION, ...) SIMT_ATOMIC_OF(true, TELL, NAME, EXPRESSION, __VA_ARGS__)
#define SIMT_ATOMIC_OF(CONDITION, TELL, NAME, EXPRESSION, ...)                                        \
  template <class T>                                                                                  \
  SIMT_INLINE std::enable_if_t<CONDITION, T> NAME(T* p, simt::Exactly<T> v) {                         \
    static_assert(simt::is_one_of<T, __VA_ARGS__>, "CUDA has no " #NAME " for this type; it takes a " \
                                                   "pointer to one of: " #__VA_ARGS__);               \
    TELL((void*)p, sizeof(T));                                                                        \
    auto update = [v](T old) SIMT_UNCOUNTED_LAMBDA -> T { return EXPRESSION; };                       \
    return simt::read_modify_write(p, update);                                                        \
  }                                                                                                   \
  template <class T>                                                                                  \
  SIMT_INLINE T NAME##_block(T* p, simt::Exactly<T> v) {                                              \
    simt_in_block();                                                                                  \
    return NAME(p, v);                                                                                \
  }                                                                                                   \
  template <class T>                                                                                  \
  SIMT_INLINE T NAME##_system(T* p, simt::Exactly<T> v) {                                             \
    return NAME(p, v);                                                                                \
  }

SIMT_ATOMIC(atomicAdd, T(old + v), int, unsigned, unsigned long long, float, double, __half, __half2,
            __nv_bfloat16, __nv_bfloat162)
SIMT_ATOMIC(atomicSub, T(old - v), int, unsigned)
SIMT_ATOMIC_OF(!simt::is_of_16_bytes<T>, simt_exchange, atomicExch, ((void)old, v), int, unsigned, unsigned long long,
               float)
SIMT_ATOMIC(atomicMax, v > old ? v : old, int, unsigned, long long, unsigned long long)
SIMT_ATOMIC(atomicMin, v < old ? v : old, int, unsigned, long long, unsigned long long)
SIMT_ATOMIC(atomicAnd, T(old& v), int, unsigned, unsigned long long)
SIMT_ATOMIC(atomicOr, T(old | v), int, unsigned, unsigned long long)
SIMT_ATOMIC(atomicXor, T(old ^ v), int, unsigned, unsigned long long)
SIMT_ATOMIC(atomicInc, old >= v ? T(0) : T(old + 1), unsigned)
SIMT_ATOMIC(atomicDec, (old == 0 || old > v) ? v : T(old - 1), unsigned)

// Vectors: every component is added atomically, the vector as a whole is not.
SIMT_INLINE float2 atomicAdd(float2* p, float2 v) {
  return float2{atomicAdd(&p->x, v.x), atomicAdd(&p->y, v.y)};
}
SIMT_INLINE float4 atomicAdd(float4* p, float4 v) {
  return float4{atomicAdd(&p->x, v.x), atomicAdd(&p->y, v.y), atomicAdd(&p->z, v.z), atomicAdd(&p->w, v.w)};
}

template <class T>
SIMT_INLINE std::enable_if_t<!simt::is_of_16_bytes<T>, T> atomicCAS(T* p, simt::Exactly<T> expected,
                                                                    simt::Exactly<T> v) {
  static_assert(simt::is_one_of<T, int, unsigned, unsigned long long, unsigned short>,
                "CUDA has no atomicCAS for this type; it takes a pointer to one of: int, unsigned, "
                "unsigned long long, unsigned short (reinterpret the bits of a float as an int), or a type of 16 bytes "
                "that is aligned to 16");
  simt_atomic((void*)p, sizeof(T));
  auto update = [=](T old) SIMT_UNCOUNTED_LAMBDA -> T { return old == expected ? v : old; };
  return simt::read_modify_write(p, update);
}
template <class T>
SIMT_INLINE std::enable_if_t<simt::is_of_16_bytes<T>, T> atomicCAS(T* p, simt::Exactly<T> expected,
                                                                   simt::Exactly<T> v) {
  T before;
  simt_atomic((void*)p, sizeof(T));
  simt::exchange_16_bytes(p, &expected, &v, &before);
  return before;
}
template <class T>
SIMT_INLINE std::enable_if_t<simt::is_of_16_bytes<T>, T> atomicExch(T* p, simt::Exactly<T> v) {
  T before;
  simt_exchange((void*)p, sizeof(T));
  simt::exchange_16_bytes(p, (const T*)nullptr, &v, &before);
  return before;
}
template <class T>
SIMT_INLINE T atomicCAS_block(T* p, simt::Exactly<T> expected, simt::Exactly<T> v) {
  simt_in_block();
  return atomicCAS(p, expected, v);
}
template <class T>
SIMT_INLINE T atomicCAS_system(T* p, simt::Exactly<T> expected, simt::Exactly<T> v) {
  return atomicCAS(p, expected, v);
}
