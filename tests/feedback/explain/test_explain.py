"""Beginners' mistakes and what is said about them: real texts of real tools, and a sample made again."""

import json
import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.backends import detect
from grader.domain.verdict import Finding, Status
from grader.feedback.explain import explain, own_lines
from grader.feedback.explain.attach import explained
from grader.feedback.explain.engine import first_error
from grader.feedback.explain.rules import RULES
from grader.reports.console import failure, screen
from grader.student import explain_verb
from tests.feedback.explain import make

MISTAKES = {m.name: m for m in make.every()}
TEXTS = sorted(path.name.removesuffix(".txt") for path in make.CAPTURED.glob("*.txt"))


@pytest.mark.parametrize("text", TEXTS)
def test_a_real_text_is_explained_as_committed(text: str) -> None:
    name, _, run = text.rpartition(".")
    mistake = MISTAKES[name]
    found = explain(mistake.captured(run), mistake.program)
    assert found is not None and found.rule == mistake.rule_of(run)
    assert make.plain(found) == (make.PLAIN / f"{text}.txt").read_text()


def test_there_are_mistakes_enough_and_each_was_made() -> None:
    made = {text.rpartition(".")[0] for text in TEXTS}
    assert made == set(MISTAKES)
    assert len(made) >= 30
    assert len({m.rule for m in MISTAKES.values()}) >= 25
    assert sum(text.endswith(".nvcc") for text in TEXTS) >= 20
    assert sum(text.endswith(".simt") for text in TEXTS) >= 20


@pytest.mark.slow(cases=1)
@pytest.mark.parametrize("name", ["semicolon", "double_tensor"])
def test_made_again_by_the_cpu_back_end(name: str) -> None:
    mistake = MISTAKES[name]
    found = explain(make.make(mistake, "simt"), mistake.program)
    assert found is not None and found.rule == mistake.rule


@pytest.mark.slow
def test_made_again_by_python() -> None:
    found = explain(make.make(MISTAKES["view_of_transposed"], "python"))
    assert found is not None and found.rule == "view-strides"


@pytest.mark.thorough  # a long run of a compiler that CI seldom has
@pytest.mark.skipif(not detect.nvcc(), reason="needs nvcc; a GPU is not needed")
def test_made_again_by_nvcc() -> None:
    mistake = MISTAKES["host_function"]
    found = explain(make.make(mistake, "nvcc"), mistake.program)
    assert found is not None and found.rule == mistake.rule


def test_the_place_is_that_of_the_edit() -> None:
    for name, run, line in (
        ("drops_const", "simt", "squared(&in[i])"),
        ("drops_const", "nvcc", "squared(&in[i])"),
        ("writes_const", "nvcc", "in[i] ="),
    ):
        mistake = MISTAKES[name]
        found = explain(mistake.captured(run), mistake.program)
        assert found is not None and found.line
        assert line in mistake.program.splitlines()[found.line - 1]


def test_a_line_that_nvcc_shows_without_its_comment_is_found_in_the_file() -> None:
    source = (
        'from torch.utils.cpp_extension import load_inline\n\ncuda = r"""\n#include <torch/extension.h>\n'
        "__global__ void k(float* out, int n) {\n    if (0 < n) out[0] = facto;   // squared\n}\n"
        '"""\nload_inline(name="k", cpp_sources="", cuda_sources=cuda, functions=[])\n'
    )
    said = 'cuda.cu(7): error: identifier "facto" is undefined\n      if (0 < n) out[0] = facto;\n      ^\n'
    found = explain(said, source)
    assert found is not None and (found.file, found.line) == ("", 6)


def test_a_misspelt_name_gets_a_suggestion() -> None:
    found = explain('cuda.cu(3): error: identifier "colls" is undefined', "int64_t cols = x.size(1);")
    assert found is not None and "Did you mean cols?" in found.cause
    found = explain('error: identifier "blockidx" is undefined')
    assert found is not None and "Did you mean blockIdx?" in found.cause


@pytest.mark.parametrize(
    "log",
    [
        "",
        "   \n",
        "hello",
        "x.cu(3): error: something that nobody has seen",
        "ValueError: my own words",
    ],
)
def test_what_is_unknown_is_not_guessed(log: str) -> None:
    assert explain(log) is None


def test_only_the_first_error_counts() -> None:
    first = "a.py:3:1: error: something that nobody has seen\n"
    second = "a.py:9:5: error: 'x' was not declared in this scope\n"
    assert explain(first + second) is None
    found = explain(second + first)
    assert found is not None and (found.rule, found.line) == ("undeclared", 9)
    header = "/usr/include/c++/12/vector:80:3: error: nobody knows this either\n"
    found = explain(header + second)
    assert found is not None and found.line == 9


def test_only_names_of_the_students_own_are_suggested() -> None:
    message = "'square' was not declared in this scope; did you mean 'at::_ops::square'?"
    log = {"log": f"bindings:2:1: error: {message}\n", "line": 0}
    found = explained(Finding("load", Status.COMPILE_ERROR, message, 0, 0, log), make.every()[0].program)
    assert "at::_ops" not in json.dumps([found.message, found.evidence["explanation"]["cause"]])
    assert "It declares scale." in found.evidence["explanation"]["cause"]


@pytest.mark.parametrize(
    "lines, named, lacking",
    [
        (["int a = 5", "int b = 3;"], 2, 1),  # expected ',' or ';' before 'int'
        (["out[i] = 1 // the one", "}"], 1, 1),
        (["out[i] = 1", "}"], 2, 1),
        (["int a = 5;", "", "int b = 3"], 3, 3),
        (["int a = 5;", "int b = 3;"], 2, 0),
    ],
)
def test_the_line_without_a_semicolon_is_named(lines: list[str], named: int, lacking: int) -> None:
    text = ["", "__global__ void k(float* out, int i) {", *lines, "}", ""]
    source = 'source = r"""' + "\n".join(text) + '"""\n'
    assert own_lines.unfinished(source, named + 2) == (lacking + 2 if lacking else 0)


@pytest.mark.parametrize(
    "call, want, got, said",
    [
        ("k<<<1, 2>>>(a);", "", "", "k takes 2 arguments (p, n), and this launch hands over 1 (a)"),
        ("k<<<1, 2>>>(\n  a, b, c);", "", "", "hands over 3 (a, b, c)"),
        ("k<<<1, 2>>>(q, 3);", "const float*, long", "double*, int", "of type double*, but k's p is of type"),
        ("k<<<1, 2>>>(q, r);", "const float*, long", "float*, float*&", "type float*, but k's n is of"),
        ("k<<<1, 2>>>(q, 3);", "const float*, long", "float*, int", ""),
        ("other<<<1, 2>>>(q);", "", "", ""),
    ],
)  # fmt: skip
def test_a_launch_and_its_kernel_are_compared(call: str, want: str, got: str, said: str) -> None:
    kernel = "template <typename T>\n__global__ void __launch_bounds__(256) k(const T* p, long n) { }\n"
    source = f'source = r"""\n{kernel}void f() {{\n    {call}\n}}\n"""\n'
    found = own_lines.launch(source, 5, want, got)
    assert said in found and bool(said) == bool(found), found


def test_colours_and_ninja_around_it_do_no_harm() -> None:
    log = (
        "RuntimeError: Error building extension 'square': [1/3] /cuda/bin/nvcc -c cuda.cu -o cuda.o\n"
        "FAILED: cuda.cuda.o\n/usr/local/cuda/bin/nvcc -c cuda.cu -o cuda.o\n"
        'cuda.cu(7): \x1b[31merror\x1b[0m: expected a ";"\n    }\n    ^\n'
        '1 error detected in the compilation of "cuda.cu".\nninja: build stopped: subcommand failed.\n'
    )
    found = explain(log)
    assert found is not None and (found.rule, found.file, found.line) == ("missing-semicolon", "cuda.cu", 7)


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=300), st.text(max_size=100))
def test_no_text_is_too_strange(log: str, source: str) -> None:
    for text in (log, f"x.cu(3): error: {log}\n  {source}\n  ^\n"):
        found = explain(text, source)
        assert found is None or found.cause
    assert "\n" not in first_error(log)


def test_a_long_log_is_read_in_no_time() -> None:
    log = "\n".join(f"a{i}.h:{i}:3: error: " + "no matching (((" * 120 for i in range(5000))
    begun = time.process_time()
    explain(log, "x = 1\n" * 5000)
    assert time.process_time() - begun < 5


def test_rules_are_well_formed() -> None:
    assert len({rule.id for rule in RULES}) == len(RULES)
    for rule in RULES:
        groups = {g for p in rule.patterns for g in re.compile(p).groupindex}
        used = set(re.findall(r"\{(name|a|b|want|got|type|space|module)\}", rule.cause + rule.fix))
        assert used <= groups, rule.id
        assert re.fullmatch(r"0[1-9]|1[0-3]", rule.lesson), rule.id
        for text in (rule.cause.removesuffix("{declared}"), rule.fix):
            assert text.removesuffix("{near}").rstrip()[-1] in ".)", (rule.id, text)
            assert text[0].isupper() or re.match(r"[\w({./]", text), rule.id


def test_ptx_of_a_newer_nvcc_than_the_driver() -> None:
    found = explain("RuntimeError: CUDA error: the provided PTX was compiled with an unsupported toolchain.")
    assert found is not None and found.rule == "ptx-too-new"
    assert "newer than the driver" in found.cause and "doctor" in found.fix


def _finding() -> Finding:
    log = "exercise.py:3:1: error: expected ';' before '}' token\n    3 | }\n"
    message = "exercise.py, line 3: expected ';' before '}' token"
    return Finding(
        "load", Status.COMPILE_ERROR, message, 0, 0, {"log": log, "file": "exercise.py", "line": 3}
    )


def test_a_verdict_carries_explanation_and_log() -> None:
    found = explained(_finding(), "a\nb\n}\n")
    assert found.evidence["log"] == _finding().evidence["log"]
    assert found.evidence["explanation"]["rule"] == "missing-semicolon"
    assert found.message == _finding().message
    json.dumps(found.as_json())


def test_other_findings_are_left_alone() -> None:
    for finding in (
        Finding("x", Status.PASSED, "error: 'x' was not declared in this scope"),
        Finding("x", Status.RAISED, "ValueError: my own words"),
    ):
        assert explained(finding, "") is finding


def test_the_report_says_the_plain_words_first() -> None:
    console = screen()
    with console.capture() as caught:
        console.print(failure(explained(_finding(), "")))
    text = caught.get()
    plain, tool = text.index("its semicolon is missing"), text.index("expected ';' before")
    assert plain < text.index("End the statement") < tool
    assert "    3 | }" not in text, "the whole log is in the JSON report"


def test_an_error_at_run_time_begins_with_its_cause() -> None:
    finding = Finding("a case", Status.RAISED, "RuntimeError: expected scalar type Float but found Double.")
    console = screen()
    with console.capture() as caught:
        console.print(failure(explained(finding, "")))
    text = caught.get()
    assert text.index("The tensor holds Double") < text.index("RuntimeError")


CALLED = """scale(): incompatible function arguments. The following argument types are supported:
    1. (arg0: torch.Tensor, arg1: typing.SupportsFloat) -> torch.Tensor

Invoked with: tensor([1.]); kwargs: factor=2.0"""


def test_arguments_by_name_are_told() -> None:
    assert "called with factor by name" in own_lines.call(CALLED, "scale")
    assert "by name" not in own_lines.call(CALLED.replace("; kwargs: factor=2.0", ""), "scale")


def test_two_names_without_a_comma_are_told() -> None:
    source = 'functions=[\n    "scale"\n    "shift",\n]'
    said, line = own_lines.run_together("scaleshift", ["shift", "scale"], source)
    assert "after scale" in said and line == 2
    assert own_lines.run_together("scaled", ["shift", "scale"], source) == ("", 0)


def test_a_pointer_to_vectors_has_the_line_that_asks_for_it() -> None:
    message = (
        "ImportError: extension 'm' was built, but float4* at::TensorBase::data_ptr<float4>() const is declared and never "
        "defined; check that the definition has exactly this signature (s.py, line 1: module = load_inline(...))"
    )
    source = 'cuda = r"""\nk<<<1, 1>>>(x.data_ptr<float4>());\n"""\nmodule = load_inline(name="m", cuda_sources=cuda)\n'
    told = explained(Finding("load", Status.IMPORT_ERROR, message), source).evidence["explanation"]
    assert (told["rule"], told["line"]) == ("pointer-to-vectors", 2)
    assert "reinterpret_cast<const float4*>(x.data_ptr<float>())" in told["fix"]
    known = explain("ImportError: m.so: undefined symbol: _ZNK2at10TensorBase8data_ptrI6float4EEPT_v")
    assert known is not None and known.rule == "pointer-to-vectors"


@pytest.mark.parametrize(
    ("line", "right"),
    [
        ("out[i] = tile[t] + (tile[t + 1] if t + 1 < n else 0);", "`t + 1 < n ? tile[t + 1] : 0`"),
        ("return value if value > 0 else 0.0f;", "`value > 0 ? value : 0.0f`"),
        ("float a = x + y if x > 0 else f(y, 1);", "`x > 0 ? x + y : f(y, 1)`"),
        ("k(a if b else c, d);", "`b ? a : c`"),
    ],
)
def test_pythons_conditional_is_taken_whole(line: str, right: str) -> None:
    told = explain(f"s.py:3:9: error: expected ')' before 'if'\n    3 | {line}")
    assert told is not None and told.rule == "python-conditional" and told.fix == f"Write {right}."


def test_the_lesson_is_named_by_a_file_in_a_checkout_only(monkeypatch: pytest.MonkeyPatch) -> None:
    found = explain("a.cpp:1:1: error: 'hello' was not declared in this scope")
    assert (
        found is not None and "teaches it: lessons/01_hello_inline/README.md" in explain_verb.told(found)[-2]
    )
    monkeypatch.setattr(explain_verb, "from_wheel", lambda: True)
    assert explain_verb.told(found)[-2] == "Lesson 01 teaches it (01_hello_inline)."


ELSEWHERE = """import pathlib
from torch.utils.cpp_extension import load_inline


def err(a, b):
    return a - b


extension = load_inline(name="one", cpp_sources=pathlib.Path("k.txt").read_text(), functions=["f"])
"""


def test_lines_of_python_are_not_taken_for_those_of_cpp_that_stands_elsewhere() -> None:
    found = explain("C++ source:5:17: error: expected ';' before '}' token", ELSEWHERE)
    assert found is not None and found.rule == "missing-semicolon"
    assert (found.file, found.line, found.code) == ("C++ source", 5, "")


def test_an_argument_of_load_inline_is_not_taken_for_one_of_cpp() -> None:
    line = 'extension = load_inline(name="one", cpp_sources="torch::Tensor f(torch::Tensor x) { return x + y; }")'
    source = f"from torch.utils.cpp_extension import load_inline\n\n{line}\n"
    found = explain("mine.py:3: error: 'y' was not declared in this scope", source)
    assert found is not None and (found.rule, found.line) == ("undeclared", 3)


@pytest.mark.parametrize(
    ("parameters", "line", "says"),
    [
        ("const float in, float* out", 2, "in is declared as `const float in`, one number, and line 3"),
        ("float* out, float in", 2, "Declare it as a pointer: `float* in`."),
        ("const float* in, float* out", 3, "A pointer has one index"),
    ],
)
def test_a_parameter_without_its_star_is_named_where_it_is_declared(
    parameters: str, line: int, says: str
) -> None:
    source = (
        f'code = r"""\n__global__ void k({parameters}) {{\n    out[threadIdx.x] = in[threadIdx.x];\n}}\n"""\n'
    )
    log = "s.py:3: error: invalid types 'const float[unsigned int]' for array subscript"
    finding = Finding("load", Status.COMPILE_ERROR, log, 0, 1, {"log": log})
    told = explained(finding, source).evidence["explanation"]
    assert isinstance(told, dict)
    assert told["line"] == line and says in f"{told['cause']} {told['fix']}", told
