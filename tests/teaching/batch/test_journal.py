"""The journal: what is in it survives, what is half written is not there, and only one writes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from grader.domain.errors import BadInputError
from grader.teaching.batch import batch_plan, journal
from grader.teaching.batch.class_rows import best
from grader.teaching.batch.journal import Journal
from grader.teaching.batch.store import Store

WRITER = """
import sys
from pathlib import Path
from grader.teaching.batch.journal import Journal
from grader.teaching.batch.store import Store
journal = Journal(Path(sys.argv[1]))
for k in range(100_000):
    journal.append({"key": f"k{k}", "text": "x" * 300})
    print(k, flush=True)
"""


def test_the_last_line_of_a_key_counts(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    with journal.opened(path) as kept:
        for k in range(5):
            kept.append({"key": f"k{k % 2}", "n": k})
    assert {k: v["n"] for k, v in journal.latest(path).items()} == {"k0": 4, "k1": 3}
    assert list(journal.lines(tmp_path / "none")) == []


def test_half_a_line_is_no_line(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    with journal.opened(path) as kept:
        kept.append({"key": "a"})
    whole = path.read_bytes()
    path.write_bytes(whole + b"not json\n" + b'{"schema": "other"}\n' + whole[:-9])
    assert [line["key"] for line in journal.lines(path)] == ["a"]
    with journal.opened(path) as kept:
        kept.append({"key": "b"})
    assert [line["key"] for line in journal.lines(path)] == ["a", "b"]


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
    keys = [line["key"] for line in journal.lines(path)]
    assert keys == [f"k{k}" for k in range(len(keys))] and len(keys) >= said + 1


def test_a_line_from_a_gpu_counts_more_than_a_later_one_without() -> None:
    lines = [
        {"subject": "s", "backend": b, "n": n} for n, b in enumerate(["simt", "cuda", "simt", "cuda", "simt"])
    ]
    assert best(lines)["s"]["n"] == 3
    assert best(lines[:1] + lines[2:3])["s"]["n"] == 2


def line(**more: object) -> dict[str, object]:
    speed = {"kind": "predicted", "whole_ratio": 1.2}
    return {
        "key": "k", "subject": "s", "status": "failed", "earned": 3, "max_points": 4, "open": 0, "first": "",
        "checks": [["load", "passed", 3, 4]], "seconds": 1, "backend": "simt", "device": "", "speed": speed,
    } | more  # fmt: skip


@pytest.mark.parametrize(
    "bent",
    [
        {"status": "nope"}, {"earned": None}, {"speed": 3}, {"checks": None}, {"checks": [3]},
        {"checks": [["load", "passed", "3", 4]]}, {"subject": None}, {"seconds": "long"},
    ],
)  # fmt: skip
def test_a_line_that_was_bent_by_hand_does_not_count(bent: dict[str, object], tmp_path: Path) -> None:
    store = Store(tmp_path)
    with journal.opened(store.journal) as kept:
        kept.append(line(key="first", speed=None))
        kept.append(line(**bent))
        kept.append(line(key="last"))
    assert [one["key"] for one in store.lines()] == ["first", "last"]


@pytest.mark.parametrize(
    "bent",
    [
        {"entries": [{"student": None, "lesson": "a"}]}, {"entries": [{"student": "s", "lesson": "b"}]},
        {"entries": [{"student": "s", "lesson": "a", "late": "much"}]}, {"policy": {"due": "today"}},
        {"lessons": [{"name": "a", "title": "A", "max_points": "20"}]}, {"lessons": []},
    ],
)  # fmt: skip
def test_a_list_of_what_was_handed_in_that_was_bent_is_none(bent: dict[str, object], tmp_path: Path) -> None:
    whole = {
        "title": "t", "lessons": [{"name": "a", "title": "A", "max_points": 20}],
        "entries": [{"student": "s", "lesson": "a", "notes": [], "late": 5}], "policy": {"due": 7},
    }  # fmt: skip
    path = tmp_path / "handed.json"
    path.write_text(json.dumps(whole))
    assert batch_plan.read(path)[1].entries[0].late == 5
    entries = [{"notes": [], **e} for e in bent.get("entries", [])]  # type: ignore[attr-defined]
    path.write_text(json.dumps(whole | bent | ({"entries": entries} if entries else {})))
    with pytest.raises(BadInputError, match=r"handed.json is missing or damaged"):
        batch_plan.read(path)
