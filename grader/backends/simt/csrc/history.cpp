#include "history.h"

#include "json.h"
#include "memory.h"
#include "queue.h"
#include "shadow.h"

#include <deque>

namespace simt {

struct Remembered {
  u64 number;
  u32 first_run;
  u64 blocks, runs;  // runs: more than blocks if they waited for each other at grid.sync()
  std::string kernel, file;
  int line;
  uint3 grid, block;
  size_t shared_bytes, static_shared_bytes;
  Module* module;
  bool default_stream, own_stream, taken;
  std::string counts;  // JSON, empty if nothing was counted
};

static constexpr size_t MOST_LAUNCHES = 10000;
static std::deque<Remembered> g_launches;
static bool g_copied_beside = false;  // a copy or a fill was on a stream of the program's own
static u64 g_number = 0;
static u32 g_next_run = 1;
static std::string g_json;

u32 next_runs(u64 blocks) {
  u32 first = g_next_run;
  g_next_run += u32(blocks);
  return first;
}

void note_copy_on(const void* stream) { g_copied_beside |= is_own_stream(stream); }

u64 remember_launch(const Launch& l) {
  g_launches.push_back({++g_number, l.first_run, l.block_count, l.block_count, l.kernel, l.file, l.line, l.grid, l.block,
                        l.shared_bytes, l.static_shared_bytes, l.module, l.default_stream, l.own_stream, false, ""});
  if (g_launches.size() > MOST_LAUNCHES) g_launches.pop_front();
  return g_number;
}

void remember_runs(u64 number, u32 runs) {
  for (auto it = g_launches.rbegin(); it != g_launches.rend(); ++it)
    if (it->number == number) {
      it->runs = runs;
      return;
    }
}

static const Remembered* launch_of_run(u32 run) {
  for (auto it = g_launches.rbegin(); it != g_launches.rend(); ++it)
    if (run >= it->first_run && run - it->first_run < it->runs) return &*it;
  return nullptr;
}

const std::string* kernel_of_run(u32 run) {
  const Remembered* l = launch_of_run(run);
  return l ? &l->kernel : nullptr;
}

bool is_on_default_stream(u32 run) {
  const Remembered* l = launch_of_run(run);
  return l && l->default_stream;
}

Module* module_of_run(u32 run, const Launch* launch) {
  const Remembered* l = launch && run >= launch->first_run ? nullptr : launch_of_run(run);
  return l ? l->module : launch ? launch->module : nullptr;
}

uint3 thread_of_run(u32 run, int thread, const Launch* launch) {
  const Remembered* l = launch && run >= launch->first_run ? nullptr : launch_of_run(run);
  return unflatten(u64(thread), l ? l->block : launch ? launch->block : uint3{1024, 1, 1});
}

uint3 block_of_run(u32 run, const Launch* launch) {
  if (launch && run >= launch->first_run) return unflatten((run - launch->first_run) % launch->block_count, launch->grid);
  const Remembered* l = launch_of_run(run);
  return l ? unflatten((run - l->first_run) % l->blocks, l->grid) : uint3{};
}

void remember_counts(u64 number, const Counter& counter) {
  for (auto it = g_launches.rbegin(); it != g_launches.rend(); ++it)
    if (it->number == number) {
      it->counts = counter.json(it->module->base);
      return;
    }
}

}  // namespace simt

using namespace simt;

extern "C" SIMT_EXPORT const char* simt_take_launches() {
  simt_wait();
  Json json;
  json.open('[');
  for (auto& l : g_launches) {
    if (l.taken) continue;
    l.taken = true;
    json.open('{');
    json.field("launch", (long long)l.number);
    json.field("kernel", l.kernel);
    json.field("file", l.file);
    json.field("line", l.line);
    json.field("grid", l.grid);
    json.field("block", l.block);
    json.field("shared_bytes", (long long)l.shared_bytes);
    json.field("static_shared_bytes", (long long)l.static_shared_bytes);
    json.field("default_stream", (long long)l.default_stream);
    json.field("own_stream", (long long)(l.own_stream || g_copied_beside));
    json.field("module", l.module ? l.module->path : "");
    if (!l.counts.empty()) {
      json.key("counts");
      json.text += l.counts;
      l.counts.clear();
    }
    json.close('}');
  }
  json.close(']');
  g_copied_beside = false;
  g_json = std::move(json.text);
  return g_json.c_str();
}

// The thread that last wrote any of these bytes, as JSON; "" if none did.
extern "C" SIMT_EXPORT const char* simt_last_writer(const void* pointer, size_t bytes) {
  simt_wait();
  g_json.clear();
  const Record* r = last_write(pointer, bytes);
  if (!r) return "";
  for (auto& l : g_launches) {
    if (r->run < l.first_run || r->run - l.first_run >= l.runs) continue;
    Json json;
    json.open('{');
    json.field("kernel", l.kernel);
    json.field("launch", (long long)l.number);
    json.field("module", l.module->path);
    json.field("pc", (long long)r->pc);
    json.field("block", unflatten((r->run - l.first_run) % l.blocks, l.grid));
    json.field("thread", unflatten(r->thread, l.block));
    json.field("access", r->access);
    json.close('}');
    g_json = std::move(json.text);
  }
  return g_json.c_str();
}
