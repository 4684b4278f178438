// What every file of this folder offers: its candidates by number, and one function that runs one of them.
#pragma once

#include <cuda_runtime.h>

#include <string>

#include "cutlass/cutlass.h"

// relu(scale * a @ b.T + bias): a (rows, inner), b (cols, inner), out (rows, cols), all row by row.
struct Call {
    const void* a;
    const void* b;
    const float* bias;
    float* out;
    int rows, cols, inner;
    float scale;
    cudaStream_t stream;
};

struct Candidate {
    const char* name;
    int terms;  // a chunk of the sum, in terms, holds low x high, high x low, high x high; 0: float32 operands
    cutlass::Status (*run)(const Call&);
};

// CUTLASS's own name of what went wrong, and the runtime's; a null pointer if all is well.
inline const char* problem(cutlass::Status status) {
    static std::string said;
    const cudaError_t launched = cudaGetLastError();
    if (status == cutlass::Status::kSuccess && launched == cudaSuccess) return nullptr;
    said = std::string(cutlass::cutlassGetStatusString(status)) + ", " + cudaGetErrorName(launched);
    return said.c_str();
}

#define OFFER(candidates)                                                                              \
    extern "C" int count() { return sizeof(candidates) / sizeof(candidates[0]); }                      \
    extern "C" const char* name(int which) { return candidates[which].name; }                          \
    extern "C" int terms(int which) { return candidates[which].terms; }                                \
    extern "C" const char* run(int which, const void* a, const void* b, const float* bias, float* out, \
                               int rows, int cols, int inner, float scale, cudaStream_t stream) {      \
        return problem(candidates[which].run({a, b, bias, out, rows, cols, inner, scale, stream}));    \
    }
