"""A site without solutions shows none, and neither does what is exported."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest

from grader.domain import folds, lessons
from grader.teaching.export import bundle, nbgrader
from tests.docs.conftest import build
from tools import sources, visible

ROOT = Path(__file__).resolve().parents[2]
EVERY = lessons.every()
KEYS = sources.KEYS  # which the grader needs, on a machine that students do not see
BY_CHANCE = 2  # lines that a page of docs/ has in common with a solution, as its own examples do


def lines_of(text: str) -> set[str]:
    return {line.strip() for line in text.splitlines()}


@pytest.fixture(scope="module")
def secret() -> dict[str, set[str]]:
    found = visible.only_solved(EVERY)
    assert all(len(lines) > 5 for lines in found.values()), "there is something to keep back"
    return found


@pytest.mark.slow
def test_no_source_of_the_site_has_a_line_of_a_solution(secret: dict[str, set[str]]) -> None:
    files = sources.generated(ROOT, solutions=False)
    assert not [uri for uri in files if "solution" in uri or "tested_kernels" in uri]
    texts = {uri: text if isinstance(text, str) else text.decode() for uri, text in files.items()}
    found = {uri: lines_of(text) for uri, text in texts.items()}
    for lesson, lines in secret.items():
        assert not {uri: both for uri, own in found.items() if (both := own & lines)}, lesson
    for path in (ROOT / "docs").rglob("*.md"):
        page = lines_of(sources.mended(path.read_text("utf-8"), ROOT, solutions=False))
        assert all(len(page & lines) <= BY_CHANCE for lines in secret.values()), path


def test_what_is_withheld_leaves_the_page_whole() -> None:
    page = (
        "# A page\n\nSee [the solution](../../solutions/03_x/solution.py#L3) and [a page](../start.md).\n\n"
        f"<details>\n<summary>{folds.COMPARE}</summary>\n\nThe code.\n\n</details>\n\n"
        "<!-- code: solutions/03_x/solution.py#a -->\n```cuda\nx();\n```\n<!-- /code -->\n\n"
        "<!-- code: lessons/03_x/sibling.py#a -->\n```cuda\ny();\n```\n<!-- /code -->\n"
    )
    assert sources.withheld(page) == (
        f"# A page\n\nSee the solution and [a page](../start.md).\n\n\n{sources.WITHHELD}\n\n"
        "<!-- code: lessons/03_x/sibling.py#a -->\n```cuda\ny();\n```\n<!-- /code -->\n"
    )


@pytest.mark.thorough
def test_the_site_as_it_is_built_has_no_line_of_a_solution(
    secret: dict[str, set[str]], tmp_path: Path
) -> None:
    build(tmp_path / "site", COURSE_SOLUTIONS="0")
    assert not [path for path in tmp_path.rglob("*solution*") if path.suffix == ".py"]
    kinds = {".html", ".json", ".py", ".ipynb", ".md"}
    for path in sorted(p for p in (tmp_path / "site").rglob("*") if p.suffix in kinds):
        text = html.unescape(re.sub(r"<[^>]*>", "", path.read_text("utf-8")))
        own = lines_of(text.replace("\\n", "\n"))  # in JSON, a search index for one, lines end so
        of_docs = path.parent.parent.name in ("guide", "contributing") or path.name == "search_index.json"
        for lesson, lines in secret.items():
            assert len(own & lines) <= (BY_CHANCE if of_docs else 0), (lesson, path)


def test_what_is_exported_has_no_line_of_a_solution(secret: dict[str, set[str]]) -> None:
    for lesson in EVERY:
        files = {name: data for name, data in bundle.course(lesson, None) if name.startswith("lessons/")}
        assert f"lessons/{lesson.name}/task.py" in files
        own = {
            n: data.decode() for n, data in files.items() if n.endswith(".py") and Path(n).name not in KEYS
        }
        for name, text in own.items():
            assert not lines_of(text) & secret[lesson.name], name
        told = [name for name in files if not name.endswith(".py") and "/data/" not in name]
        assert not told, "neither pages, nor hints, nor mutants"
        assert f"lessons/{lesson.name}/sibling.py" not in files
        assert not lines_of(nbgrader.assignment(lesson).replace("\\n", "\n")) & secret[lesson.name]
