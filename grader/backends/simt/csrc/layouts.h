// Copies of whole objects: they read padding, too, which nobody writes and nobody misses.
#pragma once
#include "base.h"

#include <vector>

namespace simt {

struct Worker;

bool are_layouts_known();  // any
// How a read is told. GCC tells of those that are aligned, of 16 bytes at most, in the same way as of numbers.
enum ToldAs : u8 { AS_A_NUMBER, AS_THE_SOURCE_OF_A_COPY, AS_A_RANGE, AS_MEMCPY };

// Whether what is not written of `bytes` at `address` are bytes that objects of a type of the program may leave so.
bool reads_padding_alone(const Worker* w, size_t address, size_t bytes, ToldAs told);
// Whether a type of the program is declared for `address`, by a shared variable or a kernel's argument, that is aligned to
// 8 bytes and not to 16.
bool is_aligned_to_8(const Worker* w, size_t address);
// For each of them whether it holds a value; empty where that is not known.
std::vector<u8> written_bytes(const Worker* w, size_t address, size_t bytes);
// A copy of such an object leaves the same bytes of its target as they were.
void leave_unwritten(Worker* w, size_t to, const std::vector<u8>& source, const std::vector<u8>& target);

}  // namespace simt
