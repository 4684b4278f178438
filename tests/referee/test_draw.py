"""Inputs are what a task says: values, layouts, and noise in the gaps of a view."""

import numpy as np
import pytest

from grader.domain.task import Tensor
from grader.referee import draw, rounds

LAYOUTS = ("contiguous", "transposed", "strided", "offset", "expanded")
STRIDES = {
    "contiguous": (7, 1), "transposed": (1, 5), "strided": (14, 2), "offset": (7, 1), "expanded": (0, 1)
}  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_layout_has_its_strides_and_stays_in_its_storage(layout: str) -> None:
    drawn = draw.draw(Tensor((5, 7), layout=layout), draw.generator())  # type: ignore[arg-type]
    assert drawn.strides == STRIDES[layout]
    last = drawn.start + sum((n - 1) * s for n, s in zip(drawn.shape, drawn.strides, strict=True))
    assert last < drawn.storage.size
    assert drawn.view().shape == (5, 7)
    assert np.isfinite(drawn.storage).all() and drawn.storage.all()  # noise in the gaps, too


@pytest.mark.parametrize("layout", LAYOUTS)
def test_an_empty_tensor_has_every_layout(layout: str) -> None:
    drawn = draw.draw(Tensor((0, 7), layout=layout), draw.generator())  # type: ignore[arg-type]
    assert drawn.view().shape == (0, 7)


def test_an_expanded_row_is_stored_once() -> None:
    drawn = draw.draw(Tensor((5, 7), layout="expanded"), draw.generator())
    assert drawn.storage.size == 7 and (drawn.view() == drawn.view()[0]).all()


@pytest.mark.parametrize("layout", LAYOUTS)
def test_two_elements_change_places_inside_the_view(layout: str) -> None:
    drawn = draw.draw(Tensor((5, 7), layout=layout), draw.generator())  # type: ignore[arg-type]
    other = rounds.swapped(drawn)
    assert sorted(other.storage) == sorted(drawn.storage)
    assert not np.array_equal(other.view(), drawn.view())


def test_fills_are_what_they_say() -> None:
    rng = draw.generator()
    bits = draw.draw(Tensor((64, 64), fill="bits"), rng).storage
    assert set(np.unique(bits)) == {0.0, 1.0}
    special = draw.draw(Tensor((64,), fill="special"), rng).storage
    assert np.isnan(special).any() and np.isposinf(special).any() and np.isneginf(special).any()
    uniform = draw.draw(Tensor((64, 64), fill="uniform", scale=3.0), rng).storage
    assert uniform.min() >= 0 and 2 < uniform.max() <= 3
    assert draw.draw(Tensor((9,), dtype="float16"), rng).dtype == "float16"
