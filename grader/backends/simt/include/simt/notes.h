// Tells the runtime what a local variable holds, while a launch is recorded (`course replay`). Calls of simt_note are
// put into a source by grader/backends/simt/compile/noted.py, never by a student.
#pragma once
#include "keywords.h"

#include <type_traits>

extern "C" SIMT_EXPORT void simt_noted(const char* name, uint64_t bits, int size, int kind);

template <class T>
SIMT_INLINE void simt_note(const char* name, const T& value) {
  if constexpr (std::is_arithmetic_v<T> && sizeof(T) <= 8) {
    uint64_t bits = 0;
    __builtin_memcpy(&bits, &value, sizeof(T));
    simt_noted(name, bits, int(sizeof(T)), std::is_floating_point_v<T> ? 2 : std::is_unsigned_v<T> ? 1 : 0);
  }
}
