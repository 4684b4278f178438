// The narrow headers of torch, and CUDA's own.
#pragma once
#include <torch_narrow.h>

#include <ATen/core/Generator.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "itf/kernels.h"
#include "itf/launch.h"

// Of ATen/cuda/CUDAContext.h, without the libraries of linear algebra.
namespace at::cuda {
using namespace c10::cuda;
TORCH_CUDA_CPP_API cudaDeviceProp* getCurrentDeviceProperties();
TORCH_CUDA_CPP_API int warp_size();
TORCH_CUDA_CPP_API cudaDeviceProp* getDeviceProperties(c10::DeviceIndex device);
template <class A, class B>
__host__ __device__ __forceinline__ auto ATenCeilDiv(A a, B b) {
  return (a + b - 1) / b;
}
}  // namespace at::cuda
#define AT_CUDA_CHECK(EXPRESSION) C10_CUDA_CHECK(EXPRESSION)
