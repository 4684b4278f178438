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
    case cudaErrorInitializationError: return {"cudaErrorInitializationError", "initialization error"};
    case cudaErrorCudartUnloading: return {"cudaErrorCudartUnloading", "driver shutting down"};
    case cudaErrorProfilerDisabled:
      return {"cudaErrorProfilerDisabled", "profiler disabled while using external profiling tool"};
    case cudaErrorProfilerNotInitialized:
      return {"cudaErrorProfilerNotInitialized", "profiler not initialized: call cudaProfilerInitialize()"};
    case cudaErrorProfilerAlreadyStarted: return {"cudaErrorProfilerAlreadyStarted", "profiler already started"};
    case cudaErrorProfilerAlreadyStopped: return {"cudaErrorProfilerAlreadyStopped", "profiler already stopped"};
    case cudaErrorInvalidConfiguration: return {"cudaErrorInvalidConfiguration", "invalid configuration argument"};
    case cudaErrorInvalidPitchValue: return {"cudaErrorInvalidPitchValue", "invalid pitch argument"};
    case cudaErrorInvalidSymbol: return {"cudaErrorInvalidSymbol", "invalid device symbol"};
    case cudaErrorInvalidHostPointer: return {"cudaErrorInvalidHostPointer", "invalid host pointer"};
    case cudaErrorInvalidDevicePointer: return {"cudaErrorInvalidDevicePointer", "invalid device pointer"};
    case cudaErrorInvalidTexture: return {"cudaErrorInvalidTexture", "invalid texture reference"};
    case cudaErrorInvalidTextureBinding:
      return {"cudaErrorInvalidTextureBinding", "texture is not bound to a pointer"};
    case cudaErrorInvalidChannelDescriptor:
      return {"cudaErrorInvalidChannelDescriptor", "invalid channel descriptor"};
    case cudaErrorInvalidMemcpyDirection:
      return {"cudaErrorInvalidMemcpyDirection", "invalid copy direction for memcpy"};
    case cudaErrorAddressOfConstant: return {"cudaErrorAddressOfConstant", "invalid address of constant"};
    case cudaErrorTextureFetchFailed: return {"cudaErrorTextureFetchFailed", "fetch from texture failed"};
    case cudaErrorTextureNotBound:
      return {"cudaErrorTextureNotBound", "cannot fetch from a texture that is not bound"};
    case cudaErrorSynchronizationError: return {"cudaErrorSynchronizationError", "incorrect use of __syncthreads()"};
    case cudaErrorInvalidFilterSetting:
      return {"cudaErrorInvalidFilterSetting", "linear filtering not supported for non-float type"};
    case cudaErrorInvalidNormSetting:
      return {"cudaErrorInvalidNormSetting", "read as normalized float not supported for data type"};
    case cudaErrorMixedDeviceExecution:
      return {"cudaErrorMixedDeviceExecution", "device emulation mode and device execution mode cannot be mixed"};
    case cudaErrorNotYetImplemented: return {"cudaErrorNotYetImplemented", "feature not yet implemented"};
    case cudaErrorMemoryValueTooLarge:
      return {"cudaErrorMemoryValueTooLarge", "memory size or pointer value too large to fit in 32 bit"};
    case cudaErrorStubLibrary: return {"cudaErrorStubLibrary", "CUDA driver is a stub library"};
    case cudaErrorInsufficientDriver:
      return {"cudaErrorInsufficientDriver", "CUDA driver version is insufficient for CUDA runtime version"};
    case cudaErrorCallRequiresNewerDriver:
      return {"cudaErrorCallRequiresNewerDriver", "API call is not supported in the installed CUDA driver"};
    case cudaErrorInvalidSurface: return {"cudaErrorInvalidSurface", "invalid surface reference"};
    case cudaErrorDuplicateVariableName:
      return {"cudaErrorDuplicateVariableName", "duplicate global variable looked up by string name"};
    case cudaErrorDuplicateTextureName:
      return {"cudaErrorDuplicateTextureName", "duplicate texture looked up by string name"};
    case cudaErrorDuplicateSurfaceName:
      return {"cudaErrorDuplicateSurfaceName", "duplicate surface looked up by string name"};
    case cudaErrorDevicesUnavailable:
      return {"cudaErrorDevicesUnavailable", "CUDA-capable device(s) is/are busy or unavailable"};
    case cudaErrorIncompatibleDriverContext:
      return {"cudaErrorIncompatibleDriverContext", "incompatible driver context"};
    case cudaErrorMissingConfiguration:
      return {"cudaErrorMissingConfiguration", "__global__ function call is not configured"};
    case cudaErrorPriorLaunchFailure:
      return {"cudaErrorPriorLaunchFailure", "unspecified launch failure in prior launch"};
    case cudaErrorLaunchMaxDepthExceeded:
      return {"cudaErrorLaunchMaxDepthExceeded", "launch would exceed maximum depth of nested launches"};
    case cudaErrorLaunchFileScopedTex:
      return {"cudaErrorLaunchFileScopedTex",
              "launch failed because kernel uses unsupported, file-scoped textures (texture objects are "
              "supported)"};
    case cudaErrorLaunchFileScopedSurf:
      return {"cudaErrorLaunchFileScopedSurf",
              "launch failed because kernel uses unsupported, file-scoped surfaces (surface objects are "
              "supported)"};
    case cudaErrorSyncDepthExceeded:
      return {"cudaErrorSyncDepthExceeded",
              "cudaDeviceSynchronize failed because caller's grid depth exceeds "
              "cudaLimitDevRuntimeSyncDepth"};
    case cudaErrorLaunchPendingCountExceeded:
      return {"cudaErrorLaunchPendingCountExceeded",
              "launch failed because launch would exceed cudaLimitDevRuntimePendingLaunchCount"};
    case cudaErrorInvalidDeviceFunction: return {"cudaErrorInvalidDeviceFunction", "invalid device function"};
    case cudaErrorNoDevice: return {"cudaErrorNoDevice", "no CUDA-capable device is detected"};
    case cudaErrorInvalidDevice: return {"cudaErrorInvalidDevice", "invalid device ordinal"};
    case cudaErrorDeviceNotLicensed: return {"cudaErrorDeviceNotLicensed", "device doesn't have valid Grid license"};
    case cudaErrorSoftwareValidityNotEstablished:
      return {"cudaErrorSoftwareValidityNotEstablished", "integrity checks failed"};
    case cudaErrorStartupFailure: return {"cudaErrorStartupFailure", "startup failure in cuda runtime"};
    case cudaErrorInvalidKernelImage: return {"cudaErrorInvalidKernelImage", "device kernel image is invalid"};
    case cudaErrorDeviceUninitialized: return {"cudaErrorDeviceUninitialized", "invalid device context"};
    case cudaErrorMapBufferObjectFailed: return {"cudaErrorMapBufferObjectFailed", "mapping of buffer object failed"};
    case cudaErrorUnmapBufferObjectFailed:
      return {"cudaErrorUnmapBufferObjectFailed", "unmapping of buffer object failed"};
    case cudaErrorArrayIsMapped: return {"cudaErrorArrayIsMapped", "array is mapped"};
    case cudaErrorAlreadyMapped: return {"cudaErrorAlreadyMapped", "resource already mapped"};
    case cudaErrorNoKernelImageForDevice:
      return {"cudaErrorNoKernelImageForDevice", "no kernel image is available for execution on the device"};
    case cudaErrorAlreadyAcquired: return {"cudaErrorAlreadyAcquired", "resource already acquired"};
    case cudaErrorNotMapped: return {"cudaErrorNotMapped", "resource not mapped"};
    case cudaErrorNotMappedAsArray: return {"cudaErrorNotMappedAsArray", "resource not mapped as array"};
    case cudaErrorNotMappedAsPointer: return {"cudaErrorNotMappedAsPointer", "resource not mapped as pointer"};
    case cudaErrorECCUncorrectable: return {"cudaErrorECCUncorrectable", "uncorrectable ECC error encountered"};
    case cudaErrorUnsupportedLimit:
      return {"cudaErrorUnsupportedLimit", "limit is not supported on this architecture"};
    case cudaErrorDeviceAlreadyInUse:
      return {"cudaErrorDeviceAlreadyInUse", "exclusive-thread device already in use by a different thread"};
    case cudaErrorPeerAccessUnsupported:
      return {"cudaErrorPeerAccessUnsupported", "peer access is not supported between these two devices"};
    case cudaErrorInvalidPtx: return {"cudaErrorInvalidPtx", "a PTX JIT compilation failed"};
    case cudaErrorInvalidGraphicsContext:
      return {"cudaErrorInvalidGraphicsContext", "invalid OpenGL or DirectX context"};
    case cudaErrorNvlinkUncorrectable:
      return {"cudaErrorNvlinkUncorrectable", "uncorrectable NVLink error detected during the execution"};
    case cudaErrorJitCompilerNotFound: return {"cudaErrorJitCompilerNotFound", "PTX JIT compiler library not found"};
    case cudaErrorUnsupportedPtxVersion:
      return {"cudaErrorUnsupportedPtxVersion", "the provided PTX was compiled with an unsupported toolchain."};
    case cudaErrorJitCompilationDisabled:
      return {"cudaErrorJitCompilationDisabled", "PTX JIT compilation was disabled"};
    case cudaErrorUnsupportedExecAffinity:
      return {"cudaErrorUnsupportedExecAffinity", "the provided execution affinity is not supported"};
    case cudaErrorUnsupportedDevSideSync:
      return {"cudaErrorUnsupportedDevSideSync",
              "the provided PTX contains unsupported call to cudaDeviceSynchronize"};
    case cudaErrorContained:
      return {"cudaErrorContained", "Invalid access of peer GPU memory over nvlink or a hardware error"};
    case cudaErrorInvalidSource: return {"cudaErrorInvalidSource", "device kernel image is invalid"};
    case cudaErrorFileNotFound: return {"cudaErrorFileNotFound", "file not found"};
    case cudaErrorSharedObjectSymbolNotFound:
      return {"cudaErrorSharedObjectSymbolNotFound", "shared object symbol not found"};
    case cudaErrorSharedObjectInitFailed:
      return {"cudaErrorSharedObjectInitFailed", "shared object initialization failed"};
    case cudaErrorOperatingSystem:
      return {"cudaErrorOperatingSystem", "OS call failed or operation not supported on this OS"};
    case cudaErrorInvalidResourceHandle: return {"cudaErrorInvalidResourceHandle", "invalid resource handle"};
    case cudaErrorIllegalState:
      return {"cudaErrorIllegalState", "the operation cannot be performed in the present state"};
    case cudaErrorLossyQuery: return {"cudaErrorLossyQuery", "attempted introspection would be semantically lossy"};
    case cudaErrorSymbolNotFound: return {"cudaErrorSymbolNotFound", "named symbol not found"};
    case cudaErrorNotReady: return {"cudaErrorNotReady", "device not ready"};
    case cudaErrorIllegalAddress: return {"cudaErrorIllegalAddress", "an illegal memory access was encountered"};
    case cudaErrorLaunchOutOfResources:
      return {"cudaErrorLaunchOutOfResources", "too many resources requested for launch"};
    case cudaErrorLaunchTimeout: return {"cudaErrorLaunchTimeout", "the launch timed out and was terminated"};
    case cudaErrorLaunchIncompatibleTexturing:
      return {"cudaErrorLaunchIncompatibleTexturing", "launch uses incompatible texturing mode"};
    case cudaErrorPeerAccessAlreadyEnabled:
      return {"cudaErrorPeerAccessAlreadyEnabled", "peer access is already enabled"};
    case cudaErrorPeerAccessNotEnabled: return {"cudaErrorPeerAccessNotEnabled", "peer access has not been enabled"};
    case cudaErrorSetOnActiveProcess:
      return {"cudaErrorSetOnActiveProcess", "cannot set while device is active in this process"};
    case cudaErrorContextIsDestroyed: return {"cudaErrorContextIsDestroyed", "context is destroyed"};
    case cudaErrorAssert: return {"cudaErrorAssert", "device-side assert triggered"};
    case cudaErrorTooManyPeers: return {"cudaErrorTooManyPeers", "peer mapping resources exhausted"};
    case cudaErrorHostMemoryAlreadyRegistered:
      return {"cudaErrorHostMemoryAlreadyRegistered", "part or all of the requested memory range is already mapped"};
    case cudaErrorHostMemoryNotRegistered:
      return {"cudaErrorHostMemoryNotRegistered", "pointer does not correspond to a registered memory region"};
    case cudaErrorHardwareStackError: return {"cudaErrorHardwareStackError", "hardware stack error"};
    case cudaErrorIllegalInstruction:
      return {"cudaErrorIllegalInstruction", "an illegal instruction was encountered"};
    case cudaErrorMisalignedAddress: return {"cudaErrorMisalignedAddress", "misaligned address"};
    case cudaErrorInvalidAddressSpace:
      return {"cudaErrorInvalidAddressSpace", "operation not supported on global/shared address space"};
    case cudaErrorInvalidPc: return {"cudaErrorInvalidPc", "invalid program counter"};
    case cudaErrorLaunchFailure: return {"cudaErrorLaunchFailure", "unspecified launch failure"};
    case cudaErrorCooperativeLaunchTooLarge:
      return {"cudaErrorCooperativeLaunchTooLarge", "too many blocks in cooperative launch"};
    case cudaErrorTensorMemoryLeak: return {"cudaErrorTensorMemoryLeak", "tensor memory not completely freed"};
    case cudaErrorNotPermitted: return {"cudaErrorNotPermitted", "operation not permitted"};
    case cudaErrorNotSupported: return {"cudaErrorNotSupported", "operation not supported"};
    case cudaErrorSystemNotReady: return {"cudaErrorSystemNotReady", "system not yet initialized"};
    case cudaErrorSystemDriverMismatch:
      return {"cudaErrorSystemDriverMismatch", "system has unsupported display driver / cuda driver combination"};
    case cudaErrorCompatNotSupportedOnDevice:
      return {"cudaErrorCompatNotSupportedOnDevice", "forward compatibility was attempted on non supported HW"};
    case cudaErrorMpsConnectionFailed:
      return {"cudaErrorMpsConnectionFailed",
              "MPS client failed to connect to the MPS control daemon or the MPS server"};
    case cudaErrorMpsRpcFailure:
      return {"cudaErrorMpsRpcFailure",
              "the remote procedural call between the MPS server and the MPS client failed"};
    case cudaErrorMpsServerNotReady:
      return {"cudaErrorMpsServerNotReady", "MPS server is not ready to accept new MPS client requests"};
    case cudaErrorMpsMaxClientsReached:
      return {"cudaErrorMpsMaxClientsReached",
              "the hardware resources required to create MPS client have been exhausted"};
    case cudaErrorMpsMaxConnectionsReached:
      return {"cudaErrorMpsMaxConnectionsReached",
              "the hardware resources required to support device connections have been exhausted"};
    case cudaErrorMpsClientTerminated:
      return {"cudaErrorMpsClientTerminated", "the MPS client has been terminated by the server"};
    case cudaErrorCdpNotSupported:
      return {"cudaErrorCdpNotSupported",
              "is using CUDA Dynamic Parallelism, but the current configuration, like MPS, does not "
              "support it"};
    case cudaErrorCdpVersionMismatch:
      return {"cudaErrorCdpVersionMismatch",
              "unsupported interaction between different versions of CUDA Dynamic Parallelism"};
    case cudaErrorStreamCaptureUnsupported:
      return {"cudaErrorStreamCaptureUnsupported", "operation not permitted when stream is capturing"};
    case cudaErrorStreamCaptureInvalidated:
      return {"cudaErrorStreamCaptureInvalidated", "operation failed due to a previous error during capture"};
    case cudaErrorStreamCaptureMerge:
      return {"cudaErrorStreamCaptureMerge", "operation would result in a merge of separate capture sequences"};
    case cudaErrorStreamCaptureUnmatched:
      return {"cudaErrorStreamCaptureUnmatched", "capture was not ended in the same stream as it began"};
    case cudaErrorStreamCaptureUnjoined:
      return {"cudaErrorStreamCaptureUnjoined", "capturing stream has unjoined work"};
    case cudaErrorStreamCaptureIsolation:
      return {"cudaErrorStreamCaptureIsolation", "dependency created on uncaptured work in another stream"};
    case cudaErrorStreamCaptureImplicit:
      return {"cudaErrorStreamCaptureImplicit",
              "operation would make the legacy stream depend on a capturing blocking stream"};
    case cudaErrorCapturedEvent:
      return {"cudaErrorCapturedEvent", "operation not permitted on an event last recorded in a capturing stream"};
    case cudaErrorStreamCaptureWrongThread:
      return {"cudaErrorStreamCaptureWrongThread",
              "attempt to terminate a thread-local capture sequence from another thread"};
    case cudaErrorTimeout: return {"cudaErrorTimeout", "wait operation timed out"};
    case cudaErrorGraphExecUpdateFailure:
      return {"cudaErrorGraphExecUpdateFailure",
              "the graph update was not performed because it included changes which violated constraints "
              "specific to instantiated graph update"};
    case cudaErrorExternalDevice:
      return {"cudaErrorExternalDevice", "an async error has occured in external entity outside of CUDA"};
    case cudaErrorInvalidClusterSize:
      return {"cudaErrorInvalidClusterSize", "a kernel launch error has occurred due to cluster misconfiguration"};
    case cudaErrorFunctionNotLoaded:
      return {"cudaErrorFunctionNotLoaded",
              "the function handle is not loaded when calling an API that requires a loaded function"};
    case cudaErrorInvalidResourceType:
      return {"cudaErrorInvalidResourceType",
              "one or more resources passed in are not valid resource types for the operation"};
    case cudaErrorInvalidResourceConfiguration:
      return {"cudaErrorInvalidResourceConfiguration",
              "one or more resources are insufficient or non-applicable for the operation"};
    case cudaErrorUnknown: return {"cudaErrorUnknown", "unknown error"};
  }
  return {"unrecognized error code", "unrecognized error code"};
}

}  // namespace simt

inline cudaError_t cudaGetLastError() { return (cudaError_t)simt_last_error(1); }
inline cudaError_t cudaPeekAtLastError() { return (cudaError_t)simt_last_error(0); }
inline const char* cudaGetErrorName(cudaError_t e) { return simt::error_text(e).name; }
inline const char* cudaGetErrorString(cudaError_t e) { return simt::error_text(e).sentence; }
