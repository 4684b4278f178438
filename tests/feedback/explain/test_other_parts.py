"""A line of source that holds something beside the error: that is not what is explained."""

from __future__ import annotations

import pytest

from grader.feedback.explain.engine import explain


def said(text: str, code: str) -> str:
    found = explain(f"mine.cu:5:9: error: {text}\n    5 | {code}\n", "")
    assert found is not None
    return f"{found.rule}: {found.cause} {found.fix}"


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("cudaMallocMangaed", "const float**da=nullptr; cudaMallocMangaed(&da,8);"),
        ("cudaGetDeviceFlags", "k<<<1,2048>>>(a); T(cudaGetLastError()==cudaErrorInvalidConfiguration); cudaGetDeviceFlags(&f);"),
        ("cudaErrorInvalidConfiguration2", "return cudaErrorInvalidConfiguration2;"),
        ("cudaMallocMangaed", "cudaMallocMangaed(&p, v.size() * 4);"),
    ],
)  # fmt: skip
def test_an_unknown_name_is_what_is_explained(name: str, code: str) -> None:
    assert said(f"'{name}' was not declared in this scope", code).startswith("undeclared-of-cuda:")


@pytest.mark.parametrize("name", ["__vsub2", "__dp2a_lo", "norm", "__fadd_rd", "normcdfinvf"])
def test_a_function_of_the_device_may_be_missing_here(name: str) -> None:
    told = said(f"'{name}' was not declared in this scope", f"x = {name}(a, b);")
    assert "or the CPU back end does not have it" in told


def test_a_power_of_an_unknown_name_is_still_pythons() -> None:
    assert said("'e' was not declared in this scope", "y = x ** e;").startswith("python-power:")
