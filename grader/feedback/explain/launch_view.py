"""What a launch hands over, seen from its kernel: grid and block by their axes, and each parameter's argument."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from grader.backends.simt.compile.tokens import Tokens, closing, split_commas, tokenize

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.feedback.explain.source_text import CppFunction, SubmissionText

AXES = "xyz"


class Extent(NamedTuple):
    """The number of blocks, or of threads, along one axis: its text, and where that stands in the code."""

    code: str
    at: int


class Launch(NamedTuple):
    """One launch: its kernel, the host function, grid and block along x, y, z as far as written, and arguments."""

    kernel: CppFunction
    host: CppFunction
    grid: list[Extent]
    block: list[Extent]
    given: dict[str, str]  # by parameter


def launches(text: SubmissionText) -> Iterator[Launch]:
    """The launches of the file's kernels whose arguments can be counted."""
    for host in text.host:
        for match in re.finditer(
            r"\b(?P<k>\w+)\s*(?:<[^<>;]*>\s*)?<<<(?P<how>.*?)>>>\s*(?=\()", host.body, re.S
        ):
            kernel = next((k for k in text.kernels if k.name == match["k"]), None)
            if kernel is None:
                continue
            how = parts(match["how"], host.start + match.start("how"))
            given = parts(*_bracketed(host.body, match.end(), host.start))
            names = kernel.names
            if len(how) < 2 or len(given) != len(names):
                continue
            grid, block = (_axes(text, host, one) for one in how[:2])
            yield Launch(kernel, host, grid, block, {n: g.code for n, g in zip(names, given, strict=True)})


def parts(code: str, at: int) -> list[Extent]:
    """What stands between the commas of ``code``, which begins ``at`` a place of the file's C++."""
    found = []
    for part in split_commas(tokenize(code)):
        text = "".join(t.text for t in part)
        found.append(Extent(" ".join(text.split()), at + len(text) - len(text.lstrip())))
        at += len(text) + 1
    return found


def _bracketed(body: str, at: int, start: int) -> tuple[str, int]:
    """What stands in the bracket that opens at ``at`` of the body, and where that begins in the file's C++."""
    tokens = Tokens(tokenize(body[at:]))
    end = closing(tokens, 0)
    return "".join(t.text for t in tokens[1:end]) if end > 0 else "", start + at + 1


def _axes(text: SubmissionText, host: CppFunction, one: Extent) -> list[Extent]:
    """A grid or block by its axes: ``dim3(a, b)``, a variable that is one, or a single number."""
    if direct := re.match(r"(?:dim3\s*[({]|\{)", one.code):
        opened = text.code.index("{" if direct[0].endswith("{") else "(", one.at)
        return parts(*_bracketed(text.code, opened, 0))
    if re.fullmatch(r"[A-Za-z_]\w*", one.code):
        form = rf"\bdim3\b[^;]*?\b{one.code}\s*(?:=\s*(?:dim3\s*)?)?(?=[({{])"
        made = list(re.finditer(form, host.body))
        if len(made) == 1:
            return parts(*_bracketed(host.body, made[0].end(), host.start))
        plain = list(re.finditer(rf"(?<![\w.]){one.code}\s*=(?!=)\s*(?P<v>[^;]*)", host.body))
        if len(plain) == 1 and not made:
            return parts(plain[0]["v"], host.start + plain[0].start("v"))[:1]
        return []
    return [one]
