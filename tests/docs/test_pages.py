"""Generated pages, and the published form of a verdict."""

from __future__ import annotations

import json
import re
from types import SimpleNamespace

import jsonschema
import pytest

from grader.cli import verb_groups
from grader.domain.task import Task
from grader.domain.verdict import SCHEMA, Finding, Status, Verdict
from grader.feedback.explain.rules import RULES
from tests.docs.conftest import ROOT
from tools import error_page, lookup, page_sources, results_known, results_page, results_table

TASK = Task("A title", "f", (), introduces=("guard",), requires=("kernel", "a <tag>"), minutes=25)
SCHEMA_JSON = json.loads(page_sources.SCHEMA.read_text("utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA_JSON)


def verdict(**changes: object) -> dict:
    made = Verdict("03_square_kernel", "x.py", "simt", "CPU", (Finding("load", Status.PASSED),), 1.25)
    return made.as_json() | changes


def test_the_schema_is_a_schema_and_knows_every_status():
    VALIDATOR.check_schema(SCHEMA_JSON)
    assert SCHEMA_JSON["$defs"]["status"]["enum"] == [str(s) for s in Status]
    assert SCHEMA_JSON["$id"] == SCHEMA_JSON["properties"]["schema"]["const"] == SCHEMA


@pytest.mark.parametrize("given", [page_sources.EXAMPLE.as_json(), verdict()])
def test_verdicts_are_valid(given: dict):
    VALIDATOR.validate(given)
    assert set(given) == set(SCHEMA_JSON["required"])


def test_speeds_are_valid():
    spread = {"median": 1e-5, "p10": 9e-6, "p90": 1.2e-5, "n": 40}
    measured = {"kind": "measured", "device": "a GPU", "method": "events", "seconds": spread}
    measured |= {"eager_seconds": spread, "whole_ratio": 1.01, "interval": [1.0, 1.02], "outcome": "same"}
    beside = {"seconds": spread, "ratio": 1.0, "interval": [0.99, 1.01], "outcome": "same"}
    measured |= {"rounds": 8, "compared": 320, "clocks_apart": 1e-7, "baselines": {"compile": beside}}
    measured |= {"machine": {}}
    for speed in (measured, {"kind": "none", "why": "no card"}, None):
        assert not list(VALIDATOR.iter_errors(verdict(speed=speed)))


@pytest.mark.parametrize(
    "wrong",
    [
        {"extra": 1},
        {"status": "splendid"},
        {"points": -1},
        {"points": 1.5},
        {"schema": "inline-to-fused/verdict/v2"},
        {"backend": "abacus"},
        {"speed": {"kind": "felt"}},
        {"findings": [{"id": "load"}]},
    ],
)
def test_what_is_no_verdict(wrong: dict):
    assert not VALIDATOR.is_valid(verdict(**wrong))


def test_a_lesson_gets_its_facts_below_the_title():
    page = page_sources.lesson("# My kernel\n\nText.\n", TASK)
    assert page.startswith("# My kernel\n\nAbout 25 minutes, 0 points. New: guard. You need: kernel, ")
    linked = page_sources.lesson(
        "# My kernel\n", TASK, links={"guard": "../../reference/glossary.md#term-guard"}
    )
    assert "New: [guard](../../reference/glossary.md#term-guard)." in linked
    assert "a &lt;tag&gt;" in page
    assert page.endswith("\nText.\n")


def test_what_only_github_understands_is_put_right():
    text = "# T\n\n[x](../../docs/guide/simt.md)\n\n<details>\n<summary>s</summary>\n\n**b**\n\n</details>\n"
    page = page_sources.lesson(text, TASK)
    assert "[x](../../guide/simt.md)" in page
    assert '<details markdown="1">' in page


def test_the_status_page_has_a_row_each():
    assert page_sources.statuses().count("\n| `") == len(Status)


def test_hints_open_one_at_a_time_below_their_todo():
    text = "# Hints\n\n## TODO 2: the guard\n\n### Idea\n\nThink.\n\n### Shape\n\n```text\nif (x)\n```\n"
    page = page_sources.hints(text)
    assert page.count("<details") == page.count("</details>") == 2
    assert page.index("## TODO 2: the guard") < page.index("Think.") < page.index("<summary>Shape</summary>")
    assert "### " not in page


def test_hints_lead_to_those_of_the_lessons_beside():
    page = page_sources.hints("# Hints\n", ("02_b", "04_d"))
    last = "[Back to the lesson](README.md) · [hints for lesson 02](../02_b/hints.md) · [hints for lesson 04](../04_d/hints.md)"
    assert page.rstrip().endswith(last)


def test_commands_stand_in_the_groups_of_the_help():
    page = page_sources.cli()
    heads = re.findall(r"^## (.*)", page, flags=re.M)
    assert heads == [*verb_groups.GROUPS, verb_groups.OTHERS]
    for names in verb_groups.GROUPS.values():
        assert all(page.count(f"### `course {name}`\n") == 1 for name in names)
    assert page.index("## Teach\n") < page.index("### `course batch`") < page.index("## Kernels of any")


def test_the_sites_address_is_given_by_the_environment(monkeypatch: pytest.MonkeyPatch):
    hooks = pytest.importorskip("tools.hooks")
    for given, address in (("https://a.org/course", "https://a.org/course/"), ("", None)):
        monkeypatch.setenv("COURSE_SITE", given)
        config = SimpleNamespace(nav=[], site_url=None, extra={}, use_directory_urls=True)
        assert hooks.on_config(config).site_url == address
        lost = hooks.on_post_template("<h1>404 - Not found</h1>", "404.html", config)
        assert f'href="{"/course" if address else ""}/guide/help/"' in lost


def test_the_teachers_note_links_the_slides():
    text = '# T\n\nText.\n\n??? note "Teacher\'s note"\n\n    **Time:** short.\n'
    assert "    **Slides:** [a deck](../../slides/07/index.html)" in page_sources.lesson(
        text, TASK, number="07"
    )
    assert "slides" not in page_sources.lesson(text, TASK)


def test_a_result_says_where_its_numbers_are_from():
    whole = {"machine": {"name": "A GPU"}, "versions": {"torch": "2.11"}, "command": "python x.py"}
    told = results_page.provenance(page_sources.SCHEMA.parents[3], "x.json", {"series": {"one": whole}})
    assert (told["device"], told["versions"], told["command"]) == ("A GPU", "torch 2.11", "python x.py")
    for fact in whole:
        with pytest.raises(
            results_page.ResultError,
            match=f"x.json: {'device' if fact == 'machine' else fact}: a result names",
        ):
            results_page.provenance(
                page_sources.SCHEMA.parents[3], "x.json", {k: v for k, v in whole.items() if k != fact}
            )


def test_each_result_of_races_has_its_own_table_and_picture():
    made = results_page.pages(ROOT)
    for name in ("clocks", "clocks_before", "clocks_one_pair"):
        section = made["results/clocks.md"].split(f"{{#{name}}}")[1].split("\n## ")[0]
        series = json.loads((ROOT / "benchmarks/results" / f"{name}.json").read_text("utf-8"))["series"]
        assert section.count("\n| ") == 1 + len(series) and f"](races_{name}.svg)" in section
        races = next(one["races"] for one in series.values())
        assert f"{len(races)} races of a kernel with itself" in made[f"results/races_{name}.svg"]
        high = float(made[f"results/races_{name}.svg"].split('viewBox="0 0 480 ')[1].split('"')[0])
        assert high < 600, "a picture is seen on one screen"


def test_cells_are_text_and_one_table_answers():
    lines = list(results_table.table(["", "kernel"], [["1", "void product<true>"], ["2", "`a<b>`"]]))
    assert lines[0] == "| name | kernel |" and "void product&lt;true>" in lines[2] and "`a<b>`" in lines[3]
    above, rest = results_table.one([*lines, "![a picture](p.svg)", "", *lines])
    assert above.count(lines[1]) == rest.count(lines[1]) == 1 and "![a picture](p.svg)" in above
    assert results_table.csv(rest).strip().splitlines()[-2:] == ["1,void product<true>", "2,`a<b>`"]


def test_every_rule_of_explain_is_on_the_page_with_its_words():
    page = error_page.page({"03": "03_square_kernel"})
    for rule in RULES:
        assert f"{{#{rule.id}}}" in page, rule.id
    assert "### `Segmentation fault` {#segmentation-fault}" in page
    assert "{name}" not in page and "(?P" not in page


def test_a_fold_says_how_many_tables_it_holds_and_csv_has_no_rule():
    parts = ["| a | b |", "| --- | ---: |", "| 1 | 2 |", "", *results_table.table(["a"], [["1"]])]
    assert "<summary>2 more tables</summary>" in results_table.fold(parts)
    assert "--" not in results_table.csv(parts)
    whole = "| a |\n| --- |\n| 1 |\n"  # a table that comes as one text
    open_, folded = results_table.one(["Words.", "", whole, "### Next", "", whole])
    assert open_.count("| 1 |") == 1 and "<summary>1 more table</summary>" in results_table.fold(folded)


@pytest.mark.parametrize("name", results_known.FIRST)
def test_what_answers_first_stands_before_the_numbers_of_the_file(name: str):
    data = json.loads((ROOT / "benchmarks/results" / name).read_text("utf-8"))
    made = results_page.pages(ROOT)
    (page,) = [text for text in made.values() if f"{{#{name.removesuffix('.json')}}}" in text]
    section = page.split(f"{{#{name.removesuffix('.json')}}}")[1].split("\n## ")[0]
    assert results_known.FIRST[name](ROOT, data).parts[0] in section
    rows = [line for line in section.split("\n") if line.startswith("| ")][1:]
    assert len(rows) > 5 and all("|  |  |" not in row for row in rows), "a table of empty cells"
    assert len(made[f"results/{name.removesuffix('.json')}.csv"]) > 1000


def test_numbers_of_cards_are_numbers_with_units():
    page = lookup.cards(page_sources.SCHEMA.parents[3])
    assert '{"' not in page and '["' not in page
    assert "| clock | 1.98 GHz |" in page and "| matrix product, float16 | 785 TFLOP/s | measured:" in page


def test_numbers_stand_to_the_right_and_names_to_the_left():
    rows = [
        ["03_square_kernel", "2,711.5 us", "2026-11-22", "-1e-05"],
        ["", "72", "2026-11-23", "0.5 to 0.6"],
    ]
    assert list(results_table.table(["lesson", "time", "day", "error"], rows))[1] == "|---|---:|---|---:|"


def test_the_tests_that_the_page_about_the_site_names_are_there():
    named = set(re.findall(r"`(test_\w+)`", (ROOT / "docs/contributing/site.md").read_text("utf-8")))
    there = {
        n
        for p in ROOT.glob("tests/**/test_*.py")
        for n in re.findall(r"^def (test_\w+)", p.read_text("utf-8"), re.M)
    }
    assert len(named) > 20 and named <= there, named - there
