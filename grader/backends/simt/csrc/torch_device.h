// The "cuda" device of a CPU build of torch: its memory is the runtime's, its operators are the CPU's.
#pragma once
#include "../include/simt/abi.h"

#include <ATen/ATen.h>

extern "C" {
int simt_mode();
size_t simt_undefined_bytes(const void*, size_t, size_t*);
void simt_excuse_unwritten(const void*, size_t);
int simt_is_watched();
void simt_host_wrote(const void* to, const void* from, size_t bytes);
int simt_origin(const void*, size_t element, int dims, const int64_t* sizes, const int64_t* strides);
void simt_operator_wrote(const char* name, int worst, int from_host, int single, const void*, size_t element, int dims,
                         const int64_t* sizes, const int64_t* strides);
void simt_operator_given(const void* numbers, size_t bytes);
int simt_operator_begins();
void simt_operator_touches(const char*, const void*, size_t bytes, int writes);
void simt_report_not_written(const char*, const void*, size_t missing, size_t elements, size_t first);
}

namespace simt {

const c10::Device DEVICE(c10::DeviceType::CUDA, 0);

c10::Allocator* device_allocator();

// Raises what a GPU would raise at a call that waits for it.
void synchronize_or_raise();

}  // namespace simt
