"""What a worker answers, as it is kept."""

from __future__ import annotations

from dataclasses import replace

from grader.domain import lessons
from grader.domain.verdict import Status
from grader.teaching.batch import batch_work


def test_a_verdict_names_the_students_own_file() -> None:
    verdict = batch_work.ungraded(lessons.find("03"), "simt", "submission.py, line 34: resubmission.pyc")
    (first, *rest) = verdict.findings
    seen = {"file": "submission.py", "lines": ["submission.py:3", 3]}
    verdict = replace(verdict, findings=(replace(first, evidence=seen), *rest))
    own = batch_work.called(verdict, r"ann\1 (2).py")
    assert own.submission == r"ann\1 (2).py" and own.status is Status.NOT_GRADABLE
    assert own.findings[0].message == r"ann\1 (2).py, line 34: resubmission.pyc"
    assert own.findings[0].evidence == {"file": r"ann\1 (2).py", "lines": [r"ann\1 (2).py:3", 3]}
    assert own.points == verdict.points and len(own.findings) == len(verdict.findings)
