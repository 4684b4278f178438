"""Sizes in another unit than a kernel's parameter means: vectors and floats; and a bias by the wrong number."""

from typing import Any

import pytest

from grader.domain.verdict import Finding, Status
from grader.feedback.explain import attach

SOURCE = '''source = r"""
__global__ void plain(const float* x, const float* bias, float* out, int64_t n, int64_t cols) {
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = x[i] + bias[i % cols];
}
__global__ void wide(const float4* x, const float4* bias, float4* out, int64_t quads, int64_t quad_cols) {
    int64_t q = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (q < quads) {
        float4 v = x[q];
        float4 b = bias[q % quad_cols];
        v.x += b.x;
        v.y += b.y;
        out[q] = v;
    }
}
torch::Tensor add(torch::Tensor x, torch::Tensor bias) {
    torch::Tensor out = torch::empty_like(x);
    const int64_t n = x.numel(), cols = x.size(-1);
    if (cols % 4 == 0) {
        const int64_t quads = n / 4;
        wide<<<(quads + 127) / 128, 128>>>(
            (const float4*)x.data_ptr<float>(),
            (const float4*)bias.data_ptr<float>(),
            (float4*)out.data_ptr<float>(),
            quads,
            cols / 4);
    } else {
        plain<<<(n + 127) / 128, 128>>>(
            x.data_ptr<float>(), bias.data_ptr<float>(), out.data_ptr<float>(), n, cols);
    }
    return out;
}
"""
module = load_inline("a", "torch::Tensor add(torch::Tensor x, torch::Tensor bias);", source, functions=["add"])


def run(x, bias):
    return module.add(x, bias)
'''
OUTSIDE, WRONG = Status.ILLEGAL_ACCESS, Status.WRONG_OUTPUT


def told(source: str, status: Status, kernel: str, line: int, **evidence: Any) -> dict[str, Any]:
    seen = [{"kind": "global-out-of-bounds", "kernel": kernel, "line": line}]
    finding = Finding("memory", status, "reads element 384 of x", evidence={"seen": seen} | evidence)
    return attach.explained(finding, source).evidence.get("explanation") or {"rule": "", "line": 0, "fix": ""}


@pytest.mark.parametrize(
    ("old", "new", "line", "fix"),
    [
        ("            quads,\n", "            n,\n", 25, "Hand over `quads`, which is n / 4."),
        ("            quads,\n", "            static_cast<int64_t>(n),\n", 25, "Hand over `quads`, which is n / 4."),
        ("            quads,\n", "            x.numel(),\n", 25, "Divide it by 4"),
        ("quads = n / 4;", "quads = n;", 20, "Divide it by 4"),
        ("const float4* x, const float4* bias, float4* out, int64_t quads",
         "const float* x_, const float4* bias, float4* out, int64_t quads", 0, ""),
    ],
)  # fmt: skip
def test_the_number_of_floats_where_a_kernel_counts_float4(old: str, new: str, line: int, fix: str) -> None:
    assert SOURCE.count(old) == 1
    found = told(SOURCE.replace(old, new), OUTSIDE, "wide", 9)
    assert found["line"] == line and fix in found["fix"], found
    assert found["rule"] == ("counts-floats" if line else "")
    assert told(SOURCE, OUTSIDE, "wide", 9)["rule"] == ""


@pytest.mark.parametrize(
    ("old", "new", "line", "fix"),
    [
        ("            quads,\n", "            n,\n", 25,
         "Hand over `quads`, which is n / 4, and hand over `cols / 4` for the columns."),
        ("            quads,\n", "            x.numel(),\n", 25, "Hand over `x.numel() / 4` and `cols / 4`."),
        ("quads = n / 4;", "quads = n;", 20,
         "Divide it by 4 for the kernel that takes four at a time, and hand over `cols / 4` for the columns."),
    ],
)  # fmt: skip
def test_both_counts_of_a_launch_in_floats_are_told_at_once(old: str, new: str, line: int, fix: str) -> None:
    found = told(SOURCE.replace(old, new).replace("cols / 4);", "cols);"), OUTSIDE, "wide", 9)
    assert (found["rule"], found["line"], found["fix"]) == ("counts-floats", line, fix)
    assert "hands over `cols` (line 26), the columns in floats. wide counts both in float4" in found["cause"]
    alone = told(SOURCE.replace(old, new), OUTSIDE, "wide", 9)
    assert "columns" not in alone["cause"] + alone["fix"]


def test_a_pointer_that_is_cast_in_the_kernel_and_a_kernel_that_divides_itself() -> None:
    cast = SOURCE.replace("const float4* x, const float4*", "const float* in, const float4*").replace(
        "float4 v = x[q];", "float4 v = reinterpret_cast<const float4*>(in)[q];"
    )
    source = cast.replace("            quads,\n", "            n,\n").replace("float4* out", "float* to")
    assert told(source.replace("bias[q % quad_cols]", "bias[0]"), OUTSIDE, "wide", 9)["line"] == 25
    divides = SOURCE.replace("            quads,\n", "            n,\n").replace("q < quads", "q < quads / 4")
    assert told(divides, OUTSIDE, "wide", 9)["rule"] == ""


def test_the_number_of_float4_where_a_kernel_takes_one_float() -> None:
    source = SOURCE.replace("out.data_ptr<float>(), n, cols)", "out.data_ptr<float>(), n / 4, cols)")
    found = told(source, WRONG, "plain", 4)
    assert (found["rule"], found["line"]) == ("counts-vectors", 29)
    assert found["fix"] == "Hand over the number of floats, `n`."
    several = source.replace("out[i] = x[i]", "out[i * PER] = x[i * PER]")
    assert told(several, WRONG, "plain", 4)["rule"] != "counts-vectors"


@pytest.mark.parametrize(
    ("old", "new", "kernel", "line", "fix"),
    [
        ("bias[i % cols]", "bias[threadIdx.x]", "plain", 4, "`bias[i % cols]`"),
        ("bias[i % cols]", "bias[threadIdx.x % cols]", "plain", 4, "`bias[i % cols]`"),
        ("    if (i < n) out[i] = x[i] + bias[i % cols]", "    int t = threadIdx.x;\n    if (i < n) out[i] = x[i] + bias[t]",
         "plain", 5, "`bias[i % cols]`"),
        ("    if (i < n) out[i] = x[i] + bias[i % cols]", "    int col = threadIdx.x;\n    if (i < n) out[i] = x[i] + bias[col]",
         "plain", 4, "`col = i % cols`"),
        ("bias[q % quad_cols]", "bias[threadIdx.x]", "wide", 10, "`bias[q % quad_cols]`"),
    ],
)  # fmt: skip
def test_a_bias_by_the_number_of_the_thread_in_its_block(
    old: str, new: str, kernel: str, line: int, fix: str
) -> None:
    assert SOURCE.count(old) == 1
    for status in (OUTSIDE, WRONG):
        found = told(SOURCE.replace(old, new), status, kernel, line)
        assert (found["rule"], found["line"]) == ("bias-of-thread", line), found
        assert fix in found["fix"]


def test_a_block_for_a_row_counts_its_columns_by_threads() -> None:
    source = SOURCE.replace(
        "(int64_t)blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n) out[i] = x[i] + bias[i % cols]",
        "blockIdx.x * cols + threadIdx.x;\n    if (threadIdx.x < cols) out[i] = x[i] + bias[threadIdx.x]",
    )
    assert source != SOURCE
    assert told(source, WRONG, "plain", 4)["rule"] not in ("bias-of-thread", "number-in-block")


def test_where_a_wrong_element_comes_from_has_its_parts_and_the_functions_that_made_it() -> None:
    source = SOURCE.replace(
        "__global__ void plain",
        "__device__ float sum(float a, float b) { return a + b; }\n__global__ void plain",
    ).replace("v.y += b.y;", "v.y = sum(v.y, b.y);")
    found = told(source, WRONG, "wide", 0, owner={"kernel": "wide", "line": 14, "access": "write"}, seen=[])
    assert found["rule"] == "written-here"
    assert "from v (lines 10, 12 and 13)" in found["cause"] and "sum (line 2)" in found["cause"]
    assert "mistake may be" not in found["fix"]


PARTS = SOURCE.replace(
    "        v.y += b.y;\n        out[q] = v;", "        float4 r;\n        SET\n        out[q] = r;"
)
THREE = ["r.x = v.x + b.x;", "r.y = v.y + b.y;", "r.z = v.z + b.z;"]


@pytest.mark.parametrize(
    ("statements", "says"),
    [
        (THREE, "r.w never gets a value"),
        (THREE[:2], "r.z and r.w never get a value"),
        ([*THREE, "r.w = v.w + b.w;"], ""),
        ([*THREE, "set(r);"], ""),
        ([*THREE, "(&r.x)[3] = 0;"], ""),
        (["r = v;", *THREE], ""),
    ],
)
def test_a_part_that_never_gets_a_value(statements: list[str], says: str) -> None:
    source = PARTS.replace("SET", "\n        ".join(statements))
    found = told(source, WRONG, "wide", 9)
    assert (found["rule"] == "lost-part") == bool(says), found
    if says:
        assert says in found["cause"] and "`r.w = v.w + b.w;" in found["fix"].replace(
            "`r.z = v.z + b.z; ", "`"
        )
        assert source.splitlines()[found["line"] - 1].strip() == "out[q] = r;"


@pytest.mark.parametrize(("row", "rule"), [("i / cols", "bias-of-row"), ("i % cols", "")])
def test_the_row_of_a_bias_through_a_variable(row: str, rule: str) -> None:
    source = SOURCE.replace(
        "if (i < n) out[i] = x[i] + bias[i % cols];",
        f"int64_t at = {row};\n    if (i < n) out[i] = x[i] + bias[at];",
    )
    found = told(source, OUTSIDE, "plain", 5)
    assert found["rule"] == rule and (not rule or found["line"] == 4), found
    assert not rule or "`at = i % cols`" in found["fix"]


def test_a_row_that_is_called_so_is_right_and_the_bias_of_it_is_not() -> None:
    source = SOURCE.replace(
        "if (i < n) out[i] = x[i] + bias[i % cols];",
        "int64_t row = i / cols;\n    if (i < n) out[i] = x[i] + bias[row];",
    )
    found = told(source, OUTSIDE, "plain", 5)
    assert (found["rule"], found["line"]) == ("bias-of-row", 5) and "`bias[i % cols]`" in found["fix"], found


@pytest.mark.parametrize(
    ("width", "blamed"),
    [("cols % 4 == 0 && whole(x) ? 1 : 4", True), ("cols % 4 != 0 ? 4 : 1", True), ("cols % 4 == 0 ? 4 : 1", False),
     ("cols % 4 == 0 || small ? 1 : 4", False), ("cols % 4 == 0 ? 1 : 2", False)],
)  # fmt: skip
def test_a_width_of_four_where_it_does_not_fit(width: str, blamed: bool) -> None:
    source = SOURCE.replace(
        "torch::Tensor", "torch::Tensor helper(int64_t cols) { const int64_t vec = WIDTH; }\ntorch::Tensor", 1
    )
    found = told(source.replace("WIDTH", width), OUTSIDE, "plain", 5)
    assert (found["rule"] == "width-turned") == blamed, found
    assert not blamed or "in each other's place" in found["cause"]


@pytest.mark.parametrize(
    ("parts", "line", "says", "fix"),
    [
        ("xyyw", 14, "`f(v.y, b.y)` makes the part .z of a float4 and takes .y", "Write `f(v.z, b.z)`."),
        ("xzyw", 13, "`f(v.z, b.z)` makes the part .y of a float4, and `f(v.y, b.y)` the part .z: the two are exchanged",
         "Write `f(v.y, b.y)` first, and `f(v.z, b.z)` behind it."),
        ("wyzx", 13, "the two are exchanged", "Write `f(v.x, b.x)` first, and `f(v.w, b.w)` behind it."),
        ("xyzz", 14, "takes .z", "Write `f(v.w, b.w)`."),
        ("xyzw", 0, "", ""),
        ("yzxw", 0, "", ""),
        ("xyxy", 0, "", ""),
    ],
)  # fmt: skip
def test_the_argument_meant_is_named_where_its_text_stands_twice(
    parts: str, line: int, says: str, fix: str
) -> None:
    one, two, three, four = (f"f(v.{p}, b.{p})" for p in parts)
    call = f"        out[q] = make_float4({one}, {two},\n                             {three}, {four});"
    source = SOURCE.replace(
        "        v.x += b.x;\n        v.y += b.y;\n        out[q] = v;", "        // all\n\n" + call
    )
    found = told(source, WRONG, "wide", 13)
    assert (found["rule"] == "mixed-parts") == bool(line), found
    if line:
        assert found["line"] == line and says in found["cause"] and found["fix"] == fix


LINES = "float4 r;\n        r.x = v.x + {}; r.y = v.y + {};\n        r.z = v.z + {}; r.w = v.w + {};\n        out[q] = r;"
AT_ONCE = "out[q] = make_float4(f(v.x, {}), f(v.y, {}),\n            f(v.z, {}), f(v.w, {}));"


@pytest.mark.parametrize(
    ("code", "of_bias", "line"),
    [
        (LINES, ("b.x", "b.x", "b.x", "b.x"), 12), (AT_ONCE, ("b.x", "b.x", "b.x", "b.x"), 11),
        (LINES, ("b.x", "b.y", "b.z", "b.w"), 0), (AT_ONCE, ("b.x", "b.y", "b.z", "b.w"), 0),
        (AT_ONCE, ("one.x", "one.x", "one.x", "2"), 0), (AT_ONCE, ("b.y", "b.y", "b.y", "b.y"), 0),
    ],
)  # fmt: skip
def test_one_part_for_all_four(code: str, of_bias: tuple[str, ...], line: int) -> None:
    body = "v.x += b.x;\n        v.y += b.y;\n        out[q] = v;"
    assert body in SOURCE
    found = told(SOURCE.replace(body, code.format(*of_bias)), WRONG, "wide", 11)
    if line:
        assert (found["rule"], found["line"]) == ("mixed-parts", line) and "`b.y`, `b.z`, `b.w`" in found[
            "fix"
        ]
    else:
        assert "all four of" not in str(found)
