"""The journal: what is in it survives, what is half written is not there, and only one writes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from grader.domain.errors import BadInputError
from grader.domain.verdict import Status
from grader.reports.row import SpeedSummary
from grader.teaching.batch import batch_plan, journal
from grader.teaching.batch.class_rows import best
from grader.teaching.batch.journal import Journal, Line
from grader.teaching.batch.results_folder import ResultsFolder

if TYPE_CHECKING:
    from pathlib import Path

WRITER = """
import sys
from pathlib import Path
from grader.teaching.batch.journal import Journal
from tests.teaching.batch.test_journal import line
journal = Journal(Path(sys.argv[1]))
for k in range(100_000):
    journal.append(line(key=f"k{k}", first="x" * 300))
    print(k, flush=True)
"""


def line(**more: object) -> Line:
    speed = SpeedSummary("predicted", "a card", 1.2)
    facts: dict[str, object] = {
        "key": "k", "subject": "s", "status": Status.FAILED, "earned": 3, "max_points": 4, "open": 0,
        "first": "", "checks": (("load", Status.PASSED, 3, 4),), "seconds": 1.0, "backend": "simt",
        "device": "", "speed": speed,
    }  # fmt: skip
    return Line(**(facts | more))


def test_what_was_written_is_read(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    written = [line(key="a"), line(key="b", speed=None, disagrees=("odd",), tries=2)]
    with journal.opened(path) as kept:
        for one in written:
            kept.append(one)
    assert list(journal.lines(path)) == written
    assert list(journal.lines(tmp_path / "none")) == []


def test_a_line_of_an_older_grader_is_read(tmp_path: Path) -> None:
    """As version 0.1.0 wrote it; a field that we do not know, from a newer one, is passed over."""
    (tmp_path / "journal.jsonl").write_text(
        '{"schema": "inline-to-fused/journal/v1", "key": "k", "subject": "s", "lesson": "03_square_kernel",'
        ' "status": "passed", "earned": 20, "max_points": 22, "open": 2, "checks": [["load", "passed", 0, 0],'
        ' ["ratio", "pending_gpu", 0, 2]], "first": "", "seconds": 1.5, "backend": "simt", "device": "a CPU",'
        ' "speed": {"kind": "measured", "device": "a GPU", "whole_ratio": 1.1, "low": 1, "high": 1.2},'
        ' "disagrees": [], "worker": "host/1", "tries": 1, "finished": "2026-11-20T00:00:00Z", "new": 1}\n'
    )
    (one,) = journal.lines(tmp_path / "journal.jsonl")
    assert (one.status, one.open, one.checks[1][1]) == (Status.PASSED, 2, Status.PENDING_GPU)
    assert one.speed == SpeedSummary("measured", "a GPU", 1.1, low=1.0, high=1.2)


def test_half_a_line_does_not_count(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    with journal.opened(path) as kept:
        kept.append(line(key="a"))
    whole = path.read_bytes()
    path.write_bytes(whole + b"not json\n" + b'{"schema": "other"}\n' + whole[:-9])
    assert [one.key for one in journal.lines(path)] == ["a"]
    with journal.opened(path) as kept:
        kept.append(line(key="b"))
    assert [one.key for one in journal.lines(path)] == ["a", "b"]


def test_two_batches_do_not_share_a_journal(tmp_path: Path) -> None:
    with journal.opened(tmp_path / "journal.jsonl"), pytest.raises(BadInputError, match="Another batch"):
        Journal(tmp_path / "journal.jsonl")


def test_what_was_said_to_be_written_is_there_after_kill_9(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True
    ) as writer:
        assert writer.stdout is not None
        said = -1
        while said < 40:
            said = int(writer.stdout.readline())
        os.kill(writer.pid, signal.SIGKILL)
        said = max([said, *(int(line) for line in writer.stdout.read().split())])
    keys = [one.key for one in journal.lines(path)]
    assert keys == [f"k{k}" for k in range(len(keys))] and len(keys) >= said + 1


def test_a_line_from_a_gpu_counts_more_than_a_later_one_without() -> None:
    backends = ["simt", "cuda", "simt", "cuda", "simt"]
    lines = [line(key=str(n), backend=backend) for n, backend in enumerate(backends)]
    assert best(lines)["s"].key == "3"
    assert best(lines[:1] + lines[2:3])["s"].key == "2"


@pytest.mark.parametrize(
    "bent",
    [
        {"status": "nope"}, {"earned": None}, {"speed": 3}, {"checks": None}, {"checks": [3]},
        {"checks": [["load", "passed", "3", 4]]}, {"subject": None}, {"seconds": "long"},
    ],
)  # fmt: skip
def test_a_line_that_was_bent_by_hand_does_not_count(bent: dict[str, object], tmp_path: Path) -> None:
    results = ResultsFolder(tmp_path)
    with journal.opened(results.journal) as kept:
        kept.append(line(key="first", speed=None))
    with results.journal.open("a") as file:
        file.write(json.dumps(json.loads(line().text()) | bent) + "\n")
    with journal.opened(results.journal) as kept:
        kept.append(line(key="last"))
    assert [one.key for one in results.lines()] == ["first", "last"]


@pytest.mark.parametrize(
    "bent",
    [
        {"entries": [{"student": None, "lesson": "a"}]}, {"entries": [{"student": "s", "lesson": "b"}]},
        {"entries": [{"student": "s", "lesson": "a", "when": "much"}]}, {"policy": {"due": "today"}},
        {"lessons": [{"name": "a", "title": "A", "max_points": "20"}]}, {"lessons": []},
    ],
)  # fmt: skip
def test_a_list_of_what_was_handed_in_that_was_bent_is_none(bent: dict[str, object], tmp_path: Path) -> None:
    whole = {
        "title": "t", "lessons": [{"name": "a", "title": "A", "max_points": 20}],
        "entries": [{"student": "s", "lesson": "a", "notes": [], "when": 5}], "policy": {"due": 7},
    }  # fmt: skip
    path = tmp_path / "handed.json"
    path.write_text(json.dumps(whole))
    assert batch_plan.read(path)[1].entries[0].when == 5
    entries = [{"notes": [], **e} for e in bent.get("entries", [])]  # type: ignore[attr-defined]
    path.write_text(json.dumps(whole | bent | ({"entries": entries} if entries else {})))
    with pytest.raises(BadInputError, match=r"handed.json is missing or damaged"):
        batch_plan.read(path)
