"""Asynchronous copies arrive when they are waited for; what is used before is a finding at its line."""

import pytest

from grader.feedback import memory
from grader.protocol.messages import MemoryFinding, decode

from .conftest import Play, line_of

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(("name", "result"), [("ptx", True), ("group", True)])
def test_right_copies_give_the_result(name: str, result: object, play: Play) -> None:
    answer = play("async_copies")[name]
    assert (answer["error"], answer["result"], answer["findings"]) == ("", result, [])


def test_a_right_pipeline_gives_the_result(play: Play) -> None:
    answer = play("async_copies")["right"]
    assert (answer["error"], answer["findings"]) == ("", [])
    assert answer["result"] < 1e-5


@pytest.mark.parametrize(("name", "missing"), [("not_waited", "waited for"), ("not_committed", "committed")])
def test_what_is_used_before_it_has_arrived_is_a_finding(name: str, missing: str, play: Play) -> None:
    answer = play("async_copies")[name]
    found = [f for f in answer["findings"] if f["kind"] == "copy-race"]
    assert found and {f["line"] for f in found} == {line_of("async_copies", "read")}
    finding = found[-1]
    assert finding["other"]["line"] == line_of("async_copies", "begun")
    assert f"to which an asynchronous copy was begun and not {missing}" in finding["what"]
    said = memory.describe(decode(finding, MemoryFinding, "a finding"))
    assert f"(at line {finding['other']['line']}, block (0, 0, 0) thread" in said
    assert answer["result"]  # and the result shows it: the place of what is missing holds NaN


@pytest.mark.parametrize("name", ["no_barrier_before", "no_barrier_after"])
def test_another_threads_copy_needs_a_barrier(name: str, play: Play) -> None:
    found = play("async_copies")[name]["findings"]
    assert {f["kind"] for f in found} <= {"shared-race", "copy-race"}
    assert {f["line"] for f in found} & {line_of("async_copies", "read"), line_of("async_copies", "begun")}


def test_a_copys_source_is_checked_where_it_begins(play: Play) -> None:
    (finding,) = play("async_copies")["beyond"]["findings"]
    assert (finding["kind"], finding["line"]) == ("global-out-of-bounds", line_of("async_copies", "beyond"))


def test_what_a_copy_is_to_bring_may_not_be_written(play: Play) -> None:
    (finding,) = play("async_copies")["written"]["findings"]
    assert (finding["kind"], finding["access"]) == ("copy-race", "write")
    assert finding["line"] == line_of("async_copies", "written")
