// CUB's algorithms of a whole device, each as one launch of one block. It goes through its input tile by tile: all
// threads read and write side by side, and thread 0 does what has an order.
#pragma once
#include "cub_arrange.h"

namespace cub {
namespace of_device {

static constexpr int TILE = 256;

// The tile's memory, which the launch asks for.
template <class T>
T* shared(size_t bytes_before = 0) {
  return (T*)(simt_dynamic_shared + (bytes_before + 15) / 16 * 16);
}

// The first call, without memory, says how much is needed; the second one launches.
template <class Body, class... A>
cudaError_t run(const char* name, void* memory, size_t& bytes, size_t needs, size_t shared_bytes, cudaStream_t stream,
                const char* file, int line, Body body, A... a) {
  if (!memory) {
    bytes = needs ? needs : 1;
    return cudaSuccess;
  }
  if (bytes < needs) return (cudaError_t)simt_fail(cudaErrorInvalidValue);
  simt::launch({name, file, line}, simt::Config(1, TILE, shared_bytes + 32, stream), false, body, a...);
  return cudaPeekAtLastError();
}
#define CUB_HERE const char *file = __builtin_FILE(), int line = __builtin_LINE()

// Calls `body(first, count)` for each tile, between barriers.
template <class Body>
void tiles(long long n, Body body) {
  for (long long first = 0; first < n; first += TILE) {
    body(first, int(n - first < TILE ? n - first : TILE));
    __syncthreads();
  }
}
inline int me() { return int(threadIdx.x); }

template <class T, class In, class Out, class Op, class Init>
void reduce(In in, Out out, long long n, Op op, Init initial) {
  T* values = shared<T>();
  T total = T(initial);
  tiles(n, [&](long long first, int count) {
    if (me() < count) values[me()] = in[first + me()];
    __syncthreads();
    if (!me())
      for (int i = 0; i < count; ++i) total = op(total, values[i]);
  });
  if (!me()) *out = total;
}

template <class T, bool INCLUSIVE, bool HAS_INITIAL, class In, class Out, class Op>
void scan(In in, Out out, long long n, Op op, T initial) {
  T* values = shared<T>();
  T before = initial;
  tiles(n, [&](long long first, int count) {
    if (me() < count) values[me()] = in[first + me()];
    __syncthreads();
    if (!me())
      for (int i = 0; i < count; ++i) {
        T item = values[i];
        T after = HAS_INITIAL || first + i ? T(op(before, item)) : item;
        values[i] = INCLUSIVE ? after : before;
        before = after;
      }
    __syncthreads();
    if (me() < count) out[first + me()] = values[me()];
  });
}

// Moves what `kept(i)` says to the front of out, and what it does not to `others` from the end on.
template <class T, class In, class Kept, class Out, class Count, class Others>
void select(In in, long long n, Kept kept, Out out, Count number, Others others) {
  int* places = shared<int>();
  long long* chosen = shared<long long>(TILE * sizeof(int));
  if (!me()) *chosen = 0;
  __syncthreads();
  tiles(n, [&](long long first, int count) {
    long long i = first + me(), before = *chosen;
    T item{};
    int keep = 0;
    if (me() < count) item = in[i], keep = kept(i) ? 1 : 0;
    places[me()] = keep;
    __syncthreads();
    if (!me()) {
      int total = 0;
      for (int k = 0; k < TILE; ++k) {
        int was = places[k];
        places[k] = total;
        total += was;
      }
      *chosen = before + total;
    }
    __syncthreads();
    if (me() < count) {
      if (keep) out[before + places[me()]] = item;
      else others(n - 1 - (i - before - places[me()]), item);
    }
  });
  if (!me()) *number = *chosen;
}
struct Dropped {
  template <class T>
  void operator()(long long, const T&) const {}
};

// One item a run of equal keys: the key, and its values folded.
template <class Key, class Value, class Keys, class Values, class OutKeys, class OutValues, class Count, class Op,
          class Equal>
void by_key(Keys keys, OutKeys out_keys, Values values, OutValues out_values, Count number, long long n, Op op,
            Equal equal) {
  Key* key = shared<Key>();
  Value* value = shared<Value>(TILE * sizeof(Key));
  Key current{};
  Value total{};
  long long runs = 0;
  tiles(n, [&](long long first, int count) {
    if (me() < count) key[me()] = keys[first + me()], value[me()] = values[first + me()];
    __syncthreads();
    if (me()) return;
    for (int i = 0; i < count; ++i) {
      if (first + i && equal(current, key[i])) {
        total = op(total, value[i]);
        continue;
      }
      if (runs) out_keys[runs - 1] = current, out_values[runs - 1] = total;
      current = key[i], total = value[i], ++runs;
    }
  });
  if (me()) return;
  if (runs) out_keys[runs - 1] = current, out_values[runs - 1] = total;
  *number = runs;
}

// Keys with their values by 8 bits at a time, from the lowest, between two buffers. What is sorted lies in the first
// one in the end.
template <class Key, class Value>
void radix_pass(const Key* from_keys, Key* to_keys, const Value* from_values, Value* to_values, long long n,
                bool descending, int bit, int bits) {
  static constexpr int DIGITS = 256;
  long long* next = shared<long long>();
  long long* places = next + DIGITS;
  for (int d = me(); d < DIGITS; d += TILE) next[d] = 0;
  __syncthreads();
  for (long long i = me(); i < n; i += TILE)
    atomicAdd((unsigned long long*)next + radix_digit(from_keys[i], descending, bit, bits), 1ull);
  __syncthreads();
  if (!me()) {
    long long before = 0;
    for (int d = 0; d < DIGITS; ++d) {
      long long here = next[d];
      next[d] = before;
      before += here;
    }
  }
  __syncthreads();
  tiles(n, [&](long long first, int count) {
    long long i = first + me();
    if (me() < count) places[me()] = radix_digit(from_keys[i], descending, bit, bits);
    __syncthreads();
    if (!me())
      for (int k = 0; k < count; ++k) places[k] = next[places[k]]++;
    __syncthreads();
    if (me() < count) {
      to_keys[places[me()]] = from_keys[i];
      if constexpr (!std::is_same_v<Value, NullType>) to_values[places[me()]] = from_values[i];
    }
  });
}
static constexpr size_t RADIX_SHARED = 512 * sizeof(long long);

template <class Key, class Value>
void copy(const Key* keys, Key* to_keys, const Value* values, Value* to_values, long long n) {
  for (long long i = me(); i < n; i += TILE) {
    to_keys[i] = keys[i];
    if constexpr (!std::is_same_v<Value, NullType>) to_values[i] = values[i];
  }
  __syncthreads();
}

template <class Key, class Value>
void radix(const Key* keys, Key* out_keys, const Value* values, Value* out_values, Key* more_keys, Value* more_values,
           long long n, bool descending, int begin, int end) {
  copy(keys, out_keys, values, out_values, n);
  bool in_out = true;
  for (int bit = begin; bit < end; bit += 8, in_out = !in_out) {
    int bits = end - bit < 8 ? end - bit : 8;
    if (in_out) radix_pass(out_keys, more_keys, out_values, more_values, n, descending, bit, bits);
    else radix_pass(more_keys, out_keys, more_values, out_values, n, descending, bit, bits);
  }
  if (!in_out) copy(more_keys, out_keys, more_values, out_values, n);
}

template <class Value>
constexpr size_t bytes_of() {
  return std::is_same_v<Value, NullType> ? 0 : sizeof(Value);
}
inline size_t rounded(size_t bytes) { return (bytes + 255) / 256 * 256; }

template <class Key, class Value>
cudaError_t sort(const char* name, void* memory, size_t& bytes, const Key* keys, Key* out_keys, const Value* values,
                 Value* out_values, long long n, bool descending, int begin, int end, cudaStream_t stream,
                 const char* file, int line) {
  size_t of_keys = rounded(n * sizeof(Key));
  auto body = [](const Key* keys, Key* out_keys, const Value* values, Value* out_values, Key* more_keys,
                 Value* more_values, long long n, bool descending, int begin, int end) {
    radix(keys, out_keys, values, out_values, more_keys, more_values, n, descending, begin, end);
  };
  return run(name, memory, bytes, of_keys + n * bytes_of<Value>(), RADIX_SHARED, stream, file, line, body, keys,
             out_keys, values, out_values, (Key*)memory, (Value*)((char*)memory + of_keys), n, descending, begin, end);
}

}  // namespace of_device

#define CUB_TEMP void *memory, size_t &bytes
#define CUB_STREAM cudaStream_t stream = nullptr, bool = false, CUB_HERE
#define CUB_RUN(NAME, NEEDS, SHARED, ...) \
  of_device::run(NAME, memory, bytes, NEEDS, SHARED, stream, file, line, __VA_ARGS__)

struct DeviceReduce {
  template <class In, class Out, class N, class Op, class T>
  static cudaError_t Reduce(CUB_TEMP, In in, Out out, N n, Op op, T initial, CUB_STREAM) {
    return of("cub::DeviceReduce::Reduce", memory, bytes, in, out, n, op, initial, stream, file, line);
  }
  template <class In, class Out, class N>
  static cudaError_t Sum(CUB_TEMP, In in, Out out, N n, CUB_STREAM) {
    return of("cub::DeviceReduce::Sum", memory, bytes, in, out, n, cub::Sum(), written_to<Out, value_of<In>>(), stream,
              file, line);
  }
  template <class In, class Out, class N>
  static cudaError_t Min(CUB_TEMP, In in, Out out, N n, CUB_STREAM) {
    using T = value_of<In>;
    return of("cub::DeviceReduce::Min", memory, bytes, in, out, n, cub::Min(), std::numeric_limits<T>::max(), stream,
              file, line);
  }
  template <class In, class Out, class N>
  static cudaError_t Max(CUB_TEMP, In in, Out out, N n, CUB_STREAM) {
    using T = value_of<In>;
    return of("cub::DeviceReduce::Max", memory, bytes, in, out, n, cub::Max(), std::numeric_limits<T>::lowest(),
              stream, file, line);
  }
  template <class In, class Out, class N>
  static cudaError_t ArgMin(CUB_TEMP, In in, Out out, N n, CUB_STREAM) {
    using Pair = written_to<Out, KeyValuePair<int, value_of<In>>>;
    Pair initial(1, std::numeric_limits<value_of<In>>::max());
    ArgIndexInputIterator<In, int, typename Pair::Value> pairs(in);
    return of("cub::DeviceReduce::ArgMin", memory, bytes, pairs, out, n, cub::ArgMin(), initial, stream, file, line);
  }
  template <class In, class Out, class N>
  static cudaError_t ArgMax(CUB_TEMP, In in, Out out, N n, CUB_STREAM) {
    using Pair = written_to<Out, KeyValuePair<int, value_of<In>>>;
    Pair initial(1, std::numeric_limits<value_of<In>>::lowest());
    ArgIndexInputIterator<In, int, typename Pair::Value> pairs(in);
    return of("cub::DeviceReduce::ArgMax", memory, bytes, pairs, out, n, cub::ArgMax(), initial, stream, file, line);
  }
  template <class Keys, class OutKeys, class Values, class OutValues, class Count, class Op, class N>
  static cudaError_t ReduceByKey(CUB_TEMP, Keys keys, OutKeys out_keys, Values values, OutValues out_values, Count number,
                                 Op op, N n, CUB_STREAM) {
    using Key = value_of<Keys>;
    using Value = accumulator_of<Op, value_of<Values>, value_of<Values>>;
    auto body = [](Keys keys, OutKeys out_keys, Values values, OutValues out_values, Count number, Op op, long long n) {
      of_device::by_key<Key, Value>(keys, out_keys, values, out_values, number, n, op, Equality());
    };
    return CUB_RUN("cub::DeviceReduce::ReduceByKey", 1, of_device::TILE * (sizeof(Key) + sizeof(Value)), body, keys,
                   out_keys, values, out_values, number, op, (long long)n);
  }

 private:
  template <class In, class Out, class N, class Op, class T>
  static cudaError_t of(const char* name, CUB_TEMP, In in, Out out, N n, Op op, T initial, cudaStream_t stream,
                        const char* file, int line) {
    using Total = accumulator_of<Op, T, value_of<In>>;
    auto body = [](In in, Out out, long long n, Op op, T initial) {
      of_device::reduce<Total>(in, out, n, op, initial);
    };
    return CUB_RUN(name, 1, of_device::TILE * sizeof(Total), body, in, out, (long long)n, op, initial);
  }
};

struct DeviceSegmentedReduce {
  template <class In, class Out, class Begin, class End, class Op, class T>
  static cudaError_t Reduce(CUB_TEMP, In in, Out out, int segments, Begin begin, End end, Op op, T initial, CUB_STREAM) {
    return of("cub::DeviceSegmentedReduce::Reduce", memory, bytes, in, out, segments, begin, end, op, initial, stream,
              file, line);
  }
  template <class In, class Out, class Begin, class End>
  static cudaError_t Sum(CUB_TEMP, In in, Out out, int segments, Begin begin, End end, CUB_STREAM) {
    return of("cub::DeviceSegmentedReduce::Sum", memory, bytes, in, out, segments, begin, end, cub::Sum(),
              written_to<Out, value_of<In>>(), stream, file, line);
  }
  template <class In, class Out, class Begin, class End>
  static cudaError_t Min(CUB_TEMP, In in, Out out, int segments, Begin begin, End end, CUB_STREAM) {
    return of("cub::DeviceSegmentedReduce::Min", memory, bytes, in, out, segments, begin, end, cub::Min(),
              std::numeric_limits<value_of<In>>::max(), stream, file, line);
  }
  template <class In, class Out, class Begin, class End>
  static cudaError_t Max(CUB_TEMP, In in, Out out, int segments, Begin begin, End end, CUB_STREAM) {
    return of("cub::DeviceSegmentedReduce::Max", memory, bytes, in, out, segments, begin, end, cub::Max(),
              std::numeric_limits<value_of<In>>::lowest(), stream, file, line);
  }

 private:
  template <class In, class Out, class Begin, class End, class Op, class T>
  static cudaError_t of(const char* name, CUB_TEMP, In in, Out out, int segments, Begin begin, End end, Op op, T initial,
                        cudaStream_t stream, const char* file, int line) {
    using Total = accumulator_of<Op, T, value_of<In>>;
    auto body = [](In in, Out out, int segments, Begin begin, End end, Op op, T initial) {
      for (int s = 0; s < segments; ++s)
        of_device::reduce<Total>(in + begin[s], out + s, (long long)end[s] - begin[s], op, initial);
    };
    return CUB_RUN(name, 1, of_device::TILE * sizeof(Total), body, in, out, segments, begin, end, op, initial);
  }
};

struct DeviceScan {
  template <class In, class Out, class N>
  static cudaError_t InclusiveSum(CUB_TEMP, In in, Out out, N n, CUB_STREAM) {
    return of<true, false>("cub::DeviceScan::InclusiveSum", memory, bytes, in, out, n, Sum(), value_of<In>(), stream,
                           file, line);
  }
  template <class In, class Out, class N>
  static cudaError_t ExclusiveSum(CUB_TEMP, In in, Out out, N n, CUB_STREAM) {
    return of<false, true>("cub::DeviceScan::ExclusiveSum", memory, bytes, in, out, n, Sum(), value_of<In>(), stream,
                           file, line);
  }
  template <class In, class Out, class Op, class N>
  static cudaError_t InclusiveScan(CUB_TEMP, In in, Out out, Op op, N n, CUB_STREAM) {
    return of<true, false>("cub::DeviceScan::InclusiveScan", memory, bytes, in, out, n, op, value_of<In>(), stream,
                           file, line);
  }
  template <class In, class Out, class Op, class T, class N, class = std::enable_if_t<std::is_integral_v<N>>>
  static cudaError_t ExclusiveScan(CUB_TEMP, In in, Out out, Op op, T initial, N n, CUB_STREAM) {
    return of<false, true>("cub::DeviceScan::ExclusiveScan", memory, bytes, in, out, n, op, initial, stream, file,
                           line);
  }

 private:
  template <bool INCLUSIVE, bool HAS_INITIAL, class In, class Out, class N, class Op, class T>
  static cudaError_t of(const char* name, CUB_TEMP, In in, Out out, N n, Op op, T initial, cudaStream_t stream,
                        const char* file, int line) {
    using Total = accumulator_of<Op, T, value_of<In>>;
    auto body = [](In in, Out out, long long n, Op op, T initial) {
      of_device::scan<Total, INCLUSIVE, HAS_INITIAL>(in, out, n, op, initial);
    };
    return CUB_RUN(name, 1, of_device::TILE * sizeof(Total), body, in, out, (long long)n, op, initial);
  }
};

struct DeviceRadixSort {
  template <class Key, class N>
  static cudaError_t SortKeys(CUB_TEMP, const Key* keys, Key* out, N n, int begin = 0, int end = 8 * sizeof(Key),
                              CUB_STREAM) {
    return of_device::sort("cub::DeviceRadixSort::SortKeys", memory, bytes, keys, out, (const NullType*)nullptr,
                           (NullType*)nullptr, n, false, begin, end, stream, file, line);
  }
  template <class Key, class N>
  static cudaError_t SortKeysDescending(CUB_TEMP, const Key* keys, Key* out, N n, int begin = 0,
                                        int end = 8 * sizeof(Key), CUB_STREAM) {
    return of_device::sort("cub::DeviceRadixSort::SortKeysDescending", memory, bytes, keys, out,
                           (const NullType*)nullptr, (NullType*)nullptr, n, true, begin, end, stream, file, line);
  }
  template <class Key, class Value, class N>
  static cudaError_t SortPairs(CUB_TEMP, const Key* keys, Key* out_keys, const Value* values, Value* out_values, N n,
                               int begin = 0, int end = 8 * sizeof(Key), CUB_STREAM) {
    return of_device::sort("cub::DeviceRadixSort::SortPairs", memory, bytes, keys, out_keys, values, out_values, n,
                           false, begin, end, stream, file, line);
  }
  template <class Key, class Value, class N>
  static cudaError_t SortPairsDescending(CUB_TEMP, const Key* keys, Key* out_keys, const Value* values,
                                         Value* out_values, N n, int begin = 0, int end = 8 * sizeof(Key), CUB_STREAM) {
    return of_device::sort("cub::DeviceRadixSort::SortPairsDescending", memory, bytes, keys, out_keys, values,
                           out_values, n, true, begin, end, stream, file, line);
  }
  // Between two buffers of the caller: the selector says where the result is.
  template <class Key, class N>
  static cudaError_t SortKeys(CUB_TEMP, DoubleBuffer<Key>& keys, N n, int begin = 0, int end = 8 * sizeof(Key),
                              CUB_STREAM) {
    cudaError_t error = SortKeys(memory, bytes, keys.Current(), keys.Alternate(), n, begin, end, stream, false, file, line);
    if (memory) keys.selector ^= 1;
    return error;
  }
  template <class Key, class N>
  static cudaError_t SortKeysDescending(CUB_TEMP, DoubleBuffer<Key>& keys, N n, int begin = 0,
                                        int end = 8 * sizeof(Key), CUB_STREAM) {
    cudaError_t error =
        SortKeysDescending(memory, bytes, keys.Current(), keys.Alternate(), n, begin, end, stream, false, file, line);
    if (memory) keys.selector ^= 1;
    return error;
  }
  template <class Key, class Value, class N>
  static cudaError_t SortPairs(CUB_TEMP, DoubleBuffer<Key>& keys, DoubleBuffer<Value>& values, N n, int begin = 0,
                               int end = 8 * sizeof(Key), CUB_STREAM) {
    cudaError_t error = SortPairs(memory, bytes, keys.Current(), keys.Alternate(), values.Current(), values.Alternate(),
                                  n, begin, end, stream, false, file, line);
    if (memory) keys.selector ^= 1, values.selector ^= 1;
    return error;
  }
  template <class Key, class Value, class N>
  static cudaError_t SortPairsDescending(CUB_TEMP, DoubleBuffer<Key>& keys, DoubleBuffer<Value>& values, N n,
                                         int begin = 0, int end = 8 * sizeof(Key), CUB_STREAM) {
    cudaError_t error = SortPairsDescending(memory, bytes, keys.Current(), keys.Alternate(), values.Current(),
                                            values.Alternate(), n, begin, end, stream, false, file, line);
    if (memory) keys.selector ^= 1, values.selector ^= 1;
    return error;
  }
};

struct DeviceSegmentedRadixSort {
  template <class Key, class Begin, class End>
  static cudaError_t SortKeys(CUB_TEMP, const Key* keys, Key* out, int n, int segments, Begin begin, End end,
                              int first_bit = 0, int last_bit = 8 * sizeof(Key), CUB_STREAM) {
    return of("cub::DeviceSegmentedRadixSort::SortKeys", memory, bytes, keys, out, (const NullType*)nullptr,
              (NullType*)nullptr, n, segments, begin, end, false, first_bit, last_bit, stream, file, line);
  }
  template <class Key, class Begin, class End>
  static cudaError_t SortKeysDescending(CUB_TEMP, const Key* keys, Key* out, int n, int segments, Begin begin, End end,
                                        int first_bit = 0, int last_bit = 8 * sizeof(Key), CUB_STREAM) {
    return of("cub::DeviceSegmentedRadixSort::SortKeysDescending", memory, bytes, keys, out, (const NullType*)nullptr,
              (NullType*)nullptr, n, segments, begin, end, true, first_bit, last_bit, stream, file, line);
  }
  template <class Key, class Value, class Begin, class End>
  static cudaError_t SortPairs(CUB_TEMP, const Key* keys, Key* out_keys, const Value* values, Value* out_values, int n,
                               int segments, Begin begin, End end, int first_bit = 0, int last_bit = 8 * sizeof(Key),
                               CUB_STREAM) {
    return of("cub::DeviceSegmentedRadixSort::SortPairs", memory, bytes, keys, out_keys, values, out_values, n,
              segments, begin, end, false, first_bit, last_bit, stream, file, line);
  }
  template <class Key, class Value, class Begin, class End>
  static cudaError_t SortPairsDescending(CUB_TEMP, const Key* keys, Key* out_keys, const Value* values,
                                         Value* out_values, int n, int segments, Begin begin, End end,
                                         int first_bit = 0, int last_bit = 8 * sizeof(Key), CUB_STREAM) {
    return of("cub::DeviceSegmentedRadixSort::SortPairsDescending", memory, bytes, keys, out_keys, values, out_values,
              n, segments, begin, end, true, first_bit, last_bit, stream, file, line);
  }

 private:
  template <class Key, class Value, class Begin, class End>
  static cudaError_t of(const char* name, CUB_TEMP, const Key* keys, Key* out_keys, const Value* values,
                        Value* out_values, int n, int segments, Begin begin, End end, bool descending, int first_bit,
                        int last_bit, cudaStream_t stream, const char* file, int line) {
    size_t of_keys = of_device::rounded(n * sizeof(Key));
    auto body = [](const Key* keys, Key* out_keys, const Value* values, Value* out_values, Key* more_keys,
                   Value* more_values, int segments, Begin begin, End end, bool descending, int first_bit,
                   int last_bit) {
      for (int s = 0; s < segments; ++s) {
        long long at = begin[s];
        of_device::radix(keys + at, out_keys + at, values + (values ? at : 0), out_values + (values ? at : 0),
                         more_keys + at, more_values + (values ? at : 0), (long long)end[s] - at, descending, first_bit,
                         last_bit);
      }
    };
    return CUB_RUN(name, of_keys + n * of_device::bytes_of<Value>(), of_device::RADIX_SHARED, body, keys, out_keys, values,
                   out_values, (Key*)memory, (Value*)((char*)memory + of_keys), segments, begin, end, descending,
                   first_bit, last_bit);
  }
};

struct DeviceSelect {
  template <class In, class Flags, class Out, class Count, class N>
  static cudaError_t Flagged(CUB_TEMP, In in, Flags flags, Out out, Count number, N n, CUB_STREAM) {
    auto body = [](In in, Flags flags, Out out, Count number, long long n) {
      auto kept = [&](long long i) { return bool(flags[i]); };
      of_device::select<value_of<In>>(in, n, kept, out, number, of_device::Dropped());
    };
    return CUB_RUN("cub::DeviceSelect::Flagged", 1, SHARED, body, in, flags, out, number, (long long)n);
  }
  template <class In, class Out, class Count, class N, class Test>
  static cudaError_t If(CUB_TEMP, In in, Out out, Count number, N n, Test test, CUB_STREAM) {
    auto body = [](In in, Out out, Count number, long long n, Test test) {
      auto kept = [&](long long i) { return bool(test(in[i])); };
      of_device::select<value_of<In>>(in, n, kept, out, number, of_device::Dropped());
    };
    return CUB_RUN("cub::DeviceSelect::If", 1, SHARED, body, in, out, number, (long long)n, test);
  }
  template <class In, class Out, class Count, class N>
  static cudaError_t Unique(CUB_TEMP, In in, Out out, Count number, N n, CUB_STREAM) {
    auto body = [](In in, Out out, Count number, long long n) {
      auto kept = [&](long long i) { return !i || !(in[i - 1] == in[i]); };
      of_device::select<value_of<In>>(in, n, kept, out, number, of_device::Dropped());
    };
    return CUB_RUN("cub::DeviceSelect::Unique", 1, SHARED, body, in, out, number, (long long)n);
  }

 private:
  static constexpr size_t SHARED = of_device::TILE * sizeof(int) + sizeof(long long);
};

struct DevicePartition {
  template <class In, class Flags, class Out, class Count, class N>
  static cudaError_t Flagged(CUB_TEMP, In in, Flags flags, Out out, Count number, N n, CUB_STREAM) {
    auto body = [](In in, Flags flags, Out out, Count number, long long n) {
      auto kept = [&](long long i) { return bool(flags[i]); };
      auto others = [&](long long i, const value_of<In>& item) { out[i] = item; };
      of_device::select<value_of<In>>(in, n, kept, out, number, others);
    };
    return CUB_RUN("cub::DevicePartition::Flagged", 1, SHARED, body, in, flags, out, number, (long long)n);
  }
  template <class In, class Out, class Count, class N, class Test>
  static cudaError_t If(CUB_TEMP, In in, Out out, Count number, N n, Test test, CUB_STREAM) {
    auto body = [](In in, Out out, Count number, long long n, Test test) {
      auto kept = [&](long long i) { return bool(test(in[i])); };
      auto others = [&](long long i, const value_of<In>& item) { out[i] = item; };
      of_device::select<value_of<In>>(in, n, kept, out, number, others);
    };
    return CUB_RUN("cub::DevicePartition::If", 1, SHARED, body, in, out, number, (long long)n, test);
  }

 private:
  static constexpr size_t SHARED = of_device::TILE * sizeof(int) + sizeof(long long);
};

struct DeviceRunLengthEncode {
  template <class In, class Out, class Lengths, class Count, class N>
  static cudaError_t Encode(CUB_TEMP, In in, Out out, Lengths lengths, Count number, N n, CUB_STREAM) {
    using Key = value_of<In>;
    using Length = written_to<Lengths, int>;
    using Total = accumulator_of<Sum, Length, Length>;
    using Ones = ConstantInputIterator<Length, long long>;
    auto body = [](In in, Out out, Lengths lengths, Count number, long long n) {
      of_device::by_key<Key, Total>(in, out, Ones(1), lengths, number, n, Sum(), Equality());
    };
    return CUB_RUN("cub::DeviceRunLengthEncode::Encode", 1, of_device::TILE * (sizeof(Key) + sizeof(Total)), body, in,
                   out, lengths, number, (long long)n);
  }
};

struct DeviceHistogram {
  // `levels` boundaries make levels - 1 bins of one width; what lies outside them is not counted.
  template <class In, class Count, class Level, class N>
  static cudaError_t HistogramEven(CUB_TEMP, In in, Count* bins, int levels, Level lower, Level upper, N n, CUB_STREAM) {
    using Common = std::common_type_t<Level, value_of<In>>;
    auto body = [](In in, Count* bins, int levels, Common lower, Common upper, long long n) {
      for (int b = of_device::me(); b < levels - 1; b += of_device::TILE) bins[b] = 0;
      __syncthreads();
      for (long long i = of_device::me(); i < n; i += of_device::TILE) {
        Common sample = Common(in[i]);
        if (!(sample >= lower && sample < upper)) continue;
        if constexpr (std::is_integral_v<Common>)
          atomicAdd(bins + int((long long)(sample - lower) * (levels - 1) / (long long)(upper - lower)), Count(1));
        else
          atomicAdd(bins + int((sample - lower) * (Common(levels - 1) / (upper - lower))), Count(1));
      }
    };
    return CUB_RUN("cub::DeviceHistogram::HistogramEven", 1, 0, body, in, bins, levels, Common(lower), Common(upper),
                   (long long)n);
  }
  template <class In, class Count, class Level, class N>
  static cudaError_t HistogramRange(CUB_TEMP, In in, Count* bins, int levels, const Level* level, N n, CUB_STREAM) {
    auto body = [](In in, Count* bins, int levels, const Level* level, long long n) {
      for (int b = of_device::me(); b < levels - 1; b += of_device::TILE) bins[b] = 0;
      __syncthreads();
      for (long long i = of_device::me(); i < n; i += of_device::TILE) {
        Level sample = Level(in[i]);
        int b = 0;
        while (b < levels && !(sample < level[b])) ++b;
        if (b > 0 && b < levels) atomicAdd(bins + b - 1, Count(1));
      }
    };
    return CUB_RUN("cub::DeviceHistogram::HistogramRange", 1, 0, body, in, bins, levels, level, (long long)n);
  }
};

struct DeviceFor {
  template <class N, class Body>
  static cudaError_t Bulk(N n, Body body, cudaStream_t stream = nullptr, CUB_HERE) {
    size_t bytes = 1;
    auto all = [](long long n, Body body) {
      for (long long i = of_device::me(); i < n; i += of_device::TILE) body(N(i));
    };
    return of_device::run("cub::DeviceFor::Bulk", &bytes, bytes, 1, 0, stream, file, line, all, (long long)n, body);
  }
};

#undef CUB_TEMP
#undef CUB_STREAM
#undef CUB_RUN
}  // namespace cub
