"""Pages that open from a file, without any server: the offline copy of the site, and a class report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from grader.domain.verdict import Status
from grader.reports.formats import class_page
from grader.reports.row import Check, Class, LessonFacts, Row, SpeedSummary, State
from tests.docs.conftest import build
from tests.docs.test_browser import PHONE, audit, watched

if TYPE_CHECKING:
    from pathlib import Path

LESSON = "03_square_kernel"
ADDRESS = "https://example.org/course"


def blank(context: Any) -> Any:
    """A window that has no network at all."""
    context.set_offline(True)
    return watched(context)


@pytest.mark.thorough
def test_the_offline_copy_opens_from_a_file(browser: Any, tmp_path: Path):
    build(tmp_path / "site", COURSE_OFFLINE="true")
    context = browser.new_context()
    page = blank(context)
    page.goto((tmp_path / "site" / "index.html").as_uri())
    page.get_by_role("link", name="See the lessons").click()
    page.locator(".map a").first.click()
    assert "01_hello_inline/index.html" in page.url
    page.goto((tmp_path / "site" / "guide" / "figures.html").as_uri())
    assert "134.25 MB moved by 2 kernels" in page.locator("[data-explorer=fusion]").inner_text()
    page.keyboard.press("/")
    page.keyboard.type("coalescing")
    page.locator("a[href*='lessons/09_memory']:visible").first.wait_for(timeout=60_000)
    assert not page.trouble
    assert not page.foreign
    context.close()


@pytest.mark.thorough
def test_a_site_that_knows_its_address_says_it(tmp_path: Path):
    build(tmp_path / "site", COURSE_SITE=ADDRESS)
    page = (tmp_path / "site" / "lessons" / LESSON / "index.html").read_text("utf-8")
    assert f'<link rel="canonical" href="{ADDRESS}/lessons/{LESSON}/">' in page
    assert f'<meta property="og:url" content="{ADDRESS}/lessons/{LESSON}/">' in page
    listed = (tmp_path / "site" / "sitemap.xml").read_text("utf-8")
    assert f"<loc>{ADDRESS}/lessons/{LESSON}/</loc>" in listed and listed.count("<loc>") > 50


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A class of every state and outcome, as ``course batch`` writes its report."""
    speed = SpeedSummary("measured", "a GPU", 1.01, low=1.0, high=1.02)

    def row(n: int, state: State, word: str, points: int, **more: Any) -> Row:
        status = Status(word)
        checks = (Check("load", Status.PASSED, 0, 0), Check("odd sizes", status, points, 20))
        return Row(
            f"s{n}", LESSON, state, status, points, points, 20, name=f"Student {n}", checks=checks, **more
        )

    rows = [
        row(1, "graded", "passed", 20, speed=speed, nick="fast one"),
        row(2, "graded", "wrong_output", 8, first="First wrong: element [0, 32].", late=7200.0),
        row(3, "graded", "pending_gpu", 18, open=2),
        row(4, "refused", "not_gradable", 0, notes=("no <Python> file",)),
        row(5, "missing", "not_gradable", 0),
        row(6, "not_gradable", "not_gradable", 0),
    ]
    facts = (LessonFacts(LESSON, "A square kernel", 20),)
    result = Class("A class", "2026-11-22T00:00:00Z", facts, tuple(rows), {"devices": "a GPU"})
    folder = tmp_path_factory.mktemp("class")
    (folder / "index.html").write_text(class_page.text(result), "utf-8")
    (folder / "leaderboard.html").write_text(class_page.leaderboard(result), "utf-8")
    return folder


@pytest.mark.slow(cases=1)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["index.html", "leaderboard.html"])
def test_a_class_report_opens_from_a_file(name: str, scheme: str, report: Path, browser: Any):
    pytest.importorskip("jinja2")
    context = browser.new_context(color_scheme=scheme, viewport=PHONE)
    page = blank(context)
    page.goto((report / name).as_uri())
    assert page.evaluate("() => document.scrollingElement.scrollWidth") <= PHONE["width"]
    assert not audit(page)
    assert not page.trouble
    assert not page.foreign
    context.close()


def test_a_class_report_is_sorted_and_searched(report: Path, browser: Any):
    context = browser.new_context()
    page = blank(context)
    page.goto((report / "index.html").as_uri())
    names = page.locator("#all tbody tr td:nth-child(2), #all tbody tr th:nth-child(2)")
    page.get_by_role("button", name="points", exact=True).focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    assert names.first.inner_text() == "Student 1"
    page.get_by_label("Show only rows with").fill("refused")
    assert page.locator("#all tbody tr:visible").count() == 1
    assert "Student 4" in page.locator("#all tbody tr:visible").inner_text()
    context.close()
