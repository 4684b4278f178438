"""Every operator of PyTorch on the CPU back end's device, by PyTorch's own samples: minutes."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .conftest import Play


@pytest.mark.thorough
@pytest.mark.skipif(
    importlib.util.find_spec("expecttest") is None, reason="PyTorch's samples need expecttest"
)
def test_each_gives_what_the_cpu_gives_and_nothing_is_found(play: Play) -> None:
    answers = play("every_operator")
    wrong = {name: a["error"][:300] for name, a in answers.items() if a["error"]}
    found = {name: [f["what"] for f in a["findings"]] for name, a in answers.items() if a["findings"]}
    assert (wrong, found) == ({}, {})
    assert len(answers) > 500 and sum(a["result"] for a in answers.values()) > 5000
