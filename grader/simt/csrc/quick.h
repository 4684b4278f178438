// The common access in few instructions: aligned, inside a live tensor or a shared variable that holds values,
// to words that nobody else has touched since the last barrier. It does for these what check.cpp does for all;
// whatever else comes, findings among it, goes the long way.
#pragma once
#include "memory.h"
#include "worker.h"

#define QUICK inline __attribute__((always_inline))

namespace simt {

// Whether an earlier access of this launch could not be a race with one of thread `me` now. It may say no
// where ordered() in shadow.cpp says yes.
struct Order {
  u32 run, first_run;
  u16 me, phase;
  QUICK bool operator()(const Record& before) const {
    if (before.run != run) return before.run < first_run;
    return before.block_phase != phase || before.thread == me;
  }
};

// Two readers stay on record. A third need not be: whoever writes later cannot be in order with both of two
// from different blocks, or from different warps of the only block that reads, unless it is with the third.
static QUICK bool both_stay(const Record& a, const Record& b, const Record& now) {
  return a.run != b.run || (a.run == now.run && a.thread / 32 != b.thread / 32);
}

static QUICK bool quick_words(Worker* w, const Shadow& s, size_t offset, unsigned size, Access access, size_t pc,
                               bool shared) {
  const Launch* launch = w->launch;
  size_t first = offset / 4, end = first + size / 4;
  Order ordered{w->run, shared ? ~u32(0) : launch->first_run, u16(w->current), w->block_phase};
  for (size_t g = first; g < end; ++g) {
    if (!ordered(s.write[g])) return false;
    if (access == WRITE && !(ordered(s.read[g]) && ordered(s.other_read[g]))) return false;
  }
  Record now{u32(pc - launch->module->base), w->run, ordered.me, ordered.phase,
             w->plain ? u16(0) : w->threads[w->current].warp_phase, 15, u8(access)};
  for (size_t g = first; g < end; ++g) {
    if (access == WRITE) {
      s.write[g] = now;
    } else if (Record& a = s.read[g]; ordered(a)) {
      a = now;
    } else if (Record& b = s.other_read[g]; ordered(b) || !both_stay(a, b, now)) {
      b = now;
    }
  }
  return true;
}

static QUICK bool quick_global(Worker* w, size_t offset, unsigned size, Access access, size_t pc) {
  Range* range = &w->ranges[0];
  if (!range->holds(offset, size)) range = &w->ranges[1];
  if (!range->holds(offset, size)) {
    const Allocation* a = allocation_at(offset);
    if (!a || !a->live || offset < a->offset || offset + size > a->offset + a->bytes) return false;
    range = &w->ranges[w->older_range ^= 1];
    *range = {a->offset, a->bytes};
  }
  u8* defined = g_defined + offset / 4;
  for (unsigned i = 0; i < size / 4; ++i)
    if (access == READ && defined[i] != 15) return false;
  if (!quick_words(w, g_global_shadow, offset, size, access, pc, false)) return false;
  for (unsigned i = 0; i < size / 4; ++i)
    if (access == WRITE) defined[i] = 15;
  return true;
}

// `offset` counts from the start of the module's thread-local block; all of the access lies in one variable.
static QUICK bool quick_shared(Worker* w, size_t offset, unsigned size, Access access, size_t pc) {
  const Symbol* v = w->variables[0];
  if (!v || offset - v->begin >= v->end - v->begin) v = w->variables[1];
  if (!v || offset - v->begin >= v->end - v->begin) {
    v = nullptr;
    for (auto* each : w->launch->shared_variables)
      if (offset - each->begin < each->end - each->begin) v = each;
    if (!v) return false;
    w->variables[w->older_variable ^= 1] = v;
  }
  if (offset + size > v->end) return false;
  u8* defined = w->static_defined.data() + offset;
  static constexpr u32 ALL = 0x01010101;
  for (unsigned i = 0; i < size; i += 4) {
    u32 four;
    memcpy(&four, defined + i, 4);
    if (access == READ && four != ALL) return false;
  }
  if (!quick_words(w, *w->shared, offset, size, access, pc, true)) return false;
  if (access == WRITE)
    for (unsigned i = 0; i < size; i += 4) memcpy(defined + i, &ALL, 4);
  return true;
}

static QUICK bool quick(Worker* w, size_t address, unsigned size, Access access, size_t pc) {
  if (access == ATOMIC || (size & 3) || (address & (size - 1)) || w->is_volatile) return false;
  // Fences and grid barriers put more accesses in order than Order knows of.
  if (w->launch->fenced || w->launch->runs > w->launch->block_count) return false;
  if (in_arena((void*)address)) return quick_global(w, address - (size_t)g_arena, size, access, pc);
  size_t offset = address - w->tls;
  return offset < w->tls_bytes && quick_shared(w, offset, size, access, pc);
}

}  // namespace simt
