"""Several candidates graded at the same time: verdicts in the order given, whatever the others do."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from benchmarks.pairs.kit import reference, torch_one
from grader.backends import detect
from grader.domain.errors import BadInputError
from grader.domain.options import GradingOptions
from grader.domain.verdict import Finding, Status, Verdict
from grader.profiling import compare_verb
from grader.referee.job import Job
from grader.referee.pairs import contest, several
from grader.referee.pairs.pair_job import job
from grader.referee.pairs.several import Place, Several
from grader.referee.pipeline import warm

if TYPE_CHECKING:
    from collections.abc import Callable

GB = 10**9
TIMED = GradingOptions(with_speed=True)
REFERENCE = reference("return torch.relu(x)", "[torch.rand(9, 33) - 0.5]")
ENDS = {"passed": "torch.relu(x)", "exited_early": "__import__('os')._exit(3)"}


@pytest.mark.parametrize(
    ("wanted", "backend_name", "cores", "gpu", "memory", "limit"),
    [
        (8, "cuda", 16, 150 * GB, 128 * GB, 17 * GB),
        (5, "cuda", 16, 85 * GB, 128 * GB, 17 * GB),
        (1, "cuda", 16, 24 * GB, 128 * GB, 17 * GB),
        (1, "cuda", 16, 0, 128 * GB, 17 * GB),
        (1, "cuda", 1, 150 * GB, 128 * GB, 17 * GB),
        (1, "simt", 16, 0, 24 * GB, 12 * GB),
        (4, "simt", 16, 150 * GB, 136 * GB, 17 * GB),
        (2, "simt", 4, 0, 136 * GB, 17 * GB),
    ],
)
def test_as_many_as_there_is_room_for(
    wanted: int, backend_name: str, cores: int, gpu: int, memory: int, limit: int
) -> None:
    assert several.at_once(backend_name, cores, gpu, memory, limit) == wanted


@pytest.mark.slow
def test_one_that_dies_is_nothing_to_another(tmp_path: Path) -> None:
    (tmp_path / "reference.py").write_text(REFERENCE)
    jobs = []
    for end, call in ENDS.items():
        file = tmp_path / f"{end}.py"
        file.write_text(torch_one(REFERENCE, ("torch.relu(x)", call)))
        jobs.append(warm(job(tmp_path / "reference.py", file, detect.Choice("simt", "a test"), TIMED)))
    done = contest.contest(jobs, most=2)
    assert [str(v.status) for v in done.verdicts] == list(ENDS)
    assert all(each["waited"] >= 0 and each["parts"] > 0 for each in done.each)
    assert done.verdicts[0].speed and done.direct == {} and done.stages["graded"] > 0


class Gradings:
    """Stands in for the grading itself: each waits until it is told how to end, or is killed."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.begun: list[str] = []
        self.ended: list[str] = []
        self.ends: dict[str, Callable[[], Any]] = {}
        monkeypatch.setattr(several, "grade", self.grade)

    def grade(self, one: Job) -> Any:
        self.begun.append(one.lesson)
        if one.lesson in self.ends:
            return self.ends[one.lesson]()
        killed = threading.Event()
        one.reins(killed.set)
        killed.wait()
        self.ended.append(one.lesson)
        return SimpleNamespace(verdict=None)


def fakes(names: str) -> list[Job]:
    return [Job(name, cast("Any", None), Path(), cast("Any", None), cast("Any", None)) for name in names]


def test_one_that_hangs_holds_up_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    gradings, others = Gradings(monkeypatch), threading.Event()
    lock, running, most = threading.Lock(), 0, 0

    def ends(name: str) -> Callable[[], Any]:
        def end() -> Any:
            nonlocal running, most
            with lock:
                running, most = running + 1, max(most, running + 1)
            if name == "a":
                others.wait()
            with lock:
                running -= 1
            return SimpleNamespace(verdict=name)

        return end

    gradings.ends = {name: ends(name) for name in "abcd"}
    heard: list[int] = []

    def hear(place: Place) -> None:
        heard.append(place.number)
        if len(heard) == 3:
            others.set()

    with Several(fakes("abcd"), 2) as group:
        group.wait(hear)
    assert heard[-1] == 0 and sorted(heard) == [0, 1, 2, 3] and most <= 2
    assert [place.verdict for place in group.places] == list("abcd")


def test_an_interrupt_ends_those_that_run_and_begins_no_others(monkeypatch: pytest.MonkeyPatch) -> None:
    gradings = Gradings(monkeypatch)
    gradings.ends["a"] = lambda: SimpleNamespace(verdict=None)

    def interrupted(_: Place) -> None:
        raise KeyboardInterrupt

    before = set(threading.enumerate())
    with pytest.raises(KeyboardInterrupt), Several(fakes("abcdef"), 2) as group:
        group.wait(interrupted)
    assert sorted(gradings.ended) == sorted(set(gradings.begun) - {"a"})
    assert set(threading.enumerate()) <= before


def test_the_first_error_in_the_order_given_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    gradings, late = Gradings(monkeypatch), threading.Event()

    def first() -> Any:
        late.wait()
        raise BadInputError("the first")

    def second() -> Any:
        late.set()
        raise BadInputError("the second")

    gradings.ends = {"a": first, "b": second, "c": lambda: SimpleNamespace(verdict=None)}
    heard: list[int] = []
    with pytest.raises(BadInputError, match="the first"), Several(fakes("abc"), 3) as group:
        group.wait(lambda place: heard.append(place.number))
    assert sorted(heard) == [0, 1, 2]


def test_what_is_judged_is_kept_before_the_rest(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    at = tmp_path / "ranks.json"
    judged = compare_verb.Judged(["a.py", "b.py"], str(at))
    for number, status in ((1, Status.RAISED), (0, Status.PASSED)):
        found = (Finding("as given", status, "what it said"),)
        place = Place(number, fakes("x")[0], Verdict("ref", "x", "cuda", "a GPU", found, 1.0))
        judged.hear(place)
    kept = json.loads(at.read_text("utf-8"))
    assert kept["complete"] is False and [c["name"] for c in kept["candidates"]] == ["a.py", "b.py"]
    assert "1 of 2 graded" in capsys.readouterr().err
