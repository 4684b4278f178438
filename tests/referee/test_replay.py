"""Which launch is recorded, where it was not asked for one."""

from pathlib import Path

import pytest

from grader.backends.detect import Choice
from grader.domain.lessons import find
from grader.domain.options import GradingOptions
from grader.domain.submission import read
from grader.referee.job import lesson_job
from grader.referee.replay import Replay, Wanted

OLD = "    __shared__ float tile[SIZE];\n"


@pytest.mark.thorough
@pytest.mark.slow(cases=1)
@pytest.mark.parametrize("new", ["    float tile[SIZE];\n", OLD])
def test_cases_that_are_played_after_the_first_are_not_in_its_recording(new: str, tmp_path: Path) -> None:
    lesson, file = find("06"), tmp_path / "mine.py"
    file.write_text(lesson.solution.read_text("utf-8").replace(OLD, new, 1), "utf-8")
    with Replay(lesson_job(lesson, read(file), Choice("simt", "a test"), GradingOptions())) as replay:
        head = replay.record(Wanted()).head
    assert (head.case, head.launch.kernel) == ("nearby", "nearby_kernel")
