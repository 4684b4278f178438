// Judges one memory access of instrumented code.
#pragma once
#include "base.h"

#include <vector>

namespace simt {

void access(void* address, unsigned size, Access access, void* return_address);
void spend_step(size_t pc);

struct Allocation;
struct Worker;
struct Launch;
struct Shadow;
struct Symbol;
struct Evidence;
// Of shared memory: `offset` counts from the start of what `shadow`, `defined` and `marks` describe.
void check_shared(Worker* w, Shadow& shadow, std::vector<u8>& defined, u64* marks, size_t offset, size_t pc, Evidence& evidence);
const Symbol* shared_variable_near(const Worker* w, size_t offset);
const Symbol& dynamic_shared_of(const Launch* launch);
void expect_writes(Allocation* a);       // to what came as const
void report_doubtful(Worker* w);         // at the end of a block
void report_doubtful_writes(Worker* w);  // at a barrier: what is written after it is another matter

}  // namespace simt
