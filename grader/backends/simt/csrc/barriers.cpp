#include "barriers.h"

#include "check.h"
#include "findings.h"
#include "recording.h"

#include <cfenv>

namespace simt {

#define RETURN_ADDRESS ((size_t)__builtin_return_address(0) - 1)

static void check_block_barrier(Worker* w) {
  int first = -1, other = -1, twin = -1;
  for (int t = 0; t < w->launch->thread_count; ++t) {
    if (w->states[t] != AT_BLOCK_BARRIER) continue;
    if (first < 0) first = t;
    if (other < 0 && w->waits[t].posted != w->waits[first].posted) other = t;
    if (twin < 0 && w->waits[t].pc != w->waits[first].pc) twin = t;
  }
  // With one number they are one barrier of the source; but a library's may be called from two lines.
  bool one_barrier = other < 0;
  if (one_barrier) other = twin;
  int running = w->current;
  if (other >= 0) {
    w->current = other;
    Record against{};
    against.pc = u32(w->waits[first].pc - w->launch->module->base);
    against.run = w->run;
    against.thread = u16(first);
    report(w, "barrier-divergence", w->waits[other].pc, {.other = &against, .one_barrier = one_barrier});
  }
  if (w->finished && !w->exit_reported) {
    w->exit_reported = true;
    w->current = first;
    int gone = 0;
    while (gone < w->launch->thread_count && w->states[gone] != FINISHED) ++gone;
    uint3 g = unflatten(gone, w->launch->block);
    char detail[200];
    snprintf(detail, sizeof detail,
             "%d of the block's %d threads, the first being thread (%u, %u, %u), had left", w->finished,
             w->launch->thread_count, g.x, g.y, g.z);
    report(w, "barrier-exited-threads", w->waits[first].pc, {.detail = detail});
  }
  w->current = running;
}

void release_block_barrier(Worker* w) {
  if (!w->doubtful.empty()) report_doubtful_writes(w);
  if (w->recording) {
    int first = 0;
    while (first < w->launch->thread_count - 1 && w->states[first] != AT_BLOCK_BARRIER) ++first;
    record_op(w, RELEASES, first, w->waits[first].pc, u64(w->arrived));
  }
  if (w->mode & CHECK) check_block_barrier(w);
  for (int t = 0; t < w->launch->thread_count; ++t)
    w->states[t] = w->states[t] == AT_BLOCK_BARRIER ? READY : w->states[t];
  w->arrived = 0;
  ++w->block_phase;
  if (w->mode & CHECK) begin_epoch(w);
  ++w->counter.barriers;
  w->vote_count[w->block_phase & 1] = 0;
}

static u64 answer(Thread& thread, u64 posted, const u64* values, u32 lanes, u32 ballot) {
  switch (thread.question) {
    case SHUFFLE:
      thread.absent = !(lanes >> thread.source & 1);
      return thread.absent ? posted : values[thread.source];
    case BALLOT: return ballot;
    case MATCH: {
      u32 equal = 0;
      for (u32 m = lanes; m; m &= m - 1)
        if (values[__builtin_ctz(m)] == posted) equal |= m & -m;
      return equal;
    }
    default: return 0;
  }
}

// Lets the lanes of `mask` go if all of them that still live wait, each with that same mask.
static bool release_warp_barrier(Worker* w, int i, u32 mask) {
  Warp& warp = w->warps[i];
  u32 need = mask & warp.exist & ~warp.finished;
  if ((warp.waiting & need) != need) return false;
  if (!w->doubtful.empty()) report_doubtful_writes(w);
  for (u32 m = need; m; m &= m - 1)
    if (w->threads[i * 32 + __builtin_ctz(m)].mask != mask) return false;
  u64 values[32];
  u32 ballot = 0;
  for (u32 m = need; m; m &= m - 1) {
    int lane = __builtin_ctz(m);
    values[lane] = w->waits[i * 32 + lane].posted;
    ballot |= u32(values[lane] & 1) << lane;
  }
  for (u32 m = need; m; m &= m - 1) {
    int t = i * 32 + __builtin_ctz(m);
    Thread& thread = w->threads[t];
    w->waits[t].posted = answer(thread, w->waits[t].posted, values, need, ballot);
    w->states[t] = READY;
    ++thread.warp_phase;
  }
  warp.waiting &= ~need;
  return true;
}

bool release_any_warp_barrier(Worker* w, int i) {
  for (u32 m = w->warps[i].waiting; m; m &= m - 1)
    if (release_warp_barrier(w, i, w->threads[i * 32 + __builtin_ctz(m)].mask)) return true;
  return false;
}

// No lane of the warp can go on: the lanes that asked at one place are active together.
bool release_active_mask(Worker* w, int i) {
  int begin = i * 32, end = std::min(w->launch->thread_count, begin + 32), first = begin;
  while (first < end && w->states[first] != AT_ACTIVE_MASK) ++first;
  if (first == end) return false;
  u32 mask = 0;
  for (int t = first; t < end; ++t)
    if (w->states[t] == AT_ACTIVE_MASK && w->waits[t].pc == w->waits[first].pc)
      mask |= 1u << (t - begin);
  for (u32 m = mask; m; m &= m - 1) {
    int t = begin + __builtin_ctz(m);
    w->waits[t].posted = mask;
    w->states[t] = READY;
  }
  return true;
}

static void arrive_at_block_barrier(Worker* w, u64 number, size_t pc) {
  leave_plain(w);
  if (w->recording) record_op(w, ARRIVES, w->current, pc);
  w->waits[w->current] = {pc, number};
  w->states[w->current] = AT_BLOCK_BARRIER;
  // The last one goes straight on; but a count puts a warp's accesses together, so there it waits for its turn.
  if (++w->arrived == w->launch->thread_count - w->finished && !(w->mode & COUNT))
    release_block_barrier(w);
  else
    wait_here(w);
}

static u64 arrive_at_warp_barrier(Worker* w, u32 mask, Question question, u64 posted, size_t pc) {
  leave_plain(w);
  int me = w->current, i = me / 32;
  Warp& warp = w->warps[i];
  if (w->mode & CHECK) {
    char detail[160];
    if (!(mask >> (me & 31) & 1)) {
      snprintf(detail, sizeof detail,
               "calls a warp function with the mask 0x%08x, which leaves out its own lane %d", mask, me & 31);
      report(w, "bad-mask", pc, {.detail = detail});
    }
    if (u32 gone = mask & warp.exist & warp.finished) {
      snprintf(detail, sizeof detail, "calls a warp function with the mask 0x%08x, but of its lanes %d %s left the kernel (0x%08x)",
               mask, __builtin_popcount(gone), gone & (gone - 1) ? "have" : "has", gone);
      report(w, "warp-exited-lanes", pc, {.detail = detail});
    }
  }
  if (w->recording) record_op(w, MEETS, me, pc, mask);
  Thread& thread = w->threads[me];
  thread.mask = mask;
  thread.question = question;
  w->waits[me] = {pc, posted};
  w->states[me] = AT_WARP_BARRIER;
  warp.waiting |= 1u << (me & 31);
  if (release_warp_barrier(w, i, mask))
    set_current(w, me);
  else
    wait_here(w);
  if (w->recording) record_op(w, PARTS, me, pc, w->waits[me].posted);
  return w->waits[me].posted;
}

static int shuffle_source(int kind, int lane, int argument, int width) {
  int segment = lane & ~(width - 1);
  switch (kind) {
    case 0: return segment + (argument & (width - 1));
    case 1: return lane - argument < segment ? lane : lane - argument;
    case 2: return lane + argument >= segment + width ? lane : lane + argument;
    default: return (lane ^ argument) >= segment + width ? lane : lane ^ argument;
  }
}

}  // namespace simt

using namespace simt;

// A template's instances have one number and names of their own.
static u64 of_instance(u64 number, const char* function) { return number ^ u64(function) << 16; }

extern "C" void simt_syncthreads(uint64_t number, const char* function) {
  arrive_at_block_barrier(t_worker, of_instance(number, function), RETURN_ADDRESS);
}

extern "C" int simt_syncthreads_vote(uint64_t number, const char* function, int operation, int predicate) {
  Worker* w = t_worker;
  leave_plain(w);
  int mine = (w->block_phase + 1) & 1, live = w->launch->thread_count - w->finished;
  w->vote_count[mine] += predicate != 0;
  if (w->arrived + 1 == live) {
    int yes = w->vote_count[mine];
    w->vote_result[mine] = operation == 0 ? yes : operation == 1 ? yes == live : yes > 0;
  }
  arrive_at_block_barrier(w, of_instance(number, function), RETURN_ADDRESS);
  return w->vote_result[mine];
}

extern "C" void simt_syncwarp(unsigned mask) {
  arrive_at_warp_barrier(t_worker, mask, NOTHING, 0, RETURN_ADDRESS);
}

extern "C" uint64_t simt_shuffle(unsigned mask, uint64_t bits, int kind, int argument, int width) {
  Worker* w = t_worker;
  Thread& thread = w->threads[w->current];
  thread.source = u8(shuffle_source(kind, w->current & 31, argument, width) & 31);
  uint64_t value = arrive_at_warp_barrier(w, mask, SHUFFLE, bits, RETURN_ADDRESS);
  if ((w->mode & CHECK) && thread.absent)
    report(w, "shuffle-from-absent-lane", RETURN_ADDRESS,
           {.detail = "reads the value of lane " + std::to_string(thread.source) +
                      ", which takes no part in the shuffle"});
  return value;
}

// What the lanes of each warp show each other for a product of matrices, by value: 6 registers a thread.
static constexpr int MOST_GIVEN = 6;

extern "C" SIMT_EXPORT void simt_give(int index, uint64_t bits) {
  Worker* w = t_worker;
  w->given.resize(size_t(w->launch->warp_count) * 32 * MOST_GIVEN);
  if (index >= 0 && index < MOST_GIVEN) w->given[w->current * MOST_GIVEN + index] = bits;
}
extern "C" SIMT_EXPORT uint64_t simt_given(unsigned lane, int index) {
  Worker* w = t_worker;
  bool known = index >= 0 && index < MOST_GIVEN && !w->given.empty();
  return known ? w->given[((w->current & ~31) + lane % 32) * MOST_GIVEN + index] : 0;
}

extern "C" SIMT_EXPORT float* simt_factors(unsigned warp) {
  Worker* w = t_worker;
  if (w->factors.empty()) w->factors.resize(MAX_THREADS / 32 * NUMBERS_OF_FACTORS);
  w->launch->shows_factors = true;
  return w->factors.data() + warp % (MAX_THREADS / 32) * NUMBERS_OF_FACTORS;
}

extern "C" unsigned simt_ballot(unsigned mask, int predicate) {
  return unsigned(arrive_at_warp_barrier(t_worker, mask, BALLOT, predicate != 0, RETURN_ADDRESS));
}

extern "C" uint64_t simt_match(unsigned mask, uint64_t bits) {
  return arrive_at_warp_barrier(t_worker, mask, MATCH, bits, RETURN_ADDRESS);
}

extern "C" SIMT_EXPORT unsigned simt_activemask() {
  Worker* w = t_worker;
  leave_plain(w);
  int me = w->current;
  w->waits[me].pc = RETURN_ADDRESS;
  w->states[me] = AT_ACTIVE_MASK;
  wait_here(w);
  return unsigned(w->waits[me].posted);
}

extern "C" void simt_sync_grid() {
  Worker* w = t_worker;
  if (!w->launch->cooperative) {
    report(w, "not-cooperative", RETURN_ADDRESS, {});
    kill_launch(w);
    return;
  }
  leave_plain(w);
  if (w->recording) record_op(w, MEETS_GRID, w->current, RETURN_ADDRESS);
  w->waits[w->current].pc = RETURN_ADDRESS;
  w->states[w->current] = AT_GRID_BARRIER;
  ++w->at_grid;
  wait_here(w);
}

extern "C" int simt_in_kernel() { return t_worker != nullptr; }

extern "C" int simt_is_cooperative() { return t_worker->launch->cooperative; }

extern "C" void simt_let_others_run() { give_way(t_worker); }

extern "C" unsigned simt_lane() { return t_worker->current & 31; }

extern "C" void simt_multiplied(unsigned operations) {
  Worker* w = t_worker;
  if ((w->mode & COUNT) && !(w->current & 31)) w->counter.multiplied(operations);
}

extern "C" void simt_round_towards(int direction) { fesetround(direction); }

extern "C" void simt_fence(int scope) {
  if (Worker* w = t_worker; w && w->fibre) {
    (scope ? w->launch->fenced : w->launch->fenced_in_blocks) = true;
    if (w->recording) record_op(w, FENCES, w->current, RETURN_ADDRESS);
    end_quick();
    w->threads[w->current].fenced_in = w->run;
  }
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
