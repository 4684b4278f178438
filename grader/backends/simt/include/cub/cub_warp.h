// CUB's primitives for warps.
#pragma once
#include "cub_operators.h"

namespace cub {

enum BlockReduceAlgorithm {
  BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY,
  BLOCK_REDUCE_RAKING,
  BLOCK_REDUCE_WARP_REDUCTIONS
};
template <class, int, BlockReduceAlgorithm, int, int, int>
class BlockReduce;

template <class T, int THREADS = 32>
class WarpReduce {
  static_assert(THREADS >= 1 && THREADS <= 32, "a warp has 32 threads");

 public:
  struct TempStorage {};
  SIMT_INLINE explicit WarpReduce(TempStorage&) {}
  // The result is the first lane's; what the others get is not specified, and here it is their own value.
  template <class Combine>
  T Reduce(T value, Combine combine, int valid = THREADS) {
    return tree(value, combine, valid, mask());
  }
  T Sum(T value, int valid = THREADS) { return Reduce(value, cub::Sum(), valid); }
  // Up to the next head, or through the next tail.
  template <class Flag>
  T HeadSegmentedSum(T value, Flag head) {
    return HeadSegmentedReduce(value, head, cub::Sum());
  }
  template <class Flag>
  T TailSegmentedSum(T value, Flag tail) {
    return TailSegmentedReduce(value, tail, cub::Sum());
  }
  template <class Flag, class Combine>
  T HeadSegmentedReduce(T value, Flag head, Combine combine) {
    return segmented(value, __ballot_sync(mask(), head != 0) >> 1, combine);
  }
  template <class Flag, class Combine>
  T TailSegmentedReduce(T value, Flag tail, Combine combine) {
    return segmented(value, __ballot_sync(mask(), tail != 0), combine);
  }

 private:
  template <class, int, BlockReduceAlgorithm, int, int, int>
  friend class BlockReduce;
  // In the order of NVIDIA's, which shows in the last bits: neighbours first, then pairs of them.
  template <class Combine>
  static T tree(T value, Combine combine, int valid, unsigned lanes) {
    const int lane = int(simt_lane() - first()), count = __builtin_popcount(lanes);
    for (int step = 1; step < THREADS; step *= 2) {
      T other = ShuffleIndex<32>(value, first() + (lane + step < count ? lane + step : lane), lanes);
      if (lane + step < valid) value = combine(value, other);
    }
    return value;
  }
  static unsigned first() { return simt_lane() / THREADS * THREADS; }
  static unsigned mask() { return (THREADS == 32 ? ~0u : (1u << THREADS % 32) - 1) << first(); }
  // `ends`: the lanes that are the last of their segment.
  template <class Combine>
  T segmented(T value, unsigned ends, Combine combine) {
    T result = value;
    bool ended = ends >> simt_lane() & 1;
    for (unsigned step = 1; step < THREADS; ++step) {
      unsigned lane = simt_lane() + step;
      T other = ShuffleIndex<32>(value, lane, mask());
      if (!ended && lane < first() + THREADS) {
        result = combine(result, other);
        ended = ends >> lane & 1;
      }
    }
    return result;
  }
};

template <class T, int THREADS = 32>
class WarpScan {
 public:
  struct TempStorage {};
  SIMT_INLINE explicit WarpScan(TempStorage&) {}
  template <class Combine>
  void InclusiveScan(T in, T& out, Combine combine) {
    unsigned first = simt_lane() / THREADS * THREADS, mask = mask_of(first);
    T result = ShuffleIndex<32>(in, first, mask);
    for (unsigned lane = first + 1; lane < first + THREADS; ++lane) {
      T other = ShuffleIndex<32>(in, lane, mask);
      if (lane <= simt_lane()) result = combine(result, other);
    }
    out = result;
  }
  template <class Combine>
  void InclusiveScan(T in, T& out, Combine combine, T& total) {
    InclusiveScan(in, out, combine);
    unsigned first = simt_lane() / THREADS * THREADS;
    total = ShuffleIndex<32>(out, first + THREADS - 1, mask_of(first));
  }
  template <class Combine>
  void ExclusiveScan(T in, T& out, T initial, Combine combine) {
    unsigned first = simt_lane() / THREADS * THREADS;
    T up_to_me, before;
    InclusiveScan(in, up_to_me, combine);
    before = ShuffleIndex<32>(up_to_me, simt_lane() == first ? first : simt_lane() - 1, mask_of(first));
    out = simt_lane() == first ? initial : combine(initial, before);
  }
  void InclusiveSum(T in, T& out) { InclusiveScan(in, out, cub::Sum()); }
  void InclusiveSum(T in, T& out, T& total) { InclusiveScan(in, out, cub::Sum(), total); }
  void ExclusiveSum(T in, T& out) { ExclusiveScan(in, out, T(), cub::Sum()); }
  void ExclusiveSum(T in, T& out, T& total) {
    ExclusiveSum(in, out);
    unsigned first = simt_lane() / THREADS * THREADS;
    total = ShuffleIndex<32>(T(out + in), first + THREADS - 1, mask_of(first));
  }
  T Broadcast(T value, unsigned lane) {
    unsigned first = simt_lane() / THREADS * THREADS;
    return ShuffleIndex<32>(value, first + lane, mask_of(first));
  }

 private:
  static unsigned mask_of(unsigned first) { return (THREADS == 32 ? ~0u : (1u << THREADS % 32) - 1) << first; }
};

}  // namespace cub
