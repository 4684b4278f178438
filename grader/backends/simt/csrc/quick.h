// The common access in few instructions: aligned, inside a live tensor or a shared variable that holds values,
// to words that nobody else has touched since the last barrier. It does for these what check.cpp does for all;
// whatever else comes, findings among it, goes the long way.
//
// Most reads take the shortest way of all, is_known(): of memory that the launch only reads, or of a word of shared
// memory that bears a mark. A mark stands for: it holds a value, and two of its readers since the last
// barrier are on record, so that whoever writes next is in conflict with one of them. More records of the same
// readers would tell no more.
#pragma once
#include "memory.h"
#include "origins.h"
#include "worker.h"

#define QUICK inline __attribute__((always_inline))

namespace simt {

// Whether an earlier access of this launch could not be a race with one of the running thread now. It may say
// no where ordered() in shadow.cpp says yes.
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

// The mark that the two readers on record of a word are worth; 0 for none.
static QUICK u64 mark_for(const Quick& q, const Record& a, const Record& b) {
  const Record& now = q.now;
  if (a.run != now.run || b.run != now.run || a.block_phase != now.block_phase || b.block_phase != now.block_phase)
    return 0;
  if (a.thread / 32 != b.thread / 32) return q.everyone;
  bool both = a.thread != b.thread && a.warp_phase == now.warp_phase && b.warp_phase == now.warp_phase;
  return both && a.thread / 32 == now.thread / 32 ? q.my_warp : 0;
}

template <unsigned SIZE>
static QUICK bool is_marked(const Quick& q, const u64* marks) {
  u64 first = marks[0];
  bool all = first == q.everyone || first == q.my_warp;
  for (unsigned i = 1; i < SIZE / 4; ++i) all &= marks[i] == first;
  return all;
}

template <unsigned SIZE>
static QUICK bool is_known(const Quick& q, size_t address) {
  if (address & (SIZE - 1)) return false;
  if (size_t at = address - q.shared_begin; at < q.shared_bytes) return is_marked<SIZE>(q, q.marks + at / 4);
  if (address - q.constant[0].begin < q.constant[0].bytes) return true;
  if (address - q.constant[1].begin < q.constant[1].bytes) return true;
  if (size_t at = address - q.dynamic_begin; at < q.dynamic_bytes)
    return is_marked<SIZE>(q, q.dynamic_marks + at / 4);
  return false;
}

// `marks`: those of the first word, nullptr if the word may not get one.
template <unsigned SIZE, Access ACCESS>
static QUICK bool quick_words(Quick& q, const Shadow& s, size_t offset, size_t pc, u32 first_run, u64* marks,
                              bool without_reads = false) {
  static constexpr size_t WORDS = SIZE / 4;
  size_t first = offset / 4;
  Order ordered{q.now.run, first_run, q.now.thread, q.now.block_phase};
  for (size_t g = first; g < first + WORDS; ++g) {
    if (!ordered(s.write[g])) return false;
    if (ACCESS == WRITE && !without_reads && !(ordered(s.read[g]) && ordered(s.other_read[g]))) return false;
  }
  Record now = q.now;
  now.pc = u32(pc - q.code);
  now.access = ACCESS;
  for (size_t g = first; g < first + WORDS; ++g) {
    if (ACCESS == WRITE) {
      s.write[g] = now;
      if (marks) marks[g - first] = 0;
      continue;
    }
    Record &a = s.read[g], &b = s.other_read[g];
    if (ordered(a))
      a = now;
    else if (ordered(b) || !both_stay(a, b, now))
      b = now;
    if (marks) marks[g - first] = mark_for(q, a, b);
  }
  return true;
}

template <unsigned SIZE, Access ACCESS>
static QUICK bool quick_global(Worker* w, Quick& q, size_t offset, size_t pc) {
  Range* range = &w->ranges[0];
  if (!range->holds(offset, SIZE)) range = &w->ranges[1];
  if (!range->holds(offset, SIZE)) {
    Allocation* a = allocation_at(offset);
    if (!a || !a->live || offset < a->offset || offset + SIZE > a->offset + a->bytes) return false;
    range = &w->ranges[w->older_range ^= 1];
    *range = {a->offset, a->bytes, a};
    if (ACCESS == READ && a->constant_in == w->launch->number) {  // from now on is_known() knows it
      auto& constant = q.constant[q.older ^= 1];
      constant.begin = (size_t)g_arena + a->offset;
      constant.bytes = a->bytes & ~size_t(15);
    }
  }
  Allocation* a = range->allocation;
  if (ACCESS == READ) {
    if (a->constant_in == w->launch->number) return true;
    a->read_in = w->launch->number;
  } else if (a->constant_in == w->launch->number) {
    return false;
  }
  u8* defined = g_defined + offset / 4;
  for (unsigned i = 0; i < SIZE / 4; ++i)
    if (ACCESS == READ && defined[i] != 15) return false;
  bool unread = a->read_in != w->launch->number;
  if (!quick_words<SIZE, ACCESS>(q, g_global_shadow, offset, pc, q.first_run, nullptr, unread)) return false;
  for (unsigned i = 0; i < SIZE / 4; ++i)
    if (ACCESS == WRITE) defined[i] = 15;
  return true;
}

// `begin`, `end`: of the variable; all of the access lies in it.
template <unsigned SIZE, Access ACCESS>
static QUICK bool quick_shared(Quick& q, const Shadow& shadow, u8* defined, u64* marks, size_t base, size_t begin,
                               size_t end, size_t offset, size_t pc) {
  static constexpr u32 ALL = 0x01010101;
  for (unsigned i = 0; i < SIZE; i += 4) {
    u32 four;
    memcpy(&four, defined + offset + i, 4);
    if (ACCESS == READ ? four != ALL : four & 0x01010101 * UNDER_WAY) return false;
  }
  // No mark where 16 bytes could reach into a neighbour: a mark is good for accesses of all sizes.
  size_t row = (base + offset) & ~size_t(15);
  bool whole = row >= base + begin && row + 16 <= base + end;
  u64* mark = ACCESS == WRITE || whole ? marks + offset / 4 : nullptr;
  if (!quick_words<SIZE, ACCESS>(q, shadow, offset, pc, q.shared_from, mark)) return false;
  if (ACCESS == WRITE)
    for (unsigned i = 0; i < SIZE; i += 4) memcpy(defined + offset + i, &ALL, 4);
  return true;
}

// The static variable that holds the byte at `offset` of the module's thread-local block.
static QUICK const Symbol* variable_of(Worker* w, size_t offset) {
  const Symbol* v = w->variables[0];
  if (v && offset - v->begin < v->end - v->begin) return v;
  v = w->variables[1];
  if (v && offset - v->begin < v->end - v->begin) return v;
  v = nullptr;
  for (auto* each : w->launch->shared_variables)
    if (offset - each->begin < each->end - each->begin) v = each;
  if (v) w->variables[w->older_variable ^= 1] = v;
  return v;
}

template <unsigned SIZE, Access ACCESS>
static QUICK bool quick(Worker* w, Quick& q, size_t address, size_t pc) {
  if (!q.usable || SIZE < 4 || (address & (SIZE - 1))) return false;
  if (in_arena((void*)address)) {
    size_t offset = address - (size_t)g_arena;
    if (!quick_global<SIZE, ACCESS>(w, q, offset, pc)) return false;
    if (g_watched) note_words<SIZE < 4 ? 4 : SIZE, ACCESS>(offset);
    return true;
  }
  if (size_t offset = address - q.shared_begin; offset < q.shared_bytes) {
    const Symbol* v = variable_of(w, offset);
    if (!v || offset + SIZE > v->end) return false;
    return quick_shared<SIZE, ACCESS>(q, *w->shared, w->static_defined.data(), q.marks, q.shared_begin, v->begin,
                                      v->end, offset, pc);
  }
  if (size_t offset = address - q.dynamic_begin; offset < q.dynamic_bytes) {
    if (offset + SIZE > q.dynamic_bytes) return false;
    return quick_shared<SIZE, ACCESS>(q, *w->dynamic, w->dynamic_defined.data(), q.dynamic_marks, q.dynamic_begin,
                                      0, q.dynamic_bytes, offset, pc);
  }
  return false;
}

}  // namespace simt
