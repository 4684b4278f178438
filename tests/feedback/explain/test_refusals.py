"""A call that had to be refused: the check that is there and lets it through."""

import pytest

from grader.domain.verdict import Finding, Status
from grader.feedback.explain import attach

SOURCE = '''source = r"""
torch::Tensor square(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda(), "on the CPU");
    TORCH_CHECK(x.scalar_type() == torch::kFloat32 &&
                CONDITION, "square: x must have two dimensions");
    const int64_t rows = x.size(0), cols = x.size(1);
    square_kernel<<<rows, cols>>>(x.data_ptr<float>());
    return x;
}
"""
module = load_inline("a", "torch::Tensor square(torch::Tensor x);", source, functions=["square"])
'''


@pytest.mark.parametrize(
    ("condition", "dims", "cause"),
    [
        ("x.dim() >= 2", 3, "`x.dim() >= 2` is true for x with 3 dimensions, so this check lets it through."),
        ("x.dim() > 1", 3, "`x.dim() > 1` is true for x with 3 dimensions"),
        ("x.dim() <= 2", 1, "`x.dim() <= 2` is true for x with 1 dimension,"),
        ("x.dim() != 2", 3, "`x.dim() != 2` is true for x with 3 dimensions"),
        ("x.dim() == 2", 3, ""),
        ("x.dim() >= 2", 1, ""),
    ],
)
def test_a_check_that_is_too_weak(condition: str, dims: int, cause: str) -> None:
    passed = [{"dtype": "float32", "device": "cuda", "dims": dims}]
    finding = Finding("dims", Status.NOT_REFUSED, "The call was accepted.", evidence={"passes": passed})
    found = attach.explained(finding, SOURCE.replace("CONDITION", condition)).evidence["explanation"]
    assert isinstance(found, dict)
    assert ("lets it through" in str(found["cause"])) == bool(cause), found
    if cause:
        assert cause in str(found["cause"]) and (found["line"], found["fix"]) == (5, "Write `x.dim() == 2`.")


PLAIN = '''source = r"""
torch::Tensor twice(const torch::Tensor& x) {
    torch::Tensor y = x.contiguous(), out = torch::empty_like(y);
    const float* in = y.data_ptr<float>();
    return out;
}
"""
module = load_inline("a", source, functions=["twice"])
'''


@pytest.mark.parametrize(
    ("found", "evidence", "fix"),
    [
        ("Double", {"computes": [{"dtype": "float64"}]}, "AT_DISPATCH_FLOATING_TYPES(y.scalar_type(), ...)"),
        (
            "Half",
            {"computes": [{"dtype": "float16"}]},
            "FLOATING_TYPES_AND2(torch::kHalf, torch::kBFloat16, y",
        ),
        ("Double", {"computes": [{"dtype": "float32"}]}, ""),
        ("Double", {}, ""),
    ],
)
def test_what_has_to_be_computed_is_not_to_be_refused(
    found: str, evidence: dict[str, object], fix: str
) -> None:
    message = f"RuntimeError: expected scalar type Float but found {found}"
    finding = Finding("float64", Status.RAISED, message, evidence=dict(evidence))
    told = attach.explained(finding, PLAIN).evidence["explanation"]
    assert isinstance(told, dict) and (told["rule"] == "dtype-to-compute") == bool(fix), told
    if fix:
        assert told["line"] == 4 and fix in str(told["fix"]) and "TORCH_CHECK" not in str(told)
        assert "tensors themselves" in str(told["fix"])
        launches = attach.explained(finding, PLAIN.replace("return out", "k<<<1, 2>>>(in);\n    return out"))
        assert "tensors themselves" not in str(launches.evidence["explanation"])


@pytest.mark.parametrize(
    ("condition", "taken", "told"),
    [
        ("x.scalar_type() == torch::kFloat64", "x.data_ptr<float>()", "demands float64 by `kFloat64`, and line 4 takes"),
        ("x.dtype() == torch::kDouble", "x.data_ptr<float>()", "demands float64 by `kDouble`"),
        ("x.scalar_type() == torch::kFloat", "x.data_ptr<float>()", ""),
        ("x.scalar_type() == torch::kFloat32", "x.const_data_ptr<float>()", ""),
        ("x.scalar_type() == torch::kFloat64", "y.data_ptr<float>()", ""),
        ("x.scalar_type() == torch::kBool", "x.data_ptr<float>()", ""),
    ],
)  # fmt: skip
def test_a_check_for_another_dtype_than_the_pointers(condition: str, taken: str, told: str) -> None:
    source = (
        f'source = r"""\ntorch::Tensor f(torch::Tensor x, torch::Tensor y) {{\n    TORCH_CHECK({condition}, "f: x is not '
        f'float32");\n    k<<<1, 1>>>({taken});\n    return x;\n}}\n"""\n'
    )
    finding = Finding("a case", Status.RAISED, "RuntimeError: f: x is not float32 (a.py, line 9: f(x, y))")
    found = attach.explained(finding, source).evidence["explanation"]
    assert found["rule"] == "check-refused" and found["line"] == 3
    assert told in found["cause"] and ("kFloat32" in found["fix"]) == bool(told)


@pytest.mark.parametrize(
    ("check", "below", "told"),
    [("x.is_cuda()", True, True), ("x.dim() == 2", True, True), ("x.is_cuda()", False, False), ("y.is_cuda()", True, False)],
)  # fmt: skip
def test_a_check_below_the_launch(check: str, below: bool, told: bool) -> None:
    source, line = SOURCE.replace("CONDITION", "x.dim() == 2"), f'    TORCH_CHECK({check}, "refused");\n'
    at = "    return x;" if below else "    square_kernel"
    finding = Finding(
        "memory", Status.ILLEGAL_ACCESS, "s.py, line 23: reads an address that is not device memory"
    )
    found = attach.explained(finding, source.replace(at, line + at)).evidence.get("explanation") or {}
    assert (found.get("rule") == "checked-too-late") is told, found  # type: ignore[attr-defined]
    assert not told or (found["line"] == 8 and "launch of line 7" in found["cause"])  # type: ignore[index]


@pytest.mark.parametrize(
    ("condition", "then", "told"),
    [("x.numel() > 0", "return x;", True), ("x.numel() != 0", "{ return x; }", True), ("x.numel() >= 1", "return x;", True),
     ("x.numel() == 0", "return x;", False), ("x.numel() > 1", "return x;", False), ("x.numel() > 0", "return other(x);", False)],
)  # fmt: skip
def test_an_early_return_of_all_but_the_empty(condition: str, then: str, told: bool) -> None:
    source = SOURCE.replace("CONDITION", "x.dim() == 2").replace(
        "    square_k", f"    if ({condition}) {then}\n    square_k"
    )
    finding = Finding("whole", Status.UNINITIALISED, "2 of 2 elements were never written")
    found = attach.explained(finding, source).evidence.get("explanation") or {}
    assert (found.get("rule") == "returned-early") is told, found  # type: ignore[attr-defined]
    assert not told or (found["line"] == 7 and condition in found["cause"])  # type: ignore[index]


@pytest.mark.parametrize(
    ("then", "told"), [("return x;", True), ("{ return x; }", True), ("x = x.cuda();", False)]
)
def test_returned_in_place_of_refused(then: str, told: bool) -> None:
    source = SOURCE.replace('TORCH_CHECK(x.is_cuda(), "on the CPU");', f"if (!x.is_cuda()) {then}").replace(
        "CONDITION", "x.dim() == 2"
    )
    evidence = {"passes": [{"dtype": "float32", "device": "cpu", "dims": 2}]}
    finding = Finding("cpu", Status.NOT_REFUSED, "The call was accepted.", evidence=evidence)
    found = attach.explained(finding, source).evidence.get("explanation") or {}
    assert (found.get("rule") == "returned-not-refused") is told, found  # type: ignore[attr-defined]
    assert not told or (found["line"] == 3 and "TORCH_CHECK(x.is_cuda()" in found["fix"])  # type: ignore[index]
