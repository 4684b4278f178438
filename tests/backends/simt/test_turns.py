"""What a block does is its own, wherever its turn ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from .programs import turns

if TYPE_CHECKING:
    from .conftest import Play


def test_a_product_of_a_warp_survives_the_end_of_a_turn(play: Play) -> None:
    """Of so many products some are cut in two by another block's, and none loses what its lanes have shown."""
    done = play("turns")["products"]
    assert done["findings"] == []
    sums = [float(turns.ROUNDS * 16 * (block + 1)) for block in range(turns.BLOCKS)]
    assert done["result"] == [[one, one] for one in sums]


@pytest.mark.parametrize("shape", turns.FRAGMENTS)
def test_the_fragments_of_a_product_survive_the_end_of_a_turn(play: Play, shape: str) -> None:
    done = play("turns")[shape]
    assert done["findings"] == []
    terms = turns.PRODUCTS * turns.FRAGMENTS[shape]
    assert done["result"] == [[float(terms * (block + 1))] * 2 for block in range(turns.BLOCKS)]


def test_what_a_block_has_yet_to_explain_is_not_asked_of_another(play: Play) -> None:
    """A plain read of what others update atomically is fine if the reader updates it, too, and it still may."""
    done = play("turns")["doubt"]
    assert done["findings"] == []
    assert done["result"] == [7, 1, 1, 1]
