"""The site, built once for all tests; a server for it, and a browser to look at it with."""

from __future__ import annotations

import functools
import importlib.util
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from filelock import FileLock

from tools.packed_server import Server, serve

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
NEEDED = ("material", "mkdocstrings", "mkdocstrings_handlers")
CHROMIUM = ("chromium", "chromium-browser", "google-chrome")


@dataclass
class Document(HTMLParser):
    """What a page refers to: links, resources that a browser would load by itself, and its anchors."""

    path: Path
    links: list[str] = field(default_factory=list)
    resources: list[str] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)

    def __post_init__(self):
        super().__init__()
        self.text = self.path.read_text("utf-8")
        self.feed(self.text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.anchors.update(v for k, v in attrs if k in ("id", "name") and v)
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        elif tag == "link" and given.get("rel") not in ("canonical", "prev", "next", "alternate"):
            self.resources.append(given.get("href") or "")
        elif tag in ("script", "img", "iframe", "source", "audio", "video", "embed") and given.get("src"):
            self.resources.append(given["src"])


@dataclass
class Site:
    folder: Path

    @functools.cached_property
    def pages(self) -> dict[str, Document]:
        """All pages by their address below the site's root; decks of slides are no pages (``test_slides``)."""
        found = sorted(p for p in self.folder.rglob("*.html") if not p.match("slides/[0-9][0-9]/index.html"))
        return {p.relative_to(self.folder).as_posix(): Document(p) for p in found}


def build(folder: Path, *arguments: str, **environment: str) -> None:
    """Build the site into ``folder``, where every warning is an error."""
    if lacking := [name for name in NEEDED if importlib.util.find_spec(name) is None]:
        pytest.skip(f"{', '.join(lacking)} is not installed here")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder), *arguments],
        cwd=ROOT, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"} | environment, text=True, timeout=300,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whoever looks at the whole site waits until it is built: 20 seconds, unless ``course test`` has built it."""
    for item in items:
        if {"site", "browser"} & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """The site as ``course test`` has built it already, or built now, once for all test processes."""
    if given := os.environ.get("COURSE_SITE"):
        return Site(Path(given))
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with FileLock(shared / "site.lock"):
        if not (shared / "site" / "sitemap.xml").exists():
            build(shared / "site")
    return Site(shared / "site")


@pytest.fixture(scope="module")
def server(site: Site) -> Iterator[Server]:
    """The site at an address of this machine."""
    with serve(site.folder) as made:
        yield made


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A headless Chromium, the distribution's own."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed here")
    program = os.environ.get("COURSE_CHROMIUM") or next(filter(None, map(shutil.which, CHROMIUM)), None)
    if not program:
        pytest.skip("there is no Chromium here: sudo apt-get install chromium")
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield started
        started.close()
