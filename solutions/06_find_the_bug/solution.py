"""Lesson 06: shared memory, six kernels with one fault each, and tests that catch such faults."""

import torch

from grader.lesson_support.host_functions import build  # kernels get x, out, rows, n; SIZE is 64

SOURCE = r"""
// region: nearby
__global__ void nearby_kernel(const float* x, float* out, int, int n) {  // n is a multiple of SIZE here
    // starter: // TODO 1: x[i - 1] + x[i] + x[i + 1] within the block, by shared memory.
    // solution: begin
    __shared__ float tile[SIZE];
    const int t = threadIdx.x, i = me();
    tile[t] = x[i];
    __syncthreads();
    out[i] = (t > 0 ? tile[t - 1] : 0) + tile[t] + (t + 1 < SIZE ? tile[t + 1] : 0);
    // solution: end
}
// endregion
// region: bugs
__global__ void triple_kernel(const float* x, float* out, int, int n) {  // 3 * x[i]
    // solution: begin
    if (me() < n) out[me()] = 3 * x[me()];
    // solution: end
    // starter: if (me() <= n) out[me()] = 3 * x[me()];
// solution: begin
}
// solution: end
// starter: }  // TODO 2: mend triple
__global__ void reverse_kernel(const float* x, float* out, int, int n) {  // each block backwards
    __shared__ float tile[SIZE];
    const int t = threadIdx.x, i = me(), first = i - t, count = min(SIZE, n - first);
    if (i < n) tile[t] = x[i];
    // solution: begin
    __syncthreads();
    // solution: end
    if (i < n) out[i] = tile[count - 1 - t];
// solution: begin
}
// solution: end
// starter: }  // TODO 3: mend reverse
__global__ void offset_kernel(const float* x, float* out, int, int n) {  // x[i] - the last of its block
    __shared__ float last;
    const int t = threadIdx.x, i = me(), first = i - t, count = min(SIZE, n - first);
    // solution: begin
    if (t == count - 1) last = x[i];
    __syncthreads();
    // solution: end
    // starter: if (t == count - 1) { last = x[i]; __syncthreads(); }
    if (i < n) out[i] = x[i] - last;
// solution: begin
}
// solution: end
// starter: }  // TODO 4: mend offset
__global__ void pairs_kernel(const float* x, float* out, int, int n) {  // x[i] + x[i + 1], or x[i] at the end
    __shared__ float tile[SIZE + 1];
    const int t = threadIdx.x, i = me();
    // solution: begin
    tile[t] = i < n ? x[i] : 0;
    // solution: end
    // starter: if (i < n) tile[t] = x[i];
    if (t == SIZE - 1) tile[SIZE] = i + 1 < n ? x[i + 1] : 0;
    __syncthreads();
    if (i < n) out[i] = tile[t] + tile[t + 1];
// solution: begin
}
// solution: end
// starter: }  // TODO 5: mend pairs
__global__ void transpose_kernel(const float* x, float* out, int rows, int n) {  // rows x n becomes n x rows
    const int row = me() / n, col = me() % n;
    // solution: begin
    if (row < rows) out[col * rows + row] = x[row * n + col];
    // solution: end
    // starter: if (row < rows) out[col * n + row] = x[row * n + col];
// solution: begin
}
// solution: end
// starter: }  // TODO 6: mend transpose
__global__ void squares_kernel(const int* x, int64_t* out, int, int n) {  // x[i] * x[i], exact
    // solution: begin
    if (me() < n) out[me()] = static_cast<int64_t>(x[me()]) * x[me()];
    // solution: end
    // starter: if (me() < n) out[me()] = x[me()] * x[me()];
// solution: begin
}
// solution: end
// starter: }  // TODO 7: mend squares
// endregion
"""
nearby, triple, reverse, offset, pairs, transpose, squares = build("lesson06_bugs", SOURCE)


# region: tests
# What a kernel should return, in PyTorch, and inputs on which a wrong kernel shows.
# starter: TESTS = {  # TODO 8: list inputs that catch wrong kernels: which length, shape, values?
# solution: begin
TESTS = {
    # solution: end
    "triple": (lambda x: 3 * x, [torch.randn(200)]),
    # solution: begin
    "reverse": (lambda x: torch.cat([b.flip(0) for b in x.split(64)]), [torch.randn(200)]),
    "offset": (lambda x: torch.cat([b - b[-1] for b in x.split(64)]), [torch.randn(200)]),
    "pairs": (lambda x: x + torch.cat([x[1:], torch.zeros(1)]), [torch.randn(200), torch.randn(128)]),
    "transpose": (lambda x: x.T, [torch.randn(11, 17)]),
    "squares": (lambda x: x.long() ** 2, [torch.randint(-(2**31), 2**31, (200,), dtype=torch.int32)]),
    # solution: end
    # starter: "reverse": (lambda x: torch.cat([b.flip(0) for b in x.split(64)]), []),
    # starter: "offset": (lambda x: torch.cat([b - b[-1] for b in x.split(64)]), []),
    # starter: "pairs": (lambda x: x + torch.cat([x[1:], torch.zeros(1)]), []),
    # starter: "transpose": (lambda x: x.T, []),
    # starter: "squares": (lambda x: x.long() ** 2, []),
}


def test(kernel, name):
    """Fails if kernel does not do what the kernel called name should."""
    expected, inputs = TESTS[name]
    for x in inputs:
        assert torch.equal(kernel(x.cuda()).cpu(), expected(x)), f"{name}: wrong for {list(x.shape)}"


# endregion
