// Looks for accesses to memory that the checks do not hear of, by taking the memory away for a while.
#pragma once
#include "base.h"

#include <csignal>
#include <ucontext.h>

namespace simt {

struct Worker;

void begin_unseen(const Worker* w);  // a launch
void choose_unseen(Worker* w);       // a block: whether to look in it, and from which turn of a thread on
void look_for_unseen(Worker* w);
void note_turn(Worker* w);           // another thread's
void end_look(Worker* w);
void heard_of(const void* pointer, size_t bytes);  // what a call-out has told, while somebody looks

// What this library itself reads of such memory while one lives: else each byte would cost a fault and a step.
class OwnReading {
  size_t page = 0, bytes = 0;  // 0: nothing was taken away

 public:
  OwnReading(const void* pointer, size_t count);
  ~OwnReading();
};
void may_look(const struct sigaction& handler);  // of faults, while somebody looks
bool is_unseens(int signal, siginfo_t* info, ucontext_t* context);  // and has dealt with it

}  // namespace simt
