"""How large a problem is, told without its memory and, where it is small, without what takes long to load."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import torch

from grader.player.sides.measuring import measured

if TYPE_CHECKING:
    from grader.player.stage import Stage


class Model(torch.nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(width, 4)
        self.own = torch.nn.Parameter(torch.randn(width))
        torch.nn.init.normal_(self.layer.weight)

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.outer(self.layer(x * self.own).flatten(), y)


def get_inputs() -> list[torch.Tensor]:
    x = torch.randn(3, 8, generator=None, dtype=torch.float32)
    return [torch.rand_like(x), torch.rand(size=(5,))]


def stage() -> Stage:
    module = SimpleNamespace(Model=Model, get_inputs=get_inputs, get_init_inputs=lambda: [8])
    return cast("Any", SimpleNamespace(module=module, entry=lambda name: getattr(module, name)))


def test_inputs_state_and_results_have_their_bytes() -> None:
    found = measured(stage(), "Model")
    assert (found.inputs, found.state, found.outputs) == (4 * (24 + 5), 4 * (36 + 8), 4 * 12 * 5)
    assert found.batch == 3


def test_results_of_a_small_problem_are_not_measured() -> None:
    found = measured(stage(), "Model", 4 * (24 + 5 + 36 + 8))
    assert (found.inputs, found.state, found.outputs) == (4 * (24 + 5), 4 * (36 + 8), 0)
    assert measured(stage(), "Model", found.inputs + found.state - 1).outputs


def test_a_file_that_reads_its_inputs_is_measured_as_far_as_it_can_be() -> None:
    one = stage()
    one.module.get_inputs = lambda: [torch.rand(3) if torch.rand(1) > 0 else torch.rand(4)]
    assert measured(one, "Model").inputs == 0


def test_a_small_problem_loads_none_of_torchs_compiler() -> None:
    """Which takes longer than all the rest of a small pair's judging."""
    words = (
        "import sys, tests.player.sides.test_measuring as t\n"
        "before = set(sys.modules)\n"
        "assert t.measured(t.stage(), 'Model', 1 << 20).state\n"
        "print(sorted(m for m in set(sys.modules) - before if m in ('sympy', 'torch._dynamo')))"
    )
    done = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
