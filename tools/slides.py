"""Slides of the lessons for reveal.js, made from their pages: a deck each, at ``slides/NN/`` of the site.

The library is fetched when the site is built (``fetched.toml``). Without it, or without JavaScript, a deck is
a page on which the slides follow each other.
"""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

import markdown
from pygments import highlight
from pygments.formatters.html import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

from tools import slide_text
from tools.slide_text import IMAGE, Block, Slide

if TYPE_CHECKING:
    from pathlib import Path

    from grader.domain.task import Task

WIDE, HIGH = 1130, 540  # what text and code may take of a slide of 1280 x 720, below its title
ACROSS, ROW = 72, 40  # letters in a line of text above code, and its height
LETTER, LINE = 0.61, 1.35  # a letter's width and a line's height, in sizes of the font
LARGEST, SMALLEST = 28, 15
FEW = 90  # words of a slide without code and pictures, whose letters may be larger

INDEX = """\
# Slides

A deck for each lesson, made from its page: headings, figures, the code of its small example, its predictions
and steps. No deck holds a solution. Answers follow their questions on the next slide, so stop there first.
Arrow keys step, `f` fills the screen, `o` shows all slides, `b` blanks it. To print or to keep as PDF,
put `?print-pdf` behind the address.

"""
PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}: slides</title>
<link rel="icon" href="../../assets/images/favicon.png">
<link rel="stylesheet" href="../reveal.css">
<link rel="stylesheet" href="../../assets/stylesheets/slides.css">
</head>
<body>
<div class="reveal"><div class="slides">
{slides}
</div></div>
<script src="../reveal.js"></script>
<script src="../../assets/javascripts/slides.js"></script>
</body>
</html>
"""


def decks(root: Path, tasks: dict[str, Task]) -> dict[str, str]:
    """Every deck and the page that lists them, by their places on the site."""
    found = {}
    rows = ["| lesson | slides |", "|---|---:|"]
    for name, task in tasks.items():
        number = name[:2]
        page = (root / "lessons" / name / "README.md").read_text("utf-8")
        slides = slide_text.deck(page, commands(number))
        found[f"slides/{number}/index.html"] = _page(number, task, slides)
        rows.append(f"| [{number} {task.title}]({number}/index.html) | {len(slides) + 1} |")
    return found | {"slides/index.md": INDEX + "\n".join(rows) + "\n"}


def commands(number: str) -> tuple[str, ...]:
    """What a student types in a lesson."""
    return (f"./course predict {number}", f"./course watch {number}", f"./course hint {number}")


def _page(number: str, task: Task, slides: list[Slide]) -> str:
    title = f"Lesson {number}: {task.title}"
    facts = html.escape(f"About {task.minutes} minutes. New: {', '.join(task.introduces) or 'nothing'}.")
    first = f'<section class="title"><h1>{html.escape(title)}</h1><p>{facts}</p></section>'
    return PAGE.format(title=html.escape(title), slides="\n".join([first, *map(_slide, slides)]))


def _slide(slide: Slide) -> str:
    code = [b for b in slide.blocks if b.kind == "code"]
    above = sum(ROW * -(-len(b.text) // ACROSS) + ROW for b in slide.blocks if b.kind != "code")
    size = _size("\n".join(b.text for b in code), HIGH - above) if code else 0
    inner = "\n".join(_block(b, size) for b in slide.blocks)
    title = f"<h2>{_inline(slide.title)}</h2>\n" if slide.title else ""
    plain = all(b.kind in ("text", "list") for b in slide.blocks)
    few = plain and len(" ".join(b.text for b in slide.blocks).split()) < FEW
    kind = ' class="few"' if few else ""
    return f"<section{kind}>\n{title}{inner}\n</section>"


def _block(block: Block, size: float) -> str:
    if block.kind == "code":
        return f'<div class="code" style="font-size:{size:.1f}px">{_coloured(block)}</div>'
    if block.kind == "picture":
        seen = IMAGE.match(block.text)
        assert seen is not None
        to = seen["to"].replace("../../docs/", "../../")
        return f'<img src="{html.escape(to)}" alt="{html.escape(seen["alt"])}">'
    text = re.sub(r"(?<!!)\[([^\]]+)\]\([^)]*\)", r"\1", block.text)
    text = re.sub(r"^(\d+)\\\.", r"\1.", text, flags=re.M)
    kind = "" if len(text.split()) < FEW else ' class="dense"'
    made = markdown.markdown(text, extensions=["tables", "sane_lists"])
    return f"<div{kind}>{made}</div>"


def _inline(text: str) -> str:
    return str(markdown.markdown(text)).removeprefix("<p>").removesuffix("</p>")


def _coloured(block: Block) -> str:
    try:
        lexer = get_lexer_by_name("cuda" if block.language == "cuda" else block.language, stripnl=False)
    except ClassNotFound:
        lexer = get_lexer_by_name("text", stripnl=False)
    return str(highlight(block.text, lexer, HtmlFormatter()))


def _size(code: str, high: float) -> float:
    """The font in which code fits what is left of a slide; the longest lines wrap at the smallest."""
    lines = code.split("\n")
    across = WIDE / (LETTER * max(20, *map(len, lines)))
    size = max(SMALLEST, min(LARGEST, across))
    rows = sum(max(1, -(-len(line) * LETTER * size // WIDE)) for line in lines)
    return min(size, high / (LINE * (rows + 1)))
