// What -fsanitize=thread and -fsanitize-coverage make the compiler call. The student's module is linked
// without a sanitizer's library: these are the functions it finds.
#include "check.h"
#include "host_code.h"
#include "layouts.h"
#include "quick.h"
#include "recording.h"
#include "unseen.h"

#include <math.h>

#include <utility>

#define SIMT_CALL extern "C" SIMT_EXPORT
#define HERE __builtin_return_address(0)

using simt::access;
using simt::READ;
using simt::WRITE;

static inline void volatile_access(void* p, unsigned size, simt::Access kind, void* here) {
  simt::Worker* w = simt::t_worker;
  if (w) w->is_volatile = true;
  access(p, size, kind, here);
  if (!w) return;
  w->is_volatile = false;
  if (std::exchange(w->is_strong, false)) w->in_block = false;
}

// clang joins neighbouring fields of a struct into one access, and says that it need not be aligned; a GPU's
// compiler would not. What the source itself reads as a float4 has float4's alignment, and is none of these.
static void joined_access(void* pointer, unsigned bytes, simt::Access kind, void* here) {
  if ((size_t)pointer % bytes == 0) return access(pointer, bytes, kind, here);
  unsigned word = (size_t)pointer % 4 == 0 && bytes >= 4 ? 4 : 1;
  for (unsigned i = 0; i < bytes; i += word) access((char*)pointer + i, word, kind, here);
}

// GCC tells of a copy's write first, and of its read a few instructions later.
static constexpr size_t ONE_STATEMENT = 64;

// While it lives, what is read at `p` may be an object with padding.
struct WholeObject {
  simt::Worker* w = simt::t_worker;
  std::vector<simt::u8> written;  // of its bytes, if some are not and need not be
  WholeObject(const void* p, size_t bytes, simt::ToldAs told) {
    if (!bytes || !checks() || !simt::reads_padding_alone(w, (size_t)p, bytes, told)) return;
    written = simt::written_bytes(w, (size_t)p, bytes);
    w->padded = true;
  }
  ~WholeObject() {
    if (w) w->padded = false;
  }
  bool checks() const { return w && w->fibre && (w->mode & simt::CHECK) && simt::are_layouts_known(); }
};

static __attribute__((noinline)) void number_or_object(void* p, unsigned size, void* here) {
  bool copies = (size_t)here - simt::t_quick.wrote < ONE_STATEMENT;
  WholeObject object(p, size, copies ? simt::AS_THE_SOURCE_OF_A_COPY : simt::AS_A_NUMBER);
  access(p, size, READ, here);
}

// GCC tells of 16 bytes that are aligned to 8 (two doubles) as it tells of a float4.
static __attribute__((noinline)) void two_of_8_bytes(char* p, simt::Access kind, void* here) {
  bool copies = (size_t)here - simt::t_quick.wrote < ONE_STATEMENT;
  WholeObject object(p, kind == READ ? 16 : 0, copies ? simt::AS_THE_SOURCE_OF_A_COPY : simt::AS_A_NUMBER);
  access(p, 8, kind, here);
  access(p + 8, 8, kind, here);
}

// What is not known at once. Functions of their own: those that the kernel calls then need no stack.
template <unsigned SIZE, simt::Access KIND>
static __attribute__((noinline)) void checked_access(void* p, void* here) {
  simt::Quick& q = simt::t_quick;
  if (KIND == WRITE) q.wrote = (size_t)here;
  if (SIZE == 16 && (size_t)p % 16 == 8 && simt::is_aligned_to_8(simt::t_worker, (size_t)p))
    return two_of_8_bytes((char*)p, KIND, here);
  if (q.usable && simt::quick<SIZE, KIND>(simt::t_worker, q, (size_t)p, (size_t)here - 1)) return;
  if (SIZE > 1 && KIND == READ) return number_or_object(p, SIZE, here);
  access(p, SIZE, KIND, here);
}

template <unsigned SIZE>
static inline __attribute__((always_inline)) void plain_read(void* p, void* here) {
  if (!simt::is_known<SIZE>(simt::t_quick, (size_t)p)) checked_access<SIZE, READ>(p, here);
}

#define SIMT_ACCESS(SIZE)                                                                \
  SIMT_CALL void __tsan_read##SIZE(void* p) { plain_read<SIZE>(p, HERE); }                \
  SIMT_CALL void __tsan_write##SIZE(void* p) { checked_access<SIZE, WRITE>(p, HERE); }   \
  SIMT_CALL void __tsan_unaligned_read##SIZE(void* p) { joined_access(p, SIZE, READ, HERE); }   \
  SIMT_CALL void __tsan_unaligned_write##SIZE(void* p) { joined_access(p, SIZE, WRITE, HERE); } \
  SIMT_CALL void __tsan_volatile_read##SIZE(void* p) { volatile_access(p, SIZE, READ, HERE); }   \
  SIMT_CALL void __tsan_volatile_write##SIZE(void* p) { volatile_access(p, SIZE, WRITE, HERE); } \
  SIMT_CALL void __tsan_unaligned_volatile_read##SIZE(void* p) { volatile_access(p, SIZE, READ, HERE); } \
  SIMT_CALL void __tsan_unaligned_volatile_write##SIZE(void* p) { volatile_access(p, SIZE, WRITE, HERE); }
SIMT_ACCESS(1)
SIMT_ACCESS(2)
SIMT_ACCESS(4)
SIMT_ACCESS(8)
SIMT_ACCESS(16)

// Copies of what is not aligned to its size: word by word, as a GPU has to make them. A float4 is none of these.
static void access_range(void* pointer, size_t bytes, simt::Access kind, void* here) {
  char* p = (char*)pointer;
  size_t word = (size_t)p % 4 == 0 ? 4 : 1;
  simt::Worker* w = simt::t_worker;
  bool looking = w && w->looking;
  if (looking) w->looking = false, simt::heard_of(pointer, bytes);  // once: its words would make others forgotten
  if (simt::g_recording) simt::record_several(true);
  for (size_t i = 0; i < bytes;) {
    size_t step = bytes - i >= word ? word : 1;
    access(p + i, unsigned(step), kind, here);
    i += step;
  }
  if (simt::g_recording) simt::record_several(false);
  if (looking) w->looking = true;
}

SIMT_CALL void __tsan_write_range(void* p, size_t n) {
  WholeObject none(p, 0, simt::AS_A_RANGE);
  if (none.checks()) none.w->copied = {(size_t)p, (size_t)HERE, simt::written_bytes(none.w, (size_t)p, n)};
  access_range(p, n, WRITE, HERE);
}

SIMT_CALL void __tsan_read_range(void* p, size_t n) {
  WholeObject object(p, n, simt::AS_A_RANGE);
  access_range(p, n, READ, HERE);
  if (object.written.empty()) return;
  auto& copied = object.w->copied;
  if ((size_t)HERE - copied.here < ONE_STATEMENT) leave_unwritten(object.w, copied.to, object.written, copied.written);
}

static void copy_range(void* to, const void* from, size_t n, void* here) {
  WholeObject object(from, n, simt::AS_MEMCPY);
  auto before = object.written.empty() ? std::vector<simt::u8>() : simt::written_bytes(object.w, (size_t)to, n);
  access_range((void*)from, n, READ, here);
  access_range(to, n, WRITE, here);
  leave_unwritten(object.w, (size_t)to, object.written, before);
}

SIMT_CALL void* __tsan_memcpy(void* to, const void* from, size_t n) {
  copy_range(to, from, n, HERE);
  return memcpy(to, from, n);
}

SIMT_CALL void* __tsan_memmove(void* to, const void* from, size_t n) {
  copy_range(to, from, n, HERE);
  return memmove(to, from, n);
}

SIMT_CALL void* __tsan_memset(void* to, int value, size_t n) {
  access_range(to, n, WRITE, HERE);
  return memset(to, value, n);
}

SIMT_CALL void __tsan_init() {}
SIMT_CALL void __tsan_func_entry(void*) {}
SIMT_CALL void __tsan_func_exit() {}
// An object with virtual functions is made: it gets the address of their table.
SIMT_CALL void __tsan_vptr_update(void** place, void*) {
  simt::Worker* w = simt::t_worker;
  access(place, sizeof(void*), simt::WRITE, HERE);
  if (!w || !w->fibre) simt::host_object(place, (size_t)HERE - 1);
}
SIMT_CALL void __tsan_vptr_read(void**) {}

// The call itself has no line in the source; the instruction after it has.
SIMT_CALL void __sanitizer_cov_trace_pc() {
  if (--simt::t_quick.budget < 0) simt::spend_step((size_t)HERE);
}

// An exchange writes. What it returns of memory that nothing has written is what that always holds, NaN or -1:
// whether the kernel uses it cannot be seen, and most do not.
static void replacing_access(void* p, unsigned size, void* here) {
  simt::Worker* w = simt::t_worker;
  if (!w) return access(p, size, simt::ATOMIC, here);
  w->replaces = true;
  access(p, size, simt::ATOMIC, here);
  w->replaces = false;
}

static void told_of_atomic(const void* address) {
  simt::Worker* w = simt::t_worker;
  if (w) w->in_block = false;
  if (w && w->fibre && simt::in_arena(address)) simt::interrupt(w);
}
SIMT_CALL void simt_in_block() {
  if (simt::t_worker) simt::t_worker->in_block = true;
}
SIMT_CALL void simt_strong(int in_block) {
  if (simt::Worker* w = simt::t_worker) w->is_strong = true, w->in_block = in_block != 0;
}
SIMT_CALL void simt_atomic(void* address, int size) {
  access(address, unsigned(size), simt::ATOMIC, HERE);
  told_of_atomic(address);
}
SIMT_CALL void simt_exchange(void* address, int size) {
  replacing_access(address, unsigned(size), HERE);
  told_of_atomic(address);
}

SIMT_CALL void simt_read_only(const void* address, int size) {
  simt::Worker* w = simt::t_worker;
  if (w && w->fibre && w->mode & simt::CHECK) simt::check_read_only(w, (size_t)address, unsigned(size), (size_t)HERE - 1);
}

// Functions of the C library that touch memory: the module is linked so that its calls come here.
SIMT_CALL void* __wrap_memcpy(void* to, const void* from, size_t n) {
  if (simt::t_worker) copy_range(to, from, n, HERE);
  return memcpy(to, from, n);
}
SIMT_CALL void* __wrap_memmove(void* to, const void* from, size_t n) {
  if (simt::t_worker) copy_range(to, from, n, HERE);
  return memmove(to, from, n);
}
SIMT_CALL void* __wrap_memset(void* to, int value, size_t n) {
  if (simt::t_worker) access_range(to, n, WRITE, HERE);
  return memset(to, value, n);
}
// Of the mathematical functions, those that write what a pointer says.
#define SIMT_WRITES(NAME, T, P)                                        \
  SIMT_CALL T __wrap_##NAME(T x, P* p) {                               \
    if (simt::t_worker) access(p, sizeof(P), WRITE, HERE);             \
    return NAME(x, p);                                                 \
  }
SIMT_WRITES(frexp, double, int)
SIMT_WRITES(frexpf, float, int)
SIMT_WRITES(frexpl, long double, int)
SIMT_WRITES(modf, double, double)
SIMT_WRITES(modff, float, float)
SIMT_WRITES(modfl, long double, long double)
SIMT_WRITES(lgamma_r, double, int)
SIMT_WRITES(lgammaf_r, float, int)
SIMT_WRITES(lgammal_r, long double, int)
#define SIMT_REMQUO(NAME, T)                                           \
  SIMT_CALL T __wrap_##NAME(T x, T y, int* p) {                        \
    if (simt::t_worker) access(p, sizeof(int), WRITE, HERE);           \
    return NAME(x, y, p);                                              \
  }
SIMT_REMQUO(remquo, double)
SIMT_REMQUO(remquof, float)
SIMT_REMQUO(remquol, long double)
#define SIMT_SINCOS(NAME, T)                                                                                 \
  SIMT_CALL void __wrap_##NAME(T x, T* s, T* c) {                                                            \
    if (simt::t_worker) access(s, sizeof(T), WRITE, HERE), access(c, sizeof(T), WRITE, HERE);                \
    NAME(x, s, c);                                                                                           \
  }
SIMT_SINCOS(sincos, double)
SIMT_SINCOS(sincosf, float)
SIMT_SINCOS(sincosl, long double)

SIMT_CALL int __wrap_memcmp(const void* a, const void* b, size_t n) {
  if (simt::t_worker) access_range((void*)a, n, READ, HERE), access_range((void*)b, n, READ, HERE);
  return memcmp(a, b, n);
}

// std::atomic and the compiler's own atomic functions: an atomic access in a kernel, simply done in host code.
template <class T>
static inline __attribute__((always_inline)) volatile T* atomic_access(const volatile T* p, void* here) {
  if (simt::t_worker) access((void*)p, sizeof(T), simt::ATOMIC, here);
  told_of_atomic((const void*)p);
  return (volatile T*)p;
}
template <class T>
static inline __attribute__((always_inline)) volatile T* atomic_write(volatile T* p, void* here) {
  if (simt::t_worker) replacing_access((void*)p, sizeof(T), here);
  told_of_atomic((const void*)p);
  return p;
}
// A load and a store are atomic for the checks; for the counts they are what nvcc makes of them: ld and st, of whatever order.
template <class T>
static inline __attribute__((always_inline)) volatile T* atomic_loaded(const volatile T* p, void* here) {
  if (simt::t_worker) simt::t_worker->counted_as = simt::READ;
  return atomic_access(p, here);
}
template <class T>
static inline __attribute__((always_inline)) volatile T* atomic_stored(volatile T* p, void* here) {
  if (simt::t_worker) simt::t_worker->counted_as = simt::WRITE;
  return atomic_write(p, here);
}
#define SIMT_FETCH(BITS, T, NAME)                                           \
  SIMT_CALL T __tsan_atomic##BITS##_fetch_##NAME(volatile T* p, T v, int) { \
    return __atomic_fetch_##NAME(atomic_access(p, HERE), v, 5);             \
  }
#define SIMT_STD_ATOMIC(BITS, T)                                                                     \
  SIMT_CALL T __tsan_atomic##BITS##_load(const volatile T* p, int) { return __atomic_load_n(atomic_loaded(p, HERE), 5); } \
  SIMT_CALL void __tsan_atomic##BITS##_store(volatile T* p, T v, int) { __atomic_store_n(atomic_stored(p, HERE), v, 5); } \
  SIMT_CALL T __tsan_atomic##BITS##_exchange(volatile T* p, T v, int) {                              \
    return __atomic_exchange_n(atomic_write(p, HERE), v, 5);                                                             \
  }                                                                                                  \
  SIMT_FETCH(BITS, T, add)                                                                           \
  SIMT_FETCH(BITS, T, sub)                                                                           \
  SIMT_FETCH(BITS, T, and)                                                                           \
  SIMT_FETCH(BITS, T, or)                                                                            \
  SIMT_FETCH(BITS, T, xor)                                                                           \
  SIMT_CALL int __tsan_atomic##BITS##_compare_exchange_strong(volatile T* p, T* e, T d, int, int) {  \
    return __atomic_compare_exchange_n(atomic_access(p, HERE), e, d, 0, 5, 5);                                            \
  }                                                                                                  \
  SIMT_CALL int __tsan_atomic##BITS##_compare_exchange_weak(volatile T* p, T* e, T d, int, int) {    \
    return __atomic_compare_exchange_n(atomic_access(p, HERE), e, d, 0, 5, 5);                                            \
  }                                                                                                  \
  SIMT_CALL T __tsan_atomic##BITS##_compare_exchange_val(volatile T* p, T e, T d, int, int) {        \
    __atomic_compare_exchange_n(atomic_access(p, HERE), &e, d, 0, 5, 5);                                                  \
    return e;                                                                                        \
  }
SIMT_STD_ATOMIC(8, uint8_t)
SIMT_STD_ATOMIC(16, uint16_t)
SIMT_STD_ATOMIC(32, uint32_t)
SIMT_STD_ATOMIC(64, uint64_t)
SIMT_CALL void __tsan_atomic_thread_fence(int) { __atomic_thread_fence(5); }
SIMT_CALL void __tsan_atomic_signal_fence(int) {}
