#include "async_barriers.h"

#include "check.h"
#include "findings.h"
#include "history.h"
#include "worker.h"

#define RETURN_ADDRESS __builtin_return_address(0)

namespace simt {

static BlockClocks& clocks_of(Worker* w) {
  if (!w->clocks) {
    w->clocks = std::make_shared<BlockClocks>();
    if (w->mode & CHECK) {
      w->clocks->threads = size_t(w->launch->thread_count);
      w->clocks->known.resize(w->clocks->threads * w->clocks->threads);
    }
  }
  return *w->clocks;
}

static void join(u32* into, const std::vector<u32>& other) {
  for (size_t i = 0; i < other.size(); ++i) into[i] = std::max(into[i], other[i]);
}

// Numbers for what threads do after so many releases.
void need_runs(Launch* launch, u32 releases) {
  while (launch->runs < (u64(releases) + 1) * launch->block_count) {
    next_runs(launch->block_count);
    launch->runs += u32(launch->block_count);
  }
}

// What the running thread has done so far is one release, which others may come to know of.
void release_here(Worker* w) {
  if (!w->mode) return;
  Launch* launch = w->launch;
  Thread& me = w->threads[w->current];
  ++me.releases;
  launch->phased = true;
  need_runs(launch, me.releases);
  set_current(w, w->current);
}

void meet_all(Worker* w) {
  if (!w->clocks || w->clocks->known.empty()) return;
  for (int t = 0; t < w->launch->thread_count; ++t)
    for (int other = 0; other < w->launch->thread_count; ++other) {
      u32& known = w->clocks->row(t)[other];
      known = std::max(known, w->threads[other].releases);
    }
}

static void refuse_barrier(Worker* w, size_t pc, const char* why) {
  report(w, "async-barrier", pc, {.detail = why});
  kill_launch(w);
}

// The barrier, looked at as memory: setting it up must be in order with using it.
static AsyncBarrier* barrier_at(Worker* w, void* address, void* here) {
  leave_plain(w);
  end_quick();  // it knows nothing of these clocks
  if (w->threads[w->current].arrivals()) w->launch->fenced = true;  // see arrive() in clusters.cpp
  auto& all = clocks_of(w).barriers;
  auto it = all.find((size_t)address);
  if (it == all.end()) {
    refuse_barrier(w, (size_t)here - 1, "uses a cuda::barrier that no init() has set up in this block");
    return nullptr;
  }
  if (w->mode & CHECK) access(address, 8, READ, here);
  return w->killed ? nullptr : &it->second;
}

static void complete(Worker* w, size_t address, AsyncBarrier& b, void* here) {
  bring_copies(w, address, b.phase);
  ++b.phase;
  b.pending = b.expected;
  join(b.done.data(), b.coming);
  std::fill(b.coming.begin(), b.coming.end(), 0);
  for (int t = 0; t < w->launch->thread_count; ++t)
    if (w->states[t] == AT_ASYNC_BARRIER && w->waits[t].posted == address) w->states[t] = READY;
}

// Who waits for this phase may use what the running thread has done so far, and knows what it knows.
static void tell(Worker* w, AsyncBarrier& b) {
  if (!b.coming.empty()) {
    u32 now = w->threads[w->current].releases + 1;
    const u32* mine = w->clocks->row(w->current);
    for (size_t i = 0; i < b.coming.size(); ++i) b.coming[i] = std::max(b.coming[i], mine[i]);
    b.coming[size_t(w->current)] = std::max(b.coming[size_t(w->current)], now);
  }
  release_here(w);
}

static u32 arrive_at(Worker* w, size_t address, AsyncBarrier& b, u32 count, void* here) {
  if (count > b.pending) {
    refuse_barrier(w, (size_t)here - 1, "arrives at a cuda::barrier at which all that it was set up for have arrived in this phase");
    return b.phase;
  }
  u32 phase = b.phase;
  tell(w, b);
  b.pending -= count;
  if (!b.pending && !b.bytes) complete(w, address, b, here);
  return phase;
}

static void learn(Worker* w, const AsyncBarrier& b) {
  if (!b.done.empty()) join(w->clocks->row(w->current), b.done);
}

void report_async_deadlock(Worker* w, int stuck) {
  const AsyncBarrier& b = w->clocks->barriers[w->waits[stuck].posted];
  w->current = stuck;
  char detail[160];
  if (size_t number = w->waits[stuck].posted; number < NUMBERED)
    snprintf(detail, sizeof detail, "waits at barrier %zu for %u threads, of which %u never come%s", number, b.expected, b.pending, b.pending == 1 ? "s" : "");
  else
    snprintf(detail, sizeof detail, "waits at a cuda::barrier that was set up for %u arrival%s, of which %u never come%s", b.expected,
             b.expected == 1 ? "" : "s", b.pending, b.pending == 1 ? "s" : "");
  report(w, "deadlock", w->waits[stuck].pc, {.detail = detail});
  w->killed = w->launch->stopped = true;
}

}  // namespace simt

using namespace simt;

extern "C" void simt_barrier_init(void* address, unsigned expected) {
  Worker* w = t_worker;
  if (!w) return;
  if (!is_shared(w, (size_t)address)) return refuse_barrier(w, (size_t)RETURN_ADDRESS - 1, "sets up a cuda::barrier outside of its block's shared memory, which cannot run on the CPU");
  if (w->mode & CHECK) access(address, 8, WRITE, RETURN_ADDRESS);
  if (w->killed) return;
  AsyncBarrier& b = clocks_of(w).barriers[(size_t)address] = AsyncBarrier{};
  b.expected = b.pending = expected;
  b.coming.resize(w->clocks->threads);
  b.done.resize(w->clocks->threads);
}

extern "C" unsigned simt_barrier_arrive(void* address, unsigned count, int drop) {
  Worker* w = t_worker;
  AsyncBarrier* b = barrier_at(w, address, RETURN_ADDRESS);
  if (!b) return 0;
  if (drop) b->expected -= std::min(count, b->expected);
  u32 phase = arrive_at(w, (size_t)address, *b, count, RETURN_ADDRESS);
  // One that needs all of the block's threads makes them wait as __syncthreads() does.
  if (b->phase > phase && b->expected >= u32(w->launch->thread_count)) ++w->counter.barriers;
  return phase;
}

// So many bytes of bulk copies belong to the phase, too.
extern "C" void simt_barrier_expect(void* address, unsigned bytes) {
  if (AsyncBarrier* b = barrier_at(t_worker, address, RETURN_ADDRESS)) b->bytes += bytes;
}

// A bulk copy to the block's shared memory: what it brings is there when the barrier's phase is complete.
extern "C" void simt_bulk_copy(void* to, const void* from, unsigned bytes, void* address) {
  Worker* w = t_worker;
  AsyncBarrier* b = barrier_at(w, address, RETURN_ADDRESS);
  if (!b) return;
  size_t here = (size_t)RETURN_ADDRESS - 1;
  if (((size_t)to | (size_t)from | bytes) % 16) return refuse_barrier(w, here, "begins a bulk copy whose addresses and size are not all multiples of 16");
  if (!is_shared(w, (size_t)to)) return refuse_barrier(w, here, "begins a bulk copy to memory that is not its block's shared memory, which cannot run on the CPU");
  Thread& thread = w->threads[w->current];
  thread.copies_for = (size_t)address, thread.copies_phase = b->phase;
  for (unsigned i = 0; i < bytes && !w->killed; i += 16) copy_async(w, (char*)to + i, (const char*)from + i, 16, 0, RETURN_ADDRESS);
  thread.copies_for = 0;
  if (w->killed) return;
  b = &w->clocks->barriers[(size_t)address];
  b->bytes -= bytes;
  tell(w, *b);  // what has come is there for all who wait
  if (!b->pending && !b->bytes) complete(w, (size_t)address, *b, RETURN_ADDRESS);
}

static AsyncBarrier* numbered(Worker* w, unsigned number, unsigned count, void* here) {
  leave_plain(w);
  end_quick();
  unsigned all = unsigned(w->launch->thread_count), whole = (all + 31) / 32 * 32;
  char why[160] = "";
  if (!count) count = whole;
  if (number >= NUMBERED) snprintf(why, sizeof why, "uses barrier %u: a block has 16, from 0 on", number);
  else if (count % 32 || count > whole)
    snprintf(why, sizeof why, "uses barrier %u for %u threads: they must be whole warps, and no more than the block has (%u threads)", number, count, all);
  if (*why) return refuse_barrier(w, (size_t)here - 1, why), nullptr;
  AsyncBarrier& b = clocks_of(w).barriers[number];
  count = std::min(count, all);
  if (b.pending == b.expected) {  // nobody has come in this phase
    b.expected = b.pending = count;
    b.coming.resize(w->clocks->threads);
    b.done.resize(w->clocks->threads);
  } else if (b.expected != count) {
    snprintf(why, sizeof why, "uses barrier %u for %u threads, while others wait there to be %u", number, count, b.expected);
    return refuse_barrier(w, (size_t)here - 1, why), nullptr;
  }
  return &b;
}

// bar.sync and bar.arrive: `count` threads meet, 0 for all of the block's.
extern "C" void simt_numbered_barrier(unsigned number, unsigned count, int waits) {
  Worker* w = t_worker;
  AsyncBarrier* b = numbered(w, number, count, RETURN_ADDRESS);
  if (!b) return;
  u32 phase = arrive_at(w, number, *b, 1, RETURN_ADDRESS);
  b = &w->clocks->barriers[number];
  if (b->phase > phase) ++w->counter.barriers;  // by the thread that came last
  if (!waits) return;
  while (b->phase <= phase && !w->killed) {
    w->waits[w->current] = {(size_t)RETURN_ADDRESS - 1, number};
    w->states[w->current] = AT_ASYNC_BARRIER;
    wait_here(w);
    b = &w->clocks->barriers[number];
  }
  learn(w, *b);
}

// Until the phase of that number is complete.
extern "C" void simt_barrier_wait(void* address, unsigned phase) {
  Worker* w = t_worker;
  AsyncBarrier* b = barrier_at(w, address, RETURN_ADDRESS);
  if (!b) return;
  while (b->phase <= phase && !w->killed) {
    w->waits[w->current] = {(size_t)RETURN_ADDRESS - 1, (size_t)address};
    w->states[w->current] = AT_ASYNC_BARRIER;
    wait_here(w);
    b = &w->clocks->barriers[(size_t)address];
  }
  learn(w, *b);
}

// Whether it is; who asks in a loop lets others run.
extern "C" int simt_barrier_test(void* address, unsigned phase) {
  Worker* w = t_worker;
  AsyncBarrier* b = barrier_at(w, address, RETURN_ADDRESS);
  if (!b) return 1;
  if (b->phase <= phase) give_way(w);
  b = &w->clocks->barriers[(size_t)address];
  if (b->phase <= phase) return 0;
  learn(w, *b);
  return 1;
}

extern "C" unsigned simt_barrier_phase(void* address) {
  AsyncBarrier* b = barrier_at(t_worker, address, RETURN_ADDRESS);
  return b ? b->phase : 0;
}

// The copies that the running thread begins from here on arrive when the barrier's phase is complete; nullptr: no longer.
extern "C" void simt_copies_for(void* address) {
  Worker* w = t_worker;
  Thread& thread = w->threads[w->current];
  thread.copies_for = 0;
  if (!address) return;
  if (AsyncBarrier* b = barrier_at(w, address, RETURN_ADDRESS)) thread.copies_for = (size_t)address, thread.copies_phase = b->phase;
}
