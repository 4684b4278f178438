"""The judge's factor is the one that the committed experiment justifies, and the page shows its histogram."""

import json
from pathlib import Path

from grader.referee.judge import FACTOR, ULPS

ROOT = Path(__file__).resolve().parents[1]
RESULT = json.loads((ROOT / "benchmarks" / "results" / "tolerance.json").read_text())
PAGE = (ROOT / "docs" / "guide" / "grading.md").read_text()


def test_the_experiment_was_made_with_this_factor() -> None:
    assert (RESULT["factor"], RESULT["ulps"]) == (FACTOR, ULPS)


def test_no_honest_way_is_rejected_and_the_others_are_caught() -> None:
    assert RESULT["honest above the factor"] == 0
    assert RESULT["largest honest"] < FACTOR
    assert RESULT["never caught"] == ["three bf16 products"]


def test_tf32_is_caught_on_every_matrix_product() -> None:
    for task, ways in RESULT["by task"].items():
        if task.startswith("matrix"):
            assert ways["TF32"]["smallest"] > FACTOR, task
            assert ways["three TF32 products"]["largest"] < FACTOR, task


def test_the_page_shows_the_histogram() -> None:
    edges, counts = RESULT["edges"], RESULT["counts"]
    for first, last, right, wrong in zip(
        edges, edges[1:], counts["honest"], counts["not honest"], strict=False
    ):
        assert f"| {first:g} to {last:g} | {right} | {wrong} |" in PAGE
