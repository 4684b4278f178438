"""The built site: whole, linked, and asking nothing of any other host."""

from __future__ import annotations

import re
from urllib.parse import unquote, urlsplit

from grader.domain import lessons
from grader.domain.verdict import SENTENCE, Status
from grader.reports import formats
from tests.docs.conftest import ROOT, Site
from tools import page_sources


def test_every_lesson_has_its_page_in_order(site: Site):
    assert [x.name for x in lessons.every()] == list(page_sources.tasks(ROOT)), "a lesson has no README.md"
    overview = site.pages["lessons/index.html"]
    for lesson in lessons.every():
        document = site.pages[f"lessons/{lesson.name}/index.html"]
        assert f"About {lesson.task.minutes} minutes, {lesson.task.max_points} points" in document.text
    linked = [
        name
        for link in overview.links
        if (name := link.rstrip("/").split("/")[-1]) in page_sources.tasks(ROOT)
    ]
    assert list(dict.fromkeys(linked)) == list(page_sources.tasks(ROOT))


def test_no_page_asks_another_host_for_anything(site: Site):
    for name, document in site.pages.items():
        elsewhere = [r for r in document.resources if urlsplit(r).netloc]
        assert not elsewhere, f"{name} loads {elsewhere}"
    # Rich's captures of a terminal name a web font, too; it has to be taken out.
    for sheet in [*site.folder.rglob("*.css"), *site.folder.rglob("*.svg")]:
        loaded = re.findall(r"(?:url\(|@import)\s*['\"]?((?:https?:)?//[^'\")]+)", sheet.read_text("utf-8"))
        assert not loaded, f"{sheet.name} loads {loaded}"


def test_every_lesson_has_a_drawn_picture_and_no_page_a_diagram_that_scripts_draw(site: Site):
    for name, document in site.pages.items():
        assert 'class="mermaid"' not in document.text and "language-mermaid" not in document.text, name
        if re.fullmatch(r"lessons/\d\d_\w+/index.html", name):
            assert "assets/figures/" in document.text, name


def test_internal_links_and_anchors(site: Site):
    documents = {d.path.resolve(): d for d in site.pages.values()}
    broken = []
    for name, document in site.pages.items():
        for link in document.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or name == "404.html":
                continue
            target = (
                (document.path.parent / unquote(parts.path)).resolve()
                if parts.path
                else document.path.resolve()
            )
            if target.is_dir():
                target /= "index.html"
            if not target.exists():
                broken.append(f"{name}: {link}")
            elif parts.fragment and target in documents and parts.fragment not in documents[target].anchors:
                broken.append(f"{name}: {link} (no such anchor)")
    assert not broken


def test_pictures_say_what_they_show(site: Site):
    for name, document in site.pages.items():
        for tag in re.findall(r"<img[^>]*>", document.text):
            if "md-logo" not in tag:
                assert re.search(r'alt="[^"]{12,}"', tag), f"{name}: {tag}"


def test_statuses_are_all_there(site: Site):
    text = site.pages["reference/statuses/index.html"].text
    for status in Status:
        assert f"<code>{status}</code>" in text
    assert SENTENCE[Status.PASSED] in text


def test_output_formats_are_all_there(site: Site):
    text = site.pages["reference/formats/index.html"].text
    for one in formats.every():
        assert f"<code>{one.name}</code>" in text and f"<code>{one.file}</code>" in text


def test_the_command_page_has_every_verb(site: Site):
    text = site.pages["reference/cli/index.html"].text
    for verb in ("list", "check", "demo", "test", "docs"):
        assert f"course {verb}" in text
    assert "--backend" in text


def test_the_schema_is_served(site: Site):
    assert (site.folder / "reference/verdict.v1.json").read_bytes() == page_sources.SCHEMA.read_bytes()
