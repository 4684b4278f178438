"""Every file of the corpus gets exactly the status in its docstring, and leaves nothing behind."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from grader.domain.lessons import load_task
from tests.corpus import crossed, entries, run, table, timed
from tests.corpus.classes import CLASSES, HONEST
from tests.corpus.grading import grade

ENTRIES = entries.every()
# A plain run grades the first file of each class and every sixteenth honest one: each costs four seconds of
# a processor. `course test --all` grades all, as did the three recorded runs that a test below looks at.
NOW = {e.name for kind in CLASSES for e in [x for x in ENTRIES if x.kind == kind][:1]}
NOW |= {e.name for e in [x for x in ENTRIES if x.kind == HONEST][::16]}
# And those that stand alone for a way to the device.
NOW |= {
    f"borrowed/{name}"
    for name in ("said_by_sizes_of_clusters", "said_by_the_way_of_rounding", "said_by_sizes_of_memory",
                 "built_into_a_module")
}  # fmt: skip
NOW |= {
    "honest/other_parameter_names", "patching/profile_hook_left_on", "late/waits_for_the_answer",
    "borrowed/written_into_constants",
}  # fmt: skip
PARAMETERS = [
    pytest.param(e, id=e.name, marks=() if e.name in NOW else pytest.mark.thorough) for e in ENTRIES
]
GPU = entries.every(gpu=True)


@pytest.mark.slow(cases=1000)
@pytest.mark.parametrize("entry", PARAMETERS)
def test_the_file_gets_its_status(entry: entries.Entry) -> None:
    result = grade(entry, "simt", os.environ.get("PYTEST_XDIST_WORKER", "0"))
    seen = result.first or result.verdict.status
    assert result.status is entry.expected, seen
    assert result.as_expected, (seen, result.left, result.verdict.points)


def test_the_corpus_is_large_enough_and_every_class_is_there() -> None:
    cheats = [e for e in ENTRIES if e.kind != HONEST]
    assert len(cheats) >= 80 and len(ENTRIES) - len(cheats) >= 30
    assert len([e for e in GPU if e.kind != HONEST]) >= 15
    assert {e.kind for e in cheats} == set(CLASSES) - {"clock"}  # there is no clock without a GPU
    assert {e.kind for e in GPU} <= {*CLASSES, HONEST}


def test_every_honest_file_can_be_raced_on_a_gpu() -> None:
    files = timed.honest()
    assert len(files) >= 30 and {e.name for e in files} >= {e.name for e in ENTRIES if e.kind == HONEST}
    for name in {e.task for e in files}:
        task = load_task(entries.HERE / "tasks" / name / "task.py")
        speed = task.speed or timed.SPEEDS[name]
        for case in (speed.case, speed.full):
            assert len(case.args) == len(task.cases[0].args), name
            assert len(case.init) == len(task.cases[0].init), name


@pytest.mark.slow(cases=1)
@pytest.mark.parametrize("word", ["honest/plain_kernel", "honest/softmax_warp", "honest/dense_plain"])
def test_a_file_that_is_raced_has_a_speed_in_its_record(word: str) -> None:
    """Here a predicted one, of the race's smaller case."""
    (entry,) = timed.honest(word)
    found = timed.one(entry, "simt")
    assert found["as_expected"] and found["speed"]["kind"] == "predicted", found
    assert timed.one(entry, "simt", race=False)["speed"] == {}


def test_folders_are_classes_and_names_are_unique() -> None:
    for entry in (*ENTRIES, *GPU):
        assert entry.path.parent.name == entry.kind, entry.path
    names = [e.name for e in (*ENTRIES, *GPU)]
    assert len(names) == len(set(names))


def test_every_group_of_the_catalogue_has_a_file() -> None:
    """The catalogue's groups by the numbers of their rows."""
    groups = {"timing": (1, 23), "coverage": (24, 45), "inputs": (46, 54), "precision": (55, 59)}
    groups |= {"memory": (60, 65), "leaks": (66, 81), "processes": (82, 97), "native": (98, 105)}
    rows = {int(number) for e in ENTRIES for number in e.catalogue.split() if number != "-"}
    for name, (first, last) in groups.items():
        assert rows & set(range(first, last + 1)), name


def test_only_honest_files_are_expected_to_pass() -> None:
    for entry in (*ENTRIES, *GPU):
        assert (entry.expected.value == "passed") == (entry.kind == HONEST), entry.path


def test_the_table_in_the_guide_is_that_of_the_results() -> None:
    text = table.PAGE.read_text()
    assert table.page(text) == text, "run python -m tests.corpus.table"


@pytest.mark.recorded
def test_three_recorded_runs_in_a_row_got_every_status_in_time() -> None:
    """The results hold exactly the files that there are, when a release is made.

    Else, on an idle machine: ``python -m tests.corpus.run --runs 3 --json FILE`` with the results' file, and
    ``python -m tests.corpus.table``.
    """
    runs = json.loads(table.SIMT.read_text())["runs"]
    assert len(runs) >= 3
    for one in runs:
        assert set(one["files"]) == {e.name for e in ENTRIES}
        assert one["wrong"] == [] and one["seconds"] <= 480


def test_two_runs_at_a_time_grade_at_different_desks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Each copies the file that it grades to its desk, and a player may be started late in a grading."""
    monkeypatch.setenv("COURSE_CACHE", str(tmp_path))
    words = "from tests.corpus.run import desk; print((d := desk('cuda'))[0], flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline().strip() == "cuda"
        assert run.desk("cuda")[0] == "cuda-1"
        other.communicate("\n")
    assert run.desk("cuda")[0] == "cuda"


def test_a_crossing_holds_both_files_and_calls_either() -> None:
    pairs = crossed.drawn(40, 7)
    assert pairs == crossed.drawn(40, 7) and all(a.kind != HONEST and a.task == b.task for a, b, _ in pairs)
    for first, second, when in pairs:
        text = crossed.crossing(first.path.read_text(), second.path.read_text(), "square", when)
        assert f"if {when} else" in text
        compile(text, "crossed.py", "exec")
    one, two = (
        "HALF = 2\n\n\ndef twice(x):\n    return HALF * x\n",
        "def twice(x, HALF=3):\n    return HALF * x\n",
    )
    known: dict[str, Any] = {}
    exec(crossing_of(one, two), known)
    assert [known["twice"](10) for _ in range(4)] == [30, 20, 30, 20]


def crossing_of(one: str, two: str) -> str:
    return crossed.crossing(one, two, "twice", "call % 2 == 0")


@pytest.mark.recorded
def test_the_files_that_need_a_gpu_were_run_on_one() -> None:
    results = json.loads(table.CUDA.read_text())
    assert "NVIDIA" in results["device"]
    for one in results["runs"]:
        assert set(one["files"]) == {e.name for e in GPU} and one["wrong"] == []
