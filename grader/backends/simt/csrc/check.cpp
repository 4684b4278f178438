#include "check.h"

#include "errors.h"
#include "findings.h"
#include "host_code.h"
#include "memory.h"
#include "origins.h"
#include "queue.h"
#include "recording.h"
#include "unseen.h"
#include "worker.h"

#include <limits>
#include <utility>

extern "C" __thread simt::Builtins simt_builtins SIMT_TLS;

namespace simt {

extern int g_mode;

static std::vector<std::pair<size_t, size_t>> g_managed;  // where modules have their __managed__ variables

static void check_managed(size_t address, unsigned size, Access access, size_t pc) {
  for (auto [begin, end] : g_managed)
    if (address >= begin && address < end && !is_idle()) {
      report_host("host-before-kernel", pc, (void*)address, size, access);
      return simt_wait();
    }
}

static __attribute__((noinline)) void check_host_access(void* address, unsigned size, Access access,
                                                        size_t pc) {
  if (!g_managed.empty() && (g_mode & CHECK)) check_managed((size_t)address, size, access, pc);
  if (!g_arena || !in_arena(address) || !(g_mode & CHECK)) return;
  Allocation* a = allocation_of(address);
  if (a && a->for_both && a->live) {
    if (!a->queued && !a->copied_to) return;
    report_host(a->queued ? "host-before-kernel" : "copy-target-race", pc, address, size, access);
    simt_wait();
    return;
  }
  open_gap(arena_offset(address), size);
  if (a && a->for_both) {
    report_host("use-after-free", pc, address, size, access);
    return set_device_fault(ILLEGAL_ADDRESS, "use-after-free");
  }
  report_host("host-touches-device-memory", pc, address, size, access);
  set_device_fault(ILLEGAL_ADDRESS, "host-touches-device-memory");
}

// A thread that takes two whole turns in a row may be waiting for another one in a loop.
static __attribute__((noinline)) void end_of_turn(Worker* w, size_t pc) {
  static constexpr long LONG_TURN = 1 << 20, TURN = 1 << 17, SHORT_TURN = 1 << 12;
  if (w->later == 0) {
    report(w, "step-budget", pc, {});
    kill_launch(w);
    return;
  }
  // A count puts requests together from whole turns: they stay long.
  bool counts = w->mode & COUNT;
  bool apart = counts || w->recording;  // each step comes here, so what is left is kept elsewhere
  long turn = counts ? LONG_TURN : w->launch->spins ? SHORT_TURN : TURN;
  long& budget = apart ? w->budget : t_quick.budget;
  budget = std::min(turn, w->later);
  w->later -= budget;
  u64 me = u64(w->run) << 10 | u64(w->current);
  if (std::exchange(w->turns_thread, me) != me) return;
  w->launch->spins = true;
  give_way(w);
}

// The same instruction of another lane of the warp: such writes are performed together.
static bool is_written_together(Worker* w, const Record& other, size_t pc) {
  return other.access == WRITE && other.run == w->run && other.thread / 32 == w->current / 32 &&
         other.pc == u32(pc - w->launch->module->base);
}

// Byte by byte and in this library: who looks for unseen accesses (unseen.h) knows it, and not those of libc.
static void keep_value(Doubtful& d) {
  for (unsigned i = 0; i < d.size; ++i) d.value[i] = ((const volatile char*)d.address)[i];
}
static bool holds_value(const Doubtful& d) {
  for (unsigned i = 0; i < d.size; ++i)
    if (d.value[i] != ((const volatile char*)d.address)[i]) return false;
  return true;
}

// A fence for one block may have been meant to order this with another one.
static void note_narrow_fence(Worker* w, Evidence& evidence) {
  if (evidence.other->run != w->run && w->launch->fenced_in_blocks) evidence.detail = "in blocks";
}

// An access that may look ordered, and is not: by `volatile`, or in the scope of one block.
static void note_weak_order(Worker* w, Evidence& evidence) {
  const Record& other = *evidence.other;
  bool strong = (w->is_strong || evidence.access == ATOMIC) && (other.bytes & STRONG || other.access == ATOMIC);
  if (strong && other.run != w->run) evidence.detail = "scope of a block";
  else if (w->is_strong || other.bytes & STRONG) return;
  else if (w->is_volatile) evidence.detail = "volatile";
  else if (other.bytes & VOLATILE) evidence.detail = "other volatile";
}

// A race, unless what its thread does next shows that it is none.
static void report_race(Worker* w, const char* kind, size_t address, size_t pc, Evidence& evidence) {
  if (evidence.detail.empty()) note_weak_order(w, evidence);
  bool read = evidence.access == READ && evidence.other->access == ATOMIC;
  bool write = evidence.access == WRITE && evidence.size <= sizeof(Doubtful::value) && is_written_together(w, *evidence.other, pc);
  if (!read && !write) return report(w, kind, pc, evidence);
  if (write)
    report_doubtful_writes(w);
  else
    for (auto& d : w->doubtful)
      if (d.access == READ && d.thread == w->current && d.address == address) return;
  w->doubtful.push_back({w->current, address, pc, evidence.size, evidence.access, kind[0] == 's', evidence.variable,
                         evidence.offset, *evidence.other, evidence.detail, {}});
  if (write) keep_value(w->doubtful.back());
}

static void settle_doubts(Worker* w, size_t address) {
  for (size_t i = 0; i < w->doubtful.size(); ++i) {
    auto& d = w->doubtful[i];
    if (d.access != READ || d.thread != w->current || d.address != address) continue;
    d = w->doubtful.back();
    w->doubtful.pop_back();
    return;
  }
}

static void report_doubt(Worker* w, const Doubtful& d) {
  int current = std::exchange(w->current, d.thread);
  report(w, d.shared ? "shared-race" : "global-race", d.pc,
         {.detail = d.detail,
          .address = d.shared ? nullptr : (void*)d.address,
          .size = d.size,
          .access = d.access,
          .variable = d.variable,
          .offset = d.offset,
          .other = &d.other,
          .device = d.variable && !d.shared});
  w->current = current;
}

void report_doubtful_writes(Worker* w) {
  std::erase_if(w->doubtful, [w](const Doubtful& d) {
    if (d.access != WRITE) return false;
    if (!holds_value(d)) report_doubt(w, d);
    return true;
  });
}

void report_doubtful(Worker* w) {
  report_doubtful_writes(w);
  for (auto& d : w->doubtful) report_doubt(w, d);
  w->doubtful.clear();
}

// Something that came as const is written after all: from here on its readers are kept.
void expect_writes(Allocation* a) {
  a->constant_in = 0;
  for (auto& constant : t_quick.constant) constant = {};
}

static void check_global(Worker* w, size_t address, unsigned size, Access access, size_t pc) {
  Evidence evidence{.address = (void*)address, .size = size, .access = access};
  size_t offset = address - (size_t)g_arena;
  Allocation* a = allocation_at(offset);
  if (!a) {
    report(w, "illegal-address", pc, evidence);
    kill_launch(w);
    return;
  }
  if (!a->live) {
    report(w, "use-after-free", pc, evidence);
    open_gap(offset, size);
    return;
  }
  if (offset < a->offset || offset + size > a->offset + a->bytes) {
    report(w, "global-out-of-bounds", pc, evidence);
    open_gap(offset, size);
    return;
  }
  if (address & (size - 1)) {
    report(w, "misaligned", pc, evidence);
    kill_launch(w);
    return;
  }
  bool undefined = access != WRITE && !w->padded && !is_initialised(offset, size);
  if (undefined && !w->replaces) report(w, "global-uninitialised-read", pc, evidence);
  if (g_watched) note_kernel_access(offset, size, access);
  if (g_host_code) use_host_code(w, address, size, access, pc);
  if (undefined || access == WRITE) mark_initialised(offset, size);
  if (access == READ)
    a->read_in = w->launch->number;
  else if (a->constant_in == w->launch->number)
    expect_writes(a);
  Record other;
  if (find_race(w, g_global_shadow, offset, size, access, pc, false, &other)) {
    evidence.other = &other;
    bool earlier = other.run < w->launch->first_run && !w->launch->by_kernel.parent;
    const std::string* kernel = earlier ? kernel_of_run(other.run) : nullptr;
    if (kernel) evidence.detail = *kernel;
    if (earlier) return report(w, "stream-race", pc, evidence);
    note_narrow_fence(w, evidence);
    report_race(w, "global-race", address, pc, evidence);
  }
}

// __ldg() reads through a cache that need not show what this launch has written.
void check_read_only(Worker* w, size_t address, unsigned size, size_t pc) {
  Module* module = w->launch->module;
  bool allocated = in_arena((void*)address), variable = address - module->base < module->end - module->base;
  if (!size || !(allocated || (variable && module->shadow))) return;
  size_t offset = allocated ? arena_offset((void*)address) : address - module->base;
  const Shadow& shadow = allocated ? g_global_shadow : *module->shadow;
  for (size_t g = offset / 4; g <= (offset + size - 1) / 4; ++g) {
    const Record& r = shadow.write[g];
    if (!r.access || r.run < w->launch->first_run) continue;
    Evidence evidence{.size = size, .access = READ, .other = &r};
    if (allocated) evidence.address = (void*)address;
    else if ((evidence.variable = variable_at(module, offset)))
      evidence.offset = long(offset - evidence.variable->begin), evidence.device = true;
    return report(w, "read-only-race", pc, evidence);
  }
}

// A thread reads or writes what an asynchronous copy has not brought yet, as far as its threads have waited.
static void report_under_way(Worker* w, size_t pc, Evidence evidence) {
  const AsyncCopy* copy = copy_under_way(w, w->access_address, evidence.size);
  if (!copy) return;
  Record begun{copy->pc_in_module, w->run, u16(copy->thread), copy->block_phase, copy->warp_phase, 15, WRITE};
  evidence.other = &begun;
  evidence.detail = copy->group == AsyncCopy::NO_GROUP && !copy->barrier ? "committed" : "waited for";
  report(w, "copy-race", pc, evidence);
}

void check_shared(Worker* w, Shadow& shadow, std::vector<u8>& defined, u64* marks, size_t offset, size_t pc,
                  Evidence& evidence) {
  unsigned size = evidence.size;
  if (offset & (size - 1)) {
    report(w, "misaligned", pc, evidence);
    kill_launch(w);
    return;
  }
  bool complete = true, under_way = false;
  for (unsigned i = 0; i < size; ++i) {
    complete &= defined[offset + i] != 0;
    under_way |= defined[offset + i] == UNDER_WAY;
  }
  if (under_way) report_under_way(w, pc, evidence);
  if (evidence.access != WRITE && !complete && !w->replaces && !w->padded)
    report(w, "shared-uninitialised-read", pc, evidence);
  if (evidence.access != READ || !w->padded) std::fill(defined.begin() + offset, defined.begin() + offset + size, 1);
  if (evidence.access != READ)
    for (size_t word = offset / 4; word <= (offset + size - 1) / 4; ++word) marks[word] = 0;
  Record other;
  if (find_race(w, shadow, offset, size, evidence.access, pc, true, &other)) {
    evidence.other = &other;
    report_race(w, "shared-race", w->access_address, pc, evidence);
  }
}

const Symbol* shared_variable_near(const Worker* w, size_t offset) {
  const Symbol *inside = nullptr, *before = nullptr;
  for (auto* v : w->launch->shared_variables) {
    if (v->begin <= offset) before = v;
    if (offset >= v->begin && offset < v->end) inside = v;
  }
  const Symbol* nearest = inside ? inside : before;
  if (!nearest && !w->launch->shared_variables.empty()) nearest = w->launch->shared_variables.front();
  return nearest;
}

static void check_static_shared(Worker* w, size_t offset, unsigned size, Access access, size_t pc) {
  const Symbol* nearest = shared_variable_near(w, offset);
  Evidence evidence{.size = size, .access = access, .variable = nearest};
  if (nearest) evidence.offset = (long)offset - (long)nearest->begin;
  if (!nearest || offset < nearest->begin || offset + size > nearest->end) {
    report(w, "shared-out-of-bounds", pc, evidence);
    return;
  }
  check_shared(w, *w->shared, w->static_defined, w->shared->marks, offset, pc, evidence);
}

const Symbol& dynamic_shared_of(const Launch* launch) {
  static Symbol whole{0, 0, "dynamic shared memory", ""};  // asked for at each access: its texts are made once
  whole.end = launch->shared_bytes;
  return whole;
}

static void check_dynamic_shared(Worker* w, size_t offset, unsigned size, Access access, size_t pc) {
  Evidence evidence{.size = size, .access = access, .variable = &dynamic_shared_of(w->launch), .offset = (long)offset};
  if (offset + size > w->launch->shared_bytes) {
    report(w, "shared-out-of-bounds", pc, evidence);
    return;
  }
  check_shared(w, *w->dynamic, w->dynamic_defined, w->dynamic->marks, offset, pc, evidence);
}

// __device__ variables: every block's, and they begin with a value. __constant__ ones are never written here.
static void check_variable(Worker* w, size_t offset, unsigned size, Access access, size_t pc) {
  Module* module = w->launch->module;
  if (!module->shadow) {
    module->shadow = new Shadow;
    module->shadow->init(module->end - module->base + 16);
  }
  if (g_watched) note_kernel_access_to_variable(module, module->base + offset, size, access);
  if (g_host_code) use_host_code(w, module->base + offset, size, access, pc);
  Record other;
  if (!find_race(w, *module->shadow, offset, size, access, pc, false, &other)) return;
  Evidence evidence{.size = size, .access = access, .variable = variable_at(module, offset), .other = &other};
  if (!evidence.variable) return;
  evidence.offset = long(offset - evidence.variable->begin);
  evidence.device = true;
  note_narrow_fence(w, evidence);
  report_race(w, "global-race", w->access_address, pc, evidence);
}

static bool is_the_threads_own(const Worker* w, size_t address) {
  return address - (size_t)w->fibre->stack < STACK_BYTES ||     // local variables
         (address >= w->host_begin && address < w->host_end);   // the launch's arguments
}

// Counted calls must not be told from others by where memory lies, and counts are of memory as a GPU aligns it.
static size_t as_aligned(size_t address) {
  const Allocation* a = allocation_at(address - (size_t)g_arena);
  return a ? address - a->counted_behind : address;
}

void access(void* pointer, unsigned size, Access access, void* return_address) {
  Worker* w = t_worker;
  size_t pc = (size_t)return_address - 1, address = (size_t)pointer;
  Access counted = access;
  if (w && w->counted_as) counted = std::exchange(w->counted_as, NO_ACCESS);  // before another block has its turn
  if (!w || !w->fibre) {
    check_host_access(pointer, size, access, pc);
    return;
  }
  // Clang reports reads of threadIdx; GCC knows that it is constant.
  if (address - (size_t)&simt_builtins < sizeof simt_builtins) return;
  // Local variables are not looked at, and would push out what is: a conversion of 16 bits has dozens.
  if (w->looking && !is_the_threads_own(w, address)) heard_of(pointer, size);
  if (w->recording && !is_the_threads_own(w, address)) record_access(w, address, size, access, pc);
  bool check = w->mode & CHECK, count = w->mode & COUNT;
  if (access == ATOMIC && !w->doubtful.empty()) settle_doubts(w, address);
  w->access_address = address;
  int lane = w->current & 31;
  if (in_arena(pointer)) {
    if (count) w->counter.note(as_aligned(address), size, counted, GLOBAL, pc, lane);
    if (check) check_global(w, address, size, access, pc);
  } else if (size_t offset = address - w->tls; offset < w->tls_bytes) {
    if (count) w->counter.note(address, size, counted, SHARED, pc, lane);
    if (check) check_static_shared(w, offset, size, access, pc);
  } else if (size_t offset = address - (size_t)w->dynamic_shared; offset < MAX_SHARED) {
    if (count) w->counter.note(address, size, counted, SHARED, pc, lane);
    if (check) check_dynamic_shared(w, offset, size, access, pc);
  } else if (w->cluster && w->cluster->holds(address)) {
    if (count) w->counter.note(address, size, counted, SHARED, pc, lane);
    if (check) check_remote(w, address, size, access, pc);
  } else if (is_the_threads_own(w, address)) {
    return;
  } else if (Module* m = w->launch->module; address >= m->base && address < m->end) {
    if (count && address >= m->writable) w->counter.note(address, size, counted, VARIABLE, pc, lane);
    if (check) check_variable(w, address - m->base, size, access, pc);
  } else if (check) {
    report(w, "illegal-address", pc, {.address = pointer, .size = size, .access = access});
    kill_launch(w);
  }
}

void spend_step(size_t pc) {
  Worker* w = t_worker;
  if (!w || !w->fibre) {  // host code
    t_quick.budget = std::numeric_limits<long>::max();
    return;
  }
  if (!(w->mode & COUNT) && !w->recording) return end_of_turn(w, pc);
  t_quick.budget = 0;  // every step comes here
  if (w->mode & COUNT) w->counter.enter(pc, w->current & 31);
  if (w->recording) record_op(w, ENTERS, w->current, pc);
  if (--w->budget == 0) end_of_turn(w, pc);
}

}  // namespace simt

extern "C" int simt_register_managed(const void* begin, const void* end) {
  simt::g_managed.push_back({(size_t)begin, (size_t)end});
  simt_tell_variable(begin, (size_t)end - (size_t)begin, 1);
  return 0;
}

// Shared memory has 32 bits of addresses of its own: the lower half of those here. A generic address stays what it is.
extern "C" SIMT_EXPORT void* simt_shared_at(size_t address) {
  Worker* w = t_worker;
  if (address >> 32 || !w) return (void*)address;
  const std::pair<size_t, size_t> places[] = {{w->tls, w->tls_bytes}, {(size_t)w->dynamic_shared, MAX_SHARED}};
  for (auto [begin, bytes] : places) {
    size_t offset = u32(address - begin);
    if (offset < bytes) return (void*)(begin + offset);
  }
  return (void*)address;
}
