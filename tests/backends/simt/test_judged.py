"""What a submission's text may not say: before the preprocessor, and after it."""

import re

import pytest

from grader.backends.simt.compile import judged

WRONG = {
    '__attribute__((no_sanitize("thread"))) float f();': "no_sanitize",
    "__attribute__((noinline, no_sanitize_thread)) float f();": "no_sanitize_thread",
    "[[gnu::noinline, gnu::__no_sanitize__(1)]] float f();": "no_sanitize",
    '[[using gnu: noinline, optimize("O3")]] float f();': "optimize",
    '__attribute((target("avx2"))) float f();': "target",
    '__attribute__((alias("memcpy"))) void* f();': "alias",
    'float f() { asm("movss (%0), %1" : : "r"(p), "x"(v)); }': "assembly",
    'float f() { __asm__ volatile("nop"); }': "assembly",
    'void f() __asm__("__tsan_read4");': "assembly",
    '#pragma GCC optimize ("O3")\nfloat f();': "#pragma GCC optimize",
    "#pragma GCC push_options\n": "#pragma GCC push_options",
    "#pragma clang attribute push(x)\n": "#pragma clang attribute",
    "#pragma weak f = g\n": "#pragma weak",
    "#pragma redefine_extname f g\n": "#pragma redefine_extname",
    "void f() { __builtin_ia32_movnti(p, v); }": "__builtin_ia32_movnti",
    "void f() { _mm_stream_si32(p, v); }": "_mm_stream_si32",
    "void f() { _m_maskmovq(a, b, p); }": "_m_maskmovq",
    "void f() { __builtin_memcpy(p, q, 32); }": "__builtin_memcpy",
    'extern "C" void __tsan_read4(void*) {}': "__tsan_read4",
    "void f() { simt_set_mode(0, 0); }": "simt_set_mode",
    "namespace simt { void f(); }": "namespace simt",
    "void f() { simt::launch(1); }": "simt::launch",
}
RIGHT = """
struct __attribute__((packed, aligned(16))) S { float x; };
[[maybe_unused]] [[nodiscard("why")]] static __attribute__((__always_inline__)) float f();
void g() { asm volatile("" ::: "memory"); __asm__ __volatile__("" : "+r"(x)); }
extern __thread __attribute__((visibility("default"))) float s[] __asm__("simt_dynamic_shared");
#pragma unroll 4
#pragma GCC unroll 4
#pragma nv_diag_suppress 177
void h() { ::simt::launcher("k", ::simt::Config(1, 2), k)(a[b[0]], simt_builtins.thread.x); memcpy(p, q, 8); }
int _m_cudaStatus = 0;
const char* words = "__attribute__((no_sanitize)) asm(1)";
"""


def preprocessed(text: str) -> None:
    judged.preprocessed(text, "/made/own_headers")


@pytest.mark.parametrize("text", WRONG)
def test_a_word_that_could_hide_an_access_is_refused_at_its_line(text: str) -> None:
    with pytest.raises(judged.Refused, match=re.escape(WRONG[text])) as caught:
        preprocessed(f'# 1 "source.cpp"\nint a;\n# 7 "mine.py"\n\n{text}\n')
    assert (caught.value.file, caught.value.line) == ("mine.py", 8)


def test_words_that_change_no_access_are_not() -> None:
    refused = ""
    try:
        preprocessed(f'# 1 "source.cpp"\n{RIGHT}')
    except judged.Refused as why:
        refused = why.message
    assert not refused


def test_headers_may_say_what_a_submission_may_not() -> None:
    header = '# 1 "/usr/include/x.h" 1 3\nvoid f() { asm("nop"); }\n# 5 "source.cpp" 2\n'
    preprocessed(f'# 1 "source.cpp"\n{header}int a;\n')
    with pytest.raises(judged.Refused):
        preprocessed(f'# 1 "source.cpp"\n{header}void f() {{ asm("nop"); }}\n')


def test_a_header_of_the_submission_is_judged_like_its_source() -> None:
    inner = '# 1 "/usr/include/x.h" 1 3\nvoid f() { asm("nop"); }\n# 3 "/made/own_headers/a/b.h" 2\n'
    begin = '# 1 "source.cpp"\n# 1 "/made/own_headers/a/b.h" 1\n# 1 "/a/b.h"\n'
    preprocessed(f'{begin}{inner}int a;\n# 2 "source.cpp" 2\nint b;\n')
    with pytest.raises(judged.Refused, match="assembly") as caught:
        preprocessed(f'{begin}int a;\nvoid f() {{ asm("nop"); }}\n# 2 "source.cpp" 2\nint b;\n')
    assert (caught.value.file, caught.value.line) == ("/a/b.h", 2)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("int a;\nSIMT_UNCHECKED float f();", 1),
        ('\n\n# 1 "x.h" 1 3\nint a;', 2),
        ("// simt\n#define X __tsan_read4", 1),
        ('int simt_change;\n%: 3 "a"', 1),
    ],
)
def test_the_back_ends_own_words_and_line_markers_are_refused_as_they_are_written(
    text: str, line: int
) -> None:
    found = judged.raw(text)
    assert found is not None and found[1] == line


def test_a_macro_that_holds_a_barrier_may_be_there_for_a_debugger() -> None:
    macro = "#define WAIT __syncthreads()\n"
    preprocessed(f'# 1 "source.cpp"\n{macro}void f() {{ simt_syncthreads(1); }}\n')
    with pytest.raises(judged.Refused, match="must be called as it is"):
        preprocessed(f'# 1 "source.cpp"\n{macro}void f() {{ __syncthreads(); }}\n')


@pytest.mark.parametrize(
    ("word", "said"),
    [("__real__", "a keyword of GCC"), ("__tsan_read4", "tools of the compiler"), ("__wrap_free", "tools of the compiler"),
     ("simt_error", "of the CPU back end itself"), ("SIMT_X", "of the CPU back end itself")],
)  # fmt: skip
def test_whose_a_refused_word_is(word: str, said: str) -> None:
    found = judged.raw(f"int {word};")
    assert found is not None and found[0].startswith(word) and said in found[0]


def test_other_texts_are_not_refused() -> None:
    assert judged.raw('#line 3 "a.cu"\nint simtime; // SIMT_UNCHECKED\n#if 1\n#endif\n') is None
