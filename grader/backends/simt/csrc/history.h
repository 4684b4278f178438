// Launches that have ended: their counts for the profile, and which launch a shadow record belongs to.
#pragma once
#include "counting.h"
#include "worker.h"

namespace simt {

u32 next_runs(u64 blocks);  // numbers for the blocks of a new launch
void note_copy_on(const void* stream);
u64 remember_launch(const Launch& launch);
void remember_runs(u64 number, u32 runs);
// The kernel of that block, of this launch or an earlier one; nullptr if it is no longer known.
const std::string* kernel_of_run(u32 run);
bool is_on_default_stream(u32 run);
Module* module_of_run(u32 run, const Launch* launch);
uint3 thread_of_run(u32 run, int thread, const Launch* launch);
uint3 block_of_run(u32 run, const Launch* launch);  // of this launch, or of an earlier one
void remember_counts(u64 number, const Counter& counter);

}  // namespace simt

extern "C" SIMT_EXPORT const char* simt_take_launches();
