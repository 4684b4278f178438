"""Endless loops, guards turned round, arrays of the launch's size, odd parts of a vector, weaker barriers, whole blocks."""

import time
from collections.abc import Callable

import pytest

from grader.domain.verdict import Finding, Status
from grader.feedback.explain import (
    dynamic_shared,
    endless_loops,
    facts,
    inverted_guards,
    odd_lanes,
    whole_division,
)
from grader.feedback.explain.source_text import Fact, Finder, read

KERNEL = '''code = r"""
__global__ void k(const float* x, float* out, int n) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
    {}
}}
"""
'''


def _said(find: Finder, body: str, finding: Finding | None = None, form: str = KERNEL) -> list[Fact]:
    return list(find(read(form.format(body)), finding or Finding("memory", Status.FAILED, "")))


_endless = endless_loops.FACTS[0][0]


@pytest.mark.parametrize(
    ("body", "head"),
    [
        ("while (i < n) out[i] = x[i];", "while (i < n)"),
        ("while (i < n) { out[i] = x[i]; t += blockDim.x; }", "while (i < n)"),
        ("for (; i < n; t += blockDim.x) out[i] = x[i];", "for (...; i < n; t += blockDim.x)"),
        ("for (int s = 16; s > 0; s >> 1) out[i] += x[i + s];", "for (...; s > 0; s >> 1)"),
        ("for (int j = t; j < n; ) { out[j] = x[j]; }", "for (...; j < n; )"),
    ],
)
def test_a_loop_that_changes_nothing_of_its_condition(body: str, head: str) -> None:
    (fact,) = _said(_endless, body)
    assert fact.line == 4 and f"`{head}` never ends" in fact.cause


@pytest.mark.parametrize(
    "body",
    [
        "while (i < n) { out[i] = x[i]; i += blockDim.x; }",
        "while (i < n) { if (x[i] > 0) break; }",
        "while (i++ < n) out[i] = x[i];",
        "while (out[0] < n) { }",
        "while (atomicAdd(&out[0], 1.0f) < n) { }",
        "for (int s = 16; s > 0; s >>= 1) out[i] += x[i + s];",
        "do { i += 4; } while (i < n);",
        "while (i < n) { next(&i); }",
    ],
)
def test_a_loop_that_may_end(body: str) -> None:
    assert not _said(_endless, body)


_guard = inverted_guards.FACTS[0][0]


@pytest.mark.parametrize(
    ("body", "right"),
    [
        ("if (i < n) return;\n    out[i] = x[i];", "`if (i >= n) return;`"),
        ("if (i < n) { return; }\n    float v = x[i]; out[i] = v;", "`if (i >= n) return;`"),
        ("if (i >= n) out[i] = x[i];", "`if (i < n)`"),
        ("if (i >= n) { out[i] = x[i]; }", "`if (i < n)`"),
    ],
)
def test_a_guard_that_is_turned_round(body: str, right: str) -> None:
    (fact,) = _said(_guard, body)
    assert fact.line == 4 and "wrong way round" in fact.cause and right in fact.fix


@pytest.mark.parametrize(
    "body",
    [
        "if (i >= n) return;\n    out[i] = x[i];",
        "if (i < n) out[i] = x[i];",
        "out[i] = x[i];\n    if (i < n) return;\n    out[i - n] = 0;",
        "int rows = 3; if (rows < n) return;\n    out[i] = x[i];",
    ],
)
def test_a_guard_that_is_not(body: str) -> None:
    assert not _said(_guard, body)


_idle = inverted_guards.FACTS[1][0]


@pytest.mark.parametrize(
    ("body", "cause", "fix"),
    [
        ("if (i >= n) {}\n    out[i] = x[i];", "goes on to line 5", "`if (i >= n) return;`"),
        ("if (i >= n);\n    out[i] = x[i];", "nothing that leaves the kernel", "`if (i >= n) return;`"),
        (
            "if (i >= n) {\n        i;\n    }\n    out[i] = x[i];",
            "goes on to line 7",
            "`if (i >= n) return;`",
        ),
        ('if (i >= n) printf("outside");\n    out[i] = x[i];', "a `printf` alone", "`if (i >= n) return;`"),
        (
            "if (i >= n || t >= n) { }\n    out[i] = x[i];",
            "goes on to line 5",
            "`if (i >= n || t >= n) return;`",
        ),
        ("if (i < n) {}\n    { out[i] = x[i]; }", "every thread comes to line 5", "`if (i < n) { ... }`"),
    ],
)
def test_a_guard_that_nothing_depends_on(body: str, cause: str, fix: str) -> None:
    (fact,) = _said(_idle, body)
    assert fact.line == 4 and cause in fact.cause and fix in fact.fix


@pytest.mark.parametrize(
    "body",
    [
        "if (i >= n) return;\n    out[i] = x[i];",
        "if (i >= n) { } else out[i] = x[i];",
        'if (i >= n) printf("outside");\n    if (i < n) out[i] = x[i];',
        'if (i < n) printf("%d", i);\n    out[i] = i < n ? x[i] : 0;',
        "if (t == 0) { }\n    out[i] = x[i];",
        "int rows = 3; if (rows >= n) { }\n    out[i] = x[i];",
        "if (i >= n) { t = 0; }\n    out[i] = x[i];",
        "while (t < n) { if (t >= n) break; }\n    out[i] = x[i];",
    ],
)
def test_a_guard_that_something_depends_on(body: str) -> None:
    assert not _said(_idle, body)


ON_GRID = """def k(block, thread, size, n, x, out):
    i = block * size + thread
    {}
"""
_again = endless_loops.FACTS[1][0]


@pytest.mark.parametrize(
    ("body", "cause", "fix"),
    [
        ("while i < n:\n        out[i] = x[i]", "changes i or n", "write `if i < n:`."),
        ("while i < n:\n        out[i] = abs(x[i])\n        i + size", "changes i or n", "`i + ...` alone"),
        (
            "while i < n and thread:\n        thread\n        out[i] = 1",
            "`i < n and thread` is true",
            "write `if",
        ),
        ("while i < n:\n        out[i] = x[i]\n        i += size", "", ""),
        ("while i < n:\n        out[i] = x[i]\n        break", "", ""),
        ("while i < n:\n        out[i] = x[i]\n        return", "", ""),
        ("while x[i] < n:\n        x[i] += 1", "", ""),
        ("while i < n:\n        advance(i)", "", ""),
        ("while True:\n        out[i] = x[i]", "", ""),
        ("while i < n:\n        for i in range(n):\n            out[i] = 1", "", ""),
    ],
)
def test_a_while_for_a_guard(body: str, cause: str, fix: str) -> None:
    at = Finding("c", Status.TIMEOUT, "Line 4: block 0, thread 0 was stopped here", evidence={"on_grid": "k"})
    every_fact = list(_again(read(ON_GRID.format(body)), at))
    assert bool(every_fact) == bool(cause)
    for fact in every_fact:
        assert fact.line == 3 and cause in fact.cause and fix in fact.fix
    other = Finding("c", Status.TIMEOUT, "Line 9: block 0", evidence={"on_grid": "k"})
    assert not list(_again(read(ON_GRID.format(body)), other))


@pytest.mark.parametrize(
    ("bytes_", "launch", "cause", "fix"),
    [
        ("0", "", "says 0: tile has no element", "`__shared__ float tile[SIZE];`"),
        ("0", "k<<<blocks, threads>>>(p);", "says 0: tile", "elements * sizeof(float)"),
        ("256", "k<<<blocks, threads, 256>>>(p);", "in bytes, and this launch says 256.", "third argument"),
    ],
)
def test_dynamic_shared_memory_of_the_wrong_size(bytes_: str, launch: str, cause: str, fix: str) -> None:
    body = f"extern __shared__ float tile[];\n    tile[t] = x[i];\n}}\nvoid host() {{ __shared__ float u[SIZE]; {launch}"
    message = f"writes element 0 of dynamic shared memory ({bytes_} bytes of shared memory)"
    (fact,) = _said(dynamic_shared.FACTS[0][0], body, Finding("memory", Status.ILLEGAL_ACCESS, message))
    assert fact.line == 4 and cause in fact.cause and fix in fact.fix
    assert not _said(dynamic_shared.FACTS[0][0], body, Finding("memory", Status.ILLEGAL_ACCESS, "reads x"))


_lanes = odd_lanes.FACTS[0][0]


@pytest.mark.parametrize(
    ("body", "line", "right"),
    [
        ("out4[i] = make_float4(f(v.x, b.x), f(v.y, b.y),\n    f(v.z, b.z), v.w);", 5, "`f(v.w, b.w)`"),
        ("o.x = 2 * v.x; o.y = 2 * v.y;\n    o.z = v.z; o.w = 2 * v.w;", 5, "`2 * v.z`"),
        ("out4[i] = make_int4(v.x + 1, v.y, v.z + 1, v.w + 1);", 4, "`v.y + 1`"),
    ],
)
def test_one_part_of_a_vector_that_differs(body: str, line: int, right: str) -> None:
    (fact,) = _said(_lanes, body)
    assert fact.line == line and right in fact.fix


@pytest.mark.parametrize(
    "body",
    [
        "out4[i] = make_float4(v.x, v.y, v.z, v.w);",
        "out4[i] = make_float4(0, 0, 0, v.w);",
        "out4[i] = make_float4(f(v.x), f(v.y), v.z, v.w);",
        "o.x = v.x; o.y = v.y; o.z = 1;",
    ],
)
def test_a_vector_of_which_no_part_stands_out_by_its_form(body: str) -> None:
    assert not [fact for fact in _said(_lanes, body) if "v." not in fact.cause]


@pytest.mark.parametrize(
    ("between", "cause", "fix"),
    [
        ("__syncwarp();", "only `__syncwarp()`, line 5, stands between, which waits for the 32 threads of one warp", "in line 5"),
        ("__threadfence_block();", "only `__threadfence_block()`, line 5", "`__syncthreads();` in its place"),
        ("half.sync();", "no barrier that makes these two threads wait for each other", "Put `__syncthreads();`"),
        ("int u = 0;", "no barrier stands between: who comes first is luck", "Put `__syncthreads();`"),
    ],
)  # fmt: skip
def test_what_stands_between_two_accesses(between: str, cause: str, fix: str) -> None:
    source = KERNEL.format(f"tile[t] = x[i];\n    {between}\n    out[i] = tile[n - t];")
    seen = {
        "kind": "shared-race", "line": 6, "access": "read", "other": {"line": 4, "access": "write"},
        "what": "reads element 0 of tile (256 bytes of shared memory)", "kernel": "k",
    }  # fmt: skip
    found = facts.explained(Finding("memory", Status.RACE, "", evidence={"seen": [seen]}), source)
    assert found is not None and cause in found.cause and fix in found.fix


@pytest.mark.parametrize(
    "value", ["std::max<int64_t>(1, n / threads)", "n / threads", "int64_t(n / threads)"]
)
def test_a_number_of_blocks_that_is_rounded_down(value: str) -> None:
    source = f'code = r"""\nvoid host() {{\n    const int64_t blocks = {value};\n    k<<<blocks, threads>>>(x);\n}}\n"""\n'
    finding = Finding("memory", Status.UNINITIALISED, "95 of 4191 elements were never written")
    (fact,) = whole_division.rounded_down(read(source), finding)
    assert fact.line == 3 and "rounds down" in fact.cause and "(n + threads - 1) / threads" in fact.fix


@pytest.mark.parametrize(
    ("value", "fix"), [("n >> 8", "(n + 255) >> 8"), ("(n + 255) >> 8", ""), ("(n >> 8) + 1", "")]
)
@pytest.mark.parametrize("made", ["const int b = {};\n    k<<<b, 256>>>(x);", "int c; k<<<{}, 256>>>(x);"])
def test_a_number_of_blocks_by_a_shift(value: str, fix: str, made: str) -> None:
    source = f'code = r"""\nvoid host() {{\n    {made.format(value)}\n}}\n"""\n'
    finding = Finding("memory", Status.UNINITIALISED, "95 of 4191 elements were never written")
    facts_ = list(whole_division.rounded_down(read(source), finding))
    assert [(f.line, fix in f.fix) for f in facts_] == ([(3, True)] if fix else [])


HOSTILE: tuple[Callable[[int], str], ...] = (
    lambda n: "while (" * n,
    lambda n: "while (i < n) " * n,
    lambda n: "if (i < n" * n,
    lambda n: "if (i < n) {};" * n,
    lambda n: "if (i >= n) i; x[i];" * n,
    lambda n: "make_float4(" * n,
    lambda n: "o.x = " * n,
    lambda n: "extern __shared__ " * n,
)


@pytest.mark.parametrize("made", HOSTILE)
def test_long_text_takes_no_time(made: Callable[[int], str]) -> None:
    text, finding = read(KERNEL.format(made(2000))), Finding("memory", Status.FAILED, "")
    begun = time.process_time()
    for find in (_endless, _again, _guard, _idle, _lanes, dynamic_shared.FACTS[0][0]):
        list(find(text, finding))
    assert time.process_time() - begun < 4
