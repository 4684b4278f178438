"""What counts as another verdict, and what is only drawn anew."""

from __future__ import annotations

from grader.domain.verdict import Finding, Status, Verdict
from tools.verdicts import differences, steady


def verdict(message: str, points: int = 2, **evidence: object) -> Verdict:
    found = Finding("square", Status.WRONG_OUTPUT, message, points, 3, evidence)
    return Verdict("03", "mine.py", "simt", "a CPU", (found,), 1.0)


def test_numbers_that_were_drawn_and_folders_are_no_difference() -> None:
    one = steady(verdict("Element [3] is 1.5e-3 in /tmp/a/mine.py.", worst=1.0))
    other = steady(verdict("Element [12] is -7 in /home/b/mine.py.", worst=2.0))
    assert list(differences({"a": one}, {"a": other})) == []


def test_points_words_and_kinds_of_evidence_are() -> None:
    one = steady(verdict("The last column is wrong.", worst=1.0))
    for other in (
        verdict("The last column is wrong.", 1, worst=1.0),
        verdict("The first column is wrong.", worst=1.0),
        verdict("The last column is wrong.", line=3),
    ):
        assert len(list(differences({"a": one}, {"a": steady(other)}))) >= 1
    assert list(differences({"a": one}, {}))
