"""Kernels that launch kernels: the new grids run, in an order that CUDA promises; what it does not is a finding."""

import pytest

from .conftest import Play, line_of

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("name", "result", "launches"),
    [
        ("in_turn", [26.0] + [6.0] * 63, 4),
        ("halves", [1.0] * 64, 15),
        ("after_a_barrier", [6.0] * 64, 2),
        ("chain", [1000.0] + [0.0] * 63, 1000),
        ("shared_by_all", [21.0, 21 * 2.0**-149] + [0.0] * 62, 11),
    ],
)
def test_right_ones_give_the_result(name: str, result: list[float], launches: int, play: Play) -> None:
    answer = play("children")[name]
    assert (answer["error"], answer["findings"]) == ("", [])
    assert answer["result"] == result
    assert len(answer["launches"]) == launches


def test_each_grid_has_counts_of_its_own(play: Play) -> None:
    answer = play("children")["counted"]
    assert answer["result"] == [6.0] * 64
    assert [(x["kernel"], x["grid"][0]) for x in answer["launches"]] == [("after_a_barrier", 1), ("add", 2)]
    assert [x["counts"]["barriers"] > 0 for x in answer["launches"]] == [True, False]


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("without_a_barrier", "by others"),
        ("written_later", "too late"),
        ("read_later", "beside it"),
        ("of_two_blocks", ""),
        ("of_two_streams", ""),
        ("forgotten", ""),
    ],
)
def test_what_runs_beside_it_on_a_gpu_races(name: str, other: str, play: Play) -> None:
    first = play("children")[name]["findings"][0]
    assert first["kind"] == "global-race" and first["kernel"] == "add", first
    assert not other or first["other"]["line"] == line_of("children", other)


@pytest.mark.parametrize(
    ("name", "line", "says"),
    [
        (
            "too_large",
            "too large",
            "launches add<<<(2, 1, 1), (2000, 1, 1), 0>>>, which fails: a block has at most",
        ),
        ("endless", "endless", "kernels may launch kernels 24 levels deep"),
        ("by_a_macro", "", "launches add by a macro, or in a function for host and device"),
    ],
)
def test_a_launch_that_fails_is_told_at_its_line(name: str, line: str, says: str, play: Play) -> None:
    first = play("children")[name]["findings"][0]
    assert first["kind"] == "child-launch" and says in first["what"], first
    assert not line or first["line"] == line_of("children", line)


def test_the_thread_that_launched_is_told_of_the_failure_and_no_other(play: Play) -> None:
    assert play("children")["too_large"]["result"][:3] == [7.0, 8.0, 0.0]


def test_an_access_of_the_new_grid_is_judged_like_any_other(play: Play) -> None:
    first = play("children")["beyond"]["findings"][0]
    assert (first["kind"], first["kernel"]) == ("global-out-of-bounds", "twice")
