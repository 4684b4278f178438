"""Guards that keep out the threads of the last elements; and those that do not, or that are not to blame."""

import pytest

from grader.domain.verdict import Finding, Status
from grader.feedback.explain import attach, last_elements
from grader.feedback.explain.source_text import read

ONE = "element 149 of Float[150] was never written, the only one of 150."
CORNER = "element 2, 4 of Float[3, 5] was never written, the only one of 15."
TWO = "2 of 150 elements of Float[150] were never written, the first is element 148."


def found(body: str, message: str) -> list[tuple[int, str]]:
    source = f'code = r"""\n__global__ void k(const float* x, float* out, int n) {{\n{body}\n}}\n"""\n'
    finding = Finding("k", Status.UNINITIALISED, message)
    return [(f.line, f.fix) for find, _ in last_elements.FACTS for f in find(read(source), finding)]


@pytest.mark.parametrize(
    ("body", "message", "fix"),
    [
        ("if (me() < n - 1) out[me()] = 3 * x[me()];", ONE, "me() < n"),
        ("int i = me();\nif (i < n - 1) { out[i] = x[i]; }", ONE, "i < n"),
        ("int i = me();\nif (i >= n - 1) return;\nout[i] = x[i];", ONE, "i >= n"),
        ("int i = me();\nif (i + 1 < n) out[i] = x[i];", CORNER, "i < n"),
        ("int i = me();\nif (i <= n - 2) out[i] = x[i];", ONE, "i < n"),
        ("int i = me();\nif (i > n - 3) return;\nout[i] = x[i];", TWO, "i >= n"),
        ("for (int i = me(); i < n - 2; i += 64) out[i] = x[i];", TWO, "i < n"),
        ("if (threadIdx.x < n - 1) out[threadIdx.x] = 1;", ONE, "threadIdx.x < n"),
    ],
)
def test_the_guard_is_named_with_its_line(body: str, message: str, fix: str) -> None:
    line = 3 + body.count("\n", 0, min(body.index(s) for s in ("if (", "for (") if s in body))
    assert found(body, message) == [(line, f"Write `{fix}`.")]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("int i = me();\nif (i < n) out[i] = x[i];", ONE),
        ("int i = me();\nif (i < n - 1) out[i] = x[i];", TWO),
        ("int i = me();\nif (i < n - 1) out[i] = x[i];", ONE.replace("149 of F", "77 of F")),
        ("int i = me();\nif (i < n - 1) out[i] = x[i];", "First wrong: element [149] is 3, expected 4."),
        ("int i = me();\nif (i < n - 1) out[i] = x[i];\nelse out[n] = x[i];", ONE),
        ("int i = me();\nfloat next = 0;\nif (i + 1 < n) next = x[i + 1];\nif (i < n) out[i] = next;", ONE),
        ("int i = me();\nif (i < n - 1 || i == n - 1) out[i] = x[i];", ONE),
        ("int i = me();\nif (i < n - 1) last(out, i);\nout[i] = 1;", ONE),
        ("int i = me();\nout[i] = i + 1 < n ? x[i + 1] : 0;", ONE),
    ],
)
def test_others_are_left_alone(body: str, message: str) -> None:
    assert found(body, message) == []


def test_it_is_said_of_the_check_whose_kernel_it_is() -> None:
    kernel = "__global__ void {}_kernel(const float* x, float* out, int n) {{\n    if (me() < n - {}) out[me()] = x[me()];\n}}\n"
    source = (
        'code = r"""\n'
        + "".join(kernel.format(name, k) for name, k in (("a", 0), ("b", 1), ("c", 1)))
        + '"""\n'
    )
    seen = [{"kind": "output-not-written", "kernel": "", "check": "b", "line": 0}]
    finding = Finding("memory", Status.UNINITIALISED, ONE, evidence={"seen": seen})
    told = attach.explained(finding, source).evidence["explanation"]
    assert (told["rule"], told["line"]) == ("guard-too-short", 6)


QUARTER = "3072 of 4096 elements of Float[32, 128] were never written, the first is element 8, 0."
FOURTH = "112 of 150 elements of Float[150] were never written, the first is element 38."


@pytest.mark.parametrize(
    ("body", "message", "fix"),
    [
        ("int i = me();\nif (i * 4 >= n) return;\nout[i] = x[i];", QUARTER, "i >= n"),
        ("int i = me();\nif (4 * i < n) out[i] = x[i];", QUARTER, "i < n"),
        ("int i = me();\nif (i >= n / 4) return;\nout[i] = x[i];", QUARTER, "i >= n"),
        ("int i = me();\nif (i * 4 >= n) return;\nout[i] = x[i];", FOURTH, "i >= n"),
        ("int i = me();\nif (i * 2 < n) out[i] = x[i];", QUARTER, ""),
        ("int i = me();\nif (i * 4 >= n + 4) return;\nout[i] = x[i];", QUARTER, ""),
        ("int i = me();\nif (i * 4 < n) out[i] = x[i];\nelse out[0] = 0;", QUARTER, ""),
        ("int i = me();\nif (i * 4 >= n) return;\nout[i] = x[i];", TWO, ""),
    ],
)
def test_a_guard_that_multiplies_is_named_where_exactly_its_part_was_written(
    body: str, message: str, fix: str
) -> None:
    line = 3 + body.count("\n", 0, body.index("if ("))
    assert found(body, message) == ([(line, f"Write `{fix}`.")] if fix else [])


BLOCK = "86 of 150 elements of Float[150] were never written, the first is element 64."
SQUARE = "660 of 1120 elements of Float[28, 40] were never written, the first is element 0, 16."
COL = "int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;\n"
ALL = "int i = blockIdx.x * blockDim.x + threadIdx.x;\n"


@pytest.mark.parametrize(
    ("body", "message", "fix"),
    [
        ("if (me() < SIZE) out[me()] = 3 * x[me()];", BLOCK, "Write `me() < n`."),
        ("int i = me();\nif (i >= SIZE) return;\nout[i] = x[i];", BLOCK, "Write `i >= n`."),
        (f"{ALL}if (i < blockDim.x) out[i] = x[i];", BLOCK, "Write `i < n`."),
        (f"{ALL}if (i < 64) out[i] = x[i];", BLOCK, "Write `i < n`."),
        (f"const int THREADS = 64;{ALL}if (i < THREADS) out[i] = x[i];", BLOCK, "Write `i < n`."),
        (
            f"{COL}if (col < blockDim.x) out[row * n + col] = 1;",
            SQUARE,
            "Write `col < n`.",
        ),
        (f"{ALL}if (i < 128) out[i] = x[i];", BLOCK, ""),
        (f"{ALL}if (threadIdx.x < 64) out[i] = x[i];", BLOCK, ""),
        ("int t = threadIdx.x, i = me();\nif (t < SIZE) out[i] = x[i];", BLOCK, ""),
        (f"{ALL}if (i < 64) out[i] = 0; else out[i] = 1;", BLOCK, ""),
        (f"{ALL}if (i < 64) out[i] = x[i];", BLOCK.replace("element 64", "element 0"), ""),
        (f"{ALL}if (i < n) out[i] = x[i];", BLOCK, ""),
    ],
)
def test_a_guard_that_asks_for_one_block(body: str, message: str, fix: str) -> None:
    line = 3 + body.count("\n", 0, body.index("if ("))
    assert found(body, message) == ([(line, fix)] if fix else [])


@pytest.mark.parametrize(
    ("body", "fix"),
    [
        (f"{ALL}if (i < 256) out[i] = x[i];", "Write `i < n`."),
        (f"{COL}if (row >= blockDim.y || col >= blockDim.x) return;\nout[row * n + col] = 1;", "Ask for the"),
        (f"{ALL}if (i < 256 && i < n) out[i] = x[i];", ""),
        (f"{ALL}if (i >= n) return;\nif (i < 256) out[i] = x[i];", ""),
        (f"{ALL}if (i < n) out[i] = x[i + 1];", ""),
    ],
)
def test_a_guard_that_asks_for_one_block_of_a_small_tensor(body: str, fix: str) -> None:
    source = f'code = r"""\n__global__ void k(const float* x, float* out, int n) {{\n{body}\n}}\n"""\n'
    finding = Finding("k", Status.ILLEGAL_ACCESS, "reads element 1 of x (Float[1]), 1 element past the end")
    facts = [f for find, _ in last_elements.FACTS for f in find(read(source), finding)]
    assert [f.line for f in facts] == ([4] if fix else [])
    assert not fix or (facts[0].fix.startswith(fix) and "reach past the end" in facts[0].cause)
