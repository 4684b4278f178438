"""Inputs are what a task says: values, layouts, and noise in the gaps of a view."""

import numpy as np
import pytest

from grader.domain import inputs
from grader.domain.task import Tensor

LAYOUTS = ("contiguous", "transposed", "strided", "offset", "expanded", "columns")
STRIDES = {
    "contiguous": (7, 1), "transposed": (1, 5), "strided": (14, 2), "offset": (7, 1), "expanded": (0, 1),
    "columns": (10, 1),
}  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_layout_has_its_strides_and_stays_in_its_storage(layout: str) -> None:
    drawn = inputs.draw(Tensor((5, 7), layout=layout), inputs.generator())  # type: ignore[arg-type]
    assert drawn.strides == STRIDES[layout]
    last = drawn.start + sum((n - 1) * s for n, s in zip(drawn.shape, drawn.strides, strict=True))
    assert last < drawn.storage.size
    assert drawn.view().shape == (5, 7)
    assert np.isfinite(drawn.storage).all() and drawn.storage.all()  # noise in the gaps, too


@pytest.mark.parametrize("layout", LAYOUTS)
def test_an_empty_tensor_has_every_layout(layout: str) -> None:
    drawn = inputs.draw(Tensor((0, 7), layout=layout), inputs.generator())  # type: ignore[arg-type]
    assert drawn.view().shape == (0, 7)


def test_an_expanded_row_is_stored_once() -> None:
    drawn = inputs.draw(Tensor((5, 7), layout="expanded"), inputs.generator())
    assert drawn.storage.size == 7 and (drawn.view() == drawn.view()[0]).all()


def test_fills_are_what_they_say() -> None:
    rng = inputs.generator()
    bits = inputs.draw(Tensor((64, 64), fill="bits"), rng).storage
    assert set(np.unique(bits)) == {0.0, 1.0}
    special = inputs.draw(Tensor((64,), fill="special"), rng).storage
    assert np.isnan(special).any() and np.isposinf(special).any() and np.isneginf(special).any()
    uniform = inputs.draw(Tensor((64, 64), fill="uniform", scale=3.0), rng).storage
    assert uniform.min() >= 0 and 2 < uniform.max() <= 3
    assert inputs.draw(Tensor((9,), dtype="float16"), rng).dtype == "float16"


def test_a_shift_is_added_to_what_is_drawn() -> None:
    specs = [Tensor((1000,), scale=2.0, shift=shift) for shift in (0.0, 50.0)]
    near, far = (inputs.draw(spec, inputs.generator(1)).view() for spec in specs)
    assert far.dtype == np.float32 and np.allclose(far - 50.0, near, atol=1e-5)


def test_a_spike_is_the_first_element_of_each_row() -> None:
    drawn = inputs.draw(Tensor((20, 50), fill="spike", shift=20.0), inputs.generator()).view()
    assert (drawn[:, 0] == 1020).all() and (drawn[:, 1:] < 100).all()


def test_limits_are_the_lowest_numbers_those_that_are_none_and_a_row_of_nothing() -> None:
    drawn = inputs.draw(Tensor((20, 50), fill="limits"), inputs.generator()).view()
    assert np.isfinite(drawn[0]).all() and (drawn[0] < -3e38).all() and len(set(drawn[0])) > 40
    assert np.isneginf(drawn[-1]).all() and np.isnan(drawn).any() and np.isposinf(drawn).any()


def test_a_masked_matrix_has_a_row_of_nothing_else() -> None:
    ended = inputs.draw(Tensor((3, 4), fill="nan at the end"), inputs.generator()).view()
    assert np.argwhere(~np.isfinite(ended)).tolist() == [[2, 3]] and np.isnan(ended[2, 3])
    masked = inputs.draw(Tensor((20, 50), fill="masked"), inputs.generator()).view()
    assert np.isneginf(masked[-1]).all()
    assert not np.isnan(masked).any() and 0.3 < np.isneginf(masked[:-1]).mean() < 0.7
