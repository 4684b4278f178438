"""A lesson's page, cut into slides: a few words for each heading, picture, table and step.

Nothing is written for a deck alone. What explains at length stays on the page; solutions are left out.
"""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from grader.domain import folds

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Kind = Literal["text", "list", "code", "picture", "table"]

NOT_SHOWN = ("Where to read on", "Quiz")
LEADS = ("Common mistakes",)  # sections of which only what is set in bold is shown
STEPS = ("The exercise",)  # sections of which only lists are shown
OBJECTIVES = "After this lesson"
PREDICT = "./course predict"  # stands on the last slide
WORDS, CAPTION, MOST = 75, 40, 110  # of a paragraph, of one above a picture or code, and of a list
ITEMS, LINES = 8, 22  # of a list, and code, on one slide
ROWS, LETTERS = 8, 90  # lines of a table on one slide, and letters in a line

FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```[ \t]*$", re.M | re.S)
IMAGE = re.compile(r"!\[(?P<alt>[^\]]*)\]\((?P<to>[^)]+)\)")
ITEM = re.compile(r"^(?:\d+\\?\.|[-*]) ")
SOLUTION = re.compile(r"^<!-- code: solutions/\S+ -->\n.*?^<!-- /code -->$", re.M | re.S)
TEACHER = re.compile(r'^\?\?\? note "Teacher\'s note".*', re.M | re.S)
SHUT = re.compile(r'^\?\?\?\+? \w+ "(.+)"\n((?:    .*\n|\s*\n)+)', re.M)  # a fold in another notation
BOLD = re.compile(r"^\*\*(.+?)\*\*")


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of a page, as its Markdown has it; code is without its fence, in ``language``."""

    kind: Kind
    text: str
    language: str = ""


@dataclass(frozen=True, slots=True)
class Slide:
    """What one slide shows, from top to bottom, below its title."""

    title: str
    blocks: tuple[Block, ...]


def deck(page: str, commands: Iterable[str] = ()) -> list[Slide]:
    """The slides of a lesson's page, after its title; ``commands`` are what its last one shows."""
    page = SOLUTION.sub("", folds.without_solutions(TEACHER.sub("", page)))
    page = SHUT.sub(_fold, re.sub(r"<!--.*?-->\n?", "", page, flags=re.S))
    head, *rest = re.split(r"^## (.+)$", page, flags=re.M)
    title, _, head = head.partition("\n")
    hook, lead, aims = head.partition(f"\n{OBJECTIVES}")
    found = list(_section(title.removeprefix("# ").partition(": ")[2], hook))
    found += map(_opening, _section("", lead + aims))
    for title, body in zip(rest[::2], rest[1::2], strict=True):
        if not title.startswith(NOT_SHOWN):
            found += _section(title.strip(), body)
    found.append(Slide("Now you", tuple(Block("code", command, "sh") for command in commands)))
    return [slide for slide in found if slide.blocks]


def _fold(shut: re.Match[str]) -> str:
    return f"<details>\n<summary>{shut[1]}</summary>\n{textwrap.dedent(shut[2])}\n</details>\n"


def _opening(slide: Slide) -> Slide:
    """What a reader will be able to do, with its lead as title."""
    lead, *rest = slide.blocks
    return Slide(lead.text, tuple(rest))


def _section(title: str, body: str) -> Iterator[Slide]:
    shut = [m[0] for m in folds.FOLD.finditer(body)]
    opened = folds.outside(body)
    if title.startswith(LEADS):
        leads = [f"- {m[1].rstrip('.')}" for p in _paragraphs(opened) if (m := BOLD.match(p))]
        yield from _lists(title, leads)
        return
    if title.startswith(STEPS):
        for block in blocks(opened):
            if block.kind == "list":
                yield from _lists(title, _items(block.text))
        return
    for part in re.split(r"^(?=### )", opened, flags=re.M):
        heading = re.match(r"### (.+)\n", part)
        yield from _part(heading[1].strip() if heading else title, part[heading.end() :] if heading else part)
    for fold in shut:  # answers come after their questions, on slides of their own
        inner = re.sub(r"</?details[^>]*>|<summary>.*?</summary>", "", fold, flags=re.S)
        yield from _part(folds.summary(fold), inner)


def _part(title: str, text: str) -> Iterator[Slide]:
    """Slides of a piece of text: each picture or piece of code with the sentence before it, each list."""
    above: list[Block] = []
    shown = False
    for block in _joined(list(blocks(text))):
        if block.kind == "text" or (block.kind == "list" and block.text.endswith(":")):
            above = [block]  # also an item that leads to what follows it
        elif block.kind == "list":
            yield from _lists(title, _items(block.text), above)
            above, shown = [], True
        elif not block.text.startswith(PREDICT):
            for k, piece in enumerate(_cut(block)):
                yield Slide(title, (*(_shortened(above, CAPTION) if k == 0 else ()), piece))
            above, shown = [], True
    if above and not shown:
        first = next((b for b in blocks(text) if b.kind == "text"), above[0])
        words = sentences(first.text, WORDS)
        words = re.sub(r" ?[^.!?]*:$", "", words)  # it led to what is left out
        yield Slide(title, (Block("text", words),) if words else ())


def _joined(found: list[Block]) -> Iterator[Block]:
    """The blocks, with what code prints below it where both fit on one slide."""
    while found:
        block = found.pop(0)
        after = found[0] if found else None
        if after and (block.kind, after.kind, after.language) == ("code", "code", "text"):
            both = f"{block.text}\n\n{after.text}"
            if block.language != "text" and both.count("\n") < LINES:
                block = Block("code", both, block.language)
                found.pop(0)
        yield block


def _lists(title: str, items: list[str], above: list[Block] | None = None) -> Iterator[Slide]:
    lead = tuple(_shortened(above or [], CAPTION))
    start = 0
    while start < len(items):
        count, words = 0, 0
        while start + count < len(items) and count < ITEMS:
            words += len(items[start + count].split())
            if count and words > MOST:
                break
            count += 1
        yield Slide(title, (*lead, Block("list", "\n".join(items[start : start + count]))))
        start, lead = start + count, ()


def _items(text: str) -> list[str]:
    """A list's items, each as short as it can be: what is bold in front, or the first sentences."""
    every = re.split(r"\n(?=(?:\d+\\?\.|[-*]) )", text)
    out = []
    for item in every:
        mark = ITEM.match(item)
        assert mark is not None
        words = " ".join(item[mark.end() :].split())
        bold = BOLD.match(words)
        out.append(mark[0] + (bold[1].rstrip(".") if bold else sentences(words, CAPTION)))
    return out


def _cut(block: Block) -> Iterator[Block]:
    """Code and tables in pieces that fit on a slide; code is cut at blank lines where there are some."""
    lines = block.text.split("\n")
    if block.kind == "table":
        head, rows = lines[:2], lines[2:]
        while rows:
            count, high = 0, 0
            while count < len(rows) and (not count or high + _high(rows[count]) <= ROWS):
                high += _high(rows[count])
                count += 1
            yield Block("table", "\n".join([*head, *rows[:count]]))
            rows = rows[count:]
    elif block.kind == "code":
        while len(lines) > LINES:
            most = -(-len(lines) // -(-len(lines) // LINES))  # pieces of about the same length
            gaps = [k for k in range(most // 2, LINES + 1) if not lines[k].strip()]
            at = min(gaps, key=lambda k: abs(k - most)) if gaps else most
            yield Block("code", "\n".join(lines[:at]), block.language)
            lines = lines[at:]
            while lines and not lines[0].strip():
                lines = lines[1:]
        yield Block("code", "\n".join(lines), block.language)
    else:
        yield block


def _high(row: str) -> int:
    return -(-len(row) // LETTERS)


def _shortened(above: list[Block], most: int) -> list[Block]:
    return [Block("text", words) for block in above if (words := sentences(block.text, most))]


def sentences(text: str, most: int) -> str:
    """The first sentences of ``text`` with at most ``most`` words; the first one in any case."""
    text = " ".join(re.sub(r"(?<!!)\[([^\]]+)\]\([^)]*\)", r"\1", text).split())
    kept: list[str] = []
    for sentence in re.split(r"(?<=[.!?:]) (?=[A-Z`*\d])", text):
        if kept and len(" ".join([*kept, sentence]).split()) > most:
            break
        kept.append(sentence)
    return " ".join(kept)


def blocks(text: str) -> Iterator[Block]:
    """The pieces of a part of a page, in order."""
    at = 0
    for match in FENCE.finditer(text):
        yield from map(_block, _paragraphs(text[at : match.start()]))
        language = match[1] or "text"
        yield Block("code", match[2].rstrip("\n"), language)
        at = match.end()
    yield from map(_block, _paragraphs(text[at:]))


def _block(paragraph: str) -> Block:
    if IMAGE.match(paragraph):
        return Block("picture", paragraph)
    if paragraph.startswith("|"):
        return Block("table", paragraph)
    return Block("list" if ITEM.match(paragraph) else "text", paragraph)


def _paragraphs(text: str) -> list[str]:
    """Paragraphs; tags around figures are dropped, and items with what belongs to them stay together."""
    text = re.sub(r"^ *</?(?:div|p|script)[^>]*>(?:[^<]*</script>)?$", "", text, flags=re.M)
    found: list[str] = []
    for paragraph in re.split(r"\n\s*\n", text.strip("\n")):
        belongs = paragraph.startswith("    ") and found and ITEM.match(found[-1])
        follows = ITEM.match(paragraph) and found and ITEM.match(found[-1])
        if belongs:
            continue
        if follows:
            found[-1] += "\n" + paragraph
        elif paragraph.strip() and not paragraph.startswith((">", "{ .")):
            found.append(paragraph.strip())
    return found
