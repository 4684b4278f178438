"""Counters: bounds on counted traffic, with the line that makes most of it."""

import pytest

from grader.referee.parts.counters import busiest, total

LAUNCH = {
    "counts": {
        "global_load": {"requests": 4, "sectors": 16},
        "shared_load": {"requests": 2, "conflicts": 62},
        "lines": [
            {"what": "global_load", "line": 7, "sectors": 12},
            {"what": "global_load", "line": 9, "sectors": 4},
            {"what": "shared_load", "line": 11, "wavefronts": 64, "least": 2},
        ],
    }
}


@pytest.mark.parametrize(
    ("metric", "count", "place"),
    [
        ("global_load_sectors", 32, (7, 24)),
        ("shared_load_conflicts", 124, (11, 124)),
        ("global_store_sectors", 0, None),
        ("launches", 2, None),
    ],
)
def test_launches_are_added_up_and_the_worst_line_is_found(metric, count, place):
    assert total(metric, [LAUNCH, LAUNCH]) == count
    assert busiest(metric, [LAUNCH, LAUNCH]) == place


@pytest.mark.parametrize(
    "strange", [{}, {"counts": 3}, {"counts": {"global_load": []}}, {"counts": {"lines": 1}}]
)
def test_what_a_player_claims_may_be_anything(strange):
    assert total("global_load_sectors", [strange]) == 0
    assert busiest("global_load_sectors", [strange]) is None
