// How a kernel is launched by the host half of a fast build (host_text.py).
#pragma once
#include <cuda_runtime.h>

#include <initializer_list>

// Of libcudart, as nvcc's own host code uses them.
extern "C" unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes = 0,
                                                struct CUstream_st* stream = nullptr);
extern "C" cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared_bytes, void* stream);

namespace itf {

// Launch the kernel that is registered for this address with the configuration that was pushed last.
inline void launch(const void* kernel, std::initializer_list<void*> arguments) {
  dim3 grid, block;
  size_t shared_bytes = 0;
  cudaStream_t stream = nullptr;
  if (__cudaPopCallConfiguration(&grid, &block, &shared_bytes, &stream) != cudaSuccess) return;
  cudaLaunchKernel(kernel, grid, block, const_cast<void**>(arguments.begin()), shared_bytes, stream);
}

}  // namespace itf

// Where headers for device code are empty on the host, sources may still give these names others.
namespace cooperative_groups {}
namespace nvcuda {
namespace wmma {}
}  // namespace nvcuda
