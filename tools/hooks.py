"""What MkDocs calls while it builds the site (``hooks:`` in mkdocs.yml): adds the pages that are generated.

Files of ``lessons/`` and ``solutions/`` keep their places below the site's root, so that a link between two
of them is right on GitHub and on the site.
"""

from __future__ import annotations

import logging
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mkdocs.structure.files import File, Files

from grader import __version__
from tools import fetched, first_use, replays, sources

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.pages import Page

log = logging.getLogger("mkdocs.hooks")
MERMAID = "assets/javascripts/mermaid.tiny.js"
WORKER = "assets/javascripts/iframe-worker.js"  # lets the search work from a file


# Who searches is most often a student: lessons come first, pages for contributors and tables of numbers last.
BOOST: dict[str, float] = {
    "lessons/": 3,
    "start/": 3,
    "reference/glossary": 2,
    "results/": 0.3,
    "contributing/": 0.3,
}

# Figures without words around them are not searched for, and every reader would fetch them with the index.
# The pages that speak of them are found.
NOT_SEARCHED = re.compile(r"results/\w|contributing/(?:clocks|prediction)/|slides/")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the lessons into the navigation, and what an offline copy needs into the page."""
    for entry in config.nav or []:
        if isinstance(entry, dict) and "Lessons" in entry:
            entry["Lessons"] = sources.navigation(_root(config))
    if not config.use_directory_urls:
        config.extra["polyfills"] = [WORKER]  # before the theme names a copy on another host
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages and what the lesson pages link to."""
    extra = config.extra
    release = extra.get("release") or f"v{__version__}"
    solutions = bool(extra.get("solutions", True))
    found = sources.generated(_root(config), extra.get("repository") or "", release, solutions=solutions)
    for name, without in {"mermaid": "Diagrams stay text", "reveal": "Decks are pages to scroll"}.items():
        try:
            found |= fetched.files(name)
        except fetched.FetchError as error:
            log.info("%s: %s", without, error)  # no warning, which would be an error: the site is whole
    extra["diagrams"] = MERMAID in found
    for uri, content in found.items():
        files.append(File.generated(config, uri, content=content))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, **_: object) -> str:
    """Rank the page for the search, and put right what is different on the site in one written by hand."""
    search = {"exclude": True} if NOT_SEARCHED.match(page.url) else {"boost": _boost(page.url)}
    page.meta.setdefault("search", search)
    if page.file.generated_by:
        return markdown
    repository, solutions = config.extra.get("repository") or "", bool(config.extra.get("solutions", True))
    text = sources.mended(markdown, _root(config), repository, solutions=solutions)
    text = replays.placed(text, page.file.src_uri)
    return text + sources.tooltips(_root(config)) if f"docs/{page.file.src_uri}" in first_use.FRONT else text


def _boost(url: str) -> float:
    if url.endswith("/hints/"):  # nobody should meet a hint who did not ask for one
        return 0.3
    return next((boost for folder, boost in BOOST.items() if url.startswith(folder)), 1)


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Give pages with a diagram our own Mermaid; the theme would fetch one from another host."""
    output = output.replace('role="dialog"', 'role="dialog" aria-label="Search"', 1)  # the theme names it not
    if 'class="mermaid"' not in output:
        return output
    if not config.extra["diagrams"]:
        return output.replace('class="mermaid"', 'class="diagram"')
    up = "../" * page.url.count("/")
    before = '<script id="__config"'  # the theme's own script follows, and looks whether Mermaid is there
    return output.replace(before, f'<script src="{up}{MERMAID}"></script>{before}', 1)


def on_serve(server: Any, config: MkDocsConfig, **_: object) -> Any:
    """While serving, look at the lessons too."""
    for folder in ("lessons", "solutions", "grader", "benchmarks/results"):
        server.watch(str(_root(config) / folder), recursive=True)
    return server


def _root(config: MkDocsConfig) -> Path:
    return Path(config.config_file_path).resolve().parent
