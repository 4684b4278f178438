"""The corpus as one function a case: ``void name(const float* x, float* y, int n)`` on device memory."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).resolve().parent
HOST_FUNCTION = re.compile(r"^void (\w+)\(const float\* x, float\* y, int n\)", re.M)
Run = Callable[[str, int, int, int], None]

TABLE = """
namespace {{
struct Case {{ const char* name; void (*run)(const float*, float*, int); }};
const Case cases[] = {{ {entries} }};
}}
"""
BINDING = """
bool run_case(std::string name, int64_t x, int64_t y, int64_t n) {
    for (auto& c : cases)
        if (name == c.name) { c.run((const float*)x, (float*)y, (int)n); return true; }
    return false;
}
"""


def cases(file: str) -> list[str]:
    """The names of the cases in ``file``.cu."""
    return HOST_FUNCTION.findall((HERE / f"{file}.cu").read_text())


def source(file: str) -> str:
    """The text of ``file``.cu with a table of its cases at the end."""
    entries = ", ".join(f'{{"{name}", {name}}}' for name in cases(file))
    return (HERE / f"{file}.cu").read_text() + TABLE.format(entries=entries)


def load(file: str) -> Run:
    """``run(name, x, y, n)`` of the cases in ``file``.cu, compiled by torch's ``load_inline``."""
    from torch.utils.cpp_extension import load_inline

    from grader.backends.simt.compile.halves import GIVE_BACK

    module = load_inline(
        "simt_corpus",  # all of one name: then the binding is compiled once
        "bool run_case(std::string name, int64_t x, int64_t y, int64_t n);",
        "#include <string>\n" + source(file) + BINDING,
        functions=["run_case"],
        extra_cuda_cflags=["--extended-lambda", *GIVE_BACK],
    )  # type: ignore[no-untyped-call]

    def run(name: str, x: int, y: int, n: int) -> None:
        assert module.run_case(name, x, y, n), name

    return run
