"""The site, built once."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


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
    output: str

    @property
    def pages(self) -> dict[str, Document]:
        """All pages by their address below the site's root."""
        found = sorted(self.folder.rglob("*.html"))
        return {p.relative_to(self.folder).as_posix(): Document(p) for p in found}


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    if importlib.util.find_spec("material") is None:
        pytest.skip("mkdocs-material is not installed here")
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"}, text=True, timeout=120,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    return Site(folder, done.stdout)
