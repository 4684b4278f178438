#include "heap.h"

#include "check.h"
#include "errors.h"
#include "findings.h"
#include "origins.h"
#include "recording.h"
#include "worker.h"

#include <map>
#include <new>

namespace simt {

static constexpr size_t HEAP_BYTES = 8 << 20;        // as on a GPU
static constexpr size_t HEAP_UNIT = 64;              // of spans; a smallest one has gaps of 16 bytes and more
static constexpr size_t HEAP_AREA = 1 << 20;         // what is taken of the arena at once
static constexpr size_t HEAP_RESTING = 1 << 20;      // of spans of each size that are not given out again yet
static constexpr size_t HEAP_ALIGNED = 16;
static constexpr u64 HEAP_NUMBERS = u64(1) << 32;    // above those of other allocations

struct HeapArea {
  size_t begin, end;
  bool live;
  std::vector<u32> block_of;  // for each unit of a span: its block
};
static std::deque<HeapArea> g_heap_areas;
static std::deque<Allocation> g_heap_blocks;
static std::map<size_t, std::deque<Allocation*>> g_heap_freed;  // by bytes of the span
static int g_heap_filling = 0;  // the number of the area that small spans come from; 0: none
static size_t g_heap_limit = HEAP_BYTES, g_heap_taken = 0;
static u64 g_heap_number = HEAP_NUMBERS;
static bool g_heap_was_used = false;

Allocation* heap_block_at(int area, size_t offset) {
  const HeapArea& a = g_heap_areas[size_t(area) - 1];
  size_t i = offset > a.begin ? (offset - a.begin) / HEAP_UNIT : 0;
  return &g_heap_blocks[a.block_of[std::min(i, a.block_of.size() - 1)]];
}

static Worker* heap_worker() {
  Worker* w = t_worker;
  return w && w->fibre ? w : nullptr;
}

static int new_heap_area(Worker* w, size_t bytes) {
  Allocation* whole = allocate_area(bytes);
  if (!whole) return 0;
  g_heap_areas.push_back({whole->offset, whole->offset + bytes, true, {}});
  if (w->mode & COUNT) w->counter.expect_slot(whole->slot, whole->slot_bytes);
  return whole->heap = int(g_heap_areas.size());
}

static Allocation* first_freed(std::deque<Allocation*>& freed) {
  Allocation* block = freed.front();
  freed.pop_front();
  return block;
}

// A block with a span of this size, which is no part of any other. Freed ones rest a while: use after free is then seen.
static Allocation* span_of(Worker* w, size_t span) {
  auto& freed = g_heap_freed[span];
  if (freed.size() > std::max<size_t>(1, HEAP_RESTING / span)) return first_freed(freed);
  int number = span > HEAP_AREA / 4 ? 0 : g_heap_filling;
  auto used = [](const HeapArea& a) { return a.begin + a.block_of.size() * HEAP_UNIT; };
  if (!number || used(g_heap_areas[number - 1]) + span > g_heap_areas[number - 1].end) {
    number = new_heap_area(w, std::max(span, HEAP_AREA));
    if (!number) return freed.empty() ? nullptr : first_freed(freed);
    if (span <= HEAP_AREA / 4) g_heap_filling = number;
  }
  HeapArea& area = g_heap_areas[number - 1];
  Allocation block{used(area), span};
  block.heap = number;
  area.block_of.resize(area.block_of.size() + span / HEAP_UNIT, u32(g_heap_blocks.size()));
  g_heap_blocks.push_back(block);
  return &g_heap_blocks.back();
}

// NaN as float, -1 as int. Who looks for unseen accesses (unseen.h) knows this library, and not libc's functions.
static void fill_with_garbage(const Worker* w, size_t offset, size_t bytes) {
  if (!w->looking) return (void)memset(g_arena + offset, 0xff, bytes);
  for (size_t i = 0; i < bytes; i += 8) *(volatile u64*)(g_arena + offset + i) = ~u64(0);
}

static size_t heap_size(size_t bytes) { return (std::max(bytes, size_t(1)) + HEAP_ALIGNED - 1) / HEAP_ALIGNED * HEAP_ALIGNED; }

static void* heap_malloc(Worker* w, size_t bytes, size_t alignment = HEAP_ALIGNED) {
  std::lock_guard<std::recursive_mutex> guard(g_memory_lock);
  g_heap_was_used = true;
  if (bytes > g_heap_limit) return nullptr;
  size_t size = heap_size(bytes), span = HEAP_UNIT;
  if (g_heap_taken + size > g_heap_limit) return nullptr;
  while (span < std::max(2 * size, size + 2 * HEAP_ALIGNED) + (alignment > HEAP_ALIGNED ? alignment : 0)) span *= 2;
  Allocation* block = span_of(w, span);
  if (!block) return nullptr;
  size_t middle = (size_t)g_arena + block->slot + (span - size) / 2;
  size_t offset = (alignment == HEAP_ALIGNED ? middle : middle + alignment - 1) / alignment * alignment - (size_t)g_arena;
  *block = {block->slot, span, offset, bytes, true, ++g_heap_number, "", 1, 0, false, 0, 0, 0, 0, block->heap};
  fill_with_garbage(w, offset, size);
  memset(g_defined + offset / 4, 0, size / 4);
  if (g_watched) note_new_memory(offset, size);
  if (w->recording) forget_region(offset);
  g_heap_taken += size;
  count_memory(long(size));
  return g_arena + offset;
}

static void give_back(Allocation* block) {
  size_t size = heap_size(block->bytes);
  block->live = false;
  g_heap_taken -= size;
  count_memory(-long(size));
  memset(g_defined + block->offset / 4, 0, size / 4);
  forget_shadow(block->offset, size);
}

// Whether the heap may take this block back; if not, that is reported.
static bool may_free(Worker* w, Allocation* block, void* pointer, size_t pc) {
  bool begins = block && block->heap && arena_offset(pointer) == block->offset;
  if (!(w->mode & CHECK)) return begins && block->live;
  if (!begins || !block->live) {
    report(w, begins ? "double-free" : "bad-free", pc, {.address = pointer, .size = 1});
    return false;
  }
  if (!w->doubtful.empty()) report_doubtful_writes(w);  // while the values are still there
  Record other;
  unsigned size = unsigned(std::min<size_t>(block->bytes, ~0u));
  if (size && find_race(w, g_global_shadow, block->offset, size, WRITE, pc, false, &other))
    report(w, "global-race", pc, {.detail = "frees", .address = pointer, .size = 1, .access = WRITE, .other = &other});
  for (Range& range : w->ranges)
    if (range.allocation == block) range = {~size_t(0), 0, nullptr};
  expect_writes(block);
  return true;
}

static void heap_free(Worker* w, void* pointer, size_t pc) {
  if (!pointer) return;
  std::lock_guard<std::recursive_mutex> guard(g_memory_lock);
  g_heap_was_used = true;
  Allocation* block = allocation_of(pointer);
  if (!may_free(w, block, pointer, pc)) return;
  give_back(block);
  g_heap_freed[block->slot_bytes].push_back(block);
}

bool heap_from_host(const void* pointer, Access access, size_t pc) {
  const Allocation* block = allocation_of(pointer);
  if (!block || !block->heap) return false;
  if (g_mode & CHECK) report_host("host-uses-heap", pc, pointer, 1, access);
  return true;
}

// What a host's free or delete gets of the heap would end the process.
static bool free_from_host(const void* pointer, size_t pc) { return heap_from_host(pointer, NO_ACCESS, pc); }

}  // namespace simt

using namespace simt;

extern "C" size_t simt_heap_limit() { return g_heap_limit; }

extern "C" int simt_limit_heap(size_t bytes) {
  simt_wait();  // what is queued may be the first to use it
  if (g_heap_was_used) return simt_fail(INVALID_VALUE);
  g_heap_limit = bytes;
  simt_show_kernels(&g_heap_limit, sizeof g_heap_limit);
  return 0;
}

extern "C" int simt_reset_heap() {
  if (int fault = simt_synchronize()) return fault;
  std::lock_guard<std::recursive_mutex> guard(g_memory_lock);
  for (auto& block : g_heap_blocks)
    if (block.live) give_back(&block);
  for (auto& area : g_heap_areas)
    if (area.live) release_area(area.begin), area.live = false;  // what it held is still known, as freed
  g_heap_freed.clear();
  g_heap_filling = 0;
  g_heap_limit = HEAP_BYTES;
  g_heap_was_used = false;
  return 0;
}

// The module is linked so that its calls come here: a function for both sides takes what the caller's side has.
SIMT_CALL void* __wrap_malloc(size_t n) {
  Worker* w = heap_worker();
  return w ? heap_malloc(w, n) : malloc(n);
}
SIMT_CALL void __wrap_free(void* p) {
  if (Worker* w = heap_worker()) return heap_free(w, p, (size_t)HERE - 1);
  if (!free_from_host(p, (size_t)HERE - 1)) free(p);
}
// As the compilers call them: new and new[], delete and delete[], with a size and without; of a wide alignment.
#define SIMT_NEW(NAME, OPERATOR)                                       \
  SIMT_CALL void* __wrap_##NAME(size_t n) {                            \
    Worker* w = heap_worker();                                         \
    return w ? heap_malloc(w, n) : OPERATOR(n);                        \
  }                                                                    \
  SIMT_CALL void* __wrap_##NAME##St11align_val_t(size_t n, std::align_val_t to) { \
    Worker* w = heap_worker();                                         \
    return w ? heap_malloc(w, n, std::max(HEAP_ALIGNED, size_t(to))) : OPERATOR(n, to); \
  }
SIMT_NEW(_Znwm, ::operator new)
SIMT_NEW(_Znam, ::operator new[])
#define SIMT_DELETE(NAME, OPERATOR, PARAMETERS, ...)                   \
  SIMT_CALL void __wrap_##NAME PARAMETERS {                            \
    if (Worker* w = heap_worker()) return heap_free(w, p, (size_t)HERE - 1); \
    if (!free_from_host(p, (size_t)HERE - 1)) OPERATOR(__VA_ARGS__);   \
  }
#define SIMT_DELETES(NAME, OPERATOR)                                                         \
  SIMT_DELETE(NAME, OPERATOR, (void* p), p)                                                  \
  SIMT_DELETE(NAME##m, OPERATOR, (void* p, size_t), p)                                       \
  SIMT_DELETE(NAME##St11align_val_t, OPERATOR, (void* p, std::align_val_t to), p, to)        \
  SIMT_DELETE(NAME##mSt11align_val_t, OPERATOR, (void* p, size_t, std::align_val_t to), p, to)
SIMT_DELETES(_ZdlPv, ::operator delete)
SIMT_DELETES(_ZdaPv, ::operator delete[])
