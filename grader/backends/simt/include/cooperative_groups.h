// Cooperative groups: the block, tiles of a warp, the lanes that are active together, and the whole grid.
#pragma once
#include "simt/device.h"
#include "simt/lanes.h"

#define _CG_ASM_PTR_CONSTRAINT "l"

namespace cooperative_groups {

namespace details {  // which some call by name: whether the last block has arrived at a barrier of one word
inline bool bar_has_flipped(unsigned before, unsigned now) { return ((before ^ now) & 0x80000000u) != 0; }
}  // namespace details

class thread_block {
 public:
  SIMT_INLINE static void sync(simt::Site site = SIMT_HERE) { simt_syncthreads(site.number, site.function); }
  static void barrier_arrive() = delete;  // arriving apart from waiting is not run here: use sync()
  static unsigned thread_rank() {
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  }
  static unsigned size() { return blockDim.x * blockDim.y * blockDim.z; }
  static unsigned num_threads() { return size(); }
  static dim3 group_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
  static dim3 thread_index() { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
  static dim3 group_dim() { return blockDim; }
  static dim3 dim_threads() { return blockDim; }
};
inline thread_block this_thread_block() { return {}; }

// Any of the groups within a block, where the type does not say which: lanes of a warp, or (no mask) the block.
class thread_group {
 public:
  thread_group(const thread_block&) : mask_(0) {}
  thread_group(const simt::Lanes& lanes) : mask_(lanes.lane_mask()) {}
  SIMT_INLINE void sync(simt::Site site = SIMT_HERE) const {
    if (mask_) __syncwarp(mask_);
    else simt_syncthreads(site.number, site.function);
  }
  unsigned lane_mask() const { return mask_; }
  unsigned size() const { return mask_ ? simt::Lanes(mask_).size() : thread_block::size(); }
  unsigned num_threads() const { return size(); }
  unsigned thread_rank() const { return mask_ ? simt::Lanes(mask_).thread_rank() : thread_block::thread_rank(); }

 private:
  unsigned mask_;
};
// A tile whose size is known only when it is cut.
inline thread_group tiled_partition(const thread_group& parent, unsigned size) {
  unsigned tile = (size == 32 ? ~0u : (1u << size) - 1) << (simt_lane() / size * size);
  return thread_group(simt::Lanes(parent.lane_mask() ? tile & parent.lane_mask() : tile));
}

// All blocks of a cooperative launch.
class grid_group {
 public:
  using arrival_token = unsigned;
  static arrival_token barrier_arrive() = delete;  // arriving apart from waiting is not run here: use sync()
  static void sync() { simt_sync_grid(); }
  static bool is_valid() { return simt_is_cooperative(); }
  static unsigned long long size() { return num_blocks() * thread_block::size(); }
  static unsigned long long num_threads() { return size(); }
  static unsigned long long num_blocks() { return (unsigned long long)gridDim.x * gridDim.y * gridDim.z; }
  static unsigned long long block_rank() {
    return (blockIdx.z * (unsigned long long)gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  }
  static unsigned long long thread_rank() {
    return block_rank() * thread_block::size() + thread_block::thread_rank();
  }
  static dim3 group_dim() { return gridDim; }
  static dim3 dim_blocks() { return gridDim; }
  static dim3 block_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
  static dim3 dim_clusters() { return __clusterGridDimInClusters(); }
  static unsigned long long num_clusters() { return num_blocks() / __clusterSizeInBlocks(); }
  static dim3 cluster_index() { return __clusterIdx(); }
  static unsigned long long cluster_rank() {
    const dim3 at = cluster_index(), n = dim_clusters();
    return (at.z * (unsigned long long)n.y + at.y) * n.x + at.x;
  }
};
inline grid_group this_grid() { return {}; }

// The blocks of a cluster, which run at the same time and reach each other's shared memory.
class cluster_group {
 public:
  using arrival_token = struct {};
  SIMT_INLINE static void sync() { simt_cluster_sync(); }
  SIMT_INLINE static arrival_token barrier_arrive() {
    simt_cluster_arrive();
    return {};
  }
  SIMT_INLINE static void barrier_wait() { simt_cluster_wait(); }
  SIMT_INLINE static void barrier_wait(arrival_token&&) { simt_cluster_wait(); }
  SIMT_INLINE static unsigned query_shared_rank(const void* address) { return simt_cluster_rank_of(address); }
  template <class T>
  SIMT_INLINE static T* map_shared_rank(T* address, int rank) {
    return (T*)simt_cluster_map((const void*)address, (unsigned)rank);
  }
  static dim3 block_index() { return __clusterRelativeBlockIdx(); }
  static unsigned block_rank() { return __clusterRelativeBlockRank(); }
  static dim3 dim_blocks() { return __clusterDim(); }
  static unsigned num_blocks() { return __clusterSizeInBlocks(); }
  static dim3 thread_index() {
    const dim3 at = block_index();
    return dim3(at.x * blockDim.x + threadIdx.x, at.y * blockDim.y + threadIdx.y, at.z * blockDim.z + threadIdx.z);
  }
  static unsigned thread_rank() { return block_rank() * thread_block::size() + thread_block::thread_rank(); }
  static dim3 dim_threads() {
    const dim3 n = dim_blocks();
    return dim3(n.x * blockDim.x, n.y * blockDim.y, n.z * blockDim.z);
  }
  static unsigned num_threads() { return num_blocks() * thread_block::size(); }
  static unsigned size() { return num_threads(); }
};
inline cluster_group this_cluster() { return {}; }

// A tile: N consecutive lanes of a warp, cut from a group of `parent` threads.
template <unsigned N, class Parent = void>
class thread_block_tile : public simt::Lanes {
  static_assert(N >= 1 && N <= 32 && (N & (N - 1)) == 0, "a tile has 1, 2, 4, 8, 16 or 32 threads");

 public:
  explicit thread_block_tile(unsigned parent)
      : Lanes((N == 32 ? ~0u : (1u << (N % 32)) - 1) << (simt_lane() / N * N)), parent_(parent) {}
  // A tile may be passed on whatever it was cut from.
  template <class Other>
  thread_block_tile(const thread_block_tile<N, Other>& other) : thread_block_tile(other.parent_size()) {}
  static unsigned thread_rank() { return simt_lane() % N; }
  static constexpr unsigned size() { return N; }
  static constexpr unsigned num_threads() { return N; }
  unsigned parent_size() const { return parent_; }
  unsigned meta_group_rank() const { return thread_block::thread_rank() % parent_ / N; }
  unsigned meta_group_size() const { return (parent_ + N - 1) / N; }
  template <class T>
  T shfl(T v, int source) const {
    return simt::in_words(v, [&](auto word) { return __shfl_sync(mask_, word, source, N); });
  }
  template <class T>
  T shfl_down(T v, unsigned delta) const {
    return simt::in_words(v, [&](auto word) { return __shfl_down_sync(mask_, word, delta, N); });
  }
  template <class T>
  T shfl_up(T v, unsigned delta) const {
    return simt::in_words(v, [&](auto word) { return __shfl_up_sync(mask_, word, delta, N); });
  }
  template <class T>
  T shfl_xor(T v, unsigned lanes) const {
    return simt::in_words(v, [&](auto word) { return __shfl_xor_sync(mask_, word, lanes, N); });
  }

 private:
  unsigned parent_;
};

// The lanes that reached this call together.
class coalesced_group : public simt::Lanes {
 public:
  explicit coalesced_group(unsigned mask, unsigned rank = 0, unsigned groups = 1)
      : Lanes(mask), rank_(rank), groups_(groups) {}
  unsigned meta_group_rank() const { return rank_; }
  unsigned meta_group_size() const { return groups_; }

 private:
  unsigned rank_, groups_;
};
inline __attribute__((always_inline)) coalesced_group coalesced_threads() {
  return coalesced_group(simt_activemask());
}

template <unsigned N>
inline thread_block_tile<N, thread_block> tiled_partition(const thread_block& block) {
  return thread_block_tile<N, thread_block>(block.size());
}
template <unsigned N, unsigned M, class P>
inline thread_block_tile<N, thread_block_tile<M, P>> tiled_partition(const thread_block_tile<M, P>&) {
  static_assert(N <= M, "a tile cannot be larger than the group that it is cut from");
  return thread_block_tile<N, thread_block_tile<M, P>>(M);
}
template <class Group, class Label>
inline coalesced_group labeled_partition(const Group& group, Label label) {
  unsigned same = __match_any_sync(group.lane_mask(), label), rank = 0, groups = 0;
  for (unsigned rest = group.lane_mask(); rest; ++groups) {
    unsigned lane = __builtin_ctz(rest);
    Label first = __shfl_sync(group.lane_mask(), label, (int)lane);
    unsigned theirs = __match_any_sync(group.lane_mask(), label);
    theirs = __shfl_sync(group.lane_mask(), theirs, (int)lane);
    if (first == label) rank = groups;
    rest &= ~theirs;
  }
  return coalesced_group(same, rank, groups);
}
template <class Group>
inline coalesced_group binary_partition(const Group& group, bool side) {
  unsigned yes = __ballot_sync(group.lane_mask(), side);
  return coalesced_group(side ? yes : group.lane_mask() & ~yes, side, 2);
}

template <class Group>
inline void sync(const Group& group) {
  group.sync();
}
SIMT_INLINE void sync(const thread_block& block, simt::Site site = SIMT_HERE) { block.sync(site); }
SIMT_INLINE void sync(const thread_group& group, simt::Site site = SIMT_HERE) { group.sync(site); }
SIMT_INLINE void sync(const cluster_group& group) { group.sync(); }
template <class Group, class F>
inline void invoke_one(const Group& group, F f) {
  if (group.thread_rank() == 0) f();
}

#define SIMT_OPERATION(NAME, EXPRESSION)               \
  template <class T>                                   \
  struct NAME {                                        \
    T operator()(T a, T b) const { return EXPRESSION; } \
  };
SIMT_OPERATION(plus, a + b)
SIMT_OPERATION(greater, a > b ? a : b)
SIMT_OPERATION(less, a < b ? a : b)
SIMT_OPERATION(bit_and, a& b)
SIMT_OPERATION(bit_or, a | b)
SIMT_OPERATION(bit_xor, a ^ b)

// Folds in the order of a butterfly where the group is a whole tile, else lane by lane.
template <class Group, class T, class Combine>
inline T reduce(const Group& group, T value, Combine combine) {
  return simt::reduce_lanes(group.lane_mask(), value, combine);
}
template <class Group, class T, class Combine>
inline T inclusive_scan(const Group& group, T value, Combine combine) {
  return simt::scan_lanes(group.lane_mask(), value, combine);
}
template <class Group, class T>
inline T inclusive_scan(const Group& group, T value) {
  return inclusive_scan(group, value, plus<T>());
}
template <class Group, class T, class Combine>
inline T exclusive_scan(const Group& group, T value, Combine combine) {
  T before = simt::previous_lane(group.lane_mask(), inclusive_scan(group, value, combine));
  return group.thread_rank() ? before : T(0);
}
template <class Group, class T>
inline T exclusive_scan(const Group& group, T value) {
  return exclusive_scan(group, value, plus<T>());
}

}  // namespace cooperative_groups
