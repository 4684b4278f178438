"""The engine: every order has its answer, whatever becomes of workers; a death costs one try."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import threading
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from grader.domain.errors import BadInputError
from grader.domain.options import GradingOptions
from grader.teaching.batch import journal, machines
from grader.teaching.batch.batch_work import Order
from grader.teaching.batch.scheduler import Answer, Engine
from tests.teaching.batch.tasks import play
from tests.teaching.batch.test_journal import line

if TYPE_CHECKING:
    from pathlib import Path

SIMT = GradingOptions(backend="simt")
KILLS = 3
KINDS = ["", "die", "", "die once", "fail", "", "fail once", "raise", "", ""]


@pytest.mark.thorough
@pytest.mark.slow
def test_every_order_gets_an_answer_and_is_begun_no_more_than_it_should(tmp_path: Path) -> None:
    log = tmp_path / "begun"
    log.touch()
    orders = [Order(f"k{n}", "03", "v", kind, SIMT, str(log)) for n, kind in enumerate(KINDS)]
    answers: dict[str, Answer] = {}
    with machines.local("simt", 2) as places:
        assert places.slots == 2 and places.device == "cpu"
        Engine(places, play).run(orders, lambda a: answers.setdefault(a.order.key, a) and None)
    begun = Counter(log.read_text().split())
    for order in orders:
        answer = answers[order.key]
        said = json.loads(answer.text) if answer.text else {}
        match order.source:
            case "die":
                assert "died, twice" in answer.reason and begun[order.key] <= answer.tries == 2
            case "raise":
                assert "RuntimeError" in answer.reason and answer.tries == begun[order.key] == 2
            case "fail":
                assert said["error"] == "no compiler" and answer.tries == begun[order.key] == 2
            case "die once" | "fail once":
                assert said["done"] == order.key and answer.tries == begun[order.key] == 2
            case _:
                assert said["done"] == order.key and answer.tries == begun[order.key] == 1


def _kill_some(running: Path, kills: int, over: threading.Event) -> None:
    """kill -9 for workers that have a task, chosen by chance, until so many have died or all is over."""
    draw = random.Random(3)
    while kills and not over.wait(draw.uniform(0.3, 1.5)):
        pids = running.read_text().split()[-4:] if running.exists() else []
        if pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(draw.choice(pids)), signal.SIGKILL)
                kills -= 1


@pytest.mark.slow
def test_four_workers_killed_at_random_lose_nothing_and_finish_nothing_twice(tmp_path: Path) -> None:
    """The same for ten minutes, with gradings: benchmarks/batch_kill.py."""
    log, kept = tmp_path / "begun", tmp_path / "journal.jsonl"
    log.touch()
    orders = [Order(f"k{n}", "03", "v", "short", SIMT, str(log)) for n in range(24)]
    answers: list[Answer] = []
    over = threading.Event()
    with journal.opened(kept) as lines, machines.local("simt", 4) as places:

        def keep(answer: Answer) -> None:
            answers.append(answer)
            lines.append(line(key=answer.order.key))

        killer = threading.Thread(target=_kill_some, args=(tmp_path / "running", KILLS, over))
        killer.start()
        try:
            Engine(places, play).run(orders, keep)
        finally:
            over.set()
            killer.join()
    assert sorted(one.key for one in journal.lines(kept)) == sorted(order.key for order in orders)
    begun = Counter(log.read_text().split())
    # A worker dies with the task that it has begun, and with an answer that nobody has fetched yet.
    assert len(orders) < sum(begun.values()) <= len(orders) + 2 * KILLS, "no worker died with a task"
    for answer in answers:
        assert answer.tries <= 2
        assert answer.text or ("died, twice" in answer.reason and answer.tries == 2)


def test_a_scheduler_that_is_not_there_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machines, "PATIENCE_S", 1)
    with (
        pytest.raises(BadInputError, match="no Dask scheduler"),
        machines.remote("tcp://127.0.0.1:9", "simt"),
    ):
        pass
