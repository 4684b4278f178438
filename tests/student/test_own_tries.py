"""A log of tries is kept only once the student has agreed, and nothing about it costs a verdict."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from grader.domain import try_log
from grader.domain.errors import BadInputError
from grader.domain.try_log import MOST_BYTES
from grader.domain.verdict import Finding, Status, Verdict
from grader.student import own_tries, progress

if TYPE_CHECKING:
    from pathlib import Path

FINDINGS = (
    Finding("load", Status.PASSED, "", 0, 0),
    Finding("ragged edges", Status.ILLEGAL_ACCESS, "", 0, 10),
    Finding("one row", Status.NOT_RUN, "", 0, 10),
)
VERDICT = Verdict("03_square_kernel", "mine.py", "simt", "a CPU", FINDINGS, 1.0)


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("COURSE_WORK", str(tmp_path / "work"))
    return tmp_path / "work" / try_log.NAME


def test_nothing_is_kept_before_the_student_agrees_nor_after_they_stop(
    log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    progress.record(VERDICT)
    own_tries.run("")
    assert not log.exists() and "No log of your tries is kept" in capsys.readouterr().out
    own_tries.run("agree")
    own_tries.run("agree")
    said = capsys.readouterr().out
    assert "checks that it did not pass" in said and "tries delete" in said and str(log) in said
    progress.record(VERDICT)
    progress.record(VERDICT)
    own_tries.run("stop")
    progress.record(VERDICT)
    kept = try_log.read(log)
    assert [line.agreed for line in kept.lines] == [True, None, None, False] and kept.others == 0
    assert kept.lines[1].left == ("ragged edges", "one row") and kept.lines[1].lesson == VERDICT.lesson
    own_tries.run("")
    assert re.search(r"03_square_kernel +2 +0 +ragged edges \(2\)", capsys.readouterr().out)
    own_tries.run("delete")
    progress.record(VERDICT)
    assert not log.exists() and progress.read().line(VERDICT.lesson).tries == 5


def test_a_log_holds_nothing_else(log: Path) -> None:
    own_tries.run("agree")
    progress.record(VERDICT)
    line = log.read_text().splitlines()[1]
    assert re.fullmatch(
        r'\{"at":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ","lesson":"03_square_kernel",'
        r'"left":\["ragged edges","one row"\]\}',
        line,
    )


def test_a_log_that_is_full_or_cannot_be_written_costs_no_verdict(log: Path) -> None:
    own_tries.run("agree")
    agreed = log.read_bytes()
    log.write_bytes(b"{}\n" * ((MOST_BYTES - len(agreed)) // 3) + agreed)
    size = log.stat().st_size
    progress.record(VERDICT)
    assert log.stat().st_size == size and progress.read().line(VERDICT.lesson).tries == 1
    with pytest.raises(BadInputError, match="is full"):
        own_tries.run("stop")
    own_tries.run("delete")
    log.mkdir()
    progress.record(VERDICT)
    assert progress.read().line(VERDICT.lesson).tries == 2


def test_a_line_that_was_cut_off_does_not_take_the_next_one_with_it(log: Path) -> None:
    own_tries.run("agree")
    log.write_bytes(log.read_bytes() + b'{"at":"2026-')
    progress.record(VERDICT)
    assert [line.lesson for line in try_log.read(log).lines] == ["", VERDICT.lesson]


def test_a_word_that_is_none_is_one_sentence(log: Path) -> None:
    with pytest.raises(BadInputError, match="'yes' is none of agree, stop, delete"):
        own_tries.run("yes")
    assert not log.exists()
