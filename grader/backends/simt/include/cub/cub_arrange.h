// CUB's primitives that bring a block's items into another order: loads, stores, exchanges, sorts, neighbours.
//
// Blocked: thread t has items t * ITEMS and on. Striped: it has items t, t + THREADS and so on.
#pragma once
#include "cub_block.h"

namespace cub {

enum BlockLoadAlgorithm {
  BLOCK_LOAD_DIRECT,
  BLOCK_LOAD_STRIPED,
  BLOCK_LOAD_VECTORIZE,
  BLOCK_LOAD_TRANSPOSE,
  BLOCK_LOAD_WARP_TRANSPOSE,
  BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED
};
enum BlockStoreAlgorithm {
  BLOCK_STORE_DIRECT,
  BLOCK_STORE_STRIPED,
  BLOCK_STORE_VECTORIZE,
  BLOCK_STORE_TRANSPOSE,
  BLOCK_STORE_WARP_TRANSPOSE,
  BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED
};
enum BlockHistogramAlgorithm { BLOCK_HISTO_SORT, BLOCK_HISTO_ATOMIC };

template <class T, int X, int ITEMS, bool = false, int Y = 1, int Z = 1, int = 0>
class BlockExchange : OfBlock<X, Y, Z> {
  using Base = OfBlock<X, Y, Z>;
  static constexpr int THREADS = Base::THREADS;
  static int blocked(int i) { return Base::me() * ITEMS + i; }
  static int striped(int i) { return Base::me() + i * THREADS; }
  static int warp_striped(int i) { return Base::me() / 32 * 32 * ITEMS + Base::me() % 32 + i * 32; }

 public:
  struct TempStorage {
    Slots<T, THREADS * ITEMS> items;
  };
  BlockExchange() : storage_(Base::template of_its_own<TempStorage>()) {}
  explicit BlockExchange(TempStorage& storage) : storage_(storage) {}
  template <class Out>
  void StripedToBlocked(const T (&in)[ITEMS], Out (&out)[ITEMS]) {
    through<true>(in, out, striped, blocked);
  }
  template <class Out>
  void BlockedToStriped(const T (&in)[ITEMS], Out (&out)[ITEMS]) {
    through<true>(in, out, blocked, striped);
  }
  template <class Out>
  void WarpStripedToBlocked(const T (&in)[ITEMS], Out (&out)[ITEMS]) {
    through<false>(in, out, warp_striped, blocked);
  }
  template <class Out>
  void BlockedToWarpStriped(const T (&in)[ITEMS], Out (&out)[ITEMS]) {
    through<false>(in, out, blocked, warp_striped);
  }
  template <class Out, class Rank>
  void ScatterToBlocked(const T (&in)[ITEMS], Out (&out)[ITEMS], Rank (&ranks)[ITEMS]) {
    through<true>(in, out, [&](int i) { return int(ranks[i]); }, blocked);
  }
  template <class Out, class Rank>
  void ScatterToStriped(const T (&in)[ITEMS], Out (&out)[ITEMS], Rank (&ranks)[ITEMS]) {
    through<true>(in, out, [&](int i) { return int(ranks[i]); }, striped);
  }
  void StripedToBlocked(T (&items)[ITEMS]) { StripedToBlocked(items, items); }
  void BlockedToStriped(T (&items)[ITEMS]) { BlockedToStriped(items, items); }
  void WarpStripedToBlocked(T (&items)[ITEMS]) { WarpStripedToBlocked(items, items); }
  void BlockedToWarpStriped(T (&items)[ITEMS]) { BlockedToWarpStriped(items, items); }
  template <class Rank>
  void ScatterToBlocked(T (&items)[ITEMS], Rank (&ranks)[ITEMS]) {
    ScatterToBlocked(items, items, ranks);
  }
  template <class Rank>
  void ScatterToStriped(T (&items)[ITEMS], Rank (&ranks)[ITEMS]) {
    ScatterToStriped(items, items, ranks);
  }

 private:
  template <bool WHOLE_BLOCK, class Out, class To, class From>
  void through(const T (&in)[ITEMS], Out (&out)[ITEMS], To to, From from) {
    for (int i = 0; i < ITEMS; ++i) storage_.items[to(i)] = in[i];
    if constexpr (WHOLE_BLOCK) __syncthreads();
    else __syncwarp();
    for (int i = 0; i < ITEMS; ++i) out[i] = storage_.items[from(i)];
  }
  TempStorage& storage_;
};

// What loads and stores have in common: the order in which threads touch memory, and the exchange after or before.
template <class T, int X, int ITEMS, int ALGORITHM, int Y, int Z>
struct Transfer : OfBlock<X, Y, Z> {
  using Base = OfBlock<X, Y, Z>;
  using Exchanged = BlockExchange<T, X, ITEMS, false, Y, Z>;
  static constexpr bool THROUGH_BLOCK = ALGORITHM == BLOCK_LOAD_TRANSPOSE;
  static constexpr bool THROUGH_WARP = ALGORITHM > BLOCK_LOAD_TRANSPOSE;
  struct Nothing {};
  using TempStorage =
      std::conditional_t<THROUGH_BLOCK || THROUGH_WARP, typename Exchanged::TempStorage, Nothing>;
  static int place(int i) {
    int me = Base::me();
    if constexpr (ALGORITHM == BLOCK_LOAD_STRIPED || THROUGH_BLOCK) return me + i * Base::THREADS;
    if constexpr (THROUGH_WARP) return me / 32 * 32 * ITEMS + me % 32 + i * 32;
    return me * ITEMS + i;
  }
};

template <class T, int X, int ITEMS, BlockLoadAlgorithm ALGORITHM = BLOCK_LOAD_DIRECT, int Y = 1, int Z = 1, int = 0>
class BlockLoad : Transfer<T, X, ITEMS, ALGORITHM, Y, Z> {
  using Base = Transfer<T, X, ITEMS, ALGORITHM, Y, Z>;

 public:
  using TempStorage = typename Base::TempStorage;
  BlockLoad() : storage_(Base::template of_its_own<TempStorage>()) {}
  explicit BlockLoad(TempStorage& storage) : storage_(storage) {}
  template <class In>
  void Load(In in, T (&items)[ITEMS]) {
    for (int i = 0; i < ITEMS; ++i) items[i] = in[Base::place(i)];
    arrange(items);
  }
  template <class In>
  void Load(In in, T (&items)[ITEMS], int valid) {
    for (int i = 0; i < ITEMS; ++i)
      if (Base::place(i) < valid) items[i] = in[Base::place(i)];
    arrange(items);
  }
  template <class In, class Default>
  void Load(In in, T (&items)[ITEMS], int valid, Default beyond) {
    for (int i = 0; i < ITEMS; ++i) items[i] = Base::place(i) < valid ? T(in[Base::place(i)]) : T(beyond);
    arrange(items);
  }

 private:
  void arrange(T (&items)[ITEMS]) {
    if constexpr (Base::THROUGH_BLOCK) typename Base::Exchanged(storage_).StripedToBlocked(items);
    if constexpr (Base::THROUGH_WARP) typename Base::Exchanged(storage_).WarpStripedToBlocked(items);
  }
  TempStorage& storage_;
};

template <class T, int X, int ITEMS, BlockStoreAlgorithm ALGORITHM = BLOCK_STORE_DIRECT, int Y = 1, int Z = 1, int = 0>
class BlockStore : Transfer<T, X, ITEMS, ALGORITHM, Y, Z> {
  using Base = Transfer<T, X, ITEMS, ALGORITHM, Y, Z>;

 public:
  using TempStorage = typename Base::TempStorage;
  BlockStore() : storage_(Base::template of_its_own<TempStorage>()) {}
  explicit BlockStore(TempStorage& storage) : storage_(storage) {}
  template <class Out>
  void Store(Out out, T (&items)[ITEMS]) {
    Store(out, items, Base::THREADS * ITEMS);
  }
  template <class Out>
  void Store(Out out, T (&items)[ITEMS], int valid) {
    if constexpr (Base::THROUGH_BLOCK) typename Base::Exchanged(storage_).BlockedToStriped(items);
    if constexpr (Base::THROUGH_WARP) typename Base::Exchanged(storage_).BlockedToWarpStriped(items);
    for (int i = 0; i < ITEMS; ++i)
      if (Base::place(i) < valid) out[Base::place(i)] = items[i];
  }

 private:
  TempStorage& storage_;
};

// The same, as functions.
template <class In, class T, int ITEMS>
void LoadDirectBlocked(int thread, In in, T (&items)[ITEMS]) {
  for (int i = 0; i < ITEMS; ++i) items[i] = in[thread * ITEMS + i];
}
template <class In, class T, int ITEMS>
void LoadDirectBlocked(int thread, In in, T (&items)[ITEMS], int valid) {
  for (int i = 0; i < ITEMS; ++i)
    if (thread * ITEMS + i < valid) items[i] = in[thread * ITEMS + i];
}
template <int THREADS, class In, class T, int ITEMS>
void LoadDirectStriped(int thread, In in, T (&items)[ITEMS]) {
  for (int i = 0; i < ITEMS; ++i) items[i] = in[thread + i * THREADS];
}
template <class Out, class T, int ITEMS>
void StoreDirectBlocked(int thread, Out out, T (&items)[ITEMS]) {
  for (int i = 0; i < ITEMS; ++i) out[thread * ITEMS + i] = items[i];
}
template <int THREADS, class Out, class T, int ITEMS>
void StoreDirectStriped(int thread, Out out, T (&items)[ITEMS]) {
  for (int i = 0; i < ITEMS; ++i) out[thread + i * THREADS] = items[i];
}

// Bit by bit, from the lowest: what has a 0 comes before what has a 1, each in the order that it had.
template <class Key, int X, int ITEMS, class Value = NullType, int = 4, bool = true,
          BlockScanAlgorithm = BLOCK_SCAN_WARP_SCANS, int = 0, int Y = 1, int Z = 1, int = 0>
class BlockRadixSort : OfBlock<X, Y, Z> {
  using Base = OfBlock<X, Y, Z>;
  using Counts = BlockScan<int, X, BLOCK_SCAN_RAKING, Y, Z>;
  using Keys = BlockExchange<Key, X, ITEMS, false, Y, Z>;
  using Values = BlockExchange<Value, X, ITEMS, false, Y, Z>;
  static constexpr int ALL = 8 * sizeof(Key);

 public:
  struct TempStorage {
    union {
      typename Keys::TempStorage keys;
      typename Values::TempStorage values;
    };
    typename Counts::TempStorage counts;
  };
  BlockRadixSort() : storage_(Base::template of_its_own<TempStorage>()) {}
  explicit BlockRadixSort(TempStorage& storage) : storage_(storage) {}
  void Sort(Key (&keys)[ITEMS], int begin = 0, int end = ALL) { sort<false, false>(keys, none_, begin, end); }
  void Sort(Key (&keys)[ITEMS], Value (&values)[ITEMS], int begin = 0, int end = ALL) {
    sort<false, false>(keys, values, begin, end);
  }
  void SortDescending(Key (&keys)[ITEMS], int begin = 0, int end = ALL) {
    sort<true, false>(keys, none_, begin, end);
  }
  void SortDescending(Key (&keys)[ITEMS], Value (&values)[ITEMS], int begin = 0, int end = ALL) {
    sort<true, false>(keys, values, begin, end);
  }
  void SortBlockedToStriped(Key (&keys)[ITEMS], int begin = 0, int end = ALL) {
    sort<false, true>(keys, none_, begin, end);
  }
  void SortBlockedToStriped(Key (&keys)[ITEMS], Value (&values)[ITEMS], int begin = 0, int end = ALL) {
    sort<false, true>(keys, values, begin, end);
  }
  void SortDescendingBlockedToStriped(Key (&keys)[ITEMS], int begin = 0, int end = ALL) {
    sort<true, true>(keys, none_, begin, end);
  }
  void SortDescendingBlockedToStriped(Key (&keys)[ITEMS], Value (&values)[ITEMS], int begin = 0, int end = ALL) {
    sort<true, true>(keys, values, begin, end);
  }

 private:
  template <bool DESCENDING, bool TO_STRIPED, class V>
  void sort(Key (&keys)[ITEMS], V (&values)[ITEMS], int begin, int end) {
    int ranks[ITEMS];
    for (int i = 0; i < ITEMS; ++i) ranks[i] = Base::me() * ITEMS + i;
    for (int bit = begin; bit < end; ++bit) {
      if (bit > begin) move(keys, values, ranks);
      rank<DESCENDING>(keys, ranks, bit);
    }
    if constexpr (TO_STRIPED) {
      Keys(storage_.keys).ScatterToStriped(keys, ranks);
      if constexpr (!std::is_same_v<V, Nothing>) __syncthreads(), Values(storage_.values).ScatterToStriped(values, ranks);
    } else {
      move(keys, values, ranks);
    }
  }
  template <class V>
  void move(Key (&keys)[ITEMS], V (&values)[ITEMS], int (&ranks)[ITEMS]) {
    Keys(storage_.keys).ScatterToBlocked(keys, ranks);
    __syncthreads();
    if constexpr (!std::is_same_v<V, Nothing>) Values(storage_.values).ScatterToBlocked(values, ranks), __syncthreads();
  }
  template <bool DESCENDING>
  void rank(Key (&keys)[ITEMS], int (&ranks)[ITEMS], int bit) {
    unsigned ones[ITEMS];
    int zeros = 0, zeros_before, all_zeros;
    for (int i = 0; i < ITEMS; ++i) zeros += !(ones[i] = radix_digit(keys[i], DESCENDING, bit, 1));
    Counts(storage_.counts).ExclusiveSum(zeros, zeros_before, all_zeros);
    __syncthreads();
    for (int i = 0; i < ITEMS; ++i) {
      ranks[i] = ones[i] ? all_zeros + Base::me() * ITEMS + i - zeros_before : zeros_before;
      zeros_before += !ones[i];
    }
  }
  struct Nothing {};
  Nothing none_[ITEMS];
  TempStorage& storage_;
};

// Items that differ from their neighbours, by an operator that may take the item's number as well.
template <class T, int X, int Y = 1, int Z = 1, int = 0>
class BlockDiscontinuity : OfBlock<X, Y, Z> {
  using Base = OfBlock<X, Y, Z>;

 public:
  struct TempStorage {
    Slots<T, Base::THREADS> first, last;
  };
  BlockDiscontinuity() : storage_(Base::template of_its_own<TempStorage>()) {}
  explicit BlockDiscontinuity(TempStorage& storage) : storage_(storage) {}
  template <int ITEMS, class Flag, class Differ>
  void FlagHeads(Flag (&heads)[ITEMS], T (&in)[ITEMS], Differ differ) {
    share(in);
    for (int i = ITEMS - 1; i > 0; --i) heads[i] = ask(differ, in[i - 1], in[i], Base::me() * ITEMS + i);
    heads[0] = !Base::me() || ask(differ, left(), in[0], Base::me() * ITEMS);
  }
  template <int ITEMS, class Flag, class Differ>
  void FlagHeads(Flag (&heads)[ITEMS], T (&in)[ITEMS], Differ differ, T before) {
    FlagHeads(heads, in, differ);
    if (!Base::me()) heads[0] = ask(differ, before, in[0], 0);
  }
  template <int ITEMS, class Flag, class Differ>
  void FlagTails(Flag (&tails)[ITEMS], T (&in)[ITEMS], Differ differ) {
    share(in);
    for (int i = 0; i < ITEMS - 1; ++i) tails[i] = ask(differ, in[i], in[i + 1], Base::me() * ITEMS + i + 1);
    tails[ITEMS - 1] = is_last() || ask(differ, in[ITEMS - 1], right(), (Base::me() + 1) * ITEMS);
  }
  template <int ITEMS, class Flag, class Differ>
  void FlagTails(Flag (&tails)[ITEMS], T (&in)[ITEMS], Differ differ, T after) {
    FlagTails(tails, in, differ);
    if (is_last()) tails[ITEMS - 1] = ask(differ, in[ITEMS - 1], after, Base::THREADS * ITEMS);
  }
  template <int ITEMS, class Flag, class Differ>
  void FlagHeadsAndTails(Flag (&heads)[ITEMS], Flag (&tails)[ITEMS], T (&in)[ITEMS], Differ differ) {
    FlagHeads(heads, in, differ);
    __syncthreads();
    FlagTails(tails, in, differ);
  }

 private:
  template <int ITEMS>
  void share(T (&in)[ITEMS]) {
    storage_.first[Base::me()] = in[0];
    storage_.last[Base::me()] = in[ITEMS - 1];
    __syncthreads();
  }
  static bool is_last() { return Base::me() == Base::THREADS - 1; }
  T left() { return storage_.last[Base::me() - 1]; }
  T right() { return storage_.first[Base::me() + 1]; }
  template <class Differ>
  static bool ask(Differ& differ, const T& a, const T& b, int number) {
    if constexpr (std::is_invocable_v<Differ, T, T, int>) return differ(a, b, number);
    else return differ(a, b);
  }
  TempStorage& storage_;
};

template <class T, int X, int Y = 1, int Z = 1, int = 0>
class BlockAdjacentDifference : OfBlock<X, Y, Z> {
  using Base = OfBlock<X, Y, Z>;

 public:
  struct TempStorage {
    Slots<T, Base::THREADS> first, last;
  };
  BlockAdjacentDifference() : storage_(Base::template of_its_own<TempStorage>()) {}
  explicit BlockAdjacentDifference(TempStorage& storage) : storage_(storage) {}
  // The block's first item has no neighbour to its left, and stays.
  template <int ITEMS, class Out, class Operation>
  void SubtractLeft(T (&in)[ITEMS], Out (&out)[ITEMS], Operation operation) {
    storage_.last[Base::me()] = in[ITEMS - 1];
    __syncthreads();
    for (int i = ITEMS - 1; i > 0; --i) out[i] = operation(in[i], in[i - 1]);
    out[0] = Base::me() ? operation(in[0], storage_.last[Base::me() - 1]) : in[0];
  }
  template <int ITEMS, class Out, class Operation>
  void SubtractRight(T (&in)[ITEMS], Out (&out)[ITEMS], Operation operation) {
    storage_.first[Base::me()] = in[0];
    __syncthreads();
    for (int i = 0; i < ITEMS - 1; ++i) out[i] = operation(in[i], in[i + 1]);
    bool last = Base::me() == Base::THREADS - 1;
    out[ITEMS - 1] = last ? in[ITEMS - 1] : operation(in[ITEMS - 1], storage_.first[Base::me() + 1]);
  }

 private:
  TempStorage& storage_;
};

template <class T, int X, int Y = 1, int Z = 1, int = 0>
class BlockShuffle : OfBlock<X, Y, Z> {
  using Base = OfBlock<X, Y, Z>;

 public:
  struct TempStorage {
    Slots<T, Base::THREADS> values;
  };
  BlockShuffle() : storage_(Base::template of_its_own<TempStorage>()) {}
  explicit BlockShuffle(TempStorage& storage) : storage_(storage) {}
  // Who is asked for a thread that is not there gets nothing.
  void Offset(T in, T& out, int distance = 1) {
    share(in);
    int from = Base::me() + distance;
    if (from >= 0 && from < Base::THREADS) out = storage_.values[from];
  }
  void Rotate(T in, T& out, unsigned distance = 1) {
    share(in);
    out = storage_.values[(Base::me() + int(distance)) % Base::THREADS];
  }
  template <int ITEMS>
  void Up(T (&in)[ITEMS], T (&out)[ITEMS]) {
    share(in[ITEMS - 1]);
    for (int i = ITEMS - 1; i > 0; --i) out[i] = in[i - 1];
    if (Base::me()) out[0] = storage_.values[Base::me() - 1];
  }
  template <int ITEMS>
  void Down(T (&in)[ITEMS], T (&out)[ITEMS]) {
    share(in[0]);
    for (int i = 0; i < ITEMS - 1; ++i) out[i] = in[i + 1];
    if (Base::me() < Base::THREADS - 1) out[ITEMS - 1] = storage_.values[Base::me() + 1];
  }

 private:
  void share(T value) {
    storage_.values[Base::me()] = value;
    __syncthreads();
  }
  TempStorage& storage_;
};

template <class T, int X, int ITEMS, int BINS, BlockHistogramAlgorithm = BLOCK_HISTO_SORT, int Y = 1, int Z = 1, int = 0>
class BlockHistogram : OfBlock<X, Y, Z> {
  using Base = OfBlock<X, Y, Z>;

 public:
  struct TempStorage {};
  BlockHistogram() {}
  explicit BlockHistogram(TempStorage&) {}
  template <class Count>
  void InitHistogram(Count (&bins)[BINS]) {
    for (int i = Base::me(); i < BINS; i += Base::THREADS) bins[i] = 0;
  }
  template <class Count>
  void Composite(T (&items)[ITEMS], Count (&bins)[BINS]) {
    for (int i = 0; i < ITEMS; ++i) atomicAdd(bins + items[i], Count(1));
  }
  template <class Count>
  void Histogram(T (&items)[ITEMS], Count (&bins)[BINS]) {
    InitHistogram(bins);
    __syncthreads();
    Composite(items, bins);
  }
};

// Merges in shared memory: runs of 1, 2, 4 and so on items, each thread its own items' places.
template <class Key, int X, int ITEMS, class Value = NullType, int Y = 1, int Z = 1>
class BlockMergeSort : OfBlock<X, Y, Z> {
  using Base = OfBlock<X, Y, Z>;
  using Keys = BlockExchange<Key, X, ITEMS, false, Y, Z>;
  using Values = BlockExchange<Value, X, ITEMS, false, Y, Z>;
  static constexpr int ALL = Base::THREADS * ITEMS;

 public:
  union TempStorage {
    typename Keys::TempStorage keys;
    typename Values::TempStorage values;
  };
  BlockMergeSort() : storage_(Base::template of_its_own<TempStorage>()) {}
  explicit BlockMergeSort(TempStorage& storage) : storage_(storage) {}
  template <class Less>
  void Sort(Key (&keys)[ITEMS], Less less) {
    Value none[ITEMS] = {};
    sort(keys, none, less, ALL);
  }
  template <class Less>
  void Sort(Key (&keys)[ITEMS], Less less, int valid, Key beyond) {
    Value none[ITEMS] = {};
    fill(keys, valid, beyond);
    sort(keys, none, less, valid);
  }
  template <class Less>
  void Sort(Key (&keys)[ITEMS], Value (&values)[ITEMS], Less less) {
    sort(keys, values, less, ALL);
  }
  template <class Less>
  void Sort(Key (&keys)[ITEMS], Value (&values)[ITEMS], Less less, int valid, Key beyond) {
    fill(keys, valid, beyond);
    sort(keys, values, less, valid);
  }
  template <class Less>
  void StableSort(Key (&keys)[ITEMS], Less less) {
    Sort(keys, less);
  }
  template <class Less>
  void StableSort(Key (&keys)[ITEMS], Value (&values)[ITEMS], Less less) {
    Sort(keys, values, less);
  }

 private:
  static void fill(Key (&keys)[ITEMS], int valid, const Key& beyond) {
    for (int i = 0; i < ITEMS; ++i)
      if (Base::me() * ITEMS + i >= valid) keys[i] = beyond;
  }
  template <class Less>
  void sort(Key (&keys)[ITEMS], Value (&values)[ITEMS], Less less, int valid) {
    for (int run = 1; run < ALL; run *= 2) {
      int ranks[ITEMS];
      for (int i = 0; i < ITEMS; ++i) storage_.keys.items[Base::me() * ITEMS + i] = keys[i];
      __syncthreads();
      for (int i = 0; i < ITEMS; ++i) ranks[i] = rank(keys[i], Base::me() * ITEMS + i, run, less);
      __syncthreads();
      Keys(storage_.keys).ScatterToBlocked(keys, ranks);
      __syncthreads();
      if constexpr (!std::is_same_v<Value, NullType>) Values(storage_.values).ScatterToBlocked(values, ranks), __syncthreads();
    }
  }
  // Its place once its run and the neighbouring one are merged; of equal items those of the left run come first.
  template <class Less>
  int rank(const Key& key, int at, int run, Less less) {
    int pair = at / (2 * run) * (2 * run), middle = min(pair + run, ALL), end = min(pair + 2 * run, ALL);
    bool is_left = at < middle;
    int low = is_left ? middle : pair, high = is_left ? end : middle, first = low;
    while (low < high) {
      int at_half = (low + high) / 2;
      const Key& other = storage_.keys.items[at_half];
      if (is_left ? less(other, key) : !less(key, other)) low = at_half + 1;
      else high = at_half;
    }
    return at - (is_left ? pair : middle) + pair + low - first;
  }
  TempStorage& storage_;
};

}  // namespace cub
