#include "recording.h"

#include "history.h"
#include "json.h"
#include "memory.h"
#include "modules.h"
#include "queue.h"
#include "worker.h"

#include <map>

namespace simt {

bool g_recording = false;

namespace {

constexpr size_t LARGEST_CONTENT = 1 << 20, MOST_CONTENT = 8 << 20;  // bytes of tensors that are kept
constexpr size_t MOST_OBJECTS = 1000, MOST_BLOCKS = 27;

struct Object {
  const char* kind;  // "tensor", "shared", "device", "unknown", "local"
  std::string name, label;
  size_t bytes;
  int element;
  const Allocation* allocation = nullptr;   // a tensor's
  u64 number = 0;                           // likewise
  int64_t before = -1, after = -1;          // where its bytes lie in `content`, and behind them who holds a value
  const char* now = nullptr;
};

// Where addresses belong to one object.
struct Region {
  size_t begin, end, base;
  int object;
};

struct Seen {
  std::string kind;
  u32 block;
  u16 thread;
  u32 pc;
  bool has_other = false;
  uint3 other_block{};
  u16 other_thread = 0;
  u32 other_pc = 0;
  u8 other_access = 0;
  bool one_barrier = false;
};

struct RecordedBlock {
  u64 block;
  bool asked, cut = false;
  u64 events = 0;
};

// Of one launch.
struct Recording {
  std::string head;  // the launch as JSON, without its closing bracket
  std::vector<Event> events;
  std::vector<Object> objects;
  std::vector<RecordedBlock> blocks;
  std::vector<Seen> seen;
  std::string content;
  bool empty() const { return head.empty(); }
};

struct Wanted {
  std::string kernel;
  long launch = -1;  // the n-th that fits; -1: the first with a finding, else the first
  std::vector<uint3> blocks;
  bool neighbours = false;
  u64 most = 0;
};

Wanted g_wanted;
Recording g_now, g_kept;
long g_fitting = 0;
bool g_in_launch = false, g_several = false;
u32 g_block = 0;
std::vector<Region> g_regions;
std::map<std::pair<const void*, u64>, int> g_known;  // object by what it stands for
std::vector<std::pair<size_t, size_t>> g_unsettled;  // events whose value is known once the access was made
int g_unsettled_thread = -1;             // that makes them
constexpr size_t MOST_UNSETTLED = 256;   // each access looks through them
Launch* g_launch = nullptr;
std::string g_text;

u64 flat(uint3 at, uint3 extent) { return (u64(at.z) * extent.y + at.y) * extent.x + at.x; }

void want(Launch* launch, int64_t x, int64_t y, int64_t z, bool asked) {
  auto inside = [](int64_t at, unsigned extent) { return at >= 0 && at < int64_t(extent); };
  if (!inside(x, launch->grid.x) || !inside(y, launch->grid.y) || !inside(z, launch->grid.z)) return;
  u64 block = flat({unsigned(x), unsigned(y), unsigned(z)}, launch->grid);
  for (auto& each : g_now.blocks)
    if (each.block == block) return;
  if (g_now.blocks.size() < MOST_BLOCKS) g_now.blocks.push_back({block, asked});
}

int object_of(const void* what, u64 number, const Object& object) {
  auto [it, fresh] = g_known.try_emplace({what, number}, int(g_now.objects.size()));
  if (!fresh) return it->second;
  if (g_now.objects.size() >= MOST_OBJECTS) return it->second = -1;
  g_now.objects.push_back(object);
  return it->second;
}

int tensor(const Allocation* a) {
  Object object{"tensor", "", a->label, a->bytes, a->element_bytes, a, a->serial};
  for (auto& p : g_launch->pointers) {
    if (!in_arena(p.pointer) || allocation_at(arena_offset(p.pointer)) != a) continue;
    const Kernel* kernel = declared_kernel(g_launch->base_name);
    if (kernel && size_t(p.index) < kernel->parameters.size()) object.name = kernel->parameters[p.index];
    if (object.label.empty()) object.element = int(std::max<size_t>(p.element, 1));
    break;
  }
  int id = object_of(a, a->serial, object);
  if (id >= 0) g_regions.push_back({(size_t)g_arena + a->slot, (size_t)g_arena + a->slot + a->slot_bytes,
                                  (size_t)g_arena + a->offset, id});
  return id;
}

// The bytes of a tensor as they are now, and after them one byte for each: whether anything wrote it.
int64_t content_of(const Allocation* a) {
  if (a->bytes > LARGEST_CONTENT || g_now.content.size() + 2 * a->bytes > MOST_CONTENT) return -1;
  auto at = int64_t(g_now.content.size());
  g_now.content.append(g_arena + a->offset, a->bytes);
  for (size_t i = 0; i < a->bytes; ++i) {
    size_t offset = a->offset + i;
    g_now.content += char(g_defined[offset / 4] >> (offset & 3) & 1);
  }
  return at;
}

// Adds an area for an address that is in none yet.
const Region* locate(const Worker* w, size_t address) {
  for (size_t i = 0; i < g_regions.size(); ++i) {
    if (address < g_regions[i].begin || address >= g_regions[i].end) continue;
    if (i) std::swap(g_regions[i], g_regions[i - 1]);  // those that are used most come first
    return &g_regions[i ? i - 1 : 0];
  }
  const Launch* launch = w->launch;
  if (g_arena && in_arena((void*)address)) {
    const Allocation* a = allocation_at(address - (size_t)g_arena);
    if (a && tensor(a) >= 0) return &g_regions.back();
  } else if (size_t offset = address - w->tls; offset < w->tls_bytes) {
    auto& all = launch->shared_variables;
    const Symbol* v = all.empty() ? nullptr : all.front();
    size_t end = w->tls_bytes;
    for (auto* each : all) {
      if (each->begin <= offset) v = each;
      if (each->begin > offset) end = std::min(end, each->begin);
    }
    if (v) {
      int id = object_of(v, 0, {"shared", v->name, "", v->end - v->begin, 4});
      if (id < 0) return nullptr;
      g_regions.push_back({w->tls + (offset < v->begin ? 0 : v->begin), w->tls + end, w->tls + v->begin, id});
      return &g_regions.back();
    }
  } else if (size_t offset = address - (size_t)w->dynamic_shared; offset < MAX_SHARED) {
    int id = object_of(w->dynamic_shared, 0, {"shared", "dynamic shared memory", "", launch->shared_bytes, 4});
    if (id < 0) return nullptr;
    auto base = (size_t)w->dynamic_shared;
    g_regions.push_back({base, base + MAX_SHARED, base, id});
    return &g_regions.back();
  } else if (w->cluster && w->cluster->holds(address)) {
    const Cluster& c = *w->cluster;
    size_t at = address - (size_t)c.memory->window, offset = at % c.slot_bytes, slot = address - offset;
    bool dynamic = offset >= c.dynamic_at;
    const Symbol* v = dynamic ? &dynamic_shared_of(launch) : shared_variable_near(w, offset);
    if (!v) return nullptr;
    size_t begin = slot + (dynamic ? c.dynamic_at : v->begin);
    std::string name = v->name + " of block " + std::to_string(at / c.slot_bytes) + " of the cluster";
    int id = object_of((void*)begin, 0, {"shared", name, "", v->end - v->begin, 4});
    if (id < 0) return nullptr;
    size_t end = dynamic ? slot + c.slot_bytes : begin + (v->end - v->begin);
    if (address < begin || address >= end) return nullptr;
    g_regions.push_back({begin, end, begin, id});
    return &g_regions.back();
  } else if (Module* m = launch->module; m && address >= m->base && address < m->end) {
    if (const Symbol* v = variable_at(m, address - m->base)) {
      int id = object_of(v, 1, {"device", v->name, "", v->end - v->begin, 4});
      if (id < 0) return nullptr;
      g_regions.push_back({m->base + v->begin, m->base + v->end, m->base + v->begin, id});
      return &g_regions.back();
    }
  }
  return nullptr;
}

// Whether memory lies there at all: an access out of bounds is recorded like any other.
bool is_mapped(const Worker* w, size_t address, size_t size) {
  if (g_arena && in_arena((void*)address)) return address - (size_t)g_arena + size <= g_committed;
  if (size_t offset = address - w->tls; offset < w->tls_bytes) return offset + size <= w->tls_bytes;
  if (size_t offset = address - (size_t)w->dynamic_shared; offset < MAX_SHARED) return offset + size <= MAX_SHARED;
  if (w->cluster && w->cluster->holds(address)) return w->cluster->holds(address + size - 1);
  const Module* m = w->launch->module;
  return m && address >= m->base && address + size <= m->end;
}

u64 value_at(size_t address, unsigned size) {
  u64 value = 0;
  if (in_arena((void*)address) && !open_gap(arena_offset((void*)address), size)) return 0;  // beyond a tensor's end
  memcpy(&value, (void*)address, std::min(size, 8u));
  return value;
}

// The compiler may store later than it announces, but not after the thread has given way to others or has come to
// a call of the runtime that waits: until then what is there may be what was there before.
void settle() {
  if (g_several) return;
  for (auto [event, address] : g_unsettled)
    g_now.events[event].value = value_at(address, g_now.events[event].size);
  g_unsettled.clear();
}

// Room for one more event of this block, or nullptr.
Event* add(Worker* w, Op op, int thread, size_t pc) {
  bool goes_on = op <= UPDATES || op == KEEPS || op == MORE || op == IS_FOUND;  // ENTERS, READS, WRITES, too
  if (!goes_on || thread != g_unsettled_thread || g_unsettled.size() > MOST_UNSETTLED) settle();
  g_unsettled_thread = thread;
  RecordedBlock& block = g_now.blocks[g_block];
  u64 most = block.asked ? g_wanted.most : g_wanted.most / 4;
  if (block.events >= most && op != IS_FOUND) {
    block.cut = true;
    return nullptr;
  }
  ++block.events;
  size_t base = w->launch->module ? w->launch->module->base : 0;
  g_now.events.push_back({0, 0, pc ? u32(pc - base) : 0, g_block, -1, u16(thread), op, 0});
  return &g_now.events.back();
}

void keep(bool found) {
  if (!found && !g_kept.empty()) return;
  g_kept = std::move(g_now);
  if (found || g_wanted.launch >= 0) g_recording = false;
}

}  // namespace

void forget_region(size_t offset) {
  size_t address = (size_t)g_arena + offset;
  std::erase_if(g_regions, [address](const Region& r) { return address >= r.begin && address < r.end; });
}

void record_launch_begins(Launch* launch) {
  g_in_launch = false;
  bool fits = g_wanted.kernel.empty() || g_wanted.kernel == launch->base_name || g_wanted.kernel == launch->kernel;
  if (!fits) return;
  long number = g_fitting++;
  if (g_wanted.launch >= 0 && number != g_wanted.launch) return;
  g_now = Recording{};
  g_launch = launch;
  g_in_launch = true;
  g_regions.clear();
  g_known.clear();
  g_unsettled.clear();
  std::vector<uint3> asked = g_wanted.blocks;
  if (asked.empty()) asked.push_back({0, 0, 0});
  for (auto& b : asked) want(launch, b.x, b.y, b.z, true);
  if (g_now.blocks.empty()) want(launch, 0, 0, 0, true);
  if (g_wanted.neighbours)
    for (size_t i = 0, n = g_now.blocks.size(); i < n; ++i) {
      uint3 at = unflatten(g_now.blocks[i].block, launch->grid);
      for (int step : {-1, 1}) {
        want(launch, int64_t(at.x) + step, at.y, at.z, false);
        want(launch, at.x, int64_t(at.y) + step, at.z, false);
      }
    }
  for (auto& p : launch->pointers) {
    if (!in_arena(p.pointer)) continue;
    Allocation* a = allocation_at(arena_offset(p.pointer));
    if (!a || !a->live) continue;
    int id = tensor(a);
    if (id >= 0 && g_now.objects[id].before < 0) g_now.objects[id].before = content_of(a);
  }
  Json json;
  json.open('{');
  json.field("launch", (long long)launch->number);
  json.field("fitting", (long long)number);
  json.field("kernel", launch->kernel);
  json.field("file", launch->file);
  json.field("line", launch->line);
  json.field("grid", launch->grid);
  json.field("block", launch->block);
  json.field("shared_bytes", (long long)launch->shared_bytes);
  json.field("static_shared_bytes", (long long)launch->static_shared_bytes);
  json.field("schedule", (long long)g_schedule);
  json.field("module", launch->module ? launch->module->path : "");
  g_now.head = std::move(json.text);
}

void record_launch_ends(Launch* launch) {
  if (!g_in_launch) return;
  settle();
  g_in_launch = false;
  for (auto& object : g_now.objects)
    if (const Allocation* a = object.before < 0 ? nullptr : object.allocation)
      if (a->live && a->serial == object.number) object.after = content_of(a);
  keep(!g_now.seen.empty());
  g_launch = nullptr;
}

void record_block_begins(Worker* w) {
  bool before = w->recording;
  w->recording = false;
  if (g_in_launch && w->launch == g_launch)
    for (size_t i = 0; i < g_now.blocks.size() && !w->recording; ++i)
      if (g_now.blocks[i].block == w->block) {
        w->recording = true;
        g_block = u32(i);
      }
  if (w->recording != before) {  // in a recorded block each step comes to the runtime: its budget is kept elsewhere
    long& from = before ? w->budget : t_quick.budget;
    long& to = before ? t_quick.budget : w->budget;
    if (!(w->mode & COUNT)) to = std::max(from, 1l), from = 0;
  }
  if (!w->recording) return;
  end_quick();
  if (!(w->mode & COUNT)) t_quick.budget = 0;
  add(w, BEGINS, 0, 0);
}

void record_block_ends(Worker* w) {
  add(w, ENDS, 0, 0);
  w->recording = false;
  if (!(w->mode & COUNT)) t_quick.budget = std::max(w->budget, 1l), w->budget = 0;
}

void record_access(Worker* w, size_t address, unsigned size, Access access, size_t pc) {
  Event* event = add(w, Op(access), w->current, pc);
  if (!event) return;
  const Region* area = locate(w, address);
  event->object = area ? area->object : -1;
  event->offset = area ? int64_t(address - area->base) : int64_t(address);
  event->size = u8(size);
  bool mapped = is_mapped(w, address, size);
  bool again = false;  // what it has written just now
  for (auto& [number, other] : g_unsettled)
    again |= other < address + size && address < other + g_now.events[number].size;
  if (again && access != READ) settle();
  for (unsigned at = 0; at < size; at += 8) {
    if (at) {
      int64_t offset = g_now.events.back().offset + 8;
      int32_t object = g_now.events.back().object;
      bool several = std::exchange(g_several, true);  // one access: its parts are settled together
      event = add(w, MORE, w->current, pc);
      g_several = several;
      if (!event) return;
      event->object = object;
      event->offset = offset;
      event->size = u8(size - at);
    }
    if (!mapped) continue;
    if (access == READ && !again) event->value = value_at(address + at, size - at);
    else g_unsettled.push_back({g_now.events.size() - 1, address + at});
  }
}

void record_op(Worker* w, Op op, int thread, size_t pc, u64 value) {
  if (Event* event = add(w, op, thread, pc)) event->value = value;
}

void record_finding(Worker* w, const char* kind, size_t pc, const Record* other, bool one_barrier) {
  static constexpr size_t MOST = 1000;
  if (g_now.seen.size() >= MOST) return;
  const Launch* launch = w->launch;
  Seen seen{kind, g_block, u16(w->current), pc && launch->module ? u32(pc - launch->module->base) : 0};
  if (other) {
    seen.has_other = true;
    seen.other_block = block_of_run(other->run, launch);
    seen.other_thread = other->thread;
    seen.other_pc = other->pc;
    seen.other_access = other->access;
    seen.one_barrier = one_barrier;
  }
  if (Event* event = add(w, IS_FOUND, w->current, pc)) {
    event->value = g_now.seen.size();
    g_now.seen.push_back(seen);
  }
}

void record_several(bool on) { g_several = on; }

}  // namespace simt

using namespace simt;

// From now on what fits is recorded. `kernel` "": any; `launch`: the n-th that fits, -1: the first with a finding, else
// the first. `blocks`: three numbers each, none: the first block. `most` events of each block that was asked for.
extern "C" SIMT_EXPORT void simt_record(const char* kernel, long launch, const unsigned* blocks, int count,
                                        int neighbours, u64 most) {
  simt_wait();
  g_wanted = {kernel, launch, {}, neighbours != 0, most};
  for (int i = 0; i < count; ++i) g_wanted.blocks.push_back({blocks[3 * i], blocks[3 * i + 1], blocks[3 * i + 2]});
  g_kept = g_now = Recording{};
  g_fitting = 0;
  g_recording = most > 0;
}

// A local variable of an instrumented source has this value now (simt/notes.h). `kind`: 0 signed, 1 unsigned, 2 float.
extern "C" SIMT_EXPORT void simt_noted(const char* name, uint64_t bits, int size, int kind) {
  Worker* w = t_worker;
  if (!w || !w->fibre || !w->recording) return;
  Event* event = add(w, KEEPS, w->current, (size_t)__builtin_return_address(0) - 1);
  if (!event) return;
  event->object = object_of(name, 2, {"local", name, "", size_t(size), size});
  event->value = bits;
  event->size = u8(size | kind << 4);
}

// What was recorded, as JSON; "" if nothing was. The events and contents that it tells of: simt_recorded_data().
extern "C" SIMT_EXPORT const char* simt_recorded() {
  simt_wait();
  if (g_kept.empty()) return "";
  Json json;
  json.text = g_kept.head;
  json.field("events", (long long)g_kept.events.size());
  json.field("content_bytes", (long long)g_kept.content.size());
  json.key("blocks").open('[');
  uint3 grid{};
  for (auto& b : g_kept.blocks) {
    json.open('{');
    json.field("flat", (long long)b.block);
    json.field("asked", b.asked);
    json.field("cut", b.cut);
    json.field("events", (long long)b.events);
    json.close('}');
  }
  json.close(']');
  json.key("objects").open('[');
  for (auto& o : g_kept.objects) {
    json.open('{');
    json.field("kind", std::string(o.kind));
    json.field("name", o.name);
    json.field("label", o.label);
    json.field("bytes", (long long)o.bytes);
    json.field("element", (long long)o.element);
    json.field("before", (long long)o.before);
    json.field("after", (long long)o.after);
    json.close('}');
  }
  json.close(']');
  json.key("seen").open('[');
  for (auto& s : g_kept.seen) {
    json.open('{');
    json.field("kind", s.kind);
    json.field("pc", (long long)s.pc);
    if (s.has_other) {
      json.field("other_block", s.other_block);
      json.field("other_thread", (long long)s.other_thread);
      json.field("other_pc", (long long)s.other_pc);
      json.field("other_access", (long long)s.other_access);
      json.field("one_barrier", s.one_barrier);
    }
    json.close('}');
  }
  json.close(']');
  json.close('}');
  g_text = std::move(json.text);
  return g_text.c_str();
}

// The events (0) or the contents (1) of what simt_recorded() tells.
extern "C" SIMT_EXPORT const void* simt_recorded_data(int which) {
  return which ? (const void*)g_kept.content.data() : (const void*)g_kept.events.data();
}
