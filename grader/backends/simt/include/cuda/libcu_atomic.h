// cuda::atomic and cuda::atomic_ref: the compiler's own atomic functions, of which the checks hear. An order that is not relaxed
// is a fence as well, as on a GPU; blocks run one after another, so the scopes do the same, and one of a block is told.
#pragma once
#include "../simt/device.h"
#include "libcu_std.h"

#include <atomic>

namespace cuda {

enum thread_scope { thread_scope_system, thread_scope_device, thread_scope_block, thread_scope_thread };

namespace std {
using ::std::memory_order, ::std::memory_order_acq_rel, ::std::memory_order_acquire, ::std::memory_order_consume;
using ::std::memory_order_relaxed, ::std::memory_order_release, ::std::memory_order_seq_cst;
}  // namespace std
using ::std::memory_order, ::std::memory_order_acq_rel, ::std::memory_order_acquire, ::std::memory_order_consume;
using ::std::memory_order_relaxed, ::std::memory_order_release, ::std::memory_order_seq_cst;

inline void atomic_thread_fence(memory_order order, thread_scope scope = thread_scope_system) {
  if (order != memory_order_relaxed) simt_fence(scope < thread_scope_block ? 2 : 0);
}
inline void atomic_signal_fence(memory_order) {}

namespace simt_detail {

// All of both classes; `at` is where the value lies.
template <class T, class Self, thread_scope Scope>
class AtomicOperations {
  static_assert(::std::is_trivially_copyable_v<T> && sizeof(T) <= 8 && (sizeof(T) & (sizeof(T) - 1)) == 0,
                "an atomic type has 1, 2, 4 or 8 bytes here");

 public:
  using value_type = T;
  static constexpr bool is_always_lock_free = true;
  bool is_lock_free() const { return true; }

  T load(memory_order order = memory_order_seq_cst) const {
    T value;
    __atomic_load(at(), &value, __ATOMIC_SEQ_CST);
    fence(order);
    return value;
  }
  void store(T value, memory_order order = memory_order_seq_cst) const {
    fence(order);
    __atomic_store(at(), &value, __ATOMIC_SEQ_CST);
  }
  T exchange(T value, memory_order order = memory_order_seq_cst) const {
    fence(order);
    T old;
    __atomic_exchange(at(), &value, &old, __ATOMIC_SEQ_CST);
    return old;
  }
  bool compare_exchange_strong(T& expected, T desired, memory_order order = memory_order_seq_cst) const {
    fence(order);
    T seen = expected;
    bool done = __atomic_compare_exchange(at(), &seen, &desired, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    if (!done) expected = seen;
    return done;
  }
  bool compare_exchange_strong(T& expected, T desired, memory_order order, memory_order) const {
    return compare_exchange_strong(expected, desired, order);
  }
  bool compare_exchange_weak(T& expected, T desired, memory_order order = memory_order_seq_cst) const {
    return compare_exchange_strong(expected, desired, order);
  }
  bool compare_exchange_weak(T& expected, T desired, memory_order order, memory_order) const {
    return compare_exchange_strong(expected, desired, order);
  }
  T fetch_add(T value, memory_order order = memory_order_seq_cst) const {
    return update(order, [=](T old) { return (T)(old + value); });
  }
  T fetch_sub(T value, memory_order order = memory_order_seq_cst) const {
    return update(order, [=](T old) { return (T)(old - value); });
  }
  T fetch_and(T value, memory_order order = memory_order_seq_cst) const {
    return update(order, [=](T old) { return (T)(old & value); });
  }
  T fetch_or(T value, memory_order order = memory_order_seq_cst) const {
    return update(order, [=](T old) { return (T)(old | value); });
  }
  T fetch_xor(T value, memory_order order = memory_order_seq_cst) const {
    return update(order, [=](T old) { return (T)(old ^ value); });
  }
  T fetch_max(T value, memory_order order = memory_order_seq_cst) const {
    return update(order, [=](T old) { return old < value ? value : old; });
  }
  T fetch_min(T value, memory_order order = memory_order_seq_cst) const {
    return update(order, [=](T old) { return value < old ? value : old; });
  }
  void wait(T old, memory_order order = memory_order_seq_cst) const {
    while (load(order) == old) simt_let_others_run();
  }
  void notify_one() const {}
  void notify_all() const {}
  operator T() const { return load(); }
  T operator=(T value) const {
    store(value);
    return value;
  }
  T operator++() const { return fetch_add(T(1)) + T(1); }
  T operator++(int) const { return fetch_add(T(1)); }
  T operator--() const { return fetch_sub(T(1)) - T(1); }
  T operator--(int) const { return fetch_sub(T(1)); }
  T operator+=(T value) const { return fetch_add(value) + value; }
  T operator-=(T value) const { return fetch_sub(value) - value; }
  T operator&=(T value) const { return fetch_and(value) & value; }
  T operator|=(T value) const { return fetch_or(value) | value; }
  T operator^=(T value) const { return fetch_xor(value) ^ value; }

 private:
  static constexpr bool NARROW = Scope >= thread_scope_block;
  T* at() const {  // of the access that follows
    if (NARROW) simt_in_block();
    return static_cast<const Self*>(this)->simt_place();
  }
  static void fence(memory_order order) {
    if (order != memory_order_relaxed && simt_in_kernel()) simt_fence(NARROW ? 0 : 2);
  }
  template <class Update>
  T update(memory_order order, Update change) const {
    fence(order);
    T* place = at();
    if (simt_in_kernel()) simt_atomic(place, (int)sizeof(T));
    return ::simt::read_modify_write(place, change);
  }
};

}  // namespace simt_detail

template <class T, thread_scope Scope = thread_scope_system>
class atomic_ref : public simt_detail::AtomicOperations<T, atomic_ref<T, Scope>, Scope> {
 public:
  static constexpr size_t required_alignment = sizeof(T);
  explicit atomic_ref(T& value) : place_(&value) {}
  atomic_ref(const atomic_ref&) = default;
  atomic_ref& operator=(const atomic_ref&) = delete;
  using simt_detail::AtomicOperations<T, atomic_ref<T, Scope>, Scope>::operator=;
  T* simt_place() const { return place_; }

 private:
  T* place_;
};

template <class T, thread_scope Scope = thread_scope_system>
class atomic : public simt_detail::AtomicOperations<T, atomic<T, Scope>, Scope> {
 public:
  atomic() = default;
  constexpr atomic(T value) : value_(value) {}
  atomic(const atomic&) = delete;
  atomic& operator=(const atomic&) = delete;
  using simt_detail::AtomicOperations<T, atomic<T, Scope>, Scope>::operator=;
  T* simt_place() const { return const_cast<T*>(&value_); }

 private:
  alignas(sizeof(T)) T value_;
};

namespace std {
template <class T>
using atomic = ::cuda::atomic<T>;
template <class T>
using atomic_ref = ::cuda::atomic_ref<T>;
using ::cuda::atomic_signal_fence, ::cuda::atomic_thread_fence;
}  // namespace std

}  // namespace cuda
