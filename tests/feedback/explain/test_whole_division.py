"""Quotients of whole numbers that are rounded up when nothing is left to round; and those that are right."""

import pytest

from grader.domain.verdict import Finding, Status
from grader.feedback.explain import attach, facts, whole_division
from grader.feedback.explain.source_text import read

SOURCE = '''code = r"""
#define TILE 32
constexpr int kThreads = 256;
__global__ void k(const float* x, float* out, int64_t n) {
    out[0] = ceil(n / 2);
}
torch::Tensor f(torch::Tensor x, int64_t size, double part) {
    const int64_t rows = x.size(0), cols = x.size(1);
    const dim3 block(16, 16);
    auto n = x.numel();
    float wide = 16;
    BODY
    k<<<grid, block>>>(x.data_ptr<float>(), x.data_ptr<float>(), n);
    return x;
}
"""
'''
LINE = SOURCE.count("\n", 0, SOURCE.index("BODY")) + 1


def found(body: str) -> list[tuple[int, str]]:
    finding = Finding("a case", Status.UNINITIALISED, "5 of 9 elements were never written")
    text = read(SOURCE.replace("BODY", body))
    return [(fact.line - LINE, fact.fix) for fact in whole_division.rounded_up_late(text, finding)]


@pytest.mark.parametrize(
    ("body", "fix"),
    [
        ("dim3 grid(ceil(cols / block.x));", "(cols + block.x - 1) / block.x"),
        ("int grid = std::ceil(n / 256);", "(n + 256 - 1) / 256"),
        ("int grid = ceilf(n / kThreads);", "(n + kThreads - 1) / kThreads"),
        ("int grid = ceil(x.numel() / TILE);", "(x.numel() + TILE - 1) / TILE"),
        ("int grid = (int)ceil((double)(n / size));", "(n + size - 1) / size"),
        ("int grid = ceil(static_cast<float>(rows / size));", "(rows + size - 1) / size"),
        ("int grid = ceil(1.0 * (n / size));", "(n + size - 1) / size"),
        ("int grid = round(n / size);", "(n + size - 1) / size"),
        ("int grid = ceil(rows * cols / size);", "(rows * cols + size - 1) / size"),
        ("double q = n / size; int grid = ceil(q);", "(n + size - 1) / size"),
        ("int grid = ceil(n / (2 * size));", "(n + (2 * size) - 1) / (2 * size)"),
    ],
)
def test_whole_numbers_are_divided_before_they_are_rounded_up(body: str, fix: str) -> None:
    assert found(body) == [(0, f"Whole numbers are divided and rounded up so: `{fix}`.")]


@pytest.mark.parametrize(
    "body",
    [
        "int grid = (n + size - 1) / size;",
        "int grid = ceil(n / 256.0);",
        "int grid = ceil(n / (double)size);",
        "int grid = ceil((float)n / size);",
        "int grid = ceil(1.0 * n / size);",
        "int grid = ceil(n / part);",
        "int grid = ceil(n / wide);",
        "int grid = ceil(n / unknown(size));",
        "int grid = ceil(n / other);",
        "double q = n / 16.0; int grid = ceil(q);",
        "int grid = ceil((n + size - 1) / size);",
        "int grid = at::ceil_div(n, size);",
    ],
)
def test_what_is_no_such_quotient_is_left_alone(body: str) -> None:
    assert found(body) == []


def test_a_launch_that_is_refused_for_its_empty_grid() -> None:
    source = SOURCE.replace("BODY", "dim3 grid(ceil(cols / block.x));")
    finding = Finding("one", Status.CUDA_ERROR, "CUDA error: invalid configuration argument")
    told = attach.explained(finding, source).evidence["explanation"]
    assert isinstance(told, dict) and told["line"] == LINE and told["rule"] == "rounded-up-late"


def test_the_same_in_python_in_the_function_that_is_asked() -> None:
    source = "import math\ndef blocks(n, size):\n    return math.ceil(n // size)\n"
    message = "Line 3: {}(33, 8) is 4, expected 5. As many blocks as cover all elements."
    told = facts.explained(Finding("b", Status.WRONG_ANSWER, message.format("blocks")), source)
    assert told is not None and told.line == 3 and "`math.ceil(n / size)`" in told.fix
    assert facts.explained(Finding("b", Status.WRONG_ANSWER, message.format("others")), source) is None
    right = source.replace("//", "/")
    assert facts.explained(Finding("b", Status.WRONG_ANSWER, message.format("blocks")), right) is None


@pytest.mark.parametrize(
    ("call", "fix"),
    [("round(n / size)", "(n + size - 1) // size"), ("int((n + 1) / 8)", "(n + 1 + 8 - 1) // 8")],
)
def test_without_math_whole_numbers_round_up(call: str, fix: str) -> None:
    source = f"from grader.lesson_support.grid import each\n\ndef blocks_for(n, size):\n    return {call}\n"
    said = "Line 4: blocks_for(33, 8) is 4, expected 5. That is one too few: round up."
    told = attach.explained(Finding("blocks_for", Status.WRONG_ANSWER, said), source).evidence["explanation"]
    assert told["fix"] == f"Round up: `{fix}`."


@pytest.mark.parametrize("call", ["round(n / size)", "int(n / size)", "math.floor(n / size)"])
def test_a_quotient_in_python_that_is_not_rounded_up(call: str) -> None:
    source = f"import math\ndef blocks_for(n, size):\n    return {call}\n"
    said = "Line 3: blocks_for(33, 8) is 4, expected 5. That is one too few: round up."
    told = attach.explained(Finding("blocks_for", Status.WRONG_ANSWER, said), source).evidence["explanation"]
    assert (told["rule"], told["line"]) == ("not-rounded-up", 3)
    assert told["fix"] == "Round up: `math.ceil(n / size)`."
    many = attach.explained(Finding("blocks_for", Status.WRONG_ANSWER, said.replace("few", "many")), source)
    assert "explanation" not in many.evidence


ROUND_UP = [
    ("n / threads", "(n + threads - 1) / threads"),
    ("n / vec / threads", "(n / vec + threads - 1) / threads"),
    ("n / threads / vec", "(n / vec + threads - 1) / threads"),
    ("n / vec / 256", "(n / vec + 256 - 1) / 256"),
    ("x.numel() / vec / threads", "(x.numel() / vec + threads - 1) / threads"),
    ("(n / vec) / threads", "((n / vec) + threads - 1) / threads"),
    ("(x.numel() / vec) / threads", "((x.numel() / vec) + threads - 1) / threads"),
    ("(n + vec - 1) / vec / threads", "((n + vec - 1) / vec + threads - 1) / threads"),
    ("(n + threads - 1) / threads / vec", "((n + threads - 1) / threads + vec - 1) / vec"),
]


@pytest.mark.parametrize(("blocks", "fix"), ROUND_UP)
@pytest.mark.parametrize("named", [True, False])
def test_of_several_quotients_the_one_by_the_block_is_rounded_up(
    blocks: str, fix: str, *, named: bool
) -> None:
    assert down(blocks, named=named) == [f"Round up: `{fix}`."]


@pytest.mark.parametrize("blocks", [
    "(n / vec + threads - 1) / threads",
    "(n + vec * threads - 1) / vec / threads",
    "((n + vec - 1) / vec + threads - 1) / threads",
    "static_cast<int>(n / vec) / threads",
    "at::ceil_div(quads, threads)",
    "(quads + threads - 1) / threads",
    "n / vec / sms",
    "1 + (n - 1) / threads",
])  # fmt: skip
@pytest.mark.parametrize("named", [True, False])
def test_what_is_rounded_up_or_not_known_is_left_alone(blocks: str, *, named: bool) -> None:
    assert down(blocks, named=named) == []


def down(blocks: str, *, named: bool) -> list[str]:
    """What is advised of a number of blocks, which stands in the launch or has a name."""
    body = f"const int64_t threads = 256, quads = n / vec; const int64_t blocks = {blocks};"
    source = SOURCE.replace("BODY", body).replace(
        "<<<grid, block>>>", f"<<<{'blocks' if named else blocks}, threads>>>"
    )
    finding = Finding("a case", Status.UNINITIALISED, "5 of 9 elements were never written")
    return [fact.fix for fact in whole_division.rounded_down(read(source), finding)]


LOST = "256 of 2304 elements of Float[64, 36] were never written, the first is element 56, 32."


@pytest.mark.parametrize(
    ("grid", "fix"),
    [
        ("(n + threads - 1) / (threads * vec)", "(n + threads * vec - 1) / (threads * vec)"),
        ("(n + threads - 1) / (4 * threads)", "(n + 4 * threads - 1) / (4 * threads)"),
        ("(n + 255) / 512", "(n + 512 - 1) / 512"),
        ("(n + 255) / (256 * 4)", "(n + 256 * 4 - 1) / (256 * 4)"),
        ("(n + 15) / threads", "(n + threads - 1) / threads"),
        ("(n + threads * vec - 1) / (threads * vec)", ""),
        ("(n + threads - 1) / (threads * 1)", ""),
        ("(n + threads - 1) / threads", ""),
        ("(n / vec + threads - 1) / threads", ""),
        ("(n + threads - 1) / 256", ""),
        ("(n + 511) / threads", ""),
        ("(n + part - 1) / threads", ""),
    ],
)
def test_a_quotient_that_is_rounded_up_by_too_little(grid: str, fix: str) -> None:
    host = f"const int threads = 256, vec = n % 4 == 0 ? 4 : 1;\nconst int blocks = {grid};\nk<<<blocks, threads>>>(n);"
    source = f'code = r"""\n__global__ void k(int n) {{}}\nvoid f(int n) {{\n{host}\n}}\n"""\n'
    told = [
        facts.explained(Finding("one", s, m), source)
        for s, m in ((Status.UNINITIALISED, LOST), (Status.WRONG_OUTPUT, "First wrong."))
    ]
    assert told[1] is None or told[1].rule != "rounded-up-by-less"
    found = told[0] if told[0] and told[0].rule == "rounded-up-by-less" else None
    assert (found and (found.line, found.fix)) == ((5, f"Write `{fix}`.") if fix else None)
    refused = Finding(
        "one", Status.CUDA_ERROR, "CUDA error: invalid configuration argument (a.py, line 9: f())"
    )
    said = attach.explained(refused, source).evidence.get("explanation")
    assert bool(said and said["rule"] == "rounded-up-by-less") == bool(fix)


@pytest.mark.parametrize(
    ("code", "fix"),
    [
        ("n // size + n % size", "`(n + size - 1) // size`"),
        ("n % size + n // size", "`(n + size - 1) // size`"),
        ("1 + n // 8 + n % 8", ""),  # which adds another number as well
        ("n // size + (n % size > 0)", ""),
        ("n // size + m % size", ""),
    ],
)
def test_what_is_left_over_is_not_added(code: str, fix: str) -> None:
    message = "Line 2: blocks_for(255, 256) is 255, expected 1."
    finding = Finding("blocks_for", Status.WRONG_ANSWER, message)
    source = f"def blocks_for(n, size, m=1):\n    return {code}\n"
    told = attach.explained(finding, source).evidence.get("explanation")
    assert not told if not fix else isinstance(told, dict) and told["line"] == 2 and fix in told["fix"], told
