"""What tensor cores do is counted, apart from what threads do, and their sums are rounded towards zero."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from .programs.fragments import ULP

if TYPE_CHECKING:
    from .conftest import Play


def test_each_product_and_each_sum_of_a_tile_is_an_operation(play: Play) -> None:
    seen = play("fragments")["counted"]
    (launch,) = seen["launches"]
    assert launch["counts"]["tensor_operations"] == 5 * 2 * 3 * 2 * 16**3  # blocks, warps, times
    assert launch["counts"]["operations"].get("flops", 0) == 0
    assert seen["result"] == [0.5 + 3 * 2.0]


def test_an_instruction_counts_as_much_as_its_tile(play: Play) -> None:
    seen = play("fragments")["instruction"]
    (launch,) = seen["launches"]
    assert launch["counts"]["tensor_operations"] == 2 * 16 * 8 * 16
    assert launch["counts"]["operations"].get("flops", 0) == 0
    assert seen["result"] == [0.5 + 2.0]


@pytest.mark.parametrize("way", ["", "instruction_"])
def test_a_sum_is_cut_off_towards_zero(play: Play, way: str) -> None:
    assert play("fragments")[f"{way}above"]["result"] == [1.0 + ULP]  # not 2 ULP, which are nearer
    assert play("fragments")[f"{way}below"]["result"] == [-1.0 - ULP]
