// torch's older name for its atomics; programs still include it.
#pragma once
#include "../ATen/cuda/Atomic.cuh"
