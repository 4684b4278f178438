"""Barriers on one line: which are two of the source, and which one that the compiler made several of."""

import torch
from torch.utils.cpp_extension import load_inline

CUDA = r"""
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
#define INDEX int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x
#define ARGS const float* x, float* y, int n
#define WAIT __syncthreads()
#define WAIT_ALIAS __syncthreads
#define APPLY(F) F()
#define EITHER if (t < 16) { WAIT; } else { WAIT; }
#define ALIASED if (t < 16) WAIT_ALIAS(); else APPLY(__syncthreads);
#define COUNTED if (t < 16) k = __syncthreads_count(1); else k = __syncthreads_or(1);
#define HALVES(S) for (int d = 128; d > 0; d /= 2) { if (t < d) S[t] += S[t + d]; WAIT; }
__device__ void meet() { __syncthreads(); }
__device__ inline int first() { __syncthreads(); return 1; } __device__ inline int second() { __syncthreads(); return 2; }
template <int D> __device__ void halve(float* s, int t) { if constexpr (D > 0) { if (t < D) s[t] += s[t + D]; __syncthreads(); halve<D / 2>(s, t); } }

__global__ void one_line(ARGS) { INDEX; if (t < 16) { __syncthreads(); } else { __syncthreads(); } y[i] = x[i]; }  // one_line
__global__ void with_work(ARGS) { INDEX; if (t < 16) { y[i] = x[i]; __syncthreads(); } else { __syncthreads(); y[i] = 2 * x[i]; } }  // with_work
__global__ void by_macro(ARGS) { INDEX; EITHER y[i] = x[i]; }  // by_macro
__global__ void macro_twice(ARGS) { INDEX; if (t < 16) { WAIT; y[i] = x[i]; } else { y[i] = x[i]; WAIT; } }  // macro_twice
__global__ void by_alias(ARGS) { INDEX; ALIASED y[i] = x[i]; }  // by_alias
__global__ void votes(ARGS) { INDEX; int k = 0; COUNTED y[i] = x[i] + k; }  // votes
__global__ void one_vote(ARGS) { INDEX; int k = t < 16 ? __syncthreads_and(1) : __syncthreads_and(1); y[i] = x[i] + k; }  // one_vote
__global__ void in_a_switch(ARGS) { INDEX; switch (t & 3) { case 0: __syncthreads(); break; case 1: __syncthreads(); break; default: __syncthreads(); } y[i] = x[i]; }  // in_a_switch
__global__ void ternary(ARGS) { INDEX; t < 16 ? __syncthreads() : __syncthreads(); y[i] = x[i]; }  // ternary
__global__ void ternary_calls(ARGS) { INDEX; int k = t < 16 ? first() : second(); y[i] = x[i] + k; }
__global__ void lambdas(ARGS) { INDEX; auto a = [&] { __syncthreads(); }; auto b = [&] { __syncthreads(); }; if (t < 16) a(); else b(); y[i] = x[i]; }  // lambdas
__global__ void groups(ARGS) { INDEX; auto b = cg::this_thread_block(); if (t < 16) b.sync(); else b.sync(); y[i] = x[i]; }  // groups
__global__ void groups_free(ARGS) { INDEX; auto b = cg::this_thread_block(); if (t < 16) cg::sync(b); else cg::sync(b); y[i] = x[i]; }  // groups_free
__global__ void mixed(ARGS) { INDEX; auto b = cg::this_thread_block(); if (t < 16) b.sync(); else __syncthreads(); y[i] = x[i]; }  // mixed
__global__ void assembly(ARGS) { INDEX; if (t < 16) asm volatile("bar.sync 0;"); else asm volatile("bar.sync 0;"); y[i] = x[i]; }  // assembly

__global__ void ok_unrolled(ARGS) {
    __shared__ float s[256]; INDEX; s[t] = x[t];
    _Pragma("unroll") for (int d = 1; d < 8; ++d) { __syncthreads(); float v = s[(t + d) & 255]; __syncthreads(); s[t] = v; }
    y[i] = s[t];
}
__global__ void ok_inlined(ARGS) { __shared__ float s[256]; INDEX; s[t] = x[t]; meet(); if (t < 16) s[t] += 1; meet(); y[i] = s[255 - t]; }
__global__ void ok_called(ARGS) { __shared__ float s[256]; INDEX; s[t] = x[t]; if (t < 16) { y[i] = 1; meet(); } else { meet(); } y[i] = s[t]; }
__global__ void ok_template(ARGS) { __shared__ float s[512]; INDEX; s[t] = s[t + 256] = x[t]; __syncthreads(); halve<128>(s, t); y[i] = s[0]; }
__global__ void ok_macro_loop(ARGS) { __shared__ float s[256]; INDEX; s[t] = x[t]; WAIT; HALVES(s) y[i] = s[0]; WAIT; }
__global__ void ok_tail(ARGS) {
    INDEX; float v = x[i];
    for (int k = 0; k < 5; ++k) { if (v > 0.5f) v = v * 3 - 1; else if (v > 0.1f) v += 1; else { v = 2; } __syncthreads(); if (t & 1) continue; v -= 0.25f; }
    y[i] = v;
}
__global__ void ok_same_way(ARGS) { INDEX; if (blockIdx.x & 1) { __syncthreads(); } else { __syncthreads(); } y[i] = x[i]; }
__global__ void ok_switch(ARGS) { INDEX; switch (n & 3) { case 0: __syncthreads(); case 1: __syncthreads(); break; default: __syncthreads(); } y[i] = x[i]; }
__global__ void ok_in_a_row(ARGS) { __shared__ float s[256]; INDEX; s[t] = x[t]; WAIT; WAIT; __syncthreads(); y[i] = s[255 - t]; __syncthreads_or(__syncthreads_or(t)); }
__global__ void ok_groups(ARGS) { __shared__ float s[256]; INDEX; auto b = cg::this_thread_block(); cg::thread_group g = b; for (int k = 0; k < 3; ++k) { s[t] = x[t]; b.sync(); y[i] = s[255 - t]; g.sync(); cg::sync(b); } }

#define CASE(NAME) if (which == #NAME) NAME<<<4, 256>>>(a, b, n);
torch::Tensor run(torch::Tensor x, std::string which) {
    auto y = torch::empty_like(x);
    int n = x.numel();
    const float* a = x.data_ptr<float>();
    float* b = y.data_ptr<float>();
    CASE(one_line) CASE(with_work) CASE(by_macro) CASE(macro_twice) CASE(by_alias) CASE(votes) CASE(one_vote) CASE(in_a_switch)
    CASE(ternary) CASE(ternary_calls) CASE(lambdas) CASE(groups) CASE(groups_free) CASE(mixed) CASE(assembly)
    CASE(ok_unrolled) CASE(ok_inlined) CASE(ok_called) CASE(ok_template) CASE(ok_macro_loop) CASE(ok_tail)
    CASE(ok_same_way) CASE(ok_switch) CASE(ok_in_a_row) CASE(ok_groups)
    return y;
}
"""
TWO = (
    "one_line", "with_work", "by_macro", "macro_twice", "by_alias", "votes", "one_vote", "in_a_switch", "ternary",
    "ternary_calls", "lambdas", "groups", "groups_free", "mixed", "assembly",
)  # fmt: skip
ONE = (
    "ok_unrolled", "ok_inlined", "ok_called", "ok_template", "ok_macro_loop", "ok_tail", "ok_same_way",
    "ok_switch", "ok_in_a_row", "ok_groups",
)  # fmt: skip


def cases():
    module = load_inline(
        "barriers", "torch::Tensor run(torch::Tensor x, std::string which);", CUDA, functions=["run"]
    )
    x = torch.rand(1024, device="cuda")
    return {name: lambda runtime, name=name: module.run(x, name).sum().item() for name in (*TWO, *ONE)}
