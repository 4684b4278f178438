"""Some examples of the fuzzing in each run; ``python -m tests.fuzz`` feeds 100,000."""

import json
from pathlib import Path

import pytest

from tests import fuzz


@pytest.mark.slow
@pytest.mark.parametrize("name", fuzz.watches())
def test_mutants_end_as_documented_in_time_and_memory(name: str) -> None:
    feed, watch = fuzz.watches()[name]
    feed(300, 7, watch)
    assert watch.examples >= 300 and len(watch.ends) >= 3, watch.ends


def test_what_is_right_gets_through_the_mutations() -> None:
    assert {fuzz.hear(json.dumps(one).encode(), "call") for one in fuzz.SEEDS} >= {"answered", "fault"}
    text = (Path(__file__).parent / "corpus" / "honest" / "plain_kernel.py").read_text()
    assert fuzz.read(text) == "Python"
