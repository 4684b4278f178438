// Fibres: one stack for each CUDA thread that has to wait for others. A kernel without barriers needs one.
#pragma once
#include "base.h"

namespace simt {

struct Fibre {
  void* stack_pointer;  // nullptr: not started
  char* stack;
  size_t colour;  // offset of the stack's top, so that the tops spread over the cache's sets
};

static constexpr size_t STACK_BYTES = 256 << 10;

Fibre* make_fibre(size_t number);
void empty(Fibre* fibre);  // what it ran is gone, and its stack holds zeros
void start_at(Fibre* fibre, void (*entry)());

}  // namespace simt

// Saves the running context's stack pointer in *save and continues at `load`.
extern "C" void simt_switch(void** save, void* load);
