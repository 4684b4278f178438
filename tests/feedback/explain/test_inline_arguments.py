"""What is said of a call of load_inline whose arguments are wrong: at the argument, and what to write."""

import inspect

import pytest
from torch.utils.cpp_extension import load_inline

from grader.domain.verdict import Finding, Status
from grader.feedback.explain import attach, inline_arguments

SOURCE = '''from torch.utils.cpp_extension import load_inline

code = r"""
torch::Tensor twice(torch::Tensor x) {
    return 2 * x;
}
"""
kernels = r"""
#include <torch/extension.h>
__global__ void half_kernel(float* x) { x[0] /= 2; }

torch::Tensor halved(torch::Tensor x) {
    half_kernel<<<1, 1>>>(x.data_ptr<float>());
    return x;
}
"""
module = load_inline(
    ARGUMENTS
)
'''
LINE = SOURCE.count("\n", 0, SOURCE.index("ARGUMENTS")) + 1
MISSING = "TypeError: missing a required argument: 'cpp_sources'"


def said(arguments: str, error: str, status: Status = Status.IMPORT_ERROR) -> tuple[int, str]:
    """Line and sentences of the explanation; 0 and "" for none of this kind."""
    source = SOURCE.replace("ARGUMENTS", arguments)
    finding = Finding("load", status, f"{error} (s.py, line {LINE - 1}: module = load_inline(...))")
    told = attach.explained(finding, source).evidence.get("explanation")
    if not isinstance(told, dict) or not str(told["rule"]).startswith("inline-"):
        return 0, ""
    return int(told["line"]), f"{told['cause']} {told['fix']}"


def name(text: str) -> str:
    return f"ValidationError: the function name {text!r} is not a C++ name"


def wrong(argument: str, takes: str, kind: str) -> str:
    return f"TypeError: {argument} must be {takes} of strings, but was <class '{kind}'>"


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ("name='m', cuda_sources=code, functions=['twice']", MISSING, "Write `cpp_sources=code`."),
        ("name='m', cuda_sources=[code], functions=['twice']", MISSING, "Write `cpp_sources=[code]`."),
        ("name='m', cpp_source=code, functions=['twice']", MISSING, "no argument called cpp_source, and"),
        ("name='m', sources=code, functions=['twice']", MISSING, "Write `cpp_sources=code`."),
        ("code, functions=['twice']", MISSING, "C++ stands in its place"),
        ("name='m', functions=['twice']", MISSING, "this call has none"),
        ("cpp_sources=code", "TypeError: missing a required argument: 'name'", 'Add `name="..."`'),
        ("'m', code, function=['twice']", "TypeError: got an unexpected keyword argument 'function'", "Write `functions=`."),
        ("'m', code, functions={'two times x': 'twice'}", name("two times x"), 'Write `"twice": "two times x"`.'),
        ("'m', code, functions='twice, halved'", name("twice, halved"), '`"twice", "halved"`, in a list'),
        ("'m', code, functions=['twi ce']", name("twi ce"), 'Write `"twice"`.'),
        ("'m', code, functions=['twice(x)']", name("twice(x)"), 'without brackets and types: `"twice"`'),
        ("'m', code, functions=['what?']", name("what?"), "as it stands in the C++ source"),
        ("'m', code, functions=[('twice', 'doubles')]", name("('twice', 'doubles')"), "it is a dict and no list"),
        ("'m', code, functions={'twice'}", "ValueError: Expected 'functions' to be a list or dict, but was <class 'set'>",
         'Write `{"twice": "what it does"}`, or, without help texts, `["twice"]`.'),
        ("'m', cpp_sources=(code, kernels), functions=['twice']", wrong("cpp_sources", "a string or a list", "tuple"),
         "Write square brackets: `[code, kernels]`."),
        ("'m', (code,), functions=['twice']", wrong("cpp_sources", "a string or a list", "tuple"), "`[code]`."),
        ("'m', code, extra_cflags='-O2 -Wall'", wrong("extra_cflags", "a list", "str"), '`extra_cflags=["-O2", "-Wall"]`'),
        ("'m', code, extra_include_paths='inc'", "s.cu, line 3: fatal error: x.h: No such file or directory",
         'each of its letters is taken for a folder, and x.h is in none of them. Write `extra_include_paths=["inc"]`.'),
        ("'m', code, extra_include_paths=['/opt/inc']", "s.cu, line 3: fatal error: x.h: No such file or directory",
         "x.h was not found in /opt/inc: where submissions are confined, one sees its own folder"),
    ],
)  # fmt: skip
def test_a_wrong_argument(arguments: str, error: str, words: str) -> None:
    line, text = said(arguments, error)
    assert words in text
    assert line == (LINE - 1 if "Add" in text else LINE)


NO_MODULE = "ImportError: dynamic module does not define module export function (PyInit_m)"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("'m', code", 'Add `functions=["twice"]`.'),
        ("name='m', cpp_sources=code, functions=None", 'Add `functions=["twice"]`.'),
        ("name='m', cpp_sources=CPP", "with the names of the C++ functions"),
    ],
)
def test_no_functions_at_all(arguments: str, words: str) -> None:
    line, text = said(arguments, NO_MODULE)
    assert words in text and line == LINE - 1 and "letters, digits" not in text


def test_a_module_of_the_files_own_under_another_name() -> None:
    source = SOURCE.replace("ARGUMENTS", "'m', code").replace(
        "#include <torch/extension.h>", 'PYBIND11_MODULE(other, m) { m.def("halved", &halved); }'
    )
    told = attach.explained(Finding("load", Status.IMPORT_ERROR, NO_MODULE), source).evidence["explanation"]
    assert "TORCH_EXTENSION_NAME" in told["fix"] and "called other here" in told["cause"]


def test_a_name_that_is_no_identifier_is_still_blamed() -> None:
    error = NO_MODULE.replace("PyInit_m", "PyInit_my-kernel")
    told = attach.explained(
        Finding("load", Status.IMPORT_ERROR, error), SOURCE.replace("ARGUMENTS", "'my-kernel', code")
    )
    assert told.evidence["explanation"]["rule"] == "extension-name"
    listed = SOURCE.replace("ARGUMENTS", "'m', code, functions=['twice']")
    other = attach.explained(Finding("load", Status.IMPORT_ERROR, NO_MODULE), listed).evidence["explanation"]
    assert other["rule"] == "no-module" and "letters, digits" not in other["fix"]


def test_kernels_without_declarations_get_those_of_the_file() -> None:
    line, text = said("name='m', cuda_sources=kernels, functions=['halved']", MISSING)
    assert line == LINE - 1 and 'Add `cpp_sources="torch::Tensor halved(torch::Tensor x);"`.' in text
    assert said("name='m', cuda_sources=kernels", MISSING)[1].endswith("Add `cpp_sources=` with them.")


def test_a_dict_is_followed_to_the_line_where_it_was_written() -> None:
    source = SOURCE.replace("module =", "DOCS = {\n    'doubles it': 'twice',\n}\nmodule =")
    source = source.replace("ARGUMENTS", "'m', code, functions=DOCS")
    told = inline_arguments.explained(Finding("load", Status.IMPORT_ERROR, name("doubles it")), source)
    assert told is not None and told.code == "'doubles it': 'twice',"


def test_a_help_text_of_one_word_is_found_by_the_compiler() -> None:
    error = "the compiler: line 2 of the bindings: 'doubles' was not declared in this scope"
    arguments = "'m', code, functions={'doubles': 'twice'}"
    assert 'Write `"twice": "doubles"`.' in said(arguments, error, Status.COMPILE_ERROR)[1]
    other = "the compiler: line 4: 'x1' was not declared in this scope"
    assert said(arguments, other, Status.COMPILE_ERROR) == (0, "")


def test_other_errors_are_left_to_others() -> None:
    right = "'m', code, functions={'twice': 'halved'}"  # a help text may well be another function's name
    assert said(right, "ZeroDivisionError: division by zero") == (0, "")
    assert said("'m', code, functions=['twice']", "NameError: name 'x' is not defined") == (0, "")


def test_the_arguments_are_those_of_the_installed_torch() -> None:
    assert set(inspect.signature(load_inline).parameters) <= {*inline_arguments.ARGUMENTS}


def test_the_name_of_a_source_in_quotes() -> None:
    source = SOURCE.replace("ARGUMENTS", 'name="m",\n    cpp_sources="code",\n    functions=["twice"],')
    refused = Finding("load", Status.COMPILE_ERROR, f"s.py, line {LINE + 1}: 'code' does not name a type")
    found = attach.explained(refused, source).evidence["explanation"]
    assert (found["rule"], found["line"]) == ("quoted-name", LINE + 1)
    assert found["fix"] == "Write `cpp_sources=code`, without quotes."
    other = attach.explained(refused, source.replace('"code"', '"nowhere"')).evidence.get("explanation")
    assert other is None or other["rule"] != "quoted-name"


def test_a_line_of_python_is_not_explained_as_one_of_cpp() -> None:
    source = SOURCE.replace("ARGUMENTS", 'name="m",\n    cpp_sources="nowhere",\n    functions=["twice"],')
    log = f"s.py:{LINE + 1}:5: error: 'nowhere' does not name a type\n"
    refused = Finding("load", Status.COMPILE_ERROR, log, evidence={"log": log})
    found = attach.explained(refused, source).evidence.get("explanation")
    assert found is None or found["rule"] != "assigned-undeclared"


@pytest.mark.parametrize(
    ("functions", "message", "line", "words"),
    [
        ("{'twice': ''}", "Below the signature of twice the help text is empty.", LINE, "beside twice is empty"),
        ("{'twice': '  '}", "Below the signature of twice the help text is empty.", LINE, "beside twice is empty"),
        ("{'twice': 'twice'}", "The help text says nothing but the name", LINE, "the function's name once more"),
        ("{'halved': '', 'twice': 'Doubles.'}", "Below the signature the help text is empty.", 0, ""),
        ("['twice']", "The help text says nothing but the name", LINE, "names alone"),
    ],
)  # fmt: skip
def test_a_help_text_without_words(functions: str, message: str, line: int, words: str) -> None:
    source = SOURCE.replace("ARGUMENTS", f"'m', code, functions={functions}")
    finding = Finding("help", Status.WRONG_ANSWER, message, 0, 2, {"got": "twice(arg0: torch.Tensor)\n"})
    told = attach.explained(finding, source).evidence.get("explanation")
    assert (told["line"] if told else 0) == line and (not told or words in told["cause"])


BINDINGS = "line 3 of the bindings that functions=[...] makes: unable to find string literal operator"


@pytest.mark.parametrize(
    ("text", "message", "words"),
    [
        ("'Return \"x * 2\" as new.'", BINDINGS, "the compiler takes `x * 2` for code."),
        ("'Return \"x * 2\" as new.'", BINDINGS, "`\"Return 'x * 2' as new.\"`"),
        ("'12 \" wide'", "bindings:3:9: missing terminating \" character", "takes `wide` for code"),
        ("'12 \"'", "bindings:3:9: missing terminating \" character", "ends the C++ string."),
        ("'Return \"\" or \" \".'", BINDINGS, ""),
        ("'Return \\\\\"x\\\\\".'", BINDINGS, ""),
        ("'Return \"x\".'", "main.cpp:3: expected ';'", ""),  # the student's own C++
        ("'Return x.'", BINDINGS, ""),
    ],
)  # fmt: skip
def test_double_quotes_in_a_help_text(text: str, message: str, words: str) -> None:
    source = SOURCE.replace("ARGUMENTS", f"'m', code, functions={{\n    'twice': {text},\n}}")
    found = inline_arguments.explained(Finding("load", Status.COMPILE_ERROR, message), source)
    told = found is not None and found.rule == "quotes-in-help"
    assert told is bool(words)
    assert not words or (found and found.line == LINE + 1 and words in f"{found.cause} {found.fix}")
