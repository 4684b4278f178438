"""Numbers with a fraction that go into something declared as a whole number: named at the declaration."""

import pytest

from grader.domain.verdict import Finding, Status
from grader.feedback.explain import lost_fractions
from grader.feedback.explain.source_text import read

SOURCE = '''code = r"""
__device__ float one(float x, float s) {
    const float e = expf(-x);
    return s / (1.0f + e);
}
__global__ void k(const float* x, const int* seen, float* out, float scale, int64_t n) {
    __shared__ float last;
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    const int step = seen[i] / 2, part = static_cast<int>(floorf(x[i]));
    if (i == 0) last = x[i];
    if (i < n) out[i] = one(x[i], scale) + last * step + part;
}
torch::Tensor f(torch::Tensor x, double scale) {
    const int64_t n = x.numel(), wide = sizeof(float) * n;
    k<<<n, 1>>>(x.data_ptr<float>(), seen, out, static_cast<float>(scale), n);
    return x;
}
"""
'''


def found(old: str = "", new: str = "") -> list[tuple[int, str]]:
    assert old in SOURCE
    finding = Finding("a case", Status.WRONG_OUTPUT, "First wrong: element [0] is 1, expected 1.5.")
    text = read(SOURCE.replace(old, new) if old else SOURCE)
    return [(fact.line, fact.fix) for find, _ in lost_fractions.FACTS for fact in find(text, finding)]


def test_whole_numbers_and_fractions_that_are_cut_on_purpose_are_not_blamed() -> None:
    assert found() == []


@pytest.mark.parametrize(
    ("old", "new", "line", "fix"),
    [
        ("const float e = expf", "const int e = expf", 3, "`const float e`"),
        ("const float e = expf", "bool e = expf", 3, "`float e`"),
        ("__shared__ float last;", "__shared__ int last;", 7, "`__shared__ float last`"),
        ("float last;", "int last;", 7, "`__shared__ float last`"),
        ("float one(float x, float s)", "int one(float x, float s)", 2, "`__device__ float one(...)`"),
        ("float one(float x, float s)", "float one(float x, size_t s)", 2, "`float s` in one"),
        ("float* out, float scale", "float* out, long scale", 6, "`float scale` in k"),
        ("static_cast<float>(scale)", "static_cast<int>(scale)", 15, "`static_cast<float>(scale)`"),
        ("out[i] = one(x[i], scale)", "out[i] = (int) one(x[i], scale)", 11, "cast to float"),
        ("n = x.numel()", "half = scale, n = x.numel()", 14, "double half"),
    ],
)
def test_the_declaration_that_drops_a_fraction(old: str, new: str, line: int, fix: str) -> None:
    (first, *_) = found(old, new)
    assert first[0] == line and fix in first[1]


def test_a_cast_whose_bits_are_moved_is_meant() -> None:
    line = "out[i] = static_cast<int>(x[i] * scale){};"
    for used, count in ((" << 4", 0), (" & 3", 0), ("", 1)):
        source = f'code = r"""\n__global__ void k(const float* x, float* out, float scale, int i) {{\n{line.format(used)}\n}}\n"""\n'
        finding = Finding("a case", Status.WRONG_OUTPUT, "First wrong.")
        told = [f for find, _ in lost_fractions.FACTS for f in find(read(source), finding)]
        assert len(told) == count


@pytest.mark.parametrize(("out", "count"), [("int64_t* out", 0), ("int *out", 0), ("float* out", 1)])
def test_a_cast_into_whole_numbers_is_meant(out: str, count: int) -> None:
    cast = "out[me()] = static_cast<int64_t>(pow(x[me()], 2.0f));"
    source = f'code = r"""\n__global__ void k(const float* x, {out}, int n) {{\n    if (me() < n) {cast}\n}}\n"""\n'
    finding = Finding("a case", Status.WRONG_OUTPUT, "First wrong.")
    assert len([f for find, _ in lost_fractions.FACTS for f in find(read(source), finding)]) == count
