// The C interface between compiled student code and the runtime library (csrc/). No torch, no CUDA names
// beyond the three built-in types that cross it.
#pragma once
#include <cstddef>
#include <cstdint>

struct uint3 {
  unsigned x, y, z;
};

#ifdef SIMT_FAST
#define SIMT_INSTRUMENTED false
#else
#define SIMT_INSTRUMENTED true
#endif

namespace simt {
struct Builtins {
  uint3 thread, block, block_dim, grid_dim;
};
struct LaunchConfig {
  uint3 grid, block;
  size_t shared_bytes;
  void* stream;
};
// One pointer argument of a launch: lets a finding say "x[1024]" instead of an address.
struct PointerArgument {
  int index;
  const void* pointer;
  size_t element;
};
struct LaunchSite {
  const char* kernel;
  const char* file;
  int line;
  bool instrumented = SIMT_INSTRUMENTED;  // compiled so that the runtime sees every access
};
}  // namespace simt

extern "C" {
#define SIMT_EXPORT __attribute__((visibility("default")))
#define SIMT_TLS __attribute__((tls_model("initial-exec")))

// ---- launching
SIMT_EXPORT void simt_launch(const simt::LaunchSite* site, const simt::LaunchConfig* config,
                             void (*body)(void*), void* context, void* (*tls_anchor)(),
                             const simt::PointerArgument* pointers, int pointer_count);
SIMT_EXPORT int simt_register_kernels(const char* declarations);  // "name param param,name param"
SIMT_EXPORT int simt_allow_dynamic_shared(const void* kernel, int bytes);

// ---- called by kernels
#ifdef __clang__
__attribute__((nomerge))  // two barriers in the source stay two call sites
#endif
SIMT_EXPORT void simt_syncthreads();
SIMT_EXPORT int simt_syncthreads_vote(int predicate, int operation);  // 0 count, 1 and, 2 or
SIMT_EXPORT void simt_syncwarp(unsigned mask);
SIMT_EXPORT uint64_t simt_shuffle(unsigned mask, uint64_t bits, int kind, int argument, int width);
SIMT_EXPORT unsigned simt_ballot(unsigned mask, int predicate);
SIMT_EXPORT uint64_t simt_match(unsigned mask, uint64_t bits);
SIMT_EXPORT unsigned simt_lane();
SIMT_EXPORT void simt_fence(int scope);
SIMT_EXPORT void simt_atomic(void* address, int size);  // tells the checks about an atomic access
SIMT_EXPORT void simt_assert_fail(const char* expression, const char* file, unsigned line,
                                  const char* function);

// ---- device memory
SIMT_EXPORT int simt_malloc(void** out, size_t bytes);
SIMT_EXPORT int simt_free(void* pointer);
SIMT_EXPORT void simt_mark_initialised(const void* pointer, size_t bytes);
SIMT_EXPORT int simt_copy(void* to, const void* from, size_t bytes, int kind);  // kind as cudaMemcpyKind
SIMT_EXPORT int simt_fill(void* to, int value, size_t bytes);
SIMT_EXPORT int simt_is_device_pointer(const void* pointer);
SIMT_EXPORT void simt_label(const void* pointer, const char* description, int element_bytes);
SIMT_EXPORT size_t simt_memory(int peak);

// ---- errors, numbered as cudaError_t
SIMT_EXPORT int simt_last_error(int clear);
SIMT_EXPORT int simt_synchronize();
SIMT_EXPORT const char* simt_error_detail();
}
