"""All pages of the site that are not written by hand, by their place in it: one list for every site builder.

MkDocs gets them through ``hooks.py`` while it builds. Zensical knows no hooks: for it ``staged`` writes the
hand-written and the generated pages into one folder, with a configuration that needs nothing else.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from grader.domain import folds
from grader.domain.lessons import course_root
from tools import (
    capstone_page,
    coursemap,
    error_page,
    explorers,
    glossary,
    lookup,
    numbers,
    offer,
    page_sources,
    quiz,
    replays,
    results_page,
    slides,
    support_page,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

POINTS = re.compile(r"^<!-- points -->\n.*?^<!-- /points -->$", re.M | re.S)
CONTACT = re.compile(r"^<!-- contact -->\n.*?^<!-- /contact -->$", re.M | re.S)
QUIZ = re.compile(r"^<!-- quiz: ([\w/.-]+) -->$", re.M)
SHOWN = {".py", ".md", ".svg", ".ipynb", ".json"}
EXCERPT = re.compile(r"^<!-- code: solutions/\S+ -->\n.*?^<!-- /code -->$", re.M | re.S)
KEYS = ("tested_kernels.py",)  # right and wrong kernels, which a student's tests must tell apart
WITHHELD = "*This copy of the site is without the code that stands here.*"
Files = dict[str, str | bytes]


def generated(root: Path, repository: str = "", release: str = "", *, solutions: bool = True) -> Files:
    """Every generated page and file, by its place below the site's root.

    ``repository`` ("owner/name" on GitHub) and ``release`` (a tag) are where notebooks can be opened from.
    Without ``solutions`` no page and no file shows one.
    """
    tasks = page_sources.tasks(root)
    words = glossary.read(root)
    found: Files = {
        "reference/statuses.md": page_sources.statuses(),
        "reference/verdict.md": page_sources.verdict(),
        f"reference/{page_sources.SCHEMA.name}": page_sources.SCHEMA.read_bytes(),
        "reference/class.md": lookup.classes(page_sources.fields),
        "reference/formats.md": lookup.formats(),
        f"reference/{lookup.CLASS.name}": lookup.CLASS.read_bytes(),
        "reference/cli.md": page_sources.cli(),
        "reference/cards.md": lookup.cards(root),
        "reference/support.md": support_page.page(root),
        "reference/task.md": lookup.task(root),
        "reference/api.md": lookup.api(),
        "reference/glossary.md": words.page(tasks),
        "reference/errors.md": error_page.page({name[:2]: name for name in tasks}),
        "lessons/index.md": page_sources.overview(root, coursemap.picture(tasks)),
        **results_page.pages(root),
        **slides.decks(root, tasks),
        **replays.files(root),
        **capstone_page.site(root, solutions=solutions),
    }
    for path in _lesson_files(root, solutions=solutions):
        uri = path.relative_to(root).as_posix()
        text = path.read_text("utf-8")
        text = text if solutions or path.suffix != ".md" else withheld(text)
        if path.name == "README.md":
            questions = quiz.read(path.with_name("quiz.toml"))
            number = path.parent.name[:2]
            shown = quiz.section(questions, number)
            links = offer.notebook(path.parent.name, repository, release)
            explained = words.links(tasks)
            text = page_sources.lesson(text, tasks[path.parent.name], shown, links, number, explained)
            text += words.tooltips()
            text = replays.placed(explorers.filled(numbers.unmarked(text), root), uri)
        elif path.name == "hints.md":
            names = list(tasks)
            place = names.index(path.parent.name)
            beside = (*names[max(0, place - 1) : place], *names[place + 1 : place + 2])
            text = page_sources.hints(
                text, tuple(name for name in beside if (root / "lessons" / name / "hints.md").exists())
            )
        found[uri] = text
    return found


def withheld(page: str) -> str:
    """``page`` without any solution: neither their folds, nor other excerpts of them, nor links to them."""
    page = EXCERPT.sub(WITHHELD, folds.without_solutions(page))
    return re.sub(r"\[([^]]+)\]\((?:\.\./)*solutions/[^)]*\)", r"\1", page)


def tooltips(root: Path) -> str:
    """What a page ends with whose words of the glossary are to tell their meaning."""
    return glossary.read(root).tooltips()


def mended(page: str, root: Path, repository: str = "", *, solutions: bool = True) -> str:
    """A hand-written page of ``docs/``: its links to lessons, figures and quiz, put right for the site.

    On GitHub such a page is one folder deeper below the lessons than on the site. The rest as above.
    """
    page = page if solutions else withheld(page)
    page = re.sub(r"\]\(((?:\.\./)*)\.\./(lessons|solutions)/", r"](\1\2/", page)
    if repository:
        page = page.replace("git clone REPOSITORY", f"git clone https://github.com/{repository}")
    elif "git clone REPOSITORY" in page:  # nothing that a shell could be given
        page = page.replace("```sh\ngit clone REPOSITORY", "``` { .sh .no-copy }\ngit clone REPOSITORY")
    page = POINTS.sub(lambda _: page_sources.points(page_sources.tasks(root)), page)
    page = QUIZ.sub(lambda m: quiz.section(quiz.read(root / "docs" / m[1]), Path(m[1]).stem), page)
    return explorers.filled(numbers.unmarked(page), root)


def navigation(root: Path) -> list[dict[str, str]]:
    """The lessons' part of the navigation, in order."""
    lessons = [{"Overview": "lessons/index.md"}]
    for name, task in page_sources.tasks(root).items():
        lessons.append({f"{name[:2]} {task.title}": f"lessons/{name}/README.md"})
    lessons += [{"Capstone": uri} for uri in (capstone_page.PAGE,) if (root / uri).is_file()]
    return lessons


def staged(folder: Path, root: Path | None = None) -> Path:
    """Write all pages below ``folder``, and beside them a ``mkdocs.yml`` without hooks; its path."""
    root = root or course_root()
    pages_folder = folder / "docs"
    shutil.copytree(root / "docs", pages_folder)
    for path in pages_folder.rglob("*.md"):
        page = path.relative_to(pages_folder).as_posix()
        path.write_text(replays.placed(mended(path.read_text("utf-8"), root), page), "utf-8")
    for uri, content in generated(root).items():
        path = pages_folder / uri
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    text = (root / "mkdocs.yml").read_text("utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("hooks:")]
    entry = next(k for k, line in enumerate(lines) if line.startswith("  - Lessons: []"))
    listed = [
        f"      - {yaml.safe_dump(one, default_flow_style=True, width=1000).strip()}"
        for one in navigation(root)
    ]
    lines[entry : entry + 1] = ["  - Lessons:", *listed]
    config = folder / "mkdocs.yml"
    config.write_text("\n".join(lines) + "\n", "utf-8")
    return config


def _lesson_files(root: Path, *, solutions: bool) -> Iterable[Path]:
    left_out = () if solutions else KEYS
    for top in ("lessons", "solutions") if solutions else ("lessons",):
        for name in page_sources.tasks(root):
            for path in sorted((root / top / name).rglob("*")):
                hidden = any(part.startswith((".", "_")) for part in path.relative_to(root).parts)
                if path.is_file() and path.suffix in SHOWN and not hidden and path.name not in left_out:
                    yield path
