// The narrow headers of torch, and what stands in for CUDA.
#pragma once
#include "simt/torch_half.h"

#include <torch_narrow.h>

#include "simt/torch.h"
