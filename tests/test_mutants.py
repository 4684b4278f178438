"""Mutants fit the solutions; `course dev check` grades them all, here one of each kind goes through it."""

from dataclasses import replace

import pytest

from grader.domain.lessons import Lesson, every, find
from tools import lesson_check, mutants
from tools.mutants import EditError, Mutant


@pytest.mark.parametrize("lesson", every(), ids=lambda x: x.name)
def test_each_lesson_has_its_mutants_and_they_fit_the_solution(lesson: Lesson) -> None:
    assert not list(mutants.problems(lesson))


def test_a_mutant_is_what_it_says() -> None:
    lesson = find("03")
    (mutant,) = (m for m in mutants.declared(lesson) if m.name == "no guard")
    text = mutant.text(lesson.solution.read_text())
    assert "return;" not in text.split("// region: host")[0].split("solution: begin")[1]
    (two,) = (m for m in mutants.declared(lesson) if m.name == "half inside")
    text = two.text(lesson.solution.read_text())
    assert "__hmul" in text and "#include <cuda_fp16.h>" in text


def test_edits_that_fit_nowhere_or_twice_are_refused() -> None:
    for find_, count in (("nowhere", 0), ("a", 2)):
        with pytest.raises(EditError, match=f"occurs {count} times"):
            Mutant("m", ((find_, "x"),)).text("a b a")


def edited(find_: str, replace: str, fails: tuple[str, ...] = (), right: bool = False) -> list[str]:
    """What the check says of an edit of lesson 02's solution, which needs no compiler."""
    return lesson_check.version(find("02"), Mutant("m", ((find_, replace),), frozenset(fails), right))


def test_a_mutant_that_passes_or_fails_elsewhere_is_named() -> None:
    assert edited("    if i < n:\n", "    if i <= n - 1:\n") == ["mutant 'm' passes."]
    assert (
        "mutant 'm' fails ['one element', 'ragged'], not ['scale']"
        in edited("    if i < n:\n", "    if True:\n", ("scale",))[0]
    )
    assert not edited("    if i < n:\n", "    if True:\n", ("one element", "ragged"))
    assert not edited("    if i < n:\n", "    if True:\n")
    some = Mutant(
        "m", (("    if i < n:\n", "    if True:\n"),), frozenset({"ragged"}), may=frozenset({"one element"})
    )
    assert not lesson_check.version(find("02"), some)
    assert lesson_check.version(find("02"), replace(some, may=frozenset({"scale"})))
    assert lesson_check.version(find("02"), replace(some, fails=frozenset({"ragged", "scale"})))
    assert not edited("    if i < n:\n", "    if i <= n - 1:\n", right=True)
    assert "the right version 'm'" in edited("    if i < n:\n", "    if True:\n", right=True)[0]
    assert (
        "is no program"
        in edited("from grader.lesson_support.grid import each, launch", "import nothing_of_the_kind")[0]
    )
