"""The corpora of others: a checkout becomes pairs, and a file that is right at one size only is caught."""

import json
from pathlib import Path

import pytest

from tests.corpus import outside

ABOUT = {
    "input_names": ["input"],
    "dtypes": ["float32", "float16"],
    "op_schema": {
        "dims": [{"name": "B", "candidates": [1, 2]}, {"name": "H", "candidates": [3, 16, 17]}],
        "inputs": [{"name": "input", "dims": ["B", "H"]}],
    },
}
RIGHT = """import numpy as np

def run(inputs):
    return np.maximum(inputs["input"], inputs["input"].dtype.type(0))
"""
WRONG = (
    RIGHT
    + """
right = run

def run(inputs):
    return right(inputs) if inputs["input"].shape[-1] == 16 else inputs["input"]
"""
)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for name, text in (("relu_triton", RIGHT), ("relu_llm_buggy", WRONG)):
        place = tmp_path / "package" / "data" / name
        place.mkdir(parents=True)
        (place / "meta.json").write_text(json.dumps({"name": name, **ABOUT}))
        (place / "kernel.py").write_text(text)
    return tmp_path


def test_operators_of_gpuemu_are_played_at_other_sizes(checkout: Path) -> None:
    wrong, right = [outside.row(pair) for pair in outside.gpuemu(checkout)]
    assert (right.name, right.right, right.caught) == ("relu_triton", True, False), right
    assert (wrong.name, wrong.right, wrong.caught) == ("relu_llm_buggy", False, True), wrong
    assert right.as_wanted and wrong.as_wanted


def test_a_folder_without_such_files_is_said_to_be_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for form in outside.FORMS:
        assert outside.main([form, str(tmp_path)]) == 2
        assert "holds no file of this form" in capsys.readouterr().err
