"""Kernels without shared memory where none is needed; the tests compare with loops over lists."""

import torch

from grader.lesson_support.host_functions import build

SOURCE = r"""
__global__ void nearby_kernel(const float* x, float* out, int, int n) {
    __shared__ float tile[SIZE + 2];
    const int place = threadIdx.x + 1;
    if (place == 1) tile[0] = tile[SIZE + 1] = 0.0f;
    tile[place] = x[me()];
    __syncthreads();
    out[me()] = tile[place - 1] + tile[place] + tile[place + 1];
}
__global__ void triple_kernel(const float* x, float* out, int, int n) {
    const int i = me();
    if (i >= n) return;
    out[i] = x[i] * 3;
}
__global__ void reverse_kernel(const float* x, float* out, int, int n) {
    const int begin = blockIdx.x * SIZE, end = min(begin + SIZE, n), i = me();
    if (i < n) out[i] = x[end - 1 - threadIdx.x];
}
__global__ void offset_kernel(const float* x, float* out, int, int n) {
    if (me() < n) out[me()] = x[me()] - x[min(n, static_cast<int>(blockIdx.x + 1) * SIZE) - 1];
}
__global__ void pairs_kernel(const float* x, float* out, int, int n) {
    const int i = me();
    if (i < n) out[i] = i + 1 < n ? x[i] + x[i + 1] : x[i];
}
__global__ void transpose_kernel(const float* x, float* out, int rows, int n) {
    if (me() >= rows * n) return;
    const int row = me() % rows, col = me() / rows;
    out[me()] = x[row * n + col];
}
__global__ void squares_kernel(const int* x, int64_t* out, int, int n) {
    if (me() < n) {
        const int64_t wide = x[me()];
        out[me()] = wide * wide;
    }
}
"""
nearby, triple, reverse, offset, pairs, transpose, squares = build("lesson06_by_value", SOURCE)


def wanted(name, v):
    if name == "triple":
        return [3 * a for a in v]
    if name == "reverse":
        return [a for k in range(0, len(v), 64) for a in v[k : k + 64][::-1]]
    if name == "offset":
        return [a - v[min(len(v), i // 64 * 64 + 64) - 1] for i, a in enumerate(v)]
    if name == "pairs":
        return [a + b for a, b in zip(v, [*v[1:], 0], strict=True)]
    if name == "squares":
        return [a * a for a in v]
    return [list(column) for column in zip(*v, strict=True)]


def test(kernel, name):
    shapes = [(5, 9), (70, 3)] if name == "transpose" else [(64,), (65,), (131,)]
    for shape in shapes:
        x = torch.randint(-99_999, 99_999, shape, device="cuda")
        x = x.int() if name == "squares" else (x % 1000).float()
        got = kernel(x).tolist()
        if got != wanted(name, x.tolist()):
            raise AssertionError(f"{name} {shape}")
