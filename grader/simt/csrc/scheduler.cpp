// Runs the threads of a block: warp by warp, lane by lane, each until it ends or waits for others.
#include "barriers.h"
#include "findings.h"
#include "shadow.h"
#include "worker.h"

extern "C" SIMT_EXPORT __thread simt::Builtins simt_builtins SIMT_TLS;
__thread simt::Builtins simt_builtins;
extern "C" SIMT_EXPORT __thread char simt_dynamic_shared[];  // shared_buffer.cpp

namespace simt {

__thread Worker* t_worker SIMT_TLS = nullptr;

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
  if (w->fibre) to_scheduler(w);
}

static void fibre_main() {
  for (;;) {
    Worker* w = t_worker;
    Launch* launch = w->launch;
    for (;;) {
      simt_builtins.thread = w->threads[w->current].index;
      launch->body(launch->context);
      Thread& done = w->threads[w->current];
      done.state = FINISHED;
      ++w->finished;
      w->warps[w->current / 32].finished |= 1u << (w->current & 31);
      // No barrier met so far: this stack is free again, go straight on with the next lane.
      int next = w->current + 1;
      bool go_on =
          (next & 31) && next < launch->thread_count && w->threads[next].state == FRESH && !w->killed;
      if (!go_on) {
        w->idle_fibres.push_back(done.fibre);
        break;
      }
      w->current = next;
      w->threads[next].fibre = done.fibre;
      w->threads[next].state = READY;
    }
    to_scheduler(w);
  }
}

static void give_fibre(Worker* w, Thread& thread) {
  if (w->idle_fibres.empty()) {
    thread.fibre = make_fibre(w->fibre_count++);
  } else {
    thread.fibre = w->idle_fibres.back();
    w->idle_fibres.pop_back();
  }
  if (!thread.fibre->stack_pointer) start_at(thread.fibre, fibre_main);
  thread.state = READY;
}

static void resume(Worker* w, int t) {
  Thread& thread = w->threads[t];
  w->current = t;
  if (thread.state == FRESH) give_fibre(w, thread);
  simt_builtins.thread = thread.index;
  w->fibre = thread.fibre;
  simt_switch(&w->scheduler_sp, thread.fibre->stack_pointer);
  w->fibre = nullptr;
}

// On a fibre: run the warp's next lane directly, or the scheduler, until this thread is resumed.
void wait_here(Worker* w) {
  int me = w->current, next = me + 1;
  if ((next & 31) && next < w->launch->thread_count && w->threads[next].state <= READY) {
    Thread& thread = w->threads[next];
    Fibre* mine = w->fibre;
    w->current = next;
    if (thread.state == FRESH) give_fibre(w, thread);
    simt_builtins.thread = thread.index;
    w->fibre = thread.fibre;
    simt_switch(&mine->stack_pointer, thread.fibre->stack_pointer);
  } else {
    to_scheduler(w);
  }
  w->current = me;
  simt_builtins.thread = w->threads[me].index;
}

static void begin_block(Worker* w, u64 block) {
  Launch* launch = w->launch;
  int n = launch->thread_count;
  w->block = block;
  w->run = launch->first_run + u32(block);
  w->block_phase = 0;
  w->finished = w->arrived = 0;
  w->vote_count[0] = w->vote_count[1] = 0;
  simt_builtins.block = unflatten(block, launch->grid);
  for (int t = 0; t < n; ++t) {
    w->threads[t].state = FRESH;
    w->threads[t].warp_phase = 0;
  }
  for (int i = 0; i < launch->warp_count; ++i) {
    Warp& warp = w->warps[i];
    int lanes = std::min(32, n - i * 32);
    warp.exist = lanes == 32 ? ~0u : (1u << lanes) - 1;
    warp.finished = warp.waiting = 0;
    warp.next_slot = 0;
  }
  if (w->mode & CHECK) clear_shared_memory(w);
}

// Gives the stacks of threads that will never go on back.
static void abandon_block(Worker* w) {
  auto& idle = w->idle_fibres;
  for (int t = 0; t < w->launch->thread_count; ++t) {
    Thread& thread = w->threads[t];
    if (thread.state == FINISHED || thread.state == FRESH) continue;
    if (std::find(idle.begin(), idle.end(), thread.fibre) != idle.end()) continue;
    thread.fibre->stack_pointer = nullptr;
    idle.push_back(thread.fibre);
  }
}

static void report_deadlock(Worker* w) {
  int stuck = 0;
  while (w->threads[stuck].state != AT_WARP_BARRIER) ++stuck;
  w->current = stuck;
  Warp& warp = w->warps[stuck / 32];
  char detail[200];
  snprintf(detail, sizeof detail,
           "waits for the lanes 0x%08x of warp %d, but 0x%08x have left the kernel and only 0x%08x came",
           w->threads[stuck].mask, stuck / 32, warp.finished, warp.waiting);
  report(w, "deadlock", w->threads[stuck].pc, {.detail = detail});
  w->killed = true;
}

void run_block(Worker* w, u64 block) {
  begin_block(w, block);
  Launch* launch = w->launch;
  int n = launch->thread_count;
  while (w->finished < n && !w->killed) {
    for (int i = 0; i < launch->warp_count && !w->killed; ++i) {
      int begin = i * 32, end = std::min(n, begin + 32);
      for (bool again = true; again && !w->killed;) {
        again = false;
        for (int t = begin; t < end && !w->killed; ++t) {
          if (w->threads[t].state > READY) continue;
          resume(w, t);
          again = true;
        }
        if (!again) again = release_active_mask(w, i) || release_any_warp_barrier(w, i);
      }
      if (w->mode & COUNT) w->counter.end_of_warp_turn();
    }
    if (w->finished == n || w->killed) break;
    bool runnable = false;
    for (int t = 0; t < n && !runnable; ++t) runnable = w->threads[t].state <= READY;
    if (runnable) continue;
    if (w->arrived == n - w->finished)
      release_block_barrier(w);
    else
      report_deadlock(w);
  }
  if (w->killed) abandon_block(w);
}

}  // namespace simt
