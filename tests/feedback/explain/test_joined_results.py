"""Numbers that are made of many: an addition that is lost, a difference of squares, a loop that goes on by one."""

import pytest

from grader.domain.verdict import Finding, Status
from grader.feedback.explain import attach

TOTAL = '''source = r"""
__global__ void total_kernel(const float* x, float* out, int n) {
    float sum = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) sum += x[i];
    *out += sum;
}
"""
'''
VARIANCE = '''source = r"""
__global__ void var_kernel(const float* x, float* out, int n) {
    float sum = 0, squares = 0;
    for (int i = 0; i < n; ++i) {
        sum += x[i];
        squares += x[i] * x[i];
    }
    sum /= n;
    out[0] = squares / n - sum * sum;
}
"""
'''


def race(line, access="write", other="write", at=0, argument="out"):
    met = {"line": at or line, "access": other}
    seen = [{"kind": "global-race", "kernel": "total_kernel", "line": line, "access": access, "other": met}]
    seen[0] |= {"tensor": {"argument": argument}} if argument else {}
    return Finding("memory", Status.RACE, "writes element 0", evidence={"seen": seen})


def wrong(status, **evidence):
    return Finding("all", status, "First wrong", evidence=evidence)


def told(source, finding):
    found = attach.explained(finding, source).evidence.get("explanation") or {}
    return found.get("rule", ""), found.get("line", 0), found.get("fix", "")


@pytest.mark.parametrize(
    ("line", "rule", "call"),
    [
        ("*out += sum;", "lost-addition", "atomicAdd(out, sum)"),
        ("out[0] += 2 * sum;", "lost-addition", "atomicAdd(out, 2 * sum)"),
        ("out[3] -= sum;", "lost-addition", "atomicAdd(out + 3, -sum)"),
        ("if (threadIdx.x == 0) *out = sum;", "last-one-wins", "atomicAdd(out, sum)"),
    ],
)
def test_what_blocks_do_to_one_element_is_three_steps(line, rule, call):
    found, at, fix = told(TOTAL.replace("*out += sum;", line), race(5))
    assert (found, at) == (rule, 5) and call in fix


ONE_SETS = "if (threadIdx.x == 0) { float s = 0; for (int b = 0; b < n; ++b) s += x[b]; *out = s; }"


@pytest.mark.parametrize(
    ("access", "other", "at", "argument"),
    [
        ("read", "write", 4, None),
        ("read", "write", 5, "x"),
        ("read", "write", 5, "out"),
        ("write", "write", 4, "out"),
    ],
)
def test_an_element_that_one_thread_sets_and_another_reads_is_not_set_by_several(access, other, at, argument):
    source = TOTAL.replace("*out += sum;", ONE_SETS)
    assert told(source, race(5, access, other, at, argument))[0] not in ("lost-addition", "last-one-wins")
    assert told(source, race(5))[0] == "last-one-wins"


@pytest.mark.parametrize("line", ["out[n] = sum;", "out[blockIdx.x] += sum;", "sum += out[0];"])
def test_an_element_that_is_not_the_same_for_all_is_no_sum_of_blocks(line):
    assert told(TOTAL.replace("*out += sum;", line), race(5))[0] not in ("lost-addition", "last-one-wins")


@pytest.mark.parametrize(
    ("old", "new", "finding", "rule"),
    [
        ("", "", wrong(Status.PRECISION), "difference-of-squares"),
        ("", "", wrong(Status.WRONG_OUTPUT, largest_error=1e-4, expected=1.0), "difference-of-squares"),
        ("", "", wrong(Status.WRONG_OUTPUT, largest_error=0.5, expected=1.0), ""),
        ("float sum", "double sum", wrong(Status.PRECISION), ""),
        ("squares += x[i] * x[i]", "squares += x[i] * sum", wrong(Status.PRECISION), ""),
    ],
)
def test_a_difference_of_squares_is_named_where_the_last_digits_differ(old, new, finding, rule):
    found, line, _ = told(VARIANCE.replace(old, new), finding)
    assert (found == "difference-of-squares") == bool(rule)
    assert line == 9 or not rule


@pytest.mark.parametrize("step", ["++i", "i++", "i += 1"])
def test_threads_that_go_on_by_one_take_the_same_elements(step):
    found, line, fix = told(TOTAL.replace("i += blockDim.x", step), wrong(Status.WRONG_OUTPUT))
    assert (found, line) == ("on-by-one", 4) and "`i += blockDim.x`" in fix


def test_an_array_without_shared_is_named_in_a_function_of_the_device_too():
    source = TOTAL.replace(
        "__global__ void total",
        "__device__ float all(float mine) {\n    float tile[64];\n    tile[threadIdx.x] = mine;\n    __syncthreads();\n"
        "    return tile[0];\n}\n__global__ void total",
    )
    found, line, fix = told(source, wrong(Status.WRONG_OUTPUT))
    assert (found, line) == ("not-shared", 3) and "__shared__" in fix
