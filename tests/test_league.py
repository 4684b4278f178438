"""The league of judges: what becomes of the corpus's files, of what runs them, and of what is said."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from tests.corpus import entries
from tests.corpus.classes import HONEST
from tests.corpus.league import contained, judges, plan, rows
from tests.corpus.league.contained import Job, NoAnswerError, Room, play
from tests.corpus.league.pairs import Pair, pair, why_not

EVERY = [*entries.every(), *entries.every(gpu=True)]
PAIRS = {e.name: pair(e) for e in EVERY if not why_not(e)}
ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root can shut a process in")


def test_nearly_every_file_is_a_pair_and_the_others_have_a_reason() -> None:
    left = [why_not(e) for e in EVERY if e.name not in PAIRS]
    assert all(left) and len(left) < len(EVERY) / 20
    honest = [p for p in PAIRS.values() if p.entry.kind == HONEST]
    assert len(honest) >= 60 and len(PAIRS) - len(honest) >= 200
    assert not any('"""' in p.submission.splitlines()[0] for p in honest)  # it would say that it is honest


@pytest.mark.parametrize("task", sorted({e.task for e in EVERY}))
def test_a_pair_asks_what_the_task_asks(task: str) -> None:
    """Both modules exist, take the inputs that are drawn, and the reference in either form answers alike."""
    torch = pytest.importorskip("torch")
    one = next(p for p in PAIRS.values() if p.entry.task == task)
    known: dict = {}
    exec(one.reference, known)
    model = known["Model"](*known["get_init_inputs"]())
    forward: dict = {}
    exec(one.forward or one.reference, forward)
    assert len(known["CASES"]) == one.cases >= 1
    for case in range(one.cases):
        inputs = known["get_inputs"](case)
        assert all(x.dtype == torch.float32 and x.numel() for x in inputs)
        result = model(*inputs)
        finite = result.isfinite()
        assert result.shape and bool(finite.any() if task == "steep" else finite.all())  # steep: to infinity
        if one.forward:
            other = forward["Model"]()
            assert torch.equal(other(*inputs), result)
            assert torch.equal(other(*inputs, fn=lambda first, *_: -first), -inputs[0])


def test_an_honest_file_answers_as_a_module() -> None:
    torch = pytest.importorskip("torch")
    one = PAIRS["honest/sigmoid_two_branches"]
    known: dict = {}
    exec(one.reference, known)
    exec(one.submission, known)
    inputs = known["get_inputs"]()
    assert torch.allclose(known["ModelNew"]()(*inputs), known["Model"]()(*inputs), atol=1e-6)


def test_on_a_gpu_each_nth_file_that_is_built_is_taken_and_all_others() -> None:
    pairs = list(PAIRS.values())
    taken = plan.sample(pairs, gpu=True, every=6)
    built = [p for p in taken if p.builds]
    sixth = sum(p.builds for p in pairs) / 6  # rounded up, of honest files and of others
    assert sixth <= len(built) < sixth + 2
    assert len(taken) - len(built) == sum(not p.builds for p in pairs)
    assert taken[-1].name in plan.ALONE
    for group in (built, taken[len(built) : -1]):  # one that is ended in the middle has both kinds
        half = [p.entry.kind == HONEST for p in group[: len(group) // 2]]
        assert sum(half) == pytest.approx(sum(p.entry.kind == HONEST for p in group) / 2, abs=1)
    assert not any(p.entry.gpu for p in plan.sample(pairs, gpu=False, every=1))


def test_a_build_comes_before_its_judges_and_what_was_said_is_not_asked_again(tmp_path: Path) -> None:
    known = {"robust": {"honest/plain_kernel": ("right", 1.0)}}
    asked = {name: (judges.JUDGES[name], tmp_path, "") for name in ("kernelbench_run", "robust")}
    files = [PAIRS["honest/plain_kernel"], PAIRS["honest/dense_plain"]]
    found = plan.jobs(files, asked, tmp_path, known, gpu=True)
    assert [(job.key, job.after) for job in found if job.key[0] != "build"] == [
        (("kernelbench_run", name), ("build", name)) for name in ("honest/plain_kernel", "honest/dense_plain")
    ]  # a model is nothing for robust-kbench
    assert [job.key[1] for job in found if job.key[0] == "build"] == [p.name for p in files]
    assert plan.jobs(files, asked, tmp_path, {}, gpu=False) == []  # nothing to build it with
    assert (tmp_path / "honest/plain_kernel/task/config_forward.json").exists()


def _forever() -> str:
    time.sleep(60)
    return "late"


def _raises() -> str:
    raise ValueError


def _writes_everywhere(times: int = 1) -> str:
    for _ in range(times):
        for number in range(3, 256):
            with suppress(OSError):
                os.write(number, b"\xffright")
    return "wrong"


def _unasked() -> str:
    raise NoAnswerError("nothing to import")


@pytest.mark.slow(cases=1)
def test_what_ends_a_process_is_its_word(tmp_path: Path) -> None:
    works = {
        "said": lambda: "right", "raises": _raises, "unasked": _unasked, "forever": _forever,
        "exits": partial(os._exit, 3), "killed": lambda: str(os.kill(os.getpid(), signal.SIGKILL)),
        "forges": _writes_everywhere, "floods": partial(_writes_everywhere, 1 << 40),
        "large": lambda: f"{len(bytearray(b'x') * (2 << 30))}{_forever()}",
    }  # fmt: skip
    jobs = [
        Job(("j", name), work, tmp_path, 3.0 if name in ("forever", "floods") else 40.0)
        for name, work in works.items()
    ]
    jobs.append(Job(("j", "second"), lambda: "second", tmp_path, 3.0, after=("j", "said")))
    room = Room(2, memory_bytes=contained.GIB, open=True)
    found = {job.key[1]: word for job, word, _ in play(jobs, room, time.monotonic() + 60)}
    assert found.pop("unasked").startswith(rows.NO_ANSWER)
    assert found == {
        "said": "right", "raises": "ended", "forever": "time", "exits": "ended", "killed": "ended",
        "large": "memory", "second": "second", "forges": "wrong", "floods": "time",
    }  # fmt: skip
    assert not list(play(jobs, room, time.monotonic()))  # too late for any


@ROOT
@pytest.mark.slow(cases=1)
def test_a_process_that_is_shut_in_reaches_nothing_else(tmp_path: Path) -> None:
    outside, inside = tmp_path / "outside", tmp_path / "inside"
    inside.mkdir()

    def reaches() -> str:
        found = []
        for place in (outside, Path.home() / "here", inside / "here", Path("/dev/shm/league-test")):
            try:
                place.write_text("x")
                found.append(place.name)
            except OSError:
                pass
        others = [int(p.name) for p in Path("/proc").glob("[0-9]*")]
        for pid in (os.getppid(), 1, -1):
            os.kill(pid, signal.SIGTERM) if pid != -1 else None
        return f"{found} {max(others)}"

    def multiplies() -> str:  # not without an end: other tests run beside this one
        for _ in range(100):
            if not os.fork():
                break
        time.sleep(30)
        return "not ended"

    jobs = [Job(("j", "reaches"), reaches, inside, 20.0), Job(("j", "many"), multiplies, inside, 20.0)]
    found = {j.key[1]: w for j, w, _ in play(jobs, Room(2, processes=20), time.monotonic() + 60)}
    assert found["many"] == "processes"
    assert found["reaches"].startswith("['here', 'here', 'league-test']"), found  # its home is in its folder
    assert not outside.exists() and not Path("/dev/shm/league-test").exists()
    assert int(found["reaches"].split()[-1]) < 10  # no process but its own is seen


def test_a_judge_that_is_not_there_has_no_answer(tmp_path: Path) -> None:
    one = PAIRS["honest/sigmoid_two_branches"]
    one.lay_out(tmp_path)
    for name in ("kernelbench_run", "robust", "backendbench"):
        with pytest.raises(NoAnswerError):
            judges.JUDGES[name].run(one, tmp_path, tmp_path / "empty")


def test_rows_count_answers_only() -> None:
    said: rows.Said = {
        "a": ("right", 1.0), "b": ("wrong: so", 2.0), "c": ("time", 60.0), "d": ("no answer: x", 0.0),
        "e": ("right", 1.0), "f": ("text: y", 1.0),
    }  # fmt: skip
    kinds = {"a": "late", "b": "late", "c": "death", "d": "death", "e": HONEST, "f": HONEST}
    found = rows.row("A judge", {"version": "1", "settings": "all"}, said, kinds)
    numbers = [found[k] for k in ("found", "cheats", "rejected", "honest", "no_answer")]
    assert numbers == [2, 3, 1, 2, 1]
    assert found["found_by_class"] == {"death": "1 of 1", "late": "1 of 2"}
    assert found["rejected_files"] == {"f": "text: y"}
    both = rows.both({"a": ("right", 0.0), "b": ("text", 0.0), "z": ("right", 0.0)}, said)
    assert both == {"a": ("right", 1.0), "b": ("text", 0.0)}


def test_a_pair_s_words_of_kinds() -> None:
    triton = [p for p in PAIRS.values() if p.triton]
    assert triton and not any(p.builds for p in triton)
    assert isinstance(triton[0], Pair) and PAIRS["honest/plain_kernel"].builds
