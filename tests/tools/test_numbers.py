"""Numbers of pages come from results, from the page's own code, or are declared."""

import json
from pathlib import Path

import pytest

from grader.domain.lessons import course_root
from tools import measured, numbers
from tools.measured import microseconds

DATA = {
    "values": {"copy": "20.3 us"},
    "tables": {
        "model": {
            "columns": ["version", "time", "against eager", "error"],
            "ratio_decimals": 2,
            "rows": [["eager", 100.0, "1e-7"], ["fused", [40, 50], "2e-7"]],
        },
        "plain": {"columns": ["kernel", "time"], "rows": [["a", None], ["b", 7.2]]},
    },
}


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, known in DATA.items():
        monkeypatch.setattr(measured, name, lambda root, known=known: known)
    return tmp_path


def test_tables_and_values_are_filled_in_and_ratios_computed(root: Path) -> None:
    page = "a <!-- = copy -->old<!-- /= --> b\n<!-- table: model -->\nold\n<!-- /table -->\n"
    page += "<!-- table: plain -->\n<!-- /table -->\n"
    made = numbers.filled(page, root)
    assert "a <!-- = copy -->20.3 us<!-- /= --> b\n" in made and "old" not in made
    assert "| eager | 100.0 us | 1.00 | 1e-7 |\n" in made
    assert "| fused | 40 to 50 us | 2.00 to 2.50 | 2e-7 |\n" in made
    assert "| a | |\n| b | 7.2 us |\n" in made
    assert numbers.filled(made, root) == made
    assert not list(numbers.problems(made))


def test_code_does_not_repeat_what_was_measured(root: Path) -> None:
    page = "```python\ntotal, other = {}, 64\n```\n"
    assert not list(numbers.repeated(page.format("microseconds('model', 'eager')"), root))
    assert "repeats the measured 100.0" in next(numbers.repeated(page.format("100.0"), root))


def test_measured_times_are_those_of_the_tables() -> None:
    times = json.loads((course_root() / measured.SOURCE).read_text("utf-8"))["times"]
    for table in ("elementwise-07", "model-08", "model-13"):
        assert abs(microseconds(table, "eager") - times[table]["eager"]["median_us"]) <= 0.5
    row = next(r for r in measured.tables(course_root())["model-13"]["rows"] if "split" in r[0])
    assert abs(row[1] - times["model-13"]["split"]["median_us"]) <= 0.5 and row[2].endswith("e-8")
    with pytest.raises(KeyError, match="no row that begins with 'nothing'"):
        microseconds("model-07", "nothing")


def test_tables_are_made_of_what_benchmarks_wrote() -> None:
    sizes = json.loads((course_root() / measured.RESULTS / "block_sizes.json").read_text("utf-8"))["times"]
    rows = measured.tables(course_root())["block-sizes-11"]["rows"]
    assert [row[0] for row in rows] == list(sizes["cuda"])
    assert abs(rows[0][1] - sizes["cuda"][rows[0][0]]["median_us"]) < 0.06
    calls = json.loads((course_root() / measured.RESULTS / "gemm_epilogue.json").read_text("utf-8"))["calls"]
    own = calls["lesson 12"]["microseconds"]["median"]
    assert abs(microseconds("library-12", "the kernel of this lesson") - own) <= 0.5


def test_a_page_without_them_needs_no_results(tmp_path: Path) -> None:
    assert numbers.filled("text\n", tmp_path) == "text\n"


def test_what_the_results_do_not_have_is_named(root: Path) -> None:
    with pytest.raises(numbers.UnknownNumberError, match="has no nothing"):
        numbers.filled("<!-- = nothing --><!-- /= -->", root)


@pytest.mark.parametrize(
    ("page", "named"),
    [
        ("It takes 31 us.", "31 us"),
        ("It reaches 75 % of it.", "75 %"),
        ("A relative error of 3.2e-6.", "3.2e-6"),
        ("<!-- given: 30 us -->\nIt takes 31 us.", "31 us"),
        ("It takes 31 us.\n\n```text\n31 us\n```\n", ""),
        ("It takes 1,031 us.\n\n```python\nx = 1031\n```\n", ""),
        ("It prints `31.0 us`. So 31.0 us it is.", ""),
        ("<!-- given: 31 us, 4.8 TB/s -->\nIt takes 31 us at 4.8 TB/s.", ""),
        ("Sizes of 31 elements and lesson 07.", ""),
        ("It compiles for 13.5 s.", "13.5 s"),
        ("It moves 134 MB.", "134 MB"),
        ("It is 2 times as fast.", "2 times"),
        ("A ratio of 2.30 is.", "2.30"),
        ("<!-- given: 65,535 -->\nIt has 65,535 blocks, and 32,768 requests.", "32,768"),
        ("With torch 2.11 and `2.0f` and [a link](x/2.5).", ""),
    ],
)
def test_a_number_from_nowhere_is_named(page: str, named: str) -> None:
    found = list(numbers.problems(page))
    assert bool(found) == bool(named) and all(named in sentence for sentence in found)


def test_a_page_of_the_site_has_no_marks_of_values() -> None:
    assert numbers.unmarked("<!-- = copy -->18.8 us<!-- /= --> a copy.\n") == "18.8 us a copy.\n"
    assert numbers.unmarked("<!-- table: x -->\n") == "<!-- table: x -->\n"
