"""The builder that will follow mkdocs-material builds the same pages; what it cannot do is in contributing/site.md."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.conftest import NEEDED, ROOT, Document, Site
from tools import sources


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Site:
    if lacking := [n for n in (*NEEDED, "zensical") if importlib.util.find_spec(n) is None]:
        pytest.skip(f"{', '.join(lacking)} is not installed here")
    folder = tmp_path_factory.mktemp("zensical")
    config = sources.staged(folder, ROOT)
    done = subprocess.run(
        [sys.executable, "-m", "zensical", "build", "--strict", "-f", str(config)],
        cwd=folder, env=os.environ | {"PYTHONPATH": str(ROOT), "NO_COLOR": "1"}, text=True, timeout=300,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:]
    return Site(folder / "site")


def words(text: str) -> str:
    """Without elements: a term has its tooltip once a page here, and everywhere there."""
    return re.sub(r"<[^>]*>", "", text)


@pytest.mark.thorough
def test_zensical_builds_every_page(other: Site, site: Site):
    assert set(site.pages) == set(other.pages)
    for name, mine in site.pages.items():
        heading = re.search(r"<h1[^>]*>(.*?)<a", mine.text, re.S)
        if heading and name != "404.html":  # its text is a hook's on a template, which Zensical does not call
            assert words(heading[1]) in words(other.pages[name].text), name


@pytest.mark.slow
@pytest.mark.thorough
def test_what_is_made_for_the_site_is_there_too(other: Site):
    def text(name: str) -> str:
        return other.pages[f"{name}/index.html"].text

    assert text("guide/figures").count('<script type="application/json">') >= 2
    assert text("lessons/02_python_kernel").count('<fieldset class="quiz">') >= 3
    assert "<abbr" in text("lessons/03_square_kernel")
    assert 'class="doc doc-heading"' in text("reference/api")
    assert '<svg xmlns="http://www.w3.org/2000/svg" class="figure"' in text("lessons")
    document: Document = other.pages["index.html"]
    assert not [r for r in document.resources if r.startswith(("http", "//"))]
    scripts = {Path(r).name for r in document.resources}
    assert {p.name for p in (ROOT / "docs/assets/javascripts").glob("explorer*.js")} <= scripts
