// __device__ and __constant__ variables in a call that is watched: what the host changes there by itself, without
// being asked, is found by comparing with what they held when the call began or a kernel or a copy last wrote.
#include "origins.h"

#include "modules.h"

namespace simt {

struct SeenVariables {
  std::vector<char> held;  // from where the module may write
  std::vector<char> constants;  // tables, texts and code: nobody writes there who has not made them writable
  std::vector<u8> written;  // by the launch that runs
  bool any_written = false;
};

static std::vector<std::pair<Module*, SeenVariables>> g_seen;

template <class Visit>
static void each_variable(const Module* m, Visit visit) {
  for (auto& v : m->variables)
    if (m->base + v.begin >= m->writable && m->base + v.end <= m->end) visit(m->base + v.begin, v.end - v.begin);
}

static SeenVariables* seen_of(const Module* m) {
  for (auto& [module, seen] : g_seen)
    if (module == m) return &seen;
  return nullptr;
}

void begin_variables() {
  g_seen.clear();
  for (Module* m : all_modules()) {
    if (m->writable >= m->end) continue;
    SeenVariables seen;
    seen.held.resize(m->end - m->writable), seen.written.resize(m->end - m->writable);
    for (auto [begin, end] : m->constants) seen.constants.insert(seen.constants.end(), (char*)begin, (char*)end);
    each_variable(m, [&](size_t at, size_t bytes) { memcpy(&seen.held[at - m->writable], (void*)at, bytes); });
    g_seen.emplace_back(m, std::move(seen));
  }
}

void note_variable_write(const void* to, const void* from, size_t bytes) {
  for (auto& [m, seen] : g_seen)
    if ((size_t)to >= m->writable && (size_t)to + bytes <= m->end)
      memcpy(&seen.held[(size_t)to - m->writable], from, bytes);
}

// How many bytes of tables, texts and code have changed since the call began, or this was asked last.
size_t note_constants() {
  size_t changed = 0;
  for (auto& [m, seen] : g_seen) {
    char* held = seen.constants.data();
    for (auto [begin, end] : m->constants) {
      const char* now = (const char*)begin;
      size_t bytes = end - begin;
      if (memcmp(held, now, bytes)) {
        for (size_t i = 0; i < bytes; ++i) changed += held[i] != now[i];
        memcpy(held, now, bytes);
      }
      held += bytes;
    }
  }
  return changed;
}

// How many of these bytes the host changed; a kernel is about to access them.
size_t note_variable_access(const Module* m, size_t address, unsigned size, Access access) {
  SeenVariables* seen = address >= m->writable ? seen_of(m) : nullptr;
  size_t changed = 0, at = address - m->writable;
  for (size_t i = at; seen && i < at + size; ++i) {
    if (access != WRITE && !seen->written[i] && *(char*)(m->writable + i) != seen->held[i]) {
      seen->held[i] = *(char*)(m->writable + i);
      ++changed;
    }
    if (access != READ) seen->written[i] = seen->any_written = true;
  }
  return changed;
}

void settle_variables() {
  for (auto& one : g_seen) {
    Module* m = one.first;
    auto& seen = one.second;
    if (!seen.any_written) continue;
    each_variable(m, [&](size_t address, size_t bytes) {
      for (size_t i = address - m->writable, end = i + bytes; i < end; ++i)
        if (seen.written[i]) seen.held[i] = *(char*)(m->writable + i);
    });
    std::fill(seen.written.begin(), seen.written.end(), 0);
    seen.any_written = false;
  }
}

}  // namespace simt
