"""What a profiler's trace says of kernels."""

from __future__ import annotations

from typing import Any

from grader.player import observe


def kernel(begin_us: float, name: str, stream: int) -> dict[str, Any]:
    return {"cat": "kernel", "ph": "X", "ts": begin_us, "dur": 1.0, "name": name, "args": {"stream": stream}}


def test_kernels_on_the_stream_of_the_first_one() -> None:
    events = [
        kernel(5, "add", 7), kernel(9, "mul", 20), kernel(1, "at::spin_kernel(long)", 7), kernel(7, "sub", 7),
        {"cat": "gpu_memcpy", "ph": "X", "ts": 0, "name": "copy", "args": {"stream": 20}},
    ]  # fmt: skip
    assert observe.beside_the_first(events, "spin_kernel") == ["add", "sub"]


def test_where_the_first_one_is_missing_nothing_is_known() -> None:
    assert observe.beside_the_first([kernel(5, "add", 7), kernel(6, "mul", 7)], "spin_kernel") == []
    assert observe.beside_the_first([], "spin_kernel") == []
