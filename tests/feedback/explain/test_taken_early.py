"""A pointer of a tensor that another one replaces below."""

import pytest

from grader.domain.verdict import Finding, Status
from grader.feedback.explain import taken_early
from grader.feedback.explain.source_text import read

HOST = '''code = r"""
torch::Tensor f(torch::Tensor x, torch::Tensor b) {{
    {}
    {}
    {}
    return x;
}}
"""
'''


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (("const float *xp = x.data_ptr<float>(), *bp = b.data_ptr<float>();", "x = x.contiguous(); b = b.contiguous();",
          "k<<<1, 1>>>(xp, bp);"), "xp still points to the old one, and likewise bp of b. Take xp and bp below line 4."),
        (("auto p = x.data_ptr<float>();", "x = x.contiguous();", "k<<<1, 1>>>(p);"), "Where x has gaps or is transposed, line 4 puts another"),
        (("auto p = reinterpret_cast<float4*>(x.data_ptr<float>());", "x = x.clone();", "k(p);"), "another tensor in its place by `clone()`"),
        (("float* p = x.mutable_data_ptr<float>();", "x = x.to(torch::kFloat32);", "k(p);"), "by `to()`, and p still points"),
        (("const int64_t s = x.stride(0);", "x = x.contiguous();", "k(s);"), "with strides of its own: s is still that"),
        (("x = x.contiguous();", "auto p = x.data_ptr<float>();", "k(p);"), ""),
        (("auto p = x.data_ptr<float>();", "x = x.contiguous();", "p = x.data_ptr<float>(); k(p);"), ""),
        (("auto p = x.data_ptr<float>(); k(p);", "x = x.contiguous();", "k(x.data_ptr<float>());"), ""),
        (("auto p = x.data_ptr<float>();", "b = b.contiguous();", "k(p);"), ""),
        (("const int64_t n = x.size(0);", "x = x.t();", "k(n);"), ""),
        (("if (x.stride(1) != 1) x = x.contiguous();", "if (x.numel() == 0) return x;", "k(x);"), "In a slice of columns they have none"),
        (("if (x.stride(0) != x.size(1)) x = x.contiguous();", "if (x.numel() == 0) return x;", "k(x);"), ""),
    ],
)  # fmt: skip
def test_a_pointer_to_the_old_tensor(lines: tuple[str, str, str], told: str) -> None:
    text = read(HOST.format(*lines))
    finding = Finding("views", Status.WRONG_OUTPUT, "", 0, 1, {})
    facts = [f for find, _ in taken_early.FACTS for f in find(text, finding)]
    assert [(f.line, told in f"{f.cause} {f.fix}") for f in facts] == ([(3, True)] if told else [])
