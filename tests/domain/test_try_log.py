"""A student's own log is a claim: whatever is in it, reading it raises nothing and its size is bounded."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.domain import try_log
from grader.domain.try_log import MOST_BYTES, PAUSE_S, LogLine

if TYPE_CHECKING:
    from pathlib import Path

SEVEN = "07_fused_bias_relu"
NOON = datetime(2026, 11, 26, 12, tzinfo=UTC)


def at(minutes: float, *left: str, lesson: str = SEVEN) -> LogLine:
    return LogLine(NOON + timedelta(minutes=minutes), lesson, left)


def test_time_goes_from_try_to_try_and_a_pause_is_none() -> None:
    lines = [
        at(0, "ragged", "one row"), at(4, "one row"), at(7, "one row"),
        at(200, "one row"),  # a pause
        at(202), at(203, "load", lesson="08_pytorch_kernels"), at(206),
        LogLine(NOON + timedelta(minutes=207), agreed=False), at(208, "ragged"),
        at(100), at(101), at(101),
    ]  # fmt: skip
    found = try_log.by_lesson(lines)
    mine = found[SEVEN]
    assert mine.tries == 10 and mine.seconds == 60 * (4 + 3 + 2 + 1)
    assert dict(mine.failed) == {"ragged": 2, "one row": 4}
    assert dict(mine.check_s) == {"ragged": 240.0, "one row": 60.0 * (3 + 2)}
    assert (found["08_pytorch_kernels"].tries, found["08_pytorch_kernels"].seconds) == (1, 0.0)


HOSTILE = {
    "no text": b"\xff\xfe\x00\n" * 50,
    "nested": b"[" * 4000 + b"\n",
    "nested in a field": b'{"at":"2026-11-26T12:00:00Z","x":' + b"[" * 4000 + b"\n",
    "a long line": b'{"at":"2026-11-26T12:00:00Z","lesson":"07_x","left":["' + b"x" * 9000 + b'"]}\n',
    "a long name": b'{"at":"2026-11-26T12:00:00Z","lesson":"07_x","left":["' + b"x" * 200 + b'"]}\n',
    "many names": b'{"at":"2026-11-26T12:00:00Z","lesson":"07_x","left":[' + b'"x",' * 500 + b'"x"]}\n',
    "no lesson's name": b'{"at":"2026-11-26T12:00:00Z","lesson":"../../etc","left":[]}\n',
    "no zone": b'{"at":"2026-11-26T12:00:00","lesson":"07_x"}\n',
    "no moment": b'{"at":1e999,"lesson":"07_x"}\n',
    "half a character": b'{"at":"2026-11-26T12:00:00Z","lesson":"07_x","left":["\\ud800"]}\n',
    "cut off": b'{"at":"2026-11-26T12:00:00Z","les',
}


@pytest.mark.parametrize("what", HOSTILE)
def test_what_is_no_line_is_passed_over(what: str, tmp_path: Path) -> None:
    path = tmp_path / try_log.NAME
    path.write_bytes(at(0, "a").text() + HOSTILE[what] + (b"" if what == "cut off" else at(1).text()))
    log = try_log.read(path)
    assert log.lines == ((at(0, "a"),) if what == "cut off" else (at(0, "a"), at(1)))
    assert log.others >= 1 and not log.agreed


def test_no_more_is_read_than_a_log_may_hold(tmp_path: Path) -> None:
    path = tmp_path / try_log.NAME
    with path.open("wb") as file:
        file.truncate(1 << 40)  # a hole: nothing of it lies on the disk
        file.write(at(0).text() * 3)
    log = try_log.read(path)
    assert len(log.lines) == 3 and log.others == 1
    path.write_bytes(at(0).text() * (2 * MOST_BYTES // len(at(0).text())))
    assert len(try_log.read(path).lines) <= MOST_BYTES // len(at(0).text())
    assert try_log.read(tmp_path / "none").lines == () == try_log.read(tmp_path).lines


@pytest.mark.thorough
@given(
    st.lists(
        st.builds(
            LogLine,
            st.datetimes(timezones=st.timezones()),
            st.sampled_from(["", SEVEN, "08_x"]),
            st.lists(st.text(min_size=1, max_size=120).filter(lambda t: t.isprintable()), max_size=3).map(
                tuple
            ),
            st.sampled_from([None, True, False]),
        )
    )
)
def test_no_line_makes_time_run_backwards_or_faster_than_it_can(lines: list[LogLine]) -> None:
    for one in try_log.by_lesson(lines).values():
        assert 0 <= one.seconds <= PAUSE_S * (one.tries - 1)
        assert sum(one.check_s.values()) <= one.seconds + 1e-6
        assert all(1 <= n <= one.tries for n in one.failed.values())
