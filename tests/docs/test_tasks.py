"""What a reader comes for: at most two clicks from the home page, on a page that answers. Desk and phone."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from tests.docs.test_browser import DESK, PHONE, page  # noqa: F401, a fixture

if TYPE_CHECKING:
    from tests.docs.conftest import Server, Site

# Names of the links that are clicked, in the text of the pages and in no menu; then what answers, below the
# place where the last click ends.
TASKS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "install": (("Start",), ("sudo apt-get install git python3", "./course list", "4 GB of disk")),
    "the lesson after 03": (("See the lessons", "Timing"), ("Lesson 04: Timing", "About")),
    "what an error means": (
        ("Errors",),
        ("an illegal memory access was encountered", "Segmentation fault", "What to do:"),
    ),
    "what a sector is": (("Glossary", "S"), (" sector ", "32 bytes")),
    "how my grade is computed": (
        ("How my grade is computed",),
        ("the sum of the checks that passed", "Points that wait", "your last file counts"),
    ),
    "Colab": (("Start", "Colab or a rented machine"), ("Colab or a rented machine", "pip install")),
    "Windows": (("Start", "Windows, Mac, container"), ("WSL 2", "wsl --install")),
    "whom to ask": (("Help", "Who to ask"), ("Who to ask", "./course doctor")),
}
BELOW = """() => {
  const article = document.querySelector("article"), range = document.createRange();
  range.selectNodeContents(article);
  const at = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (at) range.setStartBefore(at);
  return range.toString().replaceAll("\u00b6", "").replace(/\\s+/g, " ");
}"""


@pytest.mark.slow(cases=1)
@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
def test_two_clicks_lead_to_an_answer(server: Server, page: Any, size: dict[str, int]):  # noqa: F811
    page.set_viewport_size(size)
    wrong = {}
    for task, (clicks, answers) in TASKS.items():
        assert len(clicks) <= 2, task
        page.goto(server.address)
        for name in clicks:
            link = page.locator("article").get_by_role("link", name=name, exact=True).first
            with page.expect_navigation():
                link.click()
        text = page.evaluate(BELOW)
        if lacking := [answer for answer in answers if answer not in text]:
            wrong[task] = page.url.removeprefix(server.address), lacking
    assert not wrong
    assert not page.trouble


def test_a_wrong_address_leads_on(site: Site):
    text = site.pages["404.html"].text
    linked = re.findall(r'<li><a href="/([^"]*)">', text)
    assert {"", "start/", "lessons/", "guide/help/"} <= set(linked)
    assert all((site.folder / link / "index.html").exists() for link in linked)
