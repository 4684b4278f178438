// Runs the threads of a block: warp by warp, lane by lane, each until it ends or waits for others.
#include "barriers.h"
#include "blocks.h"
#include "check.h"
#include "findings.h"
#include "history.h"
#include "recording.h"
#include "shadow.h"
#include "unseen.h"
#include "worker.h"

#include <utility>

extern "C" SIMT_EXPORT __thread simt::Builtins simt_builtins SIMT_TLS;
__thread simt::Builtins simt_builtins;
extern "C" SIMT_EXPORT __thread char simt_dynamic_shared[];  // shared_buffer.cpp

namespace simt {

__thread Worker* t_worker SIMT_TLS = nullptr;
__thread Quick t_quick SIMT_TLS;

// One for each OS thread that launches (autograd has threads of its own): fibres never change threads.
Worker* this_worker() {
  static thread_local Worker* mine = nullptr;
  if (!mine) {
    mine = new Worker;
    mine->dynamic_shared = simt_dynamic_shared;
  }
  return mine;
}

static void to_scheduler(Worker* w) { simt_switch(&w->fibre->stack_pointer, w->scheduler_sp); }

void kill_launch(Worker* w) {
  w->killed = true;
  w->launch->stopped = true;
  leave_plain(w);
  if (w->fibre) to_scheduler(w);
}

static void all_fresh(Worker* w) {
  int n = w->launch->thread_count;
  w->plain = false;
  std::fill_n(w->states, n, FRESH);
  for (int t = 0; t < n; ++t) w->threads[t].warp_phase = 0, w->threads[t].cluster_waits = 0, w->threads[t].cluster_arrived = false, w->threads[t].releases = 0;
  for (int i = 0; i < w->launch->warp_count; ++i) {
    int lanes = std::min(32, n - i * 32);
    Warp& warp = w->warps[i];
    warp.exist = lanes == 32 ? ~0u : (1u << lanes) - 1;
    warp.finished = warp.waiting = 0;
  }
}

// Somebody waits, so from here on every thread has a state: those before this one have ended.
void leave_plain(Worker* w) {
  if (!w->plain) return;
  all_fresh(w);
  int me = w->current;
  std::fill_n(w->states, me, FINISHED);
  w->states[me] = READY;
  for (int i = 0; i <= me / 32; ++i) {
    int gone = std::min(me - i * 32, 32);
    w->warps[i].finished = gone == 32 ? ~0u : (1u << gone) - 1;
  }
  w->finished = me;
  w->threads[me].fibre = w->fibre;
}

// Thread after thread on one stack, for as long as none of them waits; whether all of them got to their end.
static bool run_plainly(Worker* w) {
  Launch* launch = w->launch;
  auto body = launch->body;
  void* context = launch->context;
  bool count = w->mode & COUNT;
  for (int t = 0, n = launch->thread_count; t < n; ++t) {
    set_current(w, t);
    simt_builtins.thread = w->threads[t].index;
    body(context);
    if (!w->plain) return false;
    if (w->recording) record_op(w, LEAVES, t, 0);
    if (count && ((t & 31) == 31 || t == n - 1)) w->counter.end_of_warp_turn();
  }
  w->finished = launch->thread_count;
  return true;
}

static void fibre_main() {
  for (;;) {
    Worker* w = t_worker;
    Launch* launch = w->launch;
    bool inside = false;  // a thread whose body has been run already
    if (w->plain) {
      if (run_plainly(w)) {
        w->idle_fibres.push_back(w->fibre);
        to_scheduler(w);
        continue;
      }
      inside = true;
    }
    for (;;) {
      if (!inside) {
        simt_builtins.thread = w->threads[w->current].index;
        launch->body(launch->context);
      }
      inside = false;
      Thread& done = w->threads[w->current];
      if (w->recording) record_op(w, LEAVES, w->current, 0);
      w->states[w->current] = FINISHED;
      ++w->finished;
      w->warps[w->current / 32].finished |= 1u << (w->current & 31);
      // No barrier met so far: this stack is free again, go straight on with the next lane.
      int next = w->current + 1;
      bool go_on =
          (next & 31) && next < launch->thread_count && w->states[next] == FRESH && !w->killed;
      if (!go_on) {
        w->idle_fibres.push_back(done.fibre);
        break;
      }
      set_current(w, next);
      w->threads[next].fibre = done.fibre;
      w->states[next] = READY;
    }
    to_scheduler(w);
  }
}

static void give_fibre(Worker* w, int t) {
  Thread& thread = w->threads[t];
  if (w->idle_fibres.empty()) {
    thread.fibre = make_fibre(w->fibre_count++);
  } else {
    thread.fibre = w->idle_fibres.back();
    w->idle_fibres.pop_back();
  }
  if (!thread.fibre->stack_pointer) start_at(thread.fibre, fibre_main);
  w->states[t] = READY;
}

static void resume(Worker* w, int t) {
  Thread& thread = w->threads[t];
  if (w->states[t] == FRESH) give_fibre(w, t);
  set_current(w, t);
  simt_builtins.thread = thread.index;
  w->fibre = thread.fibre;
  simt_switch(&w->scheduler_sp, thread.fibre->stack_pointer);
  w->fibre = nullptr;
}

// On a fibre: run the warp's next lane directly, or the scheduler, until this thread is resumed. Whoever resumes
// it has set the current thread.
void wait_here(Worker* w) {
  int next = w->current + 1;
  if (!(next & 31) || next >= w->launch->thread_count || w->states[next] > READY) return to_scheduler(w);
  Thread& thread = w->threads[next];
  Fibre* mine = w->fibre;
  if (Fibre* after = w->threads[next + 1].fibre) {
    __builtin_prefetch(after->stack_pointer);
    __builtin_prefetch((char*)after->stack_pointer + 64);
  }
  if (w->states[next] == FRESH) give_fibre(w, next);
  set_current(w, next);
  simt_builtins.thread = thread.index;
  w->fibre = thread.fibre;
  simt_switch(&mine->stack_pointer, thread.fibre->stack_pointer);
}

static void begin_block(Worker* w, u64 block, int rank) {
  Launch* launch = w->launch;
  w->block = block;
  w->run = launch->first_run + u32(block);
  w->block_phase = 0;
  w->finished = w->arrived = w->at_grid = 0;
  w->vote_count[0] = w->vote_count[1] = 0;
  simt_builtins.block = block_index(*launch, block);
  w->plain = true;
  if (launch->cluster_blocks == 1) w->cluster.reset();
  w->clocks.reset();
  if (w->mode & COUNT) w->counter.begin_block(simt_builtins.block);
  if (w->cluster) enter_cluster(w, rank);
  if (w->mode & CHECK) {
    clear_shared_memory(w);
    begin_epoch(w);
  }
  if (g_recording) record_block_begins(w);
  if (w->mode && !w->recording) choose_unseen(w);
}

// Gives the stacks of threads that will never go on back.
static void abandon_block(Worker* w) {
  auto& idle = w->idle_fibres;
  for (int t = 0; t < w->launch->thread_count; ++t) {
    Thread& thread = w->threads[t];
    thread.copies_for = 0;
    if (w->states[t] == FINISHED || w->states[t] == FRESH) continue;
    if (std::find(idle.begin(), idle.end(), thread.fibre) != idle.end()) continue;
    thread.fibre->stack_pointer = nullptr;
    idle.push_back(thread.fibre);
  }
}

static void report_deadlock(Worker* w) {
  int stuck = 0;
  for (int t = 0; t < w->launch->thread_count; ++t)
    if (w->states[t] == AT_ASYNC_BARRIER) return report_async_deadlock(w, t);
  while (w->states[stuck] != AT_WARP_BARRIER) ++stuck;
  w->current = stuck;
  Warp& warp = w->warps[stuck / 32];
  char detail[200];
  snprintf(detail, sizeof detail,
           "waits for the lanes 0x%08x of warp %d; of these 0x%08x left the kernel and 0x%08x came",
           w->threads[stuck].mask, stuck / 32, w->threads[stuck].mask & warp.finished,
           w->threads[stuck].mask & warp.waiting);
  report(w, "deadlock", w->waits[stuck].pc, {.detail = detail});
  w->killed = true;
}

static void begin_plainly(Worker* w) {
  give_fibre(w, 0);
  set_current(w, 0);
  w->fibre = w->threads[0].fibre;
  simt_switch(&w->scheduler_sp, w->fibre->stack_pointer);
  w->fibre = nullptr;
}

// On a fibre. A loop that waits for another thread never blocks: this is where it lets the other one run.
void give_way(Worker* w) {
  leave_plain(w);
  w->states[w->current] = GAVE_WAY;
  wait_here(w);
}

// An update of two atomic accesses loses what another block adds between them. Blocks that run one after another
// would never show that, so some of them are put aside there.
void interrupt(Worker* w) {
  static constexpr int MOST = 32;  // of a launch
  Launch* launch = w->launch;
  bool can = (w->mode & CHECK) && !(w->mode & COUNT) && !w->recording && launch->cluster_blocks == 1 && launch->block_count > 1;
  if (!can || launch->interrupted >= MOST) return;
  u64 drawn = ++launch->atomics * 0x9e3779b97f4a7c15ull;  // the same in each launch: last bits must not depend on it
  if (!((drawn ^ drawn >> 29) >> 20 & 1)) return;
  ++launch->interrupted;
  w->leaves = true;
  give_way(w);
}

static bool wake(Worker* w, State waiting) {
  bool any = false;
  for (int t = 0; t < w->launch->thread_count; ++t) {
    if (w->states[t] != waiting) continue;
    w->states[t] = READY;
    any = true;
  }
  return any;
}

static bool is_any_runnable(const Worker* w) {
  for (int t = 0; t < w->launch->thread_count; ++t)
    if (w->states[t] <= READY) return true;
  return false;
}

static bool waits_for_the_grid(const Worker* w) {
  return w->at_grid && w->at_grid == w->launch->thread_count - w->finished;
}

// What a warp usually comes to: 32 lanes at one barrier of the block.
static bool all_at_block_barrier(const Worker* w, int begin, int end) {
  static constexpr u64 EIGHT = 0x0101010101010101 * AT_BLOCK_BARRIER;
  if (end - begin != 32) return false;
  u64 lanes[4];
  memcpy(lanes, w->states + begin, 32);
  return lanes[0] == EIGHT && lanes[1] == EIGHT && lanes[2] == EIGHT && lanes[3] == EIGHT;
}

static void run_warp(Worker* w, int i) {
  int begin = i * 32, end = std::min(w->launch->thread_count, begin + 32);
  for (bool again = true; again && !w->killed;) {
    again = false;
    for (int t = begin; t < end && !w->killed; ++t) {
      if (w->states[t] > READY) continue;
      resume(w, t);
      again = true;
    }
    if (all_at_block_barrier(w, begin, end)) break;
    if (!again) again = release_active_mask(w, i) || release_any_warp_barrier(w, i);
  }
  if (w->mode & COUNT) w->counter.end_of_warp_turn();
}

// Whether the block has ended; if not, it waits for other blocks.
static bool advance(Worker* w, int first_warp) {
  static constexpr int ROUNDS_OF_WAITING = 2;
  Launch* launch = w->launch;
  int n = launch->thread_count, waited = 0;
  while (w->finished < n && !w->killed) {
    for (int i = std::exchange(first_warp, 0); i < launch->warp_count && !w->killed; ++i)
      run_warp(w, int(shuffled(u64(i), u64(launch->warp_count))));
    if (w->finished == n || w->killed) break;
    if (is_any_runnable(w)) continue;
    if (wake(w, GAVE_WAY)) {
      if (std::exchange(w->leaves, false) || (++waited > ROUNDS_OF_WAITING && launch->block_count > 1)) return false;
    } else if (waits_for_the_grid(w)) {
      return false;
    } else if (w->arrived == n - w->finished) {
      release_block_barrier(w);
    } else {
      if (!waits_for_the_cluster(w)) {
        report_deadlock(w);
      } else if (!release_cluster_barrier(w)) {
        if (!w->doubtful.empty()) report_doubtful_writes(w);
        if (launch->cluster_blocks > 1) return false;
        report_cluster_deadlock(w);
      }
    }
  }
  if (w->killed) abandon_block(w);
  if (w->mode & COUNT) {
    w->counter.end_of_warp_turn();  // of a warp that got to its end at once, after waiting for itself alone
    w->counter.end_block();
  }
  report_doubtful(w);
  end_in_cluster(w);
  if (w->recording) record_block_ends(w);
  return true;
}

void run_block(Worker* w, u64 block, int rank) {
  begin_block(w, block, rank);
  int first_warp = 0;
  if (g_schedule) {
    all_fresh(w);
  } else {
    begin_plainly(w);
    first_warp = w->finished / 32;  // the warps before it have ended
  }
  bool ended = advance(w, first_warp);
  end_look(w);
  if (!ended) w->aside.push_back(put_aside(w));
}

static bool waits_for_the_grid(const Launch* launch, const SavedBlock& b) {
  return b.at_grid && b.at_grid == launch->thread_count - b.finished;
}

// Every block has come to the barrier: they go on as if newly begun, in the next numbers of runs.
static void release_grid_barrier(Worker* w) {
  Launch* launch = w->launch;
  u32 most = 0;
  for (auto& b : w->aside)
    for (auto& thread : b.threads) most = std::max(most, thread.releases);
  launch->grid_round = most + 1;
  need_runs(launch, launch->grid_round);
  end_quick();  // it knows nothing of the order that this makes
  for (auto& b : w->aside) {
    for (auto& thread : b.threads) thread.releases = launch->grid_round;
    b.at_grid = 0;
    ++b.block_phase;
    for (auto& state : b.states)
      if (state == AT_GRID_BARRIER) state = READY;
  }
}

static void report_absent_blocks(Worker* w) {
  char detail[160];
  size_t gone = size_t(w->launch->block_count) - w->aside.size();
  snprintf(detail, sizeof detail, "waits at grid.sync(), but %zu of the grid's %zu blocks %s left the kernel", gone,
           size_t(w->launch->block_count), gone == 1 ? "has" : "have");
  take_up(w, w->aside.front());
  w->current = 0;
  while (w->states[w->current] != AT_GRID_BARRIER) ++w->current;
  report(w, "deadlock", w->waits[w->current].pc, {.detail = detail});
  w->killed = true;
}

// All that is left of a cluster waits at its barrier, and not everybody will come.
static bool is_stuck(const SavedBlock& b) {
  return b.cluster && b.waits_for_cluster && b.waited_since == b.cluster->phase && !cluster_can_go_on(nullptr, *b.cluster);
}

// Lets each block that was put aside go on once, if it can; whether any of them did.
static bool go_round(Worker* w) {
  std::vector<SavedBlock> round;
  round.swap(w->aside);
  bool any = false;
  for (auto& b : round) {
    if (w->killed || waits_for_the_grid(w->launch, b) || is_stuck(b)) {
      w->aside.push_back(std::move(b));
      continue;
    }
    any = true;
    take_up(w, b);
    if (!advance(w, 0)) w->aside.push_back(put_aside(w));
  }
  return any;
}

void finish_blocks(Worker* w) {
  Launch* launch = w->launch;
  while (!w->aside.empty() && !w->killed) {
    bool all = true;
    for (auto& b : w->aside) all &= waits_for_the_grid(launch, b);
    if (all && w->aside.size() < launch->block_count) {
      report_absent_blocks(w);
      break;
    }
    if (all) release_grid_barrier(w);
    if (go_round(w) || w->killed) continue;
    take_up(w, w->aside.front());
    report_cluster_deadlock(w);
  }
  for (auto& b : w->aside) {
    take_up(w, b);
    abandon_block(w);
  }
  w->aside.clear();
  w->cluster.reset();
}

// The blocks of a cluster by turns. What waits in loops for other clusters is left until these have had a turn.
void run_cluster(Worker* w, u64 number) {
  static constexpr int ROUNDS_OF_WAITING = 64;
  Launch* launch = w->launch;
  std::vector<SavedBlock> others;
  others.swap(w->aside);
  begin_cluster(w);
  for (int i = 0; i < launch->cluster_blocks && !w->killed; ++i) {
    int rank = int(shuffled(u64(i), u64(launch->cluster_blocks)));
    run_block(w, block_of_cluster(*launch, number, rank), rank);
  }
  for (int waited = 0; !w->aside.empty() && !w->killed;) {
    size_t before = w->aside.size();
    bool barrier = false;
    for (auto& b : w->aside) barrier |= b.waits_for_cluster;
    if (!go_round(w)) {
      take_up(w, w->aside.front());
      report_cluster_deadlock(w);
    }
    waited = barrier || w->aside.size() < before ? 0 : waited + 1;
    if (waited > ROUNDS_OF_WAITING) break;
  }
  for (auto& b : others) w->aside.push_back(std::move(b));
}

}  // namespace simt
