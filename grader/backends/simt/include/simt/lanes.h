// A set of lanes of one warp, and what its lanes do together: the common part of all groups within a warp.
#pragma once
#include "sync.h"

namespace simt {

// Of a group's lanes, values of up to 32 bytes, word by word; __shfl_sync and its relatives take eight.
template <class T, class Shuffle>
SIMT_INLINE T in_words(T value, const Shuffle& shuffle) {
  if constexpr (sizeof(T) <= 8) {
    return shuffle(value);
  } else {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 32,
                  "a group's shuffle takes values of 32 bytes at most, which can be copied byte by byte");
    uint32_t words[(sizeof(T) + 3) / 4] = {};
    __builtin_memcpy(words, &value, sizeof(T));
    for (uint32_t& word : words) word = shuffle(word);
    __builtin_memcpy(&value, words, sizeof(T));
    return value;
  }
}

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
    return in_words(v, [&](auto word) { return __shfl_sync(mask_, word, lane_of((unsigned)source % size())); });
  }
  template <class T>
  T shfl_down(T v, unsigned delta) const {
    unsigned rank = thread_rank();
    return in_words(v, [&](auto word) { return __shfl_sync(mask_, word, lane_of(rank + delta < size() ? rank + delta : rank)); });
  }
  template <class T>
  T shfl_up(T v, unsigned delta) const {
    unsigned rank = thread_rank();
    return in_words(v, [&](auto word) { return __shfl_sync(mask_, word, lane_of(rank >= delta ? rank - delta : rank)); });
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
  if (!is_whole_tile(mask)) {
    if constexpr (sizeof(T) <= 8) return warp_reduce(mask, value, combine);
    T all = value;
    bool any = false;
    for (unsigned m = mask; m; m &= m - 1) {
      T other = in_words(value, [&](auto word) { return __shfl_sync(mask, word, __builtin_ctz(m)); });
      all = any ? combine(all, other) : other;
      any = true;
    }
    return all;
  }
  for (int lanes = __builtin_popcount(mask) / 2; lanes; lanes /= 2)
    value = combine(value, in_words(value, [&](auto word) { return __shfl_xor_sync(mask, word, lanes); }));
  return value;
}

template <class T, class Combine>
inline T scan_lanes(unsigned mask, T value, Combine combine) {
  unsigned me = simt_lane();
  T result = value;
  bool any = false;
  for (unsigned m = mask; m; m &= m - 1) {
    int lane = __builtin_ctz(m);
    T other = in_words(value, [&](auto word) { return __shfl_sync(mask, word, lane); });
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
  const int lane = before ? 31 - __builtin_clz(before) : (int)simt_lane();
  return in_words(value, [&](auto word) { return __shfl_sync(mask, word, lane); });
}

}  // namespace simt
