"""A recording as a page of its own that opens from the disk, and as a trace for Perfetto.

The modules of ``replay/`` are put into the page one after another, without a build tool. Everything that stems
from a submission is data to them: it is packed, and shown by ``textContent`` only. The page may run this one
script and request nothing (its Content-Security-Policy).
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

from grader.domain.recording import ARRIVES, FOUND, LEAVES, MEETS, MEETS_GRID, PARTS, RELEASES, Recording

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
    return base64.b64encode(gzip.compress(recording.packed(), 6, mtime=0)).decode()


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
    head = recording.head
    columns = {name: recording.columns[name].tolist() for name in ("op", "block", "thread", "place")}
    events: list[dict[str, Any]] = []
    for number, block in enumerate(head.blocks):
        events.append({"ph": "M", "pid": number, "name": "process_name", "args": {"name": f"block {block.index}"}})
    begun: dict[tuple[int, int], tuple[int, str, int]] = {}  # since when a thread does what, at which line
    lines = [place.line for place in head.places]
    found = {f.event: f for f in head.findings}
    waiting: dict[int, list[tuple[int, int]]] = {}

    def change(who: tuple[int, int], step: int, state: str, line: int) -> None:
        since, before, at = begun.get(who, (step, "", 0))
        if before:
            events.append(
                {"ph": "X", "pid": who[0], "tid": who[1], "ts": since, "dur": max(1, step - since),
                 "name": before, "cat": "simt", "args": {"line": at}}
            )  # fmt: skip
        begun[who] = (step, state, line)

    for step, (op, block, thread, place) in enumerate(zip(*columns.values(), strict=True)):
        who, line = (block, thread), lines[place]
        if op in WAITING:
            change(who, step, WAITING[op], line)
            waiting.setdefault(block, []).append(who)
        elif op == RELEASES:
            for each in waiting.pop(block, []):
                change(each, step, "", 0)
        elif op == LEAVES:
            change(who, step, "", 0)
        elif op == FOUND and step in found:
            events.append(
                {"ph": "i", "s": "t", "pid": block, "tid": thread, "ts": step, "name": found[step].kind,
                 "args": {"line": line, "message": found[step].message}}
            )  # fmt: skip
        elif op == PARTS or (line and begun.get(who, (0, "", 0))[1:] != (f"line {line}", line)):
            if line:
                change(who, step, f"line {line}", line)
    for who in list(begun):
        change(who, len(recording), "", 0)
    return json.dumps(
        {"traceEvents": events, "displayTimeUnit": "ns", "otherData": {"title": head.title, "unit": "1 us is a step"}}
    )
