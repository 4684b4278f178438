// Stand-ins for CUB's block and warp primitives: the same names, results and need for barriers. Their shared memory
// is used for real, so that reusing it without __syncthreads() is found as the race that it is.
#pragma once
#include "../simt/device.h"

namespace cub {

struct Sum {
  template <class T>
  T operator()(T a, T b) const {
    return a + b;
  }
};
struct Max {
  template <class T>
  T operator()(T a, T b) const {
    return b > a ? b : a;
  }
};
struct Min {
  template <class T>
  T operator()(T a, T b) const {
    return b < a ? b : a;
  }
};
enum BlockReduceAlgorithm {
  BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY,
  BLOCK_REDUCE_RAKING,
  BLOCK_REDUCE_WARP_REDUCTIONS
};
enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };

template <class T, int THREADS = 32>
class WarpReduce {
  static_assert(THREADS >= 1 && THREADS <= 32, "a warp has 32 threads");

 public:
  struct TempStorage {};
  SIMT_INLINE explicit WarpReduce(TempStorage&) {}
  // The result is the first lane's; what the others get is not specified, and here it is their own value.
  template <class Combine>
  T Reduce(T value, Combine combine, int valid = THREADS) {
    unsigned first = simt_lane() / THREADS * THREADS;
    unsigned mask = (THREADS == 32 ? ~0u : (1u << THREADS % 32) - 1) << first;
    T result = value;
    for (int i = 1; i < THREADS; ++i) {
      T other = __shfl_sync(mask, value, first + i);
      if (i < valid && simt_lane() == first) result = combine(result, other);
    }
    return result;
  }
  T Sum(T value, int valid = THREADS) { return Reduce(value, cub::Sum(), valid); }
};

template <class T, int THREADS = 32>
class WarpScan {
 public:
  struct TempStorage {};
  SIMT_INLINE explicit WarpScan(TempStorage&) {}
  template <class Combine>
  void InclusiveScan(T in, T& out, Combine combine) {
    unsigned first = simt_lane() / THREADS * THREADS, mask = mask_of(first);
    T result = __shfl_sync(mask, in, first);
    for (unsigned lane = first + 1; lane < first + THREADS; ++lane) {
      T other = __shfl_sync(mask, in, lane);
      if (lane <= simt_lane()) result = combine(result, other);
    }
    out = result;
  }
  template <class Combine>
  void InclusiveScan(T in, T& out, Combine combine, T& total) {
    InclusiveScan(in, out, combine);
    unsigned first = simt_lane() / THREADS * THREADS;
    total = __shfl_sync(mask_of(first), out, first + THREADS - 1);
  }
  template <class Combine>
  void ExclusiveScan(T in, T& out, T initial, Combine combine) {
    unsigned first = simt_lane() / THREADS * THREADS;
    T up_to_me, before;
    InclusiveScan(in, up_to_me, combine);
    before = __shfl_up_sync(mask_of(first), up_to_me, 1, THREADS);
    out = simt_lane() == first ? initial : combine(initial, before);
  }
  void InclusiveSum(T in, T& out) { InclusiveScan(in, out, cub::Sum()); }
  void InclusiveSum(T in, T& out, T& total) { InclusiveScan(in, out, cub::Sum(), total); }
  void ExclusiveSum(T in, T& out) { ExclusiveScan(in, out, T(), cub::Sum()); }

 private:
  static unsigned mask_of(unsigned first) { return (THREADS == 32 ? ~0u : (1u << THREADS % 32) - 1) << first; }
};

// What a block's primitives have in common: a value of each thread in shared memory.
template <class T, int X, int Y, int Z>
struct Exchange {
  static constexpr int THREADS = X * Y * Z;
  struct TempStorage {
    T values[THREADS];
    T total;
  };
  static unsigned me() { return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x; }
  template <int ITEMS, class Combine>
  static T fold(T (&items)[ITEMS], Combine combine) {
    T result = items[0];
    for (int i = 1; i < ITEMS; ++i) result = combine(result, items[i]);
    return result;
  }
};

template <class T, int X, BlockReduceAlgorithm = BLOCK_REDUCE_WARP_REDUCTIONS, int Y = 1, int Z = 1, int = 0>
class BlockReduce : Exchange<T, X, Y, Z> {
  using Base = Exchange<T, X, Y, Z>;

 public:
  using TempStorage = typename Base::TempStorage;
  explicit BlockReduce(TempStorage& storage) : storage_(storage) {}
  // The result is thread 0's; the others get their own value back.
  template <class Combine>
  T Reduce(T value, Combine combine, int valid = Base::THREADS) {
    storage_.values[Base::me()] = value;
    __syncthreads();
    if (Base::me()) return value;
    T result = value;
    for (int i = 1; i < valid; ++i) result = combine(result, storage_.values[i]);
    return result;
  }
  template <int ITEMS, class Combine>
  T Reduce(T (&items)[ITEMS], Combine combine) {
    return Reduce(Base::fold(items, combine), combine);
  }
  T Sum(T value, int valid = Base::THREADS) { return Reduce(value, cub::Sum(), valid); }
  template <int ITEMS>
  T Sum(T (&items)[ITEMS]) {
    return Reduce(items, cub::Sum());
  }

 private:
  TempStorage& storage_;
};

template <class T, int X, BlockScanAlgorithm = BLOCK_SCAN_RAKING, int Y = 1, int Z = 1, int = 0>
class BlockScan : Exchange<T, X, Y, Z> {
  using Base = Exchange<T, X, Y, Z>;

 public:
  using TempStorage = typename Base::TempStorage;
  explicit BlockScan(TempStorage& storage) : storage_(storage) {}
  template <class Combine>
  void InclusiveScan(T in, T& out, Combine combine, T& total) {
    storage_.values[Base::me()] = in;
    __syncthreads();
    if (!Base::me()) {
      for (int i = 1; i < Base::THREADS; ++i)
        storage_.values[i] = combine(storage_.values[i - 1], storage_.values[i]);
      storage_.total = storage_.values[Base::THREADS - 1];
    }
    __syncthreads();
    out = storage_.values[Base::me()];
    total = storage_.total;
  }
  template <class Combine>
  void InclusiveScan(T in, T& out, Combine combine) {
    T total;
    InclusiveScan(in, out, combine, total);
  }
  template <class Combine>
  void ExclusiveScan(T in, T& out, T initial, Combine combine, T& total) {
    T mine;
    InclusiveScan(in, mine, combine, total);
    out = Base::me() ? combine(initial, storage_.values[Base::me() - 1]) : initial;
  }
  template <class Combine>
  void ExclusiveScan(T in, T& out, T initial, Combine combine) {
    T total;
    ExclusiveScan(in, out, initial, combine, total);
  }
  template <int ITEMS>
  void InclusiveSum(T (&in)[ITEMS], T (&out)[ITEMS]) {
    T before;
    ExclusiveSum(Base::fold(in, cub::Sum()), before);
    for (int i = 0; i < ITEMS; ++i) out[i] = before = before + in[i];
  }
  template <int ITEMS>
  void ExclusiveSum(T (&in)[ITEMS], T (&out)[ITEMS]) {
    T before;
    ExclusiveSum(Base::fold(in, cub::Sum()), before);
    for (int i = 0; i < ITEMS; ++i) {
      T item = in[i];  // in and out may be the same
      out[i] = before;
      before = before + item;
    }
  }
  void InclusiveSum(T in, T& out) { InclusiveScan(in, out, cub::Sum()); }
  void InclusiveSum(T in, T& out, T& total) { InclusiveScan(in, out, cub::Sum(), total); }
  void ExclusiveSum(T in, T& out) { ExclusiveScan(in, out, T(), cub::Sum()); }
  void ExclusiveSum(T in, T& out, T& total) { ExclusiveScan(in, out, T(), cub::Sum(), total); }

 private:
  TempStorage& storage_;
};

}  // namespace cub
