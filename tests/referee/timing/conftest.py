"""What the tests of the clock share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.referee.timing.track import Track


@pytest.fixture
def track(monkeypatch: pytest.MonkeyPatch) -> Iterator[Track]:
    """A race without a GPU."""
    made = Track(monkeypatch)
    yield made
    made.close()


@pytest.fixture
def few_resamples(monkeypatch: pytest.MonkeyPatch) -> None:
    """Intervals are wider, and found sooner."""
    monkeypatch.setattr("grader.referee.timing.interval.RESAMPLES", 400)
