#include "queue.h"

#include "graphs.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <mutex>

namespace simt {

static constexpr size_t MOST_QUEUED = 1024;  // then the host has to wait, as on a GPU
static std::deque<std::function<void()>> g_queue;
static std::recursive_mutex g_queue_lock;
static bool g_running = false;

// CUDA_LAUNCH_BLOCKING=1 means here what it means on a GPU.
static bool is_blocking() {
  static const char* text = getenv("CUDA_LAUNCH_BLOCKING");
  return text && strcmp(text, "1") == 0;
}

bool is_idle() {
  std::lock_guard<std::recursive_mutex> guard(g_queue_lock);
  return g_queue.empty();
}

void in_turn(std::function<void()> task, bool may_wait) {
  std::lock_guard<std::recursive_mutex> guard(g_queue_lock);
  if (g_queue.empty() && (!may_wait || is_blocking())) return task();
  g_queue.push_back(std::move(task));
  if (g_queue.size() > MOST_QUEUED) simt_wait();
}

static double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace simt

using namespace simt;

extern "C" void simt_wait() {
  break_capture();
  std::lock_guard<std::recursive_mutex> guard(g_queue_lock);
  if (g_running) return;  // a finding's text asks for memory while a kernel runs
  g_running = true;
  while (!g_queue.empty()) {
    auto task = std::move(g_queue.front());
    g_queue.pop_front();
    task();
  }
  g_running = false;
}

extern "C" void simt_record_event(double* when) {
  *when = -1;
  in_turn([when] { *when = seconds(); }, false);
}

// Which stream is the current one changes nothing here but what launches are told to be on.
static thread_local void* t_current_stream = nullptr;
static thread_local int t_device = 0;
static int g_devices = 1, g_elsewhere = 0;
static char g_stream_of[2];  // while there seem to be two devices: what the current stream of each points to
extern "C" int simt_device() { return simt_in_kernel() ? 0 : t_device; }
extern "C" int simt_exchange_device(int device) {
  int before = t_device;
  if (device >= 0 && device < g_devices) t_device = device;
  return before;
}
extern "C" int simt_device_exists(int device) { return device >= 0 && device < g_devices; }

// From now on there seem to be so many devices, and this one is current; tensors lie on device 0 all the same.
extern "C" SIMT_EXPORT void simt_pretend_devices(int count, int current) {
  g_devices = count, t_device = current, g_elsewhere = 0;
}
extern "C" SIMT_EXPORT int simt_launched_elsewhere() { return g_elsewhere; }

// A thread of the program begins with none, and may be handed the one of the thread that started it.
static std::atomic<void*> g_last_current{nullptr};
bool simt::is_default_stream(const void* stream) { return (size_t)stream <= 2; }  // 1: cudaStreamLegacy, 2: ...PerThread
bool simt::is_own_stream(const void* stream) {
  return !is_default_stream(stream) && stream != t_current_stream && stream != g_last_current;
}

const void* simt::thread_stream() { return t_current_stream; }

// What the host has set says nothing to a kernel: on a GPU it could not ask. Below 0: of the current device.
extern "C" void* simt_stream_of(int device) {
  if (simt_in_kernel()) return nullptr;
  if (device < 0) device = t_device;
  return g_devices > 1 && device < 2 ? &g_stream_of[device] : t_current_stream;
}
extern "C" void* simt_current_stream() { return simt_stream_of(-1); }

// Numbers as in runtime/device.py; the largest counts.
void simt::note_device(const void* stream) {
  if (g_devices < 2) return;
  const int where = t_device ? 3 : stream == &g_stream_of[1] ? 2 : is_default_stream(stream);
  g_elsewhere = std::max(g_elsewhere, where);
}
extern "C" void simt_set_current_stream(void* stream) {
  t_current_stream = stream;
  if (stream) g_last_current = stream;
}

extern "C" SIMT_EXPORT int simt_is_idle() { return is_idle(); }
