"""What a line computes, where what is right in its place is too much to be told."""

import pytest

from grader.feedback.explain import outermost
from grader.feedback.explain.changes import Change
from grader.referee.nearest import Nearest


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("return (1.0f / (1.0f + expf(-x)) + y) * scale;  // here", "return scale / (1.0f + expf(-x)) + x;",
         "Last of all it multiplies: `1.0 / (1.0 + expf(-x)) + y` * `scale`. A line with which the check passes adds last of all."),
        ("const float v = a - b * c;", "const float v = a * b;",
         "Last of all it subtracts: `a` - `b * c`. A line with which the check passes multiplies last of all."),
        ("return nn.Sequential(*layers), torch.randn(4, 8)", "return nn.Linear(3, 4), torch.randn(1, 3)",
         "It gives 2 values, `nn.Sequential(*layers)` and `torch.randn(4, 8)`."),
        ("times = sorted(times[1:], reverse=True)", "times = times[1:]", "Last of all it calls `sorted` with `times[1:]`."),
        ("out[i] = x[i + 1];", "out[i] = x[j];", "It takes the element `i + 1` of `x`."),
        ("if (i < n) {", "if (j < m) {", ""),
        ("kernel<<<a, b>>>(x);", "kernel<<<b, a>>>(y);", ""),
        ("x += 1", "x += 2", ""),
    ],
)  # fmt: skip
def test_the_outermost_operation_is_told(before: str, after: str, words: str) -> None:
    assert outermost.compared(before, after) == words


def test_no_card_of_the_search_says_only_that_something_else_passes() -> None:
    before, after = "return (f(x) - y) * (scale + z);", "return scale / (1.0f + expf(-x)) + x + y + z + 3;"
    change = Change(((0, 1, "a"), (2, 3, "b")), 1, "several", "a" * 60, "b" * 60, 4, pieces=2)
    told = Nearest(change, before, after, True, (1,)).as_json()
    assert "something else in its place" in str(told["cause"])
    assert "Last of all it multiplies: `f(x) - y` * `scale + z`." in str(told["cause"])
    assert "what the task asks for" in str(told["fix"])
    known = Nearest(change, before, after, True, (1,), "The element is what one makes.").as_json()
    assert str(known["cause"]).endswith("The element is what one makes.")
