"""What a file asks for before it is loaded."""

import pytest

from grader.player.stage import DIALECT


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("import triton", True),
        ("import torch, triton", True),
        ("x = 1\n    from numba import cuda", True),
        ("from triton.language import load", True),
        ("import torch  # not triton", False),
        ("# import triton", False),
        ("import tritons", False),
        ("\n" * 100_000 + "import torch", False),
    ],
)
def test_an_interpreter_is_chosen_for_who_imports_a_dialect(text: str, *, asks: bool) -> None:
    assert bool(DIALECT.search(text)) == asks
