"""Functions are bound as pybind11 binds them: results, errors, docstrings."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from grader.backends.extension.request import BuildRequest
from grader.backends.simt.compile import compiler as builder

if TYPE_CHECKING:
    from .conftest import Play


@pytest.mark.thorough
@pytest.mark.slow
def test_bound_functions_are_those_of_pybind11(play: Play) -> None:
    seen = play("binding")
    own, pybind = seen["own"]["result"], seen["pybind"]["result"]
    assert own == pybind and len(own) > 30
    assert own["scaled()"] == "[[-1.0, -3.0, -5.0]]" and own["count()"] == "[202]"
    assert own["filled"] == "[7.0, 7.0]" and own["both()"] == "[[1.0, 2.0, 3.0], [-1.0, 0.0, 1.0]]"
    assert "incompatible function arguments" in own["no tensor"] and "torch.Tensor" in own["no tensor"]
    assert own["fails()"] == "RuntimeError: no dimensions"
    assert own["another exception"].startswith("RuntimeError: too many")
    assert own["doc of words"].startswith("words(arg0: ")


def test_an_ordinary_binding_needs_none_of_pybind11s_headers() -> None:
    request = BuildRequest("plain_binding", ("int answer() { return 42; }\n",), (), {"answer": "The answer."})
    symbols = subprocess.run(
        ["nm", "-C", str(builder.build(request).path)], capture_output=True, text=True, check=True
    ).stdout
    assert "PyInit_plain_binding" in symbols and "itf::bind::module" in symbols
    assert "pybind11" not in symbols
