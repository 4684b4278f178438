"""What CUDA C++ says by its tokens: kernels without a guard, launches that nobody checks."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.backends.simt.compile.tokens import (
    Token,
    Tokens,
    closing,
    following,
    opening,
    previous,
    split_commas,
    tokenize,
)
from grader.feedback.look.advice import Advice

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.feedback.look.python_source import CudaText

CHECKS = {
    "C10_CUDA_KERNEL_LAUNCH_CHECK", "STD_CUDA_KERNEL_LAUNCH_CHECK", "cudaGetLastError",
    "cudaPeekAtLastError", "cudaDeviceSynchronize", "cudaStreamSynchronize",
}  # fmt: skip
ON_DEFAULT_STREAM = "A launch on the default stream; torch may be working on another one."
DEFAULT = {"0", "nullptr", "NULL", "cudaStreamDefault", "cudaStreamLegacy", "cudaStreamPerThread"}
BARRIERS = {"__syncthreads", "__syncthreads_count", "__syncthreads_and", "__syncthreads_or"}
FOR_SOME = "A barrier in a branch that only some threads of a block may take: all of them must come to it."
GUARDS = {"if", "for", "while", "?", "min", "switch"}
STORES = re.compile(r"\][-+*/]?=(?!=)|[;{}]\*\w+[-+*/]?=(?!=)|\batomic")
DTYPES = {"scalar_type", "dtype", "kFloat", "kFloat32"}
DEVICES = {"is_cuda", "device", "device_type", "get_device", "kCUDA", "CHECK_CUDA", "CHECK_INPUT"}


@dataclass(frozen=True, slots=True)
class FunctionTokens:
    """A function's body: the indices of its braces, and the name in front of its parameters."""

    name: str
    kernel: bool
    begin: int
    end: int


def look(
    text: CudaText,
    beside: frozenset[str] = frozenset(),
    whole: frozenset[str] = frozenset(),
    checked: frozenset[str] = frozenset(),
    *,
    on_gpu: bool = False,
) -> Iterator[Advice]:
    """Advice about one string of CUDA C++; ``beside`` are attributes that the Python around it asks for.

    ``checked``: words of sources without launches that check for their errors. ``whole``: kernels of whose
    threads each has an element. ``on_gpu``: the problem hands over tensors on the GPU only.
    """
    tokens = tokenize(text.source)
    starts, at = [], 0
    for token in tokens:
        starts.append(at)
        at += len(token.text)
    words = {t.text for t in tokens if t.kind == "id"}
    library = "at" in words or any("CUDAContext" in t.text for t in tokens)  # knows of PyTorch's streams
    functions = list(_functions(tokens))
    device = {f.name for f in functions if "threadIdx" in _words(tokens, f) and not f.kernel}
    others = _called_with_nothing(tokens) - {f.name for f in functions}  # of a header: who is this thread?
    of_threads = {"threadIdx", "thread_rank"} | device | others
    for function in functions:
        if function.kernel:
            if function.name not in whole:
                yield from _kernel(function, tokens, text.at(starts[function.begin]))
            for i in _barriers_for_some(function, tokens, of_threads):
                yield Advice(text.at(starts[i]), FOR_SOME, lasting=True)
    for i, token in enumerate(tokens):
        if token.kind != "launch" or token.text != "<<<":
            continue
        line = text.at(starts[i])
        within = {f.name for f in functions if f.begin <= i <= f.end}
        # The one who called the launching function may check, in another source, too.
        if not CHECKS & {t.text for t in tokens[i:]} and not within & checked:
            message = "A launch without C10_CUDA_KERNEL_LAUNCH_CHECK(): its errors surface elsewhere."
            yield Advice(line, message, lasting=True)
        if library and _on_default_stream(tokens, i):
            yield Advice(line, ON_DEFAULT_STREAM, lasting=True)
        if not on_gpu and not DEVICES & (words | beside):
            yield Advice(line, "Nothing checks that the tensor is on the GPU before the launch.")
    yield from _bare_pointers(tokens, starts, text, words | beside)


def words_that_check(text: CudaText) -> set[str]:
    """The words of a source that launches nothing and checks for a launch's errors; none of another one."""
    tokens = tokenize(text.source)
    words = {t.text for t in tokens if t.kind == "id"}
    return words if CHECKS & words and not any(t.kind == "launch" for t in tokens) else set()


def launches(text: CudaText) -> Iterator[int]:
    """The lines of all launches."""
    at = 0
    for token in tokenize(text.source):
        if token.kind == "launch" and token.text == "<<<":
            yield text.at(at)
        at += len(token.text)


def launches_on_default_stream(text: CudaText) -> Iterator[int]:
    """The lines of launches that name no stream, or the default one."""
    tokens, at = tokenize(text.source), 0
    for i, token in enumerate(tokens):
        if token.kind == "launch" and token.text == "<<<" and _on_default_stream(tokens, i, by_name=True):
            yield text.at(at)
        at += len(token.text)


def _on_default_stream(tokens: list[Token], i: int, *, by_name: bool = False) -> bool:
    """Whether the launch at a token has no stream; ``by_name``: or the default one."""
    given = _configuration(tokens, i)
    words = [t.text for part in given for t in part if t.kind != "space"]
    if len(given) >= 4:
        return by_name and "".join(t.text for t in given[3] if t.kind != "space") in DEFAULT
    return not any("tream" in word for word in words)  # in a wrong place, which is another fault


def _functions(tokens: Tokens) -> Iterator[FunctionTokens]:
    """Bodies that follow a list of parameters, outermost only."""
    i = 0
    while i < len(tokens):
        if tokens[i].text != "{":
            i += 1
            continue
        end = closing(tokens, i)
        before = previous(tokens, i)
        if before < 0 or tokens[before].text != ")":
            i += 1  # a namespace, a struct, an initialiser: functions may be inside
            continue
        parameters = opening(tokens, before)
        name = previous(tokens, parameters) if parameters > 0 else -1
        head = _head(tokens, name)
        yield FunctionTokens(tokens[name].text if name >= 0 else "", "__global__" in head, i, end)
        i = end + 1 if end > 0 else len(tokens)


def _head(tokens: list[Token], i: int) -> set[str]:
    """The words of a declaration in front of its name."""
    words: set[str] = set()
    while i >= 0 and tokens[i].text not in (";", "}", "{"):
        words.add(tokens[i].text)
        i -= 1
    return words


def _kernel(function: FunctionTokens, tokens: list[Token], line: int) -> Iterator[Advice]:
    body = _words(tokens, function)
    text = "".join(t.text for t in tokens[function.begin : function.end] if t.kind != "space")
    if "threadIdx" in body and not GUARDS & body and STORES.search(text):  # else nothing is written yet
        yield Advice(
            line,
            f"{function.name}: no thread is guarded off; if there are more threads than elements, what do "
            "the others do?",
        )


def _words(tokens: list[Token], function: FunctionTokens) -> set[str]:
    return {t.text for t in tokens[function.begin : function.end] if t.kind != "space"}


def _called_with_nothing(tokens: list[Token]) -> set[str]:
    """Functions that are called as ``f()``, no members."""
    text = [t for t in tokens if t.kind != "space"]
    return {
        name.text
        for before, name, left, right in zip(text, text[1:], text[2:], text[3:], strict=False)
        if name.kind == "id"
        and (left.text, right.text) == ("(", ")")
        and before.text not in (".", "->", "::")
    } - BARRIERS


def _barriers_for_some(function: FunctionTokens, tokens: Tokens, of_threads: set[str]) -> Iterator[int]:
    """Barriers in a branch that depends on the thread: on ``of_threads``, or on what is made of them."""
    own, i = set(of_threads), function.begin
    while i < function.end:
        token, after = tokens[i], following(tokens, i)
        if token.kind == "id" and after < function.end and tokens[after].text == "=":
            rest = (j for j in range(after, function.end) if tokens[j].text in (";", ","))
            if own & {t.text for t in tokens[after : next(rest, function.end)]}:
                own.add(token.text)
        if token.text == "if" and after < function.end and tokens[after].text == "(":
            close = closing(tokens, after)
            begin = following(tokens, close)
            if close > 0 and begin < function.end and own & {t.text for t in tokens[after:close]}:
                ends = (j for j in range(begin, function.end) if tokens[j].text == ";")
                end = closing(tokens, begin) if tokens[begin].text == "{" else next(ends, begin)
                yield from (j for j in range(begin, end) if tokens[j].text in BARRIERS)
                i = max(i, end)
        i += 1


def _configuration(tokens: list[Token], i: int) -> list[list[Token]]:
    depth = 0
    for j in range(i + 1, len(tokens)):
        if tokens[j].kind == "launch" and tokens[j].text == ">>>" and not depth:
            return split_commas(tokens[i + 1 : j])
    return [[]] * 4  # no end: the compiler will say so


def _bare_pointers(
    tokens: list[Token], starts: list[int], text: CudaText, words: set[str] | frozenset[str]
) -> Iterator[Advice]:
    """``data_ptr()`` without a type takes whatever dtype comes; ``data_ptr<float>()`` asks."""
    words = {t.text for t in tokens if t.kind == "id"}
    if words & (DTYPES - {"data_ptr"}) or any(
        w.startswith(("AT_DISPATCH", "TORCH_CHECK_TYPE")) for w in words
    ):
        return
    for i, token in enumerate(tokens):
        if token.text not in ("data_ptr", "mutable_data_ptr", "const_data_ptr"):
            continue
        after = following(tokens, i)
        if after < len(tokens) and tokens[after].text == "(":
            message = f"{token.text}() takes a tensor of any dtype, and nothing checks which one came."
            yield Advice(text.at(starts[i]), message)
            return
