"""Numbers with a decimal comma: in the text of an error of syntax, and in values that came out as two."""

import ast

import pytest

from grader.domain.verdict import Finding, Status
from grader.feedback.explain import attach


def told(source: str, finding: Finding) -> tuple[int, str] | None:
    explanation = attach.explained(finding, source).evidence.get("explanation")
    if not explanation or explanation["rule"] != "decimal-comma":
        return None
    return explanation["line"], explanation["fix"]


def refused(source: str) -> Finding:
    with pytest.raises(SyntaxError) as raised:
        ast.parse(source)
    message = f"SyntaxError: mine.py, line {raised.value.lineno}: {raised.value.msg}"
    return Finding("load", Status.IMPORT_ERROR, message)


@pytest.mark.parametrize(
    ("source", "line", "number"),
    [
        ('A = {\n    "longest": 2695,6,\n    "last": 15.84,\n}\n', 2, "2695.6"),
        ('A = {\n    "longest": 2.695,6,  # us\n    "last": 15.84,\n}\n', 2, "2695.6"),
        ('A = {"a": 3, "b": 4,5}\n', 1, "4.5"),
        ('A = {"a": 0,05, "b": 4}\n', 1, "0.05"),
        ("f(x, scale=2,5)\n", 1, "2.5"),
        ("f(\n    x,\n    rtol=0,001,\n    atol=1,\n)\n", 3, "0.001"),
        ("f(x, scale=2,5,\n  y=3)\n", 1, "2.5"),
    ],
)
def test_what_python_refuses(source: str, line: int, number: str) -> None:
    assert told(source, refused(source)) == (
        line,
        f"If one number is meant, write `{number}`, with a point.",
    )


@pytest.mark.parametrize(
    ("source", "fix"),
    [
        ('A = {"a": 2,097,152}\n', "If one number is meant, write `2097152` or `2_097_152`."),
        ('A = {"a": 12,345,678, "b": 1}\n', "If one number is meant, write `12345678` or `12_345_678`."),
    ],
)
def test_commas_between_thousands(source: str, fix: str) -> None:
    assert told(source, refused(source)) == (1, fix)


@pytest.mark.parametrize("source", ['A = {"a": 3, "b"}\n', "f(a=1, 2)\n", "x = 007\n", "f(g=(1,2), 3)\n"])
def test_other_errors_of_syntax_keep_their_message(source: str) -> None:
    assert told(source, refused(source)) is None


def test_two_values_that_a_number_became() -> None:
    answer = Finding("a", Status.WRONG_ANSWER, "Line 2: f(3) is [2, 5], expected 2.5. Because.")
    point = "If one number is meant, write `2.5`, with a point."
    assert told("def f(x):\n    return 2,5\n", answer) == (2, point)
    assert told('T = {\n    "a": 1,\n    "f": (2,5),\n}\n', answer) == (3, point)
    assert told("def f(x):\n    return [2, 5]\n", answer) is None
    other = Finding("a", Status.WRONG_ANSWER, "Line 2: f(3) is 4, expected 2.5. Because.")
    assert told("shape = 2,5\n", other) is None
    product = Finding("a", Status.RAISED, "TypeError: can't multiply sequence by non-int of type 'float'")
    assert told("s = 2,5\n", product) == (1, point)


def test_one_argument_too_many_and_a_list_of_pairs() -> None:
    many = Finding(
        "a",
        Status.RAISED,
        "TypeError: M.__init__() takes 4 positional arguments but 5 were given (line 1: m)",
    )
    assert told("m = M(16, 32, 2,5)\n", many) == (1, "If one number is meant, write `2.5`, with a point.")
    assert told("m = M(16,32)\n", many) is None
    wrong = Finding("a", Status.WRONG_ANSWER, "too many sizes")
    assert told("S = [0,5, 1,5, 2,0]\n", wrong) == (1, "If one number is meant, write `0.5`, with a point.")
    assert told("S = [1,2,3,4]\nT = [1, 2, 3, 4]\nU = [(1,2), (3,4)]\n", wrong) is None


def test_a_decimal_comma_in_cuda() -> None:
    source = "s = r'''\n__global__ void k(float* x) {\n    x[0] = x[0] * 0,5f;\n}\n'''\nm = load_inline('a', cuda_sources=s)\n"
    error = Finding(
        "load", Status.COMPILE_ERROR, "a.py, line 3: unable to find numeric literal operator 'operator\"\"f'"
    )
    assert told(source, error) == (3, "If one number is meant, write `0.5f`, with a point.")


@pytest.mark.parametrize(
    ("source", "line"),
    [('A = {\n    "longest": 2,695.6,\n}\n', 2), ("f(x, scale=2,695.6)\n", 1)],
)
def test_a_comma_between_thousands(source: str, line: int) -> None:
    assert told(source, refused(source)) == (line, "If one number is meant, write `2695.6`.")
