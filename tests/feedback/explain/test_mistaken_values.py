"""One value taken for another: the line and the reason, and where nothing is said."""

import re
from typing import Any

import pytest

from grader.domain.lessons import every, find
from grader.domain.verdict import Finding, Status
from grader.feedback.explain import mistaken_values
from grader.feedback.explain.attach import explained
from grader.feedback.explain.source_text import read

FIRST, GRID, SQUARE = (find(n).solution.read_text("utf-8") for n in ("01", "02", "03"))
ON_GRID = {"on_grid": "neighbours", "size": 8, "n": 37, "index": 3}
UNWRITTEN = "2048 of 2048 elements of Float[32, 64] were never written, the first is element 0, 0."
PAST = "s.py, line 23: reads element 3737 of in (Float[3737]), 1 element past the end."
OWNER = "Line 9: owner(0, 0) is {}, expected [0, 0, 0, 0]."
FILES = "Line 33: compiled_again('cpp_sources') is {}, expected ['main.cpp']. It is the text of main.cpp."
HANDED = "        x.data_ptr<float>(), out.data_ptr<float>(), rows, cols);"
MADE = "torch::Tensor out = torch::empty_like(x);"
STORE = "    const int64_t i = row * cols + col;\n    out[i] = in[i] * in[i];\n"
LOOP = "    for (int64_t c = 0; c < cols; ++c) {\n        out[row * cols + c] = in[row * cols + c];\n    }\n"
GUARD = "if (row >= rows || col >= cols) return;"


def told(
    source: str, edits: list[tuple[str, str]], status: Status, message: str, check: str = "check"
) -> Any:
    for old, new in edits:
        assert source.count(old) == 1, old
        source = source.replace(old, new)
    evidence = dict(ON_GRID) if "def neighbours" in source else {}
    found = explained(Finding(check, status, message, 0, 2, evidence), source).evidence.get("explanation")
    return (found or {}, source.splitlines())


@pytest.mark.parametrize(
    ("source", "edits", "status", "message", "code", "says"),
    [
        (GRID, [("x[i - 1] if i > 0 else 0", "x[i - 1] if i > 1 else 0")],
         Status.WRONG_OUTPUT, "out[1] is 1, expected 2", "if i > 1", r"element 0, is left out.*`i > 0`"),
        (GRID, [("if i + 1 < n else 0", "if i + 1 < n - 1 else 0")], Status.WRONG_OUTPUT, "out[22] is 1, expected 2", "n - 1 else",
         r"the last element, is left out.*`i \+ 1 < n`"),
        (SQUARE, [("[col // 16, row // 16, col % 16, row % 16]", "[[col // 16, row // 16], [col % 16, row % 16]]")], Status.WRONG_ANSWER,
         OWNER.format("[[0, 0], [0, 0]]"), "return [[", r"a list of 2.*`return \[col // 16, row // 16, col % 16, row % 16\]`"),
        (FIRST, [('files.append("main.cpp")', 'files.append("main")')], Status.WRONG_ANSWER, FILES.format("['main']"), '"main")', "without its ending"),
        (FIRST, [('files.append("main.cpp")', 'files.append("Main.cpp")')], Status.WRONG_ANSWER, FILES.format("['Main.cpp']"), '"Main.cpp")',
         "capital letters"),
        (FIRST, [("return extension.scale_shift.__doc__", "return scale_shift.__doc__")], Status.WRONG_ANSWER, "help_text() returns None, not a text",
         "return scale_shift.__doc__", r"has no help text.*`extension\.scale_shift\.__doc__`"),
        (SQUARE, [("x.dim() == 2", "x.numel() == 2")], Status.RAISED, "RuntimeError: square_matrix: x must have two dimensions, rows and columns",
         "x.numel() == 2", r"number of all its elements.*`x\.dim\(\) == 2`"),
        (SQUARE, [("x.dim() == 2", "x.size(0) == 2")], Status.RAISED, "RuntimeError: square_matrix: x must have two dimensions, rows and columns",
         "x.size(0) == 2", "one of its dimensions"),
        (SQUARE, [(HANDED, HANDED.replace("out.", "x."))], Status.UNINITIALISED, UNWRITTEN, HANDED.replace("out.", "x.").strip(),
         r"nothing is ever written into out.*`out\.data_ptr<float>\(\)` as argument 2"),
        (SQUARE, [(HANDED, HANDED.replace("rows", "x.numel()"))], Status.ILLEGAL_ACCESS, PAST, "x.numel(), cols", "Write `rows`"),
        (SQUARE, [(MADE, "torch::Tensor out = torch::zeros({x.size(0)}, x.options());")], Status.ILLEGAL_ACCESS, PAST, "torch::zeros({",
         "one dimension.*`torch::empty_like"),
        (SQUARE, [("    x = x.contiguous();\n", ""), (MADE, MADE + "\n    out = out.contiguous();")], Status.UNINITIALISED, UNWRITTEN,
         "out = out.contiguous();", "which is made here"),
        (SQUARE, [(STORE, LOOP), (GUARD, "if (row >= rows) return;")], Status.RACE, "line 33: writes element 0, 0 of out", "c < cols",
         "all cols values of c.*write col in place of c"),
        (SQUARE, [(GUARD, "if (row + col >= rows + cols) return;")], Status.ILLEGAL_ACCESS, PAST, "row + col >=", r"`if \(row >= rows \|\| col >= cols\)`"),
        (SQUARE, [("blockDim.y + threadIdx.y", "blockDim.y + threadIdx.x")], Status.RACE, "writes element 0", "blockDim.y + threadIdx.x",
         r"threadIdx\.y is used nowhere"),
        (GRID, [("    return (n + size - 1) // size", "    return n // size + (1 if n % size == 1 else 0)")], Status.WRONG_ANSWER,
         "blocks_for(37, 8) is 4, expected 5", "n % size == 1", "exactly one.*`n % size != 0`"),
        (FIRST, [("return x * scale", "return x.view({-1}) * scale")], Status.WRONG_SHAPE, "The result has shape [35], expected [5, 7].",
         "view({-1})", "into one dimension"),
        (FIRST, [("return x * scale", "return torch::nan_to_num(x) * scale")], Status.WRONG_OUTPUT, "element [63] is -1, expected nan", "nan_to_num",
         "in place of each NaN"),
    ],
)  # fmt: skip
def test_the_value_is_told(
    source: str, edits: list[tuple[str, str]], status: Status, message: str, code: str, says: str
) -> None:
    found, lines = told(source, edits, status, message)
    assert code in lines[found["line"] - 1], found
    assert re.search(says, f"{found['cause']} {found['fix']}"), found


def test_an_index_for_its_element() -> None:
    source = GRID.replace("    out[i] = factor * x[i]\n", "    out[i] = factor * i\n", 1)
    found = explained(Finding("scale", Status.WRONG_OUTPUT, "out[0] is 0, expected 1", 0, 3, {}), source)
    assert found.evidence["explanation"]["fix"] == "Write `out[i] = factor * x[i]`."  # type: ignore[index]


def test_one_less_than_n() -> None:
    old = "    left = x[i - 1]"
    for line, known in (("n = len(x) - 1", True), ("n = n - 1", True), ("m = len(x) - 1", False)):
        found, _ = told(GRID, [(old, f"    {line}\n{old}")], Status.WRONG_OUTPUT, "out[22] is 1, expected 2")
        assert (found.get("rule") == "one-less") is known, found


@pytest.mark.parametrize(
    ("source", "edits", "status", "message"),
    [
        (GRID, [("if i > 0 else 0", "if i >= 1 else 0")], Status.WRONG_OUTPUT, "out[1] is 1, expected 2"),
        (SQUARE, [("    return [col // 16, row", "    return [row // 16, col")], Status.WRONG_ANSWER, OWNER.format("[[0, 0], [0, 0]]")),
        (FIRST, [('files.append("main.cpp")', 'files.append("cpp")')], Status.WRONG_ANSWER, FILES.format("['cpp']")),
        # the result is written by other means, the pointer is const, a row's sum has one element a row
        (SQUARE, [(HANDED, HANDED.replace("out.", "x.")),
         ("    C10_CUDA_KERNEL_LAUNCH_CHECK();", "    C10_CUDA_KERNEL_LAUNCH_CHECK();\n    out.copy_(x);")], Status.WRONG_OUTPUT, "First wrong: element"),
        (SQUARE, [(MADE, "torch::Tensor out = torch::zeros({x.size(0)}, x.options());"), (STORE, "    out[row] = in[row * cols];\n")],
         Status.ILLEGAL_ACCESS, PAST),
        (SQUARE, [(MADE, MADE + "\n    out = out.contiguous();")], Status.WRONG_OUTPUT, "First wrong: element"),
        (SQUARE, [(STORE, LOOP.replace("c = 0; c < cols; ++c", "c = col; c < cols; c += blockDim.x"))], Status.RACE, "writes element 0"),
        (SQUARE, [(GUARD, "if (row + 1 >= rows + cols) return;")], Status.ILLEGAL_ACCESS, PAST),
        (SQUARE, [("threadIdx.y", "threadIdx.x"), (GUARD, GUARD + " (void)threadIdx.y;")], Status.RACE, "writes element 0"),
        (FIRST, [("return x * scale + shift", "return (x.view({-1}) * scale + shift).view(x.sizes())")], Status.WRONG_SHAPE,
         "The result has shape [35], expected [5, 7]."),
        (FIRST, [("return x * scale", "return torch::nan_to_num(x) * scale")], Status.WRONG_OUTPUT, "element [63] is -1, expected 2"),
    ],
)  # fmt: skip
def test_nothing_is_said_that_is_not_known(
    source: str, edits: list[tuple[str, str]], status: Status, message: str
) -> None:
    found, _ = told(source, edits, status, message)
    rules = {
        "edge-too-early",
        "lists-in-a-list",
        "nearly-the-name",
        "result-not-handed-over",
        "a-side-too-few",
    }
    rules |= {"one-sum-for-two", "same-thread-number", "shape-lost", "nan-replaced"}
    assert found.get("rule") not in rules | {"result-made-contiguous", "loop-over-others"}, found


def test_no_solution_has_such_a_value() -> None:
    message = f"{OWNER.format('[[0, 0], [0, 0]]')} None x must have two dimensions"
    for lesson in every():
        text = read(lesson.solution.read_text("utf-8"))
        for name in [f.split("(")[0] for f in text.source.split("\ndef ")[1:]]:
            finding = Finding(name, Status.RACE, message, 0, 1, ON_GRID | {"on_grid": name})
            told = [fact for find, _ in mistaken_values.FACTS for fact in find(text, finding)]
            assert not told, (lesson.name, told)


@pytest.mark.parametrize(("read", "told"), [("x[i]", True), ("x[i] + w[i]", False)])
def test_rows_for_elements(read: str, told: bool) -> None:
    loop = f"torch::Tensor out = torch::empty_like(x); for (int i = 0; i < x.numel(); i++) {{ out[i] = {read}; }} return out;"
    message = "IndexError: select(): index 5 out of range for tensor of size [5, 7] at dimension 0"
    source = FIRST.replace("return x * scale + shift;", loop)
    found = (
        explained(Finding("matrix", Status.RAISED, message, 0, 3, {}), source).evidence.get("explanation")
        or {}
    )
    assert (found.get("rule") == "rows-for-elements") is told, found  # type: ignore[attr-defined]


@pytest.mark.parametrize("made", ["zeros", "ones", "empty"])
def test_a_result_with_values_keeps_them(made: str) -> None:
    source = FIRST.replace(
        "return x * scale + shift;", f"torch::Tensor out = torch::{made}(x.sizes()); out += x; return out;"
    )
    finding = Finding("float64", Status.WRONG_DTYPE, "The result is float32, expected float64.", 0, 2, {})
    found = explained(finding, source).evidence["explanation"]
    assert f"torch::{made}_like(x)" in found["fix"] and "names no dtype" in found["cause"], found  # type: ignore[index]


@pytest.mark.parametrize(
    ("by", "said", "told"), [("100", 1e-5, True), ("100", 3e-3, False), ("1", 1e-3, False)]
)
def test_one_call_divided_by_all(by: str, said: float, told: bool) -> None:
    source = (
        find("04")
        .solution.read_text("utf-8")
        .replace("elapsed_time(end) / 1e3", f"elapsed_time(end) / 1e3 / {by}")
    )
    evidence = {"timer": {"said": said, "right": 1e-3}}
    finding = Finding("check", Status.WRONG_ANSWER, "median is 1 us", 0, 2, evidence)
    facts = [f.rule for look, _ in mistaken_values.FACTS for f in look(read(source), finding)]
    assert facts == ["one-call-divided"] * told


@pytest.mark.parametrize(("guard", "told"), [("block < n", True), ("i < n", False), ("thread < n", False)])
def test_a_guard_that_asks_about_the_block(guard: str, told: bool) -> None:
    source = GRID.replace("    if i < n:", f"    if {guard}:", 1)
    finding = Finding(
        "ragged",
        Status.ILLEGAL_ACCESS,
        "Block 4, thread 7 reads x[39]",
        0,
        4,
        ON_GRID | {"on_grid": "scale_blocks"},
    )
    facts = [f.rule for look, _ in mistaken_values.FACTS for f in look(read(source), finding)]
    assert facts == ["block-for-element"] * told
