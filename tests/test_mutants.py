"""Every mutant of a lesson's solution fails, every unusual but right variant gets full marks."""

import os
import re
from pathlib import Path

import pytest

from grader.backend import Choice
from grader.check import Job, check, warm
from grader.cuda.cache import cache_folder
from grader.lessons import find
from grader.referee.process import Limits
from grader.submission import read
from grader.verdict import Status, Verdict
from tests.bank import BANKS, Bank

pytestmark = pytest.mark.thorough
MUTANTS = [(bank, name) for bank in BANKS.values() for name in bank.mutants]
NOT_A_KILL = {Status.COMPILE_ERROR, Status.NOT_GRADABLE, Status.IMPORT_ERROR}
VARIANTS = [(bank, name) for bank in BANKS.values() for name in bank.variants]


def _name(value: object) -> str:
    return value.lesson if isinstance(value, Bank) else re.sub(r"\W+", "_", str(value))


def grade(bank: Bank, name: str) -> Verdict:
    lesson = find(bank.lesson)
    desk = cache_folder() / "mutants" / os.environ.get("PYTEST_XDIST_WORKER", "0") / bank.lesson
    desk.mkdir(parents=True, exist_ok=True)
    file, choice = read(bank.write(name, desk)), Choice("simt", "test")
    job = Job(lesson.name, lesson.task, lesson.reference, file, choice, Limits(call=10.0))
    return check(warm(job)).verdict


@pytest.mark.slow
@pytest.mark.parametrize("bank, name", MUTANTS, ids=_name)
def test_a_mutant_is_killed(bank: Bank, name: str) -> None:
    verdict = grade(bank, name)
    assert not verdict.ok and verdict.points < verdict.max_points
    # It is killed for what it does, not because it is no longer a program.
    assert not {f.status for f in verdict.findings} & NOT_A_KILL, verdict.findings


@pytest.mark.slow
@pytest.mark.parametrize("bank, name", VARIANTS, ids=_name)
def test_a_right_variant_passes(bank: Bank, name: str) -> None:
    verdict = grade(bank, name)
    assert verdict.ok and verdict.points == verdict.max_points, [f for f in verdict.findings if not f.ok]


@pytest.mark.parametrize("lesson", BANKS)
def test_each_bank_is_large_and_its_edits_fit_the_solution(lesson: str) -> None:
    bank = BANKS[lesson]
    assert len(bank.mutants) >= 12 and len(bank.variants) >= 2
    texts = [bank.text(name) for name in (*bank.mutants, *bank.variants)]
    assert len({*texts, find(lesson).solution.read_text()}) == len(texts) + 1


def test_a_mutant_file_is_what_it_says(tmp_path: Path) -> None:
    path = BANKS["03"].write("no guard", tmp_path)
    assert "return;" not in path.read_text().split("// region: host")[0].split("solution: begin")[1]
