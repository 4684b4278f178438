"""Barriers of inline PTX: whole pipelines of bulk copies are right, and each way to misuse them is a finding."""

import pytest

from .conftest import Play, line_of

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("name", "result"),
    [
        ("jumps", [n * (n - 1) // 2 for n in range(32)]),
        ("given", [3 * (n ^ 1) for n in range(32)]),
    ],
)
def test_right_ones_give_the_result(name: str, result: object, play: Play) -> None:
    answer = play("ptx_barriers")[name]
    assert (answer["error"], answer["findings"]) == ("", [])
    assert answer["result"] == result


def test_numbered_barriers_are_counted(play: Play) -> None:
    (launch,) = play("ptx_barriers")["given"]["launches"]
    assert launch["counts"]["barriers"] == 1


def test_a_pipeline_with_a_warp_that_copies_is_right(play: Play) -> None:
    answer = play("ptx_barriers")["staged"]
    assert (answer["error"], answer["findings"]) == ("", [])
    assert answer["result"] < 1e-5


def test_a_wait_in_a_loop_ends_whatever_is_looked_for_meanwhile(play: Play) -> None:
    """Looks for unseen accesses count what faults, not only what they look for: each of these took minutes."""
    assert play("ptx_barriers")["waits_for_ever"]["result"] == 12


@pytest.mark.parametrize(
    ("name", "kind", "line", "says"),
    [
        ("too_many_bytes", "step-budget", None, "more steps than allowed"),  # who waits asks again and again
        ("not_waited", "shared-uninitialised-read", "read", "which no thread of the block has written"),
        ("overwritten", "shared-race", None, "without order"),
        (
            "a_warp_too_many",
            "deadlock",
            "one warp too many",
            "waits at barrier 1 for 96 threads, of which 32 never come",
        ),
        ("half_a_warp", "async-barrier", "half a warp", "for 48 threads: they must be whole warps"),
        ("out_of_place", "async-barrier", "begun", "not all multiples of 16"),
        ("not_met", "shared-race", "turned", "without order"),
        ("not_given", "shared-race", "taken", "without order"),
    ],
)
def test_wrong_use_is_a_finding(name: str, kind: str, line: str | None, says: str, play: Play) -> None:
    first = play("ptx_barriers")[name]["findings"][0]
    assert first["kind"] == kind, first
    assert line is None or first["line"] == line_of("ptx_barriers", line)
    assert says in first["what"]
