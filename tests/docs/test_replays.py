"""Replays on the site: which pages have one, and that a click opens it below its link."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.docs.test_browser import page  # noqa: F401, a fixture
from tools import replays

if TYPE_CHECKING:
    from tests.docs.conftest import Server, Site


def test_eight_pages_and_more_carry_one(site: Site):
    found = {uri for uri, document in site.pages.items() if "replay-open" in document.text}
    assert len(found) >= 8
    for word in ("race", "guard", "stride", "bank", "barrier", "reduction", "tile"):
        one = next(one for one in replays.WHAT if one.name == word)
        folder = one.page.removesuffix("README.md").removesuffix(".md").rstrip("/")
        assert f"{word}.htm" in site.pages[f"{folder}/index.html"].text, one.page
    for one in replays.WHAT:
        assert (site.folder / replays.FOLDER / f"{one.name}.htm").is_file()


@pytest.mark.parametrize(
    ("address", "name"), [("lessons/06_find_the_bug/", "race"), ("guide/machine/", "bank")]
)
def test_a_click_opens_it_below_its_link_and_nothing_is_loaded_before(
    page: Any,  # noqa: F811
    server: Server,
    address: str,
    name: str,
):
    page.goto(f"{server.address}/{address}")
    assert not [sent for sent in server.sent if sent.endswith(f"{name}.htm")]
    link = page.locator(f"a.replay-open[href$='{name}.htm']")
    link.click()
    frame = page.frame_locator("iframe.replay-frame")
    frame.locator("body[data-ready]").wait_for(timeout=20_000)
    assert "Step" in frame.locator(".sentence").inner_text()
    assert link.get_attribute("aria-expanded") == "true"
    link.click()
    assert page.locator("iframe.replay-frame").count() == 0
