"""The terminal capture that README and home page show: a real ``course demo``, recorded."""

from __future__ import annotations

import io
import re
from pathlib import Path

from rich.console import Console

from grader import backend, demo


def capture(path: Path, wanted: str) -> bool:
    """Run the demo and write it to ``path`` as SVG; True when it ended as it should."""
    console = Console(record=True, width=100, file=io.StringIO(), force_terminal=True, highlight=False)
    console.is_interactive = False  # a spinner is not for a still picture
    console.print("[bold green]$[/] ./course demo")
    good = demo.run(console, backend.choose(wanted))
    svg = console.export_svg(title="course demo")
    # Rich names a web font; a page of ours asks nobody for anything.
    svg = re.sub(r"@font-face\s*\{.*?\}\s*", "", svg, flags=re.S).replace("Fira Code, monospace", "monospace")
    path.write_text(svg)
    return good
