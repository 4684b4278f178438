// Judges one memory access of instrumented code.
#pragma once
#include "base.h"

namespace simt {

void access(void* address, unsigned size, Access access, void* return_address);
void spend_step(size_t pc);

struct Worker;
void report_doubtful_reads(Worker* w);  // at the end of a block

}  // namespace simt
