// All of torch's headers that an extension has, and CUDA's.
#pragma once
#include <torch/extension.h>

#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "itf/kernels.h"
#include "itf/launch.h"
