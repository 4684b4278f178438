"""What a page carries only where it needs it: scripts, style sheets, tooltips, anchors, work for the browser.

A lesson is to be of use within two seconds at 1.6 Mbit/s with a processor four times slower than a desk's;
``benchmarks/site_load.py`` measures it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

FILE = re.compile(r'\n? *<(?:script src|link rel="stylesheet" href)="[^"]*/(\w+)\.(?:js|css)">(?:</script>)?')
NEEDED_BY = {  # file: what stands on each page that needs it
    "arithmetic": "data-explorer=",
    "explorer": "data-explorer=",
    "explorers": "data-explorer=",
    "explorer_index": 'data-explorer="index"',
    "explorer_coalescing": 'data-explorer="coalescing"',
    "explorer_fusion": 'data-explorer="fusion"',
    "explorer_trace": 'data-explorer="trace"',
    "replay_frame": "replay-open",
    "_mkdocstrings": 'class="doc ',
}
TOOLTIP = re.compile(r'<abbr title="([^"]*)">(.*?)</abbr>', re.S)
# Space and plain names of code have the colour of the code itself: an element for each would be every second
# one of a page. How many lines a block has is its height before it is drawn (``extra.css``).
CODE = re.compile(r"<pre>(?:<span></span>)?<code>(.*?)</code></pre>", re.S)
PLAIN = re.compile(r'<span class="[nw]">([^<]*)</span>')
# A block in one colour is text: what a program says, unless a line of it is a command.
TEXT = re.compile(r'<div class="highlight">(?=<pre style="--lines: \d+"><code>([^<]*)</code></pre>)')
COMMAND = re.compile(
    r"^(\$ )?(\./course|\.venv/|python3?|pip|pipx|uvx?|git|sudo|apt-get|podman|docker|cmake|nvcc|ncu|nsys|"
    r"export|cd|mkdir|cp|kubectl|sbatch|srun|ssh|wsl|dask|course|jupyter|npm|\. |[A-Z_]+=\S+ )",
    re.M,
)
# A number and its unit stay on one line of a narrow table.
MEASURE = re.compile(r"(<td[^>]*>[\d.,]+) ((?:us|ms|s|min|h|B|KB|MB|GB|%)</td>)")
SECTION = re.compile(r"(?=<h[1-6][ >])")
# The theme's rule for the moment in which colours change. Its script sets and takes away that attribute on
# every page that is opened, and for this rule the browser styles each element of the page anew, twice.
SWITCHING = re.compile(r"\[data-md-color-switching\] \*[^{}]*\{[^{}]*\}")


def lighter(page: str) -> str:
    """A whole page, without the files that it does not need."""
    return FILE.sub(lambda m: m[0] if NEEDED_BY.get(m[1], "") in page else "", page)


def told_once(content: str) -> str:
    """A page's text with a term's tooltip where a section uses it first, and in no heading."""
    return "".join(map(_section, SECTION.split(content)))


def plain_code(content: str) -> str:
    """A page's blocks of code without elements that change nothing, each with its number of lines."""

    def block(match: re.Match[str]) -> str:
        lines = match[1].rstrip("\n").count("\n") + 1
        text = PLAIN.sub(r"\1", match[1])
        return f'<pre style="--lines: {lines}"><code>{text}</code></pre>'

    return CODE.sub(block, content)


def without_copying(content: str) -> str:
    """A page's text whose outputs of programs have no button to copy them: nobody types them."""

    def block(match: re.Match[str]) -> str:
        return match[0] if COMMAND.search(match[1]) else '<div class="no-copy highlight">'

    return TEXT.sub(block, content)


def whole_measures(content: str) -> str:
    """A page's text whose tables do not break between a number and its unit."""
    return MEASURE.sub("\\1\N{NO-BREAK SPACE}\\2", content)


def _section(text: str) -> str:
    heading, end, rest = text.partition("</h") if text.startswith("<h") else ("", "", text)
    told: set[str] = set()

    def shown(match: re.Match[str]) -> str:
        first = match[1] not in told
        told.add(match[1])
        return match[0] if first else match[2]

    return TOOLTIP.sub(r"\2", heading) + end + TOOLTIP.sub(shown, rest)


def without_switching(sheets: Iterable[Path]) -> None:
    """Take the rule :data:`SWITCHING` out of the theme's style sheets. ValueError if it stands in none."""
    found = 0
    for sheet in sheets:
        text, many = SWITCHING.subn("", sheet.read_text("utf-8"))
        if many:
            sheet.write_text(text, "utf-8")
        found += many
    if not found:
        raise ValueError("the theme has no rule for [data-md-color-switching] any more: see SWITCHING")
