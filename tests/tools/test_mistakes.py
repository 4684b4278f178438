"""The bank of beginners' mistakes: its form, and what counts as named."""

import pytest

from grader.domain.lessons import Lesson, every, find
from tools import mistakes
from tools.mistakes import Mistake, weigh
from tools.mutants import EditError


@pytest.mark.parametrize("lesson", every(), ids=lambda x: x.name)
def test_each_lesson_has_its_mistakes_and_they_fit_its_files(lesson: Lesson) -> None:
    assert not list(mistakes.problems(lesson))


MISTAKE = Mistake("m", (("a", "b"),), "b", ("guard",), ("no thread wrote",))


@pytest.mark.parametrize(
    ("said", "line", "cause"),
    [
        ("exercise.py, line 12: the guard is missing.", True, True),
        ("line 121: the Guard is missing.", False, True),
        ("line 12: something is wrong.", True, False),
        ("line 12: the guard; no thread wrote it", True, False),
        ("line 12: the guard of _Z6squarePKf", True, False),
        ("", False, False),
    ],
)
def test_line_and_cause_count_only_where_nothing_false_is_said(said: str, line: bool, cause: bool) -> None:
    told = weigh(MISTAKE, 12, said)
    assert (told.line, told.cause) == (line, cause)
    assert bool(told.problems) != (line and cause)


def test_the_students_own_line_is_not_held_against_the_panel() -> None:
    said = "line 12: the guard: run(s ())"
    assert weigh(MISTAKE, 12, said, "  run(s ())").both
    assert not weigh(MISTAKE, 12, said).both


def test_a_mistake_without_a_line_never_counts_as_named() -> None:
    assert not weigh(Mistake("m", (), "", ("guard",)), 0, "line 3: guard").both


def test_a_line_is_found_by_a_text_that_is_there_once_and_may_begin_before_it() -> None:
    assert MISTAKE.number("a\n b") == 2
    assert Mistake("m", (), "x\n b", ()).number("a\n b\nx\n b\n") == 4
    with pytest.raises(EditError, match="2 times"):
        MISTAKE.number("b\nb\n")
    with pytest.raises(EditError, match="0 times"):
        MISTAKE.number("a\n")


def test_the_panel_is_what_a_student_reads() -> None:
    lesson = find("02")  # needs no compiler
    (guard,) = (m for m in mistakes.declared(lesson) if m.name == "no guard")
    told = mistakes.judge(lesson, guard)
    assert told.cause and "│" not in told.panel
