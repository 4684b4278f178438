"""A part asks the submission for plain data; what comes back is a claim, whatever it is."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from grader.domain.verdict import Finding, Status
from grader.referee.fault import FaultError
from grader.referee.parts import Check, PartSession
from tests.referee.parts.asking import grade


@dataclass(frozen=True, slots=True)
class Doubles:
    """The entry doubles a number."""

    checks = (
        Check("doubles", 3, "Twice the number."),
        Check("constant", 1, "A name that is not a function."),
    )

    def judge(self, session: PartSession) -> Iterator[Finding]:
        one, two = self.checks
        number = int(session.rng.integers(1000))
        try:
            said = session.command("plain", entry="mine", args=[number])["value"]
            right = said == 2 * number
            yield one.passed() if right else one.failed(Status.WRONG_OUTPUT, f"It says {said}.")
        except FaultError as fault:
            yield session.fallen(one, fault)
        try:
            said = session.command("plain", entry="LIMIT")["value"]
            yield (
                two.passed() if said == [1, 2.5, "inf", {"a": None}] else two.failed(Status.FAILED, f"{said}")
            )
        except FaultError as fault:
            yield session.fallen(two, fault)


LIMIT = "LIMIT = (1, 2.5, float('inf'), {'a': None})\n"


def test_right_answers_get_points(tmp_path: Path) -> None:
    verdict = grade(tmp_path, LIMIT + "def mine(x):\n    return 2 * x\n", Doubles())
    assert verdict.ok and verdict.points == verdict.max_points == 4, verdict.findings


@pytest.mark.slow
def test_wrong_missing_and_dying_answers_are_findings(tmp_path: Path) -> None:
    verdict = grade(tmp_path, "def mine(x):\n    return x\n", Doubles())
    assert [f.status for f in verdict.findings] == [Status.PASSED, Status.WRONG_OUTPUT, Status.MISSING_ENTRY]
    verdict = grade(tmp_path, LIMIT + "import os\ndef mine(x):\n    os._exit(3)\n", Doubles())
    assert [f.status for f in verdict.findings[1:]] == [Status.EXITED_EARLY, Status.PASSED]
    verdict = grade(tmp_path, "def mine(x):\n    return object()\n", Doubles())
    assert verdict.points == 0


@pytest.mark.slow
def test_a_file_that_does_not_load_has_all_its_findings(tmp_path: Path) -> None:
    for text in ("1 / 0\n", "def mine(:\n"):
        verdict = grade(tmp_path, text, Doubles())
        assert [f.status for f in verdict.findings[1:]] == [Status.NOT_RUN] * 2
        assert verdict.max_points == 4 and verdict.points == 0
