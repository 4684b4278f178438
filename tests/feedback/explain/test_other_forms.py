"""The one change of a formula that gives it the values of the right one, which is written in another form."""

import pytest

from grader.feedback.explain.other_forms import mended

RIGHT = "return scale / (1.0f + expf(-x)) + x;"


@pytest.mark.parametrize(
    ("before", "line", "why"),
    [
        ("return scale * 0.5f * (1.0f + tanhf(x)) + x;  // by tanh",
         "return scale * 0.5f * (1.0f + tanhf(0.5f * x)) + x;  // by tanh", "has the sigmoid of 2 * x in it"),
        ("return scale * 0.5f * (1.0f + tanhf(-0.5f * x)) + x;",
         "return scale * 0.5f * (1.0f + tanhf(-(-0.5f * x))) + x;", "must get the negative of `-0.5f * x`"),
        ("return x + scale / (expf(x) + 1.0f);", "return x + scale / (expf(-x) + 1.0f);", "the sigmoid of -x"),
        ("return scale * 0.5f * (1.0f + std::tanh(2.0f * x)) + x;",
         "return scale * 0.5f * (1.0f + std::tanh(0.5f * x)) + x;", "`2.0f` is the wrong number"),
        ("return x + (1.0f + tanhf(0.5f * x)) * scale;",
         "return x + (0.5f * ((1.0f + tanhf(0.5f * x)) * scale));", "twice what it has to be"),
        ("return x - scale / (expf(-x) + 1.0f);", "return x + scale / (expf(-x) + 1.0f);", "`-` in `x - scale"),
        ("return x + scale / (1.0f + exp2f(-x));", "return x + scale / (1.0f + expf(-x));", "the wrong function"),
        ("return x + scale / (1.0f + expf(-scale));", "return x + scale / (1.0f + expf(-x));", "not what belongs"),
    ],
)  # fmt: skip
def test_the_one_change_that_gives_the_right_values(before: str, line: str, why: str) -> None:
    found = mended(before, RIGHT)
    assert found is not None and found.line == line and why in found.cause


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("return scale * expf(x) / (1.0f + expf(x)) + x;", RIGHT),  # the same values, and an overflow
        ("return scale * 0.5f * (1.0f + tanhf(0.5f * x)) + x;", RIGHT),
        ("return scale / (1.0f - expf(-x)) + x;", RIGHT),  # which the search finds without any help
        ("return x + scale * (1.0f + expf(-x));", RIGHT),
        ("out[i] = n / 2 * x;", "out[i] = x * (n / 4);"),  # perhaps of whole numbers
        ("y[i] = 3.0f * x[i];", "out[i] = x[i] * 2.0f;"),
        ("return own(x) * 2.0f;", "return other(x) + 1.0f;"),
        ("return x ? 1.0f : 0.0f;", "return 1.0f;"),
        ("return " + "(" * 90 + "x" + ")" * 90 + ";", RIGHT),
        ("return " + "x + " * 49 + "x;", RIGHT),
        ("return ä * 2.0f;", RIGHT),
    ],
)
def test_nothing_is_said_of_what_is_not_known(before: str, after: str) -> None:
    assert mended(before, after) is None


def test_python_has_no_suffix() -> None:
    found = mended("out[i] = math.tanh(x[i])", "out[i] = 2 / (1 + math.exp(-2 * x[i])) - 1")
    assert found is None
    found = mended("out[i] = math.tanh(x[i])", "out[i] = 2 / (1 + math.exp(-x[i])) - 1")
    assert found is not None and found.line == "out[i] = math.tanh(0.5 * x[i])"
