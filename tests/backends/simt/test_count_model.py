"""Counts against a direct model: each warp's addresses, worked out in Python, grouped as hardware does."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from grader.backends.simt.runtime.occupancy import occupancy
from grader.backends.simt.standalone import Counting, compile_program
from grader.profiling.by_line import by_line, summary

from .conftest import PROGRAMS

if TYPE_CHECKING:
    from grader.protocol.messages import Counts

LOAD, STORE, BANKS, GUARDED, UNEVEN, FUNCTIONS = range(6)
MOST = 1 << 16


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Counting:
    file = PROGRAMS / "expressions.cu"
    return Counting(compile_program([(str(file), file.read_text())], tmp_path_factory.mktemp("expressions")))


def run(program: Counting, which: int, blocks: int, threads: int, *numbers: int) -> Counts:
    program.functions.run(which, blocks, threads, *(*numbers, 0, 0, 0)[:3])
    (launch,) = program.launches()
    assert launch.counts is not None
    return launch.counts


def warps(blocks: int, threads: int) -> list[list[int]]:
    """Thread numbers by warp: a block's last warp may have fewer lanes."""
    return [
        [block * threads + t for t in range(first, min(first + 32, threads))]
        for block in range(blocks)
        for first in range(0, threads, 32)
    ]


numbers = st.tuples(st.integers(0, 70), st.integers(0, 5000), st.integers(0, 40))
shapes = st.tuples(st.integers(1, 5), st.integers(1, 300))


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(shape=shapes, abc=numbers, which=st.sampled_from([LOAD, STORE]))
def test_sectors_of_any_index(
    program: Counting, shape: tuple[int, int], abc: tuple[int, int, int], which: int
) -> None:
    a, b, c = abc
    counts = run(program, which, *shape, a, b, c)
    expected = sum(len({(i * a + i // 32 * b + c) % MOST // 8 for i in warp}) for warp in warps(*shape))
    found = counts.global_load if which == LOAD else counts.global_store
    assert (found.requests, found.sectors) == (len(warps(*shape)), expected)
    assert found.lanes == shape[0] * shape[1]


@settings(max_examples=60, deadline=None)
@given(shape=shapes, abc=numbers)
def test_wavefronts_of_any_index(
    program: Counting, shape: tuple[int, int], abc: tuple[int, int, int]
) -> None:
    a, b, c = abc
    found = run(program, BANKS, *shape, a, b, c).shared_load
    expected = 0
    for warp in warps(*shape):
        words = {(i * a + i // 32 * b + c) % 1024 for i in warp}
        expected += max(sum(word % 32 == bank for word in words) for bank in range(32))
    assert found.wavefronts == expected
    assert found.conflicts == expected - len(warps(*shape))


@settings(max_examples=30, deadline=None)
@given(shape=shapes, n=st.integers(0, 1600), lanes=st.integers(0, 32))
def test_arithmetic_of_the_threads_that_do_it(
    program: Counting, shape: tuple[int, int], n: int, lanes: int
) -> None:
    counts = run(program, GUARDED, *shape, n, lanes)
    at_work = sum(i < n and i % shape[1] % 32 < lanes for i in range(shape[0] * shape[1]))
    assert counts.flops == 2 * at_work
    assert counts.global_store.lanes == at_work


def test_a_division_counts_as_what_a_gpu_does_for_it(program: Counting) -> None:
    found = run(program, FUNCTIONS, 3, 64, 150).operations
    each = {"add_f32": 5, "mul_f32": 2, "fma_f32": 4, "div_f32": 1, "rcp_f32": 1, "sqrt_f32": 1}
    assert found == {kind: 150 * n for kind, n in each.items()} | {"flops": 150 * 36}


def test_a_sample_of_a_regular_kernel_is_exact(program: Counting) -> None:
    whole = run(program, GUARDED, 200, 256, 200 * 256 - 77, 32)
    program.sample_above(1000)
    sampled = run(program, GUARDED, 200, 256, 200 * 256 - 77, 32)
    program.sample_above(0)
    assert (sampled.sampled, sampled.exact) == (True, True)
    assert (whole.sampled, whole.exact) == (False, True)
    assert replace(sampled, sampled=False) == whole


def test_a_sample_of_an_uneven_kernel_says_so(program: Counting) -> None:
    whole = run(program, UNEVEN, 200, 256, 200 * 256)
    program.sample_above(1000)
    sampled = run(program, UNEVEN, 200, 256, 200 * 256)
    program.sample_above(0)
    assert sampled.sampled and not sampled.exact
    assert any("an estimate: the blocks differ" in line for line in summary(sampled))
    # Distinct bytes are counted for every block, sampled or not.
    assert (sampled.read_bytes, sampled.written_bytes) == (whole.read_bytes, whole.written_bytes)
    assert sampled.global_load.requests == pytest.approx(whole.global_load.requests, rel=0.25)


def test_a_line_in_words(program: Counting) -> None:
    counts = run(program, LOAD, 4, 256, 32, 0, 0)
    worst, *others = by_line(counts.lines)
    assert (Path(worst.file).name, worst.line) == ("expressions.cu", 4)
    assert worst.sentence() == "line 4: global load, 32 sectors a request, 8x more than needed"
    assert [line.sentence() for line in others] == [
        "line 4: global store, 4 sectors a request, as few as possible"
    ]
    counts = run(program, BANKS, 4, 256, 2, 0, 0)
    assert "line 17: shared load, 2 wavefronts a request, 2x more than needed" in summary(counts)


def test_divergent_lines_are_named(program: Counting) -> None:
    counts = run(program, GUARDED, 4, 256, 4 * 256, 8)
    assert any(entry.line == 21 and entry.lanes == 8 for entry in counts.divergent)
    assert not run(program, GUARDED, 4, 256, 4 * 256, 32).divergent


@pytest.mark.parametrize(
    ("threads", "shared", "blocks", "limit"),
    [(256, 0, 8, "warps"), (32, 0, 32, "blocks"), (128, 48 << 10, 4, "shared memory"), (1024, 0, 2, "warps")],
)
def test_occupancy(threads: int, shared: int, blocks: int, limit: str) -> None:
    found = occupancy(threads, shared)
    assert (found.blocks, found.limit) == (blocks, limit)
    assert found.fraction == blocks * (threads / 32) / 64
