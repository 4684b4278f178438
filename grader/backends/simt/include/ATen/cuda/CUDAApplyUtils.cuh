// torch's CUDA side, for simt: what this header brings to those who include it for its other names.
#pragma once
#include "Atomic.cuh"

#include <ATen/ceil_div.h>
