// Kernels as values: launches through the API, attributes, occupancy.
#pragma once
#include "properties.h"
#include "runtime_types.h"

// The rewriter hands these the kernel itself, with its name, whatever it was cast to.
template <class... P>
inline cudaError_t cudaLaunchKernel(simt::Named<P...> kernel, dim3 grid, dim3 block, void** arguments,
                                    size_t shared_bytes = 0, cudaStream_t stream = nullptr,
                                    const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  simt::launch_unpacked(kernel, simt::Config(grid, block, shared_bytes, stream), false, arguments,
                        std::index_sequence_for<P...>(), file, line);
  return (cudaError_t)simt_last_error(0);
}
template <class... P>
inline cudaError_t cudaLaunchCooperativeKernel(simt::Named<P...> kernel, dim3 grid, dim3 block,
                                               void** arguments, size_t shared_bytes = 0,
                                               cudaStream_t stream = nullptr,
                                               const char* file = __builtin_FILE(),
                                               int line = __builtin_LINE()) {
  simt::launch_unpacked(kernel, simt::Config(grid, block, shared_bytes, stream), true, arguments,
                        std::index_sequence_for<P...>(), file, line);
  return (cudaError_t)simt_last_error(0);
}

namespace simt {
inline cudaError_t launch_address(NamedAddress to, const Config& config, bool cooperative, void** arguments, const char* file,
                                  int line) {
  auto found = addressed().find(to.kernel);
  if (found == addressed().end()) return (cudaError_t)simt_fail(cudaErrorInvalidDeviceFunction);
  found->second.launch(to.kernel, found->second.name, config, cooperative, arguments, file, line);
  return (cudaError_t)simt_last_error(0);
}
}  // namespace simt
inline cudaError_t cudaLaunchKernel(simt::NamedAddress kernel, dim3 grid, dim3 block, void** arguments,
                                    size_t shared_bytes = 0, cudaStream_t stream = nullptr,
                                    const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  return simt::launch_address(kernel, simt::Config(grid, block, shared_bytes, stream), false, arguments, file, line);
}
inline cudaError_t cudaLaunchCooperativeKernel(simt::NamedAddress kernel, dim3 grid, dim3 block, void** arguments,
                                               size_t shared_bytes = 0, cudaStream_t stream = nullptr,
                                               const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  return simt::launch_address(kernel, simt::Config(grid, block, shared_bytes, stream), true, arguments, file, line);
}

inline cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute which, int value) {
  if (which == cudaFuncAttributeNonPortableClusterSizeAllowed)
    return (cudaError_t)simt_fail(simt_allow_large_clusters(kernel, value));
  if (which != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;
  return (cudaError_t)simt_fail(simt_allow_dynamic_shared(kernel, value));
}
template <class... P>
inline cudaError_t cudaFuncSetAttribute(void (*kernel)(P...), cudaFuncAttribute which, int value) {
  return cudaFuncSetAttribute((const void*)kernel, which, value);
}
template <class K>
inline cudaError_t cudaFuncSetCacheConfig(K, cudaFuncCache) {
  return cudaSuccess;
}
// Registers are the GPU compiler's business: 32 stands for "few".
template <class K>
inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* out, K kernel) {
  *out = cudaFuncAttributes();
  out->sharedSizeBytes = simt_static_shared((const void*)kernel);
  out->maxThreadsPerBlock = simt_launch_bound((const void*)kernel);
  return cudaSuccess;
}
template <class K>
inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, K kernel, int threads,
                                                                 size_t dynamic_bytes) {
  *blocks = simt::blocks_per_multiprocessor(threads, simt_static_shared((const void*)kernel) + dynamic_bytes);
  return cudaSuccess;
}
// The dynamic shared memory may depend on the block's size.
template <class K, class BytesOf>
inline cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int* grid, int* block, K kernel, BytesOf bytes_of,
                                                                  int limit = 0) {
  size_t fixed = simt_static_shared((const void*)kernel);
  int best = 0, most = simt_launch_bound((const void*)kernel);
  if (limit && limit < most) most = limit;
  for (int threads = most / 32 * 32; threads > 0; threads -= 32) {
    int blocks = simt::blocks_per_multiprocessor(threads, fixed + size_t(bytes_of(threads)));
    if (blocks * threads <= best) continue;
    best = blocks * threads;
    *block = threads;
    *grid = blocks * cudaDeviceProp().multiProcessorCount;
  }
  return cudaSuccess;
}
template <class K>
inline cudaError_t cudaOccupancyMaxPotentialBlockSize(int* grid, int* block, K kernel, size_t dynamic_bytes = 0,
                                                      int limit = 0) {
  return cudaOccupancyMaxPotentialBlockSizeVariableSMem(grid, block, kernel, [=](int) { return dynamic_bytes; }, limit);
}
template <class K>
inline cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, K kernel, int blocks, int threads) {
  size_t fixed = simt_static_shared((const void*)kernel), most = cudaDeviceProp().sharedMemPerBlockOptin;
  if (blocks < 1 || simt::blocks_per_multiprocessor(threads, fixed) < blocks)
    return (cudaError_t)simt_fail(cudaErrorInvalidValue);
  size_t each = cudaDeviceProp().sharedMemPerMultiprocessor / blocks / 128 * 128 - 1024;
  *bytes = (each < most ? each : most) - fixed;
  return cudaSuccess;
}
