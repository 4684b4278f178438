"""What of lesson 13's ladder needs no tensor cores: split, repair, element-wise kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .conftest import Play

CASES = [
    "split_of_odd_rows",
    "split_of_even_rows",
    "split_of_a_row_longer_than_a_block_keeps",
    "repair_of_flagged_tiles_only",
    "repair_of_nothing",
    "what_is_not_sure_is_marked",
    "elementwise_float32",
    "elementwise_float16",
    "elementwise_bfloat16",
    "elementwise_refuses",
]


@pytest.mark.thorough
@pytest.mark.slow(cases=1000)
@pytest.mark.parametrize("case", CASES)
def test_it_computes_what_it_says_and_touches_nothing_else(play: Play, case: str) -> None:
    seen = play("ladder")[case]
    assert not seen["error"], seen["error"]
    assert not seen["findings"], seen["findings"]


@pytest.mark.thorough
@pytest.mark.slow
def test_all_cases_are_looked_at(play: Play) -> None:
    assert sorted(play("ladder")) == sorted(CASES)
