// Copies from global to shared memory that a thread begins and waits for later (cp.async, __pipeline_memcpy_async).
#pragma once
#include "base.h"

namespace simt {

struct Worker;

// One that is under way: its bytes have left global memory, and arrive when its thread waits for its group.
struct AsyncCopy {
  static constexpr u32 NO_GROUP = ~0u;  // begun, and not committed yet
  int thread;
  u32 group, pc_in_module;
  u16 block_phase, warp_phase;
  size_t barrier;  // at which threads wait for it, and in which phase; 0: its own thread waits
  u32 barrier_phase;
  char* to;
  unsigned bytes;
  char data[16];
};

static constexpr u8 UNDER_WAY = 2;  // of a byte of shared memory, where 1 is one that holds a value

// Begins to copy 4, 8 or 16 bytes, of which the last `zeros` are zeros and not read.
void copy_async(Worker* w, void* to, const void* from, unsigned bytes, unsigned zeros, void* here);
void bring_copies(Worker* w, size_t barrier, u32 phase);
bool is_shared(const Worker* w, size_t address);
const AsyncCopy* copy_under_way(const Worker* w, size_t address, unsigned size);

}  // namespace simt
