// Cooperative groups: the block, and tiles of a warp.
#pragma once
#include "simt/device.h"

namespace cooperative_groups {

class thread_block {
 public:
  void sync() const { __syncthreads(); }
  unsigned thread_rank() const { return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x; }
  unsigned size() const { return blockDim.x * blockDim.y * blockDim.z; }
  unsigned num_threads() const { return size(); }
  dim3 group_index() const { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
  dim3 thread_index() const { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
  dim3 dim_threads() const { return blockDim; }
};
inline thread_block this_thread_block() { return {}; }

template <unsigned N, class Parent = void>
class thread_block_tile {
  static_assert(N >= 1 && N <= 32 && (N & (N - 1)) == 0, "a tile has 1, 2, 4, 8, 16 or 32 threads");

 public:
  unsigned thread_rank() const { return simt_lane() % N; }
  unsigned meta_group_rank() const { return thread_block().thread_rank() / N; }
  unsigned meta_group_size() const { return (thread_block().size() + N - 1) / N; }
  static constexpr unsigned size() { return N; }
  static constexpr unsigned num_threads() { return N; }
  void sync() const { __syncwarp(mask()); }
  template <class T>
  T shfl(T v, int source) const {
    return __shfl_sync(mask(), v, source, N);
  }
  template <class T>
  T shfl_down(T v, unsigned delta) const {
    return __shfl_down_sync(mask(), v, delta, N);
  }
  template <class T>
  T shfl_up(T v, unsigned delta) const {
    return __shfl_up_sync(mask(), v, delta, N);
  }
  template <class T>
  T shfl_xor(T v, unsigned lanes) const {
    return __shfl_xor_sync(mask(), v, lanes, N);
  }
  int any(int predicate) const { return __any_sync(mask(), predicate); }
  int all(int predicate) const { return __all_sync(mask(), predicate); }
  unsigned ballot(int predicate) const { return __ballot_sync(mask(), predicate) >> first_lane(); }

 private:
  unsigned first_lane() const { return simt_lane() / N * N; }
  unsigned mask() const { return (N == 32 ? 0xffffffffu : (1u << (N % 32)) - 1) << first_lane(); }
};

template <unsigned N, class Group>
inline thread_block_tile<N> tiled_partition(const Group&) {
  return {};
}

template <class Group>
inline void sync(const Group& group) {
  group.sync();
}

template <class T>
struct plus {
  T operator()(T a, T b) const { return a + b; }
};
template <class T>
struct greater {
  T operator()(T a, T b) const { return a > b ? a : b; }
};
template <class T>
struct less {
  T operator()(T a, T b) const { return a < b ? a : b; }
};

template <class Group, class T, class Combine>
inline T reduce(const Group& group, T value, Combine combine) {
  for (unsigned lanes = group.size() / 2; lanes; lanes /= 2)
    value = combine(value, group.shfl_xor(value, lanes));
  return value;
}

}  // namespace cooperative_groups
