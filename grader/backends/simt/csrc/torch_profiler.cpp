// A launched kernel is an event of torch's profiler, by its name: it stands where the queue ran it, in the call
// that waited.
#include "torch_device.h"

#include <ATen/record_function.h>

#include <memory>

extern "C" void simt_set_launch_hook(void (*hook)(const char* kernel, int begins));

namespace simt {

static void record(const char* kernel, int begins) {
  static thread_local std::vector<std::unique_ptr<at::RecordFunction>> running;
  if (!begins) {
    if (!running.empty()) running.pop_back();
    return;
  }
  running.push_back(std::make_unique<at::RecordFunction>(at::RecordScope::FUNCTION));
  if (running.back()->isActive()) running.back()->before(std::string(kernel));
}

static const bool g_records = (simt_set_launch_hook(record), true);

}  // namespace simt
