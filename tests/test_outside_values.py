"""What programs of others print, on the CPU back end and on a GPU: what counts as the same."""

import json
import tomllib
from pathlib import Path

import pytest

from benchmarks import outside_values

ROOT = Path(__file__).resolve().parents[1]
RECORD = ROOT / "benchmarks" / "results" / "outside_values.json"


@pytest.mark.parametrize(
    ("one", "other", "how"),
    [
        ("sum = 3\nPASS", "sum = 3\nPASS", "same"),
        ("sum = 3\nkernel time 4 ms", "Device 0: H200\nsum = 3\nkernel time 1 ms", "same"),
        ("[0] 10\n[1] 10", "[1] 10\n[0] 10", "same"),
        ("sum = 3.0000001", "sum = 3.0000002", "near"),
        ("max error 1.00e-07", "max error 1.04e-07", "near"),
        ("sum = 3.1", "sum = 3.2", "differs"),
        ("max error 1.0", "max error 3.0", "differs"),
        ("sum = nan", "sum = 1", "differs"),
        ("PASS", "FAIL", "differs"),
        ("PASS", "PASS\nPASS", "differs"),
    ],
)
def test_numbers_may_be_near_and_words_must_be_the_same(one: str, other: str, how: str) -> None:
    assert outside_values.compared(one, other)[0] == how


def test_somebody_has_looked_at_each_program_that_differs() -> None:
    programs = {row["program"]: row for row in json.loads(RECORD.read_text())["programs"]}
    reasons = tomllib.loads((ROOT / "benchmarks" / "outside_values.toml").read_text())
    assert len(programs) >= 100
    assert {name for name, row in programs.items() if row["printed"] == "differs"} == set(reasons)
    assert all(programs[name]["why"] == why for name, why in reasons.items())


def test_the_page_says_how_many() -> None:
    told = json.loads(RECORD.read_text())
    words = (
        f"Of {len(told['programs'])} programs of such projects that end here and on an H200, "
        f"{told['same']} print the same, {told['near']} nearly the same and {told['differs']} something else"
    )
    assert words in (ROOT / "docs" / "guide" / "simt.md").read_text().replace("\n", " ")
