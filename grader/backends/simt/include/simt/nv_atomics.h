// CUDA 12.8's atomic functions with an order and a scope. An order that is not relaxed is a fence as well, as on a
// GPU; blocks run one after another, so the scopes do the same, and one of a block is told.
#pragma once
#include "atomics.h"
#include "sync.h"

#define __NV_ATOMIC_RELAXED 0
#define __NV_ATOMIC_CONSUME 1
#define __NV_ATOMIC_ACQUIRE 2
#define __NV_ATOMIC_RELEASE 3
#define __NV_ATOMIC_ACQ_REL 4
#define __NV_ATOMIC_SEQ_CST 5
#define __NV_THREAD_SCOPE_THREAD 0
#define __NV_THREAD_SCOPE_BLOCK 1
#define __NV_THREAD_SCOPE_CLUSTER 2
#define __NV_THREAD_SCOPE_DEVICE 3
#define __NV_THREAD_SCOPE_SYSTEM 4

namespace simt {
SIMT_INLINE void ordered(int order, int scope) {
  bool narrow = scope <= __NV_THREAD_SCOPE_BLOCK;
  if (order != __NV_ATOMIC_RELAXED && simt_in_kernel()) simt_fence(narrow ? 0 : 2);
  if (narrow) simt_in_block();
}
template <class T>
constexpr bool has_atomics = std::is_trivially_copyable_v<T> && (sizeof(T) == 4 || sizeof(T) == 8);
}  // namespace simt

SIMT_INLINE void __nv_atomic_thread_fence(int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  if (order != __NV_ATOMIC_RELAXED && simt_in_kernel()) simt_fence(scope <= __NV_THREAD_SCOPE_BLOCK ? 0 : 2);
}
template <class T>
SIMT_INLINE void __nv_atomic_load(const T* p, T* result, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  static_assert(simt::has_atomics<T>, "CUDA's atomic functions take types of 4, 8 or 16 bytes, and here of 4 or 8");
  if (scope <= __NV_THREAD_SCOPE_BLOCK) simt_in_block();
  __atomic_load(p, result, __ATOMIC_SEQ_CST);
  __nv_atomic_thread_fence(order, scope);
}
template <class T>
SIMT_INLINE T __nv_atomic_load_n(const T* p, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  T value;
  __nv_atomic_load(p, &value, order, scope);
  return value;
}
template <class T>
SIMT_INLINE void __nv_atomic_store_n(T* p, simt::Exactly<T> value, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  static_assert(simt::has_atomics<T>, "CUDA's atomic functions take types of 4, 8 or 16 bytes, and here of 4 or 8");
  simt::ordered(order, scope);
  __atomic_store(p, &value, __ATOMIC_SEQ_CST);
}
template <class T>
SIMT_INLINE void __nv_atomic_store(T* p, T* value, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  __nv_atomic_store_n(p, *value, order, scope);
}
template <class T>
SIMT_INLINE void __nv_atomic_exchange(T* p, T* value, T* old, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  static_assert(simt::has_atomics<T>, "CUDA's atomic functions take types of 4, 8 or 16 bytes, and here of 4 or 8");
  simt::ordered(order, scope);
  __atomic_exchange(p, value, old, __ATOMIC_SEQ_CST);
}
template <class T>
SIMT_INLINE T __nv_atomic_exchange_n(T* p, simt::Exactly<T> value, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  T old;
  __nv_atomic_exchange(p, &value, &old, order, scope);
  return old;
}
template <class T>
SIMT_INLINE bool __nv_atomic_compare_exchange(T* p, T* expected, T* desired, bool, int success, int failure,
                                              int scope = __NV_THREAD_SCOPE_SYSTEM) {
  static_assert(simt::has_atomics<T> || sizeof(T) == 2,
                "CUDA's compare and exchange takes types of 2, 4, 8 or 16 bytes, and here not of 16");
  simt::ordered(success | failure, scope);
  return __atomic_compare_exchange(p, expected, desired, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}
template <class T>
SIMT_INLINE bool __nv_atomic_compare_exchange_n(T* p, T* expected, simt::Exactly<T> desired, bool weak, int success,
                                                int failure, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  return __nv_atomic_compare_exchange(p, expected, &desired, weak, success, failure, scope);
}

#define SIMT_NV_ATOMIC(NAME, EXPRESSION, ALLOWED)                                                              \
  template <class T>                                                                                           \
  SIMT_INLINE T __nv_atomic_fetch_##NAME(T* p, simt::Exactly<T> v, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) { \
    static_assert(simt::has_atomics<T> && ALLOWED, "CUDA has no __nv_atomic_fetch_" #NAME " for this type");   \
    simt::ordered(order, scope);                                                                                      \
    simt_atomic((void*)p, sizeof(T));                                                                          \
    auto update = [v](T old) SIMT_UNCOUNTED_LAMBDA -> T { return EXPRESSION; };                                \
    return simt::read_modify_write(p, update);                                                                 \
  }                                                                                                            \
  template <class T>                                                                                           \
  SIMT_INLINE void __nv_atomic_##NAME(T* p, simt::Exactly<T> v, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) { \
    __nv_atomic_fetch_##NAME(p, v, order, scope);                                                              \
  }
SIMT_NV_ATOMIC(add, T(old + v), std::is_arithmetic_v<T>)
SIMT_NV_ATOMIC(sub, T(old - v), std::is_arithmetic_v<T>)
SIMT_NV_ATOMIC(and, T(old& v), std::is_integral_v<T>)
SIMT_NV_ATOMIC(or, T(old | v), std::is_integral_v<T>)
SIMT_NV_ATOMIC(xor, T(old ^ v), std::is_integral_v<T>)
SIMT_NV_ATOMIC(min, v < old ? v : old, std::is_integral_v<T>)
SIMT_NV_ATOMIC(max, v > old ? v : old, std::is_integral_v<T>)
#undef SIMT_NV_ATOMIC
