#include "errors.h"

#include "graphs.h"
#include "worker.h"

#include <utility>

namespace simt {

static int g_launch_error = 0;
static int g_device_fault = 0;
static bool g_fault_seen = false;
static std::string g_detail;

void set_launch_error(int code, std::string detail) {
  if (g_launch_error) return;
  g_launch_error = code;
  g_detail = std::move(detail);
}

void set_device_fault(int code, std::string detail) {
  if (g_device_fault) return;
  g_device_fault = code;
  g_detail = std::move(detail);
}

bool device_faulted() { return g_device_fault != 0; }

// Of the launches that the running thread of a kernel has made itself.
static int child_error(int clear) {
  Thread& me = t_worker->threads[t_worker->current];
  if (!me.failure || me.failed_in != t_worker->launch->first_run + u32(t_worker->block)) return 0;
  return clear ? std::exchange(me.failure, 0) : me.failure;
}

void reset_errors() {
  g_launch_error = g_device_fault = 0;
  g_fault_seen = false;
  g_detail.clear();
}

}  // namespace simt

extern "C" int simt_refuse_launch(int code, const char* why) {
  simt::set_launch_error(code, why);
  return code;
}

extern "C" int simt_last_error(int clear) {
  using namespace simt;
  if (simt_in_kernel()) return child_error(clear);  // an error of the host is none of a kernel's
  if (g_fault_seen) return g_device_fault;
  int code = g_launch_error;
  if (clear) g_launch_error = 0;
  return code;
}

// A call that fails returns its error, and leaves it for cudaGetLastError as well.
extern "C" int simt_fail(int code) {
  using namespace simt;
  if (code && !g_launch_error && (code < 700 || code >= 900)) g_launch_error = code;
  return code;
}

extern "C" int simt_synchronize() {
  using namespace simt;
  if (break_capture()) return CAPTURE_UNSUPPORTED;
  simt_wait();
  g_fault_seen = g_device_fault != 0;
  return g_device_fault;
}

extern "C" const char* simt_error_detail() { return simt::g_detail.c_str(); }

extern "C" SIMT_EXPORT int simt_pending_error() {
  using namespace simt;
  simt_wait();
  return g_device_fault ? g_device_fault : g_launch_error;
}
