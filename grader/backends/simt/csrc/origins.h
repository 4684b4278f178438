// Where the bytes of device memory come from, in a call that is watched: kernels, what was there before the call,
// or somebody else. Kept for every thread and outside Python.
#pragma once
#include "base.h"

namespace simt {

struct Launch;
struct Module;

extern bool g_watched;

void note_kernel_access(size_t offset, unsigned size, Access access);  // before the access
void note_kernel_access_to_variable(const Module* m, size_t address, unsigned size, Access access);
void note_arguments(const Launch& launch);
void settle_kernel_writes();  // after a launch
void note_new_memory(size_t offset, size_t bytes);
void note_host_copy(const void* to, const void* from, size_t bytes);
void note_fill(const void* to, int value, size_t bytes);

// variable_origins.cpp
void begin_variables();
void settle_variables();
void note_variable_write(const void* to, const void* from, size_t bytes);
size_t note_variable_access(const Module* m, size_t address, unsigned size, Access access);

}  // namespace simt
