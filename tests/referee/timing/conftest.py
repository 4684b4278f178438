"""What the tests of the clock share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.referee.timing.track import Track

if TYPE_CHECKING:
    from collections.abc import Iterator


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
