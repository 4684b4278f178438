// CUB's reductions and scans of a block. Their shared memory is used for real, so that reusing it without
// __syncthreads() is found as the race that it is.
#pragma once
#include "cub_operators.h"

namespace cub {

enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };

// What a block's primitives have in common: their place in it, and memory of their own where they are given none.
template <int X, int Y, int Z>
struct OfBlock {
  static constexpr int THREADS = X * Y * Z;
  static int me() { return int((threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x); }
  template <class Storage>
  static Storage& of_its_own() {
    __shared__ Storage storage;
    return storage;
  }
  template <class T, int ITEMS, class Combine>
  static T fold(T (&items)[ITEMS], Combine combine) {
    T result = items[0];
    for (int i = 1; i < ITEMS; ++i) result = combine(result, items[i]);
    return result;
  }
};

template <class T, int X, BlockReduceAlgorithm ALGORITHM = BLOCK_REDUCE_WARP_REDUCTIONS, int Y = 1, int Z = 1, int = 0>
class BlockReduce : OfBlock<X, Y, Z> {
  using Base = OfBlock<X, Y, Z>;
  static constexpr bool BY_WARPS = ALGORITHM == BLOCK_REDUCE_WARP_REDUCTIONS;
  static constexpr int WARPS = (Base::THREADS + 31) / 32, LANES = Base::THREADS < 32 ? Base::THREADS : 32;

 public:
  struct TempStorage {
    Slots<T, BY_WARPS ? WARPS : Base::THREADS> values;
  };
  BlockReduce() : storage_(Base::template of_its_own<TempStorage>()) {}
  explicit BlockReduce(TempStorage& storage) : storage_(storage) {}
  // The result is thread 0's; the others get their own value back.
  template <class Combine>
  T Reduce(T value, Combine combine, int valid = Base::THREADS) {
    if constexpr (BY_WARPS) return by_warps(value, combine, valid);
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
  // The sums of the warps, one word of shared memory each, are added by thread 0.
  template <class Combine>
  T by_warps(T value, Combine combine, int valid) {
    const int warp = Base::me() / 32, threads = Base::THREADS - warp * 32, in_it = valid - warp * 32;
    const unsigned lanes = threads >= 32 ? ~0u : (1u << threads % 32) - 1;
    T result = WarpReduce<T, LANES>::tree(value, combine, in_it < LANES ? in_it : LANES, lanes);
    if (Base::me() % 32 == 0) storage_.values[warp] = result;
    __syncthreads();
    if (Base::me()) return result;
    for (int i = 1; i < WARPS && i * 32 < valid; ++i) result = combine(result, storage_.values[i]);
    return result;
  }
  TempStorage& storage_;
};

template <class T, int X, BlockScanAlgorithm = BLOCK_SCAN_RAKING, int Y = 1, int Z = 1, int = 0>
class BlockScan : OfBlock<X, Y, Z> {
  using Base = OfBlock<X, Y, Z>;

 public:
  struct TempStorage {
    Slots<T, Base::THREADS> values;
    Slots<T, 2> total_and_prefix;
  };
  BlockScan() : storage_(Base::template of_its_own<TempStorage>()) {}
  explicit BlockScan(TempStorage& storage) : storage_(storage) {}

  // ---- of one item a thread
  template <class Combine>
  void InclusiveScan(T in, T& out, Combine combine, T& total) {
    out = gather(in, combine, total);
  }
  template <class Combine>
  void InclusiveScan(T in, T& out, Combine combine) {
    T total;
    out = gather(in, combine, total);
  }
  // `prefix` is called by the first warp with the block's total, and gives what comes before it.
  template <class Combine, class Prefix>
  void InclusiveScan(T in, T& out, Combine combine, Prefix& prefix) {
    T total, mine = gather(in, combine, total);
    out = combine(before_all(prefix, total), mine);
  }
  template <class Combine>
  void ExclusiveScan(T in, T& out, T initial, Combine combine, T& total) {
    gather(in, combine, total);
    out = Base::me() ? combine(initial, left()) : initial;
  }
  template <class Combine>
  void ExclusiveScan(T in, T& out, T initial, Combine combine) {
    T total;
    ExclusiveScan(in, out, initial, combine, total);
  }
  // Without an initial value, what thread 0 gets is not specified.
  template <class Combine>
  void ExclusiveScan(T in, T& out, Combine combine, T& total) {
    gather(in, combine, total);
    if (Base::me()) out = left();
  }
  template <class Combine>
  void ExclusiveScan(T in, T& out, Combine combine) {
    T total;
    ExclusiveScan(in, out, combine, total);
  }
  template <class Combine, class Prefix>
  void ExclusiveScan(T in, T& out, Combine combine, Prefix& prefix) {
    T total;
    gather(in, combine, total);
    T first = before_all(prefix, total);
    out = Base::me() ? combine(first, left()) : first;
  }
  void InclusiveSum(T in, T& out) { InclusiveScan(in, out, cub::Sum()); }
  void InclusiveSum(T in, T& out, T& total) { InclusiveScan(in, out, cub::Sum(), total); }
  template <class Prefix>
  void InclusiveSum(T in, T& out, Prefix& prefix) {
    InclusiveScan(in, out, cub::Sum(), prefix);
  }
  void ExclusiveSum(T in, T& out) { ExclusiveScan(in, out, T(), cub::Sum()); }
  void ExclusiveSum(T in, T& out, T& total) { ExclusiveScan(in, out, T(), cub::Sum(), total); }
  template <class Prefix>
  void ExclusiveSum(T in, T& out, Prefix& prefix) {
    ExclusiveScan(in, out, cub::Sum(), prefix);
  }

  // ---- of several; in and out may be the same
  template <int ITEMS, class Combine>
  void InclusiveScan(T (&in)[ITEMS], T (&out)[ITEMS], Combine combine, T& total) {
    gather(Base::fold(in, combine), combine, total);
    if (Base::me()) inclusive(in, out, combine, left());
    else inclusive(in, out, combine);
  }
  template <int ITEMS, class Combine>
  void InclusiveScan(T (&in)[ITEMS], T (&out)[ITEMS], Combine combine) {
    T total;
    InclusiveScan(in, out, combine, total);
  }
  template <int ITEMS, class Combine, class Prefix>
  void InclusiveScan(T (&in)[ITEMS], T (&out)[ITEMS], Combine combine, Prefix& prefix) {
    T total;
    gather(Base::fold(in, combine), combine, total);
    T first = before_all(prefix, total);
    inclusive(in, out, combine, Base::me() ? combine(first, left()) : first);
  }
  template <int ITEMS, class Combine>
  void ExclusiveScan(T (&in)[ITEMS], T (&out)[ITEMS], T initial, Combine combine, T& total) {
    gather(Base::fold(in, combine), combine, total);
    exclusive(in, out, combine, Base::me() ? combine(initial, left()) : initial);
  }
  template <int ITEMS, class Combine>
  void ExclusiveScan(T (&in)[ITEMS], T (&out)[ITEMS], T initial, Combine combine) {
    T total;
    ExclusiveScan(in, out, initial, combine, total);
  }
  template <int ITEMS, class Combine, class Prefix>
  void ExclusiveScan(T (&in)[ITEMS], T (&out)[ITEMS], Combine combine, Prefix& prefix) {
    T total;
    gather(Base::fold(in, combine), combine, total);
    T first = before_all(prefix, total);
    exclusive(in, out, combine, Base::me() ? combine(first, left()) : first);
  }
  template <int ITEMS>
  void InclusiveSum(T (&in)[ITEMS], T (&out)[ITEMS]) {
    InclusiveScan(in, out, cub::Sum());
  }
  template <int ITEMS>
  void InclusiveSum(T (&in)[ITEMS], T (&out)[ITEMS], T& total) {
    InclusiveScan(in, out, cub::Sum(), total);
  }
  template <int ITEMS, class Prefix>
  void InclusiveSum(T (&in)[ITEMS], T (&out)[ITEMS], Prefix& prefix) {
    InclusiveScan(in, out, cub::Sum(), prefix);
  }
  template <int ITEMS>
  void ExclusiveSum(T (&in)[ITEMS], T (&out)[ITEMS]) {
    ExclusiveScan(in, out, T(), cub::Sum());
  }
  template <int ITEMS>
  void ExclusiveSum(T (&in)[ITEMS], T (&out)[ITEMS], T& total) {
    ExclusiveScan(in, out, T(), cub::Sum(), total);
  }
  template <int ITEMS, class Prefix>
  void ExclusiveSum(T (&in)[ITEMS], T (&out)[ITEMS], Prefix& prefix) {
    ExclusiveScan(in, out, cub::Sum(), prefix);
  }

 private:
  // The inclusive scan of one value a thread, which stays in shared memory.
  template <class Combine>
  T gather(T in, Combine combine, T& total) {
    storage_.values[Base::me()] = in;
    __syncthreads();
    if (!Base::me()) {
      for (int i = 1; i < Base::THREADS; ++i)
        storage_.values[i] = combine(storage_.values[i - 1], storage_.values[i]);
      storage_.total_and_prefix[0] = storage_.values[Base::THREADS - 1];
    }
    __syncthreads();
    total = storage_.total_and_prefix[0];
    return storage_.values[Base::me()];
  }
  T left() { return storage_.values[Base::me() - 1]; }
  template <class Prefix>
  T before_all(Prefix& prefix, T total) {
    if (Base::me() < 32) {
      T first = prefix(total);
      if (!Base::me()) storage_.total_and_prefix[1] = first;
    }
    __syncthreads();
    return storage_.total_and_prefix[1];
  }
  template <int ITEMS, class Combine>
  static void inclusive(T (&in)[ITEMS], T (&out)[ITEMS], Combine combine, T before) {
    for (int i = 0; i < ITEMS; ++i) out[i] = before = combine(before, in[i]);
  }
  template <int ITEMS, class Combine>
  static void inclusive(T (&in)[ITEMS], T (&out)[ITEMS], Combine combine) {
    T before = out[0] = in[0];
    for (int i = 1; i < ITEMS; ++i) out[i] = before = combine(before, in[i]);
  }
  template <int ITEMS, class Combine>
  static void exclusive(T (&in)[ITEMS], T (&out)[ITEMS], Combine combine, T before) {
    for (int i = 0; i < ITEMS; ++i) {
      T item = in[i];
      out[i] = before;
      before = combine(before, item);
    }
  }
  TempStorage& storage_;
};

}  // namespace cub
