"""``course roofline`` from the command line, on the CPU back end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from grader.cli.app import app
from grader.domain.lessons import find

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.thorough
@pytest.mark.slow
def test_the_solution_of_lesson_07_lies_below_the_roof(tmp_path: Path) -> None:
    place = tmp_path / "roof.svg"
    words = [
        "roofline",
        "07",
        str(find("07").solution),
        "--backend",
        "simt",
        "--out",
        str(place),
        "--card",
        "l4",
    ]
    done = CliRunner().invoke(app, words)
    text = " ".join(done.output.split())
    assert done.exit_code == 0, done.output
    assert "predicted for NVIDIA L4, not measured" in text and "bias_relu_kernel4" in text
    assert "% of what the roof allows" in text and "<svg" in place.read_text()
