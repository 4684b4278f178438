"""Which elements differ where a test that compares a kernel's result fails."""

import linecache
from pathlib import Path
from typing import Any

import pytest
import torch

from grader.player.differing_elements import Differing, differing

X = torch.arange(1.0, 13.0)
LAST = {"count": 1, "elements": 12, "first": [11], "last": [11], "given": "12", "expected": "13"}


def told(tmp_path: Path, body: str) -> Differing | None:
    """What is told of a test with this body, where a kernel adds the next element, or 0."""
    path = tmp_path / "exercise.py"
    path.write_text("import torch\ndef expected(x):\n    return x + x.roll(-1)\ndef test(kernel, x):\n    "
                    + body.replace("\n", "\n    ") + "\n", "utf-8")  # fmt: skip
    linecache.checkcache(str(path))
    results: list[torch.Tensor] = []

    def kernel(x: torch.Tensor) -> torch.Tensor:
        results[:] = [x + torch.cat([x[1:], torch.zeros(1)])]
        return results[0]

    space: dict[str, Any] = {}
    exec(compile(path.read_text("utf-8"), str(path), "exec"), space)
    with pytest.raises((AssertionError, ValueError)) as caught:
        space["test"](kernel, X)
    return differing(caught.value, str(path), results)


@pytest.mark.parametrize(
    "body",
    [
        "assert torch.equal(kernel(x), expected(x)), 'wrong'",
        "out = kernel(x).cpu()\nassert torch.allclose(expected(x), out)",
        "assert kernel(x).equal(expected(x))",
        "out = kernel(x)\nassert ((out - expected(x)).abs() < 1e-6).all()",
        "assert (kernel(x) == expected(x)).all()",
        "torch.testing.assert_close(kernel(x), expected(x))",
    ],
)
def test_the_last_element_alone(tmp_path: Path, body: str) -> None:
    assert told(tmp_path, body) == LAST


def test_all_elements_and_indices_of_several_dimensions(tmp_path: Path) -> None:
    found = told(tmp_path, "assert torch.equal(kernel(x), -x)")
    assert found is not None and (found["count"], found["first"], found["last"]) == (12, [0], [11])


def test_a_number_that_is_none(tmp_path: Path) -> None:
    found = told(tmp_path, "assert torch.equal(kernel(x), x / (x - x))")
    assert found is not None and found["expected"] == "inf"


@pytest.mark.parametrize(
    "body",
    [
        "assert False",
        "kernel(x)\nassert x.sum() < 0",
        "assert torch.equal(kernel(x), expected(x)[1:])",
        "assert torch.equal(kernel(x), kernel(x) + 1e-7 * x)",
        "assert torch.equal(x, 2 * x)",
        "raise ValueError(kernel(x))",
    ],
)
def test_where_nothing_can_be_told(tmp_path: Path, body: str) -> None:
    assert told(tmp_path, body) is None
