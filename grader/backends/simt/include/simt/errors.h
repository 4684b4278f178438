// Errors as the runtime API names them.
#pragma once
#include "runtime_types.h"

namespace simt {

struct ErrorText {
  const char *name, *sentence;
};

inline ErrorText error_text(cudaError_t e) {
  switch (e) {
    case cudaSuccess: return {"cudaSuccess", "no error"};
    case cudaErrorInvalidValue: return {"cudaErrorInvalidValue", "invalid argument"};
    case cudaErrorMemoryAllocation: return {"cudaErrorMemoryAllocation", "out of memory"};
    case cudaErrorInvalidConfiguration:
      return {"cudaErrorInvalidConfiguration", "invalid configuration argument"};
    case cudaErrorInvalidFilterSetting: return {"cudaErrorInvalidFilterSetting", "invalid filter setting"};
    case cudaErrorInvalidNormSetting: return {"cudaErrorInvalidNormSetting", "invalid norm setting"};
    case cudaErrorInvalidDeviceFunction: return {"cudaErrorInvalidDeviceFunction", "invalid device function"};
    case cudaErrorInvalidDevice: return {"cudaErrorInvalidDevice", "invalid device ordinal"};
    case cudaErrorInvalidPitchValue: return {"cudaErrorInvalidPitchValue", "invalid pitch argument"};
    case cudaErrorInvalidResourceHandle: return {"cudaErrorInvalidResourceHandle", "invalid resource handle"};
    case cudaErrorCooperativeLaunchTooLarge:
      return {"cudaErrorCooperativeLaunchTooLarge", "too many blocks in cooperative launch"};
    case cudaErrorNotReady: return {"cudaErrorNotReady", "device not ready"};
    case cudaErrorIllegalAddress:
      return {"cudaErrorIllegalAddress", "an illegal memory access was encountered"};
    case cudaErrorLaunchTimeout: return {"cudaErrorLaunchTimeout", "the launch timed out and was terminated"};
    case cudaErrorAssert: return {"cudaErrorAssert", "device-side assert triggered"};
    case cudaErrorMisalignedAddress: return {"cudaErrorMisalignedAddress", "misaligned address"};
    case cudaErrorLaunchFailure: return {"cudaErrorLaunchFailure", "unspecified launch failure"};
    case cudaErrorIllegalState:
      return {"cudaErrorIllegalState", "the operation cannot be performed in the present state"};
    case cudaErrorStreamCaptureUnsupported:
      return {"cudaErrorStreamCaptureUnsupported", "operation not permitted when stream is capturing"};
    case cudaErrorStreamCaptureInvalidated:
      return {"cudaErrorStreamCaptureInvalidated", "operation failed due to a previous error during capture"};
    case cudaErrorGraphExecUpdateFailure:
      return {"cudaErrorGraphExecUpdateFailure", "the graph update was not performed because it included changes "
                                                 "which violated constraints specific to instantiated graph update"};
    case cudaErrorNotSupported: return {"cudaErrorNotSupported", "operation not supported"};
  }
  return {"cudaErrorUnknown", "unknown error"};
}

}  // namespace simt

inline cudaError_t cudaGetLastError() { return (cudaError_t)simt_last_error(1); }
inline cudaError_t cudaPeekAtLastError() { return (cudaError_t)simt_last_error(0); }
inline const char* cudaGetErrorName(cudaError_t e) { return simt::error_text(e).name; }
inline const char* cudaGetErrorString(cudaError_t e) { return simt::error_text(e).sentence; }
