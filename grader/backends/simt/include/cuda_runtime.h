// The CUDA runtime API for one device. Launches are queued; whatever a GPU would wait for runs the queue.
#pragma once
#include "simt/device.h"
#include "simt/errors.h"
#include "simt/properties.h"
#include "simt/runtime_types.h"
#include "simt/streams.h"
#include "simt/symbols.h"
#include "simt/textures.h"
#include "simt/launch_ex.h"

// ---- memory
template <class T>
SIMT_INLINE cudaError_t cudaMalloc(T** p, size_t bytes) {
  return (cudaError_t)simt_cuda_malloc((void**)p, bytes);
}
SIMT_INLINE cudaError_t cudaFree(void* p) { return (cudaError_t)simt_cuda_free(p); }
template <class T>
SIMT_INLINE cudaError_t cudaMallocAsync(T** p, size_t bytes, cudaStream_t) {
  return (cudaError_t)simt_cuda_malloc((void**)p, bytes);
}
SIMT_INLINE cudaError_t cudaFreeAsync(void* p, cudaStream_t stream) {
  return (cudaError_t)simt_cuda_free_on(p, stream);
}
template <class T>
SIMT_INLINE cudaError_t cudaMallocPitch(T** p, size_t* pitch, size_t width, size_t height) {
  *pitch = (width + 511) / 512 * 512;
  return cudaMalloc(p, *pitch * height);
}
// Pinned memory has one address for both sides, as on any GPU of today.
template <class T>
SIMT_INLINE cudaError_t cudaMallocHost(T** p, size_t bytes, unsigned = 0) {
  return (cudaError_t)simt_malloc_for_both((void**)p, bytes, 1);
}
template <class T>
SIMT_INLINE cudaError_t cudaHostAlloc(T** p, size_t bytes, unsigned) {
  return cudaMallocHost(p, bytes);
}
inline cudaError_t cudaFreeHost(void* p) { return cudaFree(p); }
template <class T>
inline cudaError_t cudaHostGetDevicePointer(T** device, void* host, unsigned) {
  *device = (T*)host;
  return (cudaError_t)simt_fail(simt_is_for_both(host) ? cudaSuccess : cudaErrorInvalidValue);
}
inline cudaError_t cudaHostGetFlags(unsigned* flags, void* host) {
  *flags = cudaHostAllocMapped;
  return (cudaError_t)simt_fail(simt_is_for_both(host) ? cudaSuccess : cudaErrorInvalidValue);
}
template <class T>
SIMT_INLINE cudaError_t cudaMallocManaged(T** p, size_t bytes, unsigned = cudaMemAttachGlobal) {
  return (cudaError_t)simt_malloc_for_both((void**)p, bytes, 2);
}
inline cudaError_t cudaMemPrefetchAsync(const void* p, size_t, int, cudaStream_t = nullptr) {
  return (cudaError_t)simt_fail(simt_is_for_both(p) ? cudaSuccess : cudaErrorInvalidValue);
}
inline cudaError_t cudaMemAdvise(const void* p, size_t, cudaMemoryAdvise, int) {
  return (cudaError_t)simt_fail(simt_is_for_both(p) ? cudaSuccess : cudaErrorInvalidValue);
}
// As CUDA 13 has them, with a place instead of a device's number.
inline cudaError_t cudaMemPrefetchAsync(const void* p, size_t, cudaMemLocation, unsigned, cudaStream_t = nullptr) {
  return (cudaError_t)simt_fail(simt_is_for_both(p) ? cudaSuccess : cudaErrorInvalidValue);
}
inline cudaError_t cudaMemAdvise(const void* p, size_t, cudaMemoryAdvise, cudaMemLocation) {
  return (cudaError_t)simt_fail(simt_is_for_both(p) ? cudaSuccess : cudaErrorInvalidValue);
}
inline cudaError_t cudaStreamAttachMemAsync(cudaStream_t, void* p, size_t = 0, unsigned = cudaMemAttachSingle) {
  return (cudaError_t)simt_fail(simt_is_for_both(p) ? cudaSuccess : cudaErrorInvalidValue);
}
inline cudaError_t cudaHostRegister(void*, size_t, unsigned) { return cudaSuccess; }
inline cudaError_t cudaHostUnregister(void*) { return cudaSuccess; }
SIMT_INLINE cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  return (cudaError_t)simt_fail(simt_copy(to, from, bytes, kind));
}
SIMT_INLINE cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                                        cudaStream_t stream = nullptr) {
  return simt_keep_copy(stream, to, from, bytes, kind) ? cudaSuccess : cudaMemcpy(to, from, bytes, kind);
}
SIMT_INLINE cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                                size_t height, cudaMemcpyKind kind) {
  if (width > to_pitch || width > from_pitch) return (cudaError_t)simt_fail(cudaErrorInvalidPitchValue);
  for (size_t row = 0; row < height; ++row)
    if (cudaError_t e = cudaMemcpy((char*)to + row * to_pitch, (const char*)from + row * from_pitch, width, kind))
      return e;
  return cudaSuccess;
}
SIMT_INLINE cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                                     size_t width, size_t height, cudaMemcpyKind kind,
                                     cudaStream_t stream = nullptr) {
  if (width > to_pitch || width > from_pitch) return (cudaError_t)simt_fail(cudaErrorInvalidPitchValue);
  for (size_t row = 0; row < height; ++row)
    if (cudaError_t e = cudaMemcpyAsync((char*)to + row * to_pitch, (const char*)from + row * from_pitch, width, kind,
                                        stream))
      return e;
  return cudaSuccess;
}
SIMT_INLINE cudaError_t cudaMemset(void* to, int value, size_t bytes) {
  return (cudaError_t)simt_fail(simt_fill(to, value, bytes));
}
SIMT_INLINE cudaError_t cudaMemsetAsync(void* to, int value, size_t bytes, cudaStream_t stream = nullptr) {
  return simt_keep_fill(stream, to, value, bytes) ? cudaSuccess : cudaMemset(to, value, bytes);
}
inline cudaError_t cudaMemset2D(void* to, size_t pitch, int value, size_t width, size_t height) {
  for (size_t row = 0; row < height; ++row)
    if (cudaError_t e = cudaMemset((char*)to + row * pitch, value, width)) return e;
  return cudaSuccess;
}
inline cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* out, const void* pointer) {
  int variable = simt_variable_kind(pointer);
  bool device = variable || simt_is_device_pointer(pointer);
  int both = variable == 2 ? 2 : simt_is_for_both(pointer);
  *out = {both == 2 ? cudaMemoryTypeManaged : both ? cudaMemoryTypeHost
          : device ? cudaMemoryTypeDevice : cudaMemoryTypeUnregistered,
          device ? 0 : -1,
          device ? (void*)pointer : nullptr, device && !both ? nullptr : (void*)pointer};
  return cudaSuccess;
}
inline cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total) {
  *total = cudaDeviceProp().totalGlobalMem;
  *free_bytes = *total - simt_memory(0);
  return cudaSuccess;
}

// ---- the device
inline cudaError_t cudaSetDevice(int device) {
  simt_exchange_device(device);
  return (cudaError_t)simt_fail(simt_device_exists(device) ? cudaSuccess : cudaErrorInvalidDevice);
}
inline cudaError_t cudaGetDevice(int* device) {
  *device = simt_device();
  return cudaSuccess;
}
inline cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}
inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp* p, int device) {
  if (device) return (cudaError_t)simt_fail(cudaErrorInvalidDevice);
  *p = cudaDeviceProp();
  return cudaSuccess;
}
inline cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  if (device) return (cudaError_t)simt_fail(cudaErrorInvalidDevice);
  *value = simt::device_attribute(attribute);
  return (cudaError_t)simt_fail(*value < 0 ? cudaErrorInvalidValue : cudaSuccess);
}
inline cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
inline cudaError_t cudaDriverGetVersion(int* version) { return cudaRuntimeGetVersion(version); }
namespace simt {
inline unsigned device_flags = cudaDeviceScheduleAuto;
inline unsigned long long pool_attributes[9] = {0, 1, 1, 1};  // by cudaMemPoolAttr
}  // namespace simt
inline cudaError_t cudaSetDeviceFlags(unsigned flags) {
  if (flags & ~0x1fu) return (cudaError_t)simt_fail(cudaErrorInvalidValue);
  simt::device_flags = flags;
  return cudaSuccess;
}
inline cudaError_t cudaGetDeviceFlags(unsigned* flags) {
  *flags = simt::device_flags | cudaDeviceMapHost;  // memory is always mapped
  return cudaSuccess;
}
inline cudaError_t cudaDeviceGetPCIBusId(char* text, int bytes, int device) {
  if (device) return (cudaError_t)simt_fail(cudaErrorInvalidDevice);
  static constexpr char ID[] = "0000:00:00.0";
  if (bytes < int(sizeof ID)) return (cudaError_t)simt_fail(cudaErrorInvalidValue);
  memcpy(text, ID, sizeof ID);
  return cudaSuccess;
}
inline cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* text) {
  *device = 0;
  return (cudaError_t)simt_fail(strcmp(text, "0000:00:00.0") ? cudaErrorInvalidDevice : cudaSuccess);
}
inline cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  *pool = (cudaMemPool_t)0x10;  // never dereferenced
  return (cudaError_t)simt_fail(device ? cudaErrorInvalidDevice : cudaSuccess);
}
inline cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) { return cudaDeviceGetDefaultMemPool(pool, device); }
// What is in use is not for setting, but the highest number of it can be set to 0.
inline cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr which, void* value) {
  if (which < 1 || which > cudaMemPoolAttrUsedMemHigh || which == cudaMemPoolAttrReservedMemCurrent ||
      which == cudaMemPoolAttrUsedMemCurrent)
    return (cudaError_t)simt_fail(cudaErrorInvalidValue);
  if (which < cudaMemPoolAttrReleaseThreshold) simt::pool_attributes[which] = (unsigned long long)*(int*)value;
  else simt::pool_attributes[which] = *(unsigned long long*)value;
  return cudaSuccess;
}
inline cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t, cudaMemPoolAttr which, void* value) {
  if (which < 1 || which > cudaMemPoolAttrUsedMemHigh) return (cudaError_t)simt_fail(cudaErrorInvalidValue);
  if (which > cudaMemPoolAttrReleaseThreshold) *(unsigned long long*)value = simt_memory(0);
  else if (which == cudaMemPoolAttrReleaseThreshold) *(unsigned long long*)value = simt::pool_attributes[which];
  else *(int*)value = (int)simt::pool_attributes[which];
  return cudaSuccess;
}
inline cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, size_t) { return cudaSuccess; }
template <class T>
SIMT_INLINE cudaError_t cudaMallocFromPoolAsync(T** p, size_t bytes, cudaMemPool_t, cudaStream_t) {
  return (cudaError_t)simt_cuda_malloc((void**)p, bytes);
}
inline cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) { return cudaSuccess; }
inline cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) { return cudaSuccess; }
template <class T>
inline cudaError_t cudaFuncSetSharedMemConfig(T*, cudaSharedMemConfig) {
  return cudaSuccess;
}
namespace simt {
inline size_t limits[] = {1024, 1 << 20, 0, 2, 2048, 64, 0};  // of these only the heap's is one here
}
inline cudaError_t cudaDeviceSetLimit(cudaLimit which, size_t value) {
  if (which == cudaLimitMallocHeapSize) return (cudaError_t)simt_limit_heap(value);
  if (unsigned(which) >= sizeof simt::limits / sizeof(size_t)) return (cudaError_t)simt_fail(cudaErrorInvalidValue);
  simt::limits[which] = value;
  simt_show_kernels(simt::limits, sizeof simt::limits);
  return cudaSuccess;
}
inline cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit which) {
  if (unsigned(which) >= sizeof simt::limits / sizeof(size_t)) return (cudaError_t)simt_fail(cudaErrorInvalidValue);
  *value = which == cudaLimitMallocHeapSize ? simt_heap_limit() : simt::limits[which];
  return cudaSuccess;
}
inline cudaError_t cudaDeviceReset() { return (cudaError_t)simt_reset_heap(); }
inline cudaError_t cudaDeviceCanAccessPeer(int* can, int, int) {
  *can = 0;
  return cudaSuccess;
}
// There is one device, so none is a peer of another.
inline cudaError_t cudaDeviceEnablePeerAccess(int, unsigned) { return (cudaError_t)simt_fail(cudaErrorInvalidDevice); }
inline cudaError_t cudaDeviceDisablePeerAccess(int) { return (cudaError_t)simt_fail(cudaErrorInvalidDevice); }
inline cudaError_t cudaDeviceGetP2PAttribute(int*, cudaDeviceP2PAttr, int, int) {
  return (cudaError_t)simt_fail(cudaErrorInvalidDevice);
}
inline cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device, size_t bytes) {
  if (to_device || from_device) return (cudaError_t)simt_fail(cudaErrorInvalidDevice);
  return cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToDevice);
}
SIMT_INLINE cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, size_t bytes,
                                            cudaStream_t stream = nullptr) {
  if (to_device || from_device) return (cudaError_t)simt_fail(cudaErrorInvalidDevice);
  return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream);
}

#include "simt/graphs.h"
