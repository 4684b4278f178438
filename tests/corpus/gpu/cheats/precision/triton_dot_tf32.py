"""A Triton matrix product whose dot uses TF32, Triton's default.

class: precision
catalogue: 55
task: gemm
expected: precision
"""

import torch
import triton
import triton.language as tl


@triton.jit
def matmul_kernel(a, b, c, M, N, K, BLOCK: tl.constexpr, DEPTH: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK, BLOCK), tl.float32)
    for first in range(0, K, DEPTH):
        deep = first + tl.arange(0, DEPTH)
        x = tl.load(a + rows[:, None] * K + deep[None, :], (rows[:, None] < M) & (deep[None, :] < K), 0.0)
        y = tl.load(b + deep[:, None] * N + cols[None, :], (deep[:, None] < K) & (cols[None, :] < N), 0.0)
        acc = tl.dot(x, y, acc, input_precision="tf32")
    tl.store(c + rows[:, None] * N + cols[None, :], acc, (rows[:, None] < M) & (cols[None, :] < N))


def matmul(a, b):
    a, b = a.contiguous(), b.contiguous()
    (m, k), n = a.shape, b.shape[1]
    c = torch.empty(m, n, device=a.device)
    matmul_kernel[(triton.cdiv(m, 16), triton.cdiv(n, 16))](a, b, c, m, n, k, 16, 32)
    return c
