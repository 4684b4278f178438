"""What a clock on the host sees of a kernel: two time lines, without and with a wait for the device."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.reports.svg import WIDTH, Sheet

if TYPE_CHECKING:
    from pathlib import Path

LEFT, RIGHT, HIGH = 62, WIDTH - 10, 22
LAUNCH, START, END = 40, 24, 330  # of the launch's length, the kernel's start and its end, from LEFT on
TITLE = (
    "Host and device twice. Above, the host's clock stops when the launch returns, while the kernel still runs: it "
    "has timed the launch. Below, the host waits until the device is done: it has timed the kernel."
)


def picture(_root: Path) -> str:
    """Two pairs of time lines; what the clock has seen is a bracket below each."""
    sheet = Sheet(262, TITLE)
    _lines(sheet, 8, waits=False)
    _lines(sheet, 138, waits=True)
    return sheet.svg()


def _lines(sheet: Sheet, top: float, *, waits: bool) -> None:
    sheet.text(LEFT, top + 10, "with a wait" if waits else "without a wait", "bold")
    host, device = top + 20, top + 20 + HIGH + 8
    for y, name in ((host, "host"), (device, "device")):
        sheet.text(LEFT - 8, y + 16, name, "end")
        sheet.line(LEFT, y + HIGH, RIGHT, y + HIGH)
    sheet.rect(LEFT, host, LAUNCH, HIGH, "c", rx=2)
    end = END if waits else LAUNCH
    if waits:
        sheet.rect(LEFT + LAUNCH + 2, host, END - LAUNCH - 2, HIGH, "pale", rx=2)
        sheet.text(LEFT + LAUNCH + 12, host + 16, "waits for the device", "small soft")
    else:
        sheet.text(LEFT + LAUNCH + 10, host + 16, "goes on at once", "small soft")
    sheet.rect(LEFT + START, device, END - START, HIGH, "a", rx=2)
    sheet.add(
        f'<text x="{LEFT + (START + END) / 2}" y="{device + 16}" class="mid bold" '
        'style="fill:var(--paper)">kernel</text>'
    )
    low = device + HIGH + 8
    sheet.path(f"M{LEFT} {low} v 6 H {LEFT + end} v -6", "ink" if waits else "bs", 2)
    said = "the clock has seen the kernel" if waits else "the clock has seen the launch"
    sheet.text(LEFT, low + 22, said, "small")
