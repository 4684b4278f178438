// From <<<grid, block>>> to blocks that run: the limits of the hardware, then the checks' preparations.
#include "errors.h"
#include "findings.h"
#include "graphs.h"
#include "host_code.h"
#include "history.h"
#include "origins.h"
#include "pool.h"
#include "queue.h"
#include "recording.h"
#include "unseen.h"

#include <cfenv>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <mutex>

extern "C" __thread simt::Builtins simt_builtins SIMT_TLS;

namespace simt {

int g_mode = 0;
static u64 g_sample_above = 0;  // threads; a launch of more is counted by a sample, 0: never
u64 g_schedule = 0;
bool g_no_blocks = false;  // launches are looked at and noted, and no block of them runs
static u64 g_far = 0;  // elements that seem to lie before the first block, see simt_set_far
static long g_budget = 0;  // steps a launch may take, 0: as many as it likes
static constexpr size_t MAX_STATIC_SHARED = 48 << 10;
static constexpr u64 WORTH_SPREADING = 1 << 14;  // threads; waking another core costs about as much as these

uint3 block_index(const Launch& launch, u64 block) {
  uint3 index = unflatten(block, launch.grid);
  if (g_far) index.x += unsigned(g_far / launch.block.x) / launch.cluster.x * launch.cluster.x;
  return index;
}

static const char* refusal(const LaunchConfig& c, const std::string& kernel) {
  const Kernel* declared = declared_kernel(kernel);
  u64 threads = u64(c.block.x) * c.block.y * c.block.z;
  if (!c.grid.x || !c.grid.y || !c.grid.z) return "the grid is empty";
  if (!threads) return "the block is empty";
  if (threads > MAX_THREADS) return "a block has at most 1024 threads";
  if (declared && threads > u64(declared->launch_bound)) return "the kernel's __launch_bounds__ allows fewer threads";
  if (c.block.z > 64) return "blockDim.z is at most 64";
  if (c.grid.x > 0x7fffffffu) return "gridDim.x is at most 2147483647";
  if (c.grid.y > 65535 || c.grid.z > 65535) return "gridDim.y and gridDim.z are at most 65535";
  if (c.shared_bytes > MAX_SHARED) return "a block has at most 227 KB of shared memory";
  if (c.shared_bytes > dynamic_shared_limit(kernel))
    return "more than 48 KB of dynamic shared memory needs cudaFuncSetAttribute(kernel, "
           "cudaFuncAttributeMaxDynamicSharedMemorySize, bytes) first";
  return nullptr;
}

// What the launch asks for, else what the kernel says.
static uint3 cluster_of(const LaunchConfig& c, const std::string& kernel) {
  const Kernel* declared = declared_kernel(kernel);
  if (c.has_cluster) return c.cluster;
  return declared && declared->cluster.x ? declared->cluster : uint3{1, 1, 1};
}

static const char* cluster_refusal(const LaunchConfig& c, const std::string& kernel) {
  const Kernel* declared = declared_kernel(kernel);
  uint3 n = cluster_of(c, kernel);
  if (!n.x || !n.y || !n.z) return "the cluster is empty";
  if (u64(n.x) * n.y * n.z > MOST_IN_A_CLUSTER) return "a cluster has at most 16 blocks";
  if (n.x * n.y * n.z > PORTABLE_CLUSTER && !allows_large_clusters(kernel))
    return "a cluster of more than 8 blocks needs cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1) first";
  if (c.grid.x % n.x || c.grid.y % n.y || c.grid.z % n.z) return "the grid's size must be a multiple of the cluster's";
  uint3 own = declared ? declared->cluster : uint3{};
  if (own.x && (own.x != n.x || own.y != n.y || own.z != n.z)) return "the kernel's __cluster_dims__ differ from the cluster of this launch";
  return nullptr;
}

static void refuse(const LaunchSite& site, const LaunchConfig& c, const std::string& why,
                   int error = REFUSED_LAUNCH) {
  char text[300];
  snprintf(text, sizeof text, "%s<<<(%u, %u, %u), (%u, %u, %u), %zu>>>: ", site.kernel, c.grid.x, c.grid.y,
           c.grid.z, c.block.x, c.block.y, c.block.z, c.shared_bytes);
  set_launch_error(error, text + why);
}

// The __shared__ variables of this kernel, and of device functions that it may call. A launch through a variable
// has that one's name: which kernel it holds is not known, so it may be any.
static size_t collect_shared_variables(Launch& launch) {
  std::map<std::string, size_t> bytes;  // by instance of the template; which one runs is not known
  size_t own = 0;
  bool known = declared_kernel(launch.base_name);
  for (auto& v : launch.module->shared_variables) {
    if (v.owner == launch.base_name) own = std::max(own, bytes[v.scope] += v.end - v.begin);
    if (!known || v.owner == launch.base_name || !declared_kernel(v.owner)) launch.shared_variables.push_back(&v);
  }
  return own;
}

// Read by this launch and never written, as far as its arguments tell: nobody need remember who read what of
// it. If a thread writes there all the same (a cast, an address found in memory), that ends.
static void find_constants(const Launch& launch) {
  if (g_watched || g_kernels_launch || several_streams()) return;  // each read is looked at
  for (auto& p : launch.pointers)
    if (p.hides_pointers) return;
  auto allocation = [](const void* p) { return in_arena(p) ? allocation_at(arena_offset(p)) : nullptr; };
  for (auto& p : launch.pointers) {
    Allocation* a = allocation(p.pointer);
    if (!a || !a->live || !p.is_constant) continue;
    a->complete = a->complete || is_initialised(a->offset, a->bytes);
    if (a->complete) a->constant_in = launch.number;
  }
  for (auto& p : launch.pointers)
    if (Allocation* a = allocation(p.pointer); a && !p.is_constant) a->constant_in = 0;
}

void begin_quick(Worker* w) {
  Launch* launch = w->launch;
  Quick& q = t_quick = Quick{};
  // It knows nothing of grids that run beside this one, nor of what host_code.h is about.
  if (w->mode != CHECK || launch->by_kernel.parent || launch->beside || g_host_code) return;
  find_constants(*launch);
  q.usable = true;
  q.shared_begin = w->tls;
  q.shared_bytes = w->tls_bytes;
  q.dynamic_begin = (size_t)w->dynamic_shared;
  q.dynamic_bytes = launch->shared_bytes;
  q.marks = w->shared->marks;
  q.dynamic_marks = w->dynamic->marks;
  q.now.bytes = 15;
  q.code = launch->module->base;
  q.first_run = launch->first_run;
  q.shared_from = launch->cluster_blocks > 1 ? launch->first_run : ~u32(0);
}

// What a block may take: an endless loop ends by it, and a launch of many blocks is a matter of time alone.
static long steps_of_a_block() { return g_budget ? g_budget : std::numeric_limits<long>::max(); }

static void prepare(Worker* w, Launch& launch, void* (*tls_anchor)()) {
  tls_anchor();  // makes this OS thread's block of the module's thread-local variables
  w->mode = g_mode;
  w->budget = 1;  // the first step asks for a turn
  w->launch = &launch;
  w->later = steps_of_a_block();
  w->turns_thread = ~u64(0);
  w->replaces = w->padded = false;  // a thread may have been ended in the middle of an access
  for (int i = 0; i < 2; ++i) w->ranges[i] = {~size_t(0), 0, nullptr}, w->variables[i] = nullptr;
  w->host_begin = (size_t)launch.context;
  w->host_end = (size_t)launch.context + launch.context_bytes;
  w->tls = thread_local_block(launch.module);
  w->tls_bytes = w->tls ? launch.module->tls_bytes : 0;
  w->static_defined.resize(w->tls_bytes + 16);
  w->dynamic_defined.resize(launch.shared_bytes + 16);
  w->shared = &static_shadow(w->tls_bytes);
  w->dynamic = &dynamic_shadow();
  begin_quick(w);
  begin_unseen(w);
  if (g_mode & COUNT) w->counter.start(launch.grid, launch.block_count * launch.thread_count, g_sample_above);
}

// The way of rounding that the host chose, and whether tiny numbers count, are none of a kernel's business.
class OwnArithmetic {
  std::fenv_t host;

 public:
  OwnArithmetic() { std::fegetenv(&host), std::fesetenv(FE_DFL_ENV); }
  ~OwnArithmetic() { std::fesetenv(&host); }
};

// Blocks one after another, as long as there are any: each OS thread that takes part does this.
static void run(Launch& launch, void* (*tls_anchor)()) {
  OwnArithmetic own_arithmetic;
  Worker* w = this_worker();
  if (g_watched)  // the host can have written where a local variable will lie
    for (Fibre* idle : w->idle_fibres) empty(idle);
  prepare(w, launch, tls_anchor);
  w->killed = w->exit_reported = w->recording = false;
  w->overflows.clear();
  w->copied.here = 0;
  t_worker = w;
  simt_builtins.block_dim = launch.block;
  simt_builtins.grid_dim = launch.grid;
  simt_builtins.cluster_dim = launch.cluster;
  for (int t = 0; t < launch.thread_count; ++t) w->threads[t].index = unflatten(t, launch.block);
  u64 all = cluster_count(launch);                  // blocks, where none form a cluster
  u64 several = std::max<u64>(1, all / 64);  // as few visits to the counter as is fair
  for (;;) {
    u64 begin = launch.next_block.fetch_add(several, std::memory_order_relaxed);
    u64 end = std::min(begin + several, all);
    for (u64 b = begin; b < end && !launch.stopped; ++b) {
      w->later = steps_of_a_block();
      if (launch.cluster_blocks > 1) {
        if (g_budget) w->later *= launch.cluster_blocks;
        run_cluster(w, shuffled(b, all));
      } else {
        run_block(w, shuffled(b, all));
      }
    }
    if (end >= all || launch.stopped) break;
  }
  finish_blocks(w);
  w->recording = false;
  w->counter.finish();
  if (g_mode & COUNT) remember_counts(launch.number, w->counter);
  w->launch = nullptr;
  t_worker = nullptr;
  end_quick();
}

}  // namespace simt

using namespace simt;

static std::shared_ptr<Launch> describe(const LaunchSite& site, const LaunchConfig& config,
                                        const LaunchBody& body) {
  std::shared_ptr<Launch> launch(new Launch, [](Launch* l) {
    l->destroy(l->context);
    delete l;
  });
  launch->kernel = site.kernel;
  launch->base_name = unqualified_name(launch->kernel);
  Module* module;
  if (body.kernel && !declared_kernel(launch->base_name))  // a variable: the kernel that it points to
    if (std::string name = name_at(body.kernel, &module); declared_kernel(name)) launch->base_name = name;
  launch->file = site.file;
  launch->line = site.line;
  launch->grid = config.grid;
  launch->block = config.block;
  launch->shared_bytes = config.shared_bytes;
  launch->thread_count = int(config.block.x * config.block.y * config.block.z);
  launch->warp_count = (launch->thread_count + 31) / 32;
  launch->block_count = u64(config.grid.x) * config.grid.y * config.grid.z;
  launch->body = body.run;
  launch->destroy = body.destroy;
  launch->context = body.context;
  launch->context_bytes = body.bytes;
  launch->tls_anchor = body.tls_anchor;
  launch->cooperative = body.cooperative;
  launch->cluster = cluster_of(config, launch->base_name);
  if (launch->cluster.x * launch->cluster.y * launch->cluster.z == 0) launch->cluster = {1, 1, 1};  // refused later
  launch->cluster_blocks = int(launch->cluster.x * launch->cluster.y * launch->cluster.z);
  launch->default_stream = is_default_stream(config.stream);
  launch->own_stream = is_own_stream(config.stream);
  launch->module = module_at((size_t)body.run);
  return launch;
}

void (*g_launch_hook)(const char* kernel, int begins) = nullptr;  // for torch's profiler

// How many launches wait that get memory which the host may use as well.
static void count_queued(const Launch& launch, int change) {
  for (const PointerArgument& p : launch.pointers)
    if (Allocation* a = allocation_of(p.pointer))
      if (a->for_both) a->queued += change;
}

static void start_blocks(Launch& launch) {
  if (device_faulted()) return;  // the context is dead, as on a GPU
  launch.first_run = next_runs(launch.block_count);
  launch.runs = u32(launch.block_count);
  launch.number = remember_launch(launch);
  if (!launch.by_kernel.parent) {
    launch.beside = may_overlap(launch.work);
    begin_runs(launch.work, launch.first_run);
  }
  if (g_watched) note_arguments(launch);
  if (g_launch_hook) g_launch_hook(launch.kernel.c_str(), 1);
  if (g_recording && (g_mode & CHECK)) record_launch_begins(&launch);
  // Checked and counted blocks run in order on one core: what is reported is then the same every time.
  bool spread = !g_mode && !launch.cooperative && launch.block_count > 1 &&
                launch.block_count * launch.thread_count >= WORTH_SPREADING;
  if (g_no_blocks)
    ;
  else if (spread)
    on_every_core([&] { run(launch, launch.tls_anchor); });
  else
    run(launch, launch.tls_anchor);
  close_gaps();
  if (g_recording) record_launch_ends(&launch);
  if (g_watched) settle_kernel_writes();
  if (launch.runs > launch.block_count) remember_runs(launch.number, launch.runs);
  if (g_launch_hook) g_launch_hook(launch.kernel.c_str(), 0);
}

// A grid, then those that its kernel has launched, each with its own, and last those that wait for all others. Of a
// chain of these each is begun by the one before, so they take no stack.
static void start(Launch& first) {
  std::deque<std::shared_ptr<Launch>> chain;
  for (Launch* launch = &first;;) {
    start_blocks(*launch);
    for (size_t i = 0; i < launch->children.size(); ++i)
      if (auto child = launch->children[i]; !child->by_kernel.last) start(*child);
    std::vector<std::shared_ptr<Launch>> then;
    for (auto& child : launch->children)
      if (child->by_kernel.last) then.push_back(child);
    launch->end_run = next_runs(0);
    chain.insert(chain.begin(), then.begin(), then.end());
    if (chain.empty()) break;
    std::shared_ptr<Launch> next = chain.front();
    chain.pop_front();
    first.kept.push_back(next);
    launch = next.get();
  }
  first.end_run = next_runs(0);
}

static bool fits_the_device(const Launch& l, size_t static_bytes) {
  static constexpr u64 SMS = 132, THREADS = 2048, BLOCKS = 32, SHARED = 228 << 10;
  u64 each = std::min({THREADS / (u64(l.warp_count) * 32), BLOCKS, SHARED / (static_bytes + l.shared_bytes + 1024)});
  return l.block_count <= SMS * each;
}

static void refuse_in_kernel(const LaunchSite& site, size_t pc) {
  char text[400];  // its arguments are in the heap of the device, and go with it
  snprintf(text, sizeof text,
           "launches %s by a macro, or in a function for host and device (line %d), which cannot run on the CPU: write the launch "
           "out in the kernel or in a __device__ function", site.kernel, site.line);
  report(t_worker, "child-launch", pc, {.detail = text});
  kill_launch(t_worker);
}

// Why a launch by a kernel fails, and the error that it gets.
static std::pair<const char*, int> child_refusal(const LaunchConfig& config, const Launch& launch, size_t static_bytes) {
  static constexpr int MOST_LEVELS = 24;
  if (const char* why = refusal(config, launch.base_name)) return {why, REFUSED_LAUNCH};
  if (const char* why = cluster_refusal(config, launch.base_name)) return {why, INVALID_CLUSTER};
  if (static_bytes > MAX_STATIC_SHARED) return {"its __shared__ variables take more than 48 KB", REFUSED_LAUNCH};
  if (launch.depth > MOST_LEVELS) return {"kernels may launch kernels 24 levels deep", LAUNCHES_TOO_DEEP};
  return {nullptr, 0};
}

extern "C" void* simt_child_memory(size_t bytes, size_t alignment) {
  return memset(::operator new(bytes, std::align_val_t(alignment)), 0, bytes);
}

extern "C" void* simt_child_stream() {
  static std::atomic<size_t> number{1 << 20};
  return (void*)++number;
}

extern "C" void simt_launch_child(const LaunchSite* site, const LaunchConfig* config, const LaunchBody* body,
                                  const PointerArgument* pointers, int pointer_count, const void* return_address) {
  static const void* const LAST = (void*)3;    // cudaStreamTailLaunch
  static const void* const FORGET = (void*)4;  // cudaStreamFireAndForget
  Worker* w = t_worker;
  if (!w) return body->destroy(body->context);
  auto child = describe(*site, *config, *body);
  Launch* parent = w->launch;
  leave_plain(w);
  Thread& me = w->threads[w->current];
  child->pointers.assign(pointers, pointers + pointer_count);
  size_t static_bytes = child->static_shared_bytes = collect_shared_variables(*child);
  child->default_stream = child->own_stream = false;
  ByKernel& by_kernel = child->by_kernel;
  by_kernel.last = config->stream == LAST;
  child->depth = by_kernel.last ? parent->depth : parent->depth + 1;
  if (auto [why, error] = child_refusal(*config, *child, static_bytes); why) {
    me.failed_in = parent->first_run + u32(w->block), me.failure = error;
    char text[400];
    snprintf(text, sizeof text, "launches %s<<<(%u, %u, %u), (%u, %u, %u), %zu>>>, which fails: %s", site->kernel, config->grid.x,
             config->grid.y, config->grid.z, config->block.x, config->block.y, config->block.z, config->shared_bytes, why);
    {
      std::lock_guard<std::mutex> guard(parent->children_lock);
      parent->kept.push_back(child);  // its arguments are no memory of a kernel, which would end them here
    }
    return report(w, "child-launch", (size_t)return_address - 1, {.detail = text});
  }
  by_kernel.parent = parent;
  child->work = parent->work;
  child->beside = parent->beside;
  by_kernel.block = w->block;
  by_kernel.thread = w->current;
  by_kernel.release = me.releases;
  by_kernel.grid_round = parent->grid_round;
  by_kernel.block_phase = w->block_phase;
  by_kernel.warp_phase = me.warp_phase;
  by_kernel.stream = config->stream;
  by_kernel.in_order = config->stream != FORGET;
  {
    std::lock_guard<std::mutex> guard(parent->children_lock);
    parent->children.push_back(child);
  }
  end_quick();  // it knows nothing of this order
  release_here(w);  // what the thread does from here on the new grid need not see
}

extern "C" void simt_refuse_argument(const LaunchSite* site, const LaunchConfig* config, int number, const char* code) {
  bool table = *code == 't';
  refuse(*site, *config, "argument " + std::to_string(number) +
      (table ? " is an object with virtual functions that the host has made" : " holds the address of a function that the host has taken") +
      ", which leads nowhere on a GPU");
}

extern "C" void simt_launch(const LaunchSite* site, const LaunchConfig* config, const LaunchBody* body,
                            const PointerArgument* pointers, int pointer_count) {
  if (t_worker) return refuse_in_kernel(*site, (size_t)__builtin_return_address(0) - 1);
  if (keep_launch(*site, *config, *body, pointers, pointer_count)) return;
  memory_init();
  auto launch = describe(*site, *config, *body);
  note_device(config->stream);
  if (device_faulted()) return;
  if (g_mode && !site->instrumented) {
    set_launch_error(NOT_SUPPORTED, std::string(site->kernel) + ": checks or counts are on, but the module was "
                                                                "compiled without them");
    return;
  }
  if (const char* why = refusal(*config, launch->base_name)) return refuse(*site, *config, why);
  if (!config->has_cluster && !declared_kernel(launch->base_name) && any_kernel_has_clusters())
    return refuse(*site, *config, "which kernel the variable holds is not known, and some have __cluster_dims__: launch it by its name", NOT_SUPPORTED);
  if (const char* why = cluster_refusal(*config, launch->base_name)) return refuse(*site, *config, why, INVALID_CLUSTER);
  if (launch->cooperative && launch->cluster_blocks > 1)
    return refuse(*site, *config, "a cooperative launch with clusters cannot run on the CPU: use one of the two", NOT_SUPPORTED);
  launch->pointers.assign(pointers, pointers + pointer_count);
  size_t static_bytes = launch->static_shared_bytes = collect_shared_variables(*launch);
  if (static_bytes > MAX_STATIC_SHARED)
    return refuse(*site, *config, "its __shared__ variables take more than 48 KB, which nvcc refuses");
  if (launch->cooperative && !fits_the_device(*launch, static_bytes))
    return refuse(*site, *config, "the blocks of a cooperative launch must all fit on the device at once",
                  COOPERATIVE_TOO_LARGE);
  launch->work = new_work(config->stream);
  count_queued(*launch, 1);
  in_turn([launch] { start(*launch), count_queued(*launch, -1); }, true);
}

extern "C" SIMT_EXPORT void simt_set_launch_hook(void (*hook)(const char*, int)) { g_launch_hook = hook; }

extern "C" SIMT_EXPORT void simt_set_mode(int mode, long budget) {
  simt_wait();  // what is queued was launched under the old mode
  g_mode = mode;
  if (mode & CHECK) {
    memory_init();
    g_global_shadow.init_uncommitted(g_arena_bytes);
    if (g_committed) g_global_shadow.commit_bytes(0, g_committed);
  }
  g_budget = budget;
}

extern "C" SIMT_EXPORT void simt_sample_above(u64 threads) {
  simt_wait();
  g_sample_above = threads;
}

extern "C" SIMT_EXPORT int simt_mode() { return g_mode; }

// 0: blocks and warps in their order; else a seed that shuffles them. With ``no_blocks`` none of them runs.
extern "C" SIMT_EXPORT void simt_set_schedule(u64 seed, int no_blocks) {
  simt_wait();
  g_schedule = seed;
  g_no_blocks = no_blocks;
}

// Blocks are numbered as if so many elements, one a thread, lay before the first: a kernel whose index is wide
// enough finds nothing to do there. 0: they are numbered as launched.
extern "C" SIMT_EXPORT void simt_set_far(u64 elements) {
  simt_wait();
  g_far = elements;
}

// Of the alternatives that simt/alternatives.h holds; 0 is the source as it was written.
static int g_change = 0;
extern "C" SIMT_EXPORT int simt_changed() { return g_change; }
extern "C" SIMT_EXPORT void simt_set_change(int number) {
  simt_wait();
  g_change = number;
}

extern "C" SIMT_EXPORT void simt_reset() {
  simt_wait();
  reset_errors();
  simt_take_findings();
  g_errors = 0, leave_count();
  simt_take_launches();
}

// A failed assert() in a kernel stops the launch; in host code it ends the process, as always.
extern "C" void simt_assert_fail(const char* expression, const char* file, unsigned line, const char*) {
  Worker* w = t_worker;
  if (!w || !w->fibre) {
    fprintf(stderr, "%s:%u: assertion `%s' failed\n", file, line, expression);
    abort();
  }
  report(w, "assert", (size_t)__builtin_return_address(0) - 1, {.detail = expression});
  kill_launch(w);
}
