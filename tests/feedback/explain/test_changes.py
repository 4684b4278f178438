"""Differences between files, each as a change that can be tried."""

import ast

import pytest

from grader.domain import lessons
from grader.feedback.explain.alternatives import instrumented, ranked
from grader.feedback.explain.changes import differences, together, units

RIGHT = '''cuda = r"""
#include <torch/extension.h>
__global__ void square(const float* in, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] * in[i];
}
"""


def mean(values):
    total = 0.0
    for value in values:
        total += value
    return total / len(values)
'''


def test_a_files_own_names_are_no_differences() -> None:
    wrong = RIGHT.replace("total", "summe").replace("value", "item").replace("in[i]", "src[i]")
    wrong = wrong.replace("* in,", "* src,")
    assert differences(wrong, RIGHT) == []


def test_a_slip_is_the_only_difference_of_a_file_with_other_names() -> None:
    wrong = RIGHT.replace("total", "summe").replace("summe / len(values)", "summe / len(values) + 1")
    (only,) = differences(wrong, RIGHT)
    assert (only.whole.kind, only.whole.was, only.whole.line) == ("delete", "+ 1", 14)
    assert only.whole.apply(wrong) == RIGHT.replace("total", "summe").replace("(values)\n", "(values) \n")


def test_an_operator_is_put_as_it_stands_in_the_right_file() -> None:
    right = "a = f(\n    n / 4, cols / 4)\nb = 1\nc = 2\n"
    (only,) = differences(right.replace("cols / 4", "cols"), right)
    assert only.whole.apply(right.replace("cols / 4", "cols")) == right


def test_a_return_that_stands_in_the_loop_is_a_matter_of_columns() -> None:
    wrong = RIGHT.replace("    return total", "        return total")
    (only,) = differences(wrong, RIGHT)
    assert only.whole.kind == "indent" and only.whole.apply(wrong) == RIGHT


def test_a_lost_line_is_put_back_in_its_column() -> None:
    wrong = RIGHT.replace("        total += value\n", "        pass\n")
    every = together([d.whole for d in differences(wrong, RIGHT)])
    ast.parse(every.apply(wrong))
    assert "        total += value" in every.apply(wrong)


def test_units_of_a_file_that_does_not_parse() -> None:
    found = units(RIGHT.replace("in values:", "in values"))
    assert any(unit.cpp for unit in found) and any(unit.tokens[:1] == ("return",) for unit in found)


@pytest.mark.parametrize("lesson", lessons.every(), ids=lambda lesson: lesson.number)
def test_a_solution_does_not_differ_from_itself_and_keeps_its_lines(lesson: lessons.Lesson) -> None:
    source = lesson.solution.read_text("utf-8")
    assert differences(source, source) == []
    text, made = instrumented(source)
    assert text.count("\n") == source.count("\n")
    assert [one.number for one in made] == list(range(1, len(made) + 1))
    assert sorted(ranked(made, {1}), key=lambda one: one.number) == made


def test_an_alternative_is_a_change_of_the_file() -> None:
    _, made = instrumented(RIGHT)
    texts = {one.change.apply(RIGHT) for one in made}
    assert RIGHT.replace("i < n", "i <= n") in texts
    assert RIGHT.replace("blockIdx.x * blockDim.x", "gridDim.x * blockDim.x") in texts


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("scale / (1.0f + expf(-v) + v)", "scale / (1.0f + expf(-v)) + v"),
        ("scale / (expf(-v) + v)", "scale / expf(-v) + v"),
        ("(v + scale) / n", "v + scale / n"),
        ("scale * (1.0f + v + n)", "scale * (1.0f + v) + n"),
        ("expf(-v + scale)", "expf(-v) + scale"),
        ("expf(-v) + scale", "expf(-v + scale)"),
        ("expf(-fabsf(v))", "expf(-v)"),
        ("std::abs(v - scale) * v", "(v - scale) * v"),
        ("sqrtf(v)", "v"),
        ("floorf(v)", "v"),
        ("fmaxf(v, 0.0f)", "v"),
        ("std::max(0.0f, v)", "v"),
    ],
)
def test_a_bracket_that_is_moved_and_a_function_that_is_left_away(wrong: str, right: str) -> None:
    form = 'cuda = r"""\n__global__ void k(const float* x, float* out, float scale, int n) {{\n  const float v = x[0];\n  out[0] = {};\n}}\n"""\n'
    source = form.format(wrong)
    _, made = instrumented(source)
    assert form.format(right) in {one.change.apply(source) for one in made}
