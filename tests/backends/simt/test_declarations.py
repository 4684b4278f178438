"""Of torch's headers' inline functions only declarations are left; they are compiled once."""

from __future__ import annotations

import re

import pytest

from grader.backends.simt.compile import compiler as builder
from grader.backends.simt.compile import declarations, headers, toolchain
from grader.backends.simt.compile.declarations import declared

pytestmark = pytest.mark.skipif(toolchain.compiler().is_clang, reason="clang needs none of this")


@pytest.mark.parametrize(
    ("text", "only"),
    [
        ("inline int f(int a = 1) { return a; }", " int f(int a = 1) ;"),
        ("struct A { int f() const noexcept { return 1; } };", "struct A { int f() const noexcept ; };"),
        ("struct A { A() : a(1), b{2} { f(); } ~A() { g(); } };", "struct A { A() ; ~A() ; };"),
        ("class API A final : public B<int> { bool g() override { return {}; } };",
         "class API A final : public B<int> { bool g() override ; };"),
        ("struct A { bool operator()(int a) { return a; } int f(); };\ninline int A::f() { return 1; }",
         "struct A { bool operator()(int a) ; int f(); };\n"),
        ("namespace a::b { inline A& operator<<(A& a, int i) {\n  return a;\n}\n}",
         "namespace a::b {  A& operator<<(A& a, int i) ;\n\n\n}"),
        ('extern "C" { inline int f() { return \'{\'; } }', 'extern "C" {  int f() ; }'),
        ("#define GET(T) \\\n  T get_##T() { \\\n    return 1; \\\n  }\nstruct A { GET(int) };\n#undef GET\n",
         "#define GET(T) \\\n  T get_##T() ;\\\n\\\n\nstruct A { GET(int) };\n#undef GET\n"),
    ],
)  # fmt: skip
def test_a_function_is_declared_only(text: str, only: str) -> None:
    assert declared(text) == only
    assert declared(only) == only


@pytest.mark.parametrize(
    "text",
    [
        "template <class T> int f(T t) { return t; }",
        "template <int N = (1 > 0)> struct A { int f() { return 1; } };",
        "constexpr int f() { return 1; }",
        "C10_HOST_DEVICE inline int f() { return 1; }",
        "struct A { C10_ALWAYS_INLINE int f() { return 1; } };",
        "struct A { friend bool operator==(A a, A b) { return true; } };",
        "struct A { auto f() { return 1; } };",
        "static inline int f() { return 1; }",
        "namespace { int f() { return 1; } }",
        "enum class E { a, b };",
        "const std::vector<int> v = {1, 2};",
        "int a{1};",
        "struct A { int a{1}; int b[2] = {1, 2}; };",
        "inline int f() {\n#ifdef X\n  return 1;\n#endif\n}",
        "inline int f() { return 1; ",  # what is not closed
        "inline int f() { return (1}; )",
        # A macro that other headers see, or that a template calls.
        "#define GET(T) T get() { return 1; }\nstruct A { GET(int) };\n",
        "#define GET(T) T get() { return 1; }\ntemplate <class T> struct A { GET(T) };\n#undef GET\n",
        "#define CASE(T) case T: { return f<T>(); }\n#undef CASE\n",
    ],
)
def test_what_has_to_stay(text: str) -> None:
    assert declared(text) == text


def test_lines_keep_their_numbers() -> None:
    changed = 0
    for path in sorted((declarations.headers() / "c10" / "core").glob("*.h")):
        theirs = toolchain.installed().include / "c10" / "core" / path.name
        ours, text = path.read_text(), theirs.read_text()
        assert ours.count("\n") == text.count("\n")
        changed += len(ours) < len(text)
    assert changed > 10


def test_every_function_that_a_tensor_declares_is_in_the_library() -> None:
    """Each is called by its name, so that the linker would miss it."""
    body = (declarations.headers() / "ATen" / "core" / "TensorBody.h").read_text()
    missing = re.compile(r"^ *(?:at::Tensor(?: &)?|bool|int64_t) (\w+)\(\) const;", re.M)
    names = sorted({name for name in missing.findall(body) if not name.startswith("_")})
    assert len(names) > 100
    uses = "\n".join(f"  n += sizeof(t.{name}());\n  if (n < 0) t.{name}();" for name in names)
    source = f"""#include <torch/extension.h>
        long run(torch::Tensor t) {{
          volatile long n = 0;
          {uses}
          c10::Scalar scalar(n);
          return scalar.toLong() + t.options().dtype(torch::kFloat).device().index();
        }}"""
    made = builder.build(
        builder.BuildRequest.from_json(
            {"name": "calls_all", "cpp_sources": [source], "functions": {"run": ""}}
        )
    )
    assert made.path.exists()


def test_headers_that_are_misread_are_not_used(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("COURSE_CACHE", str(tmp_path))
    headers.fingerprint.cache_clear()
    monkeypatch.setattr(declarations, "declared", lambda text: text + "\n#error misread\n")
    try:
        assert headers.precompiled("device").with_name("device.h.gch").exists()
        assert not declarations.are_used() and builder.inline_functions() == []
    finally:
        headers.fingerprint.cache_clear()
