"""Names in Python that have no value: the line that must change, and what is to stand there."""

import pytest

from grader.domain.verdict import Finding, Status
from grader.feedback.explain import attach

KERNEL = """import torch


def near(block, thread, size, n, x, out):
    {}
    if i < n:
        total = x[i]
        if i > 0:
            total += x[i - 1]
    {}
"""


def said(source: str, error: str, line: int, status: Status = Status.RAISED) -> tuple[str, int, str]:
    """Rule, line and both sentences for a file that raised ``error`` in its line ``line``."""
    code = source.splitlines()[line - 1].strip()
    finding = Finding("check", status, f"{error} (mine.py, line {line}: {code})", 0, 2)
    found = attach.explained(finding, source).evidence.get("explanation")
    return (found["rule"], found["line"], f"{found['cause']} {found['fix']}") if found else ("", 0, "")


def unknown(name: str) -> str:
    return f"NameError: name '{name}' is not defined"


@pytest.mark.parametrize(
    ("source", "name", "line", "rule", "at", "words"),
    [
        (KERNEL.format("i = threadIdx.x + blockIdx.x * blockDim.x", "    out[i] = total"), "threadIdx", 5,
         "cuda-word", 5, "Write `i = thread + block * size`"),
        ("def scale(i, x, out, factor):\n    out[threadIdx.x] = x[i]\n", "threadIdx", 2, "cuda-word", 2, "own number, i"),
        ("from numba import cuda\n\n\ndef k(x):\n    i = threadIdx.x\n", "threadIdx", 5, "cuda-word", 5,
         "`cuda.threadIdx.x`"),
        ("import time\n\n\ndef f(x):\n    return statistics.median(x)\n", "statistics", 5, "not-imported", 1,
         "`import statistics` above this line"),
        ("from __future__ import annotations\nimport torch\n\n\ndef f(x):\n    return F.relu(x)\n", "F", 6,
         "not-imported", 2, "`import torch.nn.functional as F`"),
        ("def f(x):\n    return math.exp(x)\n", "math", 2, "not-imported", 2, "`import math` at the top"),
        ("def g():\n    import math\n\n\ndef f(x):\n    return math.exp(x)\n", "math", 6, "not-imported", 2,
         "inside of g"),
        ("def f(x):\n    return true\n", "true", 2, "cpp-word", 2, "`True`"),
        ("def f(x, factor):\n    return x * fcator\n", "fcator", 2, "name-misspelt", 2, "Is `factor` meant?"),
        ("def g():\n    width = 3\n\n\ndef f(x):\n    return x * width\n", "width", 6, "of-another-function", 6,
         "a name of g (line 1)"),
        ("def f(x):\n    return x * q\n", "q", 2, "", 0, ""),
    ],
)  # fmt: skip
def test_a_name_that_nothing_has(source: str, name: str, line: int, rule: str, at: int, words: str) -> None:
    found = said(source, unknown(name), line)
    assert found[:2] == (rule, at)
    assert words in found[2]


def test_a_module_is_missed_while_the_file_is_loaded() -> None:
    found = said("import torch\nx = np.zeros(3)\n", unknown("np"), 2, Status.IMPORT_ERROR)
    assert found[:2] == ("not-imported", 1)


@pytest.mark.parametrize(
    ("source", "name", "line", "rule", "words"),
    [
        (KERNEL.format("i = block * size + thread", "out[i] = total"), "total", 10, "set-in-a-branch",
         ("in line 7 alone, inside of `if i < n:` (line 6)", "indent it as far as line 7")),
        ("def f(n):\n    for i in range(n):\n        last = i\n    return last\n", "last", 4, "set-in-a-branch",
         ("if the loop has no turn", "before line 2")),
        ("def f(x):\n    for v in x:\n        total += v\n    return total\n", "total", 3, "no-first-value",
         ("`total = 0`",)),
        ("def f(x):\n    y = x + n\n    n = 3\n    return y\n", "n", 2, "used-before", ("in line 3",)),
        ("def f(x):\n    with x:\n        y = 3\n    return y\n", "y", 4, "", ()),
    ],
)  # fmt: skip
def test_a_local_name_without_a_value(
    source: str, name: str, line: int, rule: str, words: tuple[str, ...]
) -> None:
    error = (
        f"UnboundLocalError: cannot access local variable '{name}' where it is not associated with a value"
    )
    found = said(source, error, line)
    assert found[0] == rule
    assert all(word in found[2] for word in words)


def test_what_makes_a_function_is_not_that_function() -> None:
    source = "def benchmark(build, make):\n    kernel = build\n    return time(lambda: kernel(make(), 1))\n"
    error = "TypeError: build() takes 0 positional arguments but 2 were given"
    assert said(source, error, 3)[:2] == ("maker-not-called", 2)
    assert said(source.replace("kernel = build\n", "pass\n").replace("kernel(", "build("), error, 3)[:2] == (
        "maker-not-called", 3)  # fmt: skip
    assert said(source.replace("kernel = build\n", "kernel = make\n"), error, 3)[0] == ""


@pytest.mark.parametrize(
    ("source", "name", "line", "words"),
    [
        ("STUDENT = Ada\n", "Ada", 1, 'Write `STUDENT = "Ada"`.'),
        ("load_inline(\n    name=squares,\n    functions=['square'],\n)\n", "squares", 2, 'Write `name="squares",`.'),
        ("load_inline('m', functions=[square, 'cube'])\n", "square", 1, "[\"square\", 'cube']"),
        ("x = torch.ones(2, device=cude)\n", "cude", 1, 'device="cude"'),
        ("A = {\n    'a': 1,\n    b: 2,\n}\n", "b", 3, 'Write `"b": 2,`.'),
        ("STUDENT = Ada + Ada  # Ada\n", "Ada", 1, ""),
        ("x = Ada\n", "Ada", 1, ""),
        ("Ada = 1\nf(name=Ada)\n", "Ada", 2, ""),
    ],
)  # fmt: skip
def test_a_text_without_quotes(source: str, name: str, line: int, words: str) -> None:
    rule, at, told = said(source, unknown(name), line)
    assert (rule, at) == ("no-quotes", line) if words else rule != "no-quotes"
    assert words in told
