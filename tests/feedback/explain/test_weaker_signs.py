"""Signs that bind weaker than the one beside them, quotients that are not rounded up, ranges that end too early."""

from __future__ import annotations

import pytest

from grader.domain.verdict import Finding, Status
from grader.feedback.explain import (
    added_to_nothing,
    attach,
    ceilings,
    dimensions,
    facts,
    host_formulas,
    short_ranges,
    tensor_calls,
    weaker_signs,
)
from grader.feedback.explain.source_text import read

KERNEL = 'code = r"""\n__global__ void k(const float* x, float* out, int n) {{\n    {}\n}}\n"""\n'
HOST = 'code = r"""\ntorch::Tensor f(const torch::Tensor& x, double a, double b) {{\n    return {};\n}}\n"""\ny = m.f(x, a, b)\n'
PYTHON = "def k(block, thread, size, n, x, out):\n    {}\n"
WRONG = Finding("a case", Status.WRONG_OUTPUT, "First wrong: element [0] is 1, expected 2.")


def fixes(module: object, source: str, finding: Finding = WRONG) -> list[str]:
    every = module.FACTS  # type: ignore[attr-defined]
    return [f.fix for find, when in every if finding.status in when for f in find(read(source), finding)]


def on_grid(line: int, said: str = "x[1] would have to be read for out[0] as well.") -> Finding:
    message = f"Line {line}: out[0] is 0, expected 1. {said}"
    return Finding("k", Status.WRONG_OUTPUT, message, 0, 1, {"on_grid": "k"})


@pytest.mark.parametrize(
    ("code", "right"),
    [
        ("t > 0 ? x[t - 1] : 0 + x[t]", "(t > 0 ? x[t - 1] : 0) + x[t]"),
        ("v + t > 0 ? x[t - 1] : 0", "v + (t > 0 ? x[t - 1] : 0)"),
        ("(a ? b : c) + t + 1 < n ? x[t + 1] : 0", "(a ? b : c) + (t + 1 < n ? x[t + 1] : 0)"),
        ("t == 0 ? 0 : x[t - 1] + x[t]", "(t == 0 ? 0 : x[t - 1]) + x[t]"),
        ("i >= n ? 0 : x[i] + y[i]", ""),
        ("i < n ? x[i] + y[i] : 0", ""),
        ("t + 1 < n ? x[t + 1] : 0", ""),
        ("v < 0.0f ? 0.0f : v + w", ""),
        ("(t > 0 ? x[t - 1] : 0) + x[t]", ""),
    ],
)
def test_a_choice_beside_a_sum(code: str, right: str) -> None:
    told = fixes(weaker_signs, KERNEL.format(f"out[t] = {code};"))
    assert told == ([f"Put brackets around each conditional: `{right}`."] if right else [])


@pytest.mark.parametrize(
    ("code", "right"),
    [
        ("x[i] + x[i - 1] if i > 0 else 0", "x[i] + (x[i - 1] if i > 0 else 0)"),
        ("x[i - 1] + x[i] if i > 0 else 0 + x[j]", "(x[i - 1] if i > 0 else 0) + x[i] + x[j]"),
        ("0 if i == 0 else x[i - 1] + x[i]", "(0 if i == 0 else x[i - 1]) + x[i]"),
        ("x[i - 1] if i > 0 else 0", ""),
        ("x[i] + y[i] if i < n else 0", ""),
    ],
)
def test_a_conditional_beside_a_sum(code: str, right: str) -> None:
    told = fixes(weaker_signs, PYTHON.format(f"out[i] = {code}"), on_grid(2))
    assert told == ([f"Put brackets around each conditional: `{right}`."] if right else [])


@pytest.mark.parametrize(
    ("code", "right"),
    [
        ("n // s + n % s > 0", "n // s + (n % s > 0)"),
        ("n // s + n % s != 0", "n // s + (n % s != 0)"),
        ("n // s + n % s and 1", "n // s + (n % s and 1)"),
        ("n // s + (n % s > 0)", ""),
    ],
)
def test_a_comparison_of_a_sum(code: str, right: str) -> None:
    finding = Finding("f", Status.WRONG_ANSWER, "Line 2: f(32, 8) is True, expected 4.")
    told = fixes(weaker_signs, f"def f(n, s):\n    return {code}\n", finding)
    assert [right in one for one in told] == ([True] if right else [])


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("int b = n / s + n % s > 0;", "`(n + s - 1) / s`"),
        ("if (i & 1 == 0) out[i] = 1;", "`(i & 1) == 0`"),
        ("int b = n / s + (n % s > 0);", ""),
        ("if ((i & 1) == 0) out[i] = 1;", ""),
        ("if (a && 1 == b) out[i] = 1;", ""),
    ],
)
def test_a_comparison_in_cpp(code: str, told: str) -> None:
    found = fixes(weaker_signs, KERNEL.format(code))
    assert [told in one for one in found] == ([True] if told else [])


@pytest.mark.parametrize(
    ("code", "args", "says"),
    [
        ("round(n / s + 0.5)", [8, 8], "to the even one"),
        ("int(n / s + 0.999)", [1025, 1024], "int makes 1 of it"),
        ("int(n / s + 1)", [32, 8], "where nothing is left over"),
        ("round(n / s + 0.5)", [9, 8], ""),
    ],
)
def test_a_rounding_that_is_no_ceiling(code: str, args: list[int], says: str) -> None:
    finding = Finding("f", Status.WRONG_ANSWER, f"Line 2: f({args}) is 3, expected 4.", 0, 1, {"args": args})
    text = read(f"def f(n, s):\n    return {code}\n")
    every = [f for find, when in ceilings.FACTS if finding.status in when for f in find(text, finding)]
    assert [says in f.cause and "`(n + s - 1) // s`" in f.fix for f in every] == ([True] if says else [])


@pytest.mark.parametrize(
    ("grid", "wrong"),
    [
        ("(n - b + 1) / b", True),
        ("(n + 1) / b", True),
        ("(n - 1) / b", True),
        ("(n + b) / b - 1", True),
        ("(n + b - 1) / b", False),
        ("(n - 1 + b) / b", False),
        ("(n - 1) / b + 1", False),
        ("(n + b + 1) / b", False),
    ],
)
def test_a_grid_that_is_not_rounded_up(grid: str, *, wrong: bool) -> None:
    source = f'code = r"""\n__global__ void k(int n) {{}}\nvoid f(int n, int b) {{\n    const int g = {grid};\n    k<<<g, b>>>(n);\n}}\n"""\n'
    lost = Finding("c", Status.UNINITIALISED, "5 of 9 elements were never written.")
    assert fixes(ceilings, source, lost) == (["Write `(n + b - 1) / b`."] if wrong else [])


def test_what_is_rounded_up_nearly_is_no_advice() -> None:
    assert ceilings.no_ceiling("dim3 g((n + b + 1) / b);")
    assert not ceilings.no_ceiling("dim3 g((n + b - 1) / b, (m - 1) / b + 1, (lo + hi) / 2);")


@pytest.mark.parametrize(
    ("code", "right"),
    [
        ("sum(x[j] for j in range(max(i - 1, 0), min(i + 1, n)))", "min(i + 2, n)"),
        ("sum(x[j] for j in range(max(i - 1, 0), min(i + 2, n - 1)))", "min(i + 2, n)"),
        ("sum(x[i - 1:i + 1])", "i + 2"),
        ("sum(x[j] for j in range(max(i - 1, 0), min(i + 2, n)))", ""),
    ],
)
def test_a_range_that_ends_before_the_last(code: str, right: str) -> None:
    source = PYTHON.format(f"out[i] = {code}")
    assert [f"Write `{right}` in" in one for one in fixes(short_ranges, source, on_grid(2))] == [True] * bool(
        right
    )
    assert not fixes(short_ranges, source, on_grid(2, "Other."))


@pytest.mark.parametrize(
    ("loop", "right"),
    [
        ("int j = t - 1; j < t + 1;", "j <= t + 1"),
        ("int d = -1; d < 1;", "d <= 1"),
        ("int j = max(t - 1, 0); j < min(t + 1, n);", "j < min(t + 2, n)"),
        ("int j = max(t - 1, 0); j < min(t + 1, n - 1);", "j <= min(t + 1, n - 1)"),
        ("int j = t - 1; j <= t + 1;", ""),
        ("int j = t - 1; j < t + 2;", ""),
    ],
)
def test_a_loop_that_ends_before_the_last(loop: str, right: str) -> None:
    told = fixes(short_ranges, KERNEL.format(f"for ({loop} ++j) s += x[j];"))
    assert told == ([f"Write `{right}`."] if right else [])


@pytest.mark.parametrize(
    ("call", "says"),
    [
        ("torch::add(x, b, a)", "`x * a + b`"),
        ("x.sub(b, a)", "`x * a - b`"),
        ("torch::where(x > 0, a, x)", "`torch::where(x > 0, x, a)`"),
        ("torch::clamp(x, 1, -1)", "`torch::clamp(x, -1, 1)`"),
        ("torch::add(x, b)", ""),
        ("torch::clamp(x, -1, 1)", ""),
    ],
)
def test_arguments_of_torch(call: str, says: str) -> None:
    told = fixes(tensor_calls, HOST.format(call))
    assert [says in one for one in told] == ([True] if says else [])


def test_a_call_that_is_right_is_not_looked_at() -> None:
    for call, asked in (("m.f(x, a, b)", False), ("m.f(x, b, a)", True)):
        source = HOST.format("torch::exp(x)").replace("m.f(x, a, b)", call)
        (fact,) = host_formulas.result(read(source), WRONG)
        assert ("what calls it" in fact.fix) == asked


@pytest.mark.parametrize(
    ("body", "fix"),
    [
        ("out[i] += x[i];", "Write `out[i] = x[i];`."),
        ("for (int k = 0; k < 3; ++k) out[i] += x[k];", "Put `out[i] = 0;` before the loop, or"),
        ("for (int k = 0; k < 3; ++k) out[k] += x[k];", "Store 0 in out[k] before"),
    ],
)
def test_out_is_added_to_in_cpp(body: str, fix: str) -> None:
    seen = {"kind": "uninitialised", "what": "reads element 0 of out (Float[3])", "line": 3}
    finding = Finding("memory", Status.UNINITIALISED, "", 0, 1, {"seen": [seen]})
    (told,) = fixes(added_to_nothing, KERNEL.format(body), finding)
    assert told.startswith(fix)


def test_sizes_that_are_counted_from_one() -> None:
    said = "IndexError: Dimension out of range (expected to be in range of [-2, 1], but got 2) (a.py, line 9: f(x))"
    source = HOST.format("x.reshape({{x.size(1), x.size(2)}})").replace("{{", "{").replace("}}", "}")
    found = dimensions.out_of_range(Finding("c", Status.RAISED, said), source)
    assert found and found.line == 3 and "x.size(0), x.size(1)" in found.fix and "from 0" in found.cause


def test_a_text_without_its_comma_and_one_without_a_mistake() -> None:
    finding = Finding("c", Status.WRONG_ANSWER, "Line 1: f() is 1, expected 2.")
    found = facts.explained(finding, 'a = ("one" "two", "three")\n')
    assert found and found.rule == "joined-texts" and '"onetwo"' in found.cause
    assert facts.explained(finding, 'a = ("one " "two", "three")\n') is None
    assert "explanation" not in attach.explained(finding, 'a = ("one", "two")\n').evidence
