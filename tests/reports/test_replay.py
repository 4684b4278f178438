"""Replays in a browser: what is seen of each planted bug of lesson 06 is what the verdict says of it."""

from __future__ import annotations

import base64
import gzip
import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from grader.backends import detect
from grader.domain import lessons, submission
from grader.domain.options import GradingOptions
from grader.domain.thread_recording import Source
from grader.feedback import shared_arrays
from grader.referee.job import lesson_job
from grader.referee.replay import Replay, Wanted
from grader.reports import replay_page
from tests.docs.conftest import browser  # noqa: F401, a fixture
from tools import replays

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.domain.thread_recording import Recording, Seen

from benchmarks.pairs.kit import reference
from tests.referee.pairs.test_own_and_hidden import OWN

ROOT = Path(__file__).parents[2]
BUGS = {"triple": "global-out-of-bounds", "reverse": "shared-race", "offset": "shared-race",
        "pairs": "shared-uninitialised-read", "transpose": "global-out-of-bounds"}  # fmt: skip
AXE = ROOT / "tests/docs/vendor/axe.min.js"


@dataclass
class Played:
    """A case, its recording and its page."""

    recording: Recording
    page: Path

    @property
    def finding(self) -> Seen:
        return self.recording.head.findings[0]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Played]:
    """The starter of lesson 06, recorded once for all tests."""
    lesson, folder = lessons.find("06"), tmp_path_factory.mktemp("replays")
    options = GradingOptions(backend="simt", search=False)
    job = lesson_job(lesson, submission.read(lesson.exercise), detect.choose("simt"), options)
    found = {}
    with Replay(job) as replay:
        for case in BUGS:
            made = replay.record(Wanted(case))
            page = folder / f"{case}.html"
            page.write_text(replay_page.page([("", made)]), "utf-8")
            found[case] = Played(made, page)
    return found


@pytest.fixture
def tab(browser: Any) -> Iterator[Any]:  # noqa: F811
    """A page that fails on any error of a script and on any request."""
    context = browser.new_context(bypass_csp=True, viewport={"width": 1280, "height": 900})
    page, wrong = context.new_page(), []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on(
        "request",
        lambda r: wrong.append(r.url) if not r.url.startswith(("file:", "about:", "blob:")) else None,
    )
    yield page
    context.close()
    assert not wrong


def show(tab: Any, page: Path) -> None:
    tab.goto(page.as_uri())
    tab.wait_for_selector("body[data-ready]")


@pytest.mark.slow
@pytest.mark.parametrize("case", BUGS)
def test_the_replay_begins_at_what_the_verdict_says(case: str, played: dict[str, Played], tab: Any):
    one = played[case]
    seen, head = one.finding, one.recording.head
    assert seen.kind == BUGS[case]
    assert seen.message, "the verdict tells of it"
    show(tab, one.page)
    text = tab.inner_text(".sentence")
    assert f"thread ({', '.join(map(str, seen.thread))})" in text.replace("Thread", "thread")
    assert f"line {seen.line}" in text
    assert f"line {seen.line}" in seen.message
    assert tab.get_attribute(".line.current", "data-line") == str(seen.line)
    columns = one.recording.columns
    about = head.objects[columns["object"][seen.access]]
    element = int(columns["offset"][seen.access]) // about.element
    assert f"element {element} of {about.name}" in seen.message.replace(
        "element 7, 0 of out", "element 63 of out"
    )
    assert tab.get_attribute(".cell.nowc", "data-element") == str(element)
    assert tab.get_attribute(".lanes i.now", "title").startswith(
        f"thread ({', '.join(map(str, seen.thread))})"
    )


@pytest.mark.slow
def test_a_race_shows_both_sides_and_that_no_barrier_lies_between(played: dict[str, Played], tab: Any):
    seen = played["reverse"].finding
    show(tab, played["reverse"].page)
    told = tab.inner_text(".about")
    for thread, line in ((seen.thread, seen.line), (seen.other_thread, seen.other_line)):
        assert f"thread ({', '.join(map(str, thread))}), line {line}" in told
    assert "no barrier" in told
    tab.keyboard.press("o")
    tab.wait_for_function(f"document.querySelector('.line.current').dataset.line === '{seen.other_line}'")
    other = tab.inner_text(".sentence")
    assert f"thread ({', '.join(map(str, seen.other_thread))}), line {seen.other_line}: writes tile" in other
    assert tab.get_attribute(".line.other", "data-line") == str(seen.line)


@pytest.mark.slow
@pytest.mark.parametrize("case", ["triple", "transpose"])
def test_out_of_bounds_shows_the_end_and_the_element_beyond(case: str, played: dict[str, Played], tab: Any):
    show(tab, played[case].page)
    columns, head = played[case].recording.columns, played[case].recording.head
    about = head.objects[columns["object"][played[case].finding.access]]
    many = about.bytes // about.element
    assert "past the end" in tab.inner_text(".sentence")
    assert f"has {many} elements" in tab.inner_text(".sentence")
    beyond = tab.query_selector_all(".cell.beyond:not(.none)")
    assert beyond and all(int(cell.get_attribute("data-element")) >= many for cell in beyond)
    assert "beyond" in tab.get_attribute(".cell.nowc", "class")


@pytest.mark.slow
def test_a_read_of_what_nobody_wrote_says_so(played: dict[str, Played], tab: Any):
    show(tab, played["pairs"].page)
    assert tab.inner_text(".sentence").endswith("Nobody has written it.")
    assert "unwritten" in tab.get_attribute(".cell.nowc", "class")
    assert "Nobody has written it" in tab.inner_text(".history")


@pytest.mark.slow
def test_a_barrier_that_not_all_reach_shows_who_waits_and_who_left(played: dict[str, Played], tab: Any):
    show(tab, played["offset"].page)
    tab.click(".findings button:has-text('Barrier')")
    tab.wait_for_function("document.querySelector('.about').textContent.includes('left the kernel')")
    told = tab.inner_text(".about")
    assert "1 thread waits: (63, 0, 0)" in told
    assert "63 threads have left the kernel" in told
    assert len(tab.query_selector_all(".lanes i.left")) == 63
    assert tab.get_attribute(".lanes i.waits", "title").startswith("thread (63, 0, 0)")


@pytest.mark.slow
def test_it_is_stepped_by_keyboard_forward_and_back(played: dict[str, Played], tab: Any):
    show(tab, played["reverse"].page)
    first = tab.inner_text(".sentence")
    tab.keyboard.press("ArrowRight")
    tab.wait_for_function("(before) => document.querySelector('.sentence').textContent !== before", arg=first)
    tab.keyboard.press("ArrowLeft")
    tab.wait_for_function("(before) => document.querySelector('.sentence').textContent === before", arg=first)
    tab.keyboard.press("Home")
    tab.wait_for_function("document.querySelector('input[type=range]').value === '0'")
    tab.keyboard.press("End")
    tab.wait_for_function("(({ value, max }) => value === max)(document.querySelector('input[type=range]'))")
    assert tab.get_attribute(".sentence", "aria-live") == "polite"


@pytest.mark.slow(cases=1)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_it_is_accessible_and_fits(
    scheme: str, width: int, played: dict[str, Played], rounded: Played, tab: Any
):
    tab.emulate_media(color_scheme=scheme)
    tab.set_viewport_size({"width": width, "height": 900})
    for page in (played["reverse"].page, rounded.page):
        show(tab, page)
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
        tab.add_script_tag(path=str(AXE))
        found = tab.evaluate("async () => (await axe.run()).violations.map((v) => [v.id, v.nodes[0].html])")
        assert found == []
    tab.click(".memory-panel .tabs button >> nth=0")  # numbers with a sign
    tab.wait_for_function("[...document.querySelectorAll('.cell')].some((c) => c.textContent[0] === '-')")
    cut = "[...document.querySelectorAll('.cell')].filter((c) => c.scrollWidth > c.clientWidth).length"
    assert tab.evaluate(cut) == 0


@pytest.fixture(scope="module")
def rounded(tmp_path_factory: pytest.TempPathFactory) -> Played:
    """Lesson 03 with a grid that is rounded down: the last columns and rows get no thread."""
    lesson, folder = lessons.find("03"), tmp_path_factory.mktemp("rounded")
    text = lesson.solution.read_text("utf-8")
    right = "grid((cols + block.x - 1) / block.x, (rows + block.y - 1) / block.y)"
    assert right in text
    file = folder / "mine.py"
    file.write_text(text.replace(right, "grid(cols / block.x, rows / block.y)"), "utf-8")
    options = GradingOptions(backend="simt", search=False)
    job = lesson_job(lesson, submission.read(file), detect.choose("simt"), options)
    with Replay(job) as replay:
        made = replay.record(Wanted("ragged edges"))
    page = folder / "rounded.html"
    page.write_text(replay_page.page([("", made)]), "utf-8")
    return Played(made, page)


def look_at(tab: Any, element: str) -> str:
    """What the page tells of an element that is asked for by its place."""
    tab.fill(".field", element)
    tab.press(".field", "Enter")
    tab.wait_for_function(
        "(at) => document.querySelector('.history-panel h3').textContent.includes(at)", arg=f"[{element}]"
    )
    return str(tab.inner_text(".origin"))


@pytest.mark.slow
def test_a_wrong_element_that_no_thread_wrote_is_where_it_begins(rounded: Played, tab: Any):
    seen, launch = rounded.finding, rounded.recording.head.launch
    assert (seen.kind, seen.access, seen.element, launch.grid) == ("wrong-result", -1, 96, (6, 2, 1))
    assert (5, 0, 0) in [block.index for block in rounded.recording.head.blocks], "the nearest"
    show(tab, rounded.page)
    sentence = tab.inner_text(".sentence")
    assert "out[0, 96] is nan, expected 1.996" in sentence
    assert sentence.endswith("no thread has written it.")
    told = tab.inner_text(".about")
    assert "grid of (6, 2, 1) blocks of (16, 16, 1) threads" in told
    assert "96 threads along x and 32 threads along y" in told and "[37, 101], 3737 elements." in told
    assert tab.get_attribute(".line.current", "data-line") == str(launch.line)
    assert "<<<grid, block" in tab.inner_text(".line.current")
    assert tab.get_attribute(".cell.marked", "data-element") == "96"
    assert "unwritten" in tab.get_attribute(".cell.marked", "class")
    assert "found nothing" not in tab.inner_text(".findings")


TWO = '''
from torch.utils.cpp_extension import load_inline

source = r"""
#include <torch/extension.h>
__global__ void copy_kernel(const float* x, float* y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i];
}
__global__ void square_kernel(const float* y, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = y[i] * y[i];
}
torch::Tensor run(torch::Tensor x) {
    x = x.contiguous();
    const int n = x.numel();
    torch::Tensor y = torch::empty({n + 1}, x.options()), out = torch::empty_like(x);
    copy_kernel<<<(n + 63) / 64, 64>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);
    square_kernel<<<n / 64, 64>>>(y.data_ptr<float>(), out.data_ptr<float>(), n);
    return out;
}
"""
square_matrix = load_inline(
    name="two", cpp_sources="torch::Tensor run(torch::Tensor x);", cuda_sources=source, functions=["run"]
).run
'''


@pytest.mark.thorough
@pytest.mark.slow
def test_the_launch_that_should_have_written_the_wrong_element_is_shown(tmp_path: Path):
    (tmp_path / "two.py").write_text(TWO, "utf-8")
    page, data = tmp_path / "two.html", tmp_path / "two.json"
    done = subprocess.run(
        [sys.executable, "-m", "grader", "replay", "03", str(tmp_path / "two.py"), "--case", "ragged edges",
         "--out", str(page), "--json", str(data)],
        cwd=ROOT, capture_output=True, text=True, timeout=200,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    head = json.loads(data.read_text("utf-8"))["head"]
    (seen,) = head["findings"]
    assert head["launch"]["kernel"] == "square_kernel"
    assert seen["element"] == 58 * 64
    assert "no thread has written it" in seen["title"] and "no thread has written it" in done.stdout
    assert [57, 0, 0] in [block["index"] for block in head["blocks"]], "the last one lies nearest"
    assert head["command"] == f"./course replay 03 {tmp_path / 'two.py'} --case 'ragged edges'"


@pytest.mark.thorough
@pytest.mark.slow
def test_what_other_blocks_wrote_is_not_said_to_be_written_by_nobody(
    rounded: Played, tab: Any, tmp_path: Path
):
    show(tab, rounded.page)
    told = look_at(tab, "0, 0")  # block (0, 0, 0) writes it, which is not recorded
    assert "Now: No recorded block has written it." in told
    assert re.search(r"After the launch: [\d.]+; what wrote it was not recorded", told)
    cell = ".cell[data-element='0']"
    assert "elsewhere" in tab.get_attribute(cell, "class") and tab.inner_text(cell)
    tab.click("button:has-text('After the launch')")
    tab.wait_for_selector(f"{cell}.unrecorded")
    assert not tab.inner_text(cell)
    assert tab.get_attribute("button:has-text('After the launch')", "aria-pressed") == "false"
    assert "Now: Nobody has written it. After the launch: nobody" in look_at(tab, "0, 96")
    # Where the tensor was not kept, nobody knows that either.
    head = rounded.recording.head
    objects = tuple(replace_struct(o, after=-1) for o in head.objects)
    page = tmp_path / "unkept.html"
    page.write_text(
        replay_page.page([("", replace(rounded.recording, head=replace_struct(head, objects=objects)))]),
        "utf-8",
    )
    show(tab, page)
    assert look_at(tab, "0, 96") == "Now: No recorded block has written it."


@pytest.mark.thorough
@pytest.mark.slow
def test_memory_has_numbers_of_columns_and_is_moved(rounded: Played, tab: Any):
    show(tab, rounded.page)
    heads = [e.inner_text() for e in tab.query_selector_all(".colhead")]
    assert heads == ["", *map(str, range(85, 101))]
    tab.click("button[aria-label='Columns to the left']")
    tab.wait_for_selector(".cell[data-element='77']")
    assert [e.inner_text() for e in tab.query_selector_all(".colhead")][1] == "77"
    tab.click("button[aria-label='Rows below']")
    tab.wait_for_selector(f".cell[data-element='{6 * 101 + 77}']")
    corner = tab.query_selector(".cell")
    corner.click()
    tab.wait_for_selector(".cell.chosen")
    assert tab.query_selector(".cell").get_attribute("class").endswith("chosen"), (
        "it stays where it was clicked"
    )
    sentence = tab.inner_text(".sentence")
    tab.fill(".field", "")
    tab.type(".field", "36, 100 n")
    tab.press(".field", "ArrowLeft")
    assert tab.inner_text(".sentence") == sentence, "what is typed moves no time"
    tab.click(".memory-panel .tabs button >> nth=0")
    tab.wait_for_function(
        "document.querySelector('.memory-panel').textContent.includes('rows of 101 as out')"
    )


@pytest.mark.slow
def test_a_click_on_a_thread_shows_it_now(rounded: Played, tab: Any):
    show(tab, rounded.page)
    before = tab.inner_text(".sentence")
    tab.click(".lanes i >> nth=39")
    tab.wait_for_function(
        "document.querySelector('.thread-panel h3').textContent.includes('thread (7, 2, 0)')"
    )
    assert "row" in tab.inner_text(".values")
    assert tab.inner_text(".sentence") == before
    tab.click("button:has-text('Go to its step')")
    tab.wait_for_function("document.querySelector('.sentence').textContent.includes('thread (7, 2, 0)')")


@pytest.mark.thorough
@pytest.mark.slow
def test_what_is_known_of_the_step_stays_in_view(rounded: Played, tab: Any):
    show(tab, rounded.page)
    assert tab.locator(".thread-panel h3").bounding_box()["y"] < 900
    tab.evaluate("window.scrollTo(0, document.body.scrollHeight)")
    box = tab.locator(".sentence").bounding_box()
    assert 0 <= box["y"] < 100


@pytest.mark.slow
def test_every_finding_has_words(played: dict[str, Played], tab: Any):
    show(tab, played["reverse"].page)
    listed = [e.inner_text() for e in tab.query_selector_all(".findings button")]
    assert listed[0].startswith("Race Reads element") and listed[1].startswith(
        "Also seen: Nobody wrote Reads"
    )
    told = tab.evaluate("""async () => {
        const [view] = globalThis.replay, said = [];
        for (let e = 0; e < view.r.count; ++e) if (view.r.columns.op[e] === 9) {
            view.go(e); view.draw();
            const marked = document.querySelectorAll(".cell.marked").length;
            const own = view.r.head.findings.some((f) => f.event === e);
            said.push([view.sentence.textContent, own, marked]);
        }
        return said;
    }""")
    assert len(told) > 2
    for sentence, own, marked in told:
        assert re.search(r": (Race|Nobody wrote)(\. \w|, the same as at step \d+\.$)", sentence), sentence
        assert own or not marked, "no frame of another finding's element"


@pytest.mark.thorough
@pytest.mark.slow
def test_the_accesses_of_a_race_are_places_to_go_to(played: dict[str, Played], tab: Any):
    show(tab, played["reverse"].page)
    tab.click(".about button >> nth=0")
    other = played["reverse"].finding.other
    tab.wait_for_function(f"document.querySelector('.sentence').textContent.startsWith('Step {other + 1}.')")
    tab.keyboard.press("PageUp")
    tab.wait_for_function(
        "document.querySelector('.sentence').textContent.endsWith('No barrier opens in it.')"
    )
    assert tab.inner_text(".sentence").startswith("Step 1. ")


@pytest.mark.slow
def test_threads_are_looked_at_by_keyboard_and_the_time_stays(played: dict[str, Played], tab: Any):
    show(tab, played["reverse"].page)
    (x, _, _), before = played["reverse"].finding.thread, tab.inner_text(".sentence")
    for key, thread in (("t", x + 1), ("Shift+T", x), ("Shift+T", x - 1)):
        tab.keyboard.press(key)
        tab.wait_for_function(f"document.body.innerText.includes('hread ({thread % 64}, 0, 0) (warp')")
    assert tab.inner_text(".sentence") == before


@pytest.mark.thorough
@pytest.mark.slow
def test_the_command_that_records_the_other_side_is_given(
    played: dict[str, Played], tab: Any, tmp_path: Path
):
    head = played["reverse"].recording.head
    race = replace_struct(head.findings[0], other=-1, other_block=(6, 0, 0))
    head = replace_struct(head, findings=(race,), command="./course replay 06 mine.py --case reverse")
    page = tmp_path / "race.html"
    page.write_text(replay_page.page([("", replace(played["reverse"].recording, head=head))]), "utf-8")
    show(tab, page)
    assert "./course replay 06 mine.py --case reverse --block 6,0,0 records it." in tab.inner_text(".about")


@pytest.mark.thorough
@pytest.mark.slow
def test_what_was_read_unwritten_stays_hatched_and_what_is_beyond_the_end_dashed(
    played: dict[str, Played], tab: Any
):
    show(tab, played["pairs"].page)
    stripes = tab.evaluate("""() => {
        const style = getComputedStyle(document.querySelector(".cell.nowc")).backgroundImage;
        const light = (rgb) => rgb.match(/\\d+/g).slice(0, 3).reduce((sum, n) => sum + Number(n), 0);
        return style.match(/rgba?\\([^)]*\\)/g).map(light);
    }""")
    assert max(stripes) - min(stripes) > 200
    show(tab, played["triple"].page)
    line = tab.evaluate("getComputedStyle(document.querySelector('.cell.nowc.beyond')).outlineStyle")
    assert line == "dashed"


@pytest.mark.slow
def test_nothing_of_a_submission_is_markup(played: dict[str, Played], tab: Any, tmp_path: Path):
    one = played["reverse"].recording
    evil = "</script><img src=x onerror=document.title='caught'>{{ 7 * 7 }}\u202e\x07<!-- ]]>"
    head = replace_struct(one.head, title=evil, case=evil, submission=evil, notes=(evil,))
    head = replace_struct(
        head, sources=tuple(Source(s.file, s.text.replace("tile", evil[:60])) for s in head.sources)
    )
    head = replace_struct(head, objects=tuple(replace_struct(o, name=evil) for o in head.objects))
    head = replace_struct(
        head, findings=tuple(replace_struct(f, title=evil, message=evil) for f in head.findings)
    )
    page = tmp_path / "evil.html"
    page.write_text(
        replay_page.page([(evil, replace(one, head=head))], title=evil), "utf-8", errors="replace"
    )
    show(tab, page)
    assert "onerror" in tab.inner_text("h1")
    assert tab.query_selector_all("img, iframe, object") == []
    assert tab.title() != "caught"


def replace_struct(struct: Any, **fields: Any) -> Any:
    import msgspec

    return msgspec.structs.replace(struct, **fields)


@pytest.mark.thorough
@pytest.mark.slow
def test_two_recordings_stand_side_by_side(played: dict[str, Played], tab: Any, tmp_path: Path):
    pair = [("mine", played["reverse"].recording), ("another", played["pairs"].recording)]
    page = tmp_path / "two.html"
    page.write_text(replay_page.page(pair), "utf-8")
    show(tab, page)
    assert [e.inner_text() for e in tab.query_selector_all("h1")] == ["mine", "another"]


@pytest.mark.thorough
@pytest.mark.slow
def test_the_policy_of_the_page_lets_its_own_script_run(played: dict[str, Played], browser: Any):  # noqa: F811
    page = browser.new_page()
    page.goto(played["pairs"].page.as_uri())
    page.wait_for_selector("body[data-ready]")
    assert page.locator("body[data-ready]").count() == 1
    page.close()


@pytest.mark.slow
def test_the_trace_is_one_that_perfetto_reads(played: dict[str, Played]):
    trace = json.loads(replay_page.trace(played["reverse"].recording))
    slices = [e for e in trace["traceEvents"] if e["ph"] == "X"]
    assert {e["tid"] for e in slices if e["pid"] == 0} == set(range(64))
    assert all(e["dur"] >= 1 and e["name"] for e in slices)
    found = [e["name"] for e in trace["traceEvents"] if e["ph"] == "i"]
    assert found == ["shared-race", "shared-uninitialised-read"]


@pytest.mark.slow
def test_the_page_holds_the_recording_whole(played: dict[str, Played]):
    text = played["pairs"].page.read_text("utf-8")
    data = re.search(r"data-recording[^>]*>([^<]+)<", text)
    assert data
    assert gzip.decompress(base64.b64decode(data[1])) == played["pairs"].recording.packed()


def test_each_replay_of_the_site_has_a_page_that_holds_its_code():
    for one in replays.WHAT:
        folder = ROOT if one.page.startswith("lessons/") else ROOT / "docs"
        text = (folder / one.page).read_text("utf-8")
        assert f"assets/replays/{one.name}.htm)" in replays.placed(text, one.page)
    for page, headings in replays.BELOW.items():
        text = replays.placed((ROOT / "docs" / page).read_text("utf-8"), page)
        assert text.count(".replay-open") == sum(len(names) for _, names in headings), page
    assert len({one.page for one in replays.WHAT} | set(replays.BELOW)) >= 8


def test_shared_arrays_are_read_from_the_source():
    text = """
    constexpr int SIDE = 16, EACH = 4, TILE = SIDE * EACH;
    #define DEEP 16
    __shared__ float xs[TILE][DEEP + 1], ws[(TILE)][DEEP + 1];
    __shared__ double last;
    __shared__ T unknown[4];
    """
    assert shared_arrays.declared([text]) == {
        "xs": ("float32", (64, 17)), "ws": ("float32", (64, 17)), "last": ("float64", (1,)),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["replay", "06", "--block", "x"], "is no block"),
        (["replay", "06", "--schedule", "last"], "give a number"),
        (["replay", "02"], "no kernels to call"),
        (["replay", "06", "--case", "nothing"], "There is no case"),
    ],
)
@pytest.mark.slow(cases=1)
def test_what_cannot_be_replayed_is_said_in_a_sentence(words: list[str], said: str):
    file = lessons.find(words[1]).exercise
    done = subprocess.run(
        [sys.executable, "-m", "grader", words[0], words[1], str(file), *words[2:]], cwd=ROOT,
        capture_output=True, text=True, timeout=200,
    )  # fmt: skip
    assert done.returncode == 2
    assert said in done.stderr


@pytest.mark.thorough
@pytest.mark.slow
def test_a_pair_is_replayed(tmp_path: Path):
    (tmp_path / "reference.py").write_text(reference("return x * x", "[torch.randn(37, 11)]"), "utf-8")
    (tmp_path / "mine.py").write_text(OWN.replace("RESULT", "extension.run(x)"), "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "grader", "replay", "--reference", "reference.py", "mine.py",
         "--out", "p.html"],
        cwd=tmp_path, capture_output=True, text=True, timeout=200, env=os.environ | {"PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "square" in done.stdout and "<script" in (tmp_path / "p.html").read_text("utf-8")
