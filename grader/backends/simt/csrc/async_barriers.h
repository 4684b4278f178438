// cuda::barrier: a barrier in shared memory at which threads arrive and wait apart, and for which copies may be under way.
//
// Who has waited there may use what others did before they arrived. So each thread of a block that has such a barrier knows
// how far it may look at each other thread: a clock for each pair.
#pragma once
#include "base.h"

#include <map>

namespace simt {

struct Worker;

struct AsyncBarrier {
  u32 expected = 0, pending = 0;  // arrivals of a phase, and those that are missing
  u32 phase = 0;                  // phases that are complete
  long bytes = 0;                 // that are expected of bulk copies, and have not come
  std::vector<u32> coming, done;  // what the arrivals of this phase and of those before know of each thread
};

struct BlockClocks {
  size_t threads = 0;
  std::vector<u32> known;  // [reader][other]: accesses of `other` before this many of its releases are in order
  std::map<size_t, AsyncBarrier> barriers;  // by address; those of `bar.sync`, which no memory holds, by their number

  u32* row(int thread) { return known.data() + size_t(thread) * threads; }
};

void meet_all(Worker* w);  // the threads of the block have all come to one place
constexpr unsigned NUMBERED = 16;  // barriers that a block has beside those in memory

void report_async_deadlock(Worker* w, int stuck);

}  // namespace simt
