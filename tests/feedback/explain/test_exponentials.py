"""Softmax and its like: exponentials that overflow, infinities that are subtracted, parts taken for the whole."""

import pytest

from grader.domain.verdict import Finding, Status
from grader.feedback.explain import attach

SOFTMAX = '''source = r"""
__device__ float together(float mine, bool add) {
    for (int step = 16; step > 0; step /= 2) mine += __shfl_xor_sync(~0u, mine, step);
    return mine;
}
__global__ void softmax_kernel(const float* x, float* out, int cols) {
    float largest = -INFINITY, sum = 0.0f;
    for (int i = threadIdx.x; i < cols; i += 32) largest = fmaxf(largest, x[i]);
    largest = together(largest, false);
    for (int i = threadIdx.x; i < cols; i += 32) sum += expf(x[i] - largest);
    sum = together(sum, true);
    for (int i = threadIdx.x; i < cols; i += 32) out[i] = expf(x[i] - largest) / sum;
}
"""
'''
ONLINE = '''source = r"""
struct Part { float largest, sum; };
__device__ Part merged(Part a, Part b) {
    const float largest = fmaxf(a.largest, b.largest);
    const float of_a = a.sum == 0.0f ? 0.0f : a.sum * expf(a.largest - largest);
    const float of_b = b.sum == 0.0f ? 0.0f : b.sum * expf(b.largest - largest);
    return {largest, of_a + of_b};
}
__global__ void online_kernel(const float* x, float* out, int cols) {
    Part part = {-INFINITY, 0.0f};
    for (int i = 0; i < cols; ++i) part = merged(part, {x[i], x[i] == -INFINITY ? 0.0f : 1.0f});
    out[0] = part.sum;
}
"""
'''
MADE = {"expected": 0.25, "got": "nan"}
LOST = {"expected": "nan", "got": 0.25}


def told(source: str, evidence: dict[str, object], status: Status = Status.NOT_FINITE) -> tuple[str, int]:
    finding = Finding("all", status, "First wrong: element [0] is nan, expected 0.25.", evidence=evidence)
    found = attach.explained(finding, source).evidence.get("explanation") or {}
    return found.get("rule", ""), found.get("line", 0)


def edited(source: str, *edits: tuple[str, str]) -> str:
    for find, replace in edits:
        assert find in source
        source = source.replace(find, replace)
    return source


@pytest.mark.parametrize(
    ("source", "evidence", "rule", "line"),
    [
        (edited(SOFTMAX, (" = -INFINITY", " = 0.0f")), MADE, "largest-from-zero", 7),
        (edited(SOFTMAX, (" - largest", "")), MADE, "exponential-overflows", 10),
        (edited(SOFTMAX, ("    sum = together(sum, true);\n", "")), MADE, "own-part-only", 10),
        (edited(SOFTMAX, ("    largest = together(largest, false);\n", "")), MADE, "own-part-only", 8),
        (edited(ONLINE, ("a.sum == 0.0f ? 0.0f : ", ""), ("b.sum == 0.0f ? 0.0f : ", "")), MADE,
         "infinity-less-itself", 5),
        (edited(ONLINE, ("x[i] == -INFINITY ? 0.0f : 1.0f", "1.0f")), MADE, "masked-counts", 11),
        (edited(ONLINE, ("x[i] == -INFINITY ? 0.0f : 1.0f", "x[i] > -INFINITY ? 1.0f : 0.0f")), LOST,
         "nan-is-nothing", 11),
    ],
)  # fmt: skip
def test_the_line_and_the_cause(source: str, evidence: dict[str, object], rule: str, line: int) -> None:
    assert told(source, evidence) == (rule, line)


@pytest.mark.parametrize("source", [SOFTMAX, ONLINE])
@pytest.mark.parametrize("evidence", [MADE, LOST | {"expected": 0.3}])
def test_what_is_right_is_not_blamed(source: str, evidence: dict[str, object]) -> None:
    rules = {"largest-from-zero", "exponential-overflows", "own-part-only", "infinity-less-itself",
             "masked-counts", "nan-is-nothing", "nan-lost"}  # fmt: skip
    assert told(source, evidence)[0] not in rules


def test_fmaxf_loses_a_nan_that_was_expected_and_makes_none() -> None:
    relu = 'source = r"""\n__global__ void relu(const float* x, float* out) { out[0] = fmaxf(x[0], 0.0f); }\n"""\n'
    assert told(relu, LOST)[0] == "nan-lost"
    assert told(relu, MADE)[0] != "nan-lost"


@pytest.mark.parametrize(
    ("numerator", "fix"),
    [
        ("expf(x)", "Write 1 / (1 + exp(-x)):"),
        ("scale * expf(x)", "Write `scale / (1.0f + expf(-x))`:"),
        ("expf(x) * scale", "Write `scale / (1.0f + expf(-x))`:"),
        ("(scale * expf(x))", "Write `scale / (1.0f + expf(-x))`:"),
        ("2.0f * scale * expf(x)", "Write `(2.0f * scale) / (1.0f + expf(-x))`:"),
        ("2.0f / scale * expf(x)", "Write 1 / (1 + exp(-x)):"),
    ],
)
def test_a_sigmoid_that_overflows_keeps_its_factor(numerator: str, fix: str) -> None:
    source = (
        'source = r"""\n__global__ void k(float x, float scale, float* out) {\n'
        f'    out[0] = {numerator} / (1.0f + expf(x)) + x;\n}}\n"""\n'
    )
    finding = Finding("all", Status.NOT_FINITE, "First wrong: element [0] is nan.", evidence=MADE)
    found = attach.explained(finding, source).evidence["explanation"]
    assert (found["rule"], found["line"]) == ("exp-overflows", 3) and found["fix"].startswith(fix)
