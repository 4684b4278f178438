"""Several orders of blocks and warps: what is right by luck in one of them is found out in another."""

from pathlib import Path

import pytest

from grader.backends.detect import Choice
from grader.domain.lessons import load_task
from grader.domain.options import GradingOptions
from grader.domain.submission import read
from grader.domain.verdict import Status, Verdict
from grader.referee.job import Job
from grader.referee.pipeline import check, warm

TASK = Path(__file__).parent / "corpus" / "tasks" / "square"
# Blocks draw a ticket. Whoever takes it for the block's index is right as long as blocks come in their order.
LUCKY = '''
import torch
from torch.utils.cpp_extension import load_inline

source = r"""
#include <torch/extension.h>
#include <c10/cuda/CUDAException.h>
__global__ void square_kernel(const float* in, float* out, int n, int* turns) {
    __shared__ int turn;
    if (threadIdx.x == 0) turn = atomicAdd(turns, 1);
    __syncthreads();
    const int block = TURN;
    const int i = block * blockDim.x + threadIdx.x;
    if (i < n) out[i] = turn == block ? in[i] * in[i] : 0.0f;
}
torch::Tensor square(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda(), "x is not on a CUDA device");
    x = x.contiguous();
    auto out = torch::empty_like(x);
    const int n = x.numel();
    if (n == 0) return out;
    auto turns = torch::zeros({1}, x.options().dtype(torch::kInt));
    square_kernel<<<(n + 31) / 32, 32>>>(
        x.data_ptr<float>(), out.data_ptr<float>(), n, turns.data_ptr<int>());
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}
"""
square = load_inline("lucky", "torch::Tensor square(torch::Tensor x);", source, functions=["square"]).square
'''


def grade(folder: Path, block: str, schedules: int) -> Verdict:
    path = folder / "mine.py"
    path.write_text(LUCKY.replace("TURN", block))
    task, choice = load_task(TASK / "task.py"), Choice("simt", "test")
    options = GradingOptions(schedules=schedules)
    job = Job("square", task, TASK / "reference.py", read(path), choice, options=options)
    return check(warm(job)).verdict


@pytest.mark.thorough
@pytest.mark.slow
def test_an_order_that_is_luck_fails_in_another_schedule(tmp_path: Path) -> None:
    assert grade(tmp_path, "blockIdx.x", 1).ok
    verdict = grade(tmp_path, "blockIdx.x", 4)
    assert verdict.status is Status.WRONG_OUTPUT
    failed = next(f for f in verdict.findings if not f.ok)
    assert "Only in schedule" in failed.message and failed.evidence["schedule"] in (1, 2, 3)


@pytest.mark.slow
def test_a_ticket_that_stands_for_the_block_is_right_in_all(tmp_path: Path) -> None:
    assert grade(tmp_path, "turn", 4).ok
