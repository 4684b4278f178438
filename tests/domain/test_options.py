"""Options of a grading: what there is not is one sentence, wherever they are made."""

from __future__ import annotations

import math
from dataclasses import FrozenInstanceError, replace

import pytest

import grader
from grader.domain.errors import BadInputError
from grader.domain.lessons import find
from grader.domain.options import GradingOptions
from grader.teaching.batch import batch_work
from grader.teaching.batch.batch_work import Order


@pytest.mark.parametrize(
    "words, said",
    [
        ({"backend": "tpu"}, "no back end 'tpu'; the back ends are auto, cuda, simt"),
        ({"sandbox": "maybe"}, "no sandbox mode 'maybe'; the modes are auto, strict, off"),
        ({"card": "h300"}, "no card for 'h300'; the cards are: a100"),
        ({"inputs": "kind"}, "no inputs 'kind'; there are: unkind, as-given"),
        ({"mode": "fit"}, "no mode 'fit'; there are: train, eval"),
        ({"baselines": ("default", "fast")}, "no baseline 'fast'; beside eager there are: default"),
        ({"schedules": 0}, "1 to 64 orders of blocks and warps, not 0"),
        ({"schedules": 65}, "1 to 64 orders"),
        ({"limit_s": -1.0}, "number of seconds, or 0 for the usual, not -1.0"),
        ({"limit_s": math.nan}, "number of seconds"),
        ({"limit_s": math.inf}, "number of seconds"),
        ({"memory_bytes": -1}, "number of bytes, or 0 for the usual, not -1"),
        ({"budget_bytes": -5}, "number of bytes"),
    ],
)
def test_what_there_is_not_is_one_sentence(words: dict[str, object], said: str) -> None:
    with pytest.raises(BadInputError, match=said) as caught:
        GradingOptions(**words)  # type: ignore[arg-type]
    assert str(caught.value).endswith(".") and "\n" not in str(caught.value)
    with pytest.raises(BadInputError, match=said):
        replace(GradingOptions(), **words)  # type: ignore[arg-type]


def test_the_defaults_are_options_and_stay_as_they_are() -> None:
    options = GradingOptions(card="H100")
    with pytest.raises(FrozenInstanceError):
        options.schedules = 3  # type: ignore[misc]


def test_the_library_refuses_them_before_it_reads_a_file() -> None:
    with pytest.raises(BadInputError, match="no sandbox mode"):
        grader.check("nowhere.py", "nowhere.py", sandbox="none")  # type: ignore[arg-type]


def test_a_worker_gets_the_options_unchanged() -> None:
    options = GradingOptions(
        backend="simt", sandbox="off", student="ann", schedules=3, limit_s=2.5, memory_bytes=1 << 30,
        with_speed=True, baselines=("default",), card="l4",
    )  # fmt: skip
    lesson = find("03")
    version = batch_work.key.task_version(lesson.folder)
    order = Order("k", lesson.name, version, lesson.solution.read_text(), options)
    assert batch_work.read_order(order.text()) == order
    job = batch_work.prepare(order)
    assert job.options is options
    assert (job.limits.load, job.limits.call, job.limits.memory_bytes) == (2.5, 2.5, 1 << 30)
