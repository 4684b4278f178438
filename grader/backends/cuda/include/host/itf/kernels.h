// What CUDA's runtime asks of a kernel by its name: cuda_runtime.h has these forms for nvcc alone. Launches and
// occupancy by name it has for every compiler.
#pragma once
#include <cuda_runtime.h>

template <class T>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* facts, T* kernel) {
  return ::cudaFuncGetAttributes(facts, reinterpret_cast<const void*>(kernel));
}

template <class T>
cudaError_t cudaFuncSetAttribute(T* kernel, cudaFuncAttribute attribute, int value) {
  return ::cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel), attribute, value);
}

template <class T>
cudaError_t cudaFuncSetCacheConfig(T* kernel, cudaFuncCache config) {
  return ::cudaFuncSetCacheConfig(reinterpret_cast<const void*>(kernel), config);
}

// Variables of the device, by their name, too: the address of the host's own stands for one.

template <class T>
cudaError_t cudaGetSymbolAddress(void** address, const T& symbol) {
  return ::cudaGetSymbolAddress(address, static_cast<const void*>(&symbol));
}

template <class T>
cudaError_t cudaGetSymbolSize(size_t* size_bytes, const T& symbol) {
  return ::cudaGetSymbolSize(size_bytes, static_cast<const void*>(&symbol));
}

template <class T>
cudaError_t cudaMemcpyToSymbol(const T& symbol, const void* from, size_t count_bytes, size_t offset_bytes = 0,
                               cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
  return ::cudaMemcpyToSymbol(static_cast<const void*>(&symbol), from, count_bytes, offset_bytes, kind);
}

template <class T>
cudaError_t cudaMemcpyToSymbolAsync(const T& symbol, const void* from, size_t count_bytes, size_t offset_bytes = 0,
                                    cudaMemcpyKind kind = cudaMemcpyHostToDevice,
                                    cudaStream_t stream = nullptr) {
  return ::cudaMemcpyToSymbolAsync(static_cast<const void*>(&symbol), from, count_bytes, offset_bytes, kind, stream);
}

template <class T>
cudaError_t cudaMemcpyFromSymbol(void* to, const T& symbol, size_t count_bytes, size_t offset_bytes = 0,
                                 cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
  return ::cudaMemcpyFromSymbol(to, static_cast<const void*>(&symbol), count_bytes, offset_bytes, kind);
}

template <class T>
cudaError_t cudaMemcpyFromSymbolAsync(void* to, const T& symbol, size_t count_bytes, size_t offset_bytes = 0,
                                      cudaMemcpyKind kind = cudaMemcpyDeviceToHost,
                                      cudaStream_t stream = nullptr) {
  return ::cudaMemcpyFromSymbolAsync(to, static_cast<const void*>(&symbol), count_bytes, offset_bytes, kind, stream);
}
