"""A name that a compiler does not know in one C++ function, and that another function of the file declares."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from grader.feedback.explain import own_lines
from grader.feedback.explain.source_text import CppFunction, SubmissionText, read

if TYPE_CHECKING:
    from grader.feedback.explain.engine import Explanation

TYPE = r"(?:const\s+|static\s+|constexpr\s+)*(?:auto|bool|unsigned|int|long|float|double|half|dim3|\w+_t|(?:\w+::)+\w+|float[24]|int[24])\b"
BUILTINS = ("gridDim.x", "blockDim.x")  # by the places of a launch


def undeclared(found: Explanation, source: str) -> Explanation:
    """The same with the function whose variable it is, where that is another one than the line's."""
    named = re.search(r"['\"](\w+)['\"]", found.error)
    text = read(source)
    if named is None or not found.line:
        return found
    here = next((f for f in text.functions if _holds(text, f, found.line)), None)
    if here is None or _declared(text, here, named[1]):
        return found
    every = [(f, line) for f in text.functions if f is not here and (line := _declared(text, f, named[1]))]
    launching = [(f, line) for f, line in every if re.search(rf"\b{here.name}\b[^;]*<<<", f.body)]
    if not every:
        return found
    other, line = (launching or every)[0]
    name = named[1]
    cause = f"{name} is a variable of {other.name} (line {line}) and known there alone."
    if here.kernel and not other.kernel and "__device__" not in other.head:
        cause = f"{name} is a variable of {other.name} (line {line}), which runs on the host: a kernel sees nothing of it."
        fix = f"Hand it over: a parameter more in {here.name}, and an argument more in its launch."
        if built_in := _of_the_launch(other, here.name, name):
            what = "threads in a block" if built_in.startswith("block") else "blocks"
            fix = f"The number of {what} is `{built_in}` in every kernel: write that. Other values are handed over as an argument."
        return replace(found, cause=cause, fix=fix)
    fix = f"Hand it over to {here.name} as an argument, or declare one here."
    return replace(found, cause=cause, fix=fix)


def below(found: Explanation, source: str) -> Explanation:
    """The same, but of a function that the file defines itself, where that it stands below its use."""
    named = re.search(r"['\"](\w+)['\"]", found.error)
    own = own_lines.definition(source, named[1]) if named else None
    if named is None or own is None or own[0] <= found.line:
        return found
    cause = f"{named[1]} is used here, and the file defines it below, in line {own[0]}."
    return replace(found, cause=cause, fix="A function comes before it is used: move it above this line.")


def _holds(text: SubmissionText, function: CppFunction, line: int) -> bool:
    """Whether the line of the file is one of the function's."""
    first = text.line(text.code.rfind(function.name, 0, function.start))
    return first <= line <= text.line(function.start + len(function.body))


def _declared(text: SubmissionText, function: CppFunction, name: str) -> int:
    """The line that declares the name in this function, as a parameter or a variable; 0 if none does."""
    if name in function.names:
        return text.line(text.code.rfind(function.name, 0, function.start))
    for statement in re.finditer(r"[^;{}]+", function.body):
        said = re.sub(r"^\s*(?:for|if|while)\s*\(", "", statement[0])
        if re.match(rf"\s*{TYPE}", said) and (
            at := re.search(rf"(?<=[\s,*&]){name}\s*(?:=(?!=)|[({{\[,]|$)", statement[0])
        ):
            return text.line(function.start + statement.start() + at.start())
    return 0


def _of_the_launch(host: CppFunction, kernel: str, name: str) -> str:
    """What a kernel calls the number that its launch has under this name; "" if that is none of the first two."""
    launch = re.search(rf"\b{kernel}\s*(?:<[^<>;]*>\s*)?<<<(?P<given>.*?)>>>", host.body, re.S)
    given = [one.strip() for one in launch["given"].split(",")] if launch else []
    return next((word for word, one in zip(BUILTINS, given, strict=False) if one == name), "")
