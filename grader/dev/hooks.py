"""What MkDocs calls while it builds the site (``hooks:`` in mkdocs.yml): adds the pages that are generated.

Files of ``lessons/`` and ``solutions/`` keep their places below the site's root, so that a link between two
of them is right on GitHub and on the site.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from grader.dev import glossary, pages, quiz

SHOWN = {".py", ".md", ".svg", ".ipynb", ".json"}
MERMAID = "assets/javascripts/mermaid.tiny.js"


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the lessons into the navigation, in order."""
    lessons = [{"Overview": "lessons/index.md"}]
    for name, task in pages.tasks(_root(config)).items():
        lessons.append({f"{name[:2]} {task.title}": f"lessons/{name}/README.md"})
    for entry in config.nav or []:
        if isinstance(entry, dict) and "Lessons" in entry:
            entry["Lessons"] = lessons
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages and what the lesson pages link to."""
    root = _root(config)

    def add(uri: str, content: str | bytes) -> None:
        files.append(File.generated(config, uri, content=content))

    add("reference/statuses.md", pages.statuses())
    add("reference/verdict.md", pages.verdict())
    add(f"reference/{pages.SCHEMA.name}", pages.SCHEMA.read_bytes())
    add("reference/cli.md", pages.cli())
    add("lessons/index.md", pages.overview(root))
    tasks = pages.tasks(root)
    words = glossary.read(root)
    add("reference/glossary.md", words.page(tasks))
    for path in _lesson_files(root):
        uri = path.relative_to(root).as_posix()
        text = path.read_text("utf-8")
        if path.name == "README.md":
            questions = quiz.read(path.with_name("quiz.toml"))
            shown = quiz.section(questions, path.parent.name[:2])
            text = pages.lesson(text, tasks[path.parent.name], shown) + words.tooltips()
        elif path.name == "hints.md":
            text = pages.hints(text)
        add(uri, text)
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Mend links from ``docs/`` to lessons: on GitHub it is one folder deeper than on the site."""
    if page.file.generated_by:
        return markdown
    return re.sub(r"\]\(((?:\.\./)*)\.\./(lessons|solutions)/", r"](\1\2/", markdown)


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Give pages with a diagram the local Mermaid; without it the theme would fetch one from elsewhere."""
    if 'class="mermaid"' not in output:
        return output
    up = "../" * page.url.count("/")
    before = '<script id="__config"'  # the theme's own script follows, and looks whether Mermaid is there
    return output.replace(before, f'<script src="{up}{MERMAID}"></script>{before}', 1)


def on_serve(server: Any, config: MkDocsConfig, builder: Any) -> Any:
    """While serving, look at the lessons too."""
    for folder in ("lessons", "solutions", "grader"):
        server.watch(str(_root(config) / folder), recursive=True)
    return server


def _root(config: MkDocsConfig) -> Path:
    return Path(config.config_file_path).resolve().parent


def _lesson_files(root: Path) -> Iterable[Path]:
    for top in ("lessons", "solutions"):
        for name in pages.tasks(root):
            for path in sorted((root / top / name).rglob("*")):
                hidden = any(part.startswith((".", "_")) for part in path.relative_to(root).parts)
                if path.is_file() and path.suffix in SHOWN and not hidden:
                    yield path
