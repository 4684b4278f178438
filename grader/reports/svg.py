"""A sheet to draw on: the few SVG elements that the course's pictures need, in colours for light and dark.

Sizes are in pixels of a sheet that is 480 wide, so that letters of 14 can still be read on a phone. The
colours follow the page: a picture in ``<img>`` has the colour scheme of the page that shows it.
"""

from __future__ import annotations

from html import escape

WIDTH = 480

STYLE = """\
svg.figure{--paper:#fff;--ink:#1f2933;--soft:#56616d;--line:#c3ccd5;--pale:#e9edf1;--a:#15803d;--b:#c2410c;--c:#1d4ed8;
font:14px system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
@media (prefers-color-scheme:dark){svg.figure{--paper:#14181f;--ink:#e6e9ee;--soft:#aab4c0;--line:#4a5563;--pale:#2b3340;\
--a:#4ade80;--b:#fb923c;--c:#93c5fd}}
.figure text{fill:var(--ink)}.figure .soft{fill:var(--soft)}.figure .on{fill:var(--paper)}.figure .bold{font-weight:600}
.figure .small{font-size:12px}.figure .end{text-anchor:end}.figure .mid{text-anchor:middle}
.figure .code{font-family:ui-monospace,SFMono-Regular,Menlo,monospace;font-size:13px}
.figure .a{fill:var(--a)}.figure .b{fill:var(--b)}.figure .c{fill:var(--c)}.figure .pale{fill:var(--pale)}
.figure .hollow{fill:none;stroke:var(--line)}
.figure .rule{stroke:var(--line);fill:none}.figure .ink{stroke:var(--ink);fill:none}
.figure .as{stroke:var(--a);fill:none}.figure .bs{stroke:var(--b);fill:none}.figure .cs{stroke:var(--c);fill:none}
"""


class Sheet:
    """A picture in the making: elements are added in the order they are painted."""

    def __init__(self, height: float, title: str) -> None:
        """``title`` is what a reader hears who does not see the picture."""
        self.height, self.title = height, title
        self.parts: list[str] = []

    def add(self, element: str) -> None:
        """Add ready-made SVG."""
        self.parts.append(element)

    def rect(self, x: float, y: float, w: float, h: float, kind: str, tip: str = "", rx: float = 0) -> None:
        """A box; ``kind`` names its colour, ``tip`` is told when one points at it (in an inlined picture)."""
        inside = f"<title>{escape(tip)}</title>" if tip else ""
        round_ = f' rx="{_n(rx)}"' if rx else ""
        box = f'<rect x="{_n(x)}" y="{_n(y)}" width="{_n(w)}" height="{_n(h)}"{round_} class="{kind}"'
        self.add(f"{box}>{inside}</rect>" if inside else f"{box}/>")

    def line(self, x1: float, y1: float, x2: float, y2: float, kind: str = "rule", width: float = 1) -> None:
        """A straight line."""
        ends = f'x1="{_n(x1)}" y1="{_n(y1)}" x2="{_n(x2)}" y2="{_n(y2)}"'
        self.add(f'<line {ends} class="{kind}" stroke-width="{_n(width)}"/>')

    def path(self, d: str, kind: str = "rule", width: float = 1) -> None:
        """Any line; ``d`` as in SVG."""
        self.add(f'<path d="{d}" class="{kind}" stroke-width="{_n(width)}"/>')

    def dot(self, x: float, y: float, r: float, kind: str) -> None:
        """A filled circle."""
        self.add(f'<circle cx="{_n(x)}" cy="{_n(y)}" r="{_n(r)}" class="{kind}"/>')

    def text(self, x: float, y: float, words: str, kind: str = "") -> None:
        """One line of text; its baseline is at ``y``."""
        name = f' class="{kind}"' if kind else ""
        self.add(f'<text x="{_n(x)}" y="{_n(y)}"{name}>{escape(words)}</text>')

    def svg(self, role: str = "img") -> str:
        """The whole file; ``role`` "group" for a picture that holds links."""
        size = f'viewBox="0 0 {WIDTH} {_n(self.height)}" width="{WIDTH}" height="{_n(self.height)}"'
        head = f'<svg xmlns="http://www.w3.org/2000/svg" class="figure" role="{role}" {size}>'
        body = "\n".join(self.parts)
        return f"{head}\n<title>{escape(self.title)}</title>\n<style>\n{STYLE}</style>\n{body}\n</svg>\n"


def _n(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")
