#include "shadow.h"

#include "memory.h"
#include "worker.h"

namespace simt {

Shadow g_global_shadow;

void Shadow::init(size_t wanted, bool marked) {
  if (bytes >= wanted) return;
  for (Record* old : {write, read, other_read})
    if (old) munmap(old, bytes / 4 * sizeof(Record));
  if (marks) munmap(marks, bytes / 4 * sizeof(u64));
  bytes = wanted;
  size_t records = bytes / 4 * sizeof(Record);
  write = (Record*)reserve(records);
  read = (Record*)reserve(records);
  other_read = (Record*)reserve(records);
  if (marked) marks = (u64*)reserve(bytes / 4 * sizeof(u64));
}

void Shadow::init_uncommitted(size_t wanted) {
  if (bytes) return;
  bytes = wanted;
  for (Record** records : {&write, &read, &other_read})
    *records = (Record*)reserve_only(bytes / 4 * sizeof(Record));
}

bool Shadow::commit_bytes(size_t begin, size_t end) const {
  bool done = true;
  for (Record* records : {write, read, other_read})
    done &= commit(records, begin / 4 * sizeof(Record), end / 4 * sizeof(Record));
  return done;
}

Shadow& static_shadow(size_t bytes) {
  static thread_local Shadow shadow;
  shadow.init(std::max<size_t>(1 << 20, bytes + 16), true);
  return shadow;
}

Shadow& dynamic_shadow() {
  static thread_local Shadow shadow;
  shadow.init(256 << 10, true);
  return shadow;
}

static void forget(Record* records, size_t first, size_t end) {
  static constexpr size_t PAGE = 4096;
  auto begin = (size_t)(records + first), stop = (size_t)(records + end);
  size_t inner = (begin + PAGE - 1) & ~(PAGE - 1), inner_end = stop & ~(PAGE - 1);
  if (inner >= inner_end) {
    memset((void*)begin, 0, stop - begin);
    return;
  }
  memset((void*)begin, 0, inner - begin);
  madvise((void*)inner, inner_end - inner, MADV_DONTNEED);
  memset((void*)inner_end, 0, stop - inner_end);
}

void forget_shadow(size_t offset, size_t bytes) {
  if (!g_global_shadow.write || !bytes) return;
  size_t first = offset / 4, end = (offset + bytes + 3) / 4;
  forget(g_global_shadow.write, first, end);
  forget(g_global_shadow.read, first, end);
  forget(g_global_shadow.other_read, first, end);
}

void expect_shadow(size_t offset, size_t bytes) {
  if (!g_global_shadow.write) return;
  for (Record* records : {g_global_shadow.write, g_global_shadow.read, g_global_shadow.other_read})
    madvise((void*)(records + offset / 4), bytes / 4 * sizeof(Record), MADV_HUGEPAGE);
}

const Record* last_write(const void* pointer, size_t bytes) {
  if (!g_global_shadow.write || !bytes || !in_arena(pointer)) return nullptr;
  size_t offset = arena_offset(pointer);
  const Record* latest = nullptr;
  for (size_t g = offset / 4; g <= (offset + bytes - 1) / 4; ++g) {
    const Record& r = g_global_shadow.write[g];
    if (r.access && (!latest || r.run > latest->run)) latest = &r;
  }
  return latest;
}

// A new block finds garbage in its shared memory, as on a GPU.
void clear_shared_memory(Worker* w) {
  w->copies.clear();  // what nobody has waited for
  std::fill(w->dynamic_defined.begin(), w->dynamic_defined.end(), 0);
  if (w->tls)
    for (auto* v : w->launch->shared_variables) {
      memset(w->static_defined.data() + v->begin, 0, v->end - v->begin);
      memset((char*)w->tls + v->begin, 0xff, v->end - v->begin);
    }
  if (w->launch->shared_bytes) memset(w->dynamic_shared, 0xff, w->launch->shared_bytes);
}

// The same for what an earlier grid did. One that was launched by a kernel runs here when the launching grid has
// ended, and on a GPU beside it: in order is what the launching thread knew of when it launched.
static bool before_its_launch(const Launch* launch, const Record& before) {
  const ByKernel& by_kernel = launch->by_kernel;
  const Launch* parent = by_kernel.parent;
  if (!parent) return true;
  if (before.run < parent->first_run) return before_its_launch(parent, before);
  if (by_kernel.last) return true;
  if (before.run - parent->first_run >= parent->runs) {
    for (auto& other : parent->children)
      if (before.run >= other->first_run && before.run < other->end_run)
        return by_kernel.in_order && other->by_kernel.in_order && other->by_kernel.block == by_kernel.block && other->by_kernel.stream == by_kernel.stream;
    return true;
  }
  u64 block = (before.run - parent->first_run) % parent->block_count, round = (before.run - parent->first_run) / parent->block_count;
  if (block != by_kernel.block) return round < by_kernel.grid_round;
  if (before.thread == by_kernel.thread) return round <= by_kernel.release;
  if (before.block_phase != by_kernel.block_phase) return before.block_phase < by_kernel.block_phase;
  return before.thread / 32 == by_kernel.thread / 32 && before.warp_phase < by_kernel.warp_phase;
}

// Whether something makes `before` happen before `now`: the same thread, a barrier, or another launch.
static inline bool ordered(const Worker* w, const Record& before, const Record& now, bool shared) {
  const Launch* launch = w->launch;
  if (before.run != now.run) {
    if (before.run < launch->first_run)
      return shared || (before_its_launch(launch, before) && (!launch->beside || done_before(before.run, launch->work)));
    u64 blocks = launch->block_count, round = (before.run - launch->first_run) / blocks;
    u64 block = (before.run - launch->first_run) % blocks;
    if (block != w->block) {
      if (launch->fenced) return true;
      bool together = launch->cluster_blocks > 1 && cluster_of_block(*launch, block) == cluster_of_block(*launch, w->block);
      if (!together) return shared || round < launch->grid_round;  // before all blocks met
      return !w->plain && w->threads[w->current].cluster_waits > round;
    }
    if (!launch->phased || w->plain || (!w->clocks && w->threads[w->current].cluster_waits > round)) return true;
  }
  if (before.thread == now.thread || before.block_phase != now.block_phase) return true;
  if (w->threads[before.thread].fenced_in == before.run) return true;
  if (w->clocks && w->clocks->row(now.thread)[before.thread] > (before.run - launch->first_run) / launch->block_count) return true;
  return before.thread / 32 == now.thread / 32 && before.warp_phase != now.warp_phase;
}

static inline bool races(const Worker* w, const Record& before, const Record& now, bool shared) {
  if (!before.access || !(before.bytes & now.bytes & 15)) return false;
  auto strong = [](const Record& r) { return r.access == ATOMIC || r.bytes & STRONG; };
  bool narrow = (before.bytes | now.bytes) & IN_BLOCK && before.run != now.run;
  if (strong(before) && strong(now) && !narrow) return false;
  // A flag: volatile or atomic on both sides, in a kernel that has fences.
  bool flags = (before.bytes & VOLATILE || before.access == ATOMIC) &&
               (now.bytes & VOLATILE || now.access == ATOMIC);
  if (flags && w->launch->fenced) return false;
  return !ordered(w, before, now, shared);
}

// A thread's atomic on what it has just written: other threads' atomics are in order with the first, and not with the
// write, which stays on record until a barrier.
static inline bool hides_a_write(const Record& before, const Record& now) {
  return now.access == ATOMIC && before.access == WRITE && before.thread == now.thread && before.run == now.run &&
         before.block_phase == now.block_phase && !(now.bytes & ~before.bytes & 15) && !(before.bytes & VOLATILE);
}

bool find_race(Worker* w, Shadow& s, size_t offset, unsigned size, Access access, size_t pc, bool shared,
               Record* other) {
  const Thread& thread = w->threads[w->current];
  bool found = false;
  bool strong = w->is_volatile && w->is_strong;
  u8 flag = (w->is_volatile ? VOLATILE : 0) | (strong ? STRONG : 0) | (w->in_block && (strong || access == ATOMIC) ? IN_BLOCK : 0);
  for (size_t g = offset / 4; g <= (offset + size - 1) / 4; ++g) {
    size_t begin = std::max(offset, g * 4), end = std::min<size_t>(offset + size, g * 4 + 4);
    u8 bytes = u8(((1 << (end - begin)) - 1) << (begin & 3));
    Record now{u32(pc - w->launch->module->base),
               w->run,
               u16(w->current),
               w->block_phase,
               w->plain ? u16(0) : thread.warp_phase,
               u8(bytes | flag),
               u8(access)};
    const Record* against = nullptr;
    if (races(w, s.write[g], now, shared)) against = &s.write[g];
    if (access != READ) {
      if (!against && races(w, s.read[g], now, shared)) against = &s.read[g];
      if (!against && races(w, s.other_read[g], now, shared)) against = &s.other_read[g];
    }
    if (against && !found) {
      *other = *against;
      found = true;
    }
    if (access != READ) {
      if (access == ATOMIC) {  // what it read itself before is part of its update
        for (Record* r : {&s.read[g], &s.other_read[g]})
          if (r->thread == now.thread && r->run == now.run) r->access = NO_ACCESS;
      }
      if (!hides_a_write(s.write[g], now)) s.write[g] = now;
      continue;
    }
    Record& first = s.read[g];
    bool replace = !first.access || (first.thread == now.thread && first.run == now.run) ||
                   ordered(w, first, now, shared);
    (replace ? first : s.other_read[g]) = now;
  }
  return found;
}

}  // namespace simt
