"""What the pages of lessons 08 to 16 promise is what their tasks say, and the limits are those of CUDA."""

import ast
import math
import re
from pathlib import Path

import pytest

from grader.backends import detect
from grader.domain import lessons
from grader.domain.submission import read
from grader.referee.job import Job
from grader.referee.parts.counters import Counters
from grader.referee.pipeline import check, warm
from tools import mutants

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
    assert said[2] == f"allowed {bound.limit:,}. {bound.why}"
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


def test_lesson_10_names_as_many_claims_as_lesson_08_has():
    assert "## Thirteen claims" in page("08") and "Two of the thirteen\nclaims of lesson 08" in page("10")


def test_what_ncu_counts_of_call_py_begins_after_it_is_built():
    commands = [line for line in page("09").splitlines() if line.startswith("ncu ") and "call.py" in line]
    assert len(commands) == 4 and all("--profile-from-start off" in line for line in commands)
    square, transpose = (next(c for c in lessons.find("09").task.cases if c.name == name)
                         for name in ("square", "transpose"))  # fmt: skip
    for case in (square, transpose):
        rows, cols = case.args[0].shape
        assert f"*{case.name}* ({rows} \N{MULTIPLICATION SIGN} {cols})" in page("09")


def test_the_reference_of_lesson_13_does_not_hold_its_first_answer():
    text = (lessons.find("13").folder / "reference.py").read_text("utf-8")
    assert "* 2048).half()" in (ROOT / "solutions/13_tensor_cores/solution.py").read_text("utf-8")
    assert "2048" not in text and ".half()" not in text


@pytest.mark.thorough
@pytest.mark.slow
def test_the_stages_of_lesson_13_need_no_todo_of_a_later_one(tmp_path):
    lesson = lessons.find("13")
    source = lesson.solution.read_text("utf-8")
    refused = source[source.index("    for (auto* t :") : source.index("    const int rows = xh.size(0)")]
    file = tmp_path / "exercise.py"
    file.write_text(source.replace(refused, ""), "utf-8")  # TODO 5 alone is left
    job = Job(lesson.name, lesson.task, lesson.reference, read(file), detect.Choice("simt", "a test"))
    verdict = check(warm(job)).verdict
    assert set(verdict.left) & set(lesson.task.stages[2].checks)
    assert not set(verdict.left) & {name for stage in lesson.task.stages[:2] for name in stage.checks}


@pytest.mark.thorough
@pytest.mark.slow
def test_whole_tiles_are_enough_for_the_first_three_stages_of_lesson_16(tmp_path):
    lesson = lessons.find("16")
    source = lesson.solution.read_text("utf-8")
    for ends, none in (
        ("min(m, min(n, first + QUERIES) + past)", "m"), ("row < n ? float(", "(float("),
        (") : 0.0f;", "));"), ("j0 + r < m ? float(", "(float("), ("row < n && e", "e"),
        ("j0 + lane < m && j0 + lane <= row + past ? score * scale : -INFINITY", "score * scale"),
    ):  # fmt: skip
        assert ends in source
        source = source.replace(ends, none)
    file = tmp_path / "exercise.py"
    file.write_text(source, "utf-8")  # TODO 5 is left
    job = Job(lesson.name, lesson.task, lesson.reference, read(file), detect.Choice("simt", "a test"))
    verdict = check(warm(job)).verdict
    assert not set(verdict.left) & {name for stage in lesson.task.stages[:3] for name in stage.checks}
    assert verdict.open_stage == 3


@pytest.mark.slow
def test_the_tree_of_lesson_14_has_as_many_barriers_as_its_prediction_says(tmp_path):
    lesson = lessons.find("14")
    (tree,) = (m for m in mutants.declared(lesson) if m.name == "a tree in shared memory")
    file = tmp_path / "exercise.py"
    file.write_text(tree.text(lesson.solution.read_text("utf-8")), "utf-8")
    job = Job(lesson.name, lesson.task, lesson.reference, read(file), detect.Choice("simt", "a test"))
    found = {f.id: f.evidence for f in check(warm(job)).verdict.findings}["few barriers"]
    rows = next(part for part in lesson.task.parts if isinstance(part, Counters)).case.args[0].shape[0]
    (asked,) = (p for p in lesson.task.predictions if p.what == "tree_barriers")
    assert found["count"] % rows == 0 and found["count"] // rows == asked.answer


@pytest.mark.thorough
@pytest.mark.slow
def test_three_passes_of_lesson_15_read_and_wait_as_its_predictions_say():
    lesson = lessons.find("15")
    job = Job(
        lesson.name, lesson.task, lesson.reference, read(lesson.solution), detect.Choice("simt", "a test")
    )
    found = {f.id: f.evidence for f in check(warm(job)).verdict.findings}
    rows, cols = next(part for part in lesson.task.parts if isinstance(part, Counters)).case.args[0].shape
    asked = {p.what: p.answer for p in lesson.task.predictions}
    assert cols == 1024
    assert found["along the rows"]["count"] == rows * asked["three_passes"]
    assert found["few barriers"]["count"] == rows * asked["row_barriers"]


def test_the_long_row_of_lesson_15_is_longer_than_a_block_can_hold():
    (case,) = (c for c in lessons.find("15").task.cases if c.name == "very long rows")
    assert "227 KB of shared memory, 58,112 floats" in page("15") and 58_112 == 227 * 1024 // 4
    assert case.args[0].shape[1] == 70_000 > 58_112


def counted_in_16(text, tmp_path):
    """What the checks of lesson 16 counted of a version, by their names."""
    lesson, file = lessons.find("16"), tmp_path / "exercise.py"
    file.write_text(text, "utf-8")
    job = Job(lesson.name, lesson.task, lesson.reference, read(file), detect.Choice("simt", "a test"))
    found = {f.id: f.evidence for f in check(warm(job)).verdict.findings}
    return {name: evidence["count"] for name, evidence in found.items() if "count" in evidence}


@pytest.mark.thorough
@pytest.mark.slow
def test_one_kernel_of_lesson_16_writes_its_result_and_three_write_both_matrices_of_scores_too(tmp_path):
    lesson = lessons.find("16")
    (part, _, model) = (part for part in lesson.task.parts if isinstance(part, Counters))
    (n, d), (m, _) = part.case.args[0].shape, part.case.args[1].shape
    _, heads, rows, features = model.case.args[0].shape
    solution = lesson.solution.read_text("utf-8")
    one = counted_in_16(solution, tmp_path)
    assert one["no stored scores"] * 32 == 4 * n * d
    assert one["shared tiles"] * 32 == 4 * (n * d + n // 16 * 2 * m * d)
    assert one["written once"] * 32 == 2 * heads * rows * features
    (three,) = (mutant for mutant in mutants.declared(lesson) if mutant.name == "three kernels")
    apart = counted_in_16(three.text(solution), tmp_path)
    assert apart["no stored scores"] * 32 == 4 * (2 * n * m + n * d) > 32 * part.bounds[1].limit
    assert apart["written once"] * 32 == heads * rows * (2 * 4 * rows + 2 * features)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("no C++", "No extension that the file builds binds scale_shift"),
        ("a name that Python put there", "No extension that the file builds binds scale_shift"),
        ("C++ that does something else", "First wrong"),
    ],
)
def test_in_lesson_01_what_python_computes_earns_nothing(tmp_path, name, words):
    lesson = lessons.find("01")
    source = lesson.solution.read_text("utf-8")
    by_python = source.replace("return extension.scale_shift(x, scale, shift)", "return x * scale + shift")
    assert by_python != source
    unbound = by_python.replace('        "scale_shift": "Return x * scale + shift as a new tensor.",\n', "")
    unbound = unbound.replace("return extension.scale_shift.__doc__", 'return "scale_shift(x)\\n\\nReturns."')
    texts = {
        "no C++": unbound,
        "a name that Python put there": f"{unbound}\n\nextension.scale_shift = scale_shift\n",
        "C++ that does something else": by_python.replace("return x * scale + shift;", "return x + scale;"),
    }
    file = tmp_path / "exercise.py"
    file.write_text(texts[name], "utf-8")
    job = Job(lesson.name, lesson.task, lesson.reference, read(file), detect.Choice("simt", "a test"))
    found = {f.id: f for f in check(warm(job)).verdict.findings}
    assert found["greeting"].ok and not found["matrix"].ok
    assert words in found["matrix"].message and "without the Python around it" in found["matrix"].message
