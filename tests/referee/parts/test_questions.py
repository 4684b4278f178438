"""Answers to another question than the one that was asked: the trace tells what they are."""

from pathlib import Path

import pytest

from grader.domain.lessons import find
from grader.referee.parts import questions
from tests.referee.parts.asking import grade

TRACE = find("05").folder / "data" / "trace.json.gz"


def answered(folder: Path, key: str, value: object) -> tuple[str, dict[str, object]]:
    """What is said of an answer of Ada's, and the finding's evidence."""
    quiz = questions.Quiz(str(TRACE))
    text = f"STUDENT = 'Ada'\nANSWERS = {{{key!r}: {value!r}}}\n"
    finding = next(f for f in grade(folder, text, quiz, entry="ANSWERS").findings if f.id == key)
    return finding.message, dict(finding.evidence)


@pytest.mark.slow(cases=1000)
@pytest.mark.parametrize(
    ("key", "other", "says"),
    [
        ("rest", lambda right: 100 - right["rest"], "100 minus that"),
        ("idle", lambda right: 100 - right["idle"], "how long the GPU was busy"),
        ("last", lambda right: right["longest"], "the longest kernel; it is not the last"),
        ("rest", lambda right: right["longest"], "Which events of the trace"),
        ("host", lambda _: 2735.2, "the time of the region's kernels on the device"),
        ("host", lambda _: 2694.5, "the region's longest kernel, on the device"),
        ("host", lambda _: 204.3, "the answer for ProfilerStep#5, 'eager model', and asked for is"),
        ("idle", lambda _: 1.809, "the answer for ProfilerStep#5, and asked for is ProfilerStep#4."),
        ("kernels", lambda _: 32, "all kernels of the trace"),
        ("kernels", lambda _: 8, "launched by itself"),
        ("last", lambda _: 17, "Which events of the trace"),
        ("last", lambda _: 15.424, "the answer for ProfilerStep#6, 'fused model', and asked for is"),
        ("delay", lambda _: 590.4, "counted from the start of 'eager model'"),
        ("copy", lambda _: 2304.4, "how long the host took for cudaMemcpyAsync"),
        ("copy", lambda right: right["copy"] * 1e9 / 2**30, "GiB, where GB"),
        ("threads", lambda right: right["threads"] / 1e6, "near 2. Between thousands"),
        ("copy", lambda right: right["copy"] * 1e9, "(10^9) times too large: look at the unit"),
    ],
)
def test_what_was_answered_is_named(key, other, says, tmp_path: Path) -> None:
    right = {one.key: float(one.answer) for one in questions.questions(TRACE, "Ada")}
    message, _ = answered(tmp_path, key, round(other(right), 6 if key == "threads" else 2))
    assert says in message


@pytest.mark.slow
def test_a_sheet_that_another_name_answered_is_told(tmp_path: Path) -> None:
    sheet = {one.key: one.answer for one in questions.questions(TRACE, "Ada")}

    def told(student: str, **other: object) -> set[bool]:
        text = f"STUDENT = {student!r}\nANSWERS = {sheet | other!r}\n"
        found = grade(tmp_path, text, questions.Quiz(str(TRACE)), entry="ANSWERS").findings
        return {"Line 1, STUDENT, decides" in f.message for f in found if not f.ok}

    assert told("Ada Lovelace") == {True}
    # One step that was mistaken, also beside a slip of another kind, has nothing to do with the name.
    assert told("Ada", host=204.3) == {False}
    assert told("Ada", host=204.3, longest=2.6956) == {False}
    assert told("Ada", host=204.3, kernels="24") == {False}


@pytest.mark.slow
def test_an_answer_under_a_misspelt_key_is_found(tmp_path: Path) -> None:
    quiz = questions.Quiz(str(TRACE))
    text = "STUDENT = 'Ada'\nANSWERS = {\n    'in-region': 2,\n    'Kernels': 24,\n}\n"
    said = {f.id: f.message for f in grade(tmp_path, text, quiz, entry="ANSWERS").findings}
    assert said["in_region"].startswith("Line 3: no question is called 'in-region': is 'in_region' meant?")
    assert said["kernels"].startswith("Line 4: no question is called 'Kernels': is 'kernels' meant?")
    assert "Not answered yet" in said["longest"]


@pytest.mark.slow
def test_nothing_is_looked_for_where_an_answer_is_no_number(tmp_path: Path) -> None:
    message, evidence = answered(tmp_path, "host", "216.7 us")
    assert "without quotes" in message and evidence["known"] is True
    message, evidence = answered(tmp_path, "host", [216.7])
    assert "is a list; write the number alone" in message and evidence["known"] is True


def test_the_questions_are_nobodys_without_a_name() -> None:
    assert "Put your name" in questions.sheet(TRACE, " ")
    assert len(questions.sheet(TRACE, "Ada").splitlines()) == 10


@pytest.mark.parametrize(
    ("student", "says"),
    [
        (42, 'STUDENT is a number here; write it as text: `STUDENT = "42"`.'),
        (["Ada"], "STUDENT is no text here"),
        (None, "Put your name"),
    ],
)
def test_a_name_that_is_no_text_is_told_in_both_places(student: object, says: str, tmp_path: Path) -> None:
    assert questions.sheet(TRACE, student).startswith(says)
    quiz = questions.Quiz(str(TRACE))
    found = grade(tmp_path, f"STUDENT = {student!r}\nANSWERS = {{}}\n", quiz, entry="ANSWERS").findings
    assert [f.message.startswith(f"Line 1: {says}") for f in found if f.id in quiz.keys] == [True] * 10


@pytest.mark.parametrize("student", ["Ada", "Grace", "Kurt"])
def test_each_question_has_mistakes_that_are_told_in_whole_sentences(student: str) -> None:
    for one in questions.questions(TRACE, student):
        assert len(one.mistaken) >= 2 and all(words.startswith(" ") for words in one.mistaken.values())
        assert all(words.endswith(".") for words in one.mistaken.values())
