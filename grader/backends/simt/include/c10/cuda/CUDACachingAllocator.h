// torch's CUDA side, for simt: memory comes from the allocator that PyTorch knows for CUDA.
#pragma once
#include "simt/torch.h"

#include <c10/core/Allocator.h>

namespace c10::cuda::CUDACachingAllocator {
inline c10::Allocator* get() { return c10::GetAllocator(c10::DeviceType::CUDA); }
inline void* raw_alloc(size_t bytes) { return get()->raw_allocate(bytes); }
inline void* raw_alloc_with_stream(size_t bytes, cudaStream_t) { return raw_alloc(bytes); }
inline void raw_delete(void* pointer) { get()->raw_deallocate(pointer); }
inline void recordStream(const c10::DataPtr& memory, CUDAStream) { simt_record_stream(memory.get()); }
inline void emptyCache() {}
}  // namespace c10::cuda::CUDACachingAllocator
