#include "memory.h"

#include "errors.h"
#include "findings.h"
#include "heap.h"
#include "host_code.h"
#include "origins.h"
#include "queue.h"
#include "shadow.h"
#include "transcript.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>

namespace simt {

static constexpr size_t LARGEST_ARENA = 1ull << 36;   // 64 GiB of address space, not of memory
static constexpr size_t SMALLEST_ARENA = 1ull << 28;  // under a tight `ulimit -v`
static constexpr size_t GRANULE = 1ull << 17;         // smallest slot
static constexpr size_t LARGE_SLOT = 8ull << 20;
static constexpr size_t SLOTS_KEPT = 8;               // freed slots rest a while: use after free is then seen
static constexpr size_t PAGE = 4096;
static constexpr size_t ALIGNED = 16;        // the widest access of a thread
static constexpr size_t ALIGNED_WIDE = 512;  // as torch's allocator aligns: sectors are then counted as on a GPU
static constexpr size_t MOST_OPEN = 256;     // pages of gaps

char* g_arena = nullptr;
size_t g_arena_bytes = 0;
std::deque<Allocation> g_allocations;
static u32* g_allocation_of;  // for each granule: index into g_allocations, plus one
u8* g_defined;
static std::map<size_t, std::deque<size_t>> g_free_slots;  // by slot size
size_t g_committed = 0;
static size_t g_top = 0, g_live_bytes = 0, g_peak_bytes = 0;
static std::set<size_t> g_open_pages;  // offsets
std::recursive_mutex g_memory_lock;  // an area of the heap is taken while a part of it is
extern int g_mode;

void memory_init() {
  if (g_arena) return;
  static constexpr size_t SPARE = 1ull << 30;  // of a tight limit: torch needs some, too
  for (size_t bytes = LARGEST_ARENA; bytes >= SMALLEST_ARENA; bytes /= 2) {
    // The checks need twelve times as much again for their records: ask for all of it before settling.
    size_t all = bytes * 14 + (bytes > SMALLEST_ARENA ? SPARE : 0);
    void* probe = try_reserve(all, PROT_NONE);
    if (!probe) continue;
    munmap(probe, all);
    g_arena_bytes = bytes;
    break;
  }
  if (!g_arena_bytes) g_arena_bytes = SMALLEST_ARENA;
  g_arena = (char*)reserve_only(g_arena_bytes);
  g_defined = (u8*)reserve_only(g_arena_bytes / 4);
  g_allocation_of = (u32*)reserve(g_arena_bytes / GRANULE * sizeof(u32));
}

// Makes the arena usable up to `end`, in steps that are worth a call of the system.
static bool commit_up_to(size_t end) {
  static constexpr size_t STEP = 32ull << 20;
  if (end <= g_committed) return true;
  for (size_t to : {std::min(g_arena_bytes, (end + STEP - 1) / STEP * STEP), end}) {
    bool done = commit(g_defined, g_committed / 4, to / 4) &&
                (!g_global_shadow.write || g_global_shadow.commit_bytes(g_committed, to));
    if (!done) continue;
    g_committed = to;
    return true;
  }
  return false;
}

// Makes the pages of an allocation usable, or takes them away again.
static bool permit(size_t offset, size_t bytes, int access) {
  size_t begin = offset / PAGE * PAGE, end = (offset + bytes + PAGE - 1) / PAGE * PAGE;
  return begin == end || mprotect(g_arena + begin, end - begin, access) == 0;
}

// What was taken at once: of the heap the whole area.
static Allocation* slot_at(size_t offset) {
  u32 i = g_allocation_of[offset / GRANULE];
  return i ? &g_allocations[i - 1] : nullptr;
}

bool open_gap(size_t offset, size_t bytes) {
  bool open = true;
  for (size_t page = offset / PAGE * PAGE; page < offset + bytes && page < g_arena_bytes; page += PAGE) {
    Allocation* a = slot_at(page);
    bool is_gap = !a || !a->live || page + PAGE <= a->offset || page >= a->offset + a->bytes;
    if (!is_gap || g_open_pages.count(page)) continue;
    if (g_open_pages.size() < MOST_OPEN && permit(page, PAGE, PROT_READ | PROT_WRITE))
      g_open_pages.insert(page);
    else
      open = false;
  }
  return open;
}

void close_gaps() {
  for (size_t page : g_open_pages) permit(page, PAGE, PROT_NONE);
  g_open_pages.clear();
}

Allocation* allocation_at(size_t offset) {
  Allocation* a = slot_at(offset);
  return a && a->heap ? heap_block_at(a->heap, offset) : a;
}

Allocation* allocation_of(const void* pointer) {
  return g_arena && in_arena(pointer) ? allocation_at(arena_offset(pointer)) : nullptr;
}

void mark_initialised(size_t offset, size_t bytes) {
  for (; bytes && (offset & 3); ++offset, --bytes) g_defined[offset / 4] |= 1 << (offset & 3);
  memset(g_defined + offset / 4, 15, bytes / 4);
  offset += bytes & ~size_t(3);
  bytes &= 3;
  for (; bytes; ++offset, --bytes) g_defined[offset / 4] |= 1 << (offset & 3);
}

bool is_initialised(size_t offset, size_t bytes) {
  for (; !(offset & 31) && bytes >= 32; offset += 32, bytes -= 32)
    if (*(const u64*)(g_defined + offset / 4) != 0x0f0f0f0f0f0f0f0f) return false;
  for (; !(offset & 3) && bytes >= 4; offset += 4, bytes -= 4)
    if (g_defined[offset / 4] != 15) return false;
  for (size_t i = offset; i < offset + bytes; ++i)
    if (!(g_defined[i / 4] >> (i & 3) & 1)) return false;
  return true;
}

static bool take_slot(size_t bytes, size_t* slot) {
  auto& freed = g_free_slots[bytes];
  if (freed.size() > SLOTS_KEPT || (!freed.empty() && g_top + bytes > g_arena_bytes)) {
    *slot = freed.front();
    freed.pop_front();
    return true;
  }
  if (g_top + bytes > g_arena_bytes || !commit_up_to(g_top + bytes)) return false;
  *slot = g_top;
  g_top += bytes;
  return true;
}

}  // namespace simt

using namespace simt;

static int allocate(void** out, size_t bytes, size_t at) {
  std::lock_guard<std::recursive_mutex> guard(g_memory_lock);
  memory_init();
  size_t slot_bytes = GRANULE, slot;
  while (slot_bytes < 2 * bytes) slot_bytes *= 2;
  if (bytes > g_arena_bytes / 2 || !take_slot(slot_bytes, &slot)) return OUT_OF_MEMORY;
  const size_t wide = slot + slot_bytes / 4 / ALIGNED_WIDE * ALIGNED_WIDE;
  const size_t offset = ((wide + bytes + PAGE - 1) / PAGE * PAGE - bytes) / ALIGNED * ALIGNED;
  if (!permit(offset, bytes, PROT_READ | PROT_WRITE)) return OUT_OF_MEMORY;  // the slot is lost
  u64 serial = g_allocations.size() + 1;
  g_allocations.push_back({slot, slot_bytes, offset, bytes, true, serial, "", 1, at});
  g_allocations.back().counted_behind = offset - wide;
  for (size_t g = slot / GRANULE; g < (slot + slot_bytes) / GRANULE; ++g) g_allocation_of[g] = u32(serial);
  if (slot_bytes >= LARGE_SLOT) {  // a page fault every 4 KB would take longer than the kernel
    madvise(g_arena + slot, slot_bytes, MADV_HUGEPAGE);
    madvise(g_defined + slot / 4, slot_bytes / 4, MADV_HUGEPAGE);
    expect_shadow(slot, slot_bytes);
  }
  memset(g_arena + offset, 0xff, bytes);  // NaN as float, -1 as int: never a lucky zero
  memset(g_defined + offset / 4, 0, (bytes + 3) / 4);
  if (g_watched) note_new_memory(offset, bytes);
  count_memory(long(bytes));
  *out = g_arena + offset;
  return 0;
}

void simt::count_memory(long bytes) {
  g_live_bytes += size_t(bytes);
  g_peak_bytes = std::max(g_peak_bytes, g_live_bytes);
}

Allocation* simt::allocate_area(size_t bytes) {
  void* area;
  size_t peak = g_peak_bytes;
  if (allocate(&area, bytes, 0)) return nullptr;
  g_live_bytes -= bytes;  // only its parts count
  g_peak_bytes = peak;
  return slot_at(arena_offset(area));
}

static int allocate_or_wait(void** out, size_t bytes, size_t at) {
  int error = allocate(out, bytes, at);
  if (error && !is_idle()) {  // what is queued may give memory back
    simt_wait();
    error = allocate(out, bytes, at);
  }
  // Where it lies on its page depends on its size, and a kernel sees its address.
  if (g_watched && !error) tell("memory of this size", {u32(bytes), u32(bytes >> 32)});
  return error;
}

static int release(void* pointer);

// Memory that PyTorch got back: a GPU's allocator gives it to the next tensor of that size, at once, since it takes all
// work to be on one stream. Here each tensor has memory of its own, so it is asked whether that would have been right.
struct GivenBack {
  size_t bytes;               // in the allocator's units
  const void* stream;         // PyTorch's current one: each has memory of its own
  std::vector<Record> users;  // an access of each kernel that need not have ended when it came back
};
static std::deque<std::shared_ptr<GivenBack>> g_given_back;
static constexpr size_t MOST_GIVEN_BACK = 64, MOST_USERS = 16;

static size_t in_units(size_t bytes) { return (bytes + ALIGNED_WIDE - 1) / ALIGNED_WIDE * ALIGNED_WIDE; }

static void give_back(void* pointer) {
  const Allocation* a = allocation_of(pointer);
  if (!(g_mode & CHECK) || !a || a->recorded || !several_streams()) return in_turn([pointer] { release(pointer); }, false);
  auto given = std::make_shared<GivenBack>(GivenBack{in_units(a->bytes), thread_stream(), {}});
  g_given_back.push_back(given);
  if (g_given_back.size() > MOST_GIVEN_BACK) g_given_back.pop_front();
  in_turn([given, pointer, work = new_work(thread_stream())] {
    const Allocation* a = allocation_of(pointer);
    if (a && a->live && may_overlap(work) && g_global_shadow.write) {
      for (size_t g = a->offset / 4; g <= (a->offset + a->bytes - 1) / 4 && given->users.size() < MOST_USERS; ++g)
        for (const Record* r : {&g_global_shadow.write[g], &g_global_shadow.read[g], &g_global_shadow.other_read[g]}) {
          auto& users = given->users;
          bool known = std::any_of(users.begin(), users.end(), [&](const Record& u) { return u.run == r->run; });
          if (r->access && !known && !done_before(r->run, work)) users.push_back(*r);
        }
    }
    release(pointer);
  }, false);
}

extern "C" void simt_record_stream(const void* pointer) {
  if (Allocation* a = allocation_of(pointer)) a->recorded = true;
}

static void take_again(size_t bytes) {
  if (g_given_back.empty() || !(g_mode & CHECK)) return;
  auto found = std::find_if(g_given_back.rbegin(), g_given_back.rend(), [&](const auto& given) {
    return given->bytes == in_units(bytes) && given->stream == thread_stream();
  });
  if (found == g_given_back.rend()) return;
  auto given = *found;
  g_given_back.erase(std::next(found).base());
  in_turn([given, work = new_work(thread_stream())] {
    for (const Record& user : given->users)
      if (!done_before(user.run, work)) return report_taken_again(given->bytes, user);
  }, false);
}

extern "C" int simt_malloc(void** out, size_t bytes) {
  take_again(bytes);
  return allocate_or_wait(out, bytes, 0);
}

extern "C" int simt_cuda_malloc(void** out, size_t bytes) {
  if (bytes == 0) return *out = nullptr, 0;
  return simt_fail(allocate_or_wait(out, bytes, (size_t)__builtin_return_address(0) - 1));
}

// Memory that both sides read and write. What the host stores in it is not seen, so all of it counts as written.
extern "C" int simt_malloc_for_both(void** out, size_t bytes, int kind) {
  size_t at = kind == 2 ? (size_t)__builtin_return_address(0) - 1 : 0;
  if (bytes == 0) return *out = nullptr, 0;
  if (int error = allocate_or_wait(out, bytes, at)) return simt_fail(error);
  memset(*out, 0, bytes);
  mark_initialised(arena_offset(*out), bytes);
  allocation_at(arena_offset(*out))->for_both = kind;
  return 0;
}

static void release(Allocation* a) {
  a->live = false;
  permit(a->offset, a->bytes, PROT_NONE);
  madvise(g_arena + a->slot, a->slot_bytes, MADV_DONTNEED);
  madvise(g_defined + a->slot / 4, a->slot_bytes / 4, MADV_DONTNEED);
  forget_shadow(a->slot, a->slot_bytes);
  forget_host_code((size_t)g_arena + a->slot, a->slot_bytes);
  g_free_slots[a->slot_bytes].push_back(a->slot);
}

void simt::release_area(size_t offset) { release(slot_at(offset)); }

static int release(void* pointer) {
  std::lock_guard<std::recursive_mutex> guard(g_memory_lock);
  Allocation* a = allocation_of(pointer);
  if (!a || a->heap || !a->live || a->offset != arena_offset(pointer)) return INVALID_VALUE;
  release(a);
  count_memory(-long(a->bytes));
  return 0;
}

// As torch's allocator does it: kernels that are queued may still use the memory.
extern "C" int simt_free(void* pointer) {
  if (pointer) give_back(pointer);
  return 0;
}

// cudaFree waits for the device.
extern "C" int simt_cuda_free(void* pointer) {
  if (int fault = simt_synchronize()) return fault;
  simt_host_waits_for_all();
  heap_from_host(pointer, NO_ACCESS, (size_t)__builtin_return_address(0) - 1);
  return pointer ? simt_fail(release(pointer)) : 0;
}

// cudaFreeAsync waits for its stream.
extern "C" int simt_cuda_free_on(void* pointer, const void* stream) {
  Work work = new_work(stream);
  if (int fault = simt_synchronize()) return fault;
  size_t here = (size_t)__builtin_return_address(0) - 1;
  heap_from_host(pointer, NO_ACCESS, here);
  if (const Allocation* a = allocation_of(pointer)) check_other_streams(work, "cudaFreeAsync", here, pointer, a->bytes, WRITE);
  return pointer ? simt_fail(release(pointer)) : 0;
}

extern "C" void simt_mark_initialised(const void* pointer, size_t bytes) {
  simt_wait();
  if (!bytes || !g_arena || !in_arena(pointer)) return;
  mark_initialised(arena_offset(pointer), bytes);
  forget_shadow(arena_offset(pointer), bytes);  // the host wrote it: no thread owns it any more
}

// It was reported that nobody wrote some of these bytes. That is said once; who wrote the others is still known.
extern "C" SIMT_EXPORT void simt_excuse_unwritten(const void* pointer, size_t bytes) {
  if (bytes && g_arena && in_arena(pointer)) mark_initialised(arena_offset(pointer), bytes);
}

static const std::pair<size_t, bool>* told_variable(const void* pointer);

static bool device_range_is_valid(const void* pointer, size_t bytes) {
  if (const auto* variable = told_variable(pointer)) return (size_t)pointer + bytes <= variable->first;
  if (!g_arena || !in_arena(pointer)) return true;  // host memory is the host's own business
  size_t offset = arena_offset(pointer);
  Allocation* a = allocation_at(offset);
  return a && a->live && offset >= a->offset && offset + bytes <= a->offset + a->bytes;
}

extern "C" int simt_is_for_both(const void* pointer) {
  const Allocation* a = allocation_of(pointer);
  return a && a->live ? a->for_both : 0;
}

// __device__ and __constant__ variables whose address the host has asked for, and where modules have their __managed__
// ones: copies and fills take them as any memory of the device.
static std::map<size_t, std::pair<size_t, bool>> g_told_variables;  // by where it begins: its end, and whether it is managed

static const std::pair<size_t, bool>* told_variable(const void* pointer) {
  std::lock_guard<std::recursive_mutex> guard(g_memory_lock);
  auto after = g_told_variables.upper_bound((size_t)pointer);
  if (after == g_told_variables.begin()) return nullptr;
  const auto& last = std::prev(after)->second;
  return (size_t)pointer < last.first ? &last : nullptr;
}

extern "C" void simt_tell_variable(const void* begin, size_t bytes, int managed) {
  std::lock_guard<std::recursive_mutex> guard(g_memory_lock);
  if (!told_variable(begin)) g_told_variables[(size_t)begin] = {(size_t)begin + bytes, managed != 0};
}

extern "C" int simt_variable_kind(const void* pointer) {
  const auto* variable = told_variable(pointer);
  return variable ? 1 + variable->second : 0;
}

static bool may_be(const void* pointer, bool on_device) {
  if (const auto* variable = told_variable(pointer)) return on_device || variable->second;
  return simt_is_for_both(pointer) || on_device == (simt_is_device_pointer(pointer) != 0);
}

// How many of the bytes [pointer, pointer + bytes) nothing has written; *first gets the first one's offset.
extern "C" SIMT_EXPORT size_t simt_undefined_bytes(const void* pointer, size_t bytes, size_t* first) {
  if (!simt_is_device_pointer(pointer)) return 0;
  simt_wait();
  size_t offset = arena_offset(pointer), undefined = 0;
  for (size_t i = 0; i < bytes; ++i) {
    size_t at = offset + i;
    if (!(at & 3) && bytes - i >= 4 && g_defined[at / 4] == 15) {
      i += 3;
      continue;
    }
    if (g_defined[at / 4] >> (at & 3) & 1) continue;
    if (!undefined++) *first = i;
  }
  return undefined;
}

// What nothing has written is still unwritten in the copy. The two may overlap.
static void copy_definedness(size_t to, size_t from, size_t bytes) {
  std::vector<bool> defined(bytes);
  for (size_t i = 0; i < bytes; ++i) defined[i] = is_initialised(from + i, 1);
  simt_mark_initialised(g_arena + to, bytes);
  for (size_t i = 0; i < bytes; ++i)
    if (!defined[i]) g_defined[(to + i) / 4] &= u8(~(1 << ((to + i) & 3)));
  if (Allocation* a = allocation_at(to)) a->complete = false;
}

static void copied_code(void* to, const void* from, size_t bytes, size_t pc) {
  if (in_arena(to)) host_code_copied(to, from, bytes, pc);
  else if (in_arena(from) || told_variable(from)) device_tells(from, bytes);
}

// The host went on at once, and a GPU may make the copy as late as when the host waits: until then pinned memory that is
// read must stay as it is, and what is written is not there yet.
static void use_until_waited(void* to, const void* from, size_t bytes, size_t pc) {
  static constexpr size_t MOST = 16 << 20;
  auto when_waited = [](const void* pointer, auto use) {
    const Allocation* now = allocation_of(pointer);
    if (!now || !now->live || !now->for_both) return;
    in_turn([use, pointer, serial = now->serial] {
      Allocation* a = allocation_of(pointer);
      if (a && a->live && a->serial == serial) use(*a);
    }, true);
  };
  if (simt_is_for_both(to)) {
    ++allocation_of(to)->copied_to;
    when_waited(to, [](Allocation& a) { --a.copied_to; });
  }
  if (simt_is_for_both(from) && bytes <= MOST) {
    auto copy = std::make_shared<std::vector<char>>((const char*)from, (const char*)from + bytes);
    when_waited(from, [=](Allocation&) {
      size_t first = 0;
      while (first < bytes && ((const char*)from)[first] == (*copy)[first]) ++first;
      if (first < bytes) report_host("copy-source-race", pc, (const char*)from + first, 1, READ);
    });
  }
}

extern "C" int simt_copy(void* to, const void* from, size_t bytes, int kind) {
  static constexpr bool TO_DEVICE[] = {false, true, false, true}, FROM_DEVICE[] = {false, false, true, true};
  const CopyCall call = copy_call();
  Work work = new_work(call.stream);
  if (kind < 0 || kind > 4) return INVALID_VALUE;
  if (!bytes) return simt_synchronize();
  bool directions_fit = kind == 4 || (may_be(to, TO_DEVICE[kind]) && may_be(from, FROM_DEVICE[kind]));
  const size_t here = call.node_from ? call.node_from : (size_t)__builtin_return_address(0) - 1;
  if (heap_from_host(to, WRITE, here) || heap_from_host(from, READ, here)) return INVALID_VALUE;
  if (!directions_fit || !device_range_is_valid(to, bytes) || !device_range_is_valid(from, bytes))
    return INVALID_VALUE;
  if (int fault = simt_synchronize()) return fault;
  check_other_streams(work, "a copy", here, from, bytes, READ);
  check_other_streams(work, "a copy", here, to, bytes, WRITE);
  if (!call.stream && !call.node_from) simt_host_waits_for_stream(nullptr);
  if (told_variable(to)) simt_symbol_written(to, from, bytes);
  else if (g_mode & CHECK) copied_code(to, from, bytes, here);
  memmove(to, from, bytes);
  bool to_device = simt_is_device_pointer(to) && !simt_is_for_both(to);
  size_t first = 0, missing = g_mode & CHECK ? simt_undefined_bytes(from, bytes, &first) : 0;
  if (missing && to_device) {
    copy_definedness(arena_offset(to), arena_offset(from), bytes);
  } else {
    if (missing) report_unwritten_copy(here, (const char*)from + first, missing, bytes);
    simt_mark_initialised(to, bytes);
  }
  if (g_watched) note_host_copy(to, from, bytes);
  if (call.asynchronous && (g_mode & CHECK)) use_until_waited(to, from, bytes, here);
  return 0;
}

// What nothing on the device follows yet may still need the old value, unless it is the new one as well.
extern "C" void simt_symbol_changes(const void* to, const void* from, size_t bytes) {
  const CopyCall call = copy_call();
  Work work = call.asynchronous ? new_work(call.stream) : new_work_on_default();
  const size_t here = call.node_from ? call.node_from : (size_t)__builtin_return_address(0) - 1;
  simt_wait();
  if (memcmp(to, from, bytes)) check_other_streams(work, "a copy", here, to, bytes, WRITE);
}

extern "C" int simt_fill(void* to, unsigned value, size_t bytes, unsigned element) {
  const CopyCall call = copy_call();
  Work work = new_work(call.stream);
  const size_t here = call.node_from ? call.node_from : (size_t)__builtin_return_address(0) - 1;
  if (!bytes) return 0;
  if (heap_from_host(to, WRITE, here)) return INVALID_VALUE;
  const bool variable = told_variable(to) != nullptr;
  if ((!variable && !simt_is_device_pointer(to)) || !device_range_is_valid(to, bytes)) return INVALID_VALUE;
  simt_wait();
  check_other_streams(work, "a fill", here, to, bytes, WRITE);
  forget_host_code((size_t)to, bytes);
  if (element == 1) memset(to, int(value), bytes);
  else
    for (size_t i = 0; i < bytes; i += element) memcpy((char*)to + i, &value, element);
  simt_mark_initialised(to, bytes);
  if (g_watched && variable) simt_symbol_written(to, to, bytes);
  else if (g_watched) note_fill(to, value, bytes);
  return 0;
}

extern "C" int simt_is_allocated(const void* pointer, size_t bytes) {
  if (!in_arena(pointer)) return 0;
  size_t offset = arena_offset(pointer);
  const Allocation* a = allocation_at(offset);
  return a && a->live && offset >= a->offset && offset + bytes <= a->offset + a->bytes;
}
extern "C" int simt_is_device_pointer(const void* pointer) { return g_arena && in_arena(pointer); }

extern "C" void simt_label(const void* pointer, const char* description, int element_bytes) {
  if (!simt_is_device_pointer(pointer)) return;
  if (Allocation* a = allocation_at(arena_offset(pointer))) {
    a->label = description;
    a->element_bytes = element_bytes;
  }
}

extern "C" size_t simt_memory(int peak) {
  if (simt_in_kernel()) return 0;  // the host says nothing to a kernel by what it frees
  return peak ? g_peak_bytes : g_live_bytes;
}

extern "C" SIMT_EXPORT void simt_reset_peak_memory() { g_peak_bytes = g_live_bytes; }
