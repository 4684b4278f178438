// The state of a running launch: its threads and warps, and the worker that runs its blocks one by one.
#pragma once
#include "async_barriers.h"
#include "async_copies.h"
#include "clusters.h"
#include "counting.h"
#include "fibre.h"
#include "memory.h"
#include "modules.h"
#include "shadow.h"
#include "stream_order.h"

#include <atomic>
#include <memory>
#include <mutex>

namespace simt {

static constexpr int MAX_THREADS = 1024;
static constexpr int NUMBERS_OF_FACTORS = 2 * 512;  // of the largest product of fragments, for each warp
static constexpr size_t MAX_SHARED = 227 << 10;

enum State : u8 {
  FRESH,
  READY,
  GAVE_WAY,  // in a loop that waits for others: runs again once they had their turn
  AT_BLOCK_BARRIER,
  AT_GRID_BARRIER,
  AT_CLUSTER_BARRIER,
  AT_ASYNC_BARRIER,
  AT_WARP_BARRIER,
  AT_ACTIVE_MASK,
  FINISHED
};

// What a lane asks of the warp operation that it waits in. It is answered when all of its lanes have come:
// lanes that run on at once may be in their next operation before the last one looks.
enum Question : u8 { NOTHING, SHUFFLE, BALLOT, MATCH };

// What a switch between threads touches comes first; the states have an array of their own. A thousand threads
// at a barrier then fit the cache that is nearest.
struct Thread {
  Fibre* fibre;
  uint3 index;     // threadIdx
  u16 warp_phase;  // warp barriers passed in this block phase
  Question question;
  u8 source;      // lane whose value a shuffle wants
  u32 fenced_in;  // the run in which it last called a fence: what it wrote may be read without a barrier
  u32 mask;       // of the warp operation that it waits in
  bool absent;    // the lane whose value it wants takes no part
  u32 copy_groups;  // of asynchronous copies that it has committed
  u32 copies_phase;
  size_t copies_for;  // the barrier that those belong to which it begins now
  u32 cluster_waits;     // how often it has passed its cluster's barrier
  bool cluster_arrived;  // there, and has not waited yet
  u32 releases;          // how often it has arrived, there or at a barrier in shared memory, or launched a grid
  u32 failed_in;         // the run in which a launch of its own failed last,
  int failure;           // and the error that cudaGetLastError() is to tell of it
  u32 arrivals() const { return cluster_waits + cluster_arrived; }
};
struct Wait {
  size_t pc;   // of the barrier
  u64 posted;  // what a thread brings to a shuffle or vote, and then what it gets; of a block barrier its number
};

struct Warp {
  u32 exist, finished, waiting;
};

struct Launch;

// Where in the grid that launches another one that happened: what came before it is in order with the new grid.
struct ByKernel {
  Launch* parent = nullptr;
  u64 block = 0;
  int thread = 0;
  u32 release = 0, grid_round = 0;  // those before
  u16 block_phase = 0, warp_phase = 0;
  const void* stream = nullptr;
  bool in_order = true, last = false;  // with others of its stream; only once all others have ended
};

struct Launch {
  u64 number = 0;
  ByKernel by_kernel;
  int depth = 0;  // of launches by kernels that led here
  std::mutex children_lock;
  std::vector<std::shared_ptr<Launch>> children;  // that its kernel has launched
  std::vector<std::shared_ptr<Launch>> kept;  // grids that came from its end, one from another
  u32 end_run = 0;  // behind the runs of this grid and of all that come from it, once they have ended
  std::string kernel, base_name, file;
  int line = 0;
  uint3 grid{}, block{}, cluster{1, 1, 1};
  size_t shared_bytes = 0, static_shared_bytes = 0;
  int thread_count = 0, warp_count = 0, cluster_blocks = 1;
  u64 block_count = 0;
  u32 first_run = 0;  // blocks of all launches are numbered on; this is the launch's first
  Module* module = nullptr;
  void (*body)(void*) = nullptr;
  void (*destroy)(void*) = nullptr;
  void* context = nullptr;
  size_t context_bytes = 0;
  void* (*tls_anchor)() = nullptr;
  std::vector<const Symbol*> shared_variables;
  std::vector<PointerArgument> pointers;
  std::atomic<u64> next_block{0};      // of those that no worker has begun
  std::atomic<bool> stopped{false};    // by a worker that found a reason to
  std::atomic<bool> fenced_in_blocks{false};  // by fences that say nothing to other blocks
  std::atomic<bool> fenced{false};     // a kernel that orders its blocks with fences is not asked about races between them
  bool cooperative = false;
  bool phased = false;  // runs are counted on by arrivals
  bool default_stream = false, own_stream = false;
  Work work;            // of which stream it is, and what is done before it begins
  bool beside = false;  // a kernel that has run need not have ended when this one begins
  u64 atomics = 0;      // accesses at which a block could be interrupted,
  int interrupted = 0;  // and was
  std::atomic<bool> shows_factors{false};  // of products of fragments (mma.h)
  std::atomic<bool> spins{false};  // threads wait for each other in loops: they take shorter turns
  u32 grid_round = 0;  // the releases of every thread when all blocks met last
  u32 runs = 0;        // run numbers used: one for each block, and again after each grid barrier
};

uint3 block_index(const Launch& launch, u64 block);  // the blockIdx that a kernel sees

// An access that may yet turn out to be fine. A plain read of what another thread updates atomically is, as the
// start of a loop of compare-and-swap: if the reader updates it too. A write by a lane of what another lane of its
// warp has written by the same instruction is, if it is the same value: one of them is performed.
struct Doubtful {
  int thread;
  size_t address, pc;
  unsigned size;
  Access access;
  bool shared;
  const Symbol* variable;
  long offset;
  Record other;
  std::string detail;
  char value[16];  // of a write: what the other lane has written
};

// All that a worker keeps about a block that it puts aside, half done, because it waits for other blocks.
struct SavedBlock {
  u64 block;
  u16 block_phase;
  int finished, at_grid, vote_count[2], vote_result[2];
  bool exit_reported;
  std::vector<State> states;
  std::vector<Thread> threads;
  std::vector<Wait> waits;
  std::vector<Warp> warps;
  std::vector<char> shared_memory;
  std::vector<u8> static_defined, dynamic_defined;
  std::vector<AsyncCopy> copies;
  std::vector<u64> given;
  std::vector<float> factors;
  std::vector<Doubtful> doubtful;
  std::shared_ptr<Cluster> cluster;
  int rank;
  std::shared_ptr<BlockClocks> clocks;
  bool waits_for_cluster;  // and nothing else keeps it
  u32 waited_since;        // the phase of its barrier
};

// A live allocation that was accessed a moment ago. None goes while a kernel runs.
struct Range {
  size_t begin = 0, bytes = 0;
  Allocation* allocation = nullptr;
  bool holds(size_t offset, unsigned size) const {
    return offset - begin < bytes && bytes - (offset - begin) >= size;
  }
};

// All that the quick way of an access looks at (quick.h). Zero wherever it may not be taken.
struct Quick {
  long budget = 0;  // steps left in this turn
  size_t shared_begin = 0, shared_bytes = 0, dynamic_begin = 0, dynamic_bytes = 0;
  u64 *marks = nullptr, *dynamic_marks = nullptr;  // for each word: who may read it without more ado
  u64 everyone = 0, my_warp = 0;                   // the two marks that allow the running thread to
  struct {
    size_t begin = 0, bytes = 0;
  } constant[2];       // memory that this launch only reads, and that holds values throughout
  Record now{};        // of an access by the running thread, but for pc and kind
  size_t code = 0;     // where pc counts from
  size_t wrote = 0;    // where the last write of a few bytes was told
  u32 first_run = 0;   // of the launch
  u32 shared_from = 0;  // the first run whose accesses to shared memory may concern this block
  u8 older = 0;        // of the two above
  bool usable = false;
};
extern __thread Quick t_quick SIMT_TLS;

struct Worker {
  Launch* launch = nullptr;
  Fibre* fibre = nullptr;  // running now; nullptr in the scheduler
  int current = 0;         // thread running now
  int mode = 0;
  long budget = 0;  // steps left in this turn, while counting
  long later = 0;   // steps left after it
  u32 epoch = 0;    // another one in each block, and after each of its barriers
  bool killed = false;
  size_t access_address = 0;  // of the access that is being checked
  bool is_volatile = false;   // that access
  bool in_block = false;      // the next atomic or strong access is for its block alone
  bool is_strong = false;     // the next volatile access is one of PTX's strong ones
  bool recording = false;  // what the threads of this block do (recording.h)
  bool leaves = false;    // the block is put aside once its threads can go no further
  Access counted_as = NO_ACCESS;  // what the counts make of it: a GPU loads and stores without its atomic units
  bool replaces = false;  // it is atomic and writes whatever was there before: that need not hold a value
  bool padded = false;    // it reads an object of which only padding is unwritten (layouts.h)
  struct {
    size_t to = 0, here = 0;
    std::vector<u8> written;
  } copied;  // the last write of an object as a whole, and which bytes held values before it
  bool looking = false;   // for accesses without a call-out (unseen.h)
  long look_in = -1;      // and after so many turns of threads that begins
  bool plain = false;  // no thread of this block has waited yet: states and counts of threads are not kept
  void* scheduler_sp = nullptr;
  size_t tls = 0, tls_bytes = 0;        // where the module's __shared__ variables are
  char* dynamic_shared = nullptr;       // where extern __shared__ is
  size_t host_begin = 0, host_end = 0;  // the launch's arguments on the host's stack
  u64 turns_thread = ~u64(0);           // whose turn the last one was: run and thread
  u64 block = 0;                        // flat blockIdx
  u32 run = 0;                          // launch->first_run + block, further on after barriers with other blocks
  std::shared_ptr<Cluster> cluster;     // of the running block; none before somebody needs it
  int rank = 0;                         // of the block in it
  std::shared_ptr<BlockClocks> clocks;  // once the block has a cuda::barrier
  u16 block_phase = 0;                  // block barriers passed
  int finished = 0, arrived = 0;        // threads of this block
  int at_grid = 0;                      // of them, waiting for the other blocks
  int vote_count[2] = {}, vote_result[2] = {};
  bool exit_reported = false;
  State states[MAX_THREADS + 1] = {};
  Thread threads[MAX_THREADS + 1] = {};  // one more: the next one's fibre may be asked for
  Wait waits[MAX_THREADS + 1] = {};
  Warp warps[MAX_THREADS / 32];
  std::vector<Fibre*> idle_fibres;
  size_t fibre_count = 0;
  std::vector<u8> static_defined, dynamic_defined;  // shared memory's bytes that hold a value
  Shadow *shared = nullptr, *dynamic = nullptr;  // of static and dynamic shared memory
  Range ranges[2];                 // recently accessed
  const Symbol* variables[2] = {};  // likewise
  u8 older_range = 0, older_variable = 0;
  Counter counter;
  std::vector<Doubtful> doubtful;
  std::vector<AsyncCopy> copies;  // under way, of this block's threads, in the order in which they began
  std::vector<u64> given;         // what this block's lanes show each other for a product of matrices
  std::vector<float> factors;     // the same of fragments: 2 factors a warp, which stay where they are, also when a block comes back
  std::vector<size_t> overflows;  // instructions of this launch that have overflowed
  std::vector<SavedBlock> aside;  // blocks that wait for others
};

// A seed other than 0 shuffles the order of blocks and warps.
extern u64 g_schedule;
inline u64 shuffled(u64 i, u64 n) {
  if (!g_schedule || n < 2) return i;
  u64 step = g_schedule % n | 1;
  while (std::__gcd(step, n) != 1) step += 2;
  return (i * (step % n) + g_schedule / 7) % n;
}

extern __thread Worker* t_worker SIMT_TLS;
extern bool g_no_blocks;  // launches are looked at, and nothing of them runs or is written

Worker* this_worker();
void run_block(Worker* w, u64 block, int rank = 0);
void run_cluster(Worker* w, u64 cluster);
void finish_blocks(Worker* w);  // those that were put aside
void leave_plain(Worker* w);
void give_way(Worker* w);     // on a fibre: lets all others run first
void interrupt(Worker* w);    // the same, and blocks that have not begun run first, too; at some atomic accesses
void wait_here(Worker* w);
void kill_launch(Worker* w);
void release_here(Worker* w);
void need_runs(Launch* launch, u32 releases);

void look_for_unseen(Worker* w);
void note_turn(Worker* w);
inline void turn_begins(Worker* w) {
  if (w->looking) note_turn(w);
  if (w->look_in >= 0 && w->look_in-- == 0) look_for_unseen(w);
}

// Before and after each arrival a thread's accesses have numbers of their own.
inline u32 run_of(const Worker* w, int t) {
  u32 releases = w->plain ? 0 : w->threads[t].releases;
  return w->launch->first_run + u32(w->block) + releases * u32(w->launch->block_count);
}

// From here on accesses are those of thread t.
inline void set_current(Worker* w, int t) {
  w->current = t;
  if (!w->mode) return;
  Quick& q = t_quick;
  if (w->launch->phased) q.now.run = w->run = run_of(w, t);
  q.now.thread = u16(t);
  q.now.warp_phase = w->plain ? u16(0) : w->threads[t].warp_phase;
  q.my_warp = u64(w->epoch) << 32 | u32(t) >> 5 << 16 | q.now.warp_phase;
  turn_begins(w);
}

// A block begins or goes on, or all of its threads have met: what was read before is in order with what comes.
inline void begin_epoch(Worker* w) {
  Quick& q = t_quick;
  q.everyone = u64(++w->epoch) << 32 | ~u32(0);
  q.now.run = w->run;
  q.now.block_phase = w->block_phase;
  set_current(w, w->current);
}

void begin_quick(Worker* w);  // at the start of a launch that is checked and not counted
inline void end_quick() {
  long budget = t_quick.budget;
  t_quick = Quick{};
  t_quick.budget = budget;
}

}  // namespace simt
