#include "pool.h"

#include <condition_variable>
#include <mutex>
#include <sched.h>
#include <thread>
#include <unistd.h>

namespace simt {

static int core_count() {
  if (const char* wanted = getenv("SIMT_CORES")) return std::max(1, atoi(wanted));
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) ? 1 : std::max(1, CPU_COUNT(&set));
}

// Helpers live as long as the process: each keeps its stacks and its block of shared memory.
struct Pool {
  std::mutex lock;
  std::condition_variable begin, end;
  const std::function<void()>* task = nullptr;
  u64 round = 0;
  int helpers = 0, busy = 0;
  pid_t process = getpid();

  void help() {
    std::unique_lock<std::mutex> guard(lock);
    for (u64 seen = 0;;) {
      begin.wait(guard, [&] { return round != seen; });
      seen = round;
      guard.unlock();
      (*task)();
      guard.lock();
      if (--busy == 0) end.notify_one();
    }
  }
};

static Pool* the_pool() {
  static Pool* pool = nullptr;
  if (pool && pool->process == getpid()) return pool;
  pool = new Pool;  // a fork has no helpers; the parent's pool is left behind
  pool->helpers = core_count() - 1;
  for (int i = 0; i < pool->helpers; ++i) std::thread([p = pool] { p->help(); }).detach();
  return pool;
}

void on_every_core(const std::function<void()>& task) {
  Pool* pool = the_pool();
  {
    std::lock_guard<std::mutex> guard(pool->lock);
    pool->task = &task;
    pool->busy = pool->helpers;
    ++pool->round;
  }
  pool->begin.notify_all();
  task();
  std::unique_lock<std::mutex> guard(pool->lock);
  pool->end.wait(guard, [&] { return pool->busy == 0; });
}

}  // namespace simt
