"""cudaMemPrefetchAsync and cudaMemAdvise by a device's number, and by a place, as CUDA 13 has them."""

from __future__ import annotations

import pytest

from .test_printing import run

SOURCE = r"""
#include <cstdio>
int main() {
    float *a, on_the_host[4];
    cudaMallocManaged(&a, 256);
    cudaMemLocation device{cudaMemLocationTypeDevice, 0}, host = {cudaMemLocationTypeHost, 0};
    printf("%d", cudaMemPrefetchAsync(a, 256, 0) + cudaMemPrefetchAsync(a, 256, 0, nullptr));
    printf("%d", cudaMemPrefetchAsync(a, 256, device, 0) + cudaMemPrefetchAsync(a, 256, host, 0, nullptr));
    printf("%d", cudaMemAdvise(a, 256, cudaMemAdviseSetReadMostly, 0));
    printf("%d\n", cudaMemAdvise(a, 256, cudaMemAdviseSetPreferredLocation, device));
    printf("%d\n", cudaMemPrefetchAsync(on_the_host, 16, device, 0) == cudaErrorInvalidValue);
    cudaFree(a);
}
"""


@pytest.mark.slow
def test_both_forms_are_taken_for_managed_memory_alone(tmp_path) -> None:
    done = run(tmp_path, SOURCE)
    assert (done.returncode, done.stdout) == (0, "0000\n1\n"), done.stderr
