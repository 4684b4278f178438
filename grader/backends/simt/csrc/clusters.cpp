#include "clusters.h"

#include "check.h"
#include "findings.h"
#include "recording.h"
#include "worker.h"

#include <utility>

extern "C" __thread simt::Builtins simt_builtins SIMT_TLS;

#define RETURN_ADDRESS ((size_t)__builtin_return_address(0) - 1)

namespace simt {

// ---- which blocks
static uint3 clusters_of(const Launch& l) {
  return {l.grid.x / l.cluster.x, l.grid.y / l.cluster.y, l.grid.z / l.cluster.z};
}
u64 cluster_count(const Launch& l) { return l.block_count / u64(l.cluster_blocks); }
u64 block_of_cluster(const Launch& l, u64 cluster, int rank) {
  uint3 at = unflatten(cluster, clusters_of(l)), in = unflatten(u64(rank), l.cluster);
  u64 x = u64(at.x) * l.cluster.x + in.x, y = u64(at.y) * l.cluster.y + in.y, z = u64(at.z) * l.cluster.z + in.z;
  return (z * l.grid.y + y) * l.grid.x + x;
}
u64 cluster_of_block(const Launch& l, u64 block) {
  uint3 at = unflatten(block, l.grid), all = clusters_of(l);
  return (u64(at.z / l.cluster.z) * all.y + at.y / l.cluster.y) * all.x + at.x / l.cluster.x;
}

// ---- its memory: that of the running block lies where every block's lies, that of the others in the window
static thread_local std::vector<std::unique_ptr<ClusterMemory>> t_spare;

Cluster::~Cluster() {
  if (memory) t_spare.push_back(std::move(memory));
}

static std::unique_ptr<ClusterMemory> take_memory(size_t bytes) {
  std::unique_ptr<ClusterMemory> memory;
  if (!t_spare.empty()) {
    memory = std::move(t_spare.back());
    t_spare.pop_back();
  } else {
    memory.reset(new ClusterMemory);
  }
  if (memory->bytes < bytes) {
    if (memory->window) munmap(memory->window, memory->bytes);
    memory->window = (char*)reserve(memory->bytes = bytes);
  }
  return memory;
}

void begin_cluster(Worker* w) {
  static constexpr size_t ALIGNED = 1024;
  w->cluster = std::make_shared<Cluster>();
  Cluster& c = *w->cluster;
  c.size = w->launch->cluster_blocks;
  c.dynamic_at = (w->tls_bytes + ALIGNED - 1) / ALIGNED * ALIGNED;
  c.slot_bytes = c.dynamic_at + (MAX_SHARED + 4095) / 4096 * 4096;
  c.memory = take_memory(c.slot_bytes * size_t(c.size));
  if (!(w->mode & CHECK)) return;
  for (int i = 0; i < c.size; ++i) {
    c.memory->fixed[i].init(std::max<size_t>(1 << 20, w->tls_bytes + 16), true);
    c.memory->dynamics[i].init(256 << 10, true);
  }
}

void enter_cluster(Worker* w, int rank) {
  Cluster& c = *w->cluster;
  auto& member = c.members[rank];
  w->rank = rank;
  member.block = w->block;
  member.begun = true;
  if (c.memory && w->mode & CHECK) {
    w->shared = &c.memory->fixed[rank];
    w->dynamic = &c.memory->dynamics[rank];
    Quick& q = t_quick;
    if (q.usable) q.marks = w->shared->marks, q.dynamic_marks = w->dynamic->marks;
    w->variables[0] = w->variables[1] = nullptr;
  }
  if (!member.static_defined.empty()) {
    w->static_defined = std::move(member.static_defined);
    w->dynamic_defined = std::move(member.dynamic_defined);
    member.static_defined.clear();
  }
}

static int threads_that_have_not_arrived(const Worker* w) {
  int missing = 0;
  for (int t = 0; t < w->launch->thread_count; ++t)
    missing += w->states[t] != FINISHED && (w->plain || w->threads[t].arrivals() <= w->cluster->phase);
  return missing;
}

void leave_cluster(Worker* w) {
  if (!w->cluster) return;
  auto& member = w->cluster->members[w->rank];
  member.missing = threads_that_have_not_arrived(w);
  member.alive = w->launch->thread_count - w->finished;
  if (!w->cluster->memory) return;
  member.static_defined = w->static_defined;
  member.dynamic_defined = w->dynamic_defined;
  member.copies = w->copies;
  for (auto& copy : member.copies) {  // where the others see what is to arrive
    size_t offset = (size_t)copy.to - w->tls;
    bool dynamic = offset >= w->tls_bytes;
    if (dynamic) offset = w->cluster->dynamic_at + ((size_t)copy.to - (size_t)w->dynamic_shared);
    copy.to = w->cluster->slot(w->rank) + offset;
  }
}

// ---- the barrier
bool waits_for_the_cluster(const Worker* w) {
  for (int t = 0; t < w->launch->thread_count; ++t)
    if (w->states[t] == AT_CLUSTER_BARRIER) return true;
  return false;
}

bool is_kept_by_its_cluster(const Worker* w) {
  for (int t = 0; t < w->launch->thread_count; ++t)
    if (w->states[t] <= GAVE_WAY) return false;
  return waits_for_the_cluster(w);
}

bool cluster_can_go_on(const Worker* w, const Cluster& c) {
  for (int i = 0; i < c.size; ++i) {
    auto& m = c.members[i];
    bool runs = w && w->cluster.get() == &c && i == w->rank;
    if (!m.begun || (!m.ended && (runs ? threads_that_have_not_arrived(w) : m.missing))) return false;
  }
  return true;
}

void let_cluster_go(Worker* w) {
  bool any = false;
  for (int t = 0; t < w->launch->thread_count; ++t) {
    Thread& thread = w->threads[t];
    if (w->states[t] != AT_CLUSTER_BARRIER || thread.cluster_waits >= w->cluster->phase) continue;
    ++thread.cluster_waits;
    thread.cluster_arrived = false;
    w->states[t] = READY;
    any = true;
  }
  if (any) meet_all(w);  // of each block, when its turn comes
}

// Everybody of the cluster has come: the running block's threads go on, the other blocks' when their turn comes.
bool release_cluster_barrier(Worker* w) {
  Cluster& c = *w->cluster;
  if (!cluster_can_go_on(w, c)) return false;
  if (!w->doubtful.empty()) report_doubtful_writes(w);
  ++c.phase;
  for (int i = 0; i < c.size; ++i) c.members[i].missing = c.members[i].alive;
  let_cluster_go(w);
  if (w->mode & CHECK) begin_epoch(w);
  return true;
}

void report_cluster_deadlock(Worker* w) {
  const Cluster& c = *w->cluster;
  int stuck = 0, missing = 0;
  while (w->states[stuck] != AT_CLUSTER_BARRIER) ++stuck;
  for (int i = 0; i < c.size; ++i) missing += c.members[i].ended ? 0 : i == w->rank ? threads_that_have_not_arrived(w) : c.members[i].missing;
  w->current = stuck;
  char detail[160];
  snprintf(detail, sizeof detail, "waits at its cluster's barrier, at which %d of the cluster's threads never arrive%s", missing, missing == 1 ? "s" : "");
  report(w, "deadlock", w->waits[stuck].pc, {.detail = detail});
  w->killed = w->launch->stopped = true;
}

static void refuse(Worker* w, const char* kind, size_t pc, const char* why) {
  report(w, kind, pc, {.detail = why});
  kill_launch(w);
}

// Whether the thread may go on. In a launch without clusters each block is one.
static bool arrive(Worker* w, size_t pc) {
  leave_plain(w);
  Thread& me = w->threads[w->current];
  if (me.cluster_arrived) {
    refuse(w, "cluster-barrier", pc, "arrives at its cluster's barrier again without having waited there");
    return false;
  }
  if (!w->cluster) {
    w->cluster = std::make_shared<Cluster>();
    w->cluster->members[0].begun = true;
    w->rank = 0;
  }
  me.cluster_arrived = true;
  if (w->clocks) w->launch->fenced = true;  // of two kinds of arrival, what orders blocks is not told apart
  release_here(w);
  return true;
}

static void wait(Worker* w, size_t pc) {
  leave_plain(w);
  if (!w->threads[w->current].cluster_arrived) return refuse(w, "cluster-barrier", pc, "waits at its cluster's barrier without having arrived there");
  w->waits[w->current] = {pc, 0};
  w->states[w->current] = AT_CLUSTER_BARRIER;
  wait_here(w);
}

// ---- shared memory of the other blocks
static void end_too_early(Worker* w, const RemoteAccess& r, u64 owner) {
  u64 block = std::exchange(w->block, r.block);
  int current = std::exchange(w->current, r.thread);
  report(w, "cluster-race", r.pc,
         {.detail = "ended", .size = r.size, .access = r.access, .variable = r.variable, .offset = (long)r.offset, .owner = (long)owner});
  w->block = block;
  w->current = current;
}

void end_in_cluster(Worker* w) {
  if (!w->cluster) return;
  auto& member = w->cluster->members[w->rank];
  member.ended = true;
  for (int t = 0; t < w->launch->thread_count && !w->plain; ++t)
    member.waited = std::max(member.waited, w->threads[t].cluster_waits);
  bool late = member.last.any && member.last.arrived >= member.waited;
  if (late && !w->killed && !w->launch->fenced) end_too_early(w, member.last, member.block);
}

void check_remote(Worker* w, size_t address, unsigned size, Access access, size_t pc) {
  Cluster& c = *w->cluster;
  const Launch* launch = w->launch;
  size_t at = address - (size_t)c.memory->window;
  int rank = int(at / c.slot_bytes);
  auto& member = c.members[rank];
  size_t offset = at % c.slot_bytes;
  u64 owner = block_of_cluster(*launch, cluster_of_block(*launch, w->block), rank);
  if (rank == w->rank)
    return refuse(w, "cluster-address", pc,
                  "uses its own block's shared memory by an address that another block has mapped, which cannot run on the "
                  "CPU: use the variable itself");
  bool dynamic = offset >= c.dynamic_at;
  if (dynamic) offset -= c.dynamic_at;
  const Symbol* variable = dynamic ? &dynamic_shared_of(launch) : shared_variable_near(w, offset);
  Evidence evidence{.size = size, .access = access, .variable = variable, .owner = (long)owner};
  if (variable) evidence.offset = (long)offset - (long)variable->begin;
  if (!variable || offset < variable->begin || offset + size > variable->end) {
    report(w, "shared-out-of-bounds", pc, evidence);
    return;
  }
  const Thread& me = w->threads[w->current];
  if (w->plain || !me.cluster_waits || !member.begun) {
    evidence.detail = "begun";
    report(w, "cluster-race", pc, evidence);
    return;
  }
  RemoteAccess now{true, me.arrivals(), w->block, w->current, pc, (size_t)evidence.offset, size, access, variable};
  if (member.ended) {
    if (now.arrived >= member.waited && !launch->fenced) end_too_early(w, now, owner);
    return;
  }
  if (!member.last.any || member.last.arrived <= now.arrived) member.last = now;
  Shadow& shadow = dynamic ? c.memory->dynamics[rank] : c.memory->fixed[rank];
  std::vector<u8>& defined = dynamic ? member.dynamic_defined : member.static_defined;
  std::swap(member.copies, w->copies);
  check_shared(w, shadow, defined, shadow.marks, offset, pc, evidence);
  std::swap(member.copies, w->copies);
}

// The rank in the cluster, and the place in its shared memory, of an address in shared memory.
static bool find_shared(const Worker* w, size_t address, int* rank, size_t* place) {
  size_t dynamic_at = (w->tls_bytes + 1023) / 1024 * 1024;
  *rank = w->rank;
  if (size_t offset = address - w->tls; offset < w->tls_bytes) return *place = offset, true;
  if (size_t offset = address - (size_t)w->dynamic_shared; offset < MAX_SHARED) return *place = dynamic_at + offset, true;
  if (!w->cluster || !w->cluster->holds(address)) return false;
  size_t at = address - (size_t)w->cluster->memory->window;
  *rank = int(at / w->cluster->slot_bytes);
  *place = at % w->cluster->slot_bytes;
  return true;
}

}  // namespace simt

using namespace simt;

extern "C" void simt_cluster_sync() {
  Worker* w = t_worker;
  if (w->launch->cooperative) return simt_syncthreads(~u64(0), nullptr);
  if (arrive(w, RETURN_ADDRESS)) wait(w, RETURN_ADDRESS);
}

extern "C" void simt_cluster_arrive() {
  Worker* w = t_worker;
  if (w->launch->cooperative) return;
  if (arrive(w, RETURN_ADDRESS)) end_quick();  // a mark tells nothing of accesses between arriving and waiting
}

extern "C" void simt_cluster_wait() {
  Worker* w = t_worker;
  if (w->launch->cooperative) return simt_syncthreads(~u64(0), nullptr);
  wait(w, RETURN_ADDRESS);
}

extern "C" unsigned simt_cluster_rank_of(const void* address) {
  Worker* w = t_worker;
  int rank = 0;
  size_t place;
  if (find_shared(w, (size_t)address, &rank, &place)) return unsigned(rank);
  refuse(w, "cluster-address", RETURN_ADDRESS, "asks for the rank of an address that is not in shared memory");
  return 0;
}

extern "C" int simt_is_cluster_shared(const void* address) {
  int rank;
  size_t place;
  return find_shared(t_worker, (size_t)address, &rank, &place);
}

extern "C" void* simt_cluster_map(const void* address, unsigned rank) {
  Worker* w = t_worker;
  int from;
  size_t place;
  char why[120];
  if (!find_shared(w, (size_t)address, &from, &place)) {
    refuse(w, "cluster-address", RETURN_ADDRESS, "maps an address that is not in shared memory to another block of its cluster");
  } else if (rank >= unsigned(w->launch->cluster_blocks)) {
    snprintf(why, sizeof why, "maps an address to block %u of its cluster, which has %d", rank, w->launch->cluster_blocks);
    refuse(w, "cluster-address", RETURN_ADDRESS, why);
  } else if (int(rank) == w->rank || w->launch->cluster_blocks == 1) {
    size_t dynamic_at = (w->tls_bytes + 1023) / 1024 * 1024;
    return place < dynamic_at ? (void*)(w->tls + place) : w->dynamic_shared + (place - dynamic_at);
  } else {
    return w->cluster->slot(int(rank)) + place;
  }
  return const_cast<void*>(address);
}
