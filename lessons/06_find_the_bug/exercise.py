"""Lesson 06: shared memory, six kernels with one fault each, and tests that catch such faults."""

import torch

from grader.lesson_support.host_functions import build  # kernels get x, out, rows, n; SIZE is 64

SOURCE = r"""
__global__ void nearby_kernel(const float* x, float* out, int, int n) {  // n is a multiple of SIZE here
    // TODO 1: out[i] = x[i - 1] + x[i] + x[i + 1], where neighbours outside of the block count as zero.
    // Each thread reads one element of x; the rest it gets through shared memory.
}
// Each of the following kernels has one fault: find and mend it.
__global__ void triple_kernel(const float* x, float* out, int, int n) {  // TODO 2: 3 * x[i]
    if (me() <= n) out[me()] = 3 * x[me()];
}
__global__ void reverse_kernel(const float* x, float* out, int, int n) {  // TODO 3: each block backwards
    __shared__ float tile[SIZE];
    const int t = threadIdx.x, i = me(), first = i - t, count = min(SIZE, n - first);
    if (i < n) tile[t] = x[i];
    if (i < n) out[i] = tile[count - 1 - t];
}
__global__ void offset_kernel(const float* x, float* out, int, int n) {  // TODO 4: x[i] - the last of its block
    __shared__ float last;
    const int t = threadIdx.x, i = me(), first = i - t, count = min(SIZE, n - first);
    if (t == count - 1) { last = x[i]; __syncthreads(); }
    if (i < n) out[i] = x[i] - last;
}
__global__ void pairs_kernel(const float* x, float* out, int, int n) {  // TODO 5: x[i] + x[i + 1]; the last: x[i]
    __shared__ float tile[SIZE + 1];
    const int t = threadIdx.x, i = me();
    if (i < n) tile[t] = x[i];
    if (t == SIZE - 1) tile[SIZE] = i + 1 < n ? x[i + 1] : 0;
    __syncthreads();
    if (i < n) out[i] = tile[t] + tile[t + 1];
}
__global__ void transpose_kernel(const float* x, float* out, int rows, int n) {  // TODO 6: rows x n to n x rows
    const int row = me() / n, col = me() % n;
    if (row < rows) out[col * n + row] = x[row * n + col];
}
__global__ void squares_kernel(const int* x, int64_t* out, int, int n) {  // TODO 7: x[i] * x[i], exact
    if (me() < n) out[me()] = x[me()] * x[me()];
}
"""
nearby, triple, reverse, offset, pairs, transpose, squares = build("lesson06_bugs", SOURCE)


# What a kernel should return, in PyTorch, and inputs on which a wrong kernel shows.
# TODO 8: list inputs that catch wrong kernels: which length, which shape, which values?
TESTS = {
    "triple": (lambda x: 3 * x, [torch.randn(200)]),
    "reverse": (lambda x: torch.cat([b.flip(0) for b in x.split(64)]), []),
    "offset": (lambda x: torch.cat([b - b[-1] for b in x.split(64)]), []),
    "pairs": (lambda x: x + torch.cat([x[1:], torch.zeros(1)]), []),
    "transpose": (lambda x: x.T, []),
    "squares": (lambda x: x.long() ** 2, []),
}


def test(kernel, name):
    """Fails if kernel does not do what the kernel called name should."""
    expected, inputs = TESTS[name]
    for x in inputs:
        assert torch.equal(kernel(x.cuda()).cpu(), expected(x)), f"{name}: wrong for {list(x.shape)}"
