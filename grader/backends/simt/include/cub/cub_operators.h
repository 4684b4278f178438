// CUB's small parts: operators, pairs, buffers, and which bits of a key a radix sort looks at.
#pragma once
#include "../cuda_runtime.h"
#include "../simt/half.h"

#include <cstdint>
#include <iterator>
#include <limits>
#include <type_traits>

#define CUB_MIN(a, b) (((a) > (b)) ? (b) : (a))
#define CUB_MAX(a, b) (((a) > (b)) ? (a) : (b))
#define CUB_QUOTIENT_CEILING(x, y) (((x) + (y) - 1) / (y))
#define CUB_PTX_WARP_THREADS 32
#define CUB_WARP_THREADS(arch) 32
#define CUB_LOG_WARP_THREADS(arch) 5
#define CUB_PTX_LOG_WARP_THREADS 5
#define CUB_STATIC_ASSERT(...) static_assert(__VA_ARGS__)
#define CUB_NS_PREFIX
#define CUB_NS_POSTFIX
#define CUB_NS_QUALIFIER ::cub
#define CubDebugExit(...) \
  if ((__VA_ARGS__) != cudaSuccess) exit(1)
#define CubDebug(...) (__VA_ARGS__)

namespace cub {

template <class A, class B>
using Common = std::common_type_t<A, B>;

struct Sum {  // std::plus<>: two small integers have an int as their sum
  template <class A, class B>
  auto operator()(const A& a, const B& b) const -> decltype(a + b) {
    return a + b;
  }
};
struct Max {
  template <class A, class B>
  Common<A, B> operator()(const A& a, const B& b) const {
    return b > a ? Common<A, B>(b) : Common<A, B>(a);
  }
};
struct Min {
  template <class A, class B>
  Common<A, B> operator()(const A& a, const B& b) const {
    return b < a ? Common<A, B>(b) : Common<A, B>(a);
  }
};
struct Difference {
  template <class A, class B>
  auto operator()(const A& a, const B& b) const {
    return a - b;
  }
};
struct Equality {
  template <class A, class B>
  bool operator()(const A& a, const B& b) const {
    return a == b;
  }
};
struct Inequality {
  template <class A, class B>
  bool operator()(const A& a, const B& b) const {
    return !(a == b);
  }
};
template <class Equal>
struct InequalityWrapper {
  Equal op;
  template <class A, class B>
  bool operator()(const A& a, const B& b) const {
    return !op(a, b);
  }
};
template <class T>
struct CastOp {
  template <class A>
  T operator()(const A& a) const {
    return T(a);
  }
};

template <class K, class V>
struct KeyValuePair {
  using Key = K;
  using Value = V;
  K key;
  V value;
  KeyValuePair() = default;
  KeyValuePair(K k, V v) : key(k), value(v) {}
  bool operator!=(const KeyValuePair& o) const { return value != o.value || key != o.key; }
};
// Of equal values the one with the smaller key.
struct ArgMax {
  template <class K, class V>
  KeyValuePair<K, V> operator()(const KeyValuePair<K, V>& a, const KeyValuePair<K, V>& b) const {
    return b.value > a.value || (a.value == b.value && b.key < a.key) ? b : a;
  }
};
struct ArgMin {
  template <class K, class V>
  KeyValuePair<K, V> operator()(const KeyValuePair<K, V>& a, const KeyValuePair<K, V>& b) const {
    return b.value < a.value || (a.value == b.value && b.key < a.key) ? b : a;
  }
};

struct NullType {
  bool operator==(const NullType&) const { return true; }
  bool operator!=(const NullType&) const { return false; }
};
template <int VALUE>
struct Int2Type {
  enum { value = VALUE };
};
// The logarithm to base 2, rounded up.
template <int N>
struct Log2 {
  enum { VALUE = N < 2 ? 0 : 32 - __builtin_clz(unsigned(N < 2 ? 1 : N - 1)) };
};
template <int N>
struct PowerOfTwo {
  enum { VALUE = (N & (N - 1)) == 0 };
};
template <class T>
struct DoubleBuffer {
  T* d_buffers[2] = {nullptr, nullptr};
  int selector = 0;
  DoubleBuffer() = default;
  DoubleBuffer(T* current, T* other) : d_buffers{current, other} {}
  T* Current() { return d_buffers[selector]; }
  T* Alternate() { return d_buffers[selector ^ 1]; }
};
// Memory for an object that is not constructed.
template <class T>
struct Uninitialized {
  alignas(T) char bytes[sizeof(T)];
  T& Alias() { return *(T*)bytes; }
};

// `count` values in shared memory, which is not constructed.
template <class T, int COUNT>
struct Slots {
  alignas(T) char bytes[sizeof(T) * COUNT];
  T& operator[](int i) { return ((T*)bytes)[i]; }
};

enum CacheLoadModifier { LOAD_DEFAULT, LOAD_CA, LOAD_CG, LOAD_CS, LOAD_CV, LOAD_LDG, LOAD_VOLATILE };
enum CacheStoreModifier { STORE_DEFAULT, STORE_WB, STORE_CG, STORE_CS, STORE_WT, STORE_VOLATILE };
template <CacheLoadModifier = LOAD_DEFAULT, class In>
SIMT_INLINE auto ThreadLoad(In in) {
  return *in;
}
template <CacheStoreModifier = STORE_DEFAULT, class Out, class T>
SIMT_INLINE void ThreadStore(Out out, T value) {
  *out = value;
}

// A key as the unsigned number that has its place in the order; +0 and -0 are equal.
template <class Key>
uint64_t radix_bits(Key key) {
  static constexpr int WIDTH = 8 * sizeof(Key);
  static_assert(WIDTH <= 64, "a radix sort takes keys of at most 8 bytes");
  constexpr uint64_t TOP = uint64_t(1) << (WIDTH - 1), ALL = TOP | (TOP - 1);
  constexpr bool IS_FLOAT = !std::is_integral_v<Key> && !std::is_enum_v<Key>;
  uint64_t bits = 0;
  __builtin_memcpy(&bits, &key, sizeof key);
  if constexpr (IS_FLOAT) {
    if (bits == TOP) bits = 0;
    return bits & TOP ? ~bits & ALL : bits | TOP;
  } else {
    return std::is_signed_v<Key> ? bits ^ TOP : bits;
  }
}
template <class Key>
unsigned radix_digit(Key key, bool descending, int first_bit, int bits) {
  uint64_t order = descending ? ~radix_bits(key) : radix_bits(key);
  return unsigned(order >> first_bit & ((uint64_t(1) << bits) - 1));
}

template <class In>
using value_of = typename std::iterator_traits<In>::value_type;
// What an algorithm folds in, as CUB says it: __accumulator_t.
template <class Op, class Initial, class Item>
using accumulator_of = std::decay_t<std::invoke_result_t<Op, Initial, Item>>;
// The values' type where they are written; an iterator that keeps nothing has none, and the other one counts.
template <class Out, class Other>
using written_to = std::conditional_t<std::is_void_v<value_of<Out>>, Other, value_of<Out>>;

template <class A, class B>
constexpr auto DivideAndRoundUp(A n, B d) {
  return (n + d - 1) / d;
}
inline unsigned LaneId() { return simt_lane(); }
inline unsigned WarpId() { return ((threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x) / 32; }
// The lanes of the part of a warp with that number, the parts being THREADS lanes each.
template <int THREADS>
unsigned WarpMask(unsigned part) {
  return THREADS >= 32 ? ~0u : ((1u << THREADS) - 1) << (THREADS & (THREADS - 1) ? 0 : part * THREADS);
}

// Where the values of a block's threads lie, so that each of a warp's threads can go along its segment of them:
// one element apart from each other where a segment's length would lead to conflicts of the banks.
template <class T, int THREADS>
struct BlockRakingLayout {
  enum {
    SHARED_ELEMENTS = THREADS,
    MAX_RAKING_THREADS = THREADS < 32 ? THREADS : 32,
    SEGMENT_LENGTH = (SHARED_ELEMENTS + MAX_RAKING_THREADS - 1) / MAX_RAKING_THREADS,
    RAKING_THREADS = (SHARED_ELEMENTS + SEGMENT_LENGTH - 1) / SEGMENT_LENGTH,
    USE_SEGMENT_PADDING = SEGMENT_LENGTH % 2 == 0 && SEGMENT_LENGTH > 2,
    GRID_ELEMENTS = int(RAKING_THREADS) * (SEGMENT_LENGTH + USE_SEGMENT_PADDING),
    UNGUARDED = int(SHARED_ELEMENTS) % RAKING_THREADS == 0
  };
  struct alignas(16) _TempStorage {
    T buff[GRID_ELEMENTS];
  };
  struct TempStorage : Uninitialized<_TempStorage> {};
  static T* PlacementPtr(TempStorage& storage, unsigned thread) {
    return storage.Alias().buff + thread + (USE_SEGMENT_PADDING ? thread / SEGMENT_LENGTH : 0);
  }
  static T* RakingPtr(TempStorage& storage, unsigned thread) {
    return storage.Alias().buff + thread * (SEGMENT_LENGTH + USE_SEGMENT_PADDING);
  }
};

inline unsigned RowMajorTid(int x, int y, int) { return (threadIdx.z * y + threadIdx.y) * x + threadIdx.x; }
SIMT_INLINE void WARP_SYNC(unsigned mask) { __syncwarp(mask); }
// A value of any size: a warp's own functions take 8 bytes at most.
template <class T, class Shuffle>
T ShuffleWords(const T& value, Shuffle shuffle) {
  if constexpr (sizeof(T) <= 8) {
    return shuffle(value);
  } else {
    unsigned words[(sizeof(T) + 3) / 4] = {};
    T other = value;
    __builtin_memcpy(words, &value, sizeof(T));
    for (unsigned& word : words) word = shuffle(word);
    __builtin_memcpy((void*)&other, words, sizeof(T));
    return other;
  }
}
template <int WIDTH, class T>
T ShuffleUp(T value, int offset, int first, unsigned mask) {
  T other = ShuffleWords(value, [=](auto part) { return __shfl_up_sync(mask, part, offset, WIDTH); });
  return int(simt_lane() % WIDTH) - offset < first ? value : other;
}
template <int WIDTH, class T>
T ShuffleDown(T value, int offset, int last, unsigned mask) {
  T other = ShuffleWords(value, [=](auto part) { return __shfl_down_sync(mask, part, offset, WIDTH); });
  return int(simt_lane() % WIDTH) + offset > last ? value : other;
}
template <int WIDTH, class T>
T ShuffleIndex(T value, int lane, unsigned mask) {
  return ShuffleWords(value, [=](auto part) { return __shfl_sync(mask, part, lane, WIDTH); });
}

}  // namespace cub
