"""What the referee compiles for players on a GPU, and what it leaves to them; no GPU is needed for that."""

import time

import pytest

from grader.backends import detect
from grader.backends.extension.request import BuildRequest
from grader.domain.verdict import Status
from grader.feedback.explain.attach import explained
from grader.referee import builder, nearest
from grader.referee.fault import FaultError

KERNEL = (
    "__global__ void k(float* x) { x[threadIdx.x] = 1.0f; }\n"
    "void run(torch::Tensor x) { k<<<1, 1>>>(x.data_ptr<float>()); }\n"
)
needs_nvcc = pytest.mark.skipif(not detect.nvcc(), reason="nvcc is not installed")


def request(cuda: str = KERNEL, **more: object) -> dict[str, object]:
    data = {"name": "mine", "cpp_sources": ["void run(torch::Tensor x);"], "cuda_sources": [cuda]}
    return BuildRequest.from_json(data | {"functions": {"run": "Runs."}} | more).as_json()


@needs_nvcc
@pytest.mark.slow
def test_a_kernel_is_built_in_the_compilers_sandbox() -> None:
    made = builder.for_backend("cuda", 300.0, "auto", card="9.0")
    reply = made(request(f"{KERNEL}// {time.time_ns()}\n"))  # which no earlier run has built
    assert reply.path.endswith("/mine.so") and not reply.ordinary
    (built,) = made.builds
    assert built.name == "mine" and built.headers == "lean" and not built.ordinary
    assert {"nvcc device.cubin", "g++ host.o", "g++ main.o", "g++ mine.so"} <= built.steps.keys()
    with pytest.raises(FaultError) as caught:
        made(request(KERNEL.replace("1.0f", "nothing")))
    assert caught.value.status is Status.COMPILE_ERROR and '"nothing" is undefined' in caught.value.message


@needs_nvcc
def test_what_is_left_to_the_player_is_said_once() -> None:
    said: list[str] = []
    made = builder.for_backend("cuda", 300.0, "auto", card="9.0", say=said.append)
    for _ in range(2):
        assert made(request("#ifdef __CUDACC__\n#endif\n" + KERNEL)).ordinary
    (sentence,) = said
    assert sentence.startswith(
        "mine is built as PyTorch does, which takes longer: the source asks by a macro"
    )


def test_a_file_cannot_be_read_through_a_flag() -> None:
    """What the compiler is given stays within what is known, and what it may read within its sandbox."""
    made = builder.for_backend("cuda", 300.0, "auto", card="9.0")
    assert "not known here" in made(request(cuda_cflags=["--options-file", "/etc/passwd"])).ordinary


def test_the_ordinary_way_can_be_asked_for() -> None:
    made = builder.for_backend("cuda", 300.0, "auto", card="9.0", ordinary=True)
    assert made(request()).ordinary == "it was asked for" and not made.builds


def test_without_a_card_the_player_builds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(detect, "gpu_capability", lambda: "")
    reply = builder.for_backend("cuda", 300.0, "auto")(request())
    assert reply.ordinary and not reply.path


def test_an_impossible_request_is_tampering() -> None:
    with pytest.raises(FaultError, match="impossible build"):
        builder.for_backend("cuda", 300.0, "auto", card="9.0")({"name": "../x"})


def test_a_compiler_that_does_not_end_is_named_and_nothing_is_searched() -> None:
    deep = f"static int deep = {'(' * 30_000}1{')' * 30_000};\n"
    made = builder.for_backend("simt", 1.0, "auto")
    with pytest.raises(FaultError) as caught:
        made(request(deep + KERNEL))
    late = explained(caught.value.finding("load"), deep + KERNEL)
    assert late.status is Status.TIMEOUT and not nearest.wanted(late)
    assert late.evidence["explanation"]["rule"] == "slow-compiler"
