// Thread block clusters: blocks that run at the same time, meet at a barrier of their own, and use each other's shared memory.
#pragma once
#include "async_copies.h"
#include "shadow.h"

#include <memory>

namespace simt {

struct Symbol;
struct Launch;

static constexpr int PORTABLE_CLUSTER = 8, MOST_IN_A_CLUSTER = 16;

// What lasts longer than one cluster: a place for each block's shared memory while another one runs, and its records.
struct ClusterMemory {
  char* window = nullptr;
  size_t bytes = 0;
  Shadow fixed[MOST_IN_A_CLUSTER], dynamics[MOST_IN_A_CLUSTER];
};

// The last access to a block's shared memory by another block of its cluster.
struct RemoteAccess {
  bool any = false;
  u32 arrived = 0;  // how often its thread had arrived at the cluster's barrier
  u64 block = 0;
  int thread = 0;
  size_t pc = 0, offset = 0;
  unsigned size = 0;
  Access access = NO_ACCESS;
  const Symbol* variable = nullptr;
};

struct Cluster {
  std::unique_ptr<ClusterMemory> memory;  // none in a launch without clusters, where each block is one
  size_t slot_bytes = 0, dynamic_at = 0;  // of the window: a block's share, and where in it dynamic shared memory begins
  int size = 1;
  u32 phase = 0;  // how often the barrier has let its threads go
  struct Member {
    u64 block = 0;
    bool begun = false, ended = false;
    u32 waited = 0;   // when it ended: how often its last thread had passed the barrier
    int missing = 0;  // while another block runs: threads that have not arrived
    int alive = 0;
    RemoteAccess last;
    std::vector<u8> static_defined, dynamic_defined;  // while another block runs
    std::vector<AsyncCopy> copies;
  } members[MOST_IN_A_CLUSTER];

  char* slot(int rank) const { return memory->window + size_t(rank) * slot_bytes; }
  bool holds(size_t address) const { return memory && address - (size_t)memory->window < slot_bytes * size_t(size); }
  ~Cluster();
};

u64 cluster_count(const Launch& launch);
u64 block_of_cluster(const Launch& launch, u64 cluster, int rank);
u64 cluster_of_block(const Launch& launch, u64 block);

void begin_cluster(Worker* w);            // the blocks that begin from here on are its members
void enter_cluster(Worker* w, int rank);  // a block begins, or goes on
void leave_cluster(Worker* w);            // it is put aside
void end_in_cluster(Worker* w);           // it has ended
bool waits_for_the_cluster(const Worker* w);
bool is_kept_by_its_cluster(const Worker* w);  // nobody gave way: only its barrier can let the block go on
bool cluster_can_go_on(const Worker* w, const Cluster& cluster);  // whether all have arrived; of `w` the running block's threads count
bool release_cluster_barrier(Worker* w);
void let_cluster_go(Worker* w);  // threads of the running block that wait for what has happened since
void report_cluster_deadlock(Worker* w);
void check_remote(Worker* w, size_t address, unsigned size, Access access, size_t pc);

}  // namespace simt
