// Types and small helpers that every part of the runtime uses.
#pragma once
#include "../include/simt/abi.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <sys/mman.h>
#include <vector>

namespace simt {

using u8 = uint8_t;
using u16 = uint16_t;
using u32 = uint32_t;
using u64 = uint64_t;

// What a thread did to memory. The numbers are part of the JSON that Python reads.
enum Access : u8 { NO_ACCESS = 0, WRITE = 1, READ = 2, ATOMIC = 3 };

// What instrumented code is asked to do; a bit set.
enum Mode { CHECK = 1, COUNT = 2 };

// Address space without memory: pages appear when they are first touched. nullptr if there is none left.
inline void* try_reserve(size_t bytes, int access = PROT_READ | PROT_WRITE) {
  void* p = mmap(nullptr, bytes, access, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return p == MAP_FAILED ? nullptr : p;
}

inline void* reserve(size_t bytes, int access = PROT_READ | PROT_WRITE) {
  void* p = try_reserve(bytes, access);
  if (!p) {
    std::fprintf(stderr, "simt: no address space for %zu bytes; raise the limit (ulimit -v)\n", bytes);
    std::abort();
  }
  return p;
}

// Space that may not be used before commit() has been asked for it. A system that never promises more memory
// than it has (vm.overcommit_memory=2) counts only what was committed.
inline void* reserve_only(size_t bytes) { return reserve(bytes, PROT_NONE); }
inline bool commit(void* base, size_t begin, size_t end) {
  size_t from = begin & ~size_t(4095), to = (end + 4095) & ~size_t(4095);
  return mprotect((char*)base + from, to - from, PROT_READ | PROT_WRITE) == 0;
}

inline uint3 unflatten(u64 i, uint3 extent) {
  return {unsigned(i % extent.x), unsigned(i / extent.x % extent.y), unsigned(i / extent.x / extent.y)};
}

}  // namespace simt
