"""The program's types that are told to the runtime. What that is for: the padding and the unions of test_broken.py."""

from __future__ import annotations

import pytest

from grader.backends.simt.compile import layouts
from grader.backends.simt.compile.tokens import joined, tokenize


def told(text: str) -> list[str]:
    out = joined(layouts.tell(tokenize(text)))
    assert out.count("\n") == text.count("\n")
    pieces = [piece[: piece.index(">);")] for piece in out.split("static_assert(::simt::")[1:]]
    return [p.replace("std::remove_all_extents_t<decltype(", "").replace(")>,", ",") for p in pieces]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("struct A { char c; int v; };", ["known<A"]),
        ("typedef struct A { int v; } B;", ["known<A"]),
        ("template <class K> struct alignas(8) A : B { K k; };", ["known<A"]),
        ("template <> struct A<int> final { int k; };", ["known<A"]),
        ("class __attribute__((packed)) A : public B<A> {};", ["known<A"]),
        ("struct A { struct B { int b; } c; };", ["known<B", "known<A"]),
        ("union U { int a; float b; };", ["known<U"]),
        ("struct A { int k; union { char c; double d[2], e; }; };", ["known<A, &A::c, &A::d, &A::e"]),
        ("struct A { union { int q : 3; int r; } z[2]; };", ["known<A, &A::z"]),
        (
            "union U { int a; }; struct A { U u, v[3]; static U s; U f(); };",
            ["known<U", "known<A, &A::u, &A::v"],
        ),
        ("struct A { using U = union { int a; float b; }; U u; int k; };", ["known<A, &A::u"]),
        ("struct A { typedef union { int a; float b; } V; V v, w; };", ["known<A, &A::v, &A::w"]),
        ("struct A { int n; float data[]; };", []),
        ("typedef struct __align__(4) { char c; } A; struct __attribute__((packed)) { int v; } b;", []),
        ("struct A; struct A f(struct A a) { return {}; } enum class E { X }; struct { int a; } b;", []),
        (
            "struct P x{1, 2}; struct P y[] = {{1}}; struct EXPORT A {}; struct a::B {};",
            ["known<A", "known<B"],
        ),
        ("#define M struct A { int a; };\n", []),
        (
            "{ __shared__ A s[32], t; }",
            ['known_shared<s, ::simt::VariableName("s")', 'known_shared<t, ::simt::VariableName("t")'],
        ),
        (
            "{ __shared__ typename B<int, 2>::C<3, 4> y[2][3]; }",
            ['known_shared<y, ::simt::VariableName("y")'],
        ),
        ("#define M __shared__ A s;\n", []),
    ],
)
def test_each_class_with_a_name_and_each_shared_variable_tells_its_type(text: str, names: list[str]) -> None:
    assert told(text) == names
