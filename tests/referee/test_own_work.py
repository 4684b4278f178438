"""Whose kernel is it? By its name on a GPU, where nothing else is seen; on the CPU by what its values are."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from grader.domain.task import Case, Task, Tensor
from grader.domain.verdict import Status
from grader.feedback.explain.own_lines import code_of
from grader.protocol.messages import Launch
from grader.protocol.play import Told, Watched
from grader.referee.own_work import ObservedCall, by_the_host, is_own, keep_launches, not_own, only_launched

SOURCE = """
__global__ void gemm_kernel(const float* x, float* out) { out[0] = x[0]; }
template <int N> __global__ void __launch_bounds__(256) fused(float* out) { out[0] = N; }
// __global__ void vectorized_elementwise_kernel(int); __global__ void at(int);
// __global__ void cudnn_one(int);
__global__ void distribution_kernel(float* out) {}
namespace gemm { __global__ void whole(float* out) {} }
#define NAME(a, b) a##_##b
#define KERNEL(n) __global__ void NAME(swish, n)(float* out) {}
KERNEL(4)
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
        ("void cudnn_one(int)", False),
        ("void at::native::distribution_kernel<4>(float*)", False),
        ("void (anonymous namespace)::fused<4>(float*)", True),
        ("void gemm::whole(float*)", True),
        ("void cublas::whole(float*)", False),
        ("swish_4(float*)", True),
        ("swish_relu(float*)", False),
    ],
)
def test_a_kernel_is_the_files_own_when_it_is_defined_there(kernel: str, own: bool) -> None:
    assert is_own(kernel, SOURCE, code_of(SOURCE)) is own


TASK = Task(title="square", entry="square", cases=(Case("one", (Tensor((30, 40)),), "One.", 1),), own="all")


def _told(
    elsewhere: tuple[tuple[str, int], ...],
    foreign: tuple[tuple[int, int], ...],
    shape: tuple[int, ...] = (30, 40),
    task: Task = TASK,
) -> str:
    player: Any = SimpleNamespace(backend="simt")
    watched = Watched(elsewhere=elsewhere, foreign=foreign)
    launched = Launch(kernel="square_kernel", grid=(1, 1, 1), block=(1, 1, 1))
    seen = ObservedCall(player, watched, [launched], SOURCE)
    found = not_own(task, TASK.cases[0], seen, [shape], [(30, 40)], np.random.default_rng(1))
    return found.message if found else ""


def test_what_kernels_left_and_small_tables_are_own_work() -> None:
    assert _told((), ((0, 0),)) == ""
    assert _told((("the host", 4 * 100),), ((0, 0),)) == ""


@pytest.mark.parametrize(
    ("shape", "numbers", "own"), [((1,), 1, False), ((8,), 8, False), ((8,), 3, True), ((40,), 15, True)]
)
def test_a_small_result_that_was_computed_elsewhere_is_not_own_work(
    shape: tuple[int, ...], numbers: int, own: bool
) -> None:
    assert ("computed elsewhere (sum" in _told((("sum", 4 * numbers),), ((0, 0),), shape)) is not own


def test_a_product_of_one_inner_element_is_the_librarys() -> None:
    """torch.einsum() multiplies then; where the library may make the product, that is one."""
    made = (("mul", 4),)
    for own, told in (("fused", False), ("elementwise", False), ("all", True)):
        found = _told(made, ((0, 0),), (1, 1), replace(TASK, own=own))
        assert ("computed elsewhere (mul" in found) is told, own
    assert _told((("sum", 4),), ((0, 0),), (1, 1), replace(TASK, own="fused"))
    assert _told((("mul", 4800),), ((0, 0),), task=replace(TASK, own="fused"))


def test_a_small_table_of_the_host_is_no_work_of_a_small_result() -> None:
    assert _told((("the host", 8),), ((0, 0),), (1,)) == ""


def test_numbers_from_elsewhere_are_not_own_work() -> None:
    assert "computed elsewhere (mul: 1,100, the host: 100)" in _told(
        (("the host", 400), ("mul", 4400)), ((0, 0),)
    )
    assert "computed 7 of its 1,200 elements, the first is 5" in _told((), ((7, 5),))
    assert "not all of its tensors were seen" in _told((), ())


def test_where_elements_are_to_be_moved_neither_a_view_nor_a_copy_by_the_runtime_does_it() -> None:
    case = Case("moved", (Tensor((30, 40)),), "One.", 1, moves=True)
    copied = Told("a copy on the device", (64, 0, 0))
    for told, turned, words in (
        ((), True, ".t()"),
        ((copied, copied), False, "2 copies on the device"),
        ((), False, ""),
    ):
        watched = Watched(elsewhere=(), foreign=((0, 0),), told=told)
        launched = Launch(kernel="square_kernel", grid=(1, 1, 1), block=(1, 1, 1))
        player: Any = SimpleNamespace(backend="simt")
        seen = ObservedCall(player, watched, [launched], SOURCE, turned)
        found = not_own(TASK, case, seen, [(40, 30)], [(30, 40)], np.random.default_rng(1))
        assert (found is not None) == bool(words) and (not found or words in found.message)


def _of_interpreted(watched: Watched, launched: tuple[Launch, ...] = ()) -> Any:
    seen = ObservedCall(SimpleNamespace(backend="simt"), watched, launched, SOURCE)  # type: ignore[arg-type]
    return not_own(TASK, TASK.cases[0], seen, [(30, 40)], [(30, 40)], np.random.default_rng(1))


def test_a_kernel_in_an_interpreter_is_neither_believed_nor_denied() -> None:
    found = _of_interpreted(Watched(elsewhere=(), foreign=((1200, 0),), interpreted=1))
    assert found.status is Status.PENDING_GPU and not found.points and found.max_points == 1
    assert "Triton and numba" in found.message
    mixed = Watched(elsewhere=(), foreign=((1200, 0),), interpreted=1)
    launched = Launch(kernel="square_kernel", grid=(1, 1, 1), block=(1, 1, 1))
    assert _of_interpreted(mixed, (launched,)).status is Status.PENDING_GPU
    assert _of_interpreted(Watched(elsewhere=(), foreign=((1200, 0),))).status is Status.NO_KERNEL


def test_torchs_work_beside_a_kernel_in_an_interpreter_is_named() -> None:
    ops = (("aten::sigmoid", ((30, 40),)),)
    found = _of_interpreted(Watched(ops, elsewhere=(), foreign=((1200, 0),), interpreted=1))
    assert found.status is Status.NO_KERNEL and "done by torch: sigmoid" in found.message


def test_what_the_host_told_is_undecided_where_an_interpreter_told_it() -> None:
    one, other = ([Told("a copy from the host", (word,) * 40)] for word in (1, 2))
    for interpreted, status in ((False, Status.NO_KERNEL), (True, Status.PENDING_GPU)):
        found = by_the_host(TASK, TASK.cases[0], one, other, 1200, interpreted=interpreted)
        assert found is not None and found.status is status


@pytest.mark.parametrize(
    ("before", "now", "status", "says"),
    [
        (["square"], ["square"], None, ""),
        (["square"], [], Status.NO_KERNEL, "No kernel of the file was launched"),
        (["square"], ["square", "other"], Status.PENDING_GPU, "other is launched"),
        ([], ["square"], None, ""),  # where nothing was right, nothing is known
    ],
)
def test_where_no_block_runs_a_kernel_must_be_launched_that_was_seen_before(
    before: list[str], now: list[str], status: Status | None, says: str
) -> None:
    case = Case("many", (Tensor((70_000, 3)),), launched=True)
    task = Task("many", "square", cases=(case,), own="all")
    session: Any = SimpleNamespace(task=task, kernels={}, launches=[Launch(kernel=k) for k in before])
    if before:
        keep_launches(session, case)
    session.launches = [Launch(kernel=k) for k in now]
    found = only_launched(session, case)
    assert (found and found.status) is status and (not found or says in found.message)
