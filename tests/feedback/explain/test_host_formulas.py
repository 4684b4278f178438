"""Wrong formulas in host code: the line that made the result, the part that is wrong, and where digits are lost."""

from typing import Any

import pytest

from grader.domain.verdict import Finding, Status
from grader.feedback.explain import facts

HEAD = "torch::Tensor f(const torch::Tensor& x, double scale, double shift) {"
RIGHT = (2.5, -1.0)  # scale and shift


def told(body: str, head: str = HEAD, python: str = "", **evidence: Any) -> tuple[int, str, str]:
    """Line, cause and fix of what is said of a function; the body begins in line 3."""
    source = f'code = r"""\n{head}\n{body}\n}}\n"""\n{python}'
    status = evidence.pop("status", Status.WRONG_OUTPUT)
    name = evidence.pop("name", "a case")
    found = facts.explained(Finding(name, status, "First wrong: element [0].", 0, 1, evidence), source)
    return (found.line, found.cause, found.fix) if found else (0, "", "")


def line(factor: float, more: float) -> str:
    sign = "+" if more > 0 else "-"
    return f"{factor:.6g} * input 0{f' {sign} {abs(more):.6g}' if more else ''}"


def differs(got: tuple[float, float], right: tuple[float, float] = RIGHT) -> str:
    return f"the result is {line(*got)}, and the expected one {line(*right)}"


@pytest.mark.parametrize(
    ("body", "got", "at", "cause", "fix"),
    [
        ("    torch::Tensor r = (x + shift) * scale;\n    return r;", (2.5, -2.5), 3,
         "`(x + shift) * scale` multiplies shift by scale as well", "`x * scale + shift`"),
        ("    // 1\n    return scale * (x + shift);", (2.5, -2.5), 4, "multiplies shift by scale as well", "`scale * x + shift`"),
        ("    auto r = x.add(shift).mul(scale);\n    return r.contiguous();", (2.5, -2.5), 3,
         "`x.add(shift).mul(scale)` multiplies shift by scale", "`x * scale + shift`"),
        ("    auto y = x + shift;\n    y *= scale;\n    auto r = y;\n    return r;", (2.5, -2.5), 3,
         "made in lines 3 and 4, multiplies shift", "`x * scale + shift`"),
        ("    auto y = x + shift;\n    y.mul_(scale);\n    return y;", (2.5, -2.5), 3, "multiplies shift", "`x * scale + shift`"),
        ("    auto y = x * scale;\n    return y - shift;", (2.5, 1.0), 4, "has `-` where `+` belongs", "`x * scale + shift`"),
        ("    return torch::div(x, scale) + shift;", (0.4, -1.0), 3, "has `/` where `*` belongs", "`x * scale + shift`"),
        ("    return x * shift + scale;", (-1.0, 2.5), 3, "has scale and shift the wrong way round", "`x * scale + shift`"),
        ("    return shift - scale * x;", (-2.5, -1.0), 3, "has `-` where `+` belongs", "`shift + scale * x`"),
        ("    return x * scale + 2.0f * shift;", (2.5, -2.0), 3, "has `2.0 *` too much in `2.0 * shift`", "`x * scale + shift`"),
        ("    return x / scale + shift;", (0.4, -1.0), 3, "has `/` where `*` belongs", "`x * scale + shift`"),
    ],
)  # fmt: skip
def test_the_part_that_is_wrong_follows_from_two_lines(
    body: str, got: tuple[float, float], at: int, cause: str, fix: str
) -> None:
    where, said, write = told(body, pattern=differs(got))
    assert where == at
    assert cause in said
    assert f"{fix} gives the expected result" in write


@pytest.mark.parametrize("numbers", [[2.5, -1.0], [], [7.0, 1.0], [2.5]])
def test_the_numbers_of_the_check_tell_what_one_line_cannot(numbers: list[float]) -> None:
    """1.5 is 2.5 - 1, and -1 + 2.5 as well."""
    where, said, write = told("    return x * (scale + shift);", pattern=differs((1.5, 0.0)), numbers=numbers)
    assert where == 3
    if numbers == [2.5, -1.0]:
        assert "multiplies shift by x as well, because the sum is made first" in said
        assert "`x * scale + shift` gives the expected result" in write
    else:
        assert "The result of f is `x * (scale + shift)`" in said


def test_brackets_that_are_missing_and_sides_that_are_turned() -> None:
    _, said, fix = told("    return scale * x + shift;", pattern=differs((2.5, -1.0), (2.5, -2.5)))
    assert "does not multiply shift by scale: it needs brackets" in said and "`(x + shift) * scale`" in fix
    _, said, fix = told("    return scale - x;", pattern=differs((-1.0, 2.5), (1.0, -2.5)))
    assert "the two sides of `-` the wrong way round" in said and "`x - scale`" in fix


@pytest.mark.parametrize(
    ("body", "pattern"),
    [
        ("    return x * scale;", differs((2.5, 0.0))),  # nothing says what shift is
        ("    return torch::relu(x * scale);", differs((2.5, -2.5))),
        ("    return x * scale + shift;", differs((-1.0, 2.5), (7.0, 3.0))),  # no small change gives that
        ("    return (x + shift) * scale;", differs((3.0, -4.0))),
        ("    return (x + shift) * scale;", ""),
        ("    return x * scale * shift;", differs((-2.5, 0.0))),  # the factor says nothing of the two alone
    ],
)
def test_without_a_derivation_only_the_expression_is_named(body: str, pattern: str) -> None:
    where, said, fix = told(body, pattern=pattern)
    assert where == 3 and said.startswith("The result of f is `") and "gives the expected" not in fix


def test_the_line_is_that_of_the_expression_however_many_names_it_has() -> None:
    body = "    auto a = torch::relu(x);\n\n    torch::Tensor b = a.clone();\n    return (b);"
    assert told(body)[:2] == (3, "The result of f is `torch::relu(x)`. scale and shift are not used in f.")
    assert told("    return x;")[0] == 3
    body = "    torch::Tensor r(x * scale);\n    r = r + shift;\n    return r;"
    assert "`(x * scale) + shift`, made in lines 3 and 4" in told(body)[1]


FLOATS = "torch::Tensor f(const torch::Tensor& x, float scale, float shift) {"
BODY = "    return x * scale + shift;"
WRAPPER = "def g(x, a, b):\n    return m.f({}, a, b)\n"
NEAR: dict[str, Any] = {"expected": -0.36198190, "got": -0.36198190 * (1 + 3e-8)}


@pytest.mark.parametrize(
    ("body", "head", "python", "at", "words"),
    [
        (BODY, FLOATS, "", 2, "Declare `double scale` and `double shift`."),
        (BODY, HEAD.replace("double shift", "float shift"), "", 2, "Declare `double shift`."),
        ("    float s = scale;\n    return x * s + shift;", HEAD, "", 3, "`float s` is in float32"),
        ("    return x * static_cast<float>(scale) + shift;", HEAD, "", 3, "`static_cast<float>(scale)`"),
        ("    return x * torch::tensor(scale) + shift;", HEAD, "", 3, "`torch::tensor(scale)`"),
        ("    return x.to(torch::kFloat32) * scale + shift;", HEAD, "", 3, "`torch::kFloat32`"),
        ("    return x * scale + shift * 0.1f;", HEAD, "", 3, "`0.1f`"),
        (BODY, HEAD, WRAPPER.format("x.float()"), 7, "`x.float()` is in float32"),
        (BODY, HEAD, WRAPPER.format("torch.tensor(x)"), 7, "`torch.tensor(x)`"),
    ],
)
def test_a_result_that_is_right_to_seven_digits(
    body: str, head: str, python: str, at: int, words: str
) -> None:
    where, said, fix = told(body, head, python, **NEAR)
    assert where == at and words in f"{said} {fix}"


def test_a_float_is_the_cause_of_small_differences_alone() -> None:
    assert "float" not in told(BODY, FLOATS, expected=1.0, got=1.5, name="float64")[1]
    assert "floats here" in told(BODY, FLOATS, expected=1.0, got=1.000001, name="float64")[1]
    assert "floats here" not in told(BODY, FLOATS, expected=1.0, got=1.000001)[1]
    assert "float32" not in told("    return x * scale + shift * 0.5f;", **NEAR)[1]  # which is exact


@pytest.mark.parametrize(
    ("body", "call"),
    [
        ("    return x.to(torch::kFloat32) * scale + shift;", ".to(torch::kFloat32)"),
        ("    return x.to( at::kFloat ) * scale;", ".to(at::kFloat)"),
        ("    return x.to(torch::kDouble) * scale;", ""),
        ("    return x * scale;", ""),
    ],
)
def test_a_conversion_that_changes_the_dtype(body: str, call: str) -> None:
    message = "The result is float32, expected float64."
    source = f'code = r"""\n{HEAD}\n{body}\n}}\n"""\n'
    found = facts.explained(Finding("float64", Status.WRONG_DTYPE, message, 0, 1, {}), source)
    assert ((found.line, found.rule) if found else (0, "")) == ((3, "converted") if call else (0, ""))
    assert not call or (
        found and f"`{call}` makes it float32 whatever comes, and float64 came in." in found.cause
    )
