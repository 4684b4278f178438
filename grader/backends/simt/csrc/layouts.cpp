// What tells a copy of an object from a read of a number is its size, and how the compiler tells of it. So a read
// passes if its unwritten bytes are those that an object of that size, or several in a row, may leave unwritten, and
// all others hold values. Where the type of what lies there is known, by a __shared__ variable's declaration or a kernel's
// argument, they must be bytes that it may leave unwritten. Where it is not (memory that is shared out by casts), a
// member that lies in the padding of another type of the same size is not missed in a copy.
#include "layouts.h"

#include "check.h"
#include "memory.h"
#include "worker.h"

#include <map>

namespace simt {

struct Layout {
  bool as_number, has_unions;
  size_t alignment;
  std::vector<u8> needed;  // for each byte: 0 where it may be unwritten
  bool whole() const { return std::find(needed.begin(), needed.end(), 0) == needed.end(); }
};
static std::map<const void*, Layout> g_layouts;
static std::vector<const Layout*> g_padded;
static std::map<std::string, std::vector<const void*>> g_shared_types;  // by the variables' and functions' names

// The bits or bytes about the memory at `address`; false where there are none.
template <class Global, class Shared>
static bool with_records(Worker* w, size_t address, size_t bytes, Global global, Shared shared) {
  if (in_arena((void*)address)) {
    size_t offset = address - (size_t)g_arena;
    Allocation* a = allocation_at(offset);
    bool inside = a && a->live && offset >= a->offset && offset + bytes <= a->offset + a->bytes;
    return inside && (global(offset), true);
  }
  if (size_t offset = address - w->tls; offset < w->tls_bytes && offset + bytes <= w->tls_bytes)
    return shared(w->static_defined.data() + offset, w->shared->marks, offset), true;
  if (size_t offset = address - (size_t)w->dynamic_shared; offset < w->launch->shared_bytes && offset + bytes <= w->launch->shared_bytes)
    return shared(w->dynamic_defined.data() + offset, w->dynamic->marks, offset), true;
  return false;
}

std::vector<u8> written_bytes(const Worker* w, size_t address, size_t bytes) {
  std::vector<u8> written;
  with_records(
      const_cast<Worker*>(w), address, bytes,
      [&](size_t offset) {
        for (size_t i = 0; i < bytes; ++i) written.push_back(is_initialised(offset + i, 1));
      },
      [&](const u8* defined, u64*, size_t) { written.assign(defined, defined + bytes); });
  return written;
}

static bool fits(const Layout& layout, const std::vector<u8>& written, ToldAs told) {
  auto& needed = layout.needed;
  if (written.size() % needed.size()) return false;
  // A double is more often read than a union of its size. GCC tells of a copy's write first, of a number's last.
  if (told == AS_A_NUMBER && layout.has_unions) return false;
  if (told == AS_A_RANGE && layout.as_number && written.size() == needed.size()) return false;
  bool any = false;  // of the object so far: one of which nothing is written is not there
  for (size_t i = 0; i < written.size(); ++i) {
    size_t at = i % needed.size();
    if (!written[i] && needed[at]) return false;
    any = (at && any) || written[i];
    if (at + 1 == needed.size() && !any) return false;
  }
  return true;
}

// Whether objects of a type, in a row from `offset` bytes before it on, may leave unwritten what is.
static bool may_be(const void* type, size_t offset, const std::vector<u8>& written) {
  auto known = g_layouts.find(type);
  if (known == g_layouts.end()) return true;
  auto& needed = known->second.needed;
  for (size_t i = 0; i < written.size(); ++i)
    if (!written[i] && needed[(offset + i) % needed.size()]) return false;
  return true;
}

// The types that are declared for a shared variable: those of a template may have several.
static std::vector<const void*> shared_types(const Symbol* v) {
  auto types = v ? g_shared_types.find(v->name + "@" + v->owner) : g_shared_types.end();
  return types == g_shared_types.end() ? std::vector<const void*>() : types->second;
}

// The same of the type that is declared for the place.
static bool may_be_here(const Worker* w, size_t address, const std::vector<u8>& written) {
  if (size_t offset = address - w->tls; offset < w->tls_bytes) {
    const Symbol* v = shared_variable_near(w, offset);
    auto types = shared_types(v);
    return types.empty() || std::any_of(types.begin(), types.end(), [&](const void* type) {
      return may_be(type, offset - v->begin, written);
    });
  }
  if (!in_arena((void*)address)) return true;
  for (auto& p : w->launch->pointers)
    if (p.type && address >= (size_t)p.pointer && allocation_of(p.pointer) == allocation_of((void*)address) &&
        !may_be(p.type, address - (size_t)p.pointer, written))
      return false;
  return true;
}

bool reads_padding_alone(const Worker* w, size_t address, size_t bytes, ToldAs told) {
  if (g_padded.empty()) return false;
  std::vector<u8> written = written_bytes(w, address, bytes);
  if (std::find(written.begin(), written.end(), 0) == written.end()) return false;
  auto fitting = [&](const Layout* each) { return fits(*each, written, told); };
  return std::any_of(g_padded.begin(), g_padded.end(), fitting) && may_be_here(w, address, written);
}

bool is_aligned_to_8(const Worker* w, size_t address) {
  if (!w || !w->launch) return false;
  auto to_8 = [](const void* type) {
    auto known = g_layouts.find(type);
    return known != g_layouts.end() && known->second.alignment == 8;
  };
  if (size_t offset = address - w->tls; offset < w->tls_bytes) {
    auto types = shared_types(shared_variable_near(w, offset));
    return std::any_of(types.begin(), types.end(), to_8);
  }
  if (!in_arena((void*)address)) return false;
  return std::any_of(w->launch->pointers.begin(), w->launch->pointers.end(), [&](const auto& p) {
    return p.type && to_8(p.type) && allocation_of(p.pointer) == allocation_of((void*)address);
  });
}

bool are_layouts_known() { return !g_padded.empty(); }

void leave_unwritten(Worker* w, size_t to, const std::vector<u8>& source, const std::vector<u8>& target) {
  if (source.empty() || source.size() != target.size()) return;
  for (size_t i = 0; i < source.size(); ++i) {
    if (source[i] || target[i]) continue;
    with_records(
        w, to + i, 1, [](size_t offset) { g_defined[offset / 4] &= u8(~(1 << (offset & 3))); },
        [](u8* defined, u64* marks, size_t offset) { *defined = 0, marks[offset / 4] = 0; });
  }
}

}  // namespace simt

extern "C" SIMT_EXPORT void simt_tell_layout(const void* type, size_t bytes, size_t alignment, int has_unions,
                                            void (*members)(unsigned char*)) {
  using namespace simt;
  std::vector<u8> needed(bytes);
  members(needed.data());
  Layout& layout = g_layouts[type];
  bool padded_before = !layout.needed.empty() && !layout.whole();
  layout.needed.resize(bytes, 0xff);
  for (size_t i = 0; i < bytes; ++i) layout.needed[i] &= needed[i];
  layout.as_number = bytes <= 16 && !(bytes & (bytes - 1)) && alignment >= std::min<size_t>(bytes, 8);
  layout.has_unions |= has_unions != 0;
  layout.alignment = alignment;
  if (!padded_before && !layout.whole()) g_padded.push_back(&layout);
}

extern "C" SIMT_EXPORT void simt_tell_shared(const char* name, const void* type) {
  simt::g_shared_types[name].push_back(type);
}
