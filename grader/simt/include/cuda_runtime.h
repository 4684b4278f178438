// The CUDA runtime API: one device, everything done at once.
#pragma once
#include "simt/device.h"
#include "simt/runtime_types.h"

inline cudaError_t cudaGetLastError() { return (cudaError_t)simt_last_error(1); }
inline cudaError_t cudaPeekAtLastError() { return (cudaError_t)simt_last_error(0); }
inline const char* cudaGetErrorName(cudaError_t e) { return simt::error_text(e).name; }
inline const char* cudaGetErrorString(cudaError_t e) { return simt::error_text(e).sentence; }
inline cudaError_t cudaDeviceSynchronize() { return (cudaError_t)simt_synchronize(); }
inline cudaError_t cudaStreamSynchronize(cudaStream_t) { return (cudaError_t)simt_synchronize(); }

// ---- memory
template <class T>
inline cudaError_t cudaMalloc(T** p, size_t bytes) {
  return (cudaError_t)simt_malloc((void**)p, bytes);
}
inline cudaError_t cudaFree(void* p) { return (cudaError_t)simt_free(p); }
template <class T>
inline cudaError_t cudaMallocAsync(T** p, size_t bytes, cudaStream_t) {
  return cudaMalloc(p, bytes);
}
inline cudaError_t cudaFreeAsync(void* p, cudaStream_t) { return cudaFree(p); }
template <class T>
inline cudaError_t cudaMallocHost(T** p, size_t bytes) {
  *p = (T*)malloc(bytes);
  return *p ? cudaSuccess : cudaErrorMemoryAllocation;
}
inline cudaError_t cudaFreeHost(void* p) {
  free(p);
  return cudaSuccess;
}
inline cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  return (cudaError_t)simt_copy(to, from, bytes, kind);
}
inline cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                                   cudaStream_t = nullptr) {
  return cudaMemcpy(to, from, bytes, kind);
}
inline cudaError_t cudaMemset(void* to, int value, size_t bytes) {
  return (cudaError_t)simt_fill(to, value, bytes);
}
inline cudaError_t cudaMemsetAsync(void* to, int value, size_t bytes, cudaStream_t = nullptr) {
  return cudaMemset(to, value, bytes);
}
template <class T>
SIMT_UNCHECKED inline cudaError_t cudaMemcpyToSymbol(T& symbol, const void* from, size_t bytes,
                                                     size_t offset = 0,
                                                     cudaMemcpyKind = cudaMemcpyHostToDevice) {
  if (offset + bytes > sizeof(T)) return cudaErrorInvalidValue;
  memcpy((char*)&symbol + offset, from, bytes);
  return cudaSuccess;
}
template <class T>
SIMT_UNCHECKED inline cudaError_t cudaMemcpyFromSymbol(void* to, const T& symbol, size_t bytes,
                                                       size_t offset = 0,
                                                       cudaMemcpyKind = cudaMemcpyDeviceToHost) {
  if (offset + bytes > sizeof(T)) return cudaErrorInvalidValue;
  memcpy(to, (const char*)&symbol + offset, bytes);
  return cudaSuccess;
}
inline cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total) {
  *total = cudaDeviceProp().totalGlobalMem;
  *free_bytes = *total - simt_memory(0);
  return cudaSuccess;
}

// ---- the device
inline cudaError_t cudaSetDevice(int device) { return device ? cudaErrorInvalidDevice : cudaSuccess; }
inline cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
inline cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}
inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp* p, int device) {
  if (device) return cudaErrorInvalidDevice;
  *p = cudaDeviceProp();
  return cudaSuccess;
}
inline cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  if (device) return cudaErrorInvalidDevice;
  *value = simt::device_attribute(attribute);
  return *value < 0 ? cudaErrorInvalidValue : cudaSuccess;
}

// ---- kernels as values
template <class... P>
inline cudaError_t cudaFuncSetAttribute(void (*kernel)(P...), cudaFuncAttribute which, int value) {
  if (which != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;
  return (cudaError_t)simt_allow_dynamic_shared((const void*)kernel, value);
}
inline cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute which, int value) {
  if (which != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;
  return (cudaError_t)simt_allow_dynamic_shared(kernel, value);
}
template <class K>
inline cudaError_t cudaFuncSetCacheConfig(K, cudaFuncCache) {
  return cudaSuccess;
}

// ---- streams and events
inline cudaError_t cudaStreamCreate(cudaStream_t* s) {
  *s = nullptr;
  return cudaSuccess;
}
inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t* s, unsigned) { return cudaStreamCreate(s); }
inline cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaStreamQuery(cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned = 0) { return cudaSuccess; }
inline cudaError_t cudaEventCreate(cudaEvent_t* e) {
  *e = new simt::Event{0};
  return cudaSuccess;
}
inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t* e, unsigned) { return cudaEventCreate(e); }
inline cudaError_t cudaEventDestroy(cudaEvent_t e) {
  delete e;
  return cudaSuccess;
}
inline cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t = nullptr) {
  e->seconds = simt::seconds();
  return cudaSuccess;
}
inline cudaError_t cudaEventQuery(cudaEvent_t) { return cudaSuccess; }
inline cudaError_t cudaEventSynchronize(cudaEvent_t) { return (cudaError_t)simt_synchronize(); }
inline cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
  *milliseconds = (float)((end->seconds - begin->seconds) * 1e3);
  return cudaSuccess;
}
