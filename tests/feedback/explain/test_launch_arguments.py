"""The argument of a launch that does not fit: which one it is, and what to write."""

import pytest

from grader.domain.verdict import Finding, Status
from grader.feedback.explain import attach
from grader.feedback.explain.engine import explain

SOURCE = '''code = r"""
__global__ void square(const float* in, float* out, int64_t rows, int64_t cols) {{
}}
torch::Tensor run(torch::Tensor x) {{
    {}
}}
"""
'''
WANT = "const float*, float*, long int, long int"


def said(launch: str, got: str, want: str = WANT) -> tuple[int, str]:
    text = f"mine.py:5:11: error: the kernel takes ({want}) but is launched with ({got})"
    found = explain(text, SOURCE.format(launch))
    assert found is not None
    return found.line, f"{found.rule}: {found.cause} {found.fix}"


@pytest.mark.parametrize(
    ("arguments", "got", "words"),
    [
        ("x.data_ptr<double>(), out.data_ptr<float>(), rows, cols", "double*, float*, const int64_t&, const int64_t&",
         ("Argument 1 of this launch, x.data_ptr<double>(), is of type double*, but square's in is of type const float*.",
          "Write `x.data_ptr<float>()`, if that is what the tensor holds")),
        ("x.data_ptr<float>(), out.data_ptr<int64_t>(), rows, cols", "float*, long int*, int64_t&, int64_t&",
         ("Argument 2 of this launch, out.data_ptr<int64_t>(),", "Write `out.data_ptr<float>()`")),
        ("rows, x.data_ptr<float>(), out.data_ptr<float>(), cols", "int64_t&, float*, float*, int64_t&",
         ("Argument 1 of this launch, rows, is of type int64_t",)),
        ("x.data_ptr<float>(), out.data_ptr<float>(), f(rows, 1)", "float*, float*, int",
         ("square takes 4 arguments", "hands over 3")),
        ("x.toTensor(), y, rows, cols", "Thing*, float*, int, int", ("launch-arguments: ", "x.toTensor()")),
        ("x, out, rows, cols", "at::Tensor&, at::Tensor&, int, int", ("tensor-for-pointer: ",)),
    ],
)  # fmt: skip
def test_the_argument_that_does_not_fit_is_named(arguments: str, got: str, words: tuple[str, ...]) -> None:
    line, told = said(f"square<<<dim3(1, 2), block, 0, stream>>>({arguments});", got)
    assert line == 5 and all(one in told for one in words)


def test_a_type_with_two_names_is_not_blamed() -> None:
    _, told = said("square<<<1, 2>>>(a.data_ptr<int64_t>(), x.data_ptr<double>(), 1, 2);", "int64_t*, double*, int, int",
                   "const long int*, float*, long int, long int")  # fmt: skip
    assert "Argument 2 of this launch" in told


@pytest.mark.parametrize(
    ("code", "fix"),
    [
        ("const float value = in[row][col];", "`in[row * columns + col]`, with the length of a row for columns, and not `in[row][col]`."),
        ("out[row + 1][col] = 1;", "`out[(row + 1) * columns + col]`"),
        ("tile[y][x] = in[i][0];", "`in[i * columns + 0]`"),
        ("value[i] = 1;", "is declared with a star"),
    ],
)  # fmt: skip
def test_two_brackets_are_turned_into_one_index_with_the_lines_own_names(code: str, fix: str) -> None:
    source = f'code = """\n__shared__ float tile[16][17];\n{code}\n"""\n'
    known = {
        "log": "mine.py:3:11: error: invalid types 'const float[const int64_t {aka const long int}]' for array subscript"
    }
    finding = Finding("load", Status.COMPILE_ERROR, "mine.py, line 3: invalid types", 0, 0, known)
    told = attach.explained(finding, source).evidence["explanation"]
    assert told["rule"] == "not-an-array" and fix in told["fix"]


@pytest.mark.parametrize(
    ("arguments", "fix"),
    [
        ("cpp_sources=code, cuda_sources=code",
         "cuda_sources has it already; cpp_sources is for the declarations of its host functions: `torch::Tensor run(torch::Tensor x);`."),
        ("cpp_sources=code", "Hand it over as cuda_sources"),
    ],
)  # fmt: skip
def test_a_source_that_is_handed_over_twice(arguments: str, fix: str) -> None:
    source = SOURCE.format("square<<<1, 2>>>(x);") + f"load_inline('m', {arguments}, functions=['run'])\n"
    known = {"log": "mine.py:5:11: error: expected primary-expression before '<' token"}
    finding = Finding("load", Status.COMPILE_ERROR, "mine.py, line 5: expected", 0, 0, known)
    told = attach.explained(finding, source).evidence["explanation"]
    assert told["rule"] == "cuda-as-cpp" and fix in told["fix"]
