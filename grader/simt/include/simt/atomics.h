// Atomic functions. The operation itself is not instrumented; the checks hear of it as one atomic access.
#pragma once
#include "launch.h"

namespace simt {

template <size_t BYTES>
struct Unsigned;
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
SIMT_UNCHECKED __attribute__((noinline)) T read_modify_write(T* p, Update update) {
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

}  // namespace simt

// Each exists in three scopes; blocks run one after another, so the scopes do the same.
#define SIMT_ATOMIC(NAME, EXPRESSION)                                          \
  template <class T>                                                           \
  SIMT_INLINE T NAME(T* p, simt::Exactly<T> v) {                               \
    simt_atomic((void*)p, sizeof(T));                                          \
    return simt::read_modify_write(p, [v](T old) -> T { return EXPRESSION; }); \
  }                                                                            \
  template <class T>                                                           \
  SIMT_INLINE T NAME##_block(T* p, simt::Exactly<T> v) {                       \
    return NAME(p, v);                                                         \
  }                                                                            \
  template <class T>                                                           \
  SIMT_INLINE T NAME##_system(T* p, simt::Exactly<T> v) {                      \
    return NAME(p, v);                                                         \
  }

SIMT_ATOMIC(atomicAdd, T(old + v))
SIMT_ATOMIC(atomicSub, T(old - v))
SIMT_ATOMIC(atomicExch, ((void)old, v))
SIMT_ATOMIC(atomicMax, v > old ? v : old)
SIMT_ATOMIC(atomicMin, v < old ? v : old)
SIMT_ATOMIC(atomicAnd, T(old& v))
SIMT_ATOMIC(atomicOr, T(old | v))
SIMT_ATOMIC(atomicXor, T(old ^ v))
SIMT_ATOMIC(atomicInc, old >= v ? T(0) : T(old + 1))
SIMT_ATOMIC(atomicDec, (old == 0 || old > v) ? v : T(old - 1))

template <class T>
SIMT_INLINE T atomicCAS(T* p, simt::Exactly<T> expected, simt::Exactly<T> v) {
  simt_atomic((void*)p, sizeof(T));
  return simt::read_modify_write(
      p, [=](T old) -> T { return simt::to_bits(old) == simt::to_bits(expected) ? v : old; });
}
template <class T>
SIMT_INLINE T atomicCAS_block(T* p, simt::Exactly<T> expected, simt::Exactly<T> v) {
  return atomicCAS(p, expected, v);
}
template <class T>
SIMT_INLINE T atomicCAS_system(T* p, simt::Exactly<T> expected, simt::Exactly<T> v) {
  return atomicCAS(p, expected, v);
}
template <class T>
SIMT_INLINE void gpuAtomicAdd(T* p, simt::Exactly<T> v) {
  atomicAdd(p, v);
}
template <class T>
SIMT_INLINE void gpuAtomicAddNoReturn(T* p, simt::Exactly<T> v) {
  atomicAdd(p, v);
}
