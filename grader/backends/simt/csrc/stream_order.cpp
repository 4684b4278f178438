#include "stream_order.h"

#include "queue.h"

#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

namespace simt {

struct StreamOrder {
  Clock clock;
  bool blocking = false;  // it and the default stream wait for each other
};
struct Runs {
  u32 first;
  const void* stream;
  u64 number;
};

static constexpr size_t MOST_RUNS = 1 << 16;
static std::recursive_mutex g_order_lock;
static std::map<const void*, StreamOrder> g_stream_orders;
static std::map<const void*, Clock> g_event_orders;
static Clock g_host_knows;
static std::map<const void*, u64> g_last_begun;  // of each stream: the number of the last kernel that has begun
static std::deque<Runs> g_runs;
static std::map<const void*, u64> g_last_work;  // the same for all work, as long as the host has not waited for all
static size_t g_made = 0;  // streams of the program's own
static u64 g_work = 0, g_host_waited = 0;
static const void* g_node = nullptr;  // of a graph that is being launched: its work is no stream's
static thread_local CopyCall t_copy_call;

// The thread whose work came first. What PyTorch's own threads do (a backward pass) PyTorch puts in order: it is taken
// for work that follows all other work, and that all other follows.
static bool is_first_thread() {
  static const std::thread::id first = std::this_thread::get_id();
  return std::this_thread::get_id() == first;
}

static void join(Clock& to, const Clock& from) {
  for (auto [stream, number] : from) to[stream] = std::max(to[stream], number);
}

// Work on the default stream is taken for work on the one that PyTorch has made the current one: launching there
// instead has a finding of its own.
static const void* key_of(const void* stream) {
  if (g_node) return g_node;
  return is_default_stream(stream) ? thread_stream() : stream;
}

// Said of the default stream while PyTorch has another one: it may be about either, and is taken for both.
static bool is_either(const void* stream) { return !g_node && is_default_stream(stream) && thread_stream(); }

// With all that the stream's next piece of work comes after.
static StreamOrder& of_key(const void* key) {
  StreamOrder& mine = g_stream_orders[key];
  join(mine.clock, g_host_knows);
  if (key && mine.blocking) join(mine.clock, g_stream_orders[nullptr].clock);
  if (!key)
    for (auto& [other, order] : g_stream_orders)
      if (other && order.blocking) join(mine.clock, order.clock);
  return mine;
}

static StreamOrder& caught_up(const void* stream) {
  StreamOrder& mine = of_key(key_of(stream));
  if (is_either(stream)) join(mine.clock, of_key(nullptr).clock);
  return mine;
}

// What comes next on the stream follows this, too.
static void follow(const void* stream, const Clock& clock) {
  join(g_stream_orders[key_of(stream)].clock, clock);
  if (is_either(stream)) join(g_stream_orders[nullptr].clock, clock);
}

Work new_work(const void* stream) {
  std::lock_guard<std::recursive_mutex> guard(g_order_lock);
  const void* key = key_of(stream);
  const bool elsewhere = !is_first_thread();
  if (elsewhere) simt_host_waits_for_all();
  StreamOrder& mine = caught_up(stream);
  Work work{key, ++g_work, g_host_waited, std::make_shared<const Clock>(mine.clock)};
  mine.clock[key] = g_last_work[key] = work.number;
  follow(stream, mine.clock);
  if (elsewhere) simt_host_waits_for_all();
  return work;
}

Work new_work_on_default() {
  std::lock_guard<std::recursive_mutex> guard(g_order_lock);
  StreamOrder& mine = of_key(nullptr);
  Work work{nullptr, ++g_work, g_host_waited, std::make_shared<const Clock>(mine.clock)};
  mine.clock[nullptr] = work.number;
  return work;
}

void begin_runs(const Work& work, u32 first_run) {
  std::lock_guard<std::recursive_mutex> guard(g_order_lock);
  g_runs.push_back({first_run, work.stream, work.number});
  if (g_runs.size() > MOST_RUNS) g_runs.pop_front();
  g_last_begun[work.stream] = work.number;
}

bool may_overlap(const Work& work) {
  std::lock_guard<std::recursive_mutex> guard(g_order_lock);
  for (auto it = g_last_begun.begin(); it != g_last_begun.end();) {
    if (it->second <= work.all_before) {
      it = g_last_begun.erase(it);
      continue;
    }
    if (!work.follows(it->first, it->second)) return true;
    ++it;
  }
  return false;
}

bool done_before(u32 run, const Work& work) {
  std::lock_guard<std::recursive_mutex> guard(g_order_lock);
  auto behind = std::upper_bound(g_runs.begin(), g_runs.end(), run, [](u32 r, const Runs& of) { return r < of.first; });
  if (behind == g_runs.begin()) return true;  // long ago
  --behind;
  return behind->number == work.number || work.follows(behind->stream, behind->number);
}

bool several_streams() {
  std::lock_guard<std::recursive_mutex> guard(g_order_lock);
  return g_made || g_last_work.size() > 1;
}

CopyCall copy_call() { return std::exchange(t_copy_call, {}); }

void next_copy_is_a_node(const void* stream, size_t from) { t_copy_call = {stream, true, from}; }

// A graph may be launched by a node of another one: what follows there is that node's again.
GraphOrder::GraphOrder(const void* stream) : stream_(key_of(stream)), outer_(g_node) {
  std::lock_guard<std::recursive_mutex> guard(g_order_lock);
  before_ = caught_up(stream).clock;
}

void GraphOrder::begin(const void* node, const std::vector<const void*>& after) {
  static size_t number = size_t(1) << 60;
  std::lock_guard<std::recursive_mutex> guard(g_order_lock);
  Clock& clock = g_stream_orders[g_node = (const void*)++number].clock = before_;
  for (const void* other : after) join(clock, done_[other]);
}

void GraphOrder::end(const void* node) {
  std::lock_guard<std::recursive_mutex> guard(g_order_lock);
  join(all_, done_[node] = g_stream_orders[g_node].clock);
  g_stream_orders.erase(g_node);
  g_node = outer_;
}

GraphOrder::~GraphOrder() {
  std::lock_guard<std::recursive_mutex> guard(g_order_lock);
  join(g_stream_orders[stream_].clock, all_);
}

}  // namespace simt

using namespace simt;

// Of streams that were made with more than a handle: their flags and priority.
static std::map<const void*, std::pair<unsigned, int>> g_stream_kinds;

static std::pair<unsigned, int> kind_of(const void* stream) {
  std::lock_guard<std::recursive_mutex> guard(simt::g_order_lock);
  auto known = g_stream_kinds.find(stream);
  return known == g_stream_kinds.end() ? std::pair(0u, 0) : known->second;
}

extern "C" void simt_set_stream_kind(const void* stream, unsigned flags, int priority) {
  std::lock_guard<std::recursive_mutex> guard(simt::g_order_lock);
  g_stream_kinds[stream] = {flags, priority};
}

extern "C" unsigned simt_stream_flags(const void* stream) { return kind_of(stream).first; }
extern "C" int simt_stream_priority(const void* stream) { return kind_of(stream).second; }

extern "C" void simt_new_stream(const void* stream, int blocking) {
  std::lock_guard<std::recursive_mutex> guard(g_order_lock);
  g_made += !g_stream_orders.count(stream);
  g_stream_orders[stream].blocking = blocking;
}
// One that is not of the program's making, and that the host waits for.
extern "C" void simt_uncount_stream(const void* stream) {
  std::lock_guard<std::recursive_mutex> guard(g_order_lock);
  if (g_stream_orders.erase(stream)) --g_made;
}
extern "C" void simt_event_on(const void* event, const void* stream) {
  std::lock_guard<std::recursive_mutex> guard(g_order_lock);
  g_event_orders[event] = caught_up(stream).clock;
}
extern "C" void simt_forget_event(const void* event) {
  std::lock_guard<std::recursive_mutex> guard(g_order_lock);
  g_event_orders.erase(event);
}
extern "C" void simt_stream_waits(const void* stream, const void* event) {
  std::lock_guard<std::recursive_mutex> guard(g_order_lock);
  if (auto known = g_event_orders.find(event); known != g_event_orders.end()) follow(stream, known->second);
}
extern "C" void simt_stream_follows(const void* stream, const void* other) {
  std::lock_guard<std::recursive_mutex> guard(g_order_lock);
  follow(stream, caught_up(other).clock);
}
extern "C" void simt_host_waits_for_event(const void* event) {
  std::lock_guard<std::recursive_mutex> guard(g_order_lock);
  if (auto known = g_event_orders.find(event); known != g_event_orders.end()) join(g_host_knows, known->second);
}
extern "C" void simt_host_waits_for_stream(const void* stream) {
  std::lock_guard<std::recursive_mutex> guard(g_order_lock);
  join(g_host_knows, caught_up(stream).clock);
}
extern "C" void simt_host_waits_for_all() {
  std::lock_guard<std::recursive_mutex> guard(g_order_lock);
  g_host_waited = g_work;
  g_host_knows.clear();
  g_last_work.clear();
  for (auto& [stream, order] : g_stream_orders) order.clock.clear();
  g_event_orders.clear();  // there is nothing left to wait for
}
extern "C" void simt_copy_is_on(const void* stream) { t_copy_call = {stream, true, 0}; }
