// Barriers, fences and everything that a warp does together.
#pragma once
#include "launch.h"

namespace simt {
class Site;
}
namespace cooperative_groups {
class thread_block;
class thread_group;
void sync(const thread_block& block, simt::Site site);
void sync(const thread_group& group, simt::Site site);
}  // namespace cooperative_groups

namespace simt {
// Where a group's barrier stands in the source. Nobody else can make one up: it tells barriers apart.
class Site {
  friend class cooperative_groups::thread_block;
  friend class cooperative_groups::thread_group;
  friend void cooperative_groups::sync(const cooperative_groups::thread_block& block, Site site);
  friend void cooperative_groups::sync(const cooperative_groups::thread_group& group, Site site);
  explicit constexpr Site(unsigned line, unsigned column, const char* function)
      : number(1ull << 63 | (uint64_t)line << 32 | column), function(function) {}

 public:
  const uint64_t number;
  const char* const function;
};
}  // namespace simt

#ifdef __clang__
#define SIMT_COLUMN __builtin_COLUMN()
#define SIMT_FUNCTION __builtin_FUNCTION()
#else
#include <source_location>
#define SIMT_COLUMN std::source_location::current().column()
#define SIMT_FUNCTION std::source_location::current().function_name()
#endif
#define SIMT_HERE ::simt::Site(__builtin_LINE(), SIMT_COLUMN, SIMT_FUNCTION)

// Each barrier of the source has a number of its own, also where a macro writes several on one line; a compiler that
// makes several calls of one barrier copies its number. The functions are there for whoever forgets the brackets: as
// nobody has a Site to call them with, no call goes round the macros.
inline void __syncthreads(simt::Site site) { simt_syncthreads(site.number, site.function); }
inline int __syncthreads_count(int p, simt::Site site) { return simt_syncthreads_vote(site.number, site.function, 0, p); }
inline int __syncthreads_and(int p, simt::Site site) { return simt_syncthreads_vote(site.number, site.function, 1, p); }
inline int __syncthreads_or(int p, simt::Site site) { return simt_syncthreads_vote(site.number, site.function, 2, p); }
#define __syncthreads(...) simt_syncthreads(__COUNTER__, __PRETTY_FUNCTION__ __VA_OPT__(, ) __VA_ARGS__)
#define __syncthreads_count(...) simt_syncthreads_vote(__COUNTER__, __PRETTY_FUNCTION__, 0 __VA_OPT__(, ) __VA_ARGS__)
#define __syncthreads_and(...) simt_syncthreads_vote(__COUNTER__, __PRETTY_FUNCTION__, 1 __VA_OPT__(, ) __VA_ARGS__)
#define __syncthreads_or(...) simt_syncthreads_vote(__COUNTER__, __PRETTY_FUNCTION__, 2 __VA_OPT__(, ) __VA_ARGS__)
SIMT_INLINE void __syncwarp(unsigned mask = 0xffffffffu) { simt_syncwarp(mask); }
SIMT_INLINE void __threadfence_block() { simt_fence(0); }
SIMT_INLINE void __threadfence() { simt_fence(1); }
SIMT_INLINE void __threadfence_system() { simt_fence(2); }

template <class T>
SIMT_INLINE T __shfl_sync(unsigned mask, T value, int source, int width = 32) {
  return simt::from_bits<T>(simt_shuffle(mask, simt::to_bits(value), 0, source, width));
}
template <class T>
SIMT_INLINE T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32) {
  return simt::from_bits<T>(simt_shuffle(mask, simt::to_bits(value), 1, (int)delta, width));
}
template <class T>
SIMT_INLINE T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32) {
  return simt::from_bits<T>(simt_shuffle(mask, simt::to_bits(value), 2, (int)delta, width));
}
template <class T>
SIMT_INLINE T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = 32) {
  return simt::from_bits<T>(simt_shuffle(mask, simt::to_bits(value), 3, lane_mask, width));
}

SIMT_INLINE unsigned __ballot_sync(unsigned mask, int predicate) { return simt_ballot(mask, predicate); }
SIMT_INLINE int __any_sync(unsigned mask, int predicate) { return simt_ballot(mask, predicate) != 0; }
SIMT_INLINE int __all_sync(unsigned mask, int predicate) { return simt_ballot(mask, !predicate) == 0; }
SIMT_INLINE unsigned __activemask() { return simt_activemask(); }
template <class T>
SIMT_INLINE unsigned __match_any_sync(unsigned mask, T value) {
  return (unsigned)simt_match(mask, simt::to_bits(value));
}
template <class T>
SIMT_INLINE unsigned __match_all_sync(unsigned mask, T value, int* all_equal) {
  unsigned equal = (unsigned)simt_match(mask, simt::to_bits(value));
  *all_equal = __all_sync(mask, equal == mask);
  return *all_equal ? mask : 0;
}

namespace simt {
// Every lane folds the values of the mask's lanes in the same order.
template <class T, class Combine>
inline T warp_reduce(unsigned mask, T value, Combine combine) {
  int first = __builtin_ctz(mask);
  T result = __shfl_sync(mask, value, first);
  for (unsigned rest = mask & (mask - 1); rest; rest &= rest - 1)
    result = combine(result, __shfl_sync(mask, value, __builtin_ctz(rest)));
  return result;
}
}  // namespace simt

#define SIMT_WARP_REDUCE(NAME, T, EXPRESSION)                                   \
  inline T __reduce_##NAME##_sync(unsigned mask, T value) {                     \
    return simt::warp_reduce(mask, value, [](T a, T b) { return EXPRESSION; }); \
  }
SIMT_WARP_REDUCE(add, int, a + b)
SIMT_WARP_REDUCE(add, unsigned, a + b)
SIMT_WARP_REDUCE(max, int, a > b ? a : b)
SIMT_WARP_REDUCE(max, unsigned, a > b ? a : b)
SIMT_WARP_REDUCE(min, int, a < b ? a : b)
SIMT_WARP_REDUCE(min, unsigned, a < b ? a : b)
SIMT_WARP_REDUCE(and, unsigned, a& b)
SIMT_WARP_REDUCE(or, unsigned, a | b)
SIMT_WARP_REDUCE(xor, unsigned, a ^ b)
