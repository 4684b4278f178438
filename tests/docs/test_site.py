"""The built site: whole, linked, and asking nothing of any other host."""

from __future__ import annotations

import gzip
import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

from grader.domain import lessons
from grader.domain.verdict import SENTENCE, Status
from grader.reports import formats
from tests.docs.conftest import ROOT, Site
from tools import page_sources, page_weight


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
            assert "On the course's site" not in document.text, "this is the course's site"


# What a page waits for before anything on it can be used. At 1.6 Mbit/s the bytes take 0.6 s, which leaves the
# rest of two seconds to replies and to a slow processor; the seconds themselves depend on the machine of the test.
BLOCKING_BYTES, BLOCKING_FILES, LARGEST_SCRIPT = 100_000, 12, 40_000
BLOCKS = re.compile(
    r"<script(?![^>]*\b(?:defer|async|module)\b)[^>]*?\bsrc=[\"']?([^\"' >]+)"
    r"|<link(?=[^>]*\bstylesheet\b)[^>]*?\bhref=[\"']?([^\"' >]+)"
)


def test_little_keeps_a_lesson_from_being_used(site: Site):
    for name, document in site.pages.items():
        if not re.fullmatch(r"(?:lessons/\d\d_\w+/)?index.html", name):
            continue
        asked = ["".join(found).partition("?")[0] for found in BLOCKS.findall(document.text)]
        sizes = {a: len(gzip.compress((document.path.parent / a).read_bytes(), 6)) for a in asked}
        assert any(a.endswith(".css") for a in sizes) and any(a.endswith(".js") for a in sizes)
        page = len(gzip.compress(document.text.encode(), 6))
        assert page + sum(sizes.values()) <= BLOCKING_BYTES, (name, page, sizes)
        assert len(asked) <= BLOCKING_FILES, (name, asked)
        assert max(size for a, size in sizes.items() if a.endswith(".js")) <= LARGEST_SCRIPT, (name, sizes)


def test_a_page_has_only_the_files_and_tooltips_that_it_needs(site: Site):
    for name, document in site.pages.items():
        asked = {Path("".join(found)).stem for found in BLOCKS.findall(document.text)}
        for file, mark in page_weight.NEEDED_BY.items():
            assert (file in asked) == (mark in document.text), (name, file)
        assert 'id="__codelineno' not in document.text, name
        for section in re.split(r"<h[1-6][ >]", document.text):
            told = re.findall(r'<abbr title="([^"]*)"', section)
            assert len(told) == len(set(told)), (name, section[:60])
    sheets = "".join(p.read_text("utf-8") for p in site.folder.glob("assets/stylesheets/*.css"))
    assert "[data-md-color-switching] *" not in sheets and "[data-md-color-scheme" in sheets


def test_a_page_of_results_opens_with_one_table_a_question(site: Site):
    for name, document in site.pages.items():
        if re.fullmatch(r"results/\w+/index.html", name) and "ladder" not in name:
            shown = re.sub(r"<details.*?</details>", "", document.text, flags=re.S)
            assert 0 < shown.count("<table") <= shown.count("<h2"), name


def test_a_chart_on_a_white_sheet_is_known_to_the_dark_scheme(site: Site):
    sheet = (site.folder / "assets/stylesheets/extra.css").read_text("utf-8")
    (rule,) = re.findall(r'\[data-md-color-scheme="slate"\] \.md-typeset img:is\((.*?)\)', sheet)
    charts = [p for p in site.folder.rglob("*.svg") if "Matplotlib" in p.read_text("utf-8")[:3000]]
    assert charts and all(f'{chart.name}"]' in rule for chart in charts)


def test_a_command_with_a_gap_has_no_copy_button(site: Site):
    for name, document in site.pages.items():
        for block in re.findall(
            r'<div class="([^"]*)"><pre[^>]*>(?:(?!</pre>).)*?REPOSITORY', document.text, re.S
        ):
            assert "no-copy" in block, name


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


def test_the_api_has_no_words_that_another_builder_makes_links_of(site: Site):
    text = site.pages["reference/api/index.html"].text
    assert "<code>" in text
    assert not re.findall(r":[a-z]+:<code|<code>~", text)


def test_the_schema_is_served(site: Site):
    assert (site.folder / "reference/verdict.v1.json").read_bytes() == page_sources.SCHEMA.read_bytes()
