#include "origins.h"

#include "host_code.h"
#include "json.h"
#include "memory.h"
#include "queue.h"
#include "transcript.h"
#include "unseen.h"
#include "worker.h"

#include <sys/mman.h>

#include <mutex>
#include <set>
#include <sstream>

namespace simt {

static constexpr size_t MOST_WRITERS = 200;
static constexpr size_t FEW_BYTES = 64;    // a fill of so few is a value of its own
static constexpr size_t FEW_WORDS = 256;  // that launches bring as arguments without being asked about

bool g_watched = false;
u8* g_origin = nullptr;
char* g_mirror = nullptr;
static std::vector<std::string> g_writers;
static std::vector<size_t> g_read;  // bytes of each that kernels read
static std::set<std::string> g_moving, g_products;
static std::set<std::vector<int64_t>> g_prepared;
static std::set<u32> g_words;
static std::recursive_mutex g_lock;
static std::string g_said;

static u8 writer(const std::string& name) {
  for (size_t i = 0; i < g_writers.size(); ++i)
    if (g_writers[i] == name) return u8(FOREIGN + i);
  if (g_writers.size() < MOST_WRITERS) g_writers.push_back(name), g_read.push_back(0);
  return u8(FOREIGN + g_writers.size() - 1);
}

static u8 the_host() { return FOREIGN; }  // the first of g_writers

// The mirror is right for all but what kernels of the running launch wrote. `holds`: what was read there.
static u8 origin_of(size_t at, char holds) {
  u8 o = g_origin[at];
  if (o == WRITTEN_NOW || o == COUNTED) return o;
  if (o == ABSENT) return g_defined[at / 4] >> (at & 3) & 1 ? the_host() : u8(ABSENT);
  return holds == g_mirror[at] ? o : the_host();
}

static u8 origin_of(size_t at) { return origin_of(at, g_arena[at]); }

static void set_origin(size_t at, size_t bytes, u8 origin) {
  memset(g_origin + at, origin, bytes);
  memcpy(g_mirror + at, g_arena + at, bytes);
}

// What nothing has written yet is nobody's: that it is read is reported elsewhere.
void note_kernel_access(size_t offset, unsigned size, Access access) {
  OwnReading own(g_arena + offset, size);
  for (size_t at = offset; at < offset + size; ++at) {
    if (access != WRITE) {
      u8 o = origin_of(at);
      if (o >= FOREIGN) {
        if (g_origin[at] != o)
          note_unasked(g_arena + at);
        else if (o != the_host())
          note_torch_read(g_writers[o - FOREIGN]);
        ++g_read[o - FOREIGN];
      }
      if (o >= FOREIGN || o == ABSENT) g_origin[at] = COUNTED;
    }
    if (access != READ) g_origin[at] = WRITTEN_NOW;
  }
}

void note_kernel_access_to_variable(const Module* m, size_t address, unsigned size, Access access) {
  size_t changed = note_variable_access(m, address, size, access);
  g_read[the_host() - FOREIGN] += changed;
  for (size_t i = 0; changed && i < size; ++i) note_unasked((const void*)(address + i));
}

void settle_kernel_writes() {
  settle_variables();
  g_read[the_host() - FOREIGN] += note_constants();  // what the host changed while the launch waited
  for (auto& a : g_allocations) {
    if (!a.live) continue;
    size_t end = a.offset + a.bytes;
    for (size_t at = a.offset; at < end;) {
      if (at + 8 <= end) {  // most words are all of one kind
        u64 eight = word_at<u64>(g_origin + at);
        if (eight == WRITTEN_NOW * EACH_BYTE<u64>) {
          memset(g_origin + at, KERNEL, 8);
          memcpy(g_mirror + at, g_arena + at, 8);
        }
        if (eight == WRITTEN_NOW * EACH_BYTE<u64> || !has_byte(eight, WRITTEN_NOW)) {
          at += 8;
          continue;
        }
      }
      if (g_origin[at] == WRITTEN_NOW) g_origin[at] = KERNEL, g_mirror[at] = g_arena[at];
      ++at;
    }
  }
}

void note_new_memory(size_t offset, size_t bytes) { memset(g_origin + offset, ABSENT, bytes); }

// What a launch brings by value: few words, unless a host loop hands over its results that way.
void note_arguments(const Launch& launch) {
  tell_launch(launch);
  g_read[the_host() - FOREIGN] += note_constants();  // as if kernels read all of them
  for (size_t at = 0; at + 8 <= launch.context_bytes; at += 8) {
    u64 word;
    memcpy(&word, (const char*)launch.context + at, 8);
    if (in_arena((void*)word)) continue;
    g_words.insert(u32(word));
    g_words.insert(u32(word >> 32));
  }
  for (uint3 shape : {launch.grid, launch.block}) g_words.insert({shape.x, shape.y, shape.z});
}

void note_host_copy(const void* to, const void* from, size_t bytes) {
  if (!bytes || !in_arena(to)) return;
  size_t at = arena_offset(to), source = arena_offset(from);
  if (!in_arena(from)) {
    tell_numbers("numbers that the host copies", to, from, bytes);
    return set_origin(at, bytes, the_host());
  }
  Words words{u32(bytes)};
  add_place(words, to), add_place(words, from);
  tell("a copy on the device", words);
  std::vector<u8> origins(bytes);
  for (size_t i = 0; i < bytes; ++i) origins[i] = origin_of(source + i);
  memcpy(g_origin + at, origins.data(), bytes);
  memcpy(g_mirror + at, g_arena + at, bytes);
}

void note_fill(const void* to, unsigned value, size_t bytes) {
  Words words{u32(bytes), value};
  add_place(words, to);
  tell("a fill", words);
  bool constant = !value || bytes > FEW_BYTES;
  set_origin(arena_offset(to), bytes, constant ? u8(GIVEN) : the_host());
}

// Visits each element of a tensor; of a contiguous one all at once.
template <class Visit>
static void each_element(const char* pointer, size_t element, int dims, const int64_t* sizes, const int64_t* strides,
                         Visit visit) {
  int64_t run = 1;
  while (dims && (strides[dims - 1] == run || sizes[dims - 1] == 1)) run *= sizes[--dims];
  if (!run) return;
  std::vector<int64_t> index(dims, 0);
  for (int d = 0; d < dims; ++d)
    if (!sizes[d]) return;
  for (;;) {
    const char* at = pointer;
    for (int d = 0; d < dims; ++d) at += index[d] * strides[d] * int64_t(element);
    visit(at, size_t(run) * element);
    int d = dims;
    while (d-- > 0 && ++index[d] == sizes[d]) index[d] = 0;
    if (d < 0) return;
  }
}

static std::set<std::string> words(std::istream& in) {
  std::string line;
  std::getline(in, line);
  std::istringstream list(line);
  std::set<std::string> out;
  for (std::string word; list >> word;) out.insert(word);
  return out;
}

}  // namespace simt

using namespace simt;

// `plan`: a line of operators that only move values, a line of products that the task leaves to torch, and a line
// of shapes (sorted, "2,3 5") of what torch may prepare. -1 if there is no room to watch in.
extern "C" SIMT_EXPORT int simt_watch(const char* plan) {
  simt_wait();
  std::lock_guard<std::recursive_mutex> guard(g_lock);
  memory_init();
  if (!g_origin) {
    g_origin = (u8*)try_reserve(g_arena_bytes);
    g_mirror = (char*)try_reserve(g_arena_bytes);
    if (!g_origin || !g_mirror) return -1;
  }
  g_writers.clear(), g_read.clear(), g_words.clear(), g_prepared.clear();
  writer("the host");
  std::istringstream in(plan);
  g_moving = words(in), g_products = words(in);
  for (auto& text : words(in)) {
    std::vector<int64_t> shape;
    std::istringstream numbers(text);
    for (std::string n; std::getline(numbers, n, ',');) shape.push_back(atoll(n.c_str()));
    g_prepared.insert(shape);
  }
  for (auto& a : g_allocations) {
    if (!a.live) continue;
    memcpy(g_mirror + a.offset, g_arena + a.offset, a.bytes);
    for (size_t at = a.offset; at < a.offset + a.bytes; ++at)
      g_origin[at] = g_defined[at / 4] >> (at & 3) & 1 ? GIVEN : ABSENT;
  }
  begin_transcript();
  begin_variables();
  g_watched = true;
  return 0;
}

// Ends it; what kernels read that somebody else wrote, as JSON: [["relu", bytes], ...].
extern "C" SIMT_EXPORT const char* simt_watched() {
  simt_wait();
  std::lock_guard<std::recursive_mutex> guard(g_lock);
  g_watched = false;
  Json json;
  json.open('[');
  auto say = [&](const std::string& name, size_t bytes) {
    if (!bytes) return;
    json.open('{');
    json.field("writer", name);
    json.field("bytes", (long long)bytes);
    json.close('}');
  };
  for (size_t i = 0; i < g_writers.size(); ++i) say(g_writers[i], g_read[i]);
  if (g_words.size() > FEW_WORDS) say("arguments of launches", 4 * g_words.size());
  json.close(']');
  g_said = std::move(json.text);
  return g_said.c_str();
}

extern "C" SIMT_EXPORT int simt_is_watched() { return g_watched; }

// The origin of the tensor's least trusted element.
extern "C" SIMT_EXPORT int simt_origin(const void* pointer, size_t element, int dims, const int64_t* sizes,
                                       const int64_t* strides) {
  if (!g_watched || !in_arena(pointer)) return FOREIGN;
  std::lock_guard<std::recursive_mutex> guard(g_lock);
  tell_tensor("what torch reads", pointer, dims, sizes, strides);
  u8 worst = ABSENT;
  each_element((const char*)pointer, element, dims, sizes, strides, [&](const char* at, size_t bytes) {
    size_t begin = arena_offset(at);
    for (size_t i = begin; i < begin + bytes; ++i) {
      u8 o = origin_of(i);
      worst = std::max(worst, o == COUNTED ? the_host() : o == WRITTEN_NOW ? u8(KERNEL) : o);
    }
  });
  return worst;
}

// An operator of torch wrote this tensor. `worst`: of what it read; `from_host`: a tensor of the CPU was among
// that; `single`: it was given a plain number to write.
extern "C" SIMT_EXPORT void simt_operator_wrote(const char* name, int worst, int from_host, int single,
                                                const void* pointer, size_t element, int dims, const int64_t* sizes,
                                                const int64_t* strides) {
  if (!g_watched || !in_arena(pointer)) return;
  std::lock_guard<std::recursive_mutex> guard(g_lock);
  std::string plain = name;
  if (size_t cut = plain.rfind(':'); cut != std::string::npos) plain = plain.substr(cut + 1);
  std::vector<int64_t> shape(sizes, sizes + dims);
  std::sort(shape.begin(), shape.end());
  size_t bytes = element;
  for (auto n : shape) bytes *= size_t(n);
  u8 origin;
  if (from_host)
    origin = std::max(u8(worst), the_host());
  else if (g_moving.count(plain))
    origin = single && bytes <= FEW_BYTES ? std::max(u8(worst), the_host()) : u8(worst);
  else if (g_products.count(plain) && worst < FOREIGN)
    origin = PRODUCT;
  else
    origin = worst <= GIVEN && g_prepared.count(shape) ? u8(GIVEN) : writer(plain);
  tell_tensor("torch's " + plain, pointer, dims, sizes, strides);
  std::string content;
  each_element((const char*)pointer, element, dims, sizes, strides, [&](const char* at, size_t n) {
    set_origin(arena_offset(at), n, origin);
    if (origin >= FOREIGN) content.append(at, n);
  });
  if (from_host || origin == the_host())
    tell_numbers("numbers that the host copies", pointer, content.data(), content.size());
  else if (origin >= FOREIGN)
    tell_numbers(NUMBERS_OF + g_writers[origin - FOREIGN], pointer, content.data(), content.size(), true);
}

extern "C" SIMT_EXPORT void simt_host_wrote(const void* to, const void* from, size_t bytes) {
  if (!g_watched) return;
  std::lock_guard<std::recursive_mutex> guard(g_lock);
  note_host_copy(to, from, bytes);
}

// A number, or several, that an operator of torch was given.
extern "C" SIMT_EXPORT void simt_operator_given(const void* numbers, size_t bytes) {
  if (g_watched) tell_numbers("a number given to torch", nullptr, numbers, bytes);
}

// A __constant__ or __device__ variable gets these bytes.
extern "C" void simt_symbol_written(const void* to, const void* from, size_t bytes) {
  if (g_mode & CHECK) host_code_copied(to, from, bytes, (size_t)to);
  if (!g_watched) return;
  std::lock_guard<std::recursive_mutex> guard(g_lock);
  note_variable_write(to, from, bytes);
  if (!in_arena(from)) {
    tell_numbers("numbers that the host copies to a variable", to, from, bytes);
    g_read[the_host() - FOREIGN] += bytes;
    return;
  }
  Words words{u32(bytes)};
  add_place(words, to), add_place(words, from);
  tell("a copy to a variable", words);
  for (size_t at = arena_offset(from), end = at + bytes; at < end; ++at)
    if (u8 o = origin_of(at); o >= FOREIGN) ++g_read[o - FOREIGN];
}

// Copies of results, in pages of their own. They are read long after the call, by somebody who looks at nothing else.
static std::vector<std::pair<void*, size_t>> g_taken;

extern "C" SIMT_EXPORT void simt_give_back_taken() {
  std::lock_guard<std::recursive_mutex> guard(g_lock);
  for (auto& [pages, bytes] : g_taken) munmap(pages, bytes);
  g_taken.clear();
}

// A copy of a tensor's elements, in row-major order, in pages that nobody can write until they are given back; null
// if there is no room. *found: how many of them hold anything else than what a kernel of the watched call left there,
// also by way of operators that only move values; *first gets the number of the first. It is the copy that is judged:
// what the host writes to device memory afterwards changes neither.
extern "C" SIMT_EXPORT const void* simt_take(const void* pointer, size_t element, int dims, const int64_t* sizes,
                                             const int64_t* strides, size_t* found, size_t* first) {
  simt_wait();
  std::lock_guard<std::recursive_mutex> guard(g_lock);
  size_t bytes = element;
  for (int d = 0; d < dims; ++d) bytes *= size_t(sizes[d]);
  bytes = std::max<size_t>(bytes, 1);
  void* pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) return nullptr;
  g_taken.push_back({pages, bytes});
  char* to = (char*)pages;
  size_t number = 0;
  *found = 0;
  each_element((const char*)pointer, element, dims, sizes, strides, [&](const char* at, size_t run) {
    bool known = g_origin && in_arena(at);
    memcpy(to, at, run);
    for (size_t begin = 0; begin < run; begin += element, ++number) {
      bool good = known;
      for (size_t i = begin; good && i < begin + element; ++i) good = origin_of(arena_offset(at) + i, to[i]) == KERNEL;
      if (!good && !(*found)++) *first = number;
    }
    to += run;
  });
  mprotect(pages, bytes, PROT_READ);
  return pages;
}
