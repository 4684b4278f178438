"""A lesson's notebook: its page as cells, the exercise where the page comes to it, the course set up first.

Code of the page runs where it stands; what it prints stands below it, as on the page. Each cell of the
exercise begins with a comment that says which part of it this is, so that a copy without metadata has it too.
"""

from __future__ import annotations

import ast
import base64
import hashlib
import re
from typing import TYPE_CHECKING

import nbformat
from nbformat import NotebookNode, v4

from grader.domain import folds, python_text
from grader.domain.errors import BadInputError
from grader.domain.installation import COURSE
from grader.domain.notebook import TAG
from grader.domain.version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

FIGURES = "docs/assets/figures"
PART = "# exercise, part {} of {}"
MARK = re.compile(r"^# exercise, part (\d+) of (\d+)$", re.M)
EXERCISE = "## The exercise"
CODE = re.compile(r"^```python\n(.*?)^```[ \t]*\n?", re.M | re.S)
OF_FILE = re.compile(
    r"^<!-- code: .*?^<!-- /code -->$", re.M | re.S
)  # a piece of a program, which runs as a whole only
OF_CHECKOUT = re.compile(r"^from tools\b", re.M)  # no package has it
FINISHED = re.compile(r"^from exercise_\d\d import .*\n", re.M)  # the notebook has those names already
PICTURE = re.compile(r"!\[([^\n]*?)\]\(\.\./\.\./docs/assets/figures/(\w+)\.svg\)")
LINK = re.compile(r"(?<!!)\[([^]]+)\]\((?!https?:)([^)#\s]*)(#[^)\s]*)?\)")
SETUP = """\
# Run this cell first: it finds the course, or fetches it, and says what runs your kernels.
{lesson}ADDRESS, RELEASE = {given}"{address}", "{release}"
import importlib.util, os, pathlib, shutil, subprocess, sys


def course():
    here = pathlib.Path.cwd()
    for folder in (os.environ.get("COURSE_ROOT"), here / "course", here, *here.parents):
        if folder and (pathlib.Path(folder) / "grader" / "student" / "lab").is_dir():
            return str(folder)
    if not ADDRESS:
        raise SystemExit("The course is not here: write the address of its repository into ADDRESS above.")
    if not shutil.which("git"):
        raise SystemExit("git is not installed here: the course cannot be fetched without it.")
    fetch = ["git", "clone", "-q", "--depth", "1", "--branch", RELEASE, ADDRESS, "course"]
    if subprocess.run(fetch).returncode:
        raise SystemExit(f"{{ADDRESS}} cannot be fetched: is it right, and has this machine a network?")
    return str(here / "course")


if sys.version_info < (3, 11):
    raise SystemExit(f"This is Python {{sys.version.split()[0]}}; the course needs 3.11 or newer.")
if importlib.util.find_spec("grader") is None:
    sys.path.insert(0, course())
from grader.student.lab import notebook_start

notebook_start.{begin}"""
CHECK = """\
# Grades the exercise's cells as they were when you last ran them.
from grader.student.lab import notebook_check

notebook_check.check("{number}")"""


def build(
    name: str,
    page: str,
    exercise: str,
    pictures: Mapping[str, str] | None = None,
    address: str = "",
) -> NotebookNode:
    """A lesson's notebook. It depends on nothing else.

    Args:
        name: The lesson's folder, as in ``02_python_kernel``.
        page: Its page.
        exercise: The starter, or what it became.
        pictures: The SVG of figures that a page may show, by their names; without one its words stay.
        address: Where the repository is published; without it links are words.
    """
    number, given = name[:2], pictures or {}
    first, *sections = _sections(page, given) or [""]
    made = _Cells(name, given, address)
    made.say(first)
    made.run(setup("start(LESSON)", address, number), "setup")
    pending = True
    for section in sections:
        here = pending and section.startswith(EXERCISE)
        for text, code in _cut(section):
            if here and FINISHED.search(
                code
            ):  # tries what is finished by then, and so does what introduces it
                above, _, text = text.strip().rpartition("\n\n")
                made.say(above)
                made.hand_in(exercise)
                here = pending = False
            if pending and not here and FINISHED.search(code):
                made.later[section.partition("\n")[0].removeprefix("## ")] = FINISHED.sub("", code)
                made.say(
                    f"{text.rstrip()}\n\n```python\n{code}```\n\n*Runs below the exercise, which it needs.*"
                )
                continue
            if OF_CHECKOUT.search(code):
                made.say(f"{text.rstrip()}\n\n```python\n{code}```")
                continue
            made.say(text)
            if code := FINISHED.sub("", code):
                made.run(code, "example")
        if here:
            made.hand_in(exercise)
            pending = False
    if pending:
        made.hand_in(exercise)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    book: NotebookNode = v4.new_notebook(cells=made.cells, metadata={"kernelspec": kernel})
    return book


def setup(begin: str, address: str, number: str = "") -> str:
    """The first cell of a notebook: finds the course or fetches it, then calls ``notebook_start``.

    Args:
        begin: What is called of it.
        address: Where the course is fetched from.
        number: The lesson; without one there is no name for it.
    """
    lesson, given = ("LESSON, ", f'"{number}", ') if number else ("", "")
    release = f"v{__version__}"
    return SETUP.format(lesson=lesson, given=given, address=address, release=release, begin=begin)


class _Cells:
    """The cells of a notebook in the making."""

    def __init__(self, name: str, pictures: Mapping[str, str], address: str) -> None:
        self.cells: list[NotebookNode] = []
        self.later: dict[str, str] = {}  # by section: code of the page that needs the exercise
        self._name, self._pictures, self._address = name, pictures, address

    def _key(self, kind: str) -> str:
        return cell_id(f"{self._name}-{kind}-{len(self.cells)}")

    def say(self, text: str) -> None:
        """Text, with the pictures that it shows."""
        if not text.strip():
            return
        cell = v4.new_markdown_cell(_linked(text.strip(), self._name, self._address), id=self._key("page"))
        for name in re.findall(r"\(attachment:(\w+)\.svg\)", cell.source):
            packed = base64.b64encode(self._pictures[name].encode()).decode()
            cell.setdefault("attachments", {})[f"{name}.svg"] = {"image/svg+xml": packed}
        self.cells.append(cell)

    def run(self, code: str, tag: str) -> None:
        """Code that is no part of what is handed in."""
        self.cells.append(v4.new_code_cell(code.rstrip(), id=self._key(tag), metadata={"tags": [tag]}))

    def hand_in(self, exercise: str) -> None:
        """The exercise, and below it the grader."""
        parts = _parts(exercise)
        for k, text in enumerate(parts, 1):
            facts = {"course": {"of": len(parts), "part": k}, "tags": [TAG]}
            key = cell_id(f"{self._name}-exercise-{k}")
            text = f"{PART.format(k, len(parts))}\n{text}"
            self.cells.append(v4.new_code_cell(text, id=key, metadata=facts))
        self.run(CHECK.format(number=self._name[:2]), "check")
        for title, code in self.later.items():
            self.say(f"From *{title}*, now that it can run:")
            self.run(code, "example")


def figures(root: Path) -> dict[str, str]:
    """The pictures of a checkout by their names; none where there are none, as in what is installed."""
    return {path.stem: path.read_text("utf-8") for path in sorted((root / FIGURES).glob("*.svg"))}


def text(book: NotebookNode) -> str:
    """A notebook as its file holds it. Raises ValidationError if it is none that Jupyter takes."""
    nbformat.validate(book)
    return str(nbformat.writes(book)) + "\n"


def cell_id(key: str) -> str:
    """A cell's id that stays the same from one build to the next."""
    return hashlib.sha256(key.encode()).hexdigest()[:12]


def whole(cells: Sequence[str]) -> str:
    """The exercise's text from cells that say which part they are: the last of each, in order.

    Raises BadInputError with one sentence if a part lacks.
    """
    parts: dict[int, str] = {}
    total = 0
    for cell in cells:
        if found := MARK.search(cell):
            parts[int(found[1])], total = cell, int(found[2])
    missing = sorted(set(range(1, total + 1)) - set(parts))
    if not parts or missing:
        raise BadInputError(f"Part {missing[0] if missing else 1} of the exercise lacks; is its cell there?")
    return "\n\n".join(parts[k] for k in sorted(parts) if k <= total) + "\n"


def _cut(section: str) -> list[tuple[str, str]]:
    """Text and the code that follows it, in turn; what is closed, or a piece of a file, stays text."""
    kept = [m.span() for m in (*folds.FOLD.finditer(section), *OF_FILE.finditer(section))]
    found, at = [], 0
    for code in CODE.finditer(section):
        if not any(a <= code.start() < b for a, b in kept):
            found.append((_bare(section[at : code.start()]), code[1]))
            at = code.end()
    return [*found, (_bare(section[at:]), "")]


def _bare(text: str) -> str:
    """Without the comments that only the course's own tools read."""
    return re.sub(r"^<!--.*?-->\n|<!--.*?-->", "", text, flags=re.M)


def _parts(text: str) -> list[str]:
    """The exercise cut at its top-level functions and classes, comments above and at their end included."""
    lines = text.splitlines()
    cuts = [0]
    try:
        body = python_text.parse(text).body
    except SyntaxError:  # a starter may be as broken as its exercise wants it
        body = []
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)]) - 1
            while first and lines[first - 1].startswith("#"):
                first -= 1
            cuts += [first, _end(lines, node.end_lineno or first)]
    pieces = ["\n".join(lines[a:b]).strip("\n") for a, b in zip(cuts, [*cuts[1:], len(lines)], strict=True)]
    return [p for p in pieces if p.strip()]


def _end(lines: list[str], end: int) -> int:
    """Where a block ends whose last statement is in line ``end``: an indented comment still belongs to it."""
    for k in range(end, len(lines)):
        if lines[k][:1] in (" ", "\t") and lines[k].strip():
            end = k + 1
        elif lines[k].strip():
            break
    return end


def _sections(page: str, pictures: Mapping[str, str]) -> list[str]:
    page = page.split("??? note")[0].rstrip()  # the teacher's note stays on the page
    page = folds.without_solutions(page)
    page = re.sub(r'<div data-explorer="[\w-]+" markdown="1">|^</div>\n', "", page, flags=re.M)
    page = PICTURE.sub(lambda m: _shown(m, pictures), page)
    return [s.strip() for s in re.split(r"^(?=## )", page, flags=re.M) if s.strip()]


def _shown(found: re.Match[str], pictures: Mapping[str, str]) -> str:
    """A picture that the notebook carries with it, wherever its copy lies, or else what is to be seen."""
    return f"![{found[1]}](attachment:{found[2]}.svg)" if found[2] in pictures else f"*Figure: {found[1]}.*"


def _linked(text: str, name: str, address: str) -> str:
    """Links to files of the course as addresses; without one in words, for a copy may lie anywhere."""

    def one(found: re.Match[str]) -> str:
        words, to, anchor = found[1], found[2], found[3] or ""
        if to.startswith("attachment:"):
            return found[0]
        place = _place(f"lessons/{name}", to)
        if address and to:
            return f"[{words}]({address.removesuffix('.git')}/blob/v{__version__}/{place}{anchor})"
        lesson = re.fullmatch(r"lessons/(\d\d)_\w+/README\.md", place)
        if not to or (lesson and re.search(r"\blessons? \d\d\b|\b\d\d\b", words, re.I)):
            return words
        if place.endswith("hints.md"):
            return f"{words} (`{COURSE} hint {place.split('/')[1][:2]}`)"
        return f"{words} (lesson {lesson[1]})" if lesson else f"{words} (`{place}`)"

    pieces = re.split(r"(^ *```.*?^ *```)", text, flags=re.M | re.S)
    return "".join(p if k % 2 else LINK.sub(one, p) for k, p in enumerate(pieces))


def _place(folder: str, to: str) -> str:
    parts = folder.split("/")
    for step in to.split("/"):
        if step == "..":
            parts.pop()
        elif step not in ("", "."):
            parts.append(step)
    return "/".join(parts)
