"""What a request refuses, in a sentence for the student."""

import re

import pytest
import torch

from grader.backends.extension import load_inline
from grader.backends.extension.request import BuildRequest


@pytest.mark.parametrize(
    ("name", "advised"), [("x * 2 + 1", False), ("f, g", False), ("int f(int a)", True), ("f ()", True)]
)
def test_what_is_no_name_is_to_lose_its_brackets_only_where_it_has_some(name: str, advised: bool) -> None:
    with pytest.raises(ValueError, match="is not a C\\+\\+ name") as caught:
        BuildRequest("m", ("int f();",), functions={name: "help"})
    assert ("without brackets" in str(caught.value)) is advised


@pytest.mark.parametrize(
    ("torch_version", "flag", "refused"),
    [
        ("2.13.0+cpu", "-std=c++14", "C++17"), ("2.13.0+cpu", "-std=c++17", ""), ("2.14.1+cu130", "-std=c++17", "C++20"),
        ("2.15.0", "-std=gnu++1z", "C++20"), ("2.15.0", "-std=c++20", ""), ("2.15.0", "-std=c++2a", ""),
    ],
)  # fmt: skip
def test_a_language_standard_that_the_installed_headers_refuse(
    monkeypatch: pytest.MonkeyPatch, torch_version: str, flag: str, refused: str
) -> None:
    monkeypatch.setattr(torch, "__version__", torch_version)
    given = {"name": "m", "cpp_sources": "int f();", "functions": ["f"], "extra_cflags": [flag]}
    if not refused:
        assert load_inline.request_of_texts(given).cflags == (flag,)
        return
    with pytest.raises(RuntimeError, match=re.escape(f"#error {refused} or later")):
        load_inline.request_of_texts(given)
