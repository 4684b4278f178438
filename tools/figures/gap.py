"""What lies between the two events of lesson 04: with a wait after each call, and with one wait at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.referee.parts.simulated_clock import LAUNCH, RECORD, SYNC
from grader.reports.svg import WIDTH, Sheet

if TYPE_CHECKING:
    from pathlib import Path

LEFT, RIGHT, HIGH, SCALE = 62, WIDTH - 6, 26, 5.4  # SCALE: pixels of a microsecond
KERNEL, CALLS = 15.0, 3  # microseconds; calls that are drawn
LAUNCHES, RECORDS, WAITS = (seconds * 1e6 for seconds in (LAUNCH, RECORD, SYNC))
TITLE = (
    "Host and device twice, to scale, for three calls of a kernel of 15 microseconds. Above, the host waits after each "
    "call: the device passes the first event at once and is idle until the launch arrives, so the two events are 20 "
    "microseconds apart. Below, the host waits at the end only: from the second call on the launch is there before the "
    "device comes to the event, and the two are 15 microseconds apart."
)


def picture(_root: Path) -> str:
    """Two pairs of time lines, with a bracket between the two events of one call."""
    sheet = Sheet(316, TITLE)
    _lines(sheet, 8, waits=True)
    _lines(sheet, 164, waits=False)
    sheet.rect(LEFT, 293, 14, 14, "c")
    sheet.text(LEFT + 20, 304, "a launch", "small")
    sheet.line(LEFT + 90, 291, LEFT + 90, 309, "bs", 2)
    sheet.text(LEFT + 98, 304, "an event is passed", "small")
    return sheet.svg()


def _lines(sheet: Sheet, top: float, *, waits: bool) -> None:
    sheet.text(LEFT, top + 10, "a wait after each call" if waits else "one wait at the end", "bold")
    host, device = top + 20, top + 30 + HIGH
    for y, name in ((host, "host"), (device, "device")):
        sheet.text(LEFT - 8, y + 18, name, "end")
        sheet.rect(LEFT, y, RIGHT - LEFT, HIGH, "hollow")
    now = done = 0.0  # how far the host is, and the device
    for call in range(CALLS):
        launched = now + RECORDS + LAUNCHES
        sheet.rect(_x(now + RECORDS), host, LAUNCHES * SCALE, HIGH, "c")
        first, starts = max(now + RECORDS, done), max(launched, done)
        now, done = launched + RECORDS, starts + KERNEL
        sheet.rect(_x(starts), device, KERNEL * SCALE, HIGH, "a")
        sheet.text(_x(starts + KERNEL / 2), device + 18, "kernel", "mid bold on")
        if starts > first:
            sheet.text(_x((first + starts) / 2), device + 18, "idle", "mid small")
        for event in (first, done):
            sheet.line(_x(event), device - 5, _x(event), device + HIGH + 5, "bs", 2)
        if call == 1:
            low = device + HIGH + 8
            sheet.path(f"M{_x(first):.1f} {low} v 6 H {_x(done):.1f} v -6", "bs", 2)
            sheet.text(
                _x((first + done) / 2), low + 22, f"{done - first:.0f} us between the events", "mid small"
            )
        if waits or call == CALLS - 1:
            end = max(now, done) + WAITS
            sheet.rect(_x(now), host, (end - now) * SCALE, HIGH, "pale")
            sheet.text(_x((now + end) / 2), host + 18, "waits", "mid small")
            now = end


def _x(time: float) -> float:
    return LEFT + time * SCALE
