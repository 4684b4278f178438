"""Slips around a launch: an address that is asked for wrongly, blocks of the other kernel, the input handed back."""

import time

import pytest

from grader.domain.verdict import Finding, Status
from grader.feedback.explain import host_slips
from grader.feedback.explain.source_text import read

TEXT = '''code = r"""
__device__ float {} {{
    {}
}}
__global__ void plain(const float* x, float* out, int64_t n) {{ {} }}
__global__ void wide(const float4* x, float4* out, int64_t n) {{ }}
bool aligned16(const torch::Tensor& t) {{ {} }}
torch::Tensor run(torch::Tensor x, torch::Tensor bias) {{
    torch::Tensor out = torch::empty_like(x);
    {}
    return {};
}}
"""
'''
MISALIGNED = {"seen": [{"what": "reads 16 bytes at element 1 of x, which is not aligned to 16 bytes"}]}
GOOD = "return reinterpret_cast<uintptr_t>(t.data_ptr()) % 16 == 0;"
BOTH = "if (aligned16(x)) wide<<<b, 256>>>(x, out, n); else plain<<<b, 256>>>(x, out, n);"


def told(
    *,
    one: str = "one(float v)",
    value: str = "return v;",
    kernel: str = "",
    aligned: str = GOOD,
    host: str = "plain<<<1, 2>>>(x, out, n);",
    back: str = "out",
    message: str = "",
) -> set[str]:
    """The rules of all that is found, whatever the status."""
    text = read(TEXT.format(one, value, kernel, aligned, host, back))
    finding = Finding("a case", Status.WRONG_OUTPUT, message, evidence=MISALIGNED)
    return {f.rule for find, _ in host_slips.FACTS for f in find(text, finding)}


@pytest.mark.parametrize(
    ("parts", "rule"),
    [
        ({}, ""),
        ({"aligned": GOOD.replace(" == 0", "")}, "remainder-for-answer"),
        ({"aligned": GOOD.replace(" == 0", "").replace("return ", "return !(").replace(";", ");")}, ""),
        ({"aligned": "const uintptr_t r = reinterpret_cast<uintptr_t>(t.data_ptr()) % 16; return r == 0;"}, ""),
        ({"aligned": "return (reinterpret_cast<uintptr_t>(t.data_ptr()) % 16) == 0;"}, ""),
        ({"aligned": "return t.numel() % 16 == 0;"}, "count-for-address"),
        ({"aligned": GOOD.replace("== 0;", "== 0 && t.numel() % 4 == 0;")}, ""),
        ({"host": "if (aligned16(x) || aligned16(bias)) wide<<<1, 2>>>(x, out, n);"}, "one-address-of-two"),
        ({"host": "if (aligned16(x) && aligned16(bias)) wide<<<1, 2>>>(x, out, n);"}, ""),
        ({"kernel": "int64_t i = (int64_t)(blockIdx.x) * (blockDim.x + threadIdx.x);"}, "place-multiplied"),
        ({"kernel": "int64_t i = blockIdx.x * blockDim.x + threadIdx.x;"}, ""),
        ({"host": f"int b = (n / 4 + 255) / 256; {BOTH}"}, "quarter-for-all"),
        ({"host": f"int b = (n / 4 + 255) / 256; if (!four) b = (n + 255) / 256; {BOTH}"}, ""),
        ({"host": f"int b = (n + 255) / 256; {BOTH}"}, ""),
        ({"host": "int b = (n / 4 + 255) / 256; wide<<<b, 256>>>(x, out, n); plain<<<c, 256>>>(x, out, n);"}, ""),
        ({"back": "x"}, "input-returned"),
        ({"back": "x", "host": "plain<<<1, 2>>>(x, out, n); x.copy_(out);"}, ""),
        ({"one": "bias_relu_one(float v)", "value": "return fabsf(v);"}, "size-for-relu"),
        ({"value": "return fabsf(v);"}, ""),
        ({"value": "return isnan(v) || v < 0.0f ? 0.0f : v;", "message": "expected nan"}, "nan-asked-away"),
        ({"value": "return isnan(v) || v < 0.0f ? 0.0f : v;"}, ""),
        ({"value": "return isnan(v) || v > 0.0f ? v : 0.0f;", "message": "expected nan"}, ""),
    ],
)  # fmt: skip
def test_a_slip_is_found_and_what_is_right_is_not(parts: dict[str, str], rule: str) -> None:
    assert told(**parts) == ({rule} if rule else set())


@pytest.mark.parametrize(
    "piece", ["uintptr_t>(t) % 16", "aligned(x) || ", "b = n / 4 ", "return x; ", "wide<<<b, 256>>>(x);"]
)
def test_long_texts_take_no_longer_than_their_length(piece: str) -> None:
    began = time.process_time()
    told(host=piece * (60_000 // len(piece)))
    told(aligned=piece * (60_000 // len(piece)))
    assert time.process_time() - began < 5


HELLO = 'code = r"""\nstd::string hello() {{\n    {}\n    {}\n}}\n"""\n'


@pytest.mark.parametrize(
    ("printed", "back", "got", "told"),
    [
        ('std::cout << "Hi" << std::endl;', 'return "";', "", "Line 3 prints the text with `std::cout`"),
        ('printf("Hi\\n");', "return std::string();", "", "here an empty text. Hand the text back: `return \"Hi\";`"),
        ('puts("Hi");', 'return std::string("done");', "done", "here `done`."),
        ('std::cout << "Hi";', 'return "Hi";', "Hi", ""),  # the text is handed back: another check's failure
        ('std::cout << "Hello";', 'return "";', "", ""),
        ('std::string s = "Hi";', 'return "";', "", ""),
        ('std::cout << "Hi";', 'return "bye";', "", ""),  # another function's text was wrong
        ('std::cout << "Hi"; if (!ready) return "";', 'return "";', "", ""),
    ],
)  # fmt: skip
def test_a_text_that_is_printed_and_not_handed_back(printed: str, back: str, got: str, told: str) -> None:
    wanted = "Hi" if got != "Hi" else "Hi!"
    finding = Finding("greeting", Status.WRONG_OUTPUT, "", 0, 1, {"got": got, "expected": wanted})
    text = read(HELLO.format(printed, back))
    facts = [f for find, _ in host_slips.FACTS for f in find(text, finding)]
    assert [(f.rule, f.line) for f in facts] == ([("printed", 4)] if told else [])
    assert not told or told in f"{facts[0].cause} {facts[0].fix}"


@pytest.mark.parametrize("piece", ['cout << "', "return ", "return (", "printf ", " "])
def test_long_functions_that_print_take_no_longer_than_their_length(piece: str) -> None:
    began = time.process_time()
    finding = Finding("greeting", Status.WRONG_OUTPUT, "", 0, 1, {"got": "", "expected": "Hi"})
    text = read(HELLO.format(piece * (60_000 // len(piece)), 'return "";'))
    for find, _ in host_slips.FACTS:
        list(find(text, finding))
    assert time.process_time() - began < 5
