// `extern __shared__` memory, in a library of its own: the runtime's other thread-local variables must be in
// the small block that the dynamic linker keeps for variables of fast access, and this one must not.
#include "../include/simt/abi.h"

extern "C" SIMT_EXPORT __thread __attribute__((aligned(1024))) char simt_dynamic_shared[227 << 10];
__thread __attribute__((aligned(1024))) char simt_dynamic_shared[227 << 10];
