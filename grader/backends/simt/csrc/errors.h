// CUDA's error state: launch errors stick until they are read, device faults stick for good but are only
// seen by the host at its next synchronising call.
#pragma once
#include "base.h"

namespace simt {

enum CudaError {
  INVALID_VALUE = 1,
  // What CUDA 13 says of a grid, a block or shared memory that cannot be (measured on an H200); CUDA 12 said 9.
  REFUSED_LAUNCH = INVALID_VALUE,
  OUT_OF_MEMORY = 2,
  ILLEGAL_ADDRESS = 700,
  LAUNCH_TIMEOUT = 702,
  DEVICE_ASSERT = 710,
  MISALIGNED_ADDRESS = 716,
  LAUNCH_FAILURE = 719,
  LAUNCHES_TOO_DEEP = 65,
  COOPERATIVE_TOO_LARGE = 720,
  INVALID_CLUSTER = 912,
  NOT_SUPPORTED = 801,
  CAPTURE_UNSUPPORTED = 900,
  CAPTURE_INVALIDATED = 901,
  ILLEGAL_STATE = 401
};

void set_launch_error(int code, std::string detail);
void set_device_fault(int code, std::string detail);
bool device_faulted();
void reset_errors();

}  // namespace simt
