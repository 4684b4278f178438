"""Slips in a recording and in a model of one's own, and what looks like them and is right."""

import pytest

from grader.domain.verdict import Finding, Status
from grader.feedback.explain import recording_slips
from grader.feedback.explain.source_text import read

TEXT = """def record(model, batch, steps, path):
    with profile(
        schedule={schedule},
        on_trace_ready={ready},
    ){name}:
        for k in range(3 + steps):
            with record_function({region}):
                model(batch)
            profiler.step()


def mine():
    layers = torch.nn.Linear(8, 8), torch.nn.ReLU()
    return {model}, {batch}
"""
GOOD = {
    "schedule": "schedule(wait=1, warmup=2, active=steps)",
    "ready": "lambda one: one.export_chrome_trace(path)",
    "name": " as profiler",
    "region": '"forward"',
    "model": "torch.nn.Sequential(*layers)",
    "batch": "torch.randn(4, 8)",
}
REGIONS = "Line 7: A step holds 0 regions called 'forward', not one."
NAME = "NameError: name 'profiler' is not defined (mine.py, line 9: profiler.step())"
CALLED = "TypeError: 'tuple' object is not callable (mine.py, line 2: with profile(...))"
NOTHING = "No trace to look at: nothing was written to the path given."
MINE = "Line 14: mine() must return a model; what it returns begins with a {} and ends with a {}."
MODULE = "TypeError: tuple is not a Module subclass (mine.py, line 14: return ...)"
DTYPES = "RuntimeError: Input type (long int) and bias type (float) should be the same (mine.py, line 8: model(batch))"


def told(message: str, **parts: str) -> list[str]:
    """What is found in the file with these parts of it exchanged."""
    text = read(TEXT.format(**(GOOD | parts)))
    finding = Finding("a check", Status.WRONG_ANSWER, message)
    return [f"{f.rule} {f.line} {f.fix}" for find, _ in recording_slips.FACTS for f in find(text, finding)]


@pytest.mark.parametrize(
    ("message", "parts", "words"),
    [
        (REGIONS, {}, ""),
        (REGIONS, {"region": 'f"forward {k}"'}, "several-names 7"),
        (REGIONS, {"region": 'f"{REGION}"'}, ""),
        (NAME, {"name": ""}, "without-as 5 Name it behind the closing bracket"),
        (NAME, {}, ""),
        (CALLED, {"schedule": "(1, 2, steps)"}, "`schedule=schedule(wait=1, warmup=2, active=steps)`"),
        (CALLED, {}, ""),
        (NOTHING, {"ready": "lambda one: print(one.key_averages().table())"}, "`on_trace_ready=lambda one: one.export_"),
        (NOTHING, {}, ""),
        (NOTHING, {"ready": "tensorboard_trace_handler(path)"}, ""),
        (MINE.format("list", "Tensor"), {"model": "[a, b]"}, "`torch.nn.Sequential(a, b)`"),
        (MINE.format("tuple", "Tensor"), {"model": "layers"}, "`torch.nn.Sequential(*layers)`"),
        (MINE.format("type", "Tensor"), {"model": "Net"}, "`Net(...)`"),
        (MINE.format("Sequential", "tuple"), {"batch": "(4, 8)"}, "`torch.randn(4, 8)`"),
        (MINE.format("Tensor", "Sequential"), {}, ""),
        (MODULE, {"model": "torch.nn.Sequential(layers)"}, "`torch.nn.Sequential(*layers)`"),
        (MODULE, {}, ""),
        (DTYPES, {"batch": "torch.randint(0, 9, (4, 8))"}, "whole-numbers 14"),
        (DTYPES, {}, ""),
    ],
)  # fmt: skip
def test_a_slip_is_told_with_its_line(message: str, parts: dict[str, str], words: str) -> None:
    found = told(message, **parts)
    assert any(words in one for one in found) if words else not found, found
