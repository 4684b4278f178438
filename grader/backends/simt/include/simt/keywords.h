// The keywords of CUDA C++ for a host compiler.
#pragma once
#include "abi.h"

#define __global__ __attribute__((noinline, flatten))
#define __device__
#define __host__
#define __constant__
#define __managed__ __attribute__((section("simt_managed")))  // where the host may not touch it yet, the runtime knows
#define __grid_constant__
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __forceinline__ inline __attribute__((always_inline))
#ifndef __clang__  // which has it; not computed: what it would read is no access of the program's
#define __builtin_assume(...) ((void)sizeof(bool(__VA_ARGS__)))
#endif
#define __align__(n) __attribute__((aligned(n)))

// One OS thread runs one block at a time, so a block's memory is a thread's. `constinit`: a guard variable
// for class types would be shared memory too.
#ifdef __clang__
#define __shared__ static __thread
#else
#define __shared__ static __constinit __thread
#endif

#define SIMT_INLINE inline __attribute__((always_inline))
#define SIMT_UNCHECKED __attribute__((no_sanitize("thread")))
// No call-outs at all: arithmetic of ours that stands for a GPU's instruction or library is not the
// student's.
#if defined(SIMT_FAST)
#define SIMT_UNCOUNTED
#define SIMT_UNCOUNTED_LAMBDA
#else
#ifdef __clang__
#define SIMT_UNCOUNTED_LAMBDA __attribute__((no_sanitize("thread", "coverage")))
#else
#define SIMT_UNCOUNTED_LAMBDA __attribute__((no_sanitize("thread"), no_sanitize_coverage))
#endif
#define SIMT_UNCOUNTED __attribute__((noinline)) SIMT_UNCOUNTED_LAMBDA
#endif
#ifdef __clang__  // the two compilers want a lambda's words in different orders
#define SIMT_UNCHECKED_MUTABLE SIMT_UNCHECKED mutable
#else
#define SIMT_UNCHECKED_MUTABLE mutable SIMT_UNCHECKED
#endif
