"""Calls that Python refuses, signs that it does not have, and values that nothing keeps."""

import pytest

from grader.domain.verdict import Finding, Status
from grader.feedback.explain import attach


def told(source: str, message: str, status: Status = Status.RAISED, **evidence: object) -> dict[str, object]:
    finding = Finding("a case", status, message, 0, 1, dict(evidence))
    found = attach.explained(finding, source).evidence.get("explanation")
    assert found is None or isinstance(found, dict)
    return found or {"rule": "", "line": 0, "cause": "", "fix": ""}


@pytest.mark.parametrize(
    ("source", "error", "line", "cause", "fix"),
    [
        ("class T:\n    a: float\n    n: int\n\nT(1.0)\n", "T.__init__() missing 1 required positional argument: 'n'", 5,
         "`T(1.0)` leaves out `n`. T takes a and n (line 1).", "behind `1.0`"),
        ("def f(a, b):\n    pass\n\n\nf(1)\n", "f() missing 1 required positional argument: 'b'", 5, "leaves out `b`", "behind `1`"),
        ("def f(a):\n    pass\n\n\nf(1, 2)\n", "f() takes 1 positional argument but 2 were given", 5, "hands over 2 arguments, 1 too many", "one by one"),
        ("class M:\n    def forward(x):\n        return x\n\nM()(1)\n", "M.forward() takes 1 positional argument but 2 were given", 2,
         "no `self`", "`def forward(self, x):`"),
        ("with p(on_trace_ready=lambda: q.save(1)) as q:\n    pass\nq.step()\n", "r.<locals>.<lambda>() takes 0 positional arguments but 1 was given", 1,
         "on_trace_ready is called, in line 3, with 1", "`lambda profiler: q.save(1)`"),
        ("g = lambda x: 1\n\n\ng()\n", "<lambda>() missing 1 required positional argument: 'x'", 1, "without x", "`lambda: 1`"),
        ("def go():\n    timed(lambda x: k(x, 1))\n\ndef timed(fn):\n    fn()\n", "go.<locals>.<lambda>() missing 1 required positional argument: 'x'", 2,
         "without x",
         "timed calls what it gets with nothing in the brackets: write `lambda: ...`"),
        ("timed(lambda: 1)\n\ndef timed(fn):\n    fn()\n    fn(3)\n", "<lambda>() takes 0 positional arguments but 1 was given", 5,
         "line 4 calls it as `fn()`", "Write `fn()`."),
        ("def save():\n    pass\n\n\np(on_trace_ready=save).step()\n", "save() takes 0 positional arguments but 1 was given", 1,
         "called by what it was handed to", "1 parameter."),
    ],
)  # fmt: skip
def test_a_refused_call_names_the_parameters(
    source: str, error: str, line: int, cause: str, fix: str
) -> None:
    last = source.rstrip().count("\n") + 1
    found = told(source, f"TypeError: {error} (s.py, line {last}: ...)")
    assert found["line"] == line and cause in str(found["cause"]) and fix in str(found["fix"]), found


@pytest.mark.parametrize(
    ("line", "right"),
    [
        ("if i =< n:", "if i <= n:"), ("if i => n:", "if i >= n:"), ("if i =! n:", "if i != n:"), ("if a && b:", "if a and b:"),
        ("if a || !b:", "if a or !b:"), ("i++", "i += 1"), ("else if a:", "elif a:"), ('x = "=<" if i =< 1 else 0', 'x = "=<" if i <= 1 else 0'),
    ],
)  # fmt: skip
def test_a_sign_of_another_language(line: str, right: str) -> None:
    found = told(f"n = 1\n{line}\n", "SyntaxError: s.py, line 2: invalid syntax", Status.IMPORT_ERROR, line=2)
    assert found["line"] == 2 and found["fix"] == f"Write `{right}`.", found


@pytest.mark.parametrize("line", ["x = (1", "f(lambda x => x)", 'print("a && b"', "print(1) if True"])
def test_a_line_with_no_such_sign_is_left_to_others(line: str) -> None:
    found = told(f"{line}\n", "SyntaxError: s.py, line 1: invalid syntax", Status.IMPORT_ERROR, line=1)
    assert found["rule"] != "python-sign"


CPP = '''code = r"""
torch::Tensor scale_shift(const torch::Tensor& x, double scale) {
    torch::Tensor y = x * 2;
    STATEMENT
    return y;
}
"""
module = load_inline(name="a", cpp_sources=code, functions=["scale_shift"])
'''


@pytest.mark.parametrize(
    ("statement", "name"),
    [("y + scale;", "y"), ("y * scale;", "y"), ("y.mul(scale);", "y"), ("x.add(scale);", "x")],
)
def test_a_value_of_cpp_that_nothing_keeps(statement: str, name: str) -> None:
    found = told(CPP.replace("STATEMENT", statement), "wrong", Status.WRONG_OUTPUT)
    assert (found["rule"], found["line"]) == ("value-dropped", 4) and f"{name} stays as it was" in str(
        found["cause"]
    )
    assert "return" not in str(found["fix"])  # the function goes on
    last = told(CPP.replace("STATEMENT", "").replace("return y;", statement), "wrong", Status.WRONG_OUTPUT)
    assert f"or hand it back: `return {statement}`" in str(last["fix"])


@pytest.mark.parametrize(
    "statement", ["y.mul_(scale);", "y = y + scale;", "torch::Tensor * z;", "y += scale;", "print(y);", "std::cout << y + 1;", "return y + scale;"]
)  # fmt: skip
def test_a_statement_that_does_something_is_not_blamed(statement: str) -> None:
    assert told(CPP.replace("STATEMENT", statement), "wrong", Status.WRONG_OUTPUT)["rule"] != "value-dropped"


@pytest.mark.parametrize(
    ("statement", "line"), [("y + 1", 3), ("torch.relu(y)", 3), ("y.contiguous()", 3), ("y[0]", 3)]
)
def test_a_value_of_python_that_nothing_keeps(statement: str, line: int) -> None:
    source = f"def f(x):\n    y = x\n    {statement}\n    return y\n"
    found = told(source, "f(1) is 2, expected 3.", Status.WRONG_ANSWER)
    assert (found["rule"], found["line"]) == ("value-dropped", line)


@pytest.mark.parametrize(
    "statement", ["y.mul_(2)", "model.cuda()", "print(y)", "y = y + 1", "self.gemm.half()"]
)
def test_a_call_that_does_something_is_not_blamed(statement: str) -> None:
    source = f"def f(x, model):\n    y = x\n    {statement}\n    return y\n"
    assert told(source, "f(1) is 2, expected 3.", Status.WRONG_ANSWER)["rule"] != "value-dropped"


@pytest.mark.parametrize(
    ("head", "made", "call", "blamed"),
    [
        ("a", "y = torch.randn(3)", "y.add(a)", True), ("y: torch.Tensor", "", "y.add(1)", True),
        ("a", "y = torch.zeros(3).abs()", "y.half()", True), ("y", "", "y.relu()", True),
        ("a", "y = set()", "y.add(a)", False), ("y", "", "y.add(1)", False), ("y: set", "", "y.add(1)", False),
        ("a", "y = f.__dict__.setdefault('seen', set())", "y.add(a)", False), ("block", "", "block.to('cuda')", False),
        ("y: torch.Tensor", "y = set()", "y.add(1)", False), ("a", "y, z = a", "y.add(1)", False),
        ("a", "y = torch.nn.Linear(3, 3)", "y.half()", False), ("a", "for y in a: pass", "y.log('a')", False),
    ],
)  # fmt: skip
def test_a_method_that_other_objects_share_is_blamed_on_a_tensor_alone(
    head: str, made: str, call: str, blamed: bool
) -> None:
    source = f"import torch\ndef f({head}):\n    {made or 'pass'}\n    {call}\n    return 1\n"
    found = told(source, "f(1) is 2, expected 3.", Status.WRONG_ANSWER)
    assert (found["rule"] == "value-dropped") == blamed, found


def test_a_context_without_with() -> None:
    found = told('torch.autocast("cuda")\nkernel(x)\n', "wrong", Status.WRONG_ANSWER)
    assert found["line"] == 1 and 'Write `with torch.autocast("cuda"):`' in str(found["fix"])
    held = 'context = torch.autocast("cuda")\nwith context:\n    kernel(x)\n'
    assert told(held, "wrong", Status.WRONG_ANSWER)["rule"] != "context-without-with"


def test_help_prints_and_gives_none() -> None:
    found = told(
        "def help_text():\n    return help(f)\n", "help_text() returns None, not a text.", Status.WRONG_ANSWER
    )
    assert found["line"] == 2 and "`return f.__doc__`" in str(found["fix"])


@pytest.mark.parametrize(
    ("source", "fix"),
    [('STUDENT: "Ada"\n', 'Write `STUDENT = "Ada"`.'), ('Student = "Ada"\n', "with the same letters")],
)
def test_a_name_that_the_grader_asks_for_and_that_has_no_value(source: str, fix: str) -> None:
    found = told(source, "The file defines no STUDENT, which the grader asks for.", Status.MISSING_ENTRY)
    assert found["line"] == 1 and fix in str(found["fix"])


@pytest.mark.parametrize(
    ("error", "near"),
    [("module 'statistics' has no attribute 'quantile'", "quantiles"), ("module 'torch.cuda' has no attribute 'event'", "Event"),
     ("module 'torch' has no attribute 'tensors'", "tensor")],
)  # fmt: skip
def test_a_misspelt_name_of_a_module_is_guessed(error: str, near: str) -> None:
    found = told(
        "import statistics\nstatistics.quantile()\n",
        f"AttributeError: {error} (s.py, line 2: statistics.quantile())",
    )
    assert found["line"] == 2 and f"Did you mean {near}?" in str(found["cause"]).replace("Tensor", "tensor")


def test_an_input_on_the_cpu() -> None:
    source = "import torch\n\n\ndef test(kernel, x):\n    assert torch.equal(kernel(x), x)\n"
    message = ("Line 4: The test fails on a right kernel: KernelError: RuntimeError: x must be a CUDA tensor; this one is on the CPU "
               "(line 5: assert torch.equal(kernel(x), x)). A test must let every right kernel pass.")  # fmt: skip
    found = told(source, message, Status.WRONG_ANSWER)
    assert found["line"] == 5 and "`kernel(x.cuda()).cpu()`" in str(found["fix"])


@pytest.mark.parametrize(
    ("source", "line"), [("inputs = [1, 2]\nnext(inputs)\n", 2), ("a = [1]\nf(lambda: k(next(a), 1))\n", 2)]
)
def test_next_of_a_list(source: str, line: int) -> None:
    found = told(source, f"TypeError: 'list' object is not an iterator (s.py, line {line}: ...)")
    assert (
        found["line"] == line
        and "is a list" in str(found["cause"])
        and "itertools.cycle(" in str(found["fix"])
    )


FORMATTED = '''import torch
source = {}"""
int answer(int i) {{
    return i;
}}
"""
'''


@pytest.mark.parametrize(
    ("prefix", "error", "fix"),
    [
        ("f", "SyntaxError: s.py, line 4: f-string: invalid syntax", 'Write `r"""`.'),
        ("rf", "SyntaxError: s.py, line 4: f-string: expecting '}'", 'Write `r"""`.'),
        ("Rf", "SyntaxError: s.py, line 4: f-string: invalid syntax", 'Write `r"""`.'),
        ("r", "SyntaxError: s.py, line 4: f-string: invalid syntax", ""),
        ("f", "SyntaxError: s.py, line 4: invalid syntax", ""),
    ],
)
def test_cpp_in_a_text_that_begins_with_f(prefix: str, error: str, fix: str) -> None:
    found = told(FORMATTED.format(prefix), error, Status.IMPORT_ERROR, line=4)
    assert (found["rule"] == "formatted-cpp") == bool(fix)
    assert not fix or (found["line"] == 2 and found["fix"] == fix)


def test_names_in_the_braces_of_such_a_text() -> None:
    source = 'code = f"""\nvoid f(int i) { i }\nint n() { return 1; }\n"""\n'
    assert told(source, "NameError: name 'i' is not defined", Status.IMPORT_ERROR)["rule"] == "formatted-cpp"
    plain = 'name = f"""{who} is here"""\n'
    assert told(plain, "NameError: name 'who' is not defined", Status.IMPORT_ERROR)["rule"] != "formatted-cpp"


ITERATED = """def benchmark(make):
    inputs = {}
    return timed(lambda: k({}))
"""


@pytest.mark.parametrize(
    ("made", "call", "cause", "fix"),
    [
        ("iter([make() for _ in range(16)])", "next(inputs)", "`iter` hands out its 16 values once; the 17th `next(inputs)`", "itertools.cycle([make() for _ in range(16)])"),
        ("(make() for _ in range(20))", "next(inputs)", "A generator, `(... for ...)`, hands out its 20 values once; the 21st", "cycle([make() for _ in range(20)])"),
        ("map(make, range(n))", "next(inputs)", "`map` hands out its values once; one more `next(inputs)` finds", "cycle(list(map(make, range(n))))"),
        ("zip(a, b)", "*next(inputs)", "`zip` hands out its values once", "cycle(list(zip(a, b)))"),
        ("iter((1, 2))", "next(inputs), next(inputs)", "`iter` hands out its values once", "cycle((1, 2))"),
        ("iter([f(x) for x in y if x])", "next(inputs)", "`iter` hands out its values once", "cycle([f(x) for x in y if x])"),
        ("make()", "next(inputs)", "", ""),
        ("iter([1])\n    inputs = iter([2])", "next(inputs)", "", ""),
        ("iter([1])", "next(other)", "", ""),
    ],
)  # fmt: skip
def test_an_iterator_that_runs_out(made: str, call: str, cause: str, fix: str) -> None:
    source = ITERATED.format(made, call)
    found = told(source, f"StopIteration: (no message) (t.py, line {source.count(chr(10))}: return timed())")
    assert (found["rule"] == "ran-out") == bool(cause)
    assert not cause or (found["line"] == 2 and cause in str(found["cause"]) and fix in str(found["fix"]))


def test_a_list_that_pop_empties() -> None:
    source = ITERATED.format("[make() for _ in range(16)]", "inputs.pop()")
    found = told(source, "IndexError: pop from empty list (t.py, line 3: return timed())")
    assert found["line"] == 2 and "the 17th `inputs.pop()` finds nothing left" in str(found["cause"])
    assert "and `next(inputs)`" in str(found["fix"])
    assert told(source, "StopIteration: (no message) (t.py, line 3: return)")["rule"] != "ran-out"


READ = """def timed(pairs):
    seconds = {}
    return summary(seconds)

def summary(values):
    cuts = {}
    return statistics.median(values)
"""


@pytest.mark.parametrize(
    ("made", "first", "line", "fix"),
    [
        ("(e - s for s, e in pairs)", "statistics.quantiles(values, n=10)", 2, "`[e - s for s, e in pairs]`"),
        ("map(took, pairs)", "sorted(values)", 2, "`list(map(took, pairs))`"),
        ("[e - s for s, e in pairs]", "sorted(values)", 0, ""),
        ("map(took, pairs)", "next(values)", 0, ""),
        ("took(pairs)", "sorted(values)", 0, ""),
    ],
)
def test_a_generator_that_is_read_twice(made: str, first: str, line: int, fix: str) -> None:
    error = "StatisticsError: no median for empty data (t.py, line 7: return statistics.median(values))"
    found = told(READ.format(made, first), error)
    assert (found["rule"] == "spent") == bool(line)
    assert not line or (
        found["line"] == 2 and fix in str(found["fix"]) and "in line 6" in str(found["cause"])
    )


@pytest.mark.parametrize(("word", "said"), [("continue", "not properly in loop"), ("break", "outside loop")])
def test_a_word_of_loops_outside_of_one(word: str, said: str) -> None:
    source = f"def f(i):\n    if i > 2:\n        {word}\n    return i\n"
    error = f"SyntaxError: '{word}' {said} (t.py, line 3) (t.py, line 3: {word})"
    found = told(source, error, Status.IMPORT_ERROR)
    assert found["line"] == 3 and f"write `return` in place of `{word}`" in str(found["fix"])
