// Shadow memory: who last wrote and read each 4 bytes of global and shared memory.
#pragma once
#include "base.h"

namespace simt {

struct Worker;

static constexpr u8 VOLATILE = 16;
static constexpr u8 IN_BLOCK = 32;  // an atomic or strong access that is one for the threads of its block alone
static constexpr u8 STRONG = 64;    // PTX's ld.relaxed and the like: no race with another such access, or an atomic one

struct Record {
  u32 pc;   // relative to the module
  u32 run;  // which block of which launch
  u16 thread, block_phase, warp_phase;
  u8 bytes;  // which of the four, and VOLATILE, IN_BLOCK or STRONG
  u8 access;
};

// Two readers are kept: with one, a second reader's read would hide the first one's from a later writer.
struct Shadow {
  Record *write = nullptr, *read = nullptr, *other_read = nullptr;
  u64* marks = nullptr;  // of shared memory: what quick.h remembers of each word
  size_t bytes = 0;
  void init(size_t bytes, bool marked = false);
  void init_uncommitted(size_t bytes);
  bool commit_bytes(size_t begin, size_t end) const;  // those that describe these bytes of memory
};

extern Shadow g_global_shadow;

void expect_shadow(size_t offset, size_t bytes);  // much of it will be needed
void forget_shadow(size_t offset, size_t bytes);
const Record* last_write(const void* pointer, size_t bytes);
void clear_shared_memory(Worker* w);

// Records an access to [offset, offset + size) and returns the earlier one that it races with, if any.
bool find_race(Worker* w, Shadow& shadow, size_t offset, unsigned size, Access access, size_t pc, bool shared,
               Record* other);

Shadow& static_shadow(size_t bytes);
Shadow& dynamic_shadow();

}  // namespace simt
