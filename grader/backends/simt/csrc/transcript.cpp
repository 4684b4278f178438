#include "transcript.h"

#include "json.h"
#include "memory.h"
#include "modules.h"
#include "origins.h"
#include "worker.h"

#include <map>
#include <mutex>
#include <set>

namespace simt {

const char* const NUMBERS_OF = "numbers by torch's ";
static constexpr size_t MOST_WORDS = 1 << 16, MOST_NUMBERS = 1 << 10, MOST_BYTES = 1 << 16;
static constexpr u32 MANY = 32;  // words that say one thing: more than may differ from call to call

struct Told {
  std::string what;
  Words words;
  bool by_torch = false;
};

static std::vector<Told> g_told;
static std::vector<std::pair<const u8*, u8>> g_unasked;  // where, and what was there
static std::set<std::string> g_read_of_torch;
static std::set<const Module*> g_launched_from;
static std::map<u64, u32> g_numbers;  // of allocations, by serial
static size_t g_told_words, g_beyond;
static u32 g_beyond_hash;
// What kernels see of the host's memory by a function of the API, and as it was when it was told.
struct Shown {
  const void* object;
  size_t bytes;
  std::string told;
};
static std::vector<Shown> g_shown;
static std::mutex g_transcript_lock;
static std::string g_transcript;

static u32 mixed(u32 hash, u32 word) { return ((hash ^ word) * 0x9e3779b1u) ^ (hash >> 15); }

static u32 number_of(size_t at) {
  Allocation* a = allocation_at(at);
  return a ? g_numbers.try_emplace(a->serial, u32(g_numbers.size() + 1)).first->second : 0;
}

void add_place(Words& words, const void* place) {
  if (!in_arena(place)) {
    words.push_back(u32((size_t)place)), words.push_back(u32((size_t)place >> 32));
    return;
  }
  size_t at = arena_offset(place);
  Allocation* a = allocation_at(at);
  words.push_back(number_of(at));
  words.push_back(u32(at - (a ? a->offset : 0)));
}

// Bytes as words; what is an address in device memory is told as a place.
static Words content(const char* from, size_t bytes) {
  Words words;
  for (size_t i = 0; i < bytes;) {
    u64 word = 0;
    size_t n = std::min<size_t>(8, bytes - i);
    memcpy(&word, from + i, n);
    add_place(words, (const void*)word);
    if (n <= 4) words.pop_back();
    i += n;
  }
  return words;
}

static void forget_what_was_told() {
  g_told.clear(), g_unasked.clear(), g_read_of_torch.clear(), g_launched_from.clear(), g_numbers.clear();
  g_told_words = g_beyond = 0, g_beyond_hash = 0;
}

void begin_transcript() {
  std::lock_guard<std::mutex> guard(g_transcript_lock);
  forget_what_was_told();
}

static void tell_locked(const std::string& what, const Words& words, bool by_torch = false) {
  if (g_told_words > MOST_WORDS) {
    ++g_beyond;
    for (char c : what) g_beyond_hash = mixed(g_beyond_hash, u8(c));
    for (u32 word : words) g_beyond_hash = mixed(g_beyond_hash, word);
    return;
  }
  g_told_words += words.size() + 1;
  g_told.push_back({what, words, by_torch});
}

void tell(const std::string& what, const Words& words) {
  std::lock_guard<std::mutex> guard(g_transcript_lock);
  tell_locked(what, words);
}

static Words many(u32 hash) {
  Words words(MANY);
  for (u32 i = 0; i < MANY; ++i) words[i] = mixed(hash, i);
  return words;
}

// Looked at before each launch, for a handle is an address, by which the host can write there, too.
static void tell_shown() {
  for (Shown& one : g_shown) {
    if (one.told.size() == one.bytes && !memcmp(one.told.data(), one.object, one.bytes)) continue;
    one.told.assign((const char*)one.object, one.bytes);
    tell_locked("a description of a texture, or a limit", content(one.told.data(), one.bytes));
  }
}

void tell_launch(const Launch& launch) {
  std::lock_guard<std::mutex> guard(g_transcript_lock);
  tell_shown();
  // Numbers can be built into a module, too.
  if (launch.module && g_launched_from.insert(launch.module).second)
    tell_locked("the module of " + launch.base_name, many(launch.module->file_hash));
  Words words;
  for (uint3 shape : {launch.grid, launch.block}) words.insert(words.end(), {shape.x, shape.y, shape.z});
  words.push_back(u32(launch.shared_bytes));
  // A kernel can ask for these, too.
  words.insert(words.end(), {launch.cluster.x, launch.cluster.y, launch.cluster.z, u32(launch.cooperative)});
  Words arguments = content((const char*)launch.context, launch.context_bytes);
  words.insert(words.end(), arguments.begin(), arguments.end());
  tell_locked("a launch of " + launch.base_name, words);
}

// Many numbers are told by a hash of every few of them.
void tell_numbers(const std::string& what, const void* to, const void* from, size_t bytes, bool by_torch) {
  std::lock_guard<std::mutex> guard(g_transcript_lock);
  Words words, numbers = content((const char*)from, bytes);
  add_place(words, to);
  words.push_back(u32(bytes));
  size_t each = (numbers.size() + MOST_NUMBERS - 1) / MOST_NUMBERS;
  for (size_t i = 0; i < numbers.size(); i += each) {
    u32 word = numbers[i];
    for (size_t j = i + 1; j < std::min(numbers.size(), i + each); ++j) word = mixed(word, numbers[j]);
    words.push_back(word);
  }
  tell_locked(what, words, by_torch);
}

void tell_tensor(const std::string& what, const void* pointer, int dims, const int64_t* sizes,
                 const int64_t* strides) {
  std::lock_guard<std::mutex> guard(g_transcript_lock);
  Words words;
  add_place(words, pointer);
  for (int d = 0; d < dims; ++d) words.push_back(u32(sizes[d])), words.push_back(u32(strides[d]));
  tell_locked(what, words);
}

void note_torch_read(const std::string& who) {
  std::lock_guard<std::mutex> guard(g_transcript_lock);
  g_read_of_torch.insert(NUMBERS_OF + who);
}

void note_unasked(const void* at) {
  std::lock_guard<std::mutex> guard(g_transcript_lock);
  if (g_unasked.size() < MOST_BYTES) g_unasked.emplace_back((const u8*)at, *(const u8*)at);
}

// In the order of places, for threads come in any: place and number of each byte.
static void tell_unasked() {
  if (g_unasked.empty()) return;
  std::sort(g_unasked.begin(), g_unasked.end());
  Words words;
  for (auto& [at, value] : g_unasked) add_place(words, at), words.push_back(value);
  g_told.push_back({"numbers that the host writes unasked", words});
}

}  // namespace simt

using namespace simt;

extern "C" void simt_show_kernels(const void* object, size_t bytes) {
  std::lock_guard<std::mutex> guard(g_transcript_lock);
  auto is_it = [=](const Shown& one) { return one.object == object; };
  auto found = std::find_if(g_shown.begin(), g_shown.end(), is_it);
  if (found == g_shown.end() && bytes) g_shown.push_back({object, bytes, ""});
  if (found != g_shown.end() && !bytes) g_shown.erase(found);
}

// Of the last watched call, as JSON: [["a launch of k", [1, 1, ...], false], ...]; true: torch computed it.
extern "C" SIMT_EXPORT const char* simt_transcript() {
  simt_wait();
  std::lock_guard<std::mutex> guard(g_transcript_lock);
  if (g_beyond) g_told.push_back({"what came later", many(mixed(g_beyond_hash, u32(g_beyond)))});
  tell_unasked();
  Json json;
  json.open('[');
  for (auto& one : g_told) {
    if (one.by_torch && !g_read_of_torch.count(one.what)) continue;
    json.open('[').element(one.what).open('[');
    for (u32 word : one.words) json.element((long long)word);
    json.close(']').element((long long)one.by_torch).close(']');
  }
  json.close(']');
  g_transcript = std::move(json.text);
  forget_what_was_told();
  return g_transcript.c_str();
}
