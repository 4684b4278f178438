"""A recording as a page of its own that opens from the disk, and as a trace for Perfetto.

The modules of ``replay/`` are put into the page one after another, without a build tool. Everything that
stems from a submission is data to them: it is packed, and shown by ``textContent`` only. The page may run
this one script and request nothing (its Content-Security-Policy).
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import html
import json
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jinja2

from grader.domain.thread_recording import ARRIVES, FOUND, LEAVES, MEETS, MEETS_GRID, RELEASES, Recording

if TYPE_CHECKING:
    from collections.abc import Sequence

FOLDER = Path(__file__).parent / "replay"
MODULES = ("recording.js", "words.js", "view.js")  # each uses only those before it
IMPORT = re.compile(r"^import .*?;\n", re.M)
WAITING = {ARRIVES: "waits at a barrier", MEETS: "waits in a warp function", MEETS_GRID: "waits for the grid"}


@cache
def script() -> str:
    """The modules as one."""
    texts = [IMPORT.sub("", (FOLDER / name).read_text("utf-8")) for name in MODULES]
    return "\n".join(re.sub(r"^export ", "", text, flags=re.M) for text in texts)


def page(recordings: Sequence[tuple[str, Recording]], *, title: str = "", compact: bool = False) -> str:
    """One page with these recordings side by side, each under a name.

    ``compact``: without a heading, for a frame in another page.
    """
    made = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
    text = script()
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    shown: str = made.from_string((FOLDER / "page.html").read_text("utf-8")).render(
        title=title or recordings[0][1].head.title,
        style=(FOLDER / "replay.css").read_text("utf-8"),
        script=text,
        digest=f"sha256-{digest}",
        compact=compact,
        recordings=[(name, packed(recording)) for name, recording in recordings],
    )
    return shown


def packed(recording: Recording) -> str:
    """A recording as letters that need no escaping."""
    return base64.b64encode(gzip.compress(recording.packed(), 4, mtime=0)).decode()


def frame(text: str, *, height: int = 720) -> str:
    """The page as a frame for a notebook: scripts run, but not as the notebook's own."""
    return (
        f'<iframe sandbox="allow-scripts" srcdoc="{html.escape(text)}" title="Replay" '
        f'style="width:100%;height:{height}px;border:1px solid #8888"></iframe>'
    )


def trace(recording: Recording) -> str:
    """Time lines in the JSON that Perfetto and Chrome open: a process a block, a thread a thread.

    A microsecond is a step: the CPU back end has an order, and no clock that would mean anything.
    """
    lines = _TimeLines(recording)
    lines.draw()
    other = {"title": recording.head.title, "unit": "1 us is a step"}
    return json.dumps({"traceEvents": lines.events, "displayTimeUnit": "ns", "otherData": other})


class _TimeLines:
    """For each thread slices: at which line it is, or what it waits for."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self.events: list[dict[str, Any]] = [
            {"ph": "M", "pid": n, "name": "process_name", "args": {"name": f"block {block.index}"}}
            for n, block in enumerate(recording.head.blocks)
        ]
        self._since: dict[tuple[int, int], tuple[int, str, int]] = {}
        self._waiting: dict[int, list[tuple[int, int]]] = {}

    def draw(self) -> None:
        """All of it."""
        columns = [self.recording.columns[name].tolist() for name in ("op", "block", "thread", "place")]
        lines = [place.line for place in self.recording.head.places]
        for step, (op, block, thread, place) in enumerate(zip(*columns, strict=True)):
            self._step(step, op, (block, thread), lines[place])
        for who in list(self._since):
            self._change(who, len(self.recording), "", 0)
        for f in self.recording.head.findings:
            self.events.append(
                {"ph": "i", "s": "t", "pid": columns[1][f.event], "tid": columns[2][f.event], "ts": f.event,
                 "name": f.kind, "args": {"line": f.line, "message": f.message}}
            )  # fmt: skip

    def _step(self, step: int, op: int, who: tuple[int, int], line: int) -> None:
        if op in WAITING:
            self._change(who, step, WAITING[op], line)
            self._waiting.setdefault(who[0], []).append(who)
        elif op == RELEASES:
            for each in self._waiting.pop(who[0], []):
                self._change(each, step, "", 0)
        elif op == LEAVES:
            self._change(who, step, "", 0)
        elif line and op != FOUND:
            self._change(who, step, f"line {line}", line)

    def _change(self, who: tuple[int, int], step: int, state: str, line: int) -> None:
        since, before, at = self._since.get(who, (step, "", 0))
        if (before, at) == (state, line):
            return
        if before:
            self.events.append(
                {"ph": "X", "pid": who[0], "tid": who[1], "ts": since, "dur": max(1, step - since),
                 "name": before, "cat": "simt", "args": {"line": at}}
            )  # fmt: skip
        self._since[who] = step, state, line
