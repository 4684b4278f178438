// Tells the CUDA runtime of a module's kernels when the module is loaded, as nvcc's own host code does. What
// there is stands in a table that is made for each module (registration.py).
#include <cstdlib>
#include <cuda_runtime.h>

extern "C" {

void** __cudaRegisterFatBinary(void* wrapper);
void __cudaRegisterFatBinaryEnd(void** handle);
void __cudaUnregisterFatBinary(void** handle);
void __cudaRegisterFunction(void** handle, const char* host, char* device, const char* name, int thread_limit,
                            uint3* thread, uint3* block, dim3* block_size, dim3* grid_size, int* warp_size);
void __cudaRegisterVar(void** handle, char* host, char* device, const char* name, int is_extern, size_t size,
                       int is_constant, int is_global);

struct Kernel {
  const char *host, *name;
};
struct Variable {
  char* host;
  const char* name;
  size_t size, is_constant;
};
extern __attribute__((visibility("hidden"))) char itf_wrapper[];
extern __attribute__((visibility("hidden"))) Kernel itf_kernels[];
extern __attribute__((visibility("hidden"))) Variable itf_variables[];
}

static void** handle;

static void forget() { __cudaUnregisterFatBinary(handle); }

__attribute__((constructor)) static void itf_register() {
  handle = __cudaRegisterFatBinary(itf_wrapper);
  for (Kernel* k = itf_kernels; k->host; ++k)
    __cudaRegisterFunction(handle, k->host, const_cast<char*>(k->name), k->name, -1, nullptr, nullptr, nullptr,
                           nullptr, nullptr);
  for (Variable* v = itf_variables; v->host; ++v)
    __cudaRegisterVar(handle, v->host, const_cast<char*>(v->name), v->name, 0, v->size, int(v->is_constant), 0);
  __cudaRegisterFatBinaryEnd(handle);
  std::atexit(forget);
}
