"""What is added behind ReLU, where ReLU is the last step."""

import pytest

from grader.domain.verdict import Finding, Status
from grader.feedback.explain import attach

SOURCE = 'source = r"""\n__global__ void k(const float* x, const float* more, float* out, int n) {{\nint i = blockIdx.x * blockDim.x + threadIdx.x;\nif (i >= n) return;\n{}\n}}\n"""\n'
NEGATIVE = "First wrong: element [0] is -1, expected 0. Of them 12 are negative, and ReLU, the last step, leaves none below 0."


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("float r = x[i] < 0.0f ? 0.0f : x[i];\nout[i] = r + more[i];", 6),
        ("float v = x[i];\nv = fmaxf(v, 0.0f);\nv += more[i];\nout[i] = v;", 7),
        ("out[i] = (x[i] > 0 ? x[i] : 0) + more[i];", 5),
        ("out[i] = fmaxf(x[i], 0.f) + more[i];", 5),
        ("float r = max(x[i], 0.0f);\nout[i] = more[i] + r;", 6),
        ("float s = x[i] + more[i];\nout[i] = s < 0.0f ? 0.0f : s;", 0),
        ("float r = fmaxf(x[i], 0.0f);\nfloat s = r + more[i];\nout[i] = fmaxf(s, 0.0f);", 0),
        ("out[i] = x[i] < 0 ? 0 : x[i] + more[i];", 0),
    ],
)
def test_the_addition_behind_it_is_named(body: str, line: int) -> None:
    def told(message: str) -> object:
        found = attach.explained(Finding("one", Status.WRONG_OUTPUT, message), SOURCE.format(body))
        plain = found.evidence.get("explanation")
        return plain["line"] if isinstance(plain, dict) and plain["rule"] == "relu-first" else 0

    assert told(NEGATIVE) == line and told("First wrong: element [0] is 1, expected 2.") == 0
