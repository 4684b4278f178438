"""What one order of blocks, one instance of a template or one call's memory would not show is seen all the same."""

import pytest

from .conftest import Play, line_of

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", ["two_instances", "two_groups"])
def test_two_instances_of_a_template_have_two_barriers(name: str, play: Play) -> None:
    first = play("alike")[name]["findings"][0]
    assert first["kind"] == "barrier-divergence", first
    assert name != "two_instances" or first["line"] == line_of("alike", "in a template")


def test_one_instance_has_one_wherever_it_is_called(play: Play) -> None:
    answer = play("alike")["one_instance"]
    assert (answer["error"], answer["findings"], answer["result"]) == ("", [], [1, 1])


def test_what_another_block_adds_between_two_atomics_is_lost(play: Play) -> None:
    assert 0 < play("alike")["by_two_atomics"]["result"][0] < 64


@pytest.mark.parametrize("name", ["by_one", "by_compare_and_swap", "locked"])
def test_right_updates_are_right_in_that_order_too(name: str, play: Play) -> None:
    answer = play("alike")[name]
    assert (answer["error"], answer["findings"], answer["result"]) == ("", [], [64, 0])


def test_a_counted_call_has_its_memory_where_others_have_it(play: Play) -> None:
    counted, plain = play("alike")["places"]["result"]
    assert counted == plain
