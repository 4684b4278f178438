// cudaLaunchKernelEx: launches with attributes, clusters among them.
#pragma once
#include "by_pointer.h"

// The rewriter calls members gridDim_ that are called like CUDA's variables, which are macros here.
struct cudaLaunchConfig_t {
  dim3 gridDim_, blockDim_;
  size_t dynamicSmemBytes;
  cudaStream_t stream;
  cudaLaunchAttribute* attrs;
  unsigned numAttrs;
};

namespace simt {

// What a launch asks for. Where an attribute would change what a kernel may rely on, and there is none of it here, `refused`
// says so; hints about speed change nothing.
struct Attributes {
  Config config;
  bool cooperative = false;
  const char* refused = nullptr;

  explicit Attributes(const cudaLaunchConfig_t& c) : config(c.gridDim_, c.blockDim_, c.dynamicSmemBytes, c.stream) {
    for (unsigned i = 0; i < c.numAttrs; ++i) add(c.attrs[i].id, c.attrs[i].val);
  }

 private:
  void add(cudaLaunchAttributeID id, const cudaLaunchAttributeValue& value) {
    switch (id) {
      case cudaLaunchAttributeClusterDimension:
        config.has_cluster = true;
        config.cluster = value.clusterDim;
        return;
      case cudaLaunchAttributeCooperative: cooperative = value.cooperative; return;
      case cudaLaunchAttributeProgrammaticStreamSerialization:
        if (value.programmaticStreamSerializationAllowed)
          refused = "a launch that may begin before the one before it has ended (cudaLaunchAttributeProgrammaticStreamSerialization) "
                    "cannot run on the CPU: leave the attribute out";
        return;
      case cudaLaunchAttributeProgrammaticEvent:
      case cudaLaunchAttributeLaunchCompletionEvent:
        refused = "an event within a launch cannot run on the CPU: record one after it with cudaEventRecord";
        return;
      case cudaLaunchAttributeDeviceUpdatableKernelNode:
        refused = "a node of a graph that kernels change cannot run on the CPU: change it on the host";
        return;
      default: return;
    }
  }
};

// How many clusters an H200 holds at once, by the multiprocessors of its groups (GPCs): a cluster lies in one of them. A
// table of 16 sizes and 9 kernels measured on one card is this to the number.
inline int active_clusters(const void* kernel, const cudaLaunchConfig_t& c, unsigned blocks) {
  static constexpr unsigned GROUPS[] = {18, 18, 16, 16, 16, 16, 16, 8, 2, 2, 2, 2}, MOST_IN_CLUSTERS = 8;
  unsigned each = (unsigned)blocks_per_multiprocessor((int)(c.blockDim_.x * c.blockDim_.y * c.blockDim_.z),
                                                      simt_static_shared(kernel) + c.dynamicSmemBytes);
  if (each > MOST_IN_CLUSTERS) each = MOST_IN_CLUSTERS;
  unsigned found = 0;
  for (unsigned group : GROUPS) found += group >= blocks ? group * each / blocks : 0;
  return (int)found;
}

template <class... P>
inline cudaError_t launch_ex(const cudaLaunchConfig_t* c, Named<P...> kernel, void** arguments, const char* file, int line) {
  Attributes wanted(*c);
  if (wanted.refused) return (cudaError_t)simt_refuse_launch(cudaErrorNotSupported, wanted.refused);
  launch_unpacked(kernel, wanted.config, wanted.cooperative, arguments, std::index_sequence_for<P...>(), file, line);
  return (cudaError_t)simt_last_error(0);
}
// Where the call stands: a pack of arguments leaves no room for defaults behind it.
struct ConfigHere {
  const cudaLaunchConfig_t* config;
  const char* file;
  int line;
  ConfigHere(const cudaLaunchConfig_t* c, const char* f = __builtin_FILE(), int l = __builtin_LINE())
      : config(c), file(f), line(l) {}
};

}  // namespace simt

template <class... P, class... A>
inline cudaError_t cudaLaunchKernelEx(simt::ConfigHere here, simt::Named<P...> kernel, A&&... arguments) {
  return [&](P... converted) {
    void* all[] = {(void*)&converted..., nullptr};
    return simt::launch_ex(here.config, kernel, all, here.file, here.line);
  }(std::forward<A>(arguments)...);
}
template <class... P>
inline cudaError_t cudaLaunchKernelExC(simt::ConfigHere here, simt::Named<P...> kernel, void** arguments) {
  return simt::launch_ex(here.config, kernel, arguments, here.file, here.line);
}
inline cudaError_t cudaLaunchKernelExC(simt::ConfigHere here, simt::NamedAddress kernel, void** arguments) {
  simt::Attributes wanted(*here.config);
  if (wanted.refused) return (cudaError_t)simt_refuse_launch(cudaErrorNotSupported, wanted.refused);
  return simt::launch_address(kernel, wanted.config, wanted.cooperative, arguments, here.file, here.line);
}

template <class K>
inline cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, K kernel, const cudaLaunchConfig_t* config) {
  uint3 n = simt::Attributes(*config).config.cluster;
  unsigned blocks = n.x * n.y * n.z, most = simt_allows_large_clusters((const void*)kernel) ? 16 : 8;
  uint3 grid = config->gridDim_;
  bool fits = blocks && blocks <= most && grid.x % n.x == 0 && grid.y % n.y == 0 && grid.z % n.z == 0;
  if (!fits) return (cudaError_t)simt_fail(cudaErrorInvalidClusterSize);
  *clusters = simt::active_clusters((const void*)kernel, *config, blocks);
  return cudaSuccess;
}
template <class K>
inline cudaError_t cudaOccupancyMaxPotentialClusterSize(int* blocks, K kernel, const cudaLaunchConfig_t* config) {
  int most = simt_allows_large_clusters((const void*)kernel) ? 16 : 8;
  *blocks = simt::active_clusters((const void*)kernel, *config, (unsigned)most) ? most : 0;
  return cudaSuccess;
}
