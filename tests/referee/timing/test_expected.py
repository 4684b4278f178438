"""Which race needs several pairs of processes, before anything has run."""

from __future__ import annotations

import pytest

from grader.domain.gpu_card import card
from grader.domain.lessons import find
from grader.referee.timing import expected
from grader.referee.timing.plan import PAIRS

H200, H100 = card("h200").drivers[0], card("h100").drivers[0]


@pytest.mark.parametrize(
    ("lesson", "device", "cores", "found"),
    [
        ("03", H200, 16, PAIRS), ("03", H100, 16, PAIRS),
        ("03", H200, 2, 0),  # eight processes that import PyTorch would hold up the verdict
        ("03", "a GPU without a card", 16, 0), ("03", "", 16, 0),
        ("07", H200, 16, 0), ("08", H100, 16, 0),  # models of milliseconds: one pair races
    ],
)  # fmt: skip
def test_pairs_are_expected_where_calls_are_short(lesson: str, device: str, cores: int, found: int) -> None:
    about = find(lesson).task.speed
    assert about is not None
    assert expected.pairs(about, device, cores) == found


def test_a_call_is_expected_to_take_about_as_long_as_was_measured() -> None:
    """As results/bench.json says of an H200: 38 us for lesson 03, 2.74 ms for lesson 07."""
    for lesson, seconds in (("03", 38e-6), ("07", 2.74e-3)):
        about = find(lesson).task.speed
        assert about is not None
        assert expected.eager_seconds(about, card("h200")) == pytest.approx(seconds, rel=0.3)
