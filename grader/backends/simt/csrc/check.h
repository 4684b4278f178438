// Judges one memory access of instrumented code.
#pragma once
#include "base.h"

namespace simt {

void access(void* address, unsigned size, Access access, void* return_address);
void spend_step(size_t pc);

struct Worker;
void report_doubtful(Worker* w);         // at the end of a block
void report_doubtful_writes(Worker* w);  // at a barrier: what is written after it is another matter

}  // namespace simt
