"""A row's number times something else than the length of a row."""

import pytest

from grader.domain.verdict import Finding, Status
from grader.feedback.explain import row_starts
from grader.feedback.explain.source_text import read

KERNEL = '''code = r"""
__global__ void k(const float* x, float* out, int rows, int cols) {{
    {}
    {}
}}
"""
'''
DIVIDED = "const int row = me() / cols, col = me() % cols;"
GUARDED = "const int row = blockIdx.y, col = threadIdx.x; if (row >= rows || col >= cols) return;"


@pytest.mark.parametrize(
    ("made", "code", "told"),
    [
        (
            DIVIDED,
            "if (row < rows) out[col * rows + row] = x[row * rows + col];",
            "rows is how many rows there are",
        ),
        (
            DIVIDED,
            "if (row < rows) out[col * rows + row] = x[row * rows + col];",
            "Write `x[row * cols + col]`.",
        ),
        (DIVIDED, "out[row * blockDim.x + col] = 1;", "blockDim.x is a size of blocks"),
        (
            DIVIDED,
            "out[0] = x[row * TILE + col];",
            "By `row = me() / cols` and `col = me() % cols` a row has cols",
        ),
        (DIVIDED, "out[0] = x[row * 16 + col];", "Write `x[row * cols + col]`."),
        (GUARDED, "out[row * rows + col] = 1;", "By `col >= cols` a row has cols elements"),
        (GUARDED, "out[row * gridDim.x + col] = 1;", "Write `out[row * cols + col]`."),
        (DIVIDED, "if (row < rows) out[col * rows + row] = x[row * cols + col];", ""),
        (GUARDED, "out[row * cols + col] = x[col * rows + row];", ""),
        (DIVIDED, "out[0] = x[row * pitch + col];", ""),
        (DIVIDED, "tile[row * TILE + col] = 0;", ""),
        ("const int row = blockIdx.y, col = threadIdx.x;", "out[row * rows + col] = 1;", ""),
    ],
)
def test_where_a_row_begins(made: str, code: str, told: str) -> None:
    text = read(KERNEL.format(made, code))
    finding = Finding("a case", Status.WRONG_OUTPUT, "", 0, 1, {})
    facts = [f for find, _ in row_starts.FACTS for f in find(text, finding)]
    assert [(f.line, told in f"{f.cause} {f.fix}") for f in facts] == ([(4, True)] if told else [])


@pytest.mark.parametrize(
    ("name", "code", "fix"),
    [
        (
            "transpose_kernel",
            "out[row * rows + col] = x[row * cols + col];",
            "Write `out[col * rows + row]`.",
        ),
        ("turn", "out[row * rows + col] = x[row * cols + col];", "Write `out[col * rows + row]`."),
        ("returned", "out[row * rows + col] = x[row * cols + col];", "Write `out[row * cols + col]`."),
        ("transpose_kernel", "out[col * rows + row] = x[row * rows + col];", "Write `x[row * cols + col]`."),
    ],
)
def test_where_the_result_has_rows_and_columns_exchanged(name: str, code: str, fix: str) -> None:
    text = read(KERNEL.replace("void k(", f"void {name}(").format(DIVIDED, f"if (row < rows) {code}"))
    finding = Finding("a case", Status.RACE, "", 0, 1, {})
    (fact,) = [f for find, _ in row_starts.FACTS for f in find(text, finding)]
    assert (fact.line, fact.fix) == (4, fix)
    assert ("has the two exchanged" in fact.cause) == (fix.startswith("Write `out[col"))
