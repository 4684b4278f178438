"""What MkDocs calls while it builds the site (``hooks:`` in mkdocs.yml): adds the pages that are generated.

Files of ``lessons/`` and ``solutions/`` keep their places below the site's root, so that a link between two
of them is right on GitHub and on the site.
"""

from __future__ import annotations

import html
import logging
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from mkdocs.structure.files import File, Files

from grader import __version__
from tools import fetched, first_use, page_sources, page_weight, replays, sources

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.pages import Page

log = logging.getLogger("mkdocs.hooks")
WORKER = "assets/javascripts/iframe-worker.js"  # lets the search work from a file


# Who searches is most often a student: lessons come first, pages for contributors and tables of numbers last.
BOOST: dict[str, float] = {
    "lessons/": 3,
    "start/": 4,
    "guide/help/": 3,
    "guide/grade/": 3,
    "reference/glossary": 2.5,
    "reference/errors": 1.5,
    "guide/figures/": 0.5,  # its words stand beside the figures' own lessons
    "guide/timing/": 0.3,  # for the curious: its races are of clocks
    "guide/prediction/": 0.3,
    "guide/teach": 0.5,
    "results/": 0.3,
    "contributing/": 0.3,
}

LOST = """<h1>There is no such page</h1>
<p>It may have moved: search for a word of it with the field above, or go to one of these.</p>
<ul>
<li><a href="BASE/">Home</a>: what the course is</li>
<li><a href="BASE/start/">Start</a>: install it</li>
<li><a href="BASE/lessons/">Lessons</a>: all of them, and their map</li>
<li><a href="BASE/reference/glossary/">Glossary</a>: the words</li>
<li><a href="BASE/guide/help/">Help</a>: when something does not work, and whom to ask</li>
</ul>"""

# What Sphinx would make a link of, in the docstrings of the API: a name in code is left.
ROLE = re.compile(r":(?:attr|class|data|exc|func|meth|mod):(<code[^>]*>)~?")

# Figures without words around them are not searched for, and every reader would fetch them with the index.
# The pages that speak of them are found. Solutions are found by a link of their own page only.
NOT_SEARCHED = re.compile(
    r"results/\w|contributing/(?:clocks|prediction)/|slides/|lessons/capstone/solutions/"
)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the lessons into the navigation, and what an offline copy needs into the page."""
    for entry in config.nav or []:
        if isinstance(entry, dict) and "Lessons" in entry:
            entry["Lessons"] = sources.navigation(_root(config))
    if (address := os.environ.get("COURSE_SITE", "")).startswith("http"):
        config.site_url = address.rstrip("/") + "/"
    if repository := config.extra.get("repository"):
        config.repo_url = f"https://github.com/{repository}"
        config.repo_name = str(repository)
    if not config.use_directory_urls:
        config.extra["polyfills"] = [WORKER]  # before the theme names a copy on another host
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages and what the lesson pages link to."""
    extra = config.extra
    release = extra.get("release") or f"v{__version__}"
    solutions = bool(extra.get("solutions", True))
    found = sources.generated(_root(config), extra.get("repository") or "", release, solutions=solutions)
    try:
        found |= fetched.files("reveal")
    except fetched.FetchError as error:
        log.info("Decks are pages to scroll: %s", error)  # no warning, which is an error: the site is whole
    for uri, content in found.items():
        files.append(File.generated(config, uri, content=content))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, **_: object) -> str:
    """Rank the page for the search, and put right what is different on the site in one written by hand."""
    page.meta.setdefault("description", _described(page, markdown) or config.site_description)
    page.edit_url = _edit(page, config)
    search = {"exclude": True} if NOT_SEARCHED.match(page.url) else {"boost": _boost(page.url)}
    page.meta.setdefault("search", search)
    if page.file.generated_by:
        return markdown
    repository, solutions = config.extra.get("repository") or "", bool(config.extra.get("solutions", True))
    text = sources.mended(markdown, _root(config), repository, solutions=solutions)
    if contact := config.extra.get("contact"):
        text = sources.CONTACT.sub(lambda _: str(contact), text)
    text = replays.placed(text, page.file.src_uri)
    return text + sources.tooltips(_root(config)) if f"docs/{page.file.src_uri}" in first_use.FRONT else text


def _described(page: Page, markdown: str) -> str:
    if page.url.endswith("/hints/"):
        title = markdown.partition("\n")[0].removeprefix("# ")
        return f"{title}: for each TODO the idea, the place, the shape."
    return page_sources.description(markdown)


def _boost(url: str) -> float:
    if url.endswith("/hints/"):  # nobody should meet a hint who did not ask for one
        return 0.3
    return next((boost for folder, boost in BOOST.items() if url.startswith(folder)), 1)


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Name what the theme leaves without a name, and let the index wait until somebody searches."""
    told = {"title": page.title, "description": page.meta.get("description"), "type": "article"}
    told |= {"url": page.canonical_url, "site_name": config.site_name} if config.site_url else {}
    graph = "".join(
        f'<meta property="og:{name}" content="{html.escape(str(text))}">'
        for name, text in told.items()
        if text
    )
    output = output.replace("</head>", f"{graph}</head>", 1)
    output = output.replace('role="dialog"', 'role="dialog" aria-label="Search"', 1)
    before = '<script id="__config"'  # the theme's own script follows
    output = output.replace(before, f"<script>{_later(config)}</script>{before}", 1)
    return page_weight.lighter(output)


def on_page_content(content: str, **_: object) -> str:
    """Tell what a word means once a section; light code; numbers that keep their units."""
    content = ROLE.sub(r"\1", content)
    code = page_weight.without_copying(page_weight.plain_code(page_weight.told_once(content)))
    return page_weight.whole_measures(code)


def on_post_build(config: MkDocsConfig) -> None:
    """Spare the browser what the theme makes it do for nothing."""
    page_weight.without_switching(Path(config.site_dir).glob("assets/stylesheets/palette.*.css"))


def on_post_template(output: str, template_name: str, config: MkDocsConfig) -> str:
    """Say on the page of an address that is not there where to go from it."""
    if template_name != "404.html":
        return output
    base = urlsplit(config.site_url or "/").path
    output = output.replace("<h1>404 - Not found</h1>", LOST.replace("BASE/", base), 1)
    return page_weight.lighter(output)


def _edit(page: Page, config: MkDocsConfig) -> str | None:
    """Where a page's source is edited; None where nobody wrote it, or where that is not known."""
    repository, uri = config.extra.get("repository"), page.file.src_uri
    if not repository or (page.file.generated_by and not uri.startswith(("lessons/", "solutions/"))):
        return None
    place = f"docs/{uri}" if not page.file.generated_by else uri
    return f"https://github.com/{repository}/edit/main/{place}" if uri != "lessons/index.md" else None


def _later(config: MkDocsConfig) -> str:
    return (Path(config.docs_dir) / "assets" / "javascripts" / "search_later.js").read_text("utf-8")


def on_serve(server: Any, config: MkDocsConfig, **_: object) -> Any:
    """While serving, look at the lessons too."""
    for folder in ("lessons", "solutions", "grader", "benchmarks/results"):
        server.watch(str(_root(config) / folder), recursive=True)
    return server


def _root(config: MkDocsConfig) -> Path:
    return Path(config.config_file_path).resolve().parent
