"""nvcc's opinion: what it refuses is told with place and cause; where it is absent, one sentence."""

from pathlib import Path

import pytest

from grader.backends import detect
from grader.backends.extension.request import BuildRequest
from grader.domain.errors import BadInputError
from grader.referee import nvcc

KERNEL = "\n__global__ void k(float* x) {\n    x[threadIdx.x] = HERE;\n}\n"
needs_nvcc = pytest.mark.skipif(not detect.nvcc(), reason="nvcc is not installed")


def request(value: str) -> BuildRequest:
    text = KERNEL.replace("HERE", value)
    return BuildRequest("mine", (), (text,), None, cuda_origins=(((1, "mine.py", 10),),))


@pytest.mark.slow
@needs_nvcc
def test_what_it_compiles_and_what_it_refuses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COURSE_CACHE", str(tmp_path))
    said: list[str] = []
    (right,) = nvcc.opinions([request("1.0f")], said.append)
    assert right.error == "" and right.seconds > 0 and len(said) == 1
    (wrong,) = nvcc.opinions([request("y")], said.append)
    assert 'identifier "y" is undefined' in wrong.error and wrong.place == "mine.py, line 12" and wrong.advice
    assert len(said) == 2
    assert nvcc.opinions([request("y")], said.append) == [wrong] and len(said) == 2  # remembered


def test_without_nvcc_one_sentence_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(detect, "nvcc", lambda: None)
    with pytest.raises(BadInputError, match="no nvcc here"):
        nvcc.opinions([request("1")], print)


def test_without_cuda_sources_there_is_nothing_to_say(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(detect, "nvcc", lambda: "/bin/false")
    assert nvcc.opinions([BuildRequest("mine", ("int f() { return 1; }",), (), None)], print) == []
