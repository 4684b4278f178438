"""A semicolon that lacks within a line, and a name in functions that no C++ function has."""

import pytest

from grader.backends.simt.compile.tokens import Token, tokenize
from grader.feedback.explain import explain, own_lines

SOURCE = '''source = r"""
__global__ void k(float* x) {{
    {line}
}}
"""
'''


def told(line: str, error: str) -> str:
    found = explain(f"s.py:3:9: error: {error}\n    3 | {line}", SOURCE.format(line=line))
    assert found is not None and found.line == 3
    return f"{found.cause} {found.fix}"


@pytest.mark.parametrize(
    ("line", "right"),
    [
        ("if (t < n) a[t] = x[i] else a[t] = 0;", "if (t < n) a[t] = x[i]; else a[t] = 0;"),
        ("if (t < n) f(t) else f(0);", "if (t < n) f(t); else f(0);"),
    ],
)
@pytest.mark.parametrize(
    "error", ["expected ';' before 'else'", 'expected a ";"', "expected ';' after expression"]
)
def test_a_semicolon_before_else(line: str, right: str, error: str) -> None:
    assert f"Write `{right}`." in told(line, error)


def test_a_word_that_the_compiler_did_not_expect_within_a_line() -> None:
    said = told("a[t] = x[i] y[i];", "expected ';' before 'y'")
    assert "a semicolon is missing there, or a sign" in said and "end of this line" not in said


def test_a_semicolon_at_the_end_of_a_line() -> None:
    source = SOURCE.format(line="a[t] = 1\n    b[t] = 2;")
    found = explain("s.py:4:9: error: expected ';' before 'b'\n    4 |     b[t] = 2;", source)
    assert found is not None and found.line == 3 and "at the end of this line" in found.cause


BOUND = '''module = load_inline(
    "a", "torch::Tensor twice(torch::Tensor x);",
    r"""
torch::Tensor twice(torch::Tensor x) { return 2 * x; }
""",
    functions=["%s"])
'''


def test_the_only_function_is_named_for_a_name_that_is_nowhere() -> None:
    log = "bindings:2:1: error: 'bias_relu' was not declared in this scope"
    found = explain(log, BOUND % "bias_relu")
    assert found is not None and found.rule == "bound-name"
    assert found.fix == 'No C++ function of the file is called bias_relu. Write "twice" in functions.'
    here = BOUND.replace("{ return", "{ bias_relu(x); return") % "bias_relu"
    known = explain(log, here)
    assert known is not None and "must hold the function's declaration" in known.fix


@pytest.mark.parametrize("base", ["2.718f", "2.71828", "M_E"])
def test_a_power_of_e(base: str) -> None:
    said = told(f"x[t] = 1 / (1 + {base} ** (-v));", "invalid type argument of unary '*' (have 'float')")
    assert "`expf(-v)`" in said
    other = told("x[t] = v ** 2.0f;", "invalid type argument of unary '*' (have 'float')")
    assert "powf" in other


def test_a_square_is_written_with_the_line_s_own_words() -> None:
    for code, right in (
        ("out[i] = in[i] ** 2;", "`in[i] * in[i]`"),
        ("out[i] = x[me()] ** 2;", "`x[me()] * x[me()]`"),
        ("return value**2;", "`value * value`"),
    ):
        assert own_lines.better("python-power", "", code) == f"Multiply: {right}."
    assert own_lines.better("python-power", "", "out[i] = x[i] ** 2.5f;") == ""


def test_the_tensors_that_a_launch_gets_are_named() -> None:
    source = 'cuda = r"""\ntorch::Tensor f(torch::Tensor x) {\n    auto out = torch::empty_like(x);\n}\n"""\n'
    said = own_lines.better("tensor-for-pointer", source, "k<<<grid, block>>>(x, out, rows);")
    assert said == "Hand over `x.data_ptr<float>()` and `out.data_ptr<float>()`."
    assert own_lines.better("tensor-for-pointer", source, "k<<<grid, block>>>(") == ""


MANY = '''source = r"""
#include <cuda.h>
__global__ void k(float4* out, int n) {
    if (out[0].x > f(1,
            2)) n = 3;
    for (int i = 0; i < n;
         ++i) g(i);
    out[1] = make_float4(one(1), two(2),
                         one(3), two(4));
    if (n > 2)
        out[2] = one(1);
    else out[3] = make_float2(
        n, n);
    out[4] = n; out[5] = pair(n,
                              n);
    auto f = [&](int i) {
        out[i] = one(
            i);
    };
}
"""
done = 1
'''


@pytest.mark.parametrize(
    ("line", "begun"),
    [(2, 2), (3, 3), (4, 4), (5, 5), (7, 7), (8, 8), (9, 8), (11, 11), (12, 12), (13, 12), (15, 14), (17, 17), (18, 17),
     (22, 22), (99, 99)],
)  # fmt: skip
def test_a_statement_over_several_lines_begins_in_its_first(line: int, begun: int) -> None:
    assert own_lines.begun(own_lines.code_of(MANY), line) == begun


@pytest.mark.parametrize("text", ["if (a)\n" * 20_000, "else\n" * 30_000, "(\n" * 60_000, "if (" * 30_000])
def test_where_a_statement_begins_is_asked_of_what_is_near(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A grading asks it of each finding: no text may make it read the same again and again."""
    read: list[int] = []

    def counted(code: str) -> list[Token]:
        read.append(len(code))
        return tokenize(code)

    monkeypatch.setattr(own_lines, "tokenize", counted)
    line = text.count("\n") + 1
    assert own_lines.begun(f"{text}x = 1", line) == line
    assert sum(read) <= own_lines.MOST_HEADS * own_lines.REACH
