"""What a request refuses, in a sentence for the student."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils import cpp_extension

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


@pytest.mark.parametrize(
    ("argument", "value", "refused"),
    [
        ("cpp_sources", ("int f();",), True), ("cpp_sources", None, True), ("cpp_sources", ["int f();"], False),
        ("cpp_sources", [Path("f.cpp")], True), ("cuda_sources", ("int g();",), True), ("cuda_sources", (), False),
        ("cuda_sources", "int g();", False), ("functions", ("f",), True), ("functions", ["f"], False),
        ("functions", {"f"}, True), ("functions", "f", False), ("functions", None, False),
        ("extra_ldflags", ("-lm",), True), ("extra_ldflags", "-lm", True), ("extra_ldflags", ["-lm"], False),
    ],
)  # fmt: skip
def test_the_types_that_torch_refuses(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, argument: str, value: object, refused: bool
) -> None:
    def compiled(*args: Any, **_more: Any) -> None:
        cpp_extension._prepare_ldflags(args[5] or [], False, False, False, False)  # type: ignore[attr-defined]

    monkeypatch.setattr(cpp_extension, "_jit_compile", compiled)

    def asked(how: Callable[..., object]) -> bool:
        given = {"name": "m", "cpp_sources": ["int f();"], "functions": ["f"], argument: value}
        try:
            how(given)
        except (AttributeError, TypeError, ValueError):
            return True
        return False

    def ours(given: dict[str, Any]) -> None:
        load_inline.refuse_other_types(given)
        load_inline.request_of_texts(given)

    assert asked(ours) is refused
    assert asked(lambda given: cpp_extension.load_inline(**given, build_directory=str(tmp_path))) is refused


def test_flags_in_one_text_and_folders_in_one_text() -> None:
    given = {"name": "m", "cpp_sources": "int f();", "extra_cuda_cflags": "-O3"}
    load_inline.refuse_other_types(given)  # without CUDA sources nothing asks for them
    with pytest.raises(TypeError, match="extra_cuda_cflags must be a list of strings"):
        load_inline.refuse_other_types(given | {"cuda_sources": "int g();"})
    with pytest.raises(TypeError, match="extra_cflags must be a list of strings"):
        load_inline.refuse_other_types(given | {"extra_cflags": "-O3"})
    flags = load_inline.request_of_texts(
        given | {"extra_include_paths": "ab", "extra_cuda_cflags": []}
    ).cflags
    assert flags == tuple(f"-I{Path(letter).resolve()}" for letter in "ab")
