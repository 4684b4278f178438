// A dying process writes one line of JSON that says where it was. A fault inside a kernel does not kill the
// process at all: it becomes a finding and the launch ends.
#include "findings.h"
#include "memory.h"
#include "unseen.h"

#include <atomic>
#include <csignal>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

extern "C" __thread simt::Builtins simt_builtins SIMT_TLS;

namespace simt {

static constexpr size_t MOST_BELOW = 1 << 20;
static std::atomic<bool> g_dying{false};
static __thread size_t t_fault_pc SIMT_TLS;
static __thread int t_fault_signal SIMT_TLS;
static __thread const void* t_fault_address SIMT_TLS;
static __thread Access t_fault_access SIMT_TLS;

#if defined(__x86_64__)
static size_t program_counter(ucontext_t* c) { return c->uc_mcontext.gregs[REG_RIP]; }
static size_t stack_pointer(ucontext_t* c) { return c->uc_mcontext.gregs[REG_RSP]; }
static void set_stack_pointer(ucontext_t* c, size_t to) { c->uc_mcontext.gregs[REG_RSP] = (greg_t)to; }
static Access faulting_access(ucontext_t* c) { return c->uc_mcontext.gregs[REG_ERR] & 2 ? WRITE : READ; }
static void continue_at(ucontext_t* c, void (*function)()) {
  c->uc_mcontext.gregs[REG_RSP] = ((c->uc_mcontext.gregs[REG_RSP] - 256) & ~15ll) - 8;  // past the red zone
  c->uc_mcontext.gregs[REG_RIP] = (greg_t)function;
}
#elif defined(__aarch64__)
static size_t program_counter(ucontext_t* c) { return c->uc_mcontext.pc; }
static size_t stack_pointer(ucontext_t* c) { return c->uc_mcontext.sp; }
static void set_stack_pointer(ucontext_t* c, size_t to) { c->uc_mcontext.sp = to; }
static Access faulting_access(ucontext_t*) { return NO_ACCESS; }
static void continue_at(ucontext_t* c, void (*function)()) {
  c->uc_mcontext.sp = (c->uc_mcontext.sp - 256) & ~15ull;
  c->uc_mcontext.pc = (size_t)function;
}
#endif

// What the checks were not told of, for instance by a library's function, and what they let through: a fault is the
// last that can tell of it.
static void report_fault(Worker* w) {
  Allocation* near = in_arena(t_fault_address) ? allocation_at(arena_offset(t_fault_address)) : nullptr;
  const char* kind = !near ? "illegal-address" : near->live ? "global-out-of-bounds" : "use-after-free";
  unsigned size = near ? unsigned(near->element_bytes) : 0;
  bool inside = t_fault_pc >= w->launch->module->base && t_fault_pc < w->launch->module->end;
  report(w, kind, inside ? t_fault_pc : 0, {.address = t_fault_address, .size = size, .access = t_fault_access});
}

static void stop_for_its_stack() {
  report(t_worker, "local-memory", t_fault_pc, {});
  kill_launch(t_worker);
}

static void stop_the_launch() {
  Worker* w = t_worker;
  if (t_fault_signal == SIGFPE)
    report(w, "division-by-zero", t_fault_pc, {});
  else
    report_fault(w);
  kill_launch(w);
}

// A thread's variables are larger than its stack, or functions call each other without end: below it lies a page that
// nobody may touch (fibre.cpp), and the compiler touches each page of a large frame in turn.
static bool stack_is_full(const Worker* w, size_t sp, size_t address) {
  if (!w || !w->fibre) return false;
  size_t lowest = (size_t)w->fibre->stack;
  auto is_below = [lowest](size_t at) { return at < lowest + 16384 && lowest < at + MOST_BELOW; };
  return is_below(sp) && is_below(address);
}

static bool on_a_kernels_stack(const Worker* w, size_t sp) {
  return w && w->fibre && sp - (size_t)w->fibre->stack < STACK_BYTES && sp - (size_t)w->fibre->stack > 16384;
}

static const char* signal_name(int signal) {
  switch (signal) {
    case SIGSEGV: return "SIGSEGV";
    case SIGBUS: return "SIGBUS";
    case SIGFPE: return "SIGFPE";
    case SIGABRT: return "SIGABRT";
    case SIGILL: return "SIGILL";
    case SIGTERM: return "SIGTERM";
    case SIGALRM: return "SIGALRM";
    default: return "signal";
  }
}

static void write_words(int signal, size_t pc, const void* address) {
  char line[1400];
  Worker* w = t_worker;
  const Module* module = nullptr;
  const char* kernel = "";
  uint3 block{}, thread{};
  if (w && w->launch) {
    kernel = w->launch->kernel.c_str();
    block = simt_builtins.block;
    thread = simt_builtins.thread;
    module = w->launch->module;
    if (module && (pc < module->base || pc >= module->end)) pc = 0;
  } else {
    module = module_at(pc);
  }
  int n = snprintf(
      line, sizeof line,
      "{\"signal\":%d,\"name\":\"%s\",\"kernel\":\"%.200s\",\"block\":[%u,%u,%u],\"thread\":[%u,%u,%u],"
      "\"module\":\"%.600s\",\"pc\":%zu,\"address\":%zu}\n",
      signal, signal_name(signal), kernel, block.x, block.y, block.z, thread.x, thread.y, thread.z,
      module ? module->path.c_str() : "", module && pc ? pc - module->base : 0, (size_t)address);
  if (g_words_fd >= 0 && write(g_words_fd, line, std::min<size_t>(n, sizeof line - 1)) < 0)
    _exit(128 + signal);
}

static void (*g_ended)(int code) = nullptr;
static bool g_tells_crashes = false;
static int g_died_of = 0;

// The host's own code has died of a signal: who waits for the end is told, on the stack that it died on. An alarm
// ends this where it cannot be told, because a lock is held or memory is destroyed.
static void tell_the_end() {
  alarm(5);
  g_ended(128 + g_died_of);
  _exit(128 + g_died_of);
}

static void on_signal(int signal, siginfo_t* info, void* context) {
  auto* c = (ucontext_t*)context;
  if (is_unseens(signal, info, c)) return;
  size_t pc = program_counter(c);
  bool fault = signal == SIGFPE || signal == SIGSEGV || signal == SIGBUS;
  if (fault && on_a_kernels_stack(t_worker, stack_pointer(c))) {
    t_fault_pc = pc;
    t_fault_signal = signal;
    t_fault_address = info->si_addr;
    t_fault_access = faulting_access(c);
    continue_at(c, stop_the_launch);
    return;
  }
  if (fault && stack_is_full(t_worker, stack_pointer(c), (size_t)info->si_addr)) {
    t_fault_pc = pc;
    set_stack_pointer(c, (size_t)t_worker->fibre->stack + STACK_BYTES / 2);  // what lies there is needed no more
    continue_at(c, stop_for_its_stack);
    return;
  }
  if (g_dying.exchange(true)) _exit(128 + (g_died_of ? g_died_of : signal));  // dying of the last words themselves
  write_words(signal, pc, info->si_addr);
  if (g_ended && g_tells_crashes && !t_worker && (fault || signal == SIGABRT)) {
    g_died_of = signal;
    continue_at(c, tell_the_end);
    return;
  }
  _exit(128 + signal);
}

static void on_end(int code, void*) {
  if (g_ended) g_ended(code);
}

}  // namespace simt

// What is to be called if C++ code ends the process with exit(), of which Python does not hear, and if asked for, when
// it dies of a signal; nullptr: nothing.
extern "C" SIMT_EXPORT void simt_at_exit(void (*ended)(int code), int crashes) {
  using namespace simt;
  static bool once = on_exit(on_end, nullptr) == 0;
  (void)once;
  g_ended = ended;
  g_tells_crashes = crashes != 0;
}

// From now on, fatal signals write their last words to fd. SIGTERM too: a referee that loses patience
// sends it to learn where the time went.
extern "C" SIMT_EXPORT void simt_last_words(int fd) {
  using namespace simt;
  g_words_fd = fd;
  static char alternate_stack[64 << 10];
  stack_t stack{alternate_stack, 0, sizeof alternate_stack};
  sigaltstack(&stack, nullptr);
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGILL, SIGALRM, SIGTERM, SIGTRAP})
    sigaction(signal, &action, nullptr);
  may_look(action);
}
