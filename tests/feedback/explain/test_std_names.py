"""Names of the standard library without std::, and names of one's own that are spelt alike."""

import pytest

from grader.domain.verdict import Finding, Status
from grader.feedback.explain import attach

SOURCE = 'source = r"""\n#include <torch/extension.h>\n{}\nint last() {{ return 1; }}\n"""\nm = load_inline("a", source)\n'


def told(code: str, error: str) -> tuple[str, str]:
    line = code.splitlines()[0]
    log = f"a.py:3:1: error: {error}\n    3 | {line}\n      | ^\n"
    finding = Finding("load", Status.COMPILE_ERROR, f"a.py, line 3: {error}", evidence={"log": log})
    found = attach.explained(finding, SOURCE.format(code)).evidence.get("explanation")
    return (str(found["rule"]), str(found["fix"])) if isinstance(found, dict) else ("", "")


@pytest.mark.parametrize(
    ("code", "error", "fix"),
    [
        ("string hello() {", "'string' does not name a type", "std::string"),
        ("vector<float> all() {", "'vector' does not name a type", "std::vector"),
        ("void f(string s) {", "'string' has not been declared", "std::string"),
        ("int f() { cout << 1;", "'cout' was not declared in this scope; did you mean 'std::cout'?", "std::cout"),
        ("int f() { cout << endl;", "use of undeclared identifier 'endl'; did you mean 'std::endl'?", "std::endl"),
        ("pair<int, int> f() {", "'pair' does not name a type", "std::pair"),
        ("int f() { return last(move(x));", "'move' was not declared in this scope", "std::move"),
        ("int f(int a) { return min(a, 2);", 'identifier "min" is undefined', "std::min"),
        ("vector<float> all() {", "no template named 'vector'; did you mean 'std::vector'?", "std::vector"),
    ],
)  # fmt: skip
def test_the_namespace_is_named(code: str, error: str, fix: str) -> None:
    assert told(code, error) == ("missing-std", f"Write {fix}.")


def test_a_variable_and_a_function_of_the_same_name_are_no_names_of_the_library() -> None:
    rule, _ = told("int f() { return array + 1;", "'array' was not declared in this scope")
    assert rule == "undeclared"
    code = "int f() { return swap(1);}\nint swap(int a) { return a; }"
    assert told(code, "'swap' was not declared in this scope") == (
        "missing-std", "A function comes before it is used: move it above this line."
    )  # fmt: skip
