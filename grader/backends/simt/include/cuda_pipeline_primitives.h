// Copies from global to shared memory that a thread begins and waits for later: CUDA's primitives.
#pragma once
#include "simt/device.h"

SIMT_INLINE void __pipeline_memcpy_async(void* to, const void* from, size_t bytes, size_t zeros = 0) {
  simt_copy_async(to, from, (unsigned)bytes, (unsigned)zeros);
}
SIMT_INLINE void __pipeline_commit() { simt_commit_copies(); }
SIMT_INLINE void __pipeline_wait_prior(size_t left) { simt_wait_copies((unsigned)left, 0); }
