// The device's limits: an H100's.
#pragma once
#include "runtime_types.h"

struct cudaDeviceProp {
  char name[256] = "simt: CUDA on the CPU, with an H100's limits";
  size_t totalGlobalMem = 32ull << 30, sharedMemPerBlock = 48 << 10, totalConstMem = 64 << 10;
  size_t sharedMemPerBlockOptin = 227 << 10, sharedMemPerMultiprocessor = 228 << 10;
  int regsPerBlock = 65536, regsPerMultiprocessor = 65536;
  int maxThreadsPerBlock = 1024, maxThreadsDim[3] = {1024, 1024, 64},
      maxGridSize[3] = {2147483647, 65535, 65535};
  int multiProcessorCount = 132, maxThreadsPerMultiProcessor = 2048, maxBlocksPerMultiProcessor = 32;
  int major = 9, minor = 0, l2CacheSize = 50 << 20, persistingL2CacheMaxSize = 0,
      accessPolicyMaxWindowSize = 0, clusterLaunch = 1, clockRate = 1755000, memoryClockRate = 2619000;
  int memoryBusWidth = 5120, concurrentKernels = 1, integrated = 0, cooperativeLaunch = 1, managedMemory = 1, canMapHostMemory = 1,
      concurrentManagedAccess = 1, pageableMemoryAccess = 0;
  int asyncEngineCount = 0, computeMode = 0, ECCEnabled = 1, pciBusID = 0, pciDeviceID = 0, pciDomainID = 0;
  int warpSize = 32;
  size_t memPitch = 2147483647, textureAlignment = 512, texturePitchAlignment = 32, surfaceAlignment = 512;
  size_t reservedSharedMemPerBlock = 1024;
  int unifiedAddressing = 1, streamPrioritiesSupported = 1, globalL1CacheSupported = 1, localL1CacheSupported = 1;
  int deviceOverlap = 0, kernelExecTimeoutEnabled = 0, tccDriver = 0, isMultiGpuBoard = 0, multiGpuBoardGroupID = 0;
  int hostNativeAtomicSupported = 0, pageableMemoryAccessUsesHostPageTables = 0, directManagedMemAccessFromHost = 0;
  int canUseHostPointerForRegisteredMem = 1, computePreemptionSupported = 1, singleToDoublePrecisionPerfRatio = 2;
  int maxTexture1D = 131072, maxTexture2D[2] = {131072, 65536}, maxTexture3D[3] = {16384, 16384, 16384};
};

namespace simt {

inline int device_attribute(cudaDeviceAttr attribute) {
  static const cudaDeviceProp p;
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock: return p.maxThreadsPerBlock;
    case cudaDevAttrMaxBlockDimX: return p.maxThreadsDim[0];
    case cudaDevAttrMaxBlockDimY: return p.maxThreadsDim[1];
    case cudaDevAttrMaxBlockDimZ: return p.maxThreadsDim[2];
    case cudaDevAttrMaxGridDimX: return p.maxGridSize[0];
    case cudaDevAttrMaxGridDimY: return p.maxGridSize[1];
    case cudaDevAttrMaxGridDimZ: return p.maxGridSize[2];
    case cudaDevAttrTotalConstantMemory: return (int)p.totalConstMem;
    case cudaDevAttrIntegrated: return p.integrated;
    case cudaDevAttrGpuOverlap: return p.asyncEngineCount > 0;
    case cudaDevAttrCanMapHostMemory: return p.canMapHostMemory;
    case cudaDevAttrComputeMode: return p.computeMode;
    case cudaDevAttrEccEnabled: return p.ECCEnabled;
    case cudaDevAttrAsyncEngineCount: return p.asyncEngineCount;
    case cudaDevAttrUnifiedAddressing: return 1;
    case cudaDevAttrConcurrentKernels: return p.concurrentKernels;
    case cudaDevAttrMaxRegistersPerMultiprocessor: return p.regsPerMultiprocessor;
    case cudaDevAttrManagedMemory: return p.managedMemory;
    case cudaDevAttrHostNativeAtomicSupported: return 0;
    case cudaDevAttrConcurrentManagedAccess: return p.concurrentManagedAccess;
    case cudaDevAttrPageableMemoryAccess: return p.pageableMemoryAccess;
    case cudaDevAttrClusterLaunch: return p.clusterLaunch;
    case cudaDevAttrCooperativeLaunch: return p.cooperativeLaunch;
    case cudaDevAttrMaxSharedMemoryPerBlock: return (int)p.sharedMemPerBlock;
    case cudaDevAttrWarpSize: return 32;
    case cudaDevAttrMaxRegistersPerBlock: return p.regsPerBlock;
    case cudaDevAttrClockRate: return p.clockRate;
    case cudaDevAttrMultiProcessorCount: return p.multiProcessorCount;
    case cudaDevAttrMemoryClockRate: return p.memoryClockRate;
    case cudaDevAttrGlobalMemoryBusWidth: return p.memoryBusWidth;
    case cudaDevAttrL2CacheSize: return p.l2CacheSize;
    case cudaDevAttrMaxThreadsPerMultiProcessor: return p.maxThreadsPerMultiProcessor;
    case cudaDevAttrComputeCapabilityMajor: return p.major;
    case cudaDevAttrComputeCapabilityMinor: return p.minor;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor: return (int)p.sharedMemPerMultiprocessor;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: return (int)p.sharedMemPerBlockOptin;
    case cudaDevAttrMaxBlocksPerMultiprocessor: return p.maxBlocksPerMultiProcessor;
  }
  return -1;
}

// How many blocks an SM holds at once, as far as threads and shared memory decide it.
inline int blocks_per_multiprocessor(int threads, size_t shared_bytes) {
  static const cudaDeviceProp p;
  if (threads < 1 || threads > p.maxThreadsPerBlock) return 0;
  int warps = (threads + 31) / 32, blocks = p.maxThreadsPerMultiProcessor / 32 / warps;
  if (blocks > p.maxBlocksPerMultiProcessor) blocks = p.maxBlocksPerMultiProcessor;
  size_t each = (shared_bytes + 1024 + 127) / 128 * 128;  // 1 KB of every block is the system's
  int fit = (int)(p.sharedMemPerMultiprocessor / each);
  return fit < blocks ? fit : blocks;
}

}  // namespace simt
