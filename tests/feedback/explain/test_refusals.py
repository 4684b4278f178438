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
