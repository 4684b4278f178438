"""The lessons' decks in a real browser: each slide fits, every picture is there, and nothing else is asked for."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from tests.docs.conftest import ROOT, Server, Site
from tests.docs.test_browser import watched
from tools import page_sources

if TYPE_CHECKING:
    from collections.abc import Iterator

SLIDE = {"width": 1280, "height": 720}
READY = "() => window.Reveal && Reveal.isReady()"
# Of every slide in turn: what does not fit, and which pictures did not come.
TOO_MUCH = """() => {
  const found = [];
  for (let k = 0; k < Reveal.getTotalSlides(); k++) {
    Reveal.slide(k);
    const slide = Reveal.getCurrentSlide();
    const name = k + 1 + " " + (slide.querySelector("h1, h2")?.innerText ?? "");
    if (slide.scrollHeight > 720 || slide.scrollWidth > 1280) found.push(`${name}: ${slide.scrollWidth} x ${slide.scrollHeight}`);
    for (const image of slide.querySelectorAll("img")) if (!image.naturalWidth) found.push(`${name}: ${image.src}`);
  }
  return found;
}"""


@pytest.fixture
def page(browser: Any, site: Site) -> Iterator[Any]:
    if not (site.folder / "slides" / "reveal.js").exists():
        pytest.skip("there was no network to fetch reveal.js when the site was built")
    context = browser.new_context(viewport=SLIDE)
    yield watched(context)
    context.close()


@pytest.mark.thorough
def test_every_deck_fits_its_slides(server: Server, page: Any):
    for name in page_sources.tasks(ROOT):
        page.goto(f"{server.address}/slides/{name[:2]}/")
        page.wait_for_function(READY)
        assert page.evaluate("() => Reveal.getTotalSlides()") >= 6, name
        assert not page.evaluate(TOO_MUCH), name
    assert not page.trouble and not page.foreign


def test_a_deck_is_stepped_through_by_key_to_its_last_slide(server: Server, page: Any):
    page.goto(f"{server.address}/slides/02/")
    page.wait_for_function(READY)
    seen = [page.locator("section.present").inner_text()]
    for _ in range(page.evaluate("() => Reveal.getTotalSlides()") - 1):
        page.keyboard.press("ArrowRight")
        seen.append(page.locator("section.present").inner_text())
    assert seen[0].startswith("Lesson 02") and "./course watch 02" in seen[-1]
    assert len(set(seen)) > len(seen) / 2 and page.evaluate("() => Reveal.isLastSlide()")
    figures = page.evaluate("() => [...document.images].map(i => i.getAttribute('src'))")
    assert any(re.search(r"assets/figures/\w+\.svg$", source) for source in figures)


def test_without_javascript_a_deck_is_a_page_to_scroll(server: Server, browser: Any):
    context = browser.new_context(java_script_enabled=False, viewport={"width": 390, "height": 700})
    page = context.new_page()
    page.goto(f"{server.address}/slides/02/")
    last = page.get_by_text("./course watch 02").last
    last.scroll_into_view_if_needed()
    assert last.is_visible() and last.bounding_box()["x"] < 390
    assert page.locator("section").first.bounding_box()["width"] <= 390
    context.close()


def test_decks_are_listed_and_linked_from_teachers_notes(site: Site):
    def links(page: str) -> list[str]:
        return [link.removesuffix("index.html") for link in site.pages[page].links]

    for name in page_sources.tasks(ROOT):
        assert f"{name[:2]}/" in links("slides/index.html"), name
        assert f"../../slides/{name[:2]}/" in links(f"lessons/{name}/index.html"), name
        deck = (site.folder / "slides" / name[:2] / "index.html").read_text("utf-8")
        assert not re.findall(r"""<(?:script|img|link)\b[^>]*=["'](?:https?:)?//""", deck), name
