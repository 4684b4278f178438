"""The site in a real browser: every page, both colour schemes, a phone, a keyboard, no JavaScript, no network."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from tests.docs.conftest import ROOT, Server, Site
from tools import page_sources

if TYPE_CHECKING:
    from collections.abc import Iterator

AXE = (Path(__file__).parent / "vendor" / "axe.min.js").read_text("utf-8")
PHONE, DESK = {"width": 360, "height": 740}, {"width": 1280, "height": 900}
HOME_BYTES = 300_000
PARTS = 4  # of all pages, so that several test processes share them
# The contrast of words is half of an audit's time, and the same for words of one colour, size and weight on one ground:
# of each kind of words the first are looked at, here and in the other colour scheme.
BAD = """async (only) => {
  const grounds = new Map();
  const ground = (element) => {
    if (!element) return "";
    if (!grounds.has(element)) {
      const s = getComputedStyle(element);
      const own = [s.backgroundColor, s.backgroundImage, s.opacity, s.filter, s.mixBlendMode, s.position, s.float, s.zIndex];
      grounds.set(element, own.join() + "/" + ground(element.parentElement));
    }
    return grounds.get(element);
  };
  const seen = new Map();
  for (const element of document.body.querySelectorAll("*")) {
    element.removeAttribute("data-words");
    const told = element.matches("input, select, textarea") || [...element.childNodes].some(n => n.nodeType === 3 && n.data.trim());
    if (!told || !element.checkVisibility()) continue;
    const s = getComputedStyle(element);
    const kind = [s.color, s.fontSize, s.fontWeight, s.textShadow, s.textDecorationLine, ground(element)].join("|");
    seen.set(kind, (seen.get(kind) ?? 0) + 1);
    if (seen.get(kind) <= 2) element.setAttribute("data-words", "");
  }
  axe.configure({rules: [{id: "color-contrast", selector: "[data-words]"}]});
  const rest = only.runOnly ? {} : {rules: Object.fromEntries(
    axe._audit.rules.filter(r => ["minor", "moderate"].includes(r.impact)).map(r => [r.id, {enabled: false}]))};
  const found = await axe.run(document, {resultTypes: ["violations"], ...rest, ...only});
  return found.violations.filter(v => ["serious", "critical"].includes(v.impact))
    .map(v => v.id + ": " + v.nodes.map(n => n.target.join(" ")).slice(0, 3).join(" | "));
}"""
# One of each kind is looked at: of code its colours, of tables their first rows, of the navigation, which is the
# same on all pages, a few entries. All of it together is what takes the time.
THIN = """() => {
  const still = "*, *::before, *::after { transition: none !important; animation: none !important; }";
  document.head.append(Object.assign(document.createElement("style"), {textContent: still}));
  const seen = new Set();
  for (const span of document.querySelectorAll("pre code span[class]")) {
    const kind = span.className + "/" + span.parentElement.className;
    if (seen.has(kind) && !span.children.length) span.replaceWith(span.textContent);
    seen.add(kind);
  }
  document.querySelectorAll("article tbody tr:nth-child(n+8)").forEach(row => row.remove());
  document.querySelectorAll(".md-nav--primary li.md-nav__item:nth-child(n+5):not(.md-nav__item--active)").forEach(li => li.remove());
}"""
HEADINGS = """() => [...document.querySelectorAll("article h1,article h2,article h3,article h4,article h5,article h6")]
  .map(h => Number(h.tagName[1]))"""

# Up to five columns are seen whole on a phone, folded or not; wider tables scroll by themselves.
CUT_TABLES = """() => {
  const folded = [...document.querySelectorAll("article details:not([open])")];
  folded.forEach(box => { box.open = true; });
  const cut = [...document.querySelectorAll("article table")]
    .filter(t => [...t.rows[0].cells].filter(c => c.getBoundingClientRect().width).length <= 5)
    .filter(t => Math.max(...[...t.rows].map(r => r.getBoundingClientRect().right)) > innerWidth)
    .map(t => t.innerText.slice(0, 40));
  folded.forEach(box => { box.open = false; });
  return cut;
}"""
CUT_CODE = """() => [...document.querySelectorAll("article pre code")]
  .filter(c => c.getBoundingClientRect().width && c.scrollWidth > c.clientWidth + 1)
  .map(c => c.innerText.slice(0, 40))"""


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A fresh window; what went wrong in it is in ``page.trouble``, foreign hosts in ``page.foreign``."""
    context = browser.new_context(viewport=DESK)
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    made = watched(context)
    yield made
    context.close()


def watched(context: Any) -> Any:
    made = context.new_page()
    made.trouble, made.foreign = [], []
    made.on("console", lambda m: made.trouble.append(m.text) if m.type in ("error", "warning") else None)
    made.on("pageerror", lambda e: made.trouble.append(str(e)))

    def asked(request: Any) -> None:
        parts = urlsplit(request.url)
        if parts.scheme in ("http", "https", "ws", "wss") and parts.hostname != "127.0.0.1":
            made.foreign.append(request.url)

    made.on("request", asked)
    return made


def audit(page: Any, *, everything: bool = True) -> list[str]:
    """Serious and critical violations; not ``everything``: only those that colours cause."""
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(AXE)
    only = (
        {}
        if everything
        else {"runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}}
    )
    return page.evaluate(BAD, only)


def dark(page: Any) -> None:
    page.evaluate("""() => {
      document.head.append(Object.assign(document.createElement("style"), {textContent: "*{transition:none!important}"}));
      document.body.setAttribute("data-md-color-scheme", "slate");
    }""")


def problems(page: Any, address: str) -> list[str]:
    """What is wrong with one page, in words."""
    page.trouble.clear()
    page.foreign.clear()
    page.set_viewport_size(PHONE)
    page.goto(address)
    found = []
    wide = page.evaluate("() => document.scrollingElement.scrollWidth")
    if wide > PHONE["width"]:
        found.append(f"on a phone it is {wide} wide")
    found += [f"on a phone a table is cut: {t}" for t in page.evaluate(CUT_TABLES)]
    page.set_viewport_size(DESK)
    found += [f"lines of code are cut: {t}" for t in page.evaluate(CUT_CODE)]
    levels = page.evaluate(HEADINGS)
    if levels[:1] != [1] or levels.count(1) != 1:
        found.append(f"headings begin {levels[:3]}, with {levels.count(1)} of level 1")
    found += [f"a heading of level {b} follows one of level {a}" for a, b in pairwise(levels) if b > a + 1]
    page.evaluate(THIN)
    found += [f"light: {v}" for v in audit(page)]
    dark(page)
    found += [f"dark: {v}" for v in audit(page, everything=False)]
    found += [f"console: {t}" for t in page.trouble] + [f"asks {u}" for u in page.foreign]
    return found


@pytest.mark.parametrize("part", range(PARTS))
def test_every_page(part: int, site: Site, server: Server, page: Any):
    names = [n for n in sorted(site.pages) if n != "404.html"]
    wrong = {}
    for name in names[part::PARTS]:
        if found := problems(page, f"{server.address}/{name.removesuffix('index.html')}"):
            wrong[name] = found
    assert not wrong


def test_the_home_page_is_light(server: Server, page: Any):
    server.sent.clear()
    page.goto(server.address, wait_until="networkidle")
    assert sum(server.sent.values()) <= HOME_BYTES, server.sent


def test_search_finds_a_word_of_the_course(server: Server, page: Any):
    page.goto(server.address)
    page.keyboard.press("/")
    page.keyboard.type("coalescing")
    result = page.locator(
        ".md-search-result__item a[href*='lessons/09_memory'], .md-search a[href*='lessons/09_memory']"
    ).first
    result.wait_for(state="visible")
    page.goto(result.get_attribute("href"))
    assert "Memory" in page.title()
    assert not page.trouble


@pytest.mark.slow(cases=1)
@pytest.mark.parametrize("word", ["syncthreads", "__syncthreads", "threadIdx"])
def test_search_knows_names_of_cuda(server: Server, page: Any, word: str):
    page.goto(server.address)
    page.keyboard.press("/")
    page.keyboard.type(word)
    # The link says for what it was found: what was found for the first letters alone has gone then.
    first = page.locator(
        f".md-search-result__item a[href*='h={word.lower()}' i], .md-search a[href*='/lessons/']"
    ).first
    first.wait_for(state="visible")
    found = first.get_attribute("href")
    assert "/lessons/" in found and "/hints/" not in found


def test_a_copy_button_copies(server: Server, page: Any):
    page.goto(f"{server.address}/lessons/03_square_kernel/")
    block = page.locator("div.highlight:not(.no-copy)").first
    page.locator("button.md-clipboard, button.md-code__button[data-md-type=copy]").first.click()
    page.wait_for_function("() => navigator.clipboard.readText().then(t => t.length > 0)")
    copied = page.evaluate("() => navigator.clipboard.readText()")
    assert copied.split() == block.locator("code").inner_text().split()


def test_dark_mode_is_chosen_and_kept(server: Server, page: Any):
    page.goto(server.address)
    assert page.locator("body").get_attribute("data-md-color-scheme") == "default"
    page.get_by_title("Switch to dark").click()
    assert page.locator("body").get_attribute("data-md-color-scheme") == "slate"
    page.goto(f"{server.address}/start/")
    assert page.locator("body").get_attribute("data-md-color-scheme") == "slate"


def test_dark_mode_follows_the_reader(server: Server, browser: Any):
    context = browser.new_context(color_scheme="dark")
    page = context.new_page()
    page.goto(server.address)
    assert page.locator("body").get_attribute("data-md-color-scheme") == "slate"
    context.close()


def test_without_javascript_there_are_pictures_and_quizzes(server: Server, browser: Any):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{server.address}/guide/figures/")
    for kind in ("index", "coalescing", "fusion", "trace"):
        assert page.locator(f"[data-explorer={kind}] img").is_visible(), kind
    page.goto(f"{server.address}/lessons/02_python_kernel/")
    said = page.locator(".quiz").first.locator("p").first
    assert not said.is_visible()
    page.locator(".quiz").first.locator("label").first.click()
    assert said.is_visible()
    context.close()


@pytest.mark.slow(cases=1)
@pytest.mark.parametrize("lesson", ["02_python_kernel", "05_profiling", "07_fused_bias_relu", "09_memory"])
def test_a_drawing_stays_beside_its_explorer(server: Server, page: Any, lesson: str):
    page.goto(f"{server.address}/lessons/{lesson}/")
    box = page.locator("[data-explorer][data-started]").first
    box.wait_for()
    assert box.locator("img").first.is_visible() and box.locator(".explorer-live").is_visible()


def test_a_quiz_tells_when_it_is_asked_and_keeps_the_answer(server: Server, page: Any):
    page.goto(f"{server.address}/lessons/02_python_kernel/")
    quiz = page.locator(".quiz").first
    told = quiz.get_by_role("status")
    quiz.locator("input").first.focus()
    page.keyboard.press("ArrowDown")
    assert told.inner_text() == "", "an arrow key reads the answers and tells none"
    page.keyboard.press("Enter")
    second = told.inner_text()
    assert second.startswith(("Right.", "No."))
    quiz.locator("label").first.click()
    page.wait_for_function(
        "(before) => document.querySelector('.quiz-told').innerText !== before", arg=second
    )
    first = told.inner_text()
    quiz.locator("input").first.focus()
    page.keyboard.press("ArrowDown")
    assert told.inner_text() == "", "what was said of one answer does not stand below another"
    page.reload()
    assert page.locator(".quiz").first.get_by_role("status").inner_text() == first
    assert page.locator(".quiz input").first.is_checked()
    assert not page.trouble


def test_what_was_passed_is_ticked_everywhere(server: Server, page: Any, tmp_path: Path):
    page.goto(f"{server.address}/lessons/03_square_kernel/")
    page.get_by_role("button", name="Mark as passed").click()
    page.goto(f"{server.address}/lessons/")
    ticked = "() => [...document.querySelectorAll('article a.passed')].map(a => a.getAttribute('aria-label'))"
    assert len(page.evaluate(ticked)) == 2, "in the table and on the map"
    (tmp_path / "progress.txt").write_text(
        "01_hello_inline passed 20/20  tries 1  hints 0\n02_python_kernel wrong_output 3/20  tries 1  hints 0\n"
    )
    page.get_by_label("Show my progress").set_input_files(tmp_path / "progress.txt")
    page.wait_for_function("() => document.querySelectorAll('article a.passed').length === 4")
    assert all(label.endswith(", passed") for label in page.evaluate(ticked))


def test_the_map_can_be_read_on_a_phone(server: Server, page: Any):
    page.set_viewport_size(PHONE)
    page.goto(f"{server.address}/lessons/")
    high = "() => Math.min(...[...document.querySelectorAll('.map text')].map(t => t.getBoundingClientRect().height))"
    assert page.evaluate(high) >= 11
    assert page.evaluate("() => document.scrollingElement.scrollWidth") == PHONE["width"]
    assert page.locator(".map").get_attribute("tabindex") == "0", "a keyboard scrolls it"


def test_a_dark_lesson_is_printed_light_without_answers_and_notes(server: Server, browser: Any):
    context = browser.new_context(color_scheme="dark")
    page = context.new_page()
    page.goto(f"{server.address}/lessons/02_python_kernel/")
    page.add_style_tag(content="* { transition: none !important }")  # a colour on its way is neither of both
    page.emulate_media(media="print")
    look = """(chosen) => { const s = getComputedStyle(document.querySelector(chosen)); return [s.display, s.color, s.backgroundColor]; }"""
    for hidden in (
        ".teachers-note",
        ".answers",
        ".lesson-offer",
        ".explorer-live",
        ".quiz p",
        ".quiz-check",
        ".lesson-passed",
    ):
        assert page.evaluate(look, hidden)[0] == "none", hidden
    scheme = "() => getComputedStyle(document.documentElement).colorScheme"
    assert page.evaluate(scheme) == "light", "the margins of the paper are not black"
    for chosen in ("article p a", "article p", "article pre code"):
        red, green, blue = map(int, re.findall(r"\d+", page.evaluate(look, chosen)[1])[:3])
        assert max(red, green, blue) < 130, (chosen, red, green, blue)
    context.close()


LESSON_BYTES = 700_000


def test_a_lesson_is_light_and_its_head_describes_it(site: Site, server: Server, page: Any):
    server.sent.clear()
    page.goto(f"{server.address}/lessons/09_memory/", wait_until="networkidle")
    assert sum(server.sent.values()) <= LESSON_BYTES, server.sent
    assert not [name for name in server.sent if "search_index" in name]
    said = [re.search(r'<meta name="description" content="([^"]*)"', d.text) for d in site.pages.values()]
    told = [match[1] for match in said if match]
    assert len(set(told)) > 0.9 * len(site.pages)
    assert all('property="og:title"' in d.text for d in site.pages.values() if d.path.name != "404.html")


def test_a_word_of_the_glossary_has_its_meaning(server: Server, page: Any):
    page.goto(f"{server.address}/lessons/03_square_kernel/")
    page.locator("abbr").first.hover()
    tip = page.locator(".md-tooltip2, .md-tooltip").first
    tip.wait_for(state="visible")
    assert tip.inner_text().endswith(".")


def test_notebooks_can_be_downloaded(site: Site, server: Server, page: Any):
    for name in page_sources.tasks(ROOT):
        document = site.pages[f"lessons/{name}/index.html"]
        assert "lesson.ipynb" in document.links, name
        kept = (site.folder / "lessons" / name / "lesson.ipynb").read_bytes()
        assert kept == (ROOT / "lessons" / name / "lesson.ipynb").read_bytes()
    page.goto(f"{server.address}/lessons/02_python_kernel/")
    with page.expect_download() as download:
        page.get_by_role("link", name="Notebook", exact=True).click()
    assert re.fullmatch(r"02_python_kernel\.ipynb", download.value.suggested_filename)


def test_no_letter_of_a_figure_is_cut(page: Any):
    cut = {}
    for path in sorted((ROOT / "docs/assets/figures").glob("*.svg")):
        page.set_content(f"<body style='margin: 200px; width: 480px'>{path.read_text('utf-8')}")
        found = page.evaluate("""() => {
          const sheet = document.querySelector("svg"), whole = sheet.getBoundingClientRect();
          return [...sheet.querySelectorAll("text")].filter(text => {
            const box = text.getBoundingClientRect();
            return box.left < whole.left - 1 || box.right > whole.right + 1
              || box.top < whole.top - 1 || box.bottom > whole.bottom + 1;
          }).map(text => text.textContent);
        }""")
        if found:
            cut[path.name] = found
    assert not cut


def test_a_long_question_stays_in_its_frame_and_a_long_answer_in_line(server: Server, page: Any):
    page.set_viewport_size({"width": 360, "height": 800})
    page.goto(f"{server.address}/lessons/15_softmax/")
    wrong = page.evaluate("""() => [...document.querySelectorAll(".quiz")].flatMap(quiz => {
      const frame = quiz.getBoundingClientRect(), found = [];
      const legend = quiz.querySelector("legend").getBoundingClientRect();
      if (legend.top < frame.top) found.push("a question");
      for (const label of quiz.querySelectorAll("label")) {
        const words = document.createRange();
        words.selectNodeContents(label);
        const lefts = [...words.getClientRects()].map(r => r.left);
        if (Math.max(...lefts) - Math.min(...lefts) > 2 && !label.children.length) found.push(label.innerText);
      }
      return found;
    })""")
    assert not wrong


def test_code_that_is_drawn_late_has_its_height_before_and_scrolls_by_key_after(server: Server, page: Any):
    page.set_viewport_size({"width": 412, "height": 823})
    page.goto(f"{server.address}/lessons/16_attention/", wait_until="load")
    early, late, wide = page.evaluate("""async () => {
      const blocks = [...document.querySelectorAll("pre[style] > code")].filter(c => !c.closest("details"));
      const heights = () => blocks.map(block => block.offsetHeight);
      const early = heights();
      blocks.forEach(block => block.style.contentVisibility = "visible");
      const late = heights();
      const wide = blocks.findLastIndex(block => block.scrollWidth > block.clientWidth);
      blocks.forEach(block => block.style.contentVisibility = "");
      return [early, late, wide];
    }""")
    assert len(early) > 5
    assert early == late
    shown = """place => [...document.querySelectorAll("pre[style] > code")].filter(c => !c.closest("details"))[place]"""
    block = page.evaluate_handle(shown, wide).as_element()
    block.evaluate(
        "block => block.removeAttribute('tabindex')"
    )  # what the theme may have set while all was drawn
    block.evaluate("block => block.scrollIntoView()")
    page.wait_for_function("block => block.getAttribute('tabindex') === '0'", arg=block)


def test_a_number_keeps_its_unit_and_code_has_no_element_that_changes_nothing(site: Site):
    text = site.pages["lessons/15_softmax/index.html"].text
    assert re.search(r"<td[^>]*>[\d,.]+\N{NO-BREAK SPACE}us</td>", text)
    for name, document in site.pages.items():
        assert not re.search(r"<td[^>]*>[\d,.]+ (us|ms|MB)</td>", document.text), name
    blocks = re.findall(r"<pre[^>]*><code>(.*?)</code>", text, re.S)
    assert blocks
    assert not [b for b in blocks if '<span class="w">' in b or '<span class="n">' in b]


def test_a_button_that_is_pressed_can_be_read_in_the_dark(server: Server, page: Any):
    page.emulate_media(color_scheme="dark")
    for address in ("", "lessons/15_softmax/"):
        page.goto(f"{server.address}/{address}")
        page.add_style_tag(content="* { transition: none !important; }")
        for button in page.locator("a.md-button, button.md-button").all():
            button.focus()
            colours = button.evaluate("b => [getComputedStyle(b).color, getComputedStyle(b).backgroundColor]")
            words, ground = (sum(map(float, re.findall(r"[\d.]+", c)[:3])) for c in colours)
            assert abs(words - ground) > 250, (address, button.inner_text(), colours)
