// A set of lanes of one warp, and what its lanes do together: the common part of all groups within a warp.
#pragma once
#include "sync.h"

namespace simt {

class Lanes {
 public:
  explicit Lanes(unsigned mask) : mask_(mask) {}
  unsigned lane_mask() const { return mask_; }
  unsigned size() const { return (unsigned)__builtin_popcount(mask_); }
  unsigned num_threads() const { return size(); }
  unsigned thread_rank() const {
    return (unsigned)__builtin_popcount(mask_ & ((1u << simt_lane()) - 1));
  }
  void sync() const { __syncwarp(mask_); }
  int any(int predicate) const { return __any_sync(mask_, predicate); }
  int all(int predicate) const { return __all_sync(mask_, predicate); }
  unsigned ballot(int predicate) const { return packed(__ballot_sync(mask_, predicate)); }
  template <class T>
  unsigned match_any(T value) const {
    return packed(__match_any_sync(mask_, value));
  }
  template <class T>
  unsigned match_all(T value, int& all_equal) const {
    return packed(__match_all_sync(mask_, value, &all_equal));
  }
  // Ranks count the group's lanes only.
  template <class T>
  T shfl(T v, int source) const {
    return __shfl_sync(mask_, v, lane_of((unsigned)source % size()));
  }
  template <class T>
  T shfl_down(T v, unsigned delta) const {
    unsigned rank = thread_rank();
    return __shfl_sync(mask_, v, lane_of(rank + delta < size() ? rank + delta : rank));
  }
  template <class T>
  T shfl_up(T v, unsigned delta) const {
    unsigned rank = thread_rank();
    return __shfl_sync(mask_, v, lane_of(rank >= delta ? rank - delta : rank));
  }

 protected:
  unsigned mask_;

 private:
  int lane_of(unsigned rank) const {
    unsigned m = mask_;
    while (rank--) m &= m - 1;
    return __builtin_ctz(m);
  }
  // Bits of lanes as bits of ranks.
  unsigned packed(unsigned lanes) const {
    unsigned bits = 0, rank = 0;
    for (unsigned m = mask_; m; m &= m - 1, ++rank) bits |= (lanes >> __builtin_ctz(m) & 1) << rank;
    return bits;
  }
};

inline bool is_whole_tile(unsigned mask) {
  unsigned first = (unsigned)__builtin_ctz(mask), n = (unsigned)__builtin_popcount(mask);
  return !(n & (n - 1)) && first % n == 0 && mask >> first == (n == 32 ? ~0u : (1u << n) - 1);
}

template <class T, class Combine>
inline T reduce_lanes(unsigned mask, T value, Combine combine) {
  if (!is_whole_tile(mask)) return warp_reduce(mask, value, combine);
  for (int lanes = __builtin_popcount(mask) / 2; lanes; lanes /= 2)
    value = combine(value, __shfl_xor_sync(mask, value, lanes));
  return value;
}

template <class T, class Combine>
inline T scan_lanes(unsigned mask, T value, Combine combine) {
  unsigned me = simt_lane();
  T result = value;
  bool any = false;
  for (unsigned m = mask; m; m &= m - 1) {
    int lane = __builtin_ctz(m);
    T other = __shfl_sync(mask, value, lane);
    if ((unsigned)lane > me) continue;
    result = any ? combine(result, other) : other;
    any = true;
  }
  return result;
}

// The value of the lane before this one in the mask; the first lane's own for the first.
template <class T>
inline T previous_lane(unsigned mask, T value) {
  unsigned before = mask & ((1u << simt_lane()) - 1);
  return __shfl_sync(mask, value, before ? 31 - __builtin_clz(before) : (int)simt_lane());
}

}  // namespace simt
