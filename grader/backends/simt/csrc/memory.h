// Device memory: an arena of its own, so that every address tells which tensor it belongs to, or misses.
#pragma once
#include "base.h"

#include <deque>
#include <mutex>

namespace simt {

// Every allocation lies in the middle of a slot at least twice its size, so an index that is off by up to
// half a tensor still lands in that tensor's own gap. The gap's pages cannot be touched: what passes an
// allocation's end unseen by the checks ends in a fault, at the very first byte if the end is a page's end.
struct Allocation {
  size_t slot, slot_bytes;  // offsets into the arena
  size_t offset, bytes;
  bool live;
  u64 serial;
  std::string label;  // "Float[32, 64]", or empty for cudaMalloc
  int element_bytes;
  size_t allocated_at = 0;  // the student's cudaMalloc; 0 for torch's own memory
  bool complete = false;    // all of it is known to hold values
  u64 read_in = 0;          // the last launch whose reads of it are on record
  u64 constant_in = 0;      // the last launch that gets it by pointers to const only
  int for_both = 0;         // 1: pinned, 2: managed; the host may use it as well
  int queued = 0;           // such memory: launches that get it and have not run yet
  int heap = 0;             // of the heap of device code (heap.h): the number of an area of it, or of a block's
  bool recorded = false;      // with record_stream(): PyTorch gives it to nobody before other streams are done with it
  int copied_to = 0;          // such memory: copies to it that the host has not waited for
  size_t counted_behind = 0;  // where a GPU would align it: an access is counted as so many bytes before
};

extern std::deque<Allocation> g_allocations;

extern char* g_arena;
extern size_t g_arena_bytes;

extern size_t g_committed;  // bytes at the arena's start that have records; the rest is address space only

void memory_init();

inline bool in_arena(const void* p) { return size_t((const char*)p - g_arena) < g_arena_bytes; }
inline size_t arena_offset(const void* p) { return size_t((const char*)p - g_arena); }

Allocation* allocation_at(size_t offset);
Allocation* allocate_area(size_t bytes);  // that the caller gives out in parts; nullptr if there is none
void release_area(size_t offset);
void count_memory(long bytes);  // taken, or below zero: given back
extern std::recursive_mutex g_memory_lock;
Allocation* allocation_of(const void* pointer);  // nullptr for what is no device memory

extern u8* g_defined;  // for each 4 bytes: a bit for each byte that holds a value
// An access to a gap that was reported goes on as on a GPU, where other memory may lie there. Until close_gaps().
bool open_gap(size_t offset, size_t bytes);  // whether all of it can be touched now
void close_gaps();
void mark_initialised(size_t offset, size_t bytes);
bool is_initialised(size_t offset, size_t bytes);

template <class Visit>
void for_each_live_slot(Visit visit) {
  for (auto& a : g_allocations)
    if (a.live) visit(a.slot, a.slot_bytes);
}

}  // namespace simt
