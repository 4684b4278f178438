"""A bracket that closes too late or too early, told from the statement that is right."""

import pytest

from grader.feedback.explain import brackets


@pytest.mark.parametrize(
    ("before", "after", "words", "fix"),
    [
        ("return scale * (1.0f / (1.0f + expf(-x)) + x);  // no overflow", "return scale / (1.0f + expf(-x)) + x;",
         "x stands inside of the brackets and is multiplied by scale, too: close the bracket before `+ x`",
         "`scale * (1.0f / (1.0f + expf(-x))) + x`"),
        ("out[i] = a * (x[i] + b);", "out[i] = a * x[i] + b;", "b stands inside of the brackets", "`a * (x[i]) + b`"),
        ("return scale / (1.0f + expf(-x) + x);", "return x + scale / (1 + expf(-x));",
         "x stands inside of the brackets and is a part of what divides scale", "`scale / (1.0f + expf(-x)) + x`"),
        ("return (1.0f / (1.0f + expf(-x)) + x) * scale;", "return scale / (1.0f + expf(-x)) + x;",
         "scale multiplies all that stands in the brackets, and so x as well",
         "`(1.0f / (1.0f + expf(-x))) * scale + x`"),
        ("return (x + 1.0f / (1.0f + expf(-x))) * scale;", "return scale / (1.0f + expf(-x)) + x;",
         "scale multiplies all that stands in the brackets, and so x as well",
         "`x + (1.0f / (1.0f + expf(-x))) * scale`"),
        ("return scale * (x + 1.0f / (1.0f + expf(-x)));", "return scale / (1.0f + expf(-x)) + x;",
         "scale multiplies all that stands in the brackets, and so x as well",
         "`x + scale * (1.0f / (1.0f + expf(-x)))`"),
        ("return (scale + x) / (1.0f + expf(-x));", "return scale / (1.0f + expf(-x)) + x;",
         "(1.0f + expf(-x)) divides all that stands in the brackets, and so x as well",
         "`scale / (1.0f + expf(-x)) + x`"),
        ("out[i] = (b - x[i]) / s;", "out[i] = b - x[i] / s;",
         "s divides all that stands in the brackets, and so b as well", "`b - x[i] / s`"),
        ("return 1.0f / (1.0f + expf(-x)) * (scale + x);", "return scale / (1.0f + expf(-x)) + x;",
         "x stands inside of the brackets and is multiplied by `1.0f / (1.0f + expf(-x))`, too",
         "`1.0f / (1.0f + expf(-x)) * scale + x`"),
        ("const float y = (a) + b * c;", "const float y = (a + b) * c;", "the bracket closes too early", "`(a + b) * c`"),
        ("return tanhf(x + y);", "return y + tanhf(x);", "y stands inside of the brackets:", "`tanhf(x) + y`"),
    ],
)  # fmt: skip
def test_the_bracket_is_told(before: str, after: str, words: str, fix: str) -> None:
    found = brackets.moved(before, after)
    assert found is not None
    assert words in found[0] and fix in found[1]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("return a * (b + c);", "return a * (b - c);"),
        ("return a * (b + c);", "return a * (b + c);"),
        ("return a * (b + c);", "if (a) return b;"),
        ("out[i] = f(x) + y;", "out[i] = g(x) + y;"),
        ("bias_kernel<<<(n + 1) / 2, 2>>>(x);", "bias_kernel<<<n, 2>>>(x);"),
        ("return a * (b + c", "return a * b + c;"),
    ],
)
def test_other_changes_are_not(before: str, after: str) -> None:
    assert brackets.moved(before, after) is None


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (
            "scale * (y + x)",
            " In it scale multiplies all that stands in the brackets: `y`, and `+ x` as well.",
        ),
        (
            "(y + x) * scale",
            " In it scale multiplies all that stands in the brackets: `y`, and `+ x` as well.",
        ),
        ("(y - x) / s[i]", " In it s[i] divides all that stands in the brackets: `y`, and `- x` as well."),
        ("tanhf(y + x) * scale", ""),
        ("scale / (1.0f + expf(-x))", ""),
        ("(y * x) * scale", ""),
        (
            "1.0f / (1.0f + expf(-x)) * (scale + x)",
            " In it `1.0f / (1.0f + expf(-x))` multiplies all that stands in the brackets behind it: "
            "`scale`, and `+ x` as well.",
        ),
        ("1.0f / (1.0f + expf(-x)) * scale", ""),
        ("n % 2 / (y + x) * (y + x)", ""),
        ("n % scale * (y + x)", ""),
    ],
)
def test_what_a_factor_or_a_divisor_takes_in(value: str, words: str) -> None:
    assert brackets.reach(value) == words
