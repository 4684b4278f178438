"""A kernel that takes 16 bytes at a time, launched wherever its tensor begins."""

from typing import Any

import pytest

from grader.domain.verdict import Finding, Status
from grader.feedback.explain import attach

SOURCE = '''source = r"""
__global__ void wide(const float* x, float* out, int64_t n) {
    int64_t i = 4 * ((int64_t)blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) *reinterpret_cast<float4*>(out + i) = *reinterpret_cast<const float4*>(x + i);
}
bool fits(torch::Tensor t) { return reinterpret_cast<uintptr_t>(t.data_ptr()) % 16 == 0; }
torch::Tensor copy(torch::Tensor x) {
    torch::Tensor out = torch::empty_like(x);
    const int64_t n = x.numel();
    const float* from = x.data_ptr<float>();
    const bool aligned = (uintptr_t)from % 16 == 0;
    if (n % 4 == 0 && aligned) {
        wide<<<(n / 4 + 127) / 128, 128>>>(from, out.data_ptr<float>(), n);
    }
    return out;
}
"""
module = load_inline("a", "torch::Tensor copy(torch::Tensor x);", source, functions=["copy"])
'''
MADE = "    const bool aligned = (uintptr_t)from % 16 == 0;\n"


def told(source: str, inside: int = 0, argument: str = "x") -> dict[str, Any]:
    tensor = {"argument": argument, "argument_offset": inside}
    seen = [{"kind": "misaligned", "kernel": "wide", "line": 4, "size": 16, "tensor": tensor}]
    finding = Finding("memory", Status.ILLEGAL_ACCESS, "reads 16 bytes", evidence={"seen": seen})
    found = attach.explained(finding, source).evidence.get("explanation") or {"rule": ""}
    return found if found["rule"] in ("any-address", "address-of-too-little") else {"rule": ""}


@pytest.mark.parametrize(
    ("old", "new", "line", "says"),
    [
        (" && aligned", "", 12, "Line 11 asks for that, and aligned, which it makes, is used nowhere."),
        (" && aligned", "", 12, "`n % 4 == 0 && aligned`"),
        ("    if (n % 4 == 0 && aligned) {\n", "    const int per = n % 4 == 0 ? 4 : 1;\n    if (per == 4) {\n", 12, "aligned"),
        (MADE + "    if (n % 4 == 0 && aligned) {", "    if (n % 4 == 0) {", 11, "fits could, and is called nowhere."),
        (MADE + "    if (n % 4 == 0 && aligned) {", "    {", 12, "`reinterpret_cast<uintptr_t>(from) % 16 == 0`"),
    ],
)  # fmt: skip
def test_nothing_asks_where_a_tensor_begins(old: str, new: str, line: int, says: str) -> None:
    assert SOURCE.count(old) == 1
    found = told(SOURCE.replace(old, new))
    assert found.get("line") == line and says in f"{found['cause']} {found['fix']}", found


def test_nothing_is_said_where_the_index_is_wrong_or_the_file_asks() -> None:
    unasked = SOURCE.replace(" && aligned", "")
    assert told(unasked, inside=4)["rule"] == ""
    assert told(SOURCE)["rule"] == ""
    assert told(unasked.replace("n % 4 == 0)", "n % 4 == 0 && fits(x))"))["rule"] == ""
    assert told(unasked, argument="gone")["rule"] == ""


TWO = "bool both(torch::Tensor a, torch::Tensor b) { return fits(a) && fits(b); }\ntorch::Tensor copy("
LAMBDA = "    auto even = [](const void* p) { return ((uintptr_t)p & 3) == 0; };\n"


@pytest.mark.parametrize(
    ("edits", "line", "says"),
    [
        ([("t.data_ptr()) % 16", "t.data_ptr()) % 4"), (MADE, ""), ("&& aligned", "&& fits(x)")], 6, "`% 4`"),
        ([("t.data_ptr()) % 16", "t.data_ptr()) % sizeof(float)"), (MADE, ""), ("&& aligned", "&& fits(x)")], 6, "of 4:"),
        ([("from % 16", "from % 8")], 11, "multiple of 8"),
        ([("from % 16 == 0", "from & 7) == 0"), ("(uintptr_t)", "((uintptr_t)")], 11, "`& 15`"),
        ([("t.data_ptr()) % 16", "t.data_ptr()) % 4"), (MADE, ""), ("&& aligned", "&& both(x, out)"), ("torch::Tensor copy(", TWO)], 6, "`% 16`"),
        ([(MADE, LAMBDA), ("&& aligned", "&& even(from)")], 11, "`& 3`"),
        ([("bool fits", "#define EVEN(p) ((uintptr_t)(p) % 4 == 0)\nbool fits"), (MADE, ""), ("&& aligned", "&& EVEN(from)")], 6, "`% 4`"),
    ],
)  # fmt: skip
def test_an_address_is_asked_for_too_small_a_multiple(
    edits: list[tuple[str, str]], line: int, says: str
) -> None:
    source = SOURCE
    for old, new in edits:
        assert source.count(old) >= 1, old
        source = source.replace(old, new, 1)
    found = told(source)
    assert found["rule"] == "address-of-too-little" and found["line"] == line, found
    assert says in f"{found['cause']} {found['fix']}", found


def test_nothing_is_said_of_a_multiple_that_is_not_known_or_large_enough() -> None:
    plain = SOURCE.replace(MADE, "")
    for body in ("(uintptr_t)t.data_ptr() % ALIGN == 0", "t.storage_offset() % 4 == 0", "is_aligned(t)"):
        asked = plain.replace("reinterpret_cast<uintptr_t>(t.data_ptr()) % 16 == 0", body)
        assert told(asked.replace("&& aligned", "&& fits(x)"))["rule"] == "", body
    assert told(SOURCE.replace("from % 16", "from % 32"))["rule"] == ""


@pytest.mark.parametrize(
    ("asked", "line"),
    [
        ("reinterpret_cast<uintptr_t>(&t) % 16", 6),
        ("(uintptr_t)&t % 16", 6),
        ("reinterpret_cast<std::uintptr_t>(&t) % 16", 6),
        ("reinterpret_cast<uintptr_t>(t.data_ptr()) % 16", 0),
        ("reinterpret_cast<uintptr_t>(&tt) % 16", 0),
    ],
)
def test_the_address_of_the_object_is_not_that_of_the_elements(asked: str, line: int) -> None:
    source = SOURCE.replace("reinterpret_cast<uintptr_t>(t.data_ptr()) % 16", asked)
    found = attach.explained(Finding("wide loads", Status.FAILED, "Counted 2,048, allowed 512."), source)
    explanation = found.evidence.get("explanation") or {"rule": "", "line": 0}
    assert isinstance(explanation, dict)
    assert (explanation["rule"] == "address-of-object") == bool(line), explanation
    if line:
        assert (
            explanation["line"] == line
            and "`reinterpret_cast<uintptr_t>(t.data_ptr())`" in explanation["fix"]
        )
