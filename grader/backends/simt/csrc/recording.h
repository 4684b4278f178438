// What the threads of some blocks of one launch did, in the order in which it ran: for those who want to see it
// (`course replay`). Off unless it was asked for; then the recorded blocks take the long way of each access.
#pragma once
#include "base.h"

namespace simt {

struct Worker;
struct Launch;
struct Record;

// What an event is about. The first four are those of Access. The numbers are part of what Python reads.
enum Op : u8 {
  ENTERS = 0,         // a basic block of the source
  WRITES = WRITE,     // value: what is there afterwards
  READS = READ,       // value: what is there
  UPDATES = ATOMIC,   // value: what is there afterwards
  ARRIVES = 4,        // at a barrier of the block
  RELEASES = 5,       // the barrier: all threads that wait there may go on; value: how many waited
  MEETS = 6,          // a warp function: comes to it; value: the mask
  PARTS = 7,          // and goes on
  LEAVES = 8,         // the kernel
  IS_FOUND = 9,       // a finding; value: its number
  KEEPS = 10,         // a local variable; object: its name, size: bytes and kind, value: its bits
  FENCES = 11,
  MORE = 12,          // the next 8 bytes of the access before
  MEETS_GRID = 13,    // grid.sync()
  BEGINS = 14,        // a block, and again after it was put aside
  ENDS = 15,
};

// One event; 32 bytes, which Python reads as they lie here.
struct Event {
  u64 value;
  int64_t offset;  // bytes into the object
  u32 pc;          // relative to the module
  u32 block;       // index of the recorded block
  int32_t object;  // -1: none
  u16 thread;
  u8 op, size;
};
static_assert(sizeof(Event) == 32);

extern bool g_recording;  // a recording was asked for, and is not complete

void forget_region(size_t offset);  // the memory there belongs to another allocation from now on
void record_launch_begins(Launch* launch);
void record_launch_ends(Launch* launch);
void record_block_begins(Worker* w);  // sets w->recording
void record_block_ends(Worker* w);
void record_access(Worker* w, size_t address, unsigned size, Access access, size_t pc);
void record_op(Worker* w, Op op, int thread, size_t pc, u64 value = 0);
void record_finding(Worker* w, const char* kind, size_t pc, const Record* other, bool one_barrier);
// Accesses of one copy: what they leave is known only after the last of them.
void record_several(bool on);

}  // namespace simt
