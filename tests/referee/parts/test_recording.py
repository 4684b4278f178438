"""What is said of a trace that was not written, by the text of the function that was to write it."""

from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import numpy as np
import pytest

from grader.feedback.look import python_source
from grader.referee.parts.recording import Recording

if TYPE_CHECKING:
    from grader.referee.parts import PartSession

TEXT = """
def record(model, batch, steps, path):
    with profile(schedule=schedule(wait=1, warmup=1, active=steps), on_trace_ready=save){}:
        for _ in range(steps + 2):
            model(batch)
"""


@pytest.mark.parametrize(("bound", "name"), [(" as prof", "prof"), (" as p", "p"), ("", "profiler")])
def test_the_profiler_has_the_name_that_the_file_gives_it(bound: str, name: str) -> None:
    source = TEXT.format(bound)
    session = SimpleNamespace(
        rng=np.random.default_rng(0), backend="simt", command=lambda *_a, **_f: {"events": [], "calls": 4},
        calls_in=lambda entry: python_source.calls_in(source, entry), line_of=lambda *_a, **_f: 0,
    )  # fmt: skip
    first = next(iter(Recording().judge(cast("PartSession", session))))
    assert f"nothing calls `{name}.step()` after the model" in first.message


def test_the_variables_that_have_the_result_of_a_call() -> None:
    found = python_source.calls_in(
        "def f():\n    a = one()\n    with two() as b, three():\n        pass\n", "f"
    )
    assert found is not None and found.bound == {"one": "a", "two": "b"}


NOTHING: dict[str, object] = {"events": [], "calls": 4, "layers": 3, "batch": [8, 16]}
OPERATOR = {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "ts": 1, "dur": 1, "args": {}}


@pytest.mark.parametrize(
    ("first", "own", "says"),
    [
        (NOTHING, NOTHING, "Not looked at: there is no trace."),
        (NOTHING | {"events": [OPERATOR]}, NOTHING, "your own model was not written to the path given;"),
        (NOTHING, NOTHING | {"layers": 1}, "mine() must return a model of 2 layers"),
    ],
)  # fmt: skip
def test_no_regions_are_counted_in_a_trace_that_is_not_there(
    first: dict[str, object], own: dict[str, object], says: str
) -> None:
    session = SimpleNamespace(
        rng=np.random.default_rng(0), backend="simt", calls_in=lambda _: None, line_of=lambda *_a, **_f: 0,
        command=lambda *_a, **fields: own if "own" in fields else first,
    )  # fmt: skip
    found = {f.id: f for f in Recording().judge(cast("PartSession", session))}
    assert says in found["own model"].message


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        (["CUDA"], "Line 3: These `activities` leave the host out"),
        (["CPU", "CUDA"], "nothing calls"),
        (["CPU"], "nothing calls"),
        (None, "nothing calls"),
        ("CUDA", "nothing calls"),  # a strange claim
    ],
)
def test_a_profiler_that_leaves_the_host_out_records_no_operators(asked: object, says: str) -> None:
    source = TEXT.format(" as prof").replace("profile(", "profile(activities=[CUDA], ")
    session = SimpleNamespace(
        rng=np.random.default_rng(0), backend="simt", line_of=lambda *_a, **_f: 0,
        command=lambda *_a, **_f: NOTHING | {"asked": asked},
        calls_in=lambda entry: python_source.calls_in(source, entry),
    )  # fmt: skip
    found = list(Recording().judge(cast("PartSession", session)))
    assert says in found[0].message and not any(f.ok for f in found)
    assert [f.id for f in found] == [c.name for c in Recording().checks]


def traced(inside: bool, name: str = "aten::mm") -> list[dict[str, object]]:
    """The events of two steps, each with its region, and an operator inside or after it."""
    events: list[dict[str, object]] = []
    for k in range(2):
        for kind, called, start, length in (
            ("user_annotation", f"ProfilerStep#{k + 3}", 0, 90),
            ("user_annotation", "forward", 10, 20),
            ("cpu_op", name, 15 if inside else 40, 5),
        ):
            events.append(OPERATOR | {"cat": kind, "name": called, "ts": 100 * k + start, "dur": length})
    return events


OUTSIDE = """
def record({0}, batch, steps, path):
    for _ in range(steps + 3):
        with record_function("forward"):
            {1}
        {0}(batch)
"""


@pytest.mark.parametrize(
    ("source", "events", "says"),
    [
        (OUTSIDE.format("model", "pass"), traced(False),
         "Line 6: `model(batch)` stands outside of the `with` of line 4"),
        (OUTSIDE.format("net", "torch.ones(3)"),
         [*traced(False), OPERATOR | {"name": "aten::ones", "ts": 15}],
         "Line 6: `net(batch)` stands outside of the `with` of line 4"),
        (OUTSIDE.format("model", "run(model)"), traced(True), ""),
        ("def record(model, batch, steps, path): run(model)", traced(False), "The model did not run inside"),
        ("def record(*, model): run(model)", traced(False), "The model did not run inside"),
    ],
)  # fmt: skip
def test_a_region_must_be_around_the_models_call(source: str, events: object, says: str) -> None:
    session = SimpleNamespace(
        rng=np.random.default_rng(0), backend="simt", line_of=lambda *_a, **_f: 0,
        command=lambda *_a, **_f: NOTHING | {"events": events},
        calls_in=lambda entry: python_source.calls_in(source, entry),
    )  # fmt: skip
    (found,) = (f for f in Recording().judge(cast("PartSession", session)) if f.id == "regions")
    assert found.message.startswith(says) and found.ok == (not says)
