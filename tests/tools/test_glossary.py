"""Every word that a lesson introduces is explained once, on a page and as a tooltip."""

from pathlib import Path

from grader.domain.task import Task
from tools import glossary, page_sources
from tools.glossary import Glossary

ROOT = Path(__file__).resolve().parents[2]
TASKS = {"02_x": Task("X", "x", introduces=("grid",), terms=("guard",))}


def test_the_courses_glossary_is_whole() -> None:
    assert not list(glossary.read(ROOT).problems(page_sources.tasks(ROOT)))


def test_disorder_is_named() -> None:
    whole = Glossary({"grid": "All blocks.", "guard": "A condition."}, {"guard": ["guard", "guards"]})
    assert not list(whole.problems(TASKS))
    broken = Glossary({"grid": "All blocks"}, {"guard": ["guard"], "grid": ["guard"]})
    said = " ".join(broken.problems(TASKS))
    for part in (
        "introduces 'guard' does not explain it",
        "for 'guard', but no",
        "one form to two",
        "'grid' is not a plain",
    ):
        assert part in said


def test_the_page_links_the_lesson_and_tooltips_are_abbreviations() -> None:
    made = Glossary({"guard": "A condition.", "Grid": "All blocks."}, {"guard": ["guard", "guards"]})
    page = made.page(TASKS)
    assert page.index("## G {#g}") < page.index("### Grid {#term-grid}\n\nAll blocks.")
    assert "### guard {#term-guard}\n\nA condition. [Lesson 02](../lessons/02_x/" in page
    assert made.tooltips() == "\n\n*[guard]: A condition.\n*[guards]: A condition.\n"
