// Thread block clusters, as kernels see them. Without one every block is a cluster of its own.
#pragma once
#include "launch.h"

SIMT_INLINE dim3 __clusterDim() { return dim3(simt_builtins.cluster_dim); }
SIMT_INLINE unsigned __clusterSizeInBlocks() {
  return simt_builtins.cluster_dim.x * simt_builtins.cluster_dim.y * simt_builtins.cluster_dim.z;
}
SIMT_INLINE dim3 __clusterRelativeBlockIdx() {
  const uint3 n = simt_builtins.cluster_dim;
  return dim3(blockIdx.x % n.x, blockIdx.y % n.y, blockIdx.z % n.z);
}
SIMT_INLINE unsigned __clusterRelativeBlockRank() {
  const dim3 at = __clusterRelativeBlockIdx(), n = __clusterDim();
  return (at.z * n.y + at.y) * n.x + at.x;
}
SIMT_INLINE dim3 __clusterIdx() {
  const uint3 n = simt_builtins.cluster_dim;
  return dim3(blockIdx.x / n.x, blockIdx.y / n.y, blockIdx.z / n.z);
}
SIMT_INLINE dim3 __clusterGridDimInClusters() {
  const uint3 n = simt_builtins.cluster_dim;
  return dim3(gridDim.x / n.x, gridDim.y / n.y, gridDim.z / n.z);
}
SIMT_INLINE void __cluster_barrier_arrive() { simt_cluster_arrive(); }
SIMT_INLINE void __cluster_barrier_wait() { simt_cluster_wait(); }
SIMT_INLINE unsigned __isClusterShared(const void* p) { return (unsigned)simt_is_cluster_shared(p); }
SIMT_INLINE unsigned __cluster_query_shared_rank(const void* p) { return simt_cluster_rank_of(p); }
SIMT_INLINE void* __cluster_map_shared_rank(const void* p, unsigned rank) { return simt_cluster_map(p, rank); }
SIMT_INLINE void __threadfence_cluster() { simt_fence(1); }
