// torch's CUDA side, for simt; and atomicAdd for the types that torch adds to CUDA's.
#pragma once
#include "simt/torch.h"

#define SIMT_TORCH_ADD(T) \
  SIMT_INLINE T atomicAdd(T* p, T v) { return gpuAtomicAdd(p, v); }
SIMT_TORCH_ADD(at::Half)
SIMT_TORCH_ADD(at::BFloat16)
SIMT_TORCH_ADD(uint8_t)
SIMT_TORCH_ADD(int8_t)
SIMT_TORCH_ADD(int16_t)
SIMT_TORCH_ADD(int64_t)
SIMT_INLINE void atomicAdd(bool* p, bool v) {
  simt_atomic((void*)p, 1);
  simt::read_modify_write(p, [v](bool old) SIMT_UNCOUNTED_LAMBDA { return old || v; });
}

#define SIMT_TORCH_ATOMIC(NAME, EXPRESSION)                                                        \
  template <class T>                                                                               \
  SIMT_INLINE T NAME(T* p, simt::Exactly<T> v) {                                                   \
    simt_atomic((void*)p, sizeof(T));                                                              \
    return simt::read_modify_write(p, [v](T old) SIMT_UNCOUNTED_LAMBDA { return T(EXPRESSION); }); \
  }
// A NaN on either side stays, as with torch's at::_isnan.
SIMT_TORCH_ATOMIC(gpuAtomicMul, old * v)
SIMT_TORCH_ATOMIC(gpuAtomicMax, old != old || old > v ? old : v)
SIMT_TORCH_ATOMIC(gpuAtomicMin, old != old || old < v ? old : v)
