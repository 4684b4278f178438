// The torch device library is one translation unit: torch's headers are by far the most of its compile time.
#include "torch_allocator.cpp"
#include "torch_aliases.cpp"
#include "torch_fallback.cpp"
#include "torch_operators.cpp"
#include "torch_profiler.cpp"
#include "torch_stable.cpp"
