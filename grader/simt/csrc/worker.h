// The state of a running launch: its threads and warps, and the worker that runs its blocks one by one.
#pragma once
#include "counting.h"
#include "fibre.h"
#include "modules.h"

#include <atomic>

namespace simt {

static constexpr int MAX_THREADS = 1024;
static constexpr size_t MAX_SHARED = 227 << 10;

enum State : u8 { FRESH, READY, AT_BLOCK_BARRIER, AT_WARP_BARRIER, AT_ACTIVE_MASK, FINISHED };

struct Thread {
  State state;
  u8 slot;         // where the warp operation that released this thread left its results
  u16 warp_phase;  // warp barriers passed in this block phase
  u32 mask;        // of the warp operation that it waits in
  Fibre* fibre;
  size_t pc;    // of the barrier that it waits in
  u64 posted;   // what it brings to a shuffle or vote
  uint3 index;  // threadIdx
};

struct Warp {
  u32 exist, finished, waiting;
  u8 next_slot;
  u32 taking_part[4];  // a slot is reused when the fourth operation after it ends: no lane can be so late
  u64 results[4][32];
};

struct Launch {
  u64 number = 0;
  std::string kernel, base_name, file;
  int line = 0;
  uint3 grid{}, block{};
  size_t shared_bytes = 0, static_shared_bytes = 0;
  int thread_count = 0, warp_count = 0;
  u64 block_count = 0;
  u32 first_run = 0;  // blocks of all launches are numbered on; this is the launch's first
  Module* module = nullptr;
  void (*body)(void*) = nullptr;
  void* context = nullptr;
  std::vector<const Symbol*> shared_variables;
  std::vector<PointerArgument> pointers;
  std::atomic<u64> next_block{0};      // of those that no worker has begun
  std::atomic<bool> stopped{false};    // by a worker that found a reason to
  std::atomic<bool> fenced{false};     // a kernel that orders its blocks with fences is not asked about races between them
};

struct Worker {
  Launch* launch = nullptr;
  Fibre* fibre = nullptr;  // running now; nullptr in the scheduler
  int current = 0;         // thread running now
  int mode = 0;
  long budget = 0;
  bool killed = false;
  bool plain = false;  // no thread of this block has waited yet: states and counts of threads are not kept
  void* scheduler_sp = nullptr;
  size_t tls = 0, tls_bytes = 0;        // where the module's __shared__ variables are
  char* dynamic_shared = nullptr;       // where extern __shared__ is
  size_t host_begin = 0, host_end = 0;  // the launch's arguments on the host's stack
  u64 block = 0;                        // flat blockIdx
  u32 run = 0;                          // launch->first_run + block
  u16 block_phase = 0;                  // block barriers passed
  int finished = 0, arrived = 0;        // threads of this block
  int vote_count[2] = {}, vote_result[2] = {};
  bool exit_reported = false;
  Thread threads[MAX_THREADS + 1] = {};  // one more: the next one's fibre may be asked for
  Warp warps[MAX_THREADS / 32];
  std::vector<Fibre*> idle_fibres;
  size_t fibre_count = 0;
  std::vector<u8> static_defined, dynamic_defined;  // shared memory's bytes that hold a value
  Counter counter;
};

extern __thread Worker* t_worker SIMT_TLS;

Worker* this_worker();
void run_block(Worker* w, u64 block);
void leave_plain(Worker* w);
void wait_here(Worker* w);
void kill_launch(Worker* w);

}  // namespace simt
