// What malloc, free, new and delete do in kernels: the heap of the device, of which all threads have parts.
#pragma once
#include "memory.h"

namespace simt {

// The heap takes areas of the arena and cuts them into blocks, each in the middle of a span twice its size or more:
// an index that is off then lands in the block's own gap, as with tensors. A block is an Allocation like any other.
Allocation* heap_block_at(int area, size_t offset);
// Whether `pointer` is of the heap, which no function of the host may use: that is reported.
bool heap_from_host(const void* pointer, Access access, size_t pc);

}  // namespace simt
