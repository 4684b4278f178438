// What the host tells the device in a call that is watched, in order: launches with their arguments, copies, fills,
// numbers, torch's operators. Of two calls that differ in the values of their inputs only, it must be the same.
// Places in device memory are told as allocation, numbered as they first appear, and offset.
#pragma once
#include "base.h"

namespace simt {

struct Launch;
using Words = std::vector<u32>;
extern const char* const NUMBERS_OF;  // torch's operator of the name that follows

void begin_transcript();
void add_place(Words& words, const void* place);
void tell(const std::string& what, const Words& words);
void tell_launch(const Launch& launch);
// `by_torch`: an operator computed them; they count only if kernels read numbers of that operator.
void tell_numbers(const std::string& what, const void* to, const void* from, size_t bytes, bool by_torch = false);
void tell_tensor(const std::string& what, const void* pointer, int dims, const int64_t* sizes, const int64_t* strides);
void note_torch_read(const std::string& who);
void note_unasked(const void* at);  // a kernel read this byte, which the host wrote without asking

}  // namespace simt
