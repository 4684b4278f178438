// What -fsanitize=bounds, signed-integer-overflow and return make the compiler call: an index that is not in its
// array, int arithmetic that does not fit, the end of a function that is to return a value. The structures are
// those of the compilers' call-outs.
#include "findings.h"

namespace simt {

struct Place {
  const char* file;
  u32 line, column;
};
struct Type {
  u16 kind, info;  // of an integer: bit 0 says signed, the others the logarithm of its bits
  char name[1];    // in quotes, to the terminating zero
};
struct BoundsData {
  Place place;
  const Type *array, *index;
};
struct OverflowData {
  Place place;
  const Type* type;
};

static std::string unquoted(const Type* type) {
  std::string name = type->name;
  return name.size() > 2 && name.front() == '\'' ? name.substr(1, name.size() - 2) : name;
}

static long long value(const Type* type, size_t bits) {
  unsigned width = 1u << (type->info >> 1);
  if (width > 64) return *(const long long*)bits;  // passed by address; the lower half will do
  unsigned shift = 64 - width;
  return type->info & 1 ? (long long)(bits << shift) >> shift : (long long)(bits << shift >> shift);
}

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

struct Source {
  const char* file;
  u32 first_line;
  const char* text;
};
static std::vector<Source> g_sources;  // of all modules: a text lies in the memory of its own

static std::string line_of(const Place& place, const Module* module) {
  for (auto& source : g_sources) {
    bool here = (size_t)source.text >= module->base && (size_t)source.text < module->end;
    if (!here || strcmp(source.file, place.file) || place.line < source.first_line) continue;
    const char* begin = source.text;
    for (u32 skip = place.line - source.first_line; skip && begin; --skip)
      if ((begin = strchr(begin, '\n'))) ++begin;
    if (begin) return std::string(begin, strcspn(begin, "\n"));
  }
  return "";
}

// The array's name in the source, "" where a macro hides it. GCC points at the closing bracket, clang at the start.
static std::string array_at(const Place& place, const Module* module) {
  std::string line = line_of(place, module);
  size_t at = place.column - 1;
  if (at >= line.size()) return "";
  if (line[at] != ']') {
    size_t end = line.find('[', at);
    return end == std::string::npos || line.find_first_of("(;,=+*/ ", at) < end ? "" : line.substr(at, end - at);
  }
  size_t end = at;
  while (line[end] == ']') {  // back over [i][j]
    for (int depth = 0;; --end) {
      depth += (line[end] == ']') - (line[end] == '[');
      if (!depth || !end) break;
    }
    if (!end) return "";
    --end;
  }
  size_t begin = end + 1;
  while (begin && (is_word(line[begin - 1]) || line[begin - 1] == '.')) --begin;
  return line.substr(begin, end + 1 - begin);
}

// The multiplier of a hash, or of a generator of random numbers: there, wrapping around is meant.
static bool has_large_number(const std::string& line) {
  for (size_t i = 0; i < line.size();) {
    size_t begin = i++;
    if (!is_word(line[begin])) continue;
    while (i < line.size() && (is_word(line[i]) || line[i] == '\'')) ++i;
    if (isdigit((unsigned char)line[begin]) && i - begin >= 5) return true;
  }
  return false;
}

static bool is_shared(const Worker* w, const std::string& name) {
  auto& shared = w->launch->shared_variables;
  if (name.empty()) return !shared.empty();  // perhaps
  std::string root = name.substr(0, name.find('.'));
  return std::any_of(shared.begin(), shared.end(), [&](const Symbol* v) { return v->name == root; });
}

static Worker* checking() {
  Worker* w = t_worker;
  return w && w->fibre && w->mode & CHECK ? w : nullptr;
}

static void overflow(const OverflowData* data, const char* operation, size_t left, size_t right, void* here) {
  Worker* w = checking();
  if (!w) return;
  size_t pc = (size_t)here - 1;
  auto& known = w->overflows;  // a hash may overflow in every step: looking these up is cheap
  if (std::find(known.begin(), known.end(), pc) != known.end()) return;
  known.push_back(pc);
  if (has_large_number(line_of(data->place, w->launch->module))) return;
  report(w, "integer-overflow", pc,
         {.name = operation,
          .type = unquoted(data->type),
          .left = value(data->type, left),
          .right = value(data->type, right)});
}

}  // namespace simt

using namespace simt;

extern "C" SIMT_EXPORT int simt_register_source(const char* file, int first_line, const char* text) {
  g_sources.push_back({file, u32(first_line), text});
  return 0;
}

extern "C" SIMT_EXPORT void __ubsan_handle_out_of_bounds(BoundsData* data, size_t index) {
  Worker* w = checking();
  if (!w) return;
  std::string name = array_at(data->place, w->launch->module);
  if (is_shared(w, name)) return;  // its accesses are checked one by one, and tile[0] may be used as all of tile
  report(w, "array-out-of-bounds", (size_t)HERE - 1,
         {.name = name, .type = unquoted(data->array), .left = value(data->index, index)});
  kill_launch(w);  // it would destroy what else is on the stack
}

extern "C" SIMT_EXPORT void __ubsan_handle_add_overflow(OverflowData* data, size_t left, size_t right) {
  overflow(data, "+", left, right, HERE);
}
extern "C" SIMT_EXPORT void __ubsan_handle_sub_overflow(OverflowData* data, size_t left, size_t right) {
  overflow(data, "-", left, right, HERE);
}
extern "C" SIMT_EXPORT void __ubsan_handle_mul_overflow(OverflowData* data, size_t left, size_t right) {
  overflow(data, "*", left, right, HERE);
}
extern "C" SIMT_EXPORT void __ubsan_handle_divrem_overflow(OverflowData* data, size_t left, size_t right) {
  overflow(data, "/", left, right, HERE);
  if (Worker* w = checking()) kill_launch(w);  // the processor would trap
}
extern "C" SIMT_EXPORT void __ubsan_handle_negate_overflow(OverflowData*, size_t) {}

// Behind this call stands the code of another function, often for ever.
extern "C" [[noreturn]] SIMT_EXPORT void __ubsan_handle_missing_return(Place* place) {
  if (Worker* w = t_worker; w && w->fibre) {
    report(w, "missing-return", (size_t)HERE - 1, {});
    kill_launch(w);
  }
  fprintf(stderr, "%s:%u: a function ended without return\n", place->file, place->line);
  abort();
}
