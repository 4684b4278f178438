// __constant__ and __device__ variables, from the host's side.
#pragma once
#include "runtime_types.h"

template <class T>
SIMT_UNCHECKED inline cudaError_t cudaMemcpyToSymbol(T& symbol, const void* from, size_t bytes,
                                                     size_t offset = 0,
                                                     cudaMemcpyKind = cudaMemcpyHostToDevice) {
  if (offset + bytes > sizeof(T)) return (cudaError_t)simt_fail(cudaErrorInvalidValue);
  simt_symbol_changes((char*)&symbol + offset, from, bytes);  // what is queued still reads the old value
  simt_symbol_written((char*)&symbol + offset, from, bytes);
  memcpy((char*)&symbol + offset, from, bytes);
  return cudaSuccess;
}
template <class T>
SIMT_UNCHECKED inline cudaError_t cudaMemcpyToSymbolAsync(T& symbol, const void* from, size_t bytes,
                                                          size_t offset, cudaMemcpyKind kind,
                                                          cudaStream_t stream = nullptr) {
  if (offset + bytes > sizeof(T)) return (cudaError_t)simt_fail(cudaErrorInvalidValue);
  if (simt_keep_symbol((void*)stream, (char*)&symbol + offset, from, bytes)) return cudaSuccess;
  return cudaMemcpyToSymbol(symbol, from, bytes, offset, kind);
}
template <class T>
SIMT_UNCHECKED inline cudaError_t cudaMemcpyFromSymbol(void* to, const T& symbol, size_t bytes,
                                                       size_t offset = 0,
                                                       cudaMemcpyKind = cudaMemcpyDeviceToHost) {
  if (offset + bytes > sizeof(T)) return (cudaError_t)simt_fail(cudaErrorInvalidValue);
  if (int fault = simt_synchronize()) return (cudaError_t)fault;
  memcpy(to, (const char*)&symbol + offset, bytes);
  simt_device_tells(to, bytes);
  return cudaSuccess;
}
template <class T>
inline cudaError_t cudaGetSymbolAddress(void** out, const T& symbol) {
  *out = (void*)&symbol;
  simt_tell_variable(*out, sizeof(T), 0);
  return cudaSuccess;
}
template <class T>
inline cudaError_t cudaGetSymbolSize(size_t* out, const T&) {
  *out = sizeof(T);
  return cudaSuccess;
}
