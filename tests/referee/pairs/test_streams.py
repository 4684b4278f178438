"""A launch on the default stream is right in a pair; whether it follows the current stream is said apart."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

import grader
from benchmarks.pairs.kit import reference
from grader.domain.errors import BadInputError
from grader.domain.options import GradingOptions
from grader.domain.verdict import Status

if TYPE_CHECKING:
    from pathlib import Path

    from grader.domain.verdict import Finding, Verdict

SUM = reference("a, b|return a + b", "[torch.randn(64, 33), torch.randn(64, 33)]")
MINE = """
import threading
import torch
from torch.utils.cpp_extension import load_inline

CUDA = r'''
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>

__global__ void sum_of_two(const float* a, const float* b, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i] + b[i];
}
torch::Tensor sum(torch::Tensor a, torch::Tensor b) {
    auto out = MEMORY(a);
    int n = a.numel();
    BEFORE
    sum_of_two<<<CONFIG>>>(a.data_ptr<float>(), b.data_ptr<float>(), out.data_ptr<float>(), n);
    AFTER
    return out;
}
'''
DECLARED = "torch::Tensor sum(torch::Tensor a, torch::Tensor b);"
extension = load_inline("two_summed", DECLARED, CUDA, functions=["sum"])


class ModelNew(torch.nn.Module):
    def forward(self, a, b):
        FORWARD
"""
GRID = "(n + 255) / 256, 256"
LINE = 18  # of the launch
CALL = "return extension.sum(a, b)"
IN_A_THREAD = """out = []
        thread = threading.Thread(target=lambda: out.append(extension.sum(a, b)))
        thread.start()
        thread.join()
        return out[0]"""
OWN_STREAM = """here = torch.cuda.current_stream()
        side = torch.cuda.Stream()
        WAIT
        with torch.cuda.stream(side):
            out = extension.sum(a, b)
        WAITED
        return out"""


def mine(
    config: str = GRID,
    *,
    before: str = "",
    after: str = "",
    forward: str = CALL,
    memory: str = "torch::zeros_like",
) -> str:
    """A submission that adds two tensors, launched in one way or another."""
    words = {"CONFIG": config, "BEFORE": before, "AFTER": after, "FORWARD": forward, "MEMORY": memory}
    text = MINE
    for name, value in words.items():
        text = text.replace(name, value)
    return text


CURRENT = f"{GRID}, 0, at::cuda::getCurrentCUDAStream()"
FOLLOW = {
    "current stream": mine(CURRENT),
    "current stream, asked for before": mine(
        f"{GRID}, 0, stream", before="auto stream = at::cuda::getCurrentCUDAStream();"
    ),
    "own stream, waited for": mine(
        CURRENT,
        forward=OWN_STREAM.replace("WAITED", "here.wait_stream(side)").replace(
            "WAIT", "side.wait_stream(here)"
        ),
    ),
    "device waited for, current stream": mine(CURRENT, before="cudaDeviceSynchronize();"),
    "value asked for, current stream": mine(
        CURRENT, forward="return extension.sum(a, b) if float(a[0, 0]) < 1e9 else a"
    ),
}
LEAVE = {
    "no stream": mine(),
    "memory that nobody has written": mine(memory="torch::empty_like"),
    "no stream, device waited for": mine(before="cudaDeviceSynchronize();"),
    "no stream, waits for the device": mine(after="cudaDeviceSynchronize();"),
    "null as the stream": mine(f"{GRID}, 0, nullptr"),
    "stream of the thread": mine(f"{GRID}, 0, cudaStreamPerThread"),
    "thread that was not told": mine(CURRENT, forward=IN_A_THREAD),
}
ALONE = mine(CURRENT, forward=OWN_STREAM.replace("WAITED", "pass").replace("WAIT", "pass"))
TORCHS = (
    "import torch\n\n\nclass ModelNew(torch.nn.Module):\n    def forward(self, a, b):\n        return a + b\n"
)


def judged(folder: Path, text: str, backend: str, **options: object) -> Verdict:
    (folder / "reference.py").write_text(SUM)
    (folder / "mine.py").write_text(text)
    return grader.check(
        folder / "reference.py", folder / "mine.py", backend=backend, warm=backend == "simt", **options
    )  # type: ignore[arg-type]


def said(verdict: Verdict) -> Finding:
    return next(f for f in verdict.findings if f.id == "streams")


def test_the_option_is_one_of_two_words() -> None:
    with pytest.raises(BadInputError, match="advise, strict"):
        GradingOptions(streams="loose")


BACKENDS = [pytest.param("simt", marks=pytest.mark.slow), pytest.param("cuda", marks=pytest.mark.gpu)]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", FOLLOW)
@pytest.mark.slow(cases=2)
def test_work_that_goes_to_the_current_stream(name: str, backend: str, tmp_path: Path) -> None:
    verdict = judged(tmp_path, FOLLOW[name], backend, streams="strict")
    assert verdict.ok and verdict.points == verdict.max_points, verdict.findings
    assert said(verdict).evidence == {"follows": True} and said(verdict).points == 1


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", LEAVE)
@pytest.mark.slow(cases=2)
def test_work_on_the_default_stream_is_right_and_said(name: str, backend: str, tmp_path: Path) -> None:
    verdict = judged(tmp_path, LEAVE[name], backend)
    assert verdict.ok and verdict.points == verdict.max_points, verdict.findings
    assert said(verdict).evidence["follows"] is False and said(verdict).max_points == 0
    assert "current stream" in said(verdict).message


@pytest.mark.parametrize("backend", BACKENDS)
def test_it_fails_where_that_is_asked_for(backend: str, tmp_path: Path) -> None:
    verdict = judged(tmp_path, LEAVE["no stream"], backend, streams="strict")
    assert verdict.status is Status.WRONG_STREAM and verdict.points == verdict.max_points - 1
    told = said(verdict)
    # The line is said once: by the explanation, where there is one, and else by the advice.
    where = told.evidence.get("explanation", {}).get("where", "") or told.message
    assert re.search(rf"line {LINE}\b", where) and "zeros" not in told.message
    assert mine().splitlines()[LINE - 1].strip().startswith("sum_of_two<<<")


@pytest.mark.slow
def test_what_the_cpu_back_end_does_not_see_waits_for_a_gpu(tmp_path: Path) -> None:
    advised, strict = (judged(tmp_path, TORCHS, "simt", streams=how) for how in ("advise", "strict"))
    assert advised.ok and said(advised).evidence == {"follows": None}
    assert strict.ok and said(strict).status is Status.PENDING_GPU and strict.waiting == 1


@pytest.mark.gpu
def test_torchs_own_kernels_go_to_the_current_stream(tmp_path: Path) -> None:
    assert said(judged(tmp_path, TORCHS, "cuda", streams="strict")).evidence == {"follows": True}


@pytest.mark.gpu
@pytest.mark.parametrize("time", range(5))
def test_the_verdict_is_the_same_each_time(time: int, tmp_path: Path) -> None:
    for text, follows in ((LEAVE["no stream"], False), (FOLLOW["current stream"], True)):
        verdict = judged(tmp_path, text, "cuda")
        assert verdict.ok and said(verdict).evidence["follows"] is follows, (time, verdict.findings)


@pytest.mark.gpu
@pytest.mark.parametrize("time", range(5))
def test_a_stream_that_waits_for_nobody_is_wrong_each_time(time: int, tmp_path: Path) -> None:
    verdict = judged(tmp_path, ALONE, "cuda")
    assert verdict.status is Status.WRONG_OUTPUT, (time, verdict.findings)
    assert said(verdict).status is Status.NOT_RUN


@pytest.mark.slow
def test_a_file_that_was_not_loaded_has_a_finding_for_its_points(tmp_path: Path) -> None:
    for text in ("raise ValueError(1)\n", "class ModelNew(:\n"):
        verdict = judged(tmp_path, text, "simt", streams="strict")
        assert said(verdict).status is Status.NOT_RUN and said(verdict).max_points == 1
