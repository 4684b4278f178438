"""Attention and its like: a largest score so far, and sums that are scaled down when it grows."""

import pytest

from grader.domain.verdict import Finding, Status
from grader.feedback.explain import attach

KERNEL = '''source = r"""
__device__ float of_warp(float mine, bool add) {
    for (int far = 16; far > 0; far /= 2) mine += __shfl_xor_sync(~0u, mine, far);
    return mine;
}
__global__ void tile_kernel(const float* s, const float* v, float* out, int keys, int seen) {
    const int lane = threadIdx.x;
    float total = 0.0f, largest = -INFINITY, sum = 0.0f;
    for (int j0 = 0; j0 < keys; j0 += 32) {
        float score = 0.0f;
        for (int c = lane; c < 64; c += 32) score += s[c];
        score = j0 + lane < seen ? of_warp(score, true) : -INFINITY;
        const float before = largest;
        largest = fmaxf(before, of_warp(score, false));
        const float fade = sum == 0.0f ? 0.0f : expf(before - largest);
        const float share = score == -INFINITY ? 0.0f : expf(score - largest);
        sum = sum * fade + of_warp(share, true);
        total *= fade;
        for (int j = 0; j < 32; ++j) {
            const float of_key = __shfl_sync(~0u, share, j);
            total += of_key * v[j];
        }
    }
    out[lane] = sum == 0.0f ? 0.0f : total / sum;
}
"""
'''
PLAIN = '''source = r"""
__device__ float of_warp(float mine, bool add) {
    for (int far = 16; far > 0; far /= 2) mine += __shfl_xor_sync(~0u, mine, far);
    return mine;
}
__global__ void row_kernel(const float* q, const float* k, float* out, int m, int d) {
    const int lane = threadIdx.x;
    float total[4] = {}, largest = -INFINITY, sum = 0.0f;
    for (int j = 0; j < m; ++j) {
        float score = 0.0f;
        for (int e = 0, c = lane; c < d; ++e, c += 32) score += q[c] * k[j * d + c];
        score = of_warp(score, true);
        const float before = largest;
        largest = fmaxf(before, score);
        const float fade = expf(before - largest), share = expf(score - largest);
        sum = sum * fade + share;
        for (int e = 0, c = lane; c < d; ++e, c += 32) total[e] = total[e] * fade + share * k[j * d + c];
    }
    out[blockIdx.x * 32 + lane] = total[0] / sum;
}
"""
'''
NAN = ({"expected": 0.25, "got": "nan"}, Status.NOT_FINITE)
NOTHING = ({"expected": 0.0, "got": "nan"}, Status.NOT_FINITE)
OTHER = ({"expected": 0.25, "got": 0.5}, Status.WRONG_OUTPUT)
RULES = {
    "not-scaled-down", "own-share-only", "infinity-less-itself", "nothing-by-nothing", "largest-from-zero",
    "exponential-overflows", "own-part-only", "unused-value",
}  # fmt: skip


def told(source: str, evidence: dict[str, object], status: Status) -> tuple[str, int]:
    finding = Finding("all", status, "First wrong: element [0].", evidence=evidence)
    found = attach.explained(finding, source).evidence.get("explanation") or {}
    return found.get("rule", ""), found.get("line", 0)


@pytest.mark.parametrize(
    ("source", "find", "replace", "failed", "rule", "line"),
    [
        (KERNEL, "        total *= fade;\n", "", OTHER, "not-scaled-down", 20),
        (KERNEL, "sum * fade + of_warp(share, true)", "sum * fade + share", OTHER, "own-share-only", 17),
        (KERNEL, "sum == 0.0f ? 0.0f : expf(before", "expf(before", NAN, "infinity-less-itself", 15),
        (KERNEL, "score == -INFINITY ? 0.0f : ", "", NAN, "infinity-less-itself", 16),
        (KERNEL, "sum == 0.0f ? 0.0f : total", "total", NOTHING, "nothing-by-nothing", 24),
        (PLAIN, "sum = sum * fade + share;", "sum = sum + share;", OTHER, "not-scaled-down", 16),
        (PLAIN, "sum = sum * fade + share;", "sum += share;", OTHER, "not-scaled-down", 16),
        (PLAIN, "total[e] = total[e] * fade + share", "total[e] += share", OTHER, "not-scaled-down", 17),
        (PLAIN, "largest = -INFINITY", "largest = 0.0f", NAN, "largest-from-zero", 8),
        (PLAIN, "        score = of_warp(score, true);\n", "", OTHER, "own-part-only", 11),
        (PLAIN, "    float total[4]", "    const float scale = 0.1f;\n    float total[4]", OTHER,
         "unused-value", 8),
    ],
)  # fmt: skip
def test_the_line_and_the_cause(
    source: str, find: str, replace: str, failed: tuple[dict[str, object], Status], rule: str, line: int
) -> None:
    assert source.count(find) == 1
    assert told(source.replace(find, replace), *failed) == (rule, line)


def test_an_exponential_that_is_kept_before_it_is_added() -> None:
    kept = PLAIN.replace(
        "        const float before = largest;\n        largest = fmaxf(before, score);\n", ""
    )
    kept = kept.replace("const float fade = expf(before - largest), share = expf(score - largest);\n"
                        "        sum = sum * fade + share;", "const float share = expf(score);\n        sum += share;")  # fmt: skip
    assert told(kept, *NAN) == ("exponential-overflows", 13)
    sigmoid = 'source = r"""\n__global__ void f(const float* x, float* out) { float e = expf(x[0]); out[0] = e / (1 + e); }\n"""\n'
    assert told(sigmoid, *NAN)[0] not in RULES


@pytest.mark.parametrize("source", [KERNEL, PLAIN])
@pytest.mark.parametrize("failed", [NAN, OTHER])
def test_what_is_right_is_not_blamed(source: str, failed: tuple[dict[str, object], Status]) -> None:
    assert told(source, *failed)[0] not in RULES
