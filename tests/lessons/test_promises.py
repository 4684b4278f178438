"""What the pages of lessons 08 and 09 promise is what their tasks say, and the limits are those of CUDA."""

import ast
import math
import re
from pathlib import Path

import pytest

from grader.domain import lessons
from grader.referee.parts.counters import Counters

ROOT = Path(__file__).resolve().parents[2]
NINE = ROOT / "solutions/09_memory"
# Threads, registers, bytes of shared memory, and what cudaOccMaxActiveBlocksPerMultiprocessor of CUDA 13's
# cuda_occupancy.h says for compute capability 9.0. Registers are given out in quarters of a multiprocessor.
RESIDENT = [
    (32, 16, 0, 32),
    (96, 40, 0, 16),
    (96, 41, 0, 13),
    (160, 56, 0, 7),
    (224, 64, 0, 4),
    (256, 72, 16384, 3),
    (256, 36, 0, 6),
    (40, 72, 0, 14),
    (1024, 64, 0, 1),
    (1024, 65, 0, 0),
    (128, 32, 40000, 5),
    (128, 32, 32329, 6),
    (128, 32, 32640, 6),
    (64, 255, 0, 4),
    (512, 128, 100000, 1),
]


def page(number):
    return (lessons.find(number).folder / "README.md").read_text("utf-8")


def of_file(path, name):
    """The function ``name`` of a file that cannot be imported without a GPU or a stand-in."""
    tree = ast.parse(path.read_text("utf-8"))
    (found,) = (node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == name)
    scope = {"math": math, "ceil": math.ceil}
    exec(compile(ast.Module([found], []), str(path), "exec"), scope)
    return scope[name]


def laws(name):
    task = lessons.find("09").task
    yield next(part.answer for part in task.parts if getattr(part, "entry", "") == name)
    for path in (NINE / "solution.py", *sorted((NINE / "alternatives").glob("*.py"))):
        yield of_file(path, name)


def test_as_many_blocks_are_resident_as_the_occupancy_calculator_says():
    for law in laws("resident_blocks"):
        assert [law(*args) for *args, _ in RESIDENT] == [blocks for *_, blocks in RESIDENT]


@pytest.mark.parametrize(
    ("nbytes", "flops", "ns"), [(4240, 0, 1), (4241, 0, 2), (4240, 66_901, 2), (0, 66_900, 1)]
)
def test_the_floor_is_the_larger_of_two_times_rounded_up(nbytes, flops, ns):
    assert {law(nbytes, flops) for law in laws("floor_ns")} == {ns}


def test_the_message_that_lesson_09_promises_is_that_of_its_first_bound():
    lesson = lessons.find("09")
    bound = next(part for part in lesson.task.parts if isinstance(part, Counters)).bounds[0]
    assert bound.name == lesson.task.starter_fails
    said = re.search(
        r"^Counted ([\d,]+) global load sectors, (.*) Line (\d+) makes \1 of them\.$", page("09"), re.M
    )
    assert said
    assert said[2] == f"allowed {bound.at_most:,}. {bound.why}"
    starter = lesson.exercise.read_text("utf-8").splitlines()
    assert "in[i] * in[i]" in starter[int(said[3]) - 1]


def test_lesson_08_asks_how_many_of_its_claims_are_true():
    text = page("08")
    claims = re.findall(r"^(\d+)\. ", text.split("## Thirteen claims")[1].split("\n## ")[0], re.M)
    verdicts = re.findall(r"^\| (\d+) [^|]* \| (true|false|depends) \|", text, re.M)
    assert [number for number, _ in verdicts] == claims == [str(n) for n in range(1, 14)]
    (asked,) = (p for p in lessons.find("08").task.predictions if p.what == "claims_true")
    counted = {word: [w for _, w in verdicts].count(word) for word in ("true", "false", "depends")}
    assert counted == {"true": asked.answer, "false": 8, "depends": 4}
