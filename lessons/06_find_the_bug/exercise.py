"""Lesson 06: shared memory, six kernels with one fault each, and tests that catch such faults."""

import torch

from grader.lesson_support.host_functions import build  # kernels get x, out, rows, n; SIZE is 64

SOURCE = r"""
__global__ void nearby_kernel(const float* x, float* out, int, int n) {  // n is a multiple of SIZE here
    // TODO 1: x[i - 1] + x[i] + x[i + 1] within the block, by shared memory.
}
__global__ void triple_kernel(const float* x, float* out, int, int n) {  // 3 * x[i]
    if (me() <= n) out[me()] = 3 * x[me()];
}  // TODO 2: mend triple
__global__ void reverse_kernel(const float* x, float* out, int, int n) {  // each block backwards
    __shared__ float tile[SIZE];
    const int t = threadIdx.x, i = me(), first = i - t, count = min(SIZE, n - first);
    if (i < n) tile[t] = x[i];
    if (i < n) out[i] = tile[count - 1 - t];
}  // TODO 3: mend reverse
__global__ void offset_kernel(const float* x, float* out, int, int n) {  // x[i] - the last of its block
    __shared__ float last;
    const int t = threadIdx.x, i = me(), first = i - t, count = min(SIZE, n - first);
    if (t == count - 1) { last = x[i]; __syncthreads(); }
    if (i < n) out[i] = x[i] - last;
}  // TODO 4: mend offset
__global__ void pairs_kernel(const float* x, float* out, int, int n) {  // x[i] + x[i + 1], or x[i] at the end
    __shared__ float tile[SIZE + 1];
    const int t = threadIdx.x, i = me();
    if (i < n) tile[t] = x[i];
    if (t == SIZE - 1) tile[SIZE] = i + 1 < n ? x[i + 1] : 0;
    __syncthreads();
    if (i < n) out[i] = tile[t] + tile[t + 1];
}  // TODO 5: mend pairs
__global__ void transpose_kernel(const float* x, float* out, int rows, int n) {  // rows x n becomes n x rows
    const int row = me() / n, col = me() % n;
    if (row < rows) out[col * n + row] = x[row * n + col];
}  // TODO 6: mend transpose
__global__ void squares_kernel(const int* x, int64_t* out, int, int n) {  // x[i] * x[i], exact
    if (me() < n) out[me()] = x[me()] * x[me()];
}  // TODO 7: mend squares
"""
nearby, triple, reverse, offset, pairs, transpose, squares = build("lesson06_bugs", SOURCE)


# What a kernel should return, in PyTorch, and inputs on which a wrong kernel shows.
TESTS = {  # TODO 8: list inputs that catch wrong kernels: which length, shape, values?
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
