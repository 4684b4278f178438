#include "host_code.h"

#include "findings.h"

#include <cstring>
#include <link.h>
#include <map>
#include <mutex>
#include <set>

namespace simt {

std::atomic<size_t> g_host_code{0};
static std::mutex g_code_lock;
static std::set<size_t> g_of_device;          // addresses of code that the host has got from the device
static std::map<size_t, const char*> g_places_of_code;  // where in device memory the host's are, and what they are

static constexpr char A_FUNCTION[] = "function", A_TABLE[] = "table";
static constexpr size_t MOST_CODE_BYTES = 64 << 10;  // that are looked at: objects and tables of functions are small

// In any of the libraries that are loaded: a function of libm is one, too.
static bool is_function_at(size_t word) {
  if (word >> 47 || word >> 40 == 0) return false;  // no address, or none where libraries are
  return dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* word) {
        for (int k = 0; k < info->dlpi_phnum; ++k) {
          auto& segment = info->dlpi_phdr[k];
          size_t offset = *(size_t*)word - info->dlpi_addr - segment.p_vaddr;
          if (segment.p_type == PT_LOAD && segment.p_flags & PF_X && offset < segment.p_memsz) return 1;
        }
        return 0;
      },
      &word);
}

static const char* code_at(size_t word) {
  for (const Module* m : all_modules())
    if (word - m->base < m->end - m->base)
      for (auto [begin, end] : m->tables)
        if (word - m->base - begin < end - begin) return A_TABLE;
  return is_function_at(word) ? A_FUNCTION : nullptr;
}

// Calls `visit(address, kind)` for each word of these bytes that is an address of code which the device has not told.
template <class Visit>
static void each_host_word(const void* bytes, size_t size, Visit visit) {
  for (size_t at = ((size_t)bytes + 7) & ~size_t(7); at + 8 <= (size_t)bytes + std::min(size, MOST_CODE_BYTES); at += 8) {
    size_t word;
    memcpy(&word, (const void*)at, 8);
    if (word >> 47 || word >> 40 == 0 || g_of_device.count(word)) continue;
    if (const char* kind = code_at(word)) visit(at, kind);
  }
}

void device_tells(const void* bytes, size_t size) {
  std::lock_guard<std::mutex> guard(g_code_lock);
  each_host_word(bytes, size, [](size_t at, const char*) { g_of_device.insert(*(const size_t*)at); });
}

static void mark_code(size_t address, const char* kind) {
  g_places_of_code[address] = kind;
  g_host_code = g_places_of_code.size();
}

void forget_host_code(size_t address, size_t bytes) {
  if (!g_host_code) return;
  std::lock_guard<std::mutex> guard(g_code_lock);
  g_places_of_code.erase(g_places_of_code.lower_bound(address & ~size_t(7)), g_places_of_code.lower_bound(address + bytes));
  g_host_code = g_places_of_code.size();
}

void host_code_copied(const void* to, const void* from, size_t bytes, size_t pc) {
  module_at(pc);  // its tables are known from here on
  forget_host_code((size_t)to, bytes);
  std::lock_guard<std::mutex> guard(g_code_lock);
  if (((size_t)to - (size_t)from) % 8) return;
  if (in_arena(from)) {
    auto begin = g_places_of_code.lower_bound((size_t)from), end = g_places_of_code.lower_bound((size_t)from + bytes);
    std::vector<std::pair<size_t, const char*>> found(begin, end);
    for (auto [at, kind] : found) mark_code(at - (size_t)from + (size_t)to, kind);
  } else {
    each_host_word(from, bytes, [&](size_t at, const char* kind) { mark_code(at - (size_t)from + (size_t)to, kind); });
  }
}

void host_object(const void* place, size_t pc) {
  if (!in_arena(place)) return;
  module_at(pc);
  std::lock_guard<std::mutex> guard(g_code_lock);
  mark_code((size_t)place, A_TABLE);
}

void use_host_code(Worker* w, size_t address, unsigned size, Access access, size_t pc) {
  if (access == WRITE) return forget_host_code(address, size);
  const char* kind = nullptr;
  {
    std::lock_guard<std::mutex> guard(g_code_lock);
    // A read of the word as such: whole objects are copied with what lies between their members.
    auto it = size == sizeof(void*) ? g_places_of_code.find(address) : g_places_of_code.end();
    if (it != g_places_of_code.end()) kind = it->second;
  }
  if (kind) report(w, "host-code", pc, {.detail = kind, .address = (void*)address, .size = size, .access = access});
}

}  // namespace simt

using namespace simt;

// What the argument of a launch holds; nullptr where it may go to a kernel.
extern "C" const char* simt_host_code_in(const void* argument, size_t bytes) {
  module_at((size_t)__builtin_return_address(0));
  std::lock_guard<std::mutex> guard(g_code_lock);
  const char* found = nullptr;
  each_host_word(argument, bytes, [&](size_t, const char* kind) { found = found ? found : kind; });
  return found;
}

extern "C" void simt_device_tells(const void* bytes, size_t size) { device_tells(bytes, size); }
