"""libcu++: barriers apart from waiting, pipelines, copies with a barrier, atomics, and the standard library's names."""

import pytest

from .conftest import Play, line_of

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", ["mirrored", "copied", "group", "own_pipeline", "block_pipeline", "roles"])
def test_right_programs_give_the_result(name: str, play: Play) -> None:
    answer = play("libcu")[name]
    assert (answer["error"], answer["findings"]) == ("", [])
    assert answer["result"] < 1e-5


def test_a_barrier_of_all_threads_counts_as_one_of_the_block(play: Play) -> None:
    """Each of the two rounds has two phases, and __syncthreads() comes before them."""
    (launch,) = play("libcu")["counted"]["launches"]
    assert launch["counts"]["barriers"] == 5


def test_atomics_lose_nothing(play: Play) -> None:
    answer = play("libcu")["atomics"]
    assert (answer["error"], answer["findings"]) == ("", [])
    assert answer["result"] == [64.0, 2 * sum(range(64)), 63, 5 + 2 * 64]


def test_cudas_own_atomics_with_an_order_lose_nothing_and_make_a_lock(play: Play) -> None:
    answer = play("libcu")["ordered"]
    assert (answer["error"], answer["findings"]) == ("", [])
    assert answer["result"] == [64.0, 8.0, 2 * sum(range(64)), 63, 255, 0]


def test_barriers_of_a_block_and_of_the_grid_go_together(play: Play) -> None:
    answer = play("libcu")["in_a_grid"]
    assert (answer["error"], answer["findings"]) == ("", [])
    mirrored = [b * 64 + 63 - i for b in range(4) for i in range(64)]
    assert answer["result"] == [3.0 * mirrored[(k + 64) % 256] + 3 for k in range(256)]


def test_the_standard_library_has_libcus_names(play: Play) -> None:
    answer = play("libcu")["standard"]
    assert (answer["error"], answer["findings"]) == ("", [])
    assert answer["result"][:6] == [10.0, 4.0, 3.5, 32767.0, 8.0, 3.5]


@pytest.mark.parametrize(
    ("name", "kinds", "lines", "says"),
    [
        ("no_init", {"async-barrier"}, {"arrives"}, "that no init() has set up"),
        ("one_missing", {"deadlock"}, None, "set up for 65 arrivals, of which 1 never comes"),
        ("one_too_many", {"async-barrier"}, None, "all that it was set up for have arrived"),
        ("init_alone", {"shared-race"}, None, "element 0 of bar"),
        ("early", {"shared-race"}, {"early"}, "without order to another thread's write"),
        ("no_second", {"shared-race"}, {"late", "written"}, "without order to another thread's"),
        ("copy_own", {"copy-race"}, {"own"}, "an asynchronous copy was begun and not waited for"),
        ("copy_other", {"copy-race", "shared-race"}, {"other"}, "an asynchronous copy was begun and not waited for"),
        ("no_acquire", {"copy-race", "shared-race"}, {"filled", "taken"}, "without order to another thread's"),
        ("no_wait", {"copy-race", "shared-race"}, {"taken"}, "an asynchronous copy was begun and not waited for"),
    ],
)  # fmt: skip
def test_wrong_use_is_a_finding(
    name: str, kinds: set[str], lines: set[str] | None, says: str, play: Play
) -> None:
    found = play("libcu")[name]["findings"]
    assert found and {f["kind"] for f in found} <= kinds
    assert says in "\n".join(f["what"] for f in found)
    if lines:
        assert {f["line"] for f in found} <= {line_of("libcu", line) for line in lines}
