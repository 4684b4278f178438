"""How lesson 01 is graded."""

from typing import Any

from grader.domain.task import Argument, Case, Prediction, Task, Tensor
from grader.referee.parts.answers import PlainCalls, TextAnswer

Given = tuple[Argument, ...]
MAIN, CUDA = ["main.cpp"], ["cuda.cu"]
COMPILED_AGAIN = {  # tests/lessons/test_compiled_again.py asks PyTorch and ninja for the same
    "cpp_sources": MAIN,
    "functions": MAIN,
    "extra_cflags": MAIN,
    "cuda_sources": CUDA,
    "extra_cuda_cflags": CUDA,
    "extra_include_paths": MAIN + CUDA,
    "name": MAIN + CUDA,
    "extra_ldflags": [],
    "verbose": [],
}
GOES_TO = {
    "cpp_sources": "is the text of main.cpp",
    "functions": "makes the binding, which is part of the text of main.cpp",
    "extra_cflags": "stands in the command that compiles main.cpp",
    "cuda_sources": "is the text of cuda.cu",
    "extra_cuda_cflags": "stands in the command that compiles cuda.cu",
    "extra_include_paths": "stands in both commands that compile",
    "name": "stands in both commands that compile, as TORCH_EXTENSION_NAME",
    "extra_ldflags": "stands in the command that links, which compiles no file",
    "verbose": "stands in no command: it is about what is printed",
}


def _shift(
    name: str, x: Tensor, points: int, why: str, scale: float = 2.5, shift: float = -1.0, *others: Given
) -> Case:
    return Case(name, (x, scale, shift), why, points, entry="scale_shift", compiled=True, others=others)


def _cpu(*shape: int, **drawn: Any) -> Tensor:
    return Tensor(shape, device="cpu", **drawn)


def _undescribed(text: str) -> str:
    signature, _, help_text = text.strip().partition("\n")
    if not signature.startswith("scale_shift("):
        return f"The first line of the help text is {signature[:60]!r}, not the signature of scale_shift."
    if not help_text.strip():
        return "Below the signature of scale_shift the help text is empty."
    if help_text.strip() == "scale_shift":  # what PyTorch writes for a function without a text of its own
        return "The help text says nothing but the name; functions may be a dict {name: help text}."
    return ""


TASK = Task(
    title="Hello, inline C++",
    entry="hello_world",
    cases=(
        Case(
            "greeting", (), "The bound name, the C++ name and the string are all as agreed.", 3, compiled=True
        ),
        _shift(
            "matrix", _cpu(5, 7), 3, "An ordinary matrix of mixed signs.", 2.5, -1.0, (_cpu(5, 7), 1.0, 0.0)
        ),
        _shift(
            "negative scale",
            _cpu(33),
            2,
            "Both numbers arrive in this order: first scale, then shift.",
            -0.125,
            1000.0,
        ),
        _shift(
            "transposed",
            _cpu(6, 4, layout="transposed"),
            2,
            "A view whose rows do not lie one after another in memory.",
            2.5,
            -1.0,
            (_cpu(6, 4, layout="offset"), 2.5, -1.0),
            (_cpu(6, 4, layout="strided"), 2.5, -1.0),
        ),
        _shift(
            "float64",
            _cpu(9, dtype="float64"),
            2,
            "Double precision goes in and comes out: a float keeps 0.1 to seven digits only.",
            0.1,
            -1 / 3,
            (_cpu(9, dtype="float16"), 0.5, 0.25),
        ),
        _shift(
            "nan and inf",
            _cpu(64, fill="special"),
            2,
            "NaN and infinity are passed on.",
            2.5,
            -1.0,
            (_cpu(64, fill="special"), 0.0, 2.0),
        ),
        _shift(
            "empty",
            _cpu(0, 3),
            2,
            "No elements in, no elements out, and the same shape.",
            2.5,
            -1.0,
            (_cpu(), 2.5, -1.0),
        ),
    ),
    parts=(
        TextAnswer("help text", "help_text", _undescribed, 2, "A function's help text tells what it does."),
        PlainCalls(
            "compiled again",
            "compiled_again",
            tuple((argument,) for argument in COMPILED_AGAIN),
            lambda changed: COMPILED_AGAIN[changed],
            2,
            "A file is compiled again if its text or the command that compiles it has changed.",
            because=lambda changed: f"{changed} {GOES_TO[changed]}.",
        ),
    ),
    introduces=("inline extension",),
    terms=("load_inline", "binding", "build cache", "ninja", "nvcc"),
    requires=("python", "tensors", "c++ functions"),
    minutes=30,
    starter_fails="load",
    predictions=(
        Prediction(
            "first_build",
            "How many seconds does the first build take, for a function that only returns a string?",
            "s",
            "compile_seconds/load_inline",
            "On the 16-core computer of an H200. Nearly all of it goes into reading torch/extension.h.",
        ),
        Prediction(
            "compiled_files",
            "You run the same file a second time, unchanged. How many files are compiled?",
            "files",
            0,
            "The text is the same, so main.cpp is not rewritten, and ninja finds nothing to do.",
        ),
        Prediction(
            "lines_read",
            "Your own source has about ten lines. How many lines does the compiler read?",
            "lines",
            419_795,
            "Nearly all are torch/extension.h. Counted after the preprocessor of g++ 12, with torch 2.13. "
            "The page shows how to ask yours.",
        ),
    ),
)
