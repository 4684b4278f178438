"""Pictures and figures to play with: what they compute is what Python, the results and Nsight Compute say."""

from __future__ import annotations

import json
import random
import re
import xml.etree.ElementTree as ET
from typing import Any

import pytest

from grader.domain.lessons import load_task
from grader.lesson_support.grid import launch
from grader.referee.parts import trace_events
from tests.docs.conftest import ROOT, Server
from tests.docs.test_browser import page  # noqa: F401, a fixture
from tools import coursemap, explorers, offer, page_sources, sources
from tools.figures import FIGURES, bits, files, fusion, warp

SIZES = (1, 2, 4, 8, 16)
EXPRESSIONS = [
    "t", "t + 1", "2 * t", "8 * t", "31 - t", "t / 2", "t % 16 * 1024 + t / 16", "t * 7 % 32", "-t", "-t / 3",
    "-t % 5", "(t & 3) << 4 | t >> 2", "t ^ 1", "t * t * 7 + t * 13 & 1023", "0", "((t))", "1 + 2 * 3 - t",
    "t - 16", "-(t + 1) * 3", "t << 3 >> 1", "7 - t % 4 * 2",
]  # fmt: skip
WRONG = ["", "t +", "(t", "x", "t t", "1.5", "t / 0", "t % 0", "t ** 2", "t)"]

# Launches of benchmarks/simt_kernels that are an index each: the element that lane t of warp w loads.
COUNTED = {
    "copy": "t", "offset 1": "t + 1", "offset 7": "t + 7", "offset 8": "t + 8", "stride 2": "2 * t",
    "stride 3": "3 * t", "stride 5": "5 * t", "stride 8": "8 * t", "stride 32": "32 * t", "broadcast": "t / 32",
    "reversed": "31 - t", "read columns": "t * 256", "square 2-D swapped": "t % 16 * 256 + t / 16",
}  # fmt: skip


@pytest.mark.parametrize("name", FIGURES)
def test_a_picture_is_whole_and_says_what_it_shows(name: str):
    text = files(ROOT)[ROOT / "docs/assets/figures" / f"{name}.svg"]
    assert (ROOT / "docs/assets/figures" / f"{name}.svg").read_text("utf-8") == text, (
        "run course dev generate"
    )
    tree = ET.fromstring(text)
    _, _, wide, high = map(float, tree.attrib["viewBox"].split())
    assert len(tree.findtext("{*}title") or "") > 60
    assert "prefers-color-scheme:dark" in text
    assert not re.search(r"#[0-9a-f]{3,6}\"", text), "a colour that does not follow the page"
    boxes = tree.findall(".//{*}rect")
    assert boxes or tree.findall(".//{*}circle")
    for box in boxes:
        x, y, w, h = (float(box.attrib[k]) for k in ("x", "y", "width", "height"))
        assert -1 <= x <= x + w <= wide + 1 and -1 <= y <= y + h <= high + 1, box.attrib


@pytest.mark.parametrize("label", COUNTED)
def test_sectors_are_what_ncu_counted(label: str):
    rows = json.loads((ROOT / "benchmarks/results/ncu_compare.json").read_text("utf-8"))["rows"]
    found = next(r for r in rows if r["label"] == label)["values"]
    touched = warp.sectors(4 * warp.index(COUNTED[label], t) for t in range(warp.LANES))
    assert len(touched) * found["global load requests"] == found["global load sectors"]


@pytest.mark.parametrize("stride", [0, 1, 2, 3, 4, 8, 16, 32, 33])
def test_wavefronts_are_what_ncu_counted(stride: int):
    rows = json.loads((ROOT / "benchmarks/results/ncu_compare.json").read_text("utf-8"))["rows"]
    found = next(r for r in rows if r["label"] == f"shared stride {stride}")["values"]
    one = next(r for r in rows if r["label"] == "shared stride 1")["values"]["shared load wavefronts"]
    assert warp.wavefronts(t * stride for t in range(32)) * one == found["shared load wavefronts"]


@pytest.mark.parametrize(
    ("program", "lesson"),
    list(zip(list(fusion.PROGRAMS)[:2], ("07_fused_bias_relu", "08_sigmoid_residual"), strict=True)),
)
def test_bytes_are_those_that_the_lessons_count(program: str, lesson: str):
    speed = load_task(ROOT / "lessons" / lesson / "task.py").speed
    assert speed is not None
    operations = fusion.PROGRAMS[program]
    sizes = {"": 4 * 1024 * 8192, "x": 4 * 1024 * 8192, "bias": 4 * 8192}
    apart = fusion.kernels(operations, set(range(len(operations))), sizes)
    fused = fusion.kernels(operations, set(), sizes)
    assert sum(k.read + k.written for k in apart) == speed.eager_bytes
    assert len(apart) == speed.eager_launches
    assert [k.read + k.written for k in fused] == [speed.fused_bytes]


def test_the_map_leads_from_each_lesson_to_those_that_need_it():
    tasks = page_sources.tasks(ROOT)
    edges = coursemap.needs(tasks)
    rows = coursemap.layers(edges)
    depth = {name: k for k, row in enumerate(rows) for name in row}
    assert set(tasks) <= set(depth)
    assert all(depth[other] < depth[name] for name, found in edges.items() for other in found)
    made = {w: n for n, t in tasks.items() for w in (*t.introduces, *t.terms)}

    def before(name: str) -> set[str]:
        return edges[name].union(*(before(d) for d in edges[name]))

    for name, task in tasks.items():
        assert {made[w] for w in task.requires if w in made} <= before(name), "a need got lost"
    picture = coursemap.picture(tasks)
    assert "…" not in picture, "a title is cut"
    tree = ET.fromstring(picture)
    assert sorted(a.attrib["href"] for a in tree.findall(".//{*}a")) == [f"{n}/index.html" for n in tasks]


def test_the_address_of_the_repository_is_filled_in_when_it_is_known():
    text = (ROOT / "docs/start.md").read_text("utf-8")
    assert "git clone REPOSITORY course" in sources.mended(text, ROOT)
    assert "git clone https://github.com/someone/course course" in sources.mended(
        text, ROOT, "someone/course"
    )


def test_a_notebook_is_offered_at_a_release():
    link = offer.notebook("02_python_kernel", "someone/inline-to-fused", "v0.1.0")
    assert (
        "https://colab.research.google.com/github/someone/inline-to-fused/blob/v0.1.0/lessons/02_python_kernel/lesson.ipynb"
        in link
    )
    assert "colab" not in offer.notebook("02_python_kernel")
    with pytest.raises(ValueError, match="not a repository"):
        offer.notebook("02_python_kernel", "https://elsewhere/x", "v0.1.0")


@pytest.fixture
def compute(page: Any, server: Server):  # noqa: F811
    """Runs JavaScript of the figures and brings its result back."""
    page.goto(f"{server.address}/guide/figures/")
    return page.evaluate


def test_an_index_is_understood_as_in_python(compute: Any):
    got = compute(
        """([expressions, sizes]) => expressions.map(e => sizes.map(s => {
             const r = Course.request(e, s);
             return [r.indices, [...r.sectors].sort((a, b) => a[0] - b[0])];
           }))""",
        [EXPRESSIONS, SIZES],
    )
    for expression, by_size in zip(EXPRESSIONS, got, strict=True):
        for size, (indices, touched) in zip(SIZES, by_size, strict=True):
            wanted = [warp.index(expression, t) for t in range(warp.LANES)]
            assert indices == wanted, expression
            sectors = warp.sectors((size * i for i in wanted), size)
            assert touched == [list(pair) for pair in sorted(sectors.items())], (expression, size)


@pytest.mark.slow(cases=2)
@pytest.mark.parametrize("expression", WRONG)
def test_what_is_no_index_is_refused_by_both(expression: str, compute: Any):
    assert compute(
        "(e) => { try { Course.request(e, 4); return ''; } catch (error) { return error.message; } }",
        expression,
    )
    with pytest.raises(warp.ExpressionError):
        [warp.index(expression, t) for t in range(32)]


@pytest.mark.thorough
def test_owners_are_those_of_a_grid_that_runs(compute: Any):
    shapes = [(10, 3, 4), (64, 8, 16), (1, 1, 1), (5, 1, 4), (7, 8, 1), (12, 3, 4), (64, 1, 16)]
    got = compute("(shapes) => shapes.map(s => Course.ownership(...s))", [list(s) for s in shapes])

    def mark(block: int, thread: int, size: int, n: int, out: list[float | None]) -> None:
        i = block * size + thread
        if i < n:
            out[i] = 1.0

    for (n, blocks, threads), found in zip(shapes, got, strict=True):
        out: list[float | None] = [None] * n
        launch(mark, blocks, threads, threads, n, out)
        owned = sum(v is not None for v in out)
        wanted = {"threads": blocks * threads, "owned": owned, "idle": blocks * threads - owned}
        assert found == wanted | {"missed": n - owned, "needed": -(-n // threads)}


@pytest.mark.thorough
def test_fusing_moves_the_same_bytes_in_the_same_time(compute: Any):
    draw = random.Random(7)
    cards = explorers.cards(ROOT)
    cases = []
    for program, operations in enumerate(fusion.PROGRAMS.values()):
        for _ in range(8):
            cuts = [k for k in range(len(operations) - 1) if draw.random() < 0.5]
            cases.append((program, cuts, draw.choice([4096, 12345]) * 4, draw.randrange(len(cards))))
    got = compute(
        """(cases) => {
          const data = JSON.parse(document.querySelector("[data-explorer=fusion] script").textContent);
          return cases.map(([p, cuts, matrix, card]) => {
            const plan = Course.kernels(data.programs[p], cuts, {"": matrix, x: matrix, bias: 256});
            return [plan.map(k => [k.first, k.last, k.read, k.written]), data.cards[card].name, Course.seconds(plan, data.cards[card])];
          });
        }""",
        [list(c) for c in cases],
    )
    by_name = {c["name"]: c for c in cards}
    for (program, cuts, matrix, _), (plan, name, seconds) in zip(cases, got, strict=True):
        wanted = fusion.kernels(
            list(fusion.PROGRAMS.values())[program], set(cuts), {"": matrix, "x": matrix, "bias": 256}
        )
        assert plan == [[k.first, k.last, k.read, k.written] for k in wanted]
        card = by_name[name]
        assert seconds == pytest.approx(
            fusion.seconds(wanted, card["copy_bytes_per_second"], card["launch_seconds"])
        )


def test_the_strips_busy_time_is_that_of_the_lesson(compute: Any):
    recorded = trace_events.Recorded(trace_events.read(ROOT / "lessons/05_profiling/data/trace.json.gz"))
    first, last = recorded.device[0].start, max(e.end for e in recorded.device)
    got = compute(
        """([from, to]) => {
          const data = JSON.parse(document.querySelector("[data-explorer=trace] script").textContent);
          const device = data.events.filter(e => e[0] === data.lanes.length - 1).map(e => [e[2], e[3]]);
          return Course.busy(device, from, to);
        }""",
        [first, last],
    )
    assert got == pytest.approx(recorded.busy(recorded.device), abs=0.01)


def test_the_index_explorer_by_keyboard_and_mouse(compute: Any, page: Any):  # noqa: F811
    place = page.locator("[data-explorer=index]")
    assert place.locator("img").is_visible(), "the picture teaches, the figure below it is to play with"
    assert "12 threads: 10 own an element, 2 are stopped by the guard; 0 elements" in place.inner_text()
    place.get_by_label("blocks in the grid").focus()
    page.keyboard.press("ArrowLeft")
    assert "8 threads: 8 own an element" in place.inner_text()
    assert "2 elements have no thread" in place.inner_text()
    place.get_by_role("button", name="as many blocks as it takes").click()
    place.locator(".explorer-grid").focus()
    for _ in range(11):
        page.keyboard.press("ArrowRight")
    assert "11 is not below 10: the guard lets it do nothing" in place.inner_text()
    place.get_by_label("guard: if (i < n)").click()
    assert "touches element 11 of 10, which does not exist" in place.inner_text()
    place.locator(".explorer-grid [data-i='5']").click()
    assert "Block 1, thread 1: i = 1 * 4 + 1 = 5. It owns element 5." in place.inner_text()


def test_the_coalescing_explorer(compute: Any, page: Any):  # noqa: F811
    place = page.locator("[data-explorer=coalescing]")
    assert "1 request, 4 sectors: 128 bytes fetched, 128 of them used (100 %)" in place.inner_text()
    place.get_by_role("textbox").fill("8 * t")
    assert "32 sectors: 1024 bytes fetched, 128 of them used (13 %)" in place.inner_text()
    assert place.locator(".sector").count() == 32
    place.get_by_role("textbox").fill("8 * ")
    assert "This is no index yet" in place.inner_text()
    place.get_by_role("button", name="Take the index t / 2").click()
    assert "2 sectors: 64 bytes fetched" in place.inner_text()
    place.get_by_label("element").select_option("16")
    assert "8 sectors: 256 bytes fetched" in place.inner_text()


@pytest.mark.thorough
def test_the_fusion_explorer(compute: Any, page: Any):  # noqa: F811
    place = page.locator("[data-explorer=fusion]")
    assert "134.25 MB moved by 2 kernels" in place.inner_text()
    assert "with a kernel for each operation" in place.inner_text(), "it is compared with nothing else"
    join = place.get_by_role("button", name="Fuse + bias with relu")
    join.focus()
    page.keyboard.press("Enter")
    assert join.get_attribute("aria-pressed") == "true"
    assert "67.14 MB moved by 1 kernel" in place.inner_text()
    assert "times as fast as a kernel for each operation" in place.inner_text()
    assert "A prediction from bytes, never a measurement" in place.inner_text()
    assert "H200" in place.get_by_label("GPU card").locator("option").first.inner_text(), "as in the lessons"
    for card in explorers.cards(ROOT):
        assert card["name"] in place.get_by_label("GPU card").inner_text()
    alone = place.locator(".explorer-sum").inner_text()
    place.get_by_label("with the matrix product").click()
    assert place.locator(".explorer-sum").inner_text() != alone


@pytest.mark.slow
def test_the_trace_strip(compute: Any, page: Any):  # noqa: F811
    place = page.locator("[data-explorer=trace]")
    whole = place.locator(".explorer-sum").inner_text()
    strip = place.locator(".explorer-strip")
    strip.focus()
    page.keyboard.press("n")
    assert "xmma_gemm" in place.locator(".explorer-one").inner_text()
    page.keyboard.press("+")
    assert place.locator(".explorer-sum").inner_text() != whole
    page.keyboard.press("Home")
    assert place.locator(".explorer-sum").inner_text() == whole
    place.get_by_role("button", name="Next event").click()
    assert "elementwise_kernel" in place.locator(".explorer-one").inner_text()
    strip.locator(".event.lane-0").first.click()
    assert "load batch" in place.locator(".explorer-one").inner_text()


@pytest.mark.slow
def test_every_lane_of_the_trace_is_reached_by_key(compute: Any, page: Any):  # noqa: F811
    place = page.locator("[data-explorer=trace]")
    place.locator(".explorer-strip").focus()
    seen = set()
    for key in ("ArrowDown", *["ArrowUp"] * 4):
        page.keyboard.press(key)
        seen.add(place.locator(".explorer-one").inner_text().split(":")[0])
    assert seen == set(explorers.LANES)


@pytest.mark.slow
def test_an_index_is_written_as_in_a_kernel(compute: Any, page: Any):  # noqa: F811
    place = page.locator("[data-explorer=coalescing]")
    for text, said in (
        ("8 * threadIdx.x", "32 sectors"),
        ("i + 1", "5 sectors"),
        ("-t", "in front of x"),
        ("t << 40", "cannot be shifted"),
        ("8 * tid", "not understood: tid."),
    ):
        place.get_by_role("textbox").fill(text)
        assert said in place.locator(".explorer-sum").inner_text(), text


def test_the_bits_of_pi_are_those_that_its_halves_hold():
    high, low = bits.halves(3.1415927410125732)
    assert (high, low) == (3.140625, 1.982421875)
    assert bits.bits(3.1415927410125732, 24) == "110010010000111111011011"
    assert (bits.bits(high, 11), bits.bits(low, 11)) == ("11001001000", "11111101110")
    assert bits.bits(1.0, 4) == "1000"
