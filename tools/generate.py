"""Write what is generated: starters, notebooks, the code excerpts on the lesson pages, and the pictures.

The markers in a solution are those of :mod:`grader.domain.markers`. A page holds
``<!-- code: solutions/NN_x/solution.py#NAME -->`` .. ``<!-- /code -->``; the lines between are replaced by
that region, or by the whole file if no name is given. Measured numbers: ``numbers.py``; what a page asks
for beforehand: ``questions.py``; pictures: ``figures/``.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from grader.domain import gpu_notebook, lesson_notebook
from grader.domain.markers import MarkerError, block, regions, starter
from tools import capstone_page, dialects_page, figures, numbers, questions, schemas

HERE = Path(__file__).parents[1]  # its pictures are the course's, also for a copy without any
OPEN = re.compile(r"<!-- code: (?P<path>[^#\s]+)(?:#(?P<name>[\w-]+))? -->\s*$")
CLOSE = "<!-- /code -->"


def generate(root: Path, *, check: bool, only: str = "") -> list[Path]:
    """The generated files below ``root`` that differ from their sources; rewritten unless ``check``.

    ``only``: those in the folder of that lesson. Raises MarkerError when a marker is wrong.
    """
    wanted: dict[Path, str] = {}
    for solution in sorted(root.glob("solutions/*/solution.py")):
        wanted[root / "lessons" / solution.parent.name / "exercise.py"] = starter(solution)
    for page in sorted(root.glob("lessons/*/README.md")):
        text = questions.filled(filled(page, root, wanted), page.with_name("task.py"))
        wanted[page] = numbers.filled(text, root)
    wanted |= capstone_page.files(root)
    names = (
        "contributing/million",
        "guide/dialects",
        "guide/from_string_to_gpu",
        "guide/ladder",
        "results/ladder",
    )
    for name in names:
        if (page := root / "docs" / f"{name}.md").exists():
            wanted[page] = dialects_page.filled(numbers.filled(filled(page, root, wanted), root), root)
    drawn = figures.files(root) if (root / figures.FOLDER).is_dir() else {}
    pictures = {path.stem: text for path, text in drawn.items()} or lesson_notebook.figures(HERE)
    for page in sorted(root.glob("lessons/*/README.md")):
        if (exercise := page.with_name("exercise.py")) in wanted:
            book = lesson_notebook.build(
                page.parent.name, wanted[page], wanted[exercise], pictures, address(root)
            )
            wanted[page.with_name("lesson.ipynb")] = lesson_notebook.text(book)
    if (page := root / "docs/guide/elsewhere.md").is_file():
        wanted[page.with_name("grade_on_a_gpu.ipynb")] = lesson_notebook.text(
            gpu_notebook.build(address(root))
        )
    for page in (root / "README.md", root / "docs" / "index.md", root / "docs" / "guide" / "explain.md",
                 root / "docs" / "guide" / "fast_build.md"):  # fmt: skip
        if page.is_file():
            wanted[page] = numbers.filled(page.read_text("utf-8"), root)
    wanted |= schemas.files(root) | form(root) | drawn
    looked = {path: text for path, text in wanted.items() if not only or path.parent.name == only}
    stale = [path for path, text in looked.items() if not path.exists() or path.read_text("utf-8") != text]
    if not check:
        for path in stale:
            path.write_text(wanted[path], "utf-8")
    return stale


def address(root: Path) -> str:
    """Where the repository is published, as pyproject.toml says it; "" as long as it is not."""
    file = root / "pyproject.toml"
    urls = tomllib.loads(file.read_text("utf-8"))["project"].get("urls", {}) if file.is_file() else {}
    return str(urls.get("Repository", ""))


def form(root: Path) -> dict[Path, str]:
    """The form for a report about a lesson, which lists all of them; none where there is no form."""
    path = root / ".github" / "ISSUE_TEMPLATE" / "lesson.yml"
    if not path.is_file():
        return {}
    names = sorted(p.parent.name.replace("_", " ") for p in root.glob("lessons/[0-9][0-9]_*/task.py"))
    listed = "".join(f"        - {name}\n" for name in names)
    return {path: re.sub(r"(?:^ {8}- \d\d [^\n]*\n)+", listed, path.read_text("utf-8"), count=1, flags=re.M)}


def filled(page: Path, root: Path, generated: dict[Path, str]) -> str:
    """The text of ``page`` with its excerpts up to date; ``generated`` holds starters not yet written."""
    out: list[str] = []
    opened = 0
    for number, line in enumerate(page.read_text("utf-8").splitlines(), 1):
        if match := OPEN.match(line):
            if opened:
                raise MarkerError(page, number, f"an excerpt inside the one begun in line {opened}")
            opened = number
            out += [line, _excerpt(root / match["path"], match["name"], page, number, generated)]
        elif line.strip() == CLOSE:
            if not opened:
                raise MarkerError(page, number, f"{CLOSE} without an excerpt")
            opened = 0
            out.append(line)
        elif not opened:
            out.append(line)
    if opened:
        raise MarkerError(page, opened, f"an excerpt without {CLOSE}")
    return "\n".join(out) + "\n"


def _excerpt(path: Path, name: str | None, page: Path, number: int, generated: dict[Path, str]) -> str:
    if path not in generated and not path.is_file():
        raise MarkerError(page, number, f"there is no file {path}")
    if not name:
        text = generated.get(path) or path.read_text("utf-8")
        return block(text.splitlines(), "python")
    found = regions(path)
    if name not in found:
        raise MarkerError(
            page, number, f"{path.name} has no region {name}, only {', '.join(found) or 'none'}"
        )
    return found[name]
