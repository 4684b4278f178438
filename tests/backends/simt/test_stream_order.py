"""Work of several streams: what nothing orders is found, and what something orders is not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from .conftest import line_of

if TYPE_CHECKING:
    from .conftest import Play

WRONG = {
    "nothing": "reads element 0 of t (Float[1024]), which the kernel first has written",
    "early_event": "reads element 0 of t",
    "event_of_another": "reads element 0 of t",
    "host_waits_for_another": "reads element 0 of t",
    "overwritten": "writes element 0 of t (Float[1024]), which the kernel second has used",
    "copy": "a copy reads element 0 of Float[1024], which the kernel first has written",
    "fill": "a fill writes element 0 of Float[1024], which the kernel first has written",
    "freed": "cudaFreeAsync frees byte 0 of an allocation of 4096 bytes, which the kernel first has written",
    "operator": "aten::add reads element 0 of Float[1024], which the kernel first has written",
    "graph_without_edge": "reads element 0 of t",
    "copied_in_a_graph": "a copy reads element 0 of Float[1024], which the kernel first has written",
    "filled_in_a_graph": "a fill writes element 0 of Float[1024], which the kernel first has written",
    "variable": "a copy writes element 0 of the __device__ variable factor, which the kernel third has used",
    "python_nothing": "reads element 0 of x",
    "python_before_the_wait": "reads element 0 of x",
}
PINNED = {
    "pinned_written_early": ("copy-source-race", "is to copy byte 30 of"),
    "pinned_read_early": ("copy-target-race", "while a copy to it that was asked for before may not be done"),
}
RIGHT = (
    "given_back_waited", "given_back_recorded", "given_back_recorded_below", "python_recorded", "given_back_of_another_size", "variable_same", "variable_waited", "pinned_kept", "pinned_read", "pinned_written",
    "forked_copy", "forked_rows", "forked_peer", "forked_symbol", "forked_fill", "forked_call", "rows_of_a_stream",
    "event", "through_two", "host_waits", "blocking", "copy_in_order", "freed_in_order", "graph", "captured",
    "python_wait_stream", "python_wait_event", "python_host", "python_stream", "python_default_waits", "backwards",
)  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_nothing_orders_is_found(play: Play, name: str) -> None:
    answer = play("stream_order")[name]
    assert answer["error"] == ""
    first = answer["findings"][0]
    assert first["kind"] == "stream-race", answer["findings"]
    assert WRONG[name] in first["what"]
    assert "nothing says which of the two comes first" in first["what"]


@pytest.mark.parametrize("name", PINNED)
def test_pinned_memory_stays_until_the_host_has_waited(play: Play, name: str) -> None:
    answer = play("stream_order")[name]
    assert answer["error"] == ""
    (finding,) = answer["findings"]
    kind, words = PINNED[name]
    assert finding["kind"] == kind and words in finding["what"] and finding["line"]


@pytest.mark.parametrize(("name", "kernel"), [("given_back", "second"), ("python_given_back", "first")])
def test_memory_that_is_given_back_too_early_goes_to_the_next_tensor(
    play: Play, name: str, kernel: str
) -> None:
    answer = play("stream_order")[name]
    assert answer["error"] == ""
    finding = answer["findings"][0]
    assert finding["kind"] == "reuse-race" and finding["other"]["line"]
    assert "memory of 4096 bytes that was given back to PyTorch goes to a new tensor" in finding["what"]
    assert f"the kernel {kernel} on another stream" in finding["what"]


@pytest.mark.parametrize("name", RIGHT)
def test_what_something_orders_is_silent(play: Play, name: str) -> None:
    answer = play("stream_order")[name]
    assert (answer["error"], answer["findings"]) == ("", [])


def test_the_other_side_is_named_with_its_line(play: Play) -> None:
    (finding,) = play("stream_order")["nothing"]["findings"]
    assert finding["kernel"] == "second"
    assert finding["other"]["access"] == "write"
    assert finding["other"]["file"] == finding["file"]
    assert finding["other"]["line"] == finding["line"] - 1


def test_a_copy_of_a_graph_is_named_with_the_line_that_asks_for_it(play: Play) -> None:
    (finding,) = play("stream_order")["copied_in_a_graph"]["findings"]
    assert finding["line"] == line_of("stream_order", "in a graph")
    assert finding["other"]["line"]
