"""What a lesson can ask, a pair can ask too: work by the file's own kernels, and cases that nobody sees."""

from __future__ import annotations

import importlib.util
import textwrap
from typing import TYPE_CHECKING

import pytest

import grader
from benchmarks.pairs.kit import reference
from grader.domain.errors import BadInputError
from grader.domain.options import GradingOptions
from grader.domain.verdict import Status, Verdict

if TYPE_CHECKING:
    from pathlib import Path

SQUARE = reference("return x * x", "[torch.randn(37, 11)]")
OWN = """
import torch
from torch.utils.cpp_extension import load_inline

CUDA = r'''
__global__ void square(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] * in[i];
}
torch::Tensor run(torch::Tensor x) {
    auto out = torch::empty_like(x);
    int n = x.numel();
    if (n) square<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), out.data_ptr<float>(), n);
    return out;
}
'''
extension = load_inline("own_square", "torch::Tensor run(torch::Tensor x);", CUDA, functions=["run"])


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return RESULT
"""
RIGHT, TORCHS = (
    OWN.replace("RESULT", "extension.run(x)"),
    OWN.replace("RESULT", "(extension.run(x), x * x)[1]"),
)
IDLE = """
import numpy
import torch
import triton
import triton.language as tl


@triton.jit
def kernel(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, i < n), i < n)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        out = torch.empty_like(x)
        kernel[(1,)](x, out, x.numel(), BLOCK=512)
        return torch.from_numpy(numpy.square(x.cpu().numpy())).to(x.device)
"""
SPREAD = """
from grader.domain.task import Case, Tensor

HIDDEN = (Case("spread", (Tensor((8, 5), layout="strided"),), "", 3, hidden="layouts"),)
"""
TASK = """
tests:
  - {n: 8}
  - {n: 12, hidden: odd sizes}
"""
LISTED = """
import torch


def generate_input(n):
    return torch.randn(n)


def ref_kernel(x):
    return 2 * x
"""


def judged(folder: Path, mine: str, **options: object) -> Verdict:
    (folder / "reference.py").write_text(SQUARE)
    (folder / "mine.py").write_text(mine)
    return grader.check(folder / "reference.py", folder / "mine.py", backend="simt", warm=True, **options)  # type: ignore[arg-type]


@pytest.mark.slow
def test_a_pair_can_ask_for_the_files_own_kernels(tmp_path: Path) -> None:
    assert judged(tmp_path, RIGHT, own="all").ok
    assert judged(tmp_path, TORCHS).ok  # right, whoever computed it
    verdict = judged(tmp_path, TORCHS, own="all")
    assert verdict.status is Status.NO_KERNEL
    said = next(f.message for f in verdict.findings if not f.ok)
    assert "no thread of a kernel computed 407 of its 407 elements" in said
    with pytest.raises(BadInputError, match="elementwise, all"):
        GradingOptions(own="some")  # type: ignore[arg-type]


@pytest.mark.slow
def test_a_pair_has_hidden_cases_of_a_teacher(tmp_path: Path) -> None:
    hidden = tmp_path / "hidden.py"
    hidden.write_text(SPREAD)
    verdict = judged(tmp_path, RIGHT, hidden=hidden)  # follows the pointer, whatever the strides
    assert not verdict.ok and verdict.points == verdict.max_points - 3
    failed = next(f for f in verdict.findings if not f.ok)
    assert failed.id == "hidden: layouts" and "Its category is: layouts" in failed.message
    assert "8" not in failed.message and failed.evidence == {}
    contiguous = RIGHT.replace("extension.run(x)", "extension.run(x.contiguous())")
    assert judged(tmp_path, contiguous, hidden=hidden).ok


def test_a_test_of_a_list_can_be_hidden(tmp_path: Path) -> None:
    (tmp_path / "task.yml").write_text(TASK)
    (tmp_path / "reference.py").write_text(LISTED)
    wrong = "def custom_kernel(x):\n    return 2 * x if x.numel() == 8 else 2 * x + 1\n"
    (tmp_path / "mine.py").write_text(textwrap.dedent(wrong))
    verdict = grader.check(tmp_path / "task.yml", tmp_path / "mine.py", backend="simt", warm=True)
    assert [f.id for f in verdict.findings if not f.ok] == ["hidden: odd sizes"]
    assert not any("12" in f.message for f in verdict.findings)


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("triton") is None, reason="needs triton")
def test_whose_work_it_is_beside_a_triton_kernel_waits_for_a_gpu(tmp_path: Path) -> None:
    """In the interpreter an idle kernel looks like one that did the work: neither has points here."""
    verdict = judged(tmp_path, IDLE, own="all")
    assert verdict.status is Status.PENDING_GPU and verdict.points == 0
    assert verdict.waiting == verdict.max_points
    assert {f.status for f in verdict.findings if f.max_points} == {Status.PENDING_GPU}
