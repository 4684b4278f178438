"""A variable that one thread sets and then counts in: without a barrier, others' atomics race with the setting."""

from __future__ import annotations

import pytest

from .test_printing import run

SOURCE = r"""
#include <cstdio>
__global__ void in_a_block(int* out) {
    __shared__ int count;
    if (threadIdx.x == 0) count = 0;
    BARRIER
    atomicAdd(&count, 1);
    __syncthreads();
    if (threadIdx.x == 0) out[0] = count;
}
__global__ void in_a_grid(int* out) {
    if (blockIdx.x == 0 && threadIdx.x == 0) out[1] = WHERE;
    atomicAdd(out + 1, 1);
}
__global__ void by_itself(int* out) {
    out[2 + threadIdx.x] = 1;
    atomicAdd(out + 2 + threadIdx.x, 1);
    atomicExch(out + 2 + threadIdx.x, 5);
}
int main() {
    int* out;
    cudaMallocManaged(&out, 66 * sizeof(int));
    out[1] = 0;
    in_a_block<<<1, 64>>>(out);
    in_a_grid<<<2, 64>>>(out);
    by_itself<<<1, 64>>>(out);
    cudaDeviceSynchronize();
    printf("%d %d %d\n", out[0], out[1], out[65]);
}
"""


@pytest.mark.slow
def test_without_a_barrier_both_places_are_named(tmp_path) -> None:
    done = run(tmp_path, SOURCE.replace("BARRIER", "").replace("WHERE", "0"))
    assert done.returncode == 1 and "memory checks: 2 kinds of trouble in 3 kernel launches" in done.stderr
    assert "shared race at program.cu, line 7: atomicAdd(&count, 1);" in done.stderr
    assert "line 5: if (threadIdx.x == 0) count = 0;" in done.stderr
    assert "global race at program.cu, line 13: atomicAdd(out + 1, 1);" in done.stderr
    assert "line 12: if (blockIdx.x == 0 && threadIdx.x == 0) out[1] = 0;" in done.stderr


@pytest.mark.slow
def test_with_one_nothing_is_found(tmp_path) -> None:
    source = SOURCE.replace("BARRIER", "__syncthreads();").replace("out[1] = WHERE", "atomicExch(out + 1, 0)")
    done = run(tmp_path, source)
    assert (done.returncode, done.stdout.split()[::2]) == (0, ["64", "5"]) and "nothing found" in done.stderr
