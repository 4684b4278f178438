// torch's 16-bit types convert to CUDA's and back, as they do under nvcc.
#pragma once
#include "std_lerp.h"

#include "half.h"

#include <c10/macros/Macros.h>

#if __has_include(<torch/headeronly/util/Half.h>)
#define __CUDACC__ 1
#include <torch/headeronly/util/BFloat16.h>
#include <torch/headeronly/util/Half.h>
#undef __CUDACC__
#endif
