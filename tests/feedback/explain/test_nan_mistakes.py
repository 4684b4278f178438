"""Comparisons that lose NaN are found in every form, and no others."""

from pathlib import Path

import pytest

from grader.domain.lessons import every
from grader.domain.verdict import Finding, Status
from grader.feedback.explain import attach, nan_mistakes
from grader.feedback.explain.source_text import read

NAN = Finding("nan and inf", Status.WRONG_OUTPUT, "First wrong: element [6, 0] is 0, expected nan.")
DEVICE = "__device__ float one(float v, float b) {{\n    float s = v + b;\n    {}\n}}\n"
KERNEL = (
    "__global__ void k(const float* x, float* out, int n) {{\n    int i = me(); float s = x[i];\n    {}\n}}\n"
)


def told(form: str, body: str, finding: Finding = NAN) -> dict[str, object] | None:
    source = f'source = r"""\n{form.format(body)}"""\nmodule = load_inline("m", cuda_sources=source)\n'
    explanation = attach.explained(finding, source).evidence.get("explanation")
    return explanation if explanation and explanation["rule"] == "nan-lost" else None


@pytest.mark.parametrize(
    ("form", "body", "fix"),
    [
        (DEVICE, "if (s > 0) {\n return s;\n }\n return 0.0f;", "`if (s < 0)`"),
        (DEVICE, "if (s >= 0.f) return s; else return 0.f;", "`if (s < 0.f)`"),
        (DEVICE, "if (0.0f < s) { return s; } return 0;", "`if (s < 0.0f)`"),
        (DEVICE, "if (!(s > 0)) return 0; return s;", "`if (s < 0)`"),
        (DEVICE, "if (!(s >= 0.0f)) { s = 0.0f; } return s;", "`if (s < 0.0f)`"),
        (DEVICE, "return (v + b) > 0.0f ? (v + b) : 0.0f;", "`v + b < 0.0f ? 0.0f : v + b`"),
        (DEVICE, "return 0 < s ? s : 0;", "`s < 0 ? 0 : s`"),
        (DEVICE, "return s < 6.0f ? s : 6.0f;", "`s > 6.0f ? 6.0f : s`"),
        (DEVICE, "float r = 0.0f; if (s > 0) r = s; return r;", "`if (s < 0)`"),
        (KERNEL, "if (i < n) { if (s > 0) { out[i] = s; } else { out[i] = 0; } }", "`if (s < 0)`"),
        (KERNEL, "if (i < n) out[i] = x[i] > 0 ? x[i] : 0;", "`x[i] < 0 ? 0 : x[i]`"),
        (KERNEL, "float4 v; v.x = v.x > 0.f ? v.x : 0.f; out[i] = v.x;", "`v.x < 0.f ? 0.f : v.x`"),
        (KERNEL, "if (i < n) out[i] = fmaxf(s, 0);", "Compare so that NaN stays"),
        (KERNEL, "if (i < n) out[i] = max(s, 0.0f);", "Compare so that NaN stays"),
    ],
)
def test_a_comparison_that_gives_a_number_for_nan(form: str, body: str, fix: str) -> None:
    found = told(form, body)
    assert found is not None and fix in str(found["fix"]), found
    assert found["line"] == 4


@pytest.mark.parametrize(
    ("form", "body"),
    [
        (DEVICE, "return s < 0 ? 0 : s;"),
        (DEVICE, "if (s < 0) return 0; return s;"),
        (DEVICE, "return s * (s > 0);"),
        (DEVICE, "if (s < 0.0f) s = 0.0f; return s;"),
        (KERNEL, "out[i] = i < n ? x[i] : 0;"),
        (KERNEL, "int count = min(64, n - i); if (i < count) out[i] = s;"),
        (KERNEL, "out[i] = i > 0 ? x[i - 1] : 0;"),
        (KERNEL, "if (i > 0) out[i] = x[i - 1]; else out[i] = 0;"),
        (KERNEL, "float sum = 0.0f; if (i > 0) sum = x[i]; out[i] = sum;"),
    ],
)
def test_what_keeps_nan_and_what_asks_for_an_index_is_left_alone(form: str, body: str) -> None:
    assert told(form, body) is None


@pytest.mark.parametrize(
    ("body", "fix"),
    [
        ("return s * (s > 0.0f);", "`s <= 0.0f ? 0.0f : s`"),
        ("return (0.0f < s) * s;", "`s <= 0.0f ? 0.0f : s`"),
        ("return s * static_cast<float>(s >= 0);", "`s < 0 ? 0.0f : s`"),
        ("return s * (float)(v < 0);", "`v >= 0 ? 0.0f : s`"),
    ],
)
def test_a_product_with_a_mask_makes_nan_of_infinity(body: str, fix: str) -> None:
    made = Finding("nan and inf", Status.NOT_FINITE, "First wrong: element [5, 0] is nan, expected 0.")
    source = f'source = r"""\n{DEVICE.format(body)}"""\nmodule = load_inline("m", cuda_sources=source)\n'
    explanation = attach.explained(made, source).evidence["explanation"]
    assert explanation["rule"] == "masked-product" and fix in explanation["fix"] and explanation["line"] == 4
    kept = Finding("nan and inf", Status.NOT_FINITE, "First wrong: element [5, 0] is nan, expected -nan.")
    other = attach.explained(kept, source).evidence.get("explanation")
    assert not other or other["rule"] != "masked-product"


def test_without_a_nan_in_the_message_no_comparison_is_blamed() -> None:
    other = Finding("odd sizes", Status.WRONG_OUTPUT, "First wrong: element [6, 0] is 0, expected 1.")
    assert told(DEVICE, "return s > 0 ? s : 0;", other) is None


@pytest.mark.slow
def test_no_comparison_is_blamed_in_a_right_file() -> None:
    honest = sorted((Path(__file__).parents[2] / "corpus" / "honest").glob("*.py"))
    right = [path for lesson in every() for path in lesson.solution.parent.rglob("*.py")] + honest
    said = {
        f"{path.name}:{fact.line}: {fact.cause}"
        for path in right
        for find, _ in nan_mistakes.FACTS
        for fact in find(read(path.read_text("utf-8")), NAN)
        if " is false" in fact.cause
    }
    assert said == set()
