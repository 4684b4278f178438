"""Python's names of dtypes and functions, and what they are called in C++."""

import pytest

from grader.feedback.explain import explain, torch_names


@pytest.mark.parametrize(
    ("code", "right"),
    [
        ("x.scalar_type() == torch.float32", ["`torch::kFloat32`"]),
        ("x.to(torch.bfloat16) + torch.zeros_like(x)", ["`torch::kBFloat16`", "`torch::zeros_like`"]),
        ("k<<<g, b, 0, torch.cuda.current_stream()>>>(p);", ["`at::cuda::getCurrentCUDAStream()`"]),
        ("std.max(a, b)", ["`std::max`"]),
        ("torch.nn.functional.relu(x)", ["`torch::nn::functional::relu`"]),
        ("x.size(0)", []),
    ],
)
def test_names_with_dots_in_cpp(code: str, right: list[str]) -> None:
    assert torch_names.with_colons(code) == right


@pytest.mark.parametrize("name", sorted(torch_names.DTYPES))
def test_a_dtype_of_python_with_colons_is_told_by_its_name_in_cpp(name: str) -> None:
    found = explain(f"mine.py:3:9: error: '{name}' is not a member of 'torch'")
    assert found is not None and found.fix == f"Write `torch::{torch_names.dtype(name)}`."


COMPILERS = (
    "mine.py:1:9: error: expected primary-expression before '.' token",
    "mine.py:1:9: error: unexpected namespace name 'torch': expected expression",
)


@pytest.mark.parametrize("said", COMPILERS)
def test_an_attribute_without_brackets_is_told_with_the_dot(said: str) -> None:
    found = explain(said, "TORCH_CHECK(x.dtype == torch.float32);\n")
    assert found is not None
    assert "Write `torch::kFloat32`." in found.fix and "`x.scalar_type()`" in found.fix


def test_the_stream_of_python() -> None:
    line = "k<<<grid, block, 0, torch.cuda.current_stream()>>>(x, n);"
    found = explain("mine.py:1:9: error: expected primary-expression before '(' token", f"{line}\n")
    assert found is not None and (found.rule, found.line) == ("python-stream", 1)


def test_none_is_no_tensor() -> None:
    found = explain("mine.py:1:8: error: 'None' was not declared in this scope", "return None;\n")
    assert found is not None and "has to return one" in found.fix


@pytest.mark.parametrize(
    ("pointer", "said"),
    [
        (
            "t.data_ptr()",
            "mine.py:1:9: error: invalid operands of types 'void*' and 'int' to binary 'operator%'",
        ),
        (
            "t.data_ptr<float>()",
            "mine.py:1:9: error: invalid operands to binary expression ('float *' and 'int')",
        ),
    ],
)
def test_a_pointer_that_is_taken_for_a_number(pointer: str, said: str) -> None:
    found = explain(said, f"return {pointer} % 16 == 0;\n")
    assert found is not None and (found.rule, found.line) == ("pointer-in-arithmetic", 1)
    assert f"`reinterpret_cast<uintptr_t>({pointer})`" in found.fix
