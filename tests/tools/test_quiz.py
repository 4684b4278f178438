"""A quiz has a right answer, explains all of them, and needs no JavaScript."""

import dataclasses
from itertools import pairwise

import pytest

from grader.domain.lessons import every
from tools import quiz
from tools.quiz import Question

ONE = Question("Is `a < b` *true*?", (("Yes", "It is."), ("No", "It is not.")), 0)
TWO = Question("And now?", (("Yes", "It is."), ("No", "It is not.")), 1)
GOOD = [ONE, TWO, ONE]


@pytest.mark.parametrize("lesson", every(), ids=lambda x: x.name)
def test_every_lesson_has_one(lesson) -> None:
    assert not list(quiz.problems(quiz.read(lesson.folder / "quiz.toml")))


@pytest.mark.parametrize(
    ("questions", "says"),
    [
        (GOOD, ""),
        (GOOD[:2], "has 2 questions"),
        (GOOD * 2, "has 6 questions"),
        ([ONE, ONE, ONE], "always at the same place"),
        ([*GOOD, dataclasses.replace(ONE, ask="A statement.")], "no question"),
        ([*GOOD, dataclasses.replace(ONE, right=2)], "no answer is right"),
        ([*GOOD, dataclasses.replace(ONE, answers=(("Yes", "It is."), ("No", "")))], "not explained"),
        ([*GOOD, dataclasses.replace(ONE, answers=(("Yes", "It is."), ("Yes", "So.")))], "different answers"),
    ],
)
def test_what_is_wrong_is_named(questions: list[Question], says: str) -> None:
    found = list(quiz.problems(questions))
    assert len(found) == bool(says) and all(says in sentence for sentence in found)


def test_a_section_is_inputs_with_labels_and_no_script() -> None:
    page = quiz.section(GOOD, "03")
    assert page.count("<fieldset") == page.count("<legend>") == 3 and "<script" not in page
    assert page.count('type="radio"') == page.count("<label for=") == 6
    assert "<code>a &lt; b</code> <em>true</em>" in page
    assert page.count('class="right"') == 3 and 'name="quiz-03-1"' in page


def test_stars_in_code_are_stars() -> None:
    asked = Question("Is `f(*a)` as *good* as `g(*b_c_)`?", (("yes", "Yes."), ("no", "No.")), 0)
    page = quiz.section([asked], "07")
    assert "<em>good</em>" in page and page.count("<em>") == 1
    assert "<code>f(&#42;a)</code>" in page and "<code>g(&#42;b&#95;c&#95;)</code>" in page


def test_the_places_of_one_lesson_tell_nothing_about_the_next() -> None:
    places = [tuple(q.right for q in quiz.read(one.folder / "quiz.toml"))[:3] for one in every()]
    assert all(one != following for one, following in pairwise(places)), places
    assert len(set(places)) > len(places) / 2, places
