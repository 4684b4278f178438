"""The capstone's problems: found by name, their sizes read, their floors those of the tensors themselves."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, Any

import pytest
import torch

from grader.domain import capstone
from grader.domain.errors import BadInputError

if TYPE_CHECKING:
    from grader.domain.capstone import CapstoneProblem

EVERY = capstone.problems()
GATHERED = {"embedding_bag": "table"}  # of this only the rows that are named are read


def loaded(problem: CapstoneProblem) -> Any:
    spec = importlib.util.spec_from_file_location(f"reference_of_{problem.name}", problem.reference)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("problem", EVERY, ids=lambda x: x.name)
def test_the_bytes_of_the_floor_are_those_of_inputs_weights_and_result(problem: CapstoneProblem) -> None:
    module = loaded(problem)
    model, inputs = module.Model(*module.get_init_inputs()), module.get_inputs()
    state = {n: t for n, t in model.state_dict().items() if n != GATHERED.get(problem.name)}
    bytes_moved = sum(t.nbytes for t in (*inputs, *state.values(), model(*inputs)))
    if problem.name in GATHERED:
        assert inputs[0].unique().numel() == inputs[0].numel(), "no row is read twice"
        bytes_moved += inputs[0].numel() * model.state_dict()[GATHERED[problem.name]][0].nbytes
    assert problem.sizes("FULL" if torch.backends.cuda.is_built() else "SMALL") == module.SIZE
    assert problem.least("FULL" if torch.backends.cuda.is_built() else "SMALL")[0] == bytes_moved


@pytest.mark.parametrize("problem", EVERY, ids=lambda x: x.name)
def test_a_full_size_is_below_the_size_above_which_less_is_checked(problem: CapstoneProblem) -> None:
    assert problem.least()[0] < 1 << 30


def test_a_rule_is_sums_and_products_of_sizes_and_nothing_else() -> None:
    assert capstone.computed("2 * a * (b - 1) + (1 << 3) + a // 2", {"a": 4, "b": 3}) == 26
    for rule in ("a", "__import__('os')", "a ** 2", "1.5", "f(2)"):
        with pytest.raises(BadInputError, match="no number, no size"):
            capstone.computed(rule, {"b": 1})


def test_a_problem_is_found_by_its_name_or_one_is_named_that_is_like_it() -> None:
    assert capstone.find("Swiglu.py").name == "swiglu"
    assert capstone.find("cross-entropy").name == "cross_entropy"
    with pytest.raises(BadInputError, match="Did you mean histogram"):
        capstone.find("histogramm")
