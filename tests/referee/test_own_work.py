"""Whose kernel is it? By its name on a GPU, where nothing else is seen."""

import pytest

from grader.referee.own_work import is_own

SOURCE = """
__global__ void gemm_kernel(const float* x, float* out) { out[0] = x[0]; }
template <int N> __global__ void __launch_bounds__(256) fused(float* out) { out[0] = N; }
"""


@pytest.mark.parametrize(
    ("kernel", "own"),
    [
        ("gemm_kernel(float const*, float*)", True),
        ("void fused<4>(float*)", True),
        ("sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize32x32x8", False),
        ("void at::native::vectorized_elementwise_kernel<4>(int)", False),
        ("void cutlass::Kernel<cutlass_80_simt_sgemm_128x64>(float*)", False),
        ("triton_poi_fused_relu_0", False),
    ],
)
def test_a_kernel_is_the_files_own_when_it_is_defined_there(kernel: str, own: bool) -> None:
    assert is_own(kernel, SOURCE) is own
