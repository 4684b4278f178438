"""The look says what it should, at the right line, and nothing of files that are right."""

import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from grader.domain.errors import BadInputError
from grader.domain.lessons import every, find
from grader.domain.submission import Submission
from grader.feedback import look
from grader.feedback.look import python_source, second_opinion

TASK = find("03").task
HEAD = "from torch.utils.cpp_extension import load_inline\nimport torch\n"
KERNEL = "__global__ void square(const float* in, float* out, int n) {\n    int i = threadIdx.x;\n"
GUARDED = KERNEL + "    if (i < n) out[i] = in[i] * in[i];\n}\n"
HOST = """torch::Tensor square_matrix(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda());
    auto out = torch::empty_like(x);
    square<<<1, 32, 0, at::cuda::getCurrentCUDAStream()>>>(x.data_ptr<float>(), out.data_ptr<float>(), 32);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}
"""
TAIL = "square_matrix = load_inline('x', '', source, functions=['square_matrix']).square_matrix\n"


def remarks(cuda: str, head: str = HEAD, tail: str = TAIL) -> list[tuple[int, str]]:
    text = f'{head}source = r"""{cuda}"""\n{tail}'
    return [(a.line, a.message) for a in look.look(Submission(Path("x.py"), text, ""), TASK)]


def test_a_right_file_gets_no_remark() -> None:
    assert remarks(GUARDED + HOST) == []


def test_a_kernel_that_writes_nothing_yet_needs_no_guard() -> None:
    assert remarks(KERNEL + "    __shared__ float row[32];\n}\n" + HOST) == []


def test_a_kernel_that_gets_whole_blocks_needs_no_guard() -> None:
    cuda = KERNEL + "    out[i] = in[i];\n}\n" + HOST
    file = Submission(Path("x.py"), f'{HEAD}source = r"""{cuda}"""\n{TAIL}', "")
    head = KERNEL.splitlines()[0]
    assert "__global__" in head
    assert look.look(file, TASK, f"{head}  // n is a multiple of SIZE here\n") == []
    assert [a.line for a in look.look(file, TASK, f"{head}  // out is a multiple of in\n")] == [3]


def test_a_pair_hands_over_tensors_on_the_gpu_so_its_file_need_not_ask() -> None:
    cuda = GUARDED + HOST.replace("TORCH_CHECK(x.is_cuda());", "")
    file = Submission(Path("x.py"), f'{HEAD}source = r"""{cuda}"""\n{TAIL}', "")
    assert len(look.look(file, TASK)) == 1
    assert look.look(file, replace(TASK, starter_fails="")) == []  # only a lesson has a starter


def test_the_cpp_source_of_the_same_call_may_check() -> None:
    """A launch in a function of cuda_sources, which a function of cpp_sources calls and checks after."""
    launching = "void run(const float* x, float* y, cudaStream_t s) { square<<<1, 32, 0, s>>>(x, y, 32); }\n"
    host = (
        "void run(const float*, float*, cudaStream_t);\n"
        "torch::Tensor square_matrix(torch::Tensor x) {\n    TORCH_CHECK(x.is_cuda());\n"
        "    run(a, b, c10::cuda::getCurrentCUDAStream());\n    C10_CUDA_KERNEL_LAUNCH_CHECK();\n}\n"
    )
    words = "A launch without C10_CUDA_KERNEL_LAUNCH_CHECK()"
    for other, asked in ((host, False), (host.replace("C10_CUDA_KERNEL_LAUNCH_CHECK", "done"), True)):
        said = remarks(GUARDED + launching, tail=f'host = r"""{other}"""\n{TAIL}')
        assert any(words in message for _, message in said) == asked, said
    other = host.replace(" run(", " go(")  # it checks after another function
    assert any(words in m for _, m in remarks(GUARDED + launching, tail=f'host = r"""{other}"""\n{TAIL}'))


@pytest.mark.parametrize(
    "cuda, line, words",
    [
        (KERNEL + "    out[i] = in[i];\n}\n" + HOST, 3, "square: no thread is guarded off"),
        (GUARDED + HOST.replace("    C10_CUDA_KERNEL_LAUNCH_CHECK();\n", ""), 10, "without C10_CUDA"),
        (GUARDED + HOST.replace(", 0, at::cuda::getCurrentCUDAStream()", ", at::some"), 10, "default stream"),
        (GUARDED + HOST.replace("TORCH_CHECK(x.is_cuda());", ""), 10, "on the GPU"),
        (GUARDED + HOST.replace("x.data_ptr<float>()", "(float*)x.data_ptr()"), 10, "any dtype"),
        (GUARDED + "// TODO 1: more\n" + HOST, 7, "TODO"),
    ],
)  # fmt: skip
def test_what_is_missing_is_said_once_at_its_line(cuda: str, line: int, words: str) -> None:
    (only,) = remarks(cuda)
    assert only[0] == line and words in only[1]


@pytest.mark.parametrize(
    ("branch", "some"),
    [
        ("if (i < n) { part[i] = in[i]; __syncthreads(); }", True),
        ("if (far < n) {\n        __syncthreads(); }", True),
        ("if (i < n) __syncthreads();", True),
        ("if (me() < n) { __syncthreads(); }", True),
        ("if (n > 32) { __syncthreads(); }", False),
        ("if (blockIdx.x == 0) { part[i] = in[i]; __syncthreads(); }", False),
        ("if (i < n) { part[i] = in[i]; }\n    __syncthreads();", False),
        ("if (i < n) part[i] = in[i];\n    __syncthreads();", False),
    ],
)
def test_a_barrier_that_only_some_threads_may_reach_is_named(branch: str, some: bool) -> None:
    kernel = GUARDED.replace(
        "    if (i", f"    const int far = i + 1; __shared__ float part[32];\n    {branch}\n    if (i"
    )
    lines = [4 + branch[: branch.index("__sync")].count("\n") + 2] if some else []
    assert [line for line, words in remarks(kernel + HOST) if "barrier" in words] == lines


def test_an_open_end_is_not_what_to_do_first() -> None:
    assert remarks(GUARDED + "// TODO 6: open end. Go on here.\n" + HOST) == []


def test_a_todo_above_a_function_is_done_when_its_body_is_another() -> None:
    """Its head stays as it was, and so may the comment."""
    lesson = find("01")
    starter = lesson.exercise.read_text("utf-8")
    done = starter.replace(
        "    return x;\n", "    torch::Tensor scaled = x * scale;\n    return scaled + shift;\n"
    )
    assert done != starter

    def marks(text: str) -> str:
        said = look.look(Submission(lesson.exercise, text, ""), lesson.task, starter)
        return next(a.message for a in said if "TODO" in a.message)

    assert (
        "TODO 1" in marks(done) and "(2 more below.)" in marks(done) and "(3 more below.)" in marks(starter)
    )


@pytest.mark.parametrize(
    ("stream", "lines"),
    [
        (", 0, at::cuda::getCurrentCUDAStream()", []), ("", [10]), (", 0", [10]), (", 0, 0", [10]),
        (", 0, nullptr", [10]), (", 0, cudaStreamPerThread", [10]), (", 0, side", []), (", stream", []),
    ],
)  # fmt: skip
def test_launches_on_the_default_stream(stream: str, lines: list[int]) -> None:
    host = HOST.replace(", 0, at::cuda::getCurrentCUDAStream()", stream)
    assert look.launches_on_default_stream(f'{HEAD}source = r"""{GUARDED}{host}"""\n{TAIL}') == lines
    assert look.launches_on_default_stream("no Python (") == []


@pytest.mark.parametrize(
    "extra",
    [
        "// no if here: a comment is not a guard\n",
        'const char* text = "if (i < n)";\n',
    ],
)
def test_comments_and_strings_guard_nothing(extra: str) -> None:
    (only,) = remarks(KERNEL + extra + "    out[i] = in[i];\n}\n" + HOST)
    assert "guarded" in only[1]


def test_a_check_in_python_counts() -> None:
    tail = TAIL + "def checked(x):\n    if not x.is_cuda: raise ValueError(x)\n"
    assert remarks(GUARDED + HOST.replace("TORCH_CHECK(x.is_cuda());", ""), tail=tail) == []


@pytest.mark.parametrize(
    "tail, line, words",
    [
        ("def other(x):\n    return x\n", 0, "calls square_matrix, which is not defined"),
        (
            "try:\n    square_matrix = load_inline('x', '', source)\n"
            "except Exception:\n    square_matrix = torch.square\n",
            17,
            "goes on without its kernel",
        ),
        (
            "def square_matrix(x):\n    if not x.is_cuda:\n        return torch.square(x)\n    return f(x)\n",
            17,
            "no kernel is launched",
        ),
        (
            "def square_matrix(x):\n    if x.is_cuda:\n        return f(x)\n    return x * x\n",
            0,
            "",
        ),
    ],
)
def test_ways_around_the_kernel(tail: str, line: int, words: str) -> None:
    said = remarks(GUARDED + HOST, tail=tail)
    assert said == [] if not words else len(said) == 1 and said[0][0] == line and words in said[0][1], said


@pytest.mark.parametrize(
    "text", ["def f(:\n", "x = " + "(" * 5000, '"""<<<', "s = '<<<>>> __global__ ( { <<<'\n"]
)
def test_a_strange_file_is_no_trouble(text: str) -> None:
    assert all(advice.message for advice in look.look(Submission(Path("x.py"), text, ""), TASK))


def test_solutions_and_alternatives_leave_no_todo_and_define_their_entries() -> None:
    for lesson in every():
        for path in (lesson.solution, *lesson.solution.parent.glob("alternatives/*.py")):
            said = look.look(Submission(path, path.read_text(), ""), lesson.task)
            assert not [a for a in said if "TODO" in a.message or "not defined" in a.message], path


def test_the_time_of_a_look_does_not_grow_with_the_file() -> None:
    """Sixteen times the text takes less than four times as long: beyond a bound it is not read."""

    def seconds(copies: int) -> float:
        cuda = "".join(GUARDED.replace("square", f"square{i}") for i in range(copies))
        begun = time.process_time()
        remarks(cuda + HOST)
        return time.process_time() - begun

    seconds(10)
    few, many = min(seconds(150) for _ in range(5)), min(seconds(2400) for _ in range(5))
    assert many < 4 * few


def test_the_second_opinion_is_advice(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("kernelguard", reason="KernelGuard is not installed")
    clean = Submission(Path("x.py"), find("03").solution.read_text(), "")
    assert "no objection" in second_opinion.opinion(clean)[0].message
    text = "import torch\ndef square_matrix(x):\n    return x.bfloat16().square().float()\n"
    assert "downgrade" in second_opinion.opinion(Submission(Path("x.py"), text, ""))[0].message.lower()


def test_without_kernelguard_one_sentence_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(BadInputError, match="pip install kernelguard"):
        second_opinion.opinion(Submission(Path("x.py"), "", ""))


def test_an_answer_that_cannot_be_read_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: object())
    monkeypatch.setattr(sys, "executable", "/bin/echo")
    with pytest.raises(BadInputError, match="cannot be read"):
        second_opinion.opinion(Submission(Path("x.py"), "", ""))


NEVER = """
import torch
from grader.lesson_support.host_functions import build

LIMIT = 3


def close(a, b):
    assert torch.allclose(a, b)


def idle(a, b):
    return a == b


CHECKS = {"one": close, "two": idle}


def by_table(kernel, claim):
    CHECKS[claim](kernel, LIMIT)


def compares(kernel):
    idle(kernel, LIMIT) == True


def elsewhere(kernel):
    build(kernel, "x")


def by_name(kernel, claim):
    globals()["cl" + claim](kernel, LIMIT)


def reports(kernel):
    if kernel is None:
        return None
    return idle(kernel, LIMIT)
"""


@pytest.mark.parametrize(
    ("name", "silent"),
    [("by_table", False), ("compares", True), ("elsewhere", False), ("close", False), ("by_name", False)],
)
def test_a_test_never_fails_only_if_nothing_that_it_reaches_can(name: str, silent: bool) -> None:
    assert bool(python_source.never_fails(NEVER, name)) is silent


def test_a_value_that_a_test_hands_back_has_a_line() -> None:
    lines = NEVER.splitlines()
    assert lines[python_source.hands_back(NEVER, "reports") - 1].strip() == "return idle(kernel, LIMIT)"
    assert python_source.hands_back(NEVER, "compares") == 0


def test_the_line_of_a_claim_is_that_of_its_test() -> None:
    assert NEVER.splitlines()[python_source.line_of_value(NEVER, "one") - 1] == "def close(a, b):"


def test_the_line_of_an_answer_that_is_given_as_a_keyword() -> None:
    assert (
        python_source.line_of_key("A = 1\nANSWERS = dict(\n    one=1,\n    two=2,\n)\n", "ANSWERS", "two")
        == 4
    )


@pytest.mark.parametrize(
    "later",
    ['ANSWERS["b"] = 2', 'ANSWERS.update({"b": 2})', "ANSWERS.update(b=2)", 'ANSWERS |= {"b": 2}',
     'ANSWERS = {"b": 2}'],
)  # fmt: skip
def test_an_answer_that_the_dict_gets_later_has_its_own_line(later: str) -> None:
    source = f'ANSWERS = {{"a": 1, "b": None}}\n# text\n{later}\n'
    assert python_source.line_of_key(source, "ANSWERS", "b") == 3
    assert python_source.line_of_key('ANSWERS = {}\nOTHER["b"] = 2\n', "ANSWERS", "b") == 1
