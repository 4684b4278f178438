"""How lesson 01 is graded."""

from grader.domain.task import Case, Task, Tensor
from grader.referee.parts.answers import TextAnswer


def _shift(name: str, x: Tensor, points: int, why: str, scale: float = 2.5, shift: float = -1.0) -> Case:
    return Case(name, (x, scale, shift), why, points, entry="scale_shift")


def _undescribed(text: str) -> str:
    signature, _, help_text = text.strip().partition("\n")
    if not signature.startswith("scale_shift("):
        return f"The first line of the help text is {signature[:60]!r}, not the signature of scale_shift."
    # Without a text of its own a function is described by its name alone.
    if help_text.strip() in ("", "scale_shift"):
        return "The help text says nothing but the name; functions may be a dict {name: help text}."
    return ""


TASK = Task(
    title="Hello, inline C++",
    entry="hello_world",
    cases=(
        Case("greeting", (), "The bound name, the C++ name and the string are all as agreed.", 4),
        _shift("matrix", Tensor((5, 7), device="cpu"), 4, "An ordinary matrix of mixed signs."),
        _shift(
            "negative scale",
            Tensor((33,), device="cpu"),
            2,
            "Both numbers arrive in this order: first scale, then shift.",
            -0.125,
            1000.0,
        ),
        _shift(
            "transposed",
            Tensor((6, 4), layout="transposed", device="cpu"),
            2,
            "A view whose rows do not lie one after another in memory.",
        ),
        _shift(
            "float64",
            Tensor((9,), dtype="float64", device="cpu"),
            2,
            "Double precision goes in and comes out: a float keeps 0.1 to seven digits only.",
            0.1,
            -1 / 3,
        ),
        _shift(
            "nan and inf", Tensor((64,), fill="special", device="cpu"), 2, "NaN and infinity are passed on."
        ),
        _shift(
            "empty", Tensor((0, 3), device="cpu"), 2, "No elements in, no elements out, and the same shape."
        ),
    ),
    parts=(
        TextAnswer(
            "help text", "help_text", _undescribed, 2, "help(extension.scale_shift) tells what it does."
        ),
    ),
    introduces=("inline extension",),
    terms=("load_inline", "binding", "build cache"),
    requires=("python", "tensors", "c++ functions"),
    minutes=20,
    starter_fails="load",
)
