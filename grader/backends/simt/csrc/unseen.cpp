// The checks hear of an access because the compiler calls them before it. An attribute, machine instructions, a
// library's function or an option of the compiler can leave the call out, in more spellings than a list can hold. So
// now and then device and shared memory are made inaccessible while a thread runs. Each access then stops
// at a fault, which is let through, one instruction long, and must be one that a call-out has just told of.
//
// Where and when is drawn, from numbers that a submission cannot know. A look costs up to 50 microseconds an access and
// ends after some dozens of them. Only on x86-64: elsewhere there is no simple way to let one instruction through.
#include "unseen.h"

#include "findings.h"
#include "memory.h"
#include "worker.h"

#include <sys/random.h>

extern "C" char __ehdr_start __attribute__((visibility("hidden")));  // of this library, by the linker
extern "C" char _end __attribute__((visibility("hidden")));

namespace simt {

static constexpr long IN_A_LOOK = 48, IN_A_LAUNCH = 96, IN_A_PROCESS = 3000;  // accesses; then a launch in 16
static constexpr long FAULTS_IN_A_LOOK = 4096;  // whose accesses ever: who waits in a loop may only cause this library's
static constexpr size_t LARGEST = 256ull << 20;  // bytes of an allocation that is taken away
static constexpr int MOST_PLACES = 2, MOST_PAGES = 8, MOST_AREAS = 96, MOST_HEARD = 32;

struct Area {
  size_t begin, end;            // what is looked at
  size_t first_page, last_end;  // the pages that it lies in
};

struct Spot {
  size_t pc, address;
  Access access;
  int thread;
};

// None of it may lie in memory that is taken away: the handler of the fault reads it.
static struct {
  volatile bool on;
  bool spent;
  Area areas[MOST_AREAS];
  int area_count;
  struct {
    size_t begin, bytes;
  } heard[MOST_HEARD];
  unsigned next;
  Spot places[MOST_PLACES];
  int place_count, thread;
  long left, faults_left, in_launch;
} g_look;
static long g_left_in_process = IN_A_PROCESS;
static __thread Quick t_quick_before SIMT_TLS;
static __thread size_t t_open[MOST_PAGES] SIMT_TLS;
static __thread int t_open_count SIMT_TLS;
static bool g_can_look = false;
static struct sigaction g_handler, g_before[2];  // ours, and those of others: Python's, the submission's
static constexpr int SIGNALS[2] = {SIGSEGV, SIGTRAP};

static u64 drawn() {
  static u64 state = 0;
  if (!state && getrandom(&state, sizeof state, GRND_NONBLOCK) != sizeof state) state = (size_t)&state ^ 0x9e3779b97f4a7c15;
  state ^= state << 13;
  state ^= state >> 7;
  return state ^= state << 17;
}

void begin_unseen(const Worker* w) {
  bool look = w->mode && g_can_look && (g_left_in_process > 0 || drawn() % 16 == 0);
  g_look.in_launch = look ? IN_A_LAUNCH : 0;
}

void choose_unseen(Worker* w) {
  w->look_in = -1;
  if (g_look.in_launch <= 0 || drawn() % w->launch->block_count >= 6) return;
  // Turns are as many as threads, or several times that where there are barriers: early and late are as likely.
  u64 most = u64(w->launch->thread_count) * 8, up_to = 1;
  for (u64 doublings = drawn() % 14; doublings && up_to < most; --doublings) up_to *= 2;
  w->look_in = long(drawn() % up_to);
}

static void add_area(const void* pointer, size_t bytes) {
  size_t begin = (size_t)pointer, end = begin + bytes;
  if (bytes && bytes <= LARGEST && g_look.area_count < MOST_AREAS)
    g_look.areas[g_look.area_count++] = {begin, end, begin & ~size_t(4095), (end + 4095) & ~size_t(4095)};
}

static void allow(int access) {
  for (int i = 0; i < g_look.area_count; ++i) {
    const Area& a = g_look.areas[i];
    mprotect((void*)a.first_page, a.last_end - a.first_page, access);
  }
}

void look_for_unseen(Worker* w) {
  if (g_look.on) return;
  g_look.area_count = g_look.place_count = 0;
  g_look.spent = false;
  g_look.left = std::min(IN_A_LOOK, g_look.in_launch);
  g_look.faults_left = FAULTS_IN_A_LOOK;
  for (auto& one : g_look.heard) one = {0, 0};
  for (auto& a : g_allocations)
    if (a.live) add_area(g_arena + a.offset, a.bytes);
  for (auto* v : w->launch->shared_variables) add_area((void*)(w->tls + v->begin), v->end - v->begin);
  add_area(w->dynamic_shared, w->launch->shared_bytes);
  // Everything takes the long way, which is where call-outs are noted down.
  Quick& q = t_quick;
  t_quick_before = q;
  q.usable = false;
  q.shared_bytes = q.dynamic_bytes = 0;
  for (auto& constant : q.constant) constant = {};
  g_look.thread = w->current;
  w->looking = true;
  for (int i = 0; i < 2; ++i) sigaction(SIGNALS[i], &g_handler, &g_before[i]);
  g_look.on = true;
  allow(PROT_NONE);
}

void end_look(Worker* w) {
  w->look_in = -1;
  if (!w->looking) return;
  g_look.on = false;
  allow(PROT_READ | PROT_WRITE);
  for (int i = 0; i < 2; ++i) sigaction(SIGNALS[i], &g_before[i], nullptr);
  w->looking = false;
  Quick& q = t_quick;
  if (q.code) {  // the same launch, still without grid barriers
    q.usable = t_quick_before.usable;
    q.shared_bytes = t_quick_before.shared_bytes;
    q.dynamic_bytes = t_quick_before.dynamic_bytes;
  }
  // A look that only met this library's accesses counts as a whole one: it has taken as long.
  long used = g_look.faults_left > 0 ? std::min(IN_A_LOOK, g_look.in_launch) - g_look.left : IN_A_LOOK;
  g_look.in_launch -= used;
  g_left_in_process -= used;
  int current = w->current;
  for (int i = 0; i < g_look.place_count; ++i) {
    const Spot& p = g_look.places[i];
    w->current = p.thread;
    bool inside = p.pc >= w->launch->module->base && p.pc < w->launch->module->end;
    report(w, "unseen-access", inside ? p.pc : 0, {.address = (void*)p.address, .size = 1, .access = p.access});
  }
  w->current = current;
}

void note_turn(Worker* w) {
  g_look.thread = w->current;
  if (g_look.spent) end_look(w);
}

void heard_of(const void* pointer, size_t bytes) { g_look.heard[g_look.next++ % MOST_HEARD] = {(size_t)pointer, bytes}; }

static bool was_heard(size_t address) {
  for (auto& one : g_look.heard)
    if (address - one.begin < one.bytes) return true;
  return false;
}

static bool is_taken_away(size_t address) {
  for (int i = 0; i < g_look.area_count; ++i)
    if (address >= g_look.areas[i].first_page && address < g_look.areas[i].last_end) return true;
  return false;
}

static bool is_looked_at(size_t address) {
  for (int i = 0; i < g_look.area_count; ++i)
    if (address >= g_look.areas[i].begin && address < g_look.areas[i].end) return true;
  return false;
}

static void note(size_t pc, size_t address, Access access) {
  for (int i = 0; i < g_look.place_count; ++i)
    if (g_look.places[i].access == access) return;  // one of each kind tells it
  if (g_look.place_count < MOST_PLACES) g_look.places[g_look.place_count++] = {pc, address, access, g_look.thread};
}

OwnReading::OwnReading(const void* pointer, size_t count) {
  size_t begin = (size_t)pointer;
  if (!g_look.on || g_look.spent || !is_taken_away(begin)) return;
  page = begin & ~size_t(4095), bytes = ((begin + count + 4095) & ~size_t(4095)) - page;
  mprotect((void*)page, bytes, PROT_READ | PROT_WRITE);
}

OwnReading::~OwnReading() {
  if (bytes && g_look.on && !g_look.spent) mprotect((void*)page, bytes, PROT_NONE);
}

#if defined(__x86_64__)
static constexpr greg_t TRAP_FLAG = 0x100;

static bool on_step(ucontext_t* c) {
  if (!t_open_count) return false;
  for (int i = 0; i < t_open_count && g_look.on && !g_look.spent; ++i) mprotect((void*)t_open[i], 4096, PROT_NONE);
  t_open_count = 0;
  c->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
  return true;
}

static void spend() {
  g_look.spent = true;
  allow(PROT_READ | PROT_WRITE);
}

static bool on_fault(siginfo_t* info, ucontext_t* c) {
  size_t address = (size_t)info->si_addr, pc = size_t(c->uc_mcontext.gregs[REG_RIP]);
  if (!is_taken_away(address) || info->si_code != SEGV_ACCERR) return false;
  if (!g_look.on || g_look.spent) return true;  // given back since: once more
  bool ours = pc >= (size_t)&__ehdr_start && pc < (size_t)&_end;
  if (!ours && is_looked_at(address)) {
    if (!was_heard(address)) note(pc, address, c->uc_mcontext.gregs[REG_ERR] & 2 ? WRITE : READ);
    --g_look.left;
  }
  if (g_look.left <= 0 || --g_look.faults_left <= 0) return spend(), true;
  size_t page = address & ~size_t(4095);
  mprotect((void*)page, 4096, PROT_READ | PROT_WRITE);
  if (t_open_count == MOST_PAGES) return false;
  t_open[t_open_count++] = page;
  c->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
  return true;
}

bool is_unseens(int signal, siginfo_t* info, ucontext_t* c) {
  return signal == SIGTRAP ? on_step(c) : signal == SIGSEGV && on_fault(info, c);
}
void may_look(const struct sigaction& handler) {
  g_handler = handler;
  g_can_look = true;
}
#else
bool is_unseens(int, siginfo_t*, ucontext_t*) { return false; }
void may_look(const struct sigaction&) {}
#endif

}  // namespace simt
